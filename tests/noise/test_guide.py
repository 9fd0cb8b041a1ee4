"""The guide prints what it says: its Python blocks are run in order and compared with the blocks
below them."""

import contextlib
import io
import re
from pathlib import Path

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "guides" / "noise.md"


def test_the_guide_prints_what_it_says():
    blocks = re.findall(
        r"```python\n(.*?)```(?:\n```text\n(.*?)```)?", GUIDE.read_text(encoding="utf-8"), re.S
    )
    names: dict = {}
    for code, shown in blocks:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, "guide", "exec"), names)
        assert printed.getvalue() == shown, code
    assert len(blocks) > 5
