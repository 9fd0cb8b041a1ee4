"""What students answer: for every question some right answers and the faults that classes really
make.

An answer is a function of a notation and a tongue that gives the lines of the answer; `deserves`
holds every status that a careful grader could give (one, wherever the question leaves no choice).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .notation import Notation
from .tongues import Tongue

Lines = list[str]  # "$..$" inline formulas, "$$..$$" displays; the layout rewrites the delimiters


@dataclass(frozen=True)
class Answer:
    name: str
    question: str
    deserves: frozenset[str]
    write: Callable[[Notation, Tongue], Lines]
    formula: bool = True  # False: words carry the answer, so `unread` is as good as the verdict


ANSWERS: dict[str, list[Answer]] = {}


def answer(question: str, deserves: str, *, formula: bool = True):
    """Register an answer; its name is the function's."""

    def keep(write: Callable[[Notation, Tongue], Lines]) -> Callable[[Notation, Tongue], Lines]:
        one = Answer(write.__name__, question, frozenset(deserves.split("|")), write, formula)
        ANSWERS.setdefault(question, []).append(one)
        return write

    return keep


def large(n: Notation, t: Tongue, name: str = "", how: int = 0) -> str:
    """The size of the scale, said in one of the ways students say it."""
    scale = name or n.scale
    return [
        rf"{t.where} ${scale} \gg 0$", rf"$({scale} \gg 0)$", rf"${scale} \gg 1$",
        rf"${scale} \to \infty$", f"{t.where} ${scale}$ {t.is_large}", rf", ${scale} \to +\infty$",
    ][how % 6]  # fmt: skip


def shown(formula: str, tail: str, how: int) -> Lines:
    """Inline with its condition behind it, or displayed with the condition in it or below."""
    if how % 3 == 0:
        return [f"$${formula}$$", tail] if tail else [f"$${formula}$$"]
    if how % 3 == 1:
        return [f"${formula}$ {tail}"]
    condition = tail.replace("$", "").strip(", ")
    if tail and tail.count("$") == 2 and tail.strip().startswith(("$", ",")):
        return [rf"$${formula} \quad {condition}$$"]
    return [f"$${formula}$$ {tail}"]


# ------------------------------------------------------------------------------------------- part a


@answer("a.prob", "correct")
def both_properties(n, t):
    return [rf"{t.because} $\alpha_i \ge 0$ {t.and_} $\sum_{{i=1}}^n \alpha_i = 1$."]


@answer("a.prob", "correct")
def bounded_and_normalised(n, t):
    return [
        r"$$0 \le \alpha_i \le 1, \quad \sum_i \alpha_i = 1$$",
        f"{t.therefore} $\\alpha$ {t.is_distribution}",
    ]


@answer("a.prob", "correct")
def interval(n, t):
    return [
        rf"$\alpha_i \in [0,1]$ {t.for_all} $i$, {t.and_} "
        r"$\alpha_1 + \alpha_2 + \dots + \alpha_n = 1$"
    ]


@answer("a.prob", "incomplete")
def only_the_sum(n, t):
    return [rf"{t.because} $\sum_{{i=1}}^n \alpha_i = 1$."]


@answer("a.cond", "correct")
def much_greater(n, t):
    return [rf"${n.score('j')} \gg {n.score('i')}$ {t.for_all} $i \ne j$"]


@answer("a.cond", "correct")
def much_smaller(n, t):
    return [rf"$${n.score('i')} \ll {n.score('j')}, \quad \forall i \ne j$$"]


@answer("a.cond", "correct")
def difference_to_infinity(n, t):
    return [rf"$${n.score('j')} - {n.score('i')} \to \infty \quad \forall i \ne j$$"]


@answer("a.cond", "correct")
def in_words_between_formulas(n, t):
    return [f"${n.score('j')}$ {t.much_greater_than} ${n.score('i')}$ {t.for_all} $i \\ne j$."]


@answer("a.cond", "correct")
def exponentials(n, t):
    return [rf"$$\exp({n.score('j')}) \gg \sum_{{i \ne j}} \exp({n.score('i')})$$"]


@answer("a.cond", "correct")
def maximum(n, t):
    return [rf"${n.score('j')} \gg \max_{{i \ne j}} {n.score('i')}$"]


@answer("a.cond", "incomplete")
def only_greater(n, t):
    return [rf"${n.score('j')} > {n.score('i')}$ {t.for_all} $i \ne j$"]


@answer("a.cond", "wrong")
def long_key(n, t):
    return [rf"${n.k('j')} \gg {n.k('i')}$ {t.for_all} $i \ne j$"]


@answer("a.cond", "wrong")
def swapped_indices(n, t):
    return [rf"$${n.score('j')} \ll {n.score('i')} \quad \forall i \ne j$$"]


@answer("a.out", "correct")
def copies(n, t):
    return [rf"{t.therefore} ${n.c} \approx {n.v('j')}$."]


@answer("a.out", "correct")
def copies_in_a_chain(n, t):
    return [
        rf"$${n.c} = \sum_i \alpha_i {n.v('i')} \approx \alpha_j {n.v('j')} \approx {n.v('j')}$$"
    ]


@answer("a.out", "correct")
def weight_one(n, t):
    return [rf"$\alpha_j \approx 1$, {t.therefore} ${n.c} = {n.v('j')}$"]


@answer("a.out", "wrong")
def copies_the_key(n, t):
    return [rf"$${n.c} \approx {n.k('j')}$$"]


@answer("a.out", "wrong")
def half_of_it(n, t):
    return [rf"$${n.c} \approx \frac{{1}}{{2}} {n.v('j')}$$"]


@answer("a.intu", "correct", formula=False)
def copy_in_words(n, t):
    return [t.copies]


# ------------------------------------------------------------------------------------------- part b


@answer("b.M", "correct")
def projector(n, t):
    return [f"$$M = A {n.t('A')}$$", rf"{t.because} ${n.t('A')} A = I$ {t.and_} ${n.t('A')} B = 0$"]


@answer("b.M", "correct")
def sum_of_outer_products(n, t):
    return [rf"{t.let} $M = \sum_{{i=1}}^m a_i {n.t('a_i')}$."]


@answer("b.M", "correct")
def complement(n, t):
    return [f"$M = I - B {n.t('B')}$"]


@answer("b.M", "correct")
def projector_after_a_try(n, t):
    return [
        f"{t.let} $M = {n.t('A')}$, {t.then} $M {n.v('a')} = {n.t('A')} A c = c$.",
        f"{t.but} $c$ {t.coordinates_only}. {t.therefore} $M = A {n.t('A')}$.",
    ]


@answer("b.M", "wrong")
def transposed_basis(n, t):
    return [f"$M = {n.t('A')}$, {t.because} ${n.t('A')} A = I$ {t.and_} ${n.t('A')} B = 0$"]


@answer("b.M", "wrong")
def gram_matrix(n, t):
    return [f"$$M = {n.t('A')} A$$"]


@answer("b.M", "wrong")
def other_basis(n, t):
    return [f"{t.let} $M = B {n.t('B')}$"]


@answer("b.M", "wrong")
def bare_basis(n, t):
    return [f"{t.therefore} $M = A$"]


def _query(question: str, vector: str) -> None:
    """The answers to b.q and c.q: the same with keys and with means."""
    other = "m" if vector == "k" else "k"

    def of(n: Notation, index: str) -> str:
        return getattr(n, vector)(index)

    def pair(n: Notation, sign: str = "+") -> str:
        return f"({of(n, 'a')} {sign} {of(n, 'b')})"

    def weights(n: Notation) -> Lines:
        b = n.scale
        return [
            rf"$$\alpha_a = \alpha_b = \frac{{\exp({b})}}{{n - 2 + 2\exp({b})}} "
            r"\approx \frac{1}{2}$$"
        ]

    def scores(n: Notation) -> Lines:
        b = n.scale
        return [
            rf"$${n.score('a')} = {b}, \quad {n.score('b')} = {b}, "
            rf"\quad {n.score('i')} = 0 \quad (i \ne a, b)$$"
        ]

    for how in range(6):

        @answer(question, "correct")
        def scaled_sum(n, t, how=how):
            return shown(f"{n.q} = {n.scale}{pair(n)}", large(n, t, how=how), how)

    @answer(question, "correct")
    def scale_behind(n, t):
        return shown(rf"{n.q} = {pair(n)} \cdot {n.scale}", large(n, t, how=1), 1)

    @answer(question, "correct")
    def multiplied_out(n, t):
        return shown(f"{n.q} = {n.scale} {of(n, 'a')} + {n.scale} {of(n, 'b')}", large(n, t), 0)

    @answer(question, "correct")
    def halved_but_scaled(n, t):
        return shown(rf"{n.q} = \frac{{{n.scale}}}{{2}} {pair(n)}", large(n, t), 1)

    @answer(question, "correct")
    def with_derivation(n, t):
        return [
            rf"{t.we_want} ${n.score('a')} = {n.score('b')} \gg {n.score('i')}$ "
            rf"{t.for_all} $i \notin \{{a, b\}}$.",
            *shown(f"{n.q} = {n.scale}{pair(n)}", large(n, t), 0), *scores(n), *weights(n),
        ]  # fmt: skip

    @answer(question, "correct")
    def said_in_words(n, t):
        return [f"$${n.q} = {n.scale}{pair(n)}$$", f"{t.where} ${n.scale}$ {t.is_large}."]

    @answer(question, "correct")
    def no_word_on_its_size(n, t):
        return [f"$${n.q} = {n.scale}{pair(n)}$$"]

    @answer(question, "incomplete")
    def no_scale(n, t):
        return [f"{t.let} ${n.q} = {of(n, 'a')} + {of(n, 'b')}$."]

    @answer(question, "incomplete")
    def only_positive(n, t):
        return [f"$${n.q} = {n.scale}{pair(n)}, \\quad {n.scale} > 0$$"]

    @answer(question, "wrong")
    def half(n, t):
        return [rf"$${n.q} = \frac{{1}}{{2}}{pair(n)}$$"]

    @answer(question, "wrong")
    def sign_lost(n, t):
        return shown(f"{n.q} = {n.scale}{pair(n, '-')}", large(n, t), 0)

    @answer(question, "wrong")
    def one_index_twice(n, t):
        return shown(f"{n.q} = {n.scale}({of(n, 'a')} + {of(n, 'a')})", large(n, t), 1)

    @answer(question, "wrong")
    def only_one(n, t):
        return shown(f"{n.q} = {n.scale} {of(n, 'a')}", large(n, t), 0)

    @answer(question, "wrong")
    def negative(n, t):
        return shown(f"{n.q} = -{n.scale}{pair(n)}", large(n, t), 1)

    if question == "c.q":

        @answer(question, "incomplete")
        def keys_instead_of_means(n, t):
            keys = f"({getattr(n, other)('a')} + {getattr(n, other)('b')})"
            return shown(f"{n.q} = {n.scale}{keys}", large(n, t), 0)


_query("b.q", "k")
_query("c.q", "m")


# --------------------------------------------------------------------------------------- parts c, d


def _swing(n: Notation, t: Tongue) -> Lines:
    """Setting up c.var: one key of random length, a query from before."""
    b = n.scale if n.scale != r"\gamma" else r"\beta"
    return [
        rf"{t.let} ${n.k('a')} \approx \gamma {n.m('a')}$, "
        r"$\gamma \sim \mathcal{N}(1, \frac{1}{2})$ "
        rf"{t.and_} ${n.k('i')} \approx {n.m('i')}$ {t.for_all} $i \ne a$.",
        rf"$${n.score('a')} \approx \gamma {b}, \quad {n.score('b')} \approx {b}$$",
    ]


@answer("c.var", "correct")
def swings(n, t):
    b = n.scale if n.scale != r"\gamma" else r"\beta"
    return [
        *_swing(n, t),
        rf"$$\alpha_a \approx \frac{{\exp(\gamma {b})}}{{\exp(\gamma {b}) + \exp({b})}}"
        rf" = \frac{{1}}{{1 + \exp({b}(1-\gamma))}}$$",
        rf"$\gamma > 1$: ${n.c} \approx {n.v('a')}$; $\gamma < 1$: ${n.c} \approx {n.v('b')}$.",
    ]


@answer("c.var", "correct", formula=False)
def swings_in_words(n, t):
    return [t.oscillates.format(a=f"${n.v('a')}$", b=f"${n.v('b')}$", c=f"${n.c}$")]


@answer("c.var", "wrong|incomplete")
def does_not_swing(n, t):
    return [rf"$${n.c} \approx \frac{{1}}{{2}}({n.v('a')} + {n.v('b')})$$"]


def _heads(n: Notation, first: str, second: str) -> str:
    return rf"{n.q}_1 = {first}, \quad {n.q}_2 = {second}"


@answer("d.q", "correct")
def one_head_each(n, t):
    return shown(_heads(n, f"{n.scale} {n.m('a')}", f"{n.scale} {n.m('b')}"), large(n, t), 0)


@answer("d.q", "correct")
def other_order(n, t):
    return shown(_heads(n, f"{n.scale} {n.m('b')}", f"{n.scale} {n.m('a')}"), large(n, t, how=1), 2)


@answer("d.q", "correct")
def own_scales(n, t):
    one, two = f"{n.scale}_1", f"{n.scale}_2"
    return [
        f"${n.q}_1 = {one} {n.m('a')}$, {t.where} ${one} \\gg 0$",
        f"${n.q}_2 = {two} {n.m('b')}$, {t.where} ${two} \\gg 0$",
    ]


@answer("d.q", "correct")
def with_outputs(n, t):
    return [
        *shown(_heads(n, f"{n.scale} {n.m('a')}", f"{n.scale} {n.m('b')}"), large(n, t), 0),
        rf"{t.then} ${n.c}_1 \approx {n.v('a')}$, ${n.c}_2 \approx {n.v('b')}$",
        rf"$${n.c} = \frac{{1}}{{2}}({n.c}_1 + {n.c}_2) "
        rf"\approx \frac{{1}}{{2}}({n.v('a')} + {n.v('b')})$$",
    ]


@answer("d.q", "incomplete")
def heads_without_scale(n, t):
    return [f"$${_heads(n, n.m('a'), n.m('b'))}$$"]


@answer("d.q", "wrong")
def sum_and_difference(n, t):
    return shown(
        _heads(n, f"{n.scale}({n.m('a')} + {n.m('b')})", f"{n.scale}({n.m('a')} - {n.m('b')})"),
        large(n, t),
        0,
    )


@answer("d.q", "wrong")
def same_mean_twice(n, t):
    return shown(_heads(n, f"{n.scale} {n.m('a')}", f"{n.scale} {n.m('a')}"), large(n, t), 0)


@answer("d.q", "wrong|incomplete")
def equal_heads(n, t):
    both = f"{n.scale}({n.m('a')} + {n.m('b')})"
    return shown(rf"{n.q}_1 = {n.q}_2 = {both}", large(n, t), 0)


@answer("d.q", "wrong|incomplete")
def halves(n, t):
    half, a, b = r"\frac{1}{2}", n.m("a"), n.m("b")
    return [f"$${_heads(n, f'{half} {a}', f'{half} {b}')}$$"]


@answer("d.q", "wrong")
def one_sign_lost(n, t):
    return shown(_heads(n, f"{n.scale} {n.m('a')}", f"-{n.scale} {n.m('b')}"), large(n, t), 0)


@answer("d.var", "correct")
def stays(n, t):
    return [
        rf"{t.therefore} ${n.c} \approx \frac{{1}}{{2}}({n.v('a')} + {n.v('b')})$ {t.less_variance}"
    ]


@answer("d.var", "correct", formula=False)
def stays_in_words(n, t):
    return [t.stable.format(c=f"${n.c}$")]
