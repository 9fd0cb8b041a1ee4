r"""Commands that nobody defines here: macros of a file that was not handed in.

Their names follow habits: `\vk` and `\bk` are a bold k, `\ka` is k_a, `\T` a transpose, `\vect{k}`
dresses its argument. A guess keeps the letter; where none fits, the command is a name of its own.
"""

from __future__ import annotations

from headwright.homework.meaning.formula import tokens, vocabulary
from headwright.homework.meaning.formula.tokens import Token

TRANSPOSES = {"T", "tp", "trans", "transp", "transpose", "tran", "Tr", "Trans", "transposed"}
_PAIRED = {"inner", "ip", "dotp", "dotprod", "innerp", "innerproduct", "inprod", "iprod", "dprod"}
_NORMS = {"abs", "Norm", "nrm", "Abs", "vnorm", "normtwo", "twonorm"}
# What they do with their argument, where they do not only dress it.
WITH_ARGUMENT = {
    **dict.fromkeys(TRANSPOSES, Token("command", "transposed")),
    **dict.fromkeys(_PAIRED, Token("command", "inner")),
    **dict.fromkeys(_NORMS, Token("command", "norm")),
}
# Shorthands for `\begin{equation}` and the like.
_ENVIRONMENTS = {"be", "ee", "bea", "eea", "beq", "eeq", "beqn", "eeqn", "bal", "eal", "ben", "een"}
# Short names of \mathbf and \boldsymbol, and of brackets that grow with their content.
_DRESSING = {
    "mb", "bs", "bb", "mbf", "bld", "mbs", "mbb", "ve", "vect", "mat", "qty", "pqty", "bqty",
    "paren", "pa", "lr",
}  # fmt: skip

_PREFIXES = ("bold", "vect", "vec", "mat", "bf", "bm", "mb", "bs", "rv", "ve", "b", "v", "m")
_SUFFIXES = ("vect", "vec", "mat", "bf", "bm", "b", "v")
_LETTERS = {*vocabulary.GREEK} | set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
# Vectors of the exercise that are named together with their index.
_VECTORS = ("k", "v", "q", "mu")
_INDEXED = {vector + index: (vector, index) for vector in _VECTORS for index in "abij"}


def is_known(name: str) -> bool:
    """A command of TeX itself, or of a package that everybody loads."""
    return tokens.stands_for_something(name)


def guessed(name: str, following: str) -> list[Token]:
    """What an undefined command without an argument stands for; `following` is the next sign."""
    if name in _ENVIRONMENTS:
        return [Token("separator", name)]
    if name in _DRESSING:
        return []
    function = vocabulary.FUNCTIONS.get(name.lower())
    if function is not None:
        return [Token("function", function)]

    indexed = _INDEXED.get(name)
    if indexed is not None and following != "_":
        vector, index = indexed
        return [Token("name", vector), Token("op", "_"), Token("name", index)]
    return [Token("name", _letter(name) or name)]


def _letter(name: str) -> str:
    """The letter that is left without what dresses it: `\\bmu`, `\\qvec`, `\\kk`."""
    if len(name) == 2 and name[0] == name[1]:
        return name[0]
    for prefix in _PREFIXES:
        if name.startswith(prefix) and name[len(prefix) :] in _LETTERS:
            return name[len(prefix) :]
    for suffix in _SUFFIXES:
        if name.endswith(suffix) and name[: -len(suffix)] in _LETTERS:
            return name[: -len(suffix)]
    return ""
