"""PDFs written by hand, object by object: what no LaTeX would make."""

from __future__ import annotations

import zlib

FONT = b"<< /Type /Font /Subtype /Type1 /BaseFont /AAAAAA+CMR10 /LastChar 127 /Widths [%s] >>" % (
    b" ".join([b"500"] * 128)
)  # fmt: skip
WORDS = b"BT /F1 10 Tf 100 700 Td (an answer in plain words) Tj ET"


def pdf(objects: dict[int, bytes], producer: bytes = b"pdfTeX-1.40") -> bytes:
    """A file of numbered objects; 1 is the catalogue."""
    written = b"%PDF-1.5\n"
    places: dict[int, int] = {}
    objects = objects | {99: b"<< /Producer (%s) >>" % producer}
    for number, body in objects.items():
        places[number] = len(written)
        written += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start = len(written)
    written += b"xref\n"
    for number, place in places.items():
        written += b"%d 1\n%010d 00000 n \n" % (number, place)
    written += b"trailer << /Size 100 /Root 1 0 R /Info 99 0 R >>\nstartxref\n%d\n%%%%EOF" % start
    return written


def stream(data: bytes, extra: bytes = b"", *, packed: bool = False) -> bytes:
    if packed:
        data = zlib.compress(data, 9)
        extra += b" /Filter /FlateDecode"
    return b"<< /Length %d %s >>\nstream\n%s\nendstream" % (len(data), extra, data)


def one_page(commands: bytes, **parts: bytes) -> bytes:
    """A document of one page with these commands. Parts: `font`, `objects` (XObject entries),
    `form` (object 6), `annotation`, `producer`; `packed` compresses the commands."""
    resources = b"<< /Font << /F1 5 0 R >> /XObject << %s >> >>" % parts.get("objects", b"")
    page = (
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources %s "
        b"/Annots [%s] >>"
    )
    objects = {
        1: b"<< /Type /Catalog /Pages 2 0 R >>",
        2: b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        3: page % (resources, parts.get("annotation", b"")),
        4: stream(commands, packed="packed" in parts),
        5: parts.get("font", FONT),
    }
    if "form" in parts:
        objects[6] = parts["form"]
    return pdf(objects, parts.get("producer", b"pdfTeX-1.40"))
