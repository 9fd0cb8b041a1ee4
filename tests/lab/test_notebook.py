"""The lab in a notebook: a frame around the served page with the caller's numbers in it."""

import numpy as np
import pytest
from tests import tolerances

import headwright as hw
from headwright.errors import InputError

K = [[2.0, 0.5], [0.0, 1.5], [-1.0, -1.0]]
V = [[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]]


def test_a_cell_shows_a_frame():
    cell = hw.lab.widget(K, V, [3.0, 1.0], height=500)
    html = cell._repr_html_()
    assert html.startswith('<iframe src="http://127.0.0.1:')
    assert 'height="500"' in html
    assert "&amp;q=" in html
    assert cell.address in repr(cell)


@pytest.mark.browser
def test_the_frame_has_the_callers_numbers(chromium, static, tmp_path):
    # Around it stands a page of another port of this machine, as a notebook is.
    Q = [[3.0, 1.0], [0.0, 2.0]]
    cell = hw.lab.widget(K, V, Q)
    page = chromium.new_page()
    (tmp_path / "notebook.html").write_text(cell._repr_html_())
    page.goto(static(tmp_path) + "notebook.html")
    frame = page.frame_locator("iframe")
    frame.locator("body[data-ready]").wait_for()
    shown = frame.locator("#values-reading b").inner_text().strip("()").split(",")
    page.close()
    expected = hw.multihead(Q, K, V).output
    np.testing.assert_allclose(
        [float(x) for x in shown], expected, rtol=0, atol=tolerances.THREE_DECIMALS
    )


@pytest.mark.parametrize(
    "data",
    [
        ([[1.0]],),
        ([[1.0, np.nan]],),
        (np.zeros((65, 2)),),
        (K, [[1.0, 2.0]]),
        (K, V, [1.0, 2.0, 3.0]),
        (K, V, np.ones((7, 2))),
    ],
)
def test_what_the_page_cannot_show_is_refused(data):
    with pytest.raises(InputError, match="try:"):
        hw.lab.widget(*data)


def test_zero_queries_and_keys_are_fine():
    assert "beta=1" in hw.lab.widget(np.zeros((2, 2)), V[:2], [0.0, 0.0]).address


def test_a_frame_may_stand_in_pages_of_this_machine_only():
    from headwright.lab.guard import Guard

    async def nobody(*_):
        pass

    def ancestors(framed):
        policy = Guard(nobody, framed=framed).headers["Content-Security-Policy"]
        return dict(part.split(maxsplit=1) for part in policy.split("; "))[
            "frame-ancestors"
        ].split()

    assert ancestors(False) == ["'none'"]
    assert ancestors(True) == ["http://127.0.0.1:*", "http://localhost:*"]
