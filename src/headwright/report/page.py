"""The shell of every HTML page: self-contained, light and dark, printable, readable on a phone."""

from __future__ import annotations

from html import escape

from headwright.report.style import ROLES


def page(title: str, body: str, *, description: str = "", style: str = "") -> str:
    """A whole HTML document. `body` is trusted HTML: whoever builds it escapes what came from
    outside. `style` is CSS of this page alone."""
    roles = "".join(f"--{name}:{colour};" for name, colour in ROLES.items())
    rules = f":root{{{roles}}}{_CSS}{style}"
    said = escape(description, quote=True)
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="description" content="{said}">
<meta name="generator" content="headwright">
<title>{escape(title)}</title>
<style>{rules}</style>
</head>
<body>
<main>
{body}
</main>
</body>
</html>
"""


def scrolling(inner: str) -> str:
    """What may be wider than a phone: it scrolls by itself, by keyboard too."""
    return f'<div class="wide" tabindex="0">{inner}</div>'


_CSS = """
:root{color-scheme:light dark;
--ink:#1b1e23;--soft:#59616b;--paper:#fdfdfb;--card:#fff;--line:#dfe1e4;
--ok:#00714f;--no:#b04300;--maybe:#8a5a00;--accent:#0b5c8e}
@media(prefers-color-scheme:dark){:root{
--ink:#e7e8ea;--soft:#a4abb4;--paper:#14171b;--card:#1b1f24;--line:#343a42;
--ok:#4cc79d;--no:#ff9a57;--maybe:#f0b849;--accent:#7cc0ee}}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);
font:16px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif}
main{max-width:52rem;margin:0 auto;padding:1.5rem 1rem 4rem}
h1{font-size:1.7rem;line-height:1.2;margin:.5rem 0}
h2{font-size:1.2rem;line-height:1.3;margin:0 0 .4rem}
h3{font-size:1rem;margin:1rem 0 .3rem}
p{margin:.5rem 0}
a{color:var(--accent)}
code,pre{font-family:ui-monospace,"DejaVu Sans Mono",monospace;font-size:.9em}
pre{white-space:pre-wrap;overflow-wrap:anywhere}
section,article{background:var(--card);border:1px solid var(--line);border-radius:.6rem;
padding:1rem 1.1rem;margin:1rem 0}
table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:.92rem;margin:.5rem 0}
th,td{text-align:left;padding:.25rem .8rem .25rem 0;
border-bottom:1px solid var(--line);vertical-align:top}
th{color:var(--soft);font-weight:600}
.wide{overflow-x:auto}
.facts{list-style:none;padding:0;margin:.5rem 0;color:var(--soft)}
.number{color:var(--soft);font-variant-numeric:tabular-nums}
.soft{color:var(--soft)}
.ok{color:var(--ok)}.no{color:var(--no)}.maybe{color:var(--maybe)}
figure{margin:.8rem 0 0}
figure svg{max-width:100%;height:auto;display:block}
figcaption{color:var(--soft);font-size:.88rem}
.formula{max-width:100%}
nav ol{columns:2 18rem;column-gap:2.2rem;padding-left:1.8rem;margin:.5rem 0}
@media(max-width:30rem){table{font-size:.84rem}th,td{padding-right:.5rem}}
@media print{:root{color-scheme:light;--ink:#000;--soft:#444;--paper:#fff;--card:#fff;--line:#ccc}
section,article{break-inside:avoid;border-color:#ccc}nav{display:none}}
@media(prefers-reduced-motion:reduce){*{transition:none!important;animation:none!important}}
"""
