"""Formulas in plain prose: `so q = beta*(k_a + k_b) with beta >> 0` has no dollar signs but two
statements."""

from __future__ import annotations

import re

from headwright.homework.meaning.formula.vocabulary import (
    FRACTIONS,
    FUNCTIONS,
    GREEK,
    GREEK_LETTERS,
    SUBSCRIPTS,
    SUPERSCRIPTS,
)

_RELATION = re.compile(r"[=≈≫≪<>≤≥∈→∼~≃∝»«≠]|\\(?:approx|gg|ll|to|geq|leq|sim|neq|in)\b")
_SIGN = re.compile(
    rf"[=≈≫≪^_∑√⊤·∈→∞≤≥<>+*/|∼~≃∝‖×\\−»≠{''.join(GREEK_LETTERS)}{''.join(SUBSCRIPTS)}{''.join(SUPERSCRIPTS)}{''.join(FRACTIONS)}]"
)
_MEMBER = re.compile(r"\b(?:not )?in(?= \\?[\[{])")
_SCORE = re.compile(r"[kK][_{]?\S{1,10}\s?[·.*]?\s?q|q\S{1,8}\s?[·.*]?\s?[kK]\S{1,6}")
_LONG_WORD = re.compile(r"[A-Za-z]{4,}")
_KNOWN = {
    *GREEK,
    *FUNCTIONS,
    "softmax",
    "sum",
    "infinity",
    "infty",
    "inf",
    "attention",
    "frac",
    "sqrt",
    "perm",
}
_ODD = re.compile(r"https?:|www\.|[\w.]+@|\.py\b|[{}]\s*$")
# Scripts without spaces between words: their letters end a formula.
_FOREIGN = re.compile(r"[぀-ヿ㐀-鿿가-힯А-я؀-ۿ，。；：、]+")
_APPLIED = re.compile(r"[(\[]*\d*(?:exp|ln|log|softmax|[A-Za-z])\(.{0,40}")
_BULLETS, _ARTICLES = ("-", "*", "•", "/", "+", ")", "–", "—", "·"), ("a", "A", "I")
# So many spaces separate two formulas on one line.
_GAP = 3
_START, _STOP = r"(?<![A-Za-z\\_^{])", r"(?![A-Za-z0-9_^{])"
_LOST = [
    (re.compile(pattern), spelled)
    for pattern, spelled in (
        (r"(?:[Σ∑]|\bsum)\s*_?\{?([a-z])\s?=\s?(\d)\}?\s?\^\s?\{?(\w+)\}?", r"\\sum_{\1=\2}^{\3} "),
        (r"[Σ∑]\s*(?:_?\{?([a-z])\}?|ᵢ)\s?(?:≠|!=)\s?([a-z])", r"\\sum_{i≠\2} "),
        (r"[Σ∑]([ij])\s+(?=[A-Za-zα])", r"\\sum_{\1} "),
        (r"\bmax\s*ᵢ\s?(?:≠|!=)\s?([a-z])", r"\\max_{i≠\1} "),
        (r"\bmax\s*_?\{?([a-z])\s?(?:≠|!=)\s?([a-z])\}?", r"\\max_{\1≠\2} "),
        (rf"{_START}(k|v|q|u|μ|mu)_?([abij12])[T⊤]{_STOP}", r"\1_\2^T "),
        (rf"{_START}(k|v|q|u|μ|mu)[T⊤]\s?_?([abij12]){_STOP}", r"\1_\2^T "),
        (rf"{_START}([AB])\s?\1[T⊤]{_STOP}", r"\1 \1^T "),
        (rf"{_START}([AB])[T⊤]{_STOP}", r"\1^T "),
        (rf"{_START}(k|v|q|c|mu|alpha|u|μ|α)([abij12])(?![A-Za-z0-9_{{])", r"\1_\2"),
    )
]


def islands(text: str) -> list[tuple[int, int]]:
    """Where formulas with a relation (or a score `k_j'q`) stand in prose, as offsets."""
    text = _MEMBER.sub(_member, text)
    if not (_RELATION.search(text) or _SCORE.search(text)) or _ODD.search(text[:200]):
        return []
    runs: list[list[tuple[int, int]]] = [[]]
    last = 0
    for match in re.finditer(r"[^\s぀-ヿ㐀-鿿가-힯，。；]+|[぀-ヿ㐀-鿿가-힯，。；]+", text):
        if "\n" in text[last : match.start()] or match.start() - last >= _GAP:
            runs.append([])
        last = match.end()
        if _mathy(match[0]):
            runs[-1].append(match.span())
            if match[0][-1:] in ";.。" and match[0] != "...":
                runs.append([])
        elif runs[-1]:
            runs.append([])
    spans = [_trim(text, run) for run in runs if run]
    return [(a, b) for a, b in spans if a < b and _states(text[a:b])]


def plain(text: str) -> str:
    """Scripts that plain text lost: `ka` is k_a, `A AT` is A A^T, `kjT q` is k_j^T q, `Σi=1^n` a
    sum with limits."""
    text = _MEMBER.sub(_member, text)
    text = re.sub(r"(?<=[A-Za-z)\]])\.T\b", "^T ", text)
    if "\\" in text.replace("\\{", "").replace("\\}", ""):
        return text
    for pattern, spelled in _LOST:
        text = pattern.sub(spelled, text)
    return text


def _mathy(word: str) -> bool:
    core = word.strip(".,;:!?()[]{}\"'*")
    if not core:
        return word.strip(",") in ("...", "…") or word in ("(", ")", "[", "]", "*", "{", "}")
    if _FOREIGN.search(core):
        return False
    letters = [w for w in _LONG_WORD.findall(core) if w.lower() not in _KNOWN]
    if letters:
        return (
            bool(re.search(r"[_^(=]", core))
            and len(letters) == 1
            and len(letters[0]) < 10
            and "'" not in core
        )
    if _SIGN.search(core) or core.lower() in _KNOWN or _APPLIED.fullmatch(word):
        return True
    return (
        len(core) == 1
        or re.fullmatch(r"[A-Za-z]\.T|-[A-Za-z\d]{1,2}|[\d.]+,[\d.]+", core) is not None
        or core.replace(".", "", 1).isdigit()
        or bool(re.fullmatch(r"(?:k|v|q|c|mu|u|M|I|A{1,2}|B{1,2})[abij12T⊤'’]*\w?", core))
    )


def _goes_on(text: str, run: list[tuple[int, int]]) -> bool:
    """`a > 0` begins with a symbol, "a q = ..." with an article."""
    return len(run) > 1 and bool(re.match(r"[=≈≫≪<>≤≥→∈+*/^_]", text[run[1][0] :]))


def _trim(text: str, run: list[tuple[int, int]]) -> tuple[int, int]:
    """Cut an article "a", a dash or a bullet at the ends, and closing punctuation."""
    while run and (
        text[slice(*run[0])] in _BULLETS
        or (text[slice(*run[0])] in _ARTICLES and not _goes_on(text, run))
    ):
        run = run[1:]
    while run and text[run[-1][0] : run[-1][1]] in ("a", "I", "-", "(", "–", "—", "*"):
        run = run[:-1]
    if not run:
        return 0, 0
    start, end = run[0][0], run[-1][1]
    while end > start and text[end - 1] in ".,;:":
        end -= 1
    return start, end


def _member(match: re.Match[str]) -> str:
    """The word "in" before a bracket as a sign, of the same length so that offsets stay."""
    return ("∉" if match[0].startswith("not") else "∈").ljust(len(match[0]))


def _states(piece: str) -> bool:
    cut = piece.rstrip()[-1:] in tuple("+-*/^_(−")  # a formula that was cut off must not be judged
    return len(piece) >= 3 and not cut and bool(_RELATION.search(piece) or _SCORE.fullmatch(piece))
