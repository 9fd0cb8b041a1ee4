"""Formulas in plain prose: `so q = beta*(k_a + k_b) with beta >> 0` has no dollar signs but two
statements."""

from __future__ import annotations

import re

from headwright.homework.meaning import words
from headwright.homework.meaning.formula.vocabulary import (
    FRACTIONS,
    FUNCTIONS,
    GREEK,
    GREEK_LETTERS,
    SUBSCRIPTS,
    SUPERSCRIPTS,
)

_RELATION = re.compile(r"[=≈≫≪<>≤≥∈→∼~≃∝»«≠]|\\(?:approx|gg|ll|to|geq|leq|sim|neq|in)\b")
_LETTERS_AND_SCRIPTS = "".join([*GREEK_LETTERS, *SUBSCRIPTS, *SUPERSCRIPTS, *FRACTIONS])
_SIGN = re.compile(rf"[=≈≫≪^_∑√⊤·∈→∞≤≥<>+*/|∼~≃∝‖×\\−»≠{_LETTERS_AND_SCRIPTS}]")
_MEMBER = re.compile(r"\b(?:not )?in(?= \\?[\[{])")
_SCORE = re.compile(r"[kK][_{]?\S{1,10}\s?[·.*]?\s?q|q\S{1,8}\s?[·.*]?\s?[kK]\S{1,6}")
_DOTTED_SCORE = re.compile(r"[kK]_?[a-z]\.q|q\.[kK]_?[a-z]")  # ka.q
_OUTPUT_IN_WORDS = re.compile(
    r"(?<![\w.])(?P<output>c_?[12])(?P<between>[^\n.,;:。，]{2,40}?)(?P<value>u_?[a-d])(?![\w+*/^])"
    r"(?!\s?[-+*/^])"
)
_LONG_WORD = re.compile(r"[A-Za-z]{4,}")
_KNOWN = {*GREEK, *FUNCTIONS, "sum", "infinity", "infty", "inf", "attention", "frac", "perm"}
# Lines with addresses or file names, and pieces of programs, hold no formulas.
_ODD = re.compile(r"https?:|www\.|[\w.]+@|\.py\b|[{}]\s*$")
# Scripts without spaces between words: their letters end a formula.
_FOREIGN = re.compile(r"[぀-ヿ㐀-鿿가-힯А-я؀-ۿ，。；：、]+")
_WORD = re.compile(r"[^\s぀-ヿ㐀-鿿가-힯，。；、]+|[぀-ヿ㐀-鿿가-힯，。；、]+")
# "And" in Portuguese and Spanish, before another equation.
_AND = re.compile(r"[ey]\s+(?=(?:sum|[∑Σ]|[A-Za-zμ]\w{0,4}\s*(?:=|≈|:=)))")
_APPLIED = re.compile(r"[(\[]*\d*(?:exp|ln|log|softmax|[A-Za-z])\(.{0,40}")
_BULLETS = ("-", "*", "•", "/", "+", ")", "–", "—", "·")
_ARTICLES = ("a", "A", "I")
# What is no end of a formula.
_DANGLING = ("a", "I", "-", "(", "–", "—", "*")
# A formula that was cut off must not be judged.
_CUT_OFF = tuple("+-*/^_(−")
# `A.T`, `-k`, `0.5,1`; the letters of the exercise with a squeezed index: `ka`, `AAT`, `mub`.
_SHORT = re.compile(
    r"[A-Za-z]\.T|-[A-Za-z\d]{1,2}|[\d.]+,[\d.]+"
    r"|(?:k|v|q|c|mu|u|M|I|A{1,2}|B{1,2})[abij12T⊤'’]*\w?"
)
# Signs before or behind which a formula may be broken into two lines.
_GOES_ON = frozenset("+=≈*·×−-")
# On a new line, what follows from the formula above: `-> v_1 = u_b`
_ARROW = r"(?:-+>|=+>|→|⇒|⟹)[^\n=]{1,20}="
_FOLLOWS = re.compile(_ARROW)
_CONSEQUENCE = re.compile(rf"\s*\n\s*{_ARROW}")
# So many spaces separate two formulas on one line.
_GAP = 3
# A letter that Markdown prints in bold.
_BOLD = re.compile(r"(?<!\*)\*\*([^\s*]{1,3})\*\*(?!\*)")
_START = r"(?<![A-Za-z\\_^{])"
_STOP = r"(?![A-Za-z0-9_^{])"
# Scripts that plain text lost, and their spelling in TeX.
_LOST = [
    (re.compile(pattern), spelled)
    for pattern, spelled in (
        (r"(?:[Σ∑]|\bsum)\s*_?\{?([a-z])\s?=\s?(\d)\}?\s?\^\s?\{?(\w+)\}?", r"\\sum_{\1=\2}^{\3} "),
        (r"[Σ∑]\s*(?:_?\{?([a-z])\}?|ᵢ)\s?(?:≠|!=)\s?([a-z])", r"\\sum_{i≠\2} "),
        (r"[Σ∑]([ij])\s+(?=[A-Za-zα])", r"\\sum_{\1} "),
        (r"\bmax\s*ᵢ\s?(?:≠|!=)\s?([a-z])", r"\\max_{i≠\1} "),
        (r"\bmax\s*_?\{?([a-z])\s?(?:≠|!=)\s?([a-z])\}?", r"\\max_{\1≠\2} "),
        (r"(?<=\w)⊤(?=[A-Za-z(])", "^T "),
        (rf"{_START}(k|v|q|u|μ|mu)_?([abij12])[T⊤ᵀ]{_STOP}", r"\1_\2^T "),
        (rf"{_START}u_?([abcd])[T⊤ᵀ]{_STOP}", r"u_\1^T "),
        (rf"{_START}u([abcd])(?![A-Za-z0-9_{{])", r"u_\1"),
        (rf"{_START}(k|v|q|u|μ|mu)[T⊤]\s?_?([abij12]){_STOP}", r"\1_\2^T "),
        (rf"{_START}([AB])\s?\1[T⊤]{_STOP}", r"\1 \1^T "),
        (rf"{_START}([AB])[T⊤]{_STOP}", r"\1^T "),
        (rf"{_START}(k|v|q|c|mu|alpha|u|μ|α)([abij12])(?![A-Za-z0-9_{{])", r"\1_\2"),
        (r"(?<=[A-Za-z0-9)\]}])\s?[⊤⊺]", "^T "),
        (r"(?<=k_[abij])\.(?=q\b)|(?<=\bq)\.(?=k_[abij]\b)", " · "),
    )
]


def formula_spans(text: str) -> list[tuple[int, int]]:
    """Where formulas with a relation (or a score `k_j'q`) stand in prose, as offsets, and symbols
    that words set equal."""
    text = _MEMBER.sub(_member, text)
    if _ODD.search(text[:200]):
        return []
    stated: list[tuple[int, int]] = []
    if _RELATION.search(text) or _SCORE.search(text):
        spans = [_trim(text, run) for run in _runs(text) if run]
        stated = [(start, end) for start, end in spans if start < end and _states(text[start:end])]
    return sorted([*stated, *_set_equal_in_words(text, stated)])


def _set_equal_in_words(text: str, spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Outside of those formulas, two symbols that words set equal: "c_2 is approximately u_a"."""
    found: list[tuple[int, int]] = []
    for match in _OUTPUT_IN_WORDS.finditer(text):
        is_free = all(end <= match.start() or match.end() <= start for start, end in spans)
        if is_free and words.comparison(match["between"]) == "~=":
            found += [match.span("output"), match.span("value")]
    return found


def _runs(text: str) -> list[list[tuple[int, int]]]:
    """Neighbouring words that look like mathematics, as offsets."""
    runs: list[list[tuple[int, int]]] = [[]]
    last = 0
    for match in _WORD.finditer(text):
        word = match[0]
        between = text[last : match.start()]
        broken = "\n" in between and not _goes_over_line(text, runs[-1], word)
        if broken or (len(between) >= _GAP and "\n" not in between):
            runs.append([])
        last = match.end()
        if _mathy(word) and not (runs[-1] and _AND.match(text, match.start())):
            runs[-1].append(match.span())
            if word[-1:] in ";.。" and word != "...":
                runs.append([])
        elif runs[-1]:
            runs.append([])
    return runs


def _goes_over_line(text: str, run: list[tuple[int, int]], word: str) -> bool:
    """Is the line break inside a formula: behind `+` or `=`, before them, or in a bracket?"""
    if run and _CONSEQUENCE.match(text, run[-1][1]):
        return False
    if run and word[0] in "=≈":
        return True
    if not run or not _RELATION.search(text, run[0][0], run[-1][1]):
        return False
    above = text[run[0][0] : run[-1][1]]
    open_bracket = above.count("(") > above.count(")")
    return open_bracket or above[-1] in _GOES_ON or word[0] in _GOES_ON


def with_scripts(text: str) -> str:
    """Scripts that plain text lost: `ka` is k_a, `A AT` is A A^T, `kjT q` is k_j^T q, `Σi=1^n` a
    sum with limits."""
    text = _MEMBER.sub(_member, text)
    text = re.sub(r"(?<=[A-Za-z)\]])\.T\b", "^T ", text)
    text = _BOLD.sub(r"\1", text)
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

    unknown = [w for w in _LONG_WORD.findall(core) if w.lower() not in _KNOWN]
    if unknown:
        return _long_name(core, unknown)
    if _SIGN.search(core) or _DOTTED_SCORE.fullmatch(core):
        return True
    if core.lower() in _KNOWN or _APPLIED.fullmatch(word):
        return True
    return len(core) == 1 or core.replace(".", "", 1).isdigit() or bool(_SHORT.fullmatch(core))


def _long_name(core: str, unknown: list[str]) -> bool:
    """`score_j=`: one word, not too long, with a script, a bracket or a relation."""
    if len(unknown) != 1 or len(unknown[0]) >= 10 or "'" in core:
        return False
    return re.search(r"[_^(=]", core) is not None


def _goes_on(text: str, run: list[tuple[int, int]]) -> bool:
    """`a > 0` begins with a symbol, "a q = ..." with an article."""
    return len(run) > 1 and bool(re.match(r"[=≈≫≪<>≤≥→∈+*/^_]", text[run[1][0] :]))


def _trim(text: str, run: list[tuple[int, int]]) -> tuple[int, int]:
    """Cut an article "a", a dash or a bullet at the ends, and closing punctuation."""
    while run and _opens_nothing(text, run):
        run = run[1:]
    while run and text[slice(*run[-1])] in _DANGLING and not _is_side(text, run):
        run = run[:-1]
    if not run:
        return 0, 0

    start = run[0][0]
    end = run[-1][1]
    while end > start and text[end - 1] in ".,;:":
        end -= 1
    return start, end


def _is_side(text: str, run: list[tuple[int, int]]) -> bool:
    """`K = I`: the letter is what stands behind the sign."""
    before = text[run[0][0] : run[-1][0]].rstrip()
    return text[slice(*run[-1])].isalpha() and before.endswith(("=", "≈"))


def _opens_nothing(text: str, run: list[tuple[int, int]]) -> bool:
    first = text[slice(*run[0])]
    if first in _BULLETS or _FOLLOWS.match(text, run[0][0]):
        return True
    return first in _ARTICLES and not _goes_on(text, run)


def _member(match: re.Match[str]) -> str:
    """The word "in" before a bracket as a sign, of the same length so that offsets stay."""
    return ("∉" if match[0].startswith("not") else "∈").ljust(len(match[0]))


def _states(piece: str) -> bool:
    if len(piece) < 3 or piece.rstrip()[-1:] in _CUT_OFF:
        return False
    return bool(_RELATION.search(piece) or _SCORE.fullmatch(piece))
