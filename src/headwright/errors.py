"""One exception family. Every message says what was wanted, what was got and what to try."""

from __future__ import annotations


class HeadwrightError(Exception):
    """Anything headwright refuses to do; `str(error)` is one readable line.

    >>> issubclass(hw.InputError, hw.HeadwrightError)
    True
    """


class InputError(HeadwrightError, ValueError):
    """The caller's data cannot mean what was asked of it.

    Built from three short phrases, so that no message forgets one of them:

        raise InputError(wanted="keys of shape (n, d)", got="shape (3,)", attempt="pass K[None, :]")

    >>> try:
    ...     hw.attend([1, 2, 3], [[1, 0]], [[5]])
    ... except hw.InputError as error:
    ...     print(error.wanted, "|", error.got)
    a query of 2 coordinates, like the keys | shape (3,)
    """

    def __init__(self, *, wanted: str, got: str, attempt: str) -> None:
        self.wanted = wanted
        self.got = got
        self.attempt = attempt
        Exception.__init__(self, f"wanted {wanted}; got {got}; try: {attempt}")


class MissingExtra(HeadwrightError, ImportError):
    """An optional dependency is not installed; the message is the line that installs it."""

    def __init__(self, package: str, extra: str) -> None:
        Exception.__init__(
            self,
            f"wanted the package {package}; got none installed; "
            f"try: pip install 'headwright[{extra}]'",
        )
