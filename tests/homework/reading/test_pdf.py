"""PDFs: the text layer that LaTeX leaves, and what is honestly unread."""

from __future__ import annotations

import io
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from headwright.homework.batch import judge_many
from headwright.homework.limits import OUR_FAULT
from headwright.homework.reading.formats import read_bytes
from headwright.homework.reading.sources import Source

from .pdf_files import FONT, WORDS, one_page, pdf, stream

pypdf = pytest.importorskip("pypdf", reason="the extra `pdf` is not installed")

DOCUMENTS = Path(__file__).with_name("pdf_documents")
COMPILED = sorted(DOCUMENTS.rglob("*.pdf"))  # those in `fonts` need more than CI's LaTeX has
SOURCES = sorted(DOCUMENTS.glob("*.tex"))


def text_of(name: str) -> str:
    return read_bytes((DOCUMENTS / name).read_bytes(), name=name).text


def statuses(*paths: Path) -> list[dict[str, str]]:
    judged = judge_many([Source(path.name, path) for path in paths], seconds=60.0)
    reports = [document.report for document in judged]
    return [{verdict.question: verdict.status for verdict in one.verdicts} for one in reports]


# ------------------------------------------------------------------------------- documents of LaTeX


def test_a_compiled_document_is_judged_as_its_source():
    assert len(COMPILED) == 6
    sources = [path.with_suffix(".tex") for path in COMPILED]
    assert statuses(*COMPILED) == statuses(*sources)


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
def test_documents_compiled_now_are_judged_as_their_sources(tmp_path):
    """At least 95 % of the rows agree, and no row is wrong only in the PDF."""
    for source in SOURCES:
        typeset(source, tmp_path)
    typeset_files = [tmp_path / f"{source.stem}.pdf" for source in SOURCES]
    agreeing = 0
    rows = 0
    pairs = zip(SOURCES, statuses(*SOURCES), statuses(*typeset_files), strict=True)
    for source, wanted, got in pairs:
        for question in {*wanted, *got}:
            rows += 1
            agreeing += wanted.get(question) == got.get(question)
            is_accused = got.get(question) == "wrong" and wanted.get(question) != "wrong"
            assert not is_accused, (source.name, question)
    assert agreeing >= 0.95 * rows


def typeset(source: Path, folder: Path) -> None:
    command = ["pdflatex", "-interaction=batchmode", "-halt-on-error", str(source)]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)


@pytest.mark.parametrize(
    ("name", "formula"),
    [
        ("lists.pdf", r"\frac{\exp(k_{i}^{\top}q)}{\sum_{j=1}^{n}\exp(k_{j}^{\top}q)}$"),
        ("lists.pdf", r"$i \neq j$"),
        ("lists.pdf", r" = AA^{\top}v_{a} + AA^{\top}v_{b} \\ = v_{a} + 0 = v_{a}"),
        ("displays.pdf", r"$$c = \sum_{i=1}^{n}\alpha_{i}v_{i} \approx v_{j}$$"),
        ("displays.pdf", r"$$q = \beta k_{a} \\ + \beta k_{b}, \quad \beta \to \infty$$"),
        ("displays.pdf", r"$$q = \frac{\beta}{2}(\mu_{a} + \mu_{b}),\quad \beta \gg 0$$"),
        ("signs.pdf", r"\max_{i\neq j}\langle k_{i},q\rangle \to \infty$"),
        ("signs.pdf", r"\begin{bmatrix}a_{1}^{\top} \\ \vdots \\ a_{m}^{\top}\end{bmatrix}"),
        ("signs.pdf", r"$q = \sqrt{d}\ln(\frac{1-\varepsilon}{\varepsilon})(k_{a} + k_{b})$"),
        ("signs.pdf", r"\begin{cases}v_{a} & \text{ if }\gamma>1 \\ v_{b} & \text{ if }\gamma<1"),
    ],
)  # fmt: skip
def test_formulas_are_put_together_from_their_places(name, formula):
    assert formula in text_of(name)


def test_spans_point_into_the_text_of_the_pdf():
    document = read_bytes((DOCUMENTS / "lists.pdf").read_bytes(), name="lists.pdf")
    formulas = [segment for segment in document.segments if segment.kind == "math"]
    assert formulas
    for segment in formulas:
        assert segment.text in document.text[segment.start : segment.end]


@pytest.mark.parametrize("name", ["lists.pdf", "displays.pdf", "signs.pdf"])
def test_page_and_equation_numbers_are_dropped(name):
    text = text_of(name)
    assert not text.rstrip().endswith("\n1")
    assert "(1)" not in text


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
def test_words_are_whole_and_strikes_count(tmp_path):
    for name in ("columns", "struck"):
        typeset(DOCUMENTS / f"{name}.tex", tmp_path)
    columns = read_bytes((tmp_path / "columns.pdf").read_bytes(), name="columns.pdf").text
    assert columns.index("(b) ii.") < columns.index("(c) i.")
    assert "categorical distribution" in columns
    struck = read_bytes((tmp_path / "struck.pdf").read_bytes(), name="struck.pdf").text
    assert "(b) i. $M = AA^{\\top}$" in struck
    assert "$q = \\beta(k_{a} + k_{b})$ with large" in struck
    assert "frac" not in struck


# ------------------------------------------------------------------------- unread, and the reason


WIDE = b"<< /Type /Font /Subtype /Type0 /BaseFont /AAAAAA+Arial /DescendantFonts [<< /DW 500 >>] >>"
BITMAP = (
    b"<< /Type /Font /Subtype /Type3 /FirstChar 0 /Widths [500] /CharProcs << >> "
    b"/Encoding << /Differences [65 /a65] >> /FontMatrix [0.01 0 0 0.01 0 0] >>"
)
NAMELESS = (
    b"<< /Type /Font /Subtype /Type0 /BaseFont /AAAAAA+FandolSong-Regular /DescendantFonts "
    b"[<< /DW 500 >>] >>"
)
_CODES = sorted({*b"an answer in plain words"})
PDFTEX_BITMAP = (
    b"<< /Type /Font /Subtype /Type3 /FirstChar 0 /Widths [%s] /FontMatrix [0.01 0 0 0.01 0 0] "
    b"/CharProcs << >> /Encoding << /Differences [%s] >> >>"
) % (b" ".join([b"50"] * 128), b" ".join(b"%d /a%d" % (code, code) for code in _CODES))
INK = b"<< /Type /Annot /Subtype /Ink /Rect [0 0 9 9] >>"
FIELD = b"<< /Type /Annot /Subtype /Widget /FT /Tx /V (q = k_a) /Rect [0 0 9 9] >>"
PICTURE = stream(b"\0", b"/Subtype /Image /Width 1 /Height 1 /BitsPerComponent 8")


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (one_page(WORDS, font=WIDE, producer=b"Skia/PDF m126"), "LaTeX did not make"),
        (one_page(WORDS, font=BITMAP, producer=b"GPL Ghostscript"), "letters as pictures"),
        (one_page(WORDS, font=NAMELESS), "do not name"),
        (one_page(WORDS, annotation=INK), "on top of its pages"),
        (one_page(WORDS, annotation=FIELD), "on top of its pages"),
        (one_page(b"/I1 Do", objects=b"/I1 6 0 R", form=PICTURE), "scan"),
        (one_page(b"3 Tr " + WORDS), "scan"),
        (one_page(b""), "without text"),
        (b"%PDF-1.7 stuff", "damaged"),
    ],
    ids=[
        "browser",
        "bitmap fonts",
        "nameless letters",
        "ink",
        "filled field",
        "scan",
        "scan with hidden text",
        "empty",
        "stuff",
    ],
)
def test_what_cannot_be_put_together_is_unread(data, reason):
    assert reason in read_bytes(data, name="t.pdf").unread


def test_letters_that_pdftex_drew_as_pictures_are_read():
    """Where only bitmaps of the T1 fonts are installed, pdfTeX keeps the letters' numbers."""
    document = read_bytes(one_page(WORDS, font=PDFTEX_BITMAP), name="t.pdf")
    assert document.text == "an answer in plain words\n"


def test_a_file_that_only_forbids_printing_is_read():
    document = read_bytes(encrypted(password=""), name="t.pdf")
    assert "an answer in plain words" in document.text


def test_without_the_extra_the_reason_is_the_install_line(monkeypatch):
    for module in [name for name in sys.modules if ".reading.pdf" in name]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, "pypdf", None)
    document = read_bytes(one_page(WORDS), name="t.pdf")
    assert "pip install 'headwright[pdf]'" in document.unread


# ------------------------------------------------------------------------------------ made to hurt


def encrypted(password: str = "secret") -> bytes:
    writer = pypdf.PdfWriter(clone_from=io.BytesIO(one_page(WORDS)))
    writer.encrypt(password, "owner", algorithm="RC4-128")
    written = io.BytesIO()
    writer.write(written)
    return written.getvalue()


def circle_of_pages() -> bytes:
    pages = b"<< /Type /Pages /Kids [2 0 R] /Count 1 /Parent 2 0 R >>"
    return pdf({1: b"<< /Type /Catalog /Pages 2 0 R >>", 2: pages})


def many_pages() -> bytes:
    kids = b"3 0 R " * 5_000
    return pdf(
        {
            1: b"<< /Type /Catalog /Pages 2 0 R >>",
            2: b"<< /Type /Pages /Kids [%s] /Count 5000 >>" % kids,
            3: b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] >>",
        }
    )


FORM = stream(
    b"/X1 Do /X1 Do " + WORDS, b"/Subtype /Form /Resources << /XObject << /X1 6 0 R >> >>"
)
RULES = b"".join(b"100 %d 200 0.4 re f " % (i % 700) for i in range(20_000))
LINES = b"BT /F1 10 Tf 100 700 Td " + b"(aaaaaaaaaa) Tj " * 15_000 + b"ET"
SCRIPTS = b"BT /F1 10 Tf 100 700 Td " + b"/F1 5 Tf 0.1 0 Td (a) Tj " * 40_000 + b"ET"
HOSTILE = {
    "encrypted": encrypted,
    "a circle of pages": circle_of_pages,
    "many pages": many_pages,
    "a form in itself": lambda: one_page(b"/X1 Do", objects=b"/X1 6 0 R", form=FORM),
    "a bomb": lambda: one_page(b" " * 200_000_000, packed=b""),
    "many commands": lambda: one_page(b"q " * 1_500_000, packed=b""),
    "many rules": lambda: one_page(WORDS + b" " + RULES),
    "many letters": lambda: one_page(LINES),
    "many scripts": lambda: one_page(SCRIPTS),
    "deep states": lambda: one_page(b"q " * 100_000 + WORDS),
    "numbers that are none": lambda: one_page(b"BT /F1 1e999 Tf 1e400 -1e400 Td (a) Tj ET"),
    "huge sizes": lambda: one_page(b"1e30 0 0 1e30 0 0 cm " + WORDS),
    "far away": lambda: one_page(b"1 0 0 1 1e12 1e12 cm " + WORDS + b" 0 0 1e12 0.1 re f"),
    "no operands": lambda: one_page(b"BT Tf Td Tj TJ cm re l m Do " + WORDS),
    "a font that is a number": lambda: one_page(WORDS, font=b"7"),
    "widths that are words": lambda: one_page(WORDS, font=FONT.replace(b"500 500", b"(a) /b")),
    "cut in the middle": lambda: (DOCUMENTS / "lists.pdf").read_bytes()[:9_000],
    "noise behind the head": lambda: b"%PDF-1.5\n" + bytes(range(256)) * 2_000,
}


def test_hostile_files_end_with_a_reason_that_is_not_ours(tmp_path):
    sources: list[Source] = []
    for name, make in HOSTILE.items():
        path = tmp_path / f"{name}.pdf"
        path.write_bytes(make())
        sources.append(Source(name, path))
    for document in judge_many(sources):
        reasons = " ".join(verdict.reason for verdict in document.report.verdicts)
        assert OUR_FAULT not in reasons, (document.name, reasons)


@pytest.mark.parametrize("step", range(0, 20_000, 3_333))
def test_a_damaged_byte_is_no_crash(step):
    data = bytearray((DOCUMENTS / "lists.pdf").read_bytes())
    for place in range(step, len(data), 4_001):
        data[place] ^= 0x15
    document = read_bytes(bytes(data), name="t.pdf")
    assert document.unread or document.text
