from headwright.study.section import Rows, Section
def sections(rows: Rows): return []
