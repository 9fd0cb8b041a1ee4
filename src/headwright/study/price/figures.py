from headwright.study.section import Rows
def figures(rows: Rows): return {}
