"""Pages and figures: self-contained, the same in every run, ink that follows the page."""

import re
import xml.etree.ElementTree as ET

import pytest

from headwright.report.formula import formula, spelled, typeset
from headwright.report.notation import set_around_quotes, set_plain
from headwright.report.page import page
from headwright.report.style import ROLES, figure, inline, save, svg


def _drawing():
    with figure(4, 2) as (drawing, axis):
        axis.plot([0, 1], [0, 1], color=ROLES["key"], label=r"$\alpha_a$")
        axis.set_title("a line")
        axis.legend()
    return drawing


def test_inline_figure_follows_the_pages_ink_and_is_reproducible():
    one, two = svg(_drawing(), title='a "line"'), svg(_drawing(), title='a "line"')
    assert one == two
    assert "currentColor" in one
    assert 'aria-label="a &quot;line&quot;"' in one
    assert "<metadata>" not in one
    ET.fromstring(one)


def test_saved_figures_are_svg_and_png(tmp_path):
    vector, bitmap = save(_drawing(), tmp_path / "line")
    assert vector.read_text().lstrip().startswith("<?xml")
    assert bitmap.read_bytes().startswith(b"\x89PNG")


def test_a_saved_figure_stands_in_a_page_without_its_ground(tmp_path):
    drawing = _drawing()
    vector, _ = save(drawing, tmp_path / "figure")
    saved = vector.read_text("utf-8")
    assert saved.count("fill: #ffffff") == 1
    standing = inline(saved, title="two lines")
    assert "#ffffff" not in standing
    assert standing == inline(saved, title="two lines")
    # Only the ground differs from the figure that is drawn for the page alone.
    alone = svg(_drawing(), title="two lines")
    assert _numbers(standing) == _numbers(alone)


def _numbers(text):
    drawn = text[text.index("axes_1") :]
    return re.findall(r"[LMQ] [-\d.]+ [-\d.]+|[xy]=\"[-\d.]+\"", drawn)


def test_user_settings_are_left_alone():
    import matplotlib

    before = matplotlib.rcParams["axes.titlelocation"]
    _drawing()
    assert matplotlib.rcParams["axes.titlelocation"] == before


@pytest.mark.parametrize(
    "latex",
    [
        r"\beta \geq \ln\frac{(n-1)(1-\varepsilon)}{\varepsilon}",
        r"A^\top B = 0",
        r"\mathrm{Var}(c)",
    ],
)
def test_formulas_are_wellformed_svg_with_their_source_as_label(latex):
    drawn = ET.fromstring(formula(latex))
    assert drawn.attrib["aria-label"] == latex
    assert "id=" not in formula(latex)


@pytest.mark.parametrize(
    ("plain", "html"),
    [
        ("E|c - target|^2, two", "E‖<i>c</i> − target‖<sup>2</sup>, two"),
        ("alpha_a at beta = 1e-06", "<i>α</i><sub>a</sub> at <i>β</i> = 10<sup>−6</sup>"),
        (
            "the key's v_b < A' s",
            "the key's <i>v</i><sub>b</sub> &lt; <i>A</i><sup>⊤</sup> <i>s</i>",
        ),
        ("0.5 s after s > 2", "0.5 s after <i>s</i> &gt; 2"),
        ("a one-hot log-softmax, P(x > 0)", "a one-hot log-softmax, P(x &gt; 0)"),
        (
            "k_j'q >= 2 for i != j, 3 x 9",
            "<i>k</i><sub>j</sub><sup>⊤</sup>q ≥ 2 for i ≠ j, 3 × 9",
        ),
    ],
)
def test_plain_notation_is_set_for_a_page(plain, html):
    assert set_plain(plain) == html


def test_what_is_quoted_stays_as_it_was_written():
    said = 'it says that v_a wins: "<b> v_a"'

    assert set_around_quotes(said) == (
        "it says that <i>v</i><sub>a</sub> wins: &quot;&lt;b&gt; v_a&quot;"
    )


def test_typeset_escapes_the_prose():
    assert "&lt;b&gt;" in typeset("<b> $x$")
    assert typeset("<b> $x$").count("<svg") == 1


@pytest.mark.parametrize(
    ("latex", "shown"),
    [
        (r"q = \beta\,(k_a - k_b)", "q = β (k_a - k_b)"),
        (r"\frac{u_d u_a^\top}{\|u\|^2}", "(u_d u_aᵀ)/(‖u‖^2)"),
        (r"\operatorname{ReLU}(PH) = P\mathbf 1", "ReLU(PH) = P1"),
        (r"q = \omega k_a \\ + \omega k_b\ \forall i", "q = ω k_a + ω k_b ∀ i"),
    ],
)
def test_no_command_of_latex_is_left(latex, shown):
    assert spelled(latex) == shown


def test_spelled_for_the_terminal():
    assert (
        spelled(r"$q = \beta(\mu_a + \mu_b)$, $\frac{e^\beta}{n - 2 + 2e^\beta}$")
        == "q = β(μ_a + μ_b), (e^β)/(n - 2 + 2e^β)"
    )
    assert spelled(r"$k_j^\top q \geq \sqrt{2\alpha}$") == "k_jᵀ q ≥ √(2α)"


def test_pages_ask_nothing_of_the_network():
    text = page("a <title>", "<h1>x</h1>")
    assert "a &lt;title&gt;" in text
    assert not re.search(r"(src|href)=|url\(|@import", text)


@pytest.mark.parametrize(
    ("latex", "shown"),
    [
        (r"c \approx \frac{1}{1+e^{(1-\gamma)\beta}} v_b", "c ≈ 1/(1+e^((1-γ)β)) v_b"),
        (r"\mathbf{k}_{a}^{\top} q", "k_aᵀ q"),
        (r"\alpha \in \{0, 1\}", "α ∈ {0, 1}"),
        (r"q = \dfrac{1}{2}\left(k_a" + "\n" + r"+ k_b\right)", "q = 1/2(k_a + k_b)"),
        (r"\unheard{x}", r"\unheardx"),
    ],
)
def test_what_people_write_is_spelled(latex, shown):
    assert spelled(latex) == shown


def test_no_formula_takes_long_to_spell():
    """Deep nests are left as they are: a pass for every level would cost the square of the
    length."""
    assert spelled("^{" * 20_000) == "^" * 20_000
