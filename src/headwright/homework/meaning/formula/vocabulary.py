"""The vocabulary of formulas, as data: how every spelling maps to one canonical token."""

from __future__ import annotations

GREEK = [
    "alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda",
    "mu", "nu", "xi", "omicron", "pi", "rho", "sigma", "tau", "upsilon", "phi", "chi", "psi",
    "omega", "Gamma", "Delta", "Theta", "Lambda", "Xi", "Pi", "Sigma", "Upsilon", "Phi", "Psi",
    "Omega",
]  # fmt: skip

GREEK_LETTERS = dict(zip("αβγδεζηθικλμνξοπρστυφχψωΓΔΘΛΞΠΣΥΦΨΩ", GREEK, strict=True)) | {
    "ϵ": "epsilon", "ε": "epsilon", "µ": "mu", "ϕ": "phi", "ϑ": "theta", "ς": "sigma", "ℓ": "l",
    "∑": "sum", "ı": "i",
}  # fmt: skip

VARIANTS = {
    "varepsilon": "epsilon", "vartheta": "theta", "varphi": "phi", "varrho": "rho",
    "varsigma": "sigma", "varpi": "pi", "ell": "l", "upmu": "mu", "upalpha": "alpha",
    "upbeta": "beta", "imath": "i", "jmath": "j", "Alpha": "A", "Beta": "B", "Mu": "M",
}  # fmt: skip

# Functions the evaluator knows, under every name met so far.
FUNCTIONS = {
    "exp": "exp", "log": "ln", "ln": "ln", "sqrt": "sqrt", "softmax": "softmax",
    "softargmax": "softmax", "lim": "lim", "max": "max", "min": "min", "tanh": "tanh",
    "diag": "diag", "argmax": "argmax", "Cov": "cov", "Var": "var", "cov": "cov", "var": "var",
    "tr": "tr", "rank": "rank", "span": "span", "cos": "cos", "sin": "sin",
}  # fmt: skip

# Words that name a layer: `Attention(PX)`.
LAYERS = {
    "attention": "Attention", "attn": "Attention", "selfattention": "Attention",
    "selfattn": "Attention", "sa": "Attention", "mha": "Attention", "att": "Attention",
    "ffn": "FFN", "mlp": "FFN", "feedforward": "FFN",
}  # fmt: skip

RELATION_COMMANDS = {
    "=": "=", "≈": "~=", "≃": "~=", "≅": "~=", "≐": "~=", "≡": "=", "≔": "=", "∼": "~", "≠": "!=",
    "<": "<", ">": ">", "≤": "<=", "⩽": "<=", "≦": "<=", "≥": ">=", "⩾": ">=", "≧": ">=", "≪": "<<",
    "≫": ">>", "⋘": "<<", "⋙": ">>", "∈": "in", "∉": "notin", "→": "->", "⟶": "->", "∝": "propto",
    "≳": ">=", "≲": "<=", "»": ">>", "«": "<<", "＝": "=", "＞": ">", "＜": "<", "↦": "->",
    "eq": "=", "approx": "~=", "approxeq": "~=", "simeq": "~=", "cong": "~=", "doteq": "~=",
    "equiv": "=", "coloneqq": "=", "coloneq": "=", "triangleq": "=", "sim": "~", "neq": "!=",
    "ne": "!=", "lt": "<", "gt": ">", "le": "<=", "leq": "<=", "leqslant": "<=", "leqq": "<=",
    "ge": ">=", "geq": ">=", "geqslant": ">=", "geqq": ">=", "ll": "<<", "lll": "<<", "gg": ">>",
    "ggg": ">>", "gtrsim": ">=", "lesssim": "<=", "in": "in", "notin": "notin", "to": "->",
    "rightarrow": "->", "longrightarrow": "->", "xrightarrow": "->", "mapsto": "->",
    "propto": "propto", "asymp": "~=", "thickapprox": "~=", "thicksim": "~", "backsimeq": "~=",
    "gtrapprox": ">=", "succ": ">",
}  # fmt: skip

# Longest first. Plain-text spellings of relations and operators.
ASCII_RELATIONS = (
    ("<==>", "=>"), ("<=>", "=>"), ("==>", "=>"), ("-->", "->"), (">>>", ">>"), ("<<<", "<<"),
    (":=", "="), ("==", "="), ("=>", "=>"), ("->", "->"), ("!=", "!="), ("/=", "!="), ("~=", "~="),
    ("~~", "~="), (">>", ">>"), ("<<", "<<"), (">=", ">="), ("<=", "<="), ("=<", "<="), ("=", "="),
    ("<", "<"), (">", ">"), ("~", "~"),
)  # fmt: skip

# Consequences and punctuation between statements.
SEPARATORS = {
    "Rightarrow", "Longrightarrow", "implies", "iff", "Leftrightarrow", "Longleftrightarrow",
    "leftrightarrow", "therefore", "because", "quad", "qquad", "forall", "land", "lor", "wedge",
    "vee", "mid", "implied", "impliedby", "Leftarrow", "exists", "colon", "newline", "cr",
} | set("⇒⟹⇔⟺∴∵∀∃；，。、：①②③④⑤⑥⑦⑧⑨；")  # fmt: skip

CONSEQUENCES = {"Rightarrow", "Longrightarrow", "implies", "⇒", "⟹"}

# Commands that only dress the next group, and are dropped.
DRESSING = {
    "mathbf", "mathbb", "mathrm", "mathsf", "mathit", "mathcal", "mathfrak", "mathscr",
    "boldsymbol", "bm", "vec", "overrightarrow", "underline", "boxed", "fbox", "left", "right",
    "big", "Big", "bigg", "Bigg", "bigl", "bigr", "Bigl", "Bigr", "biggl", "biggr", "Biggl",
    "Biggr", "displaystyle", "textstyle", "scriptstyle", "operatorname", "limits", "nolimits", "rm",
    "bf", "it", "cal", "sf", "underbrace", "overbrace", "ensuremath", "symbf", "pmb", "mathop",
    "mathrel", "mathbin", "mathopen", "mathclose", "smash", "hfill", "framebox", "middle",
    "nonumber", "notag", "mathstrut", "strut", "bold", "upright", "italic", "mathnormal",
    "boldmath", "circled", "arrow", "protect", "relax",
}  # fmt: skip

ACCENTS = {
    "hat": "^", "widehat": "^", "tilde": "~", "widetilde": "~", "bar": "-", "overline": "-",
    "dot": ".", "check": "v",
}  # fmt: skip
# Commands whose argument is dropped with them.
DISCARD = {
    "label", "tag", "hspace", "vspace", "color", "phantom", "cancel", "bcancel", "xcancel", "sout",
    "hphantom", "ref", "eqref", "cite", "footnote", "kern",
}  # fmt: skip

TEXTS = {
    "text", "mbox", "textrm", "textbf", "textit", "hbox", "textnormal", "texttt", "textsf",
    "intertext", "shortintertext", "emph",
}  # fmt: skip

SPACES = {
    ",", ";", ":", "!", " ", "thinspace", "medspace", "enspace", "enskip", ">", "negthinspace",
    "\n", "/",
}  # fmt: skip

TRANSPOSES = {"T", "top", "intercal", "⊤", "⊺", "t", "tr", "trans"}

DOTS = {
    "dots", "cdots", "ldots", "vdots", "ddots", "dotsc", "dotsb", "hdots", "…", "⋯", "⋮", "⋱",
    "...",
}  # fmt: skip

TIMES = {
    "@", "cdot", "times", "ast", "*", "·", "×", "⋅", "∗", "•", "odot", "⊙", "bullet", "circ",
}  # fmt: skip

OUTER = {"otimes", "⊗"}

INFINITY = {"infty", "∞", "infinity", "inf", "oo"}

MATRICES = {"bmatrix", "pmatrix", "matrix", "vmatrix", "Bmatrix", "smallmatrix", "array"}


SUBSCRIPTS = dict(
    zip(
        "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ₐₑₒₓₔₕₖₗₘₙₚₛₜᵢⱼᵣᵤᵥᵦᵧᵨᵩᵪ",
        "0123456789+-=()aeoxəhklmnpstijruvβγρφχ",
        strict=True,
    )
)

SUPERSCRIPTS = dict(
    zip(
        "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ᵀⁿⁱᵃᵇᶜᵈᵉᵍʰʲᵏˡᵐᵒᵖʳˢᵗᵘᵛʷˣʸᶻᵝᵞ",
        "0123456789+-=()Tniabcdeghjklmoprstuvwxyzβγ",
        strict=True,
    )
)

FRACTIONS = {
    "½": (1, 2), "⅓": (1, 3), "¼": (1, 4), "¾": (3, 4), "⅔": (2, 3), "⅛": (1, 8), "⅕": (1, 5),
}  # fmt: skip


def relation(sign: str) -> str | None:
    """The relation that a sign alone stands for, between two formulas: `$q$ = $k_a$`."""
    found = RELATION_COMMANDS.get(sign) or dict(ASCII_RELATIONS).get(sign)
    return None if found in (None, "=>") or sign.isalpha() else found
