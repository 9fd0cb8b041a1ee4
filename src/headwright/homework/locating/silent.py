"""Which segments say nothing: titles, "Answer:", "TODO", dots."""

from __future__ import annotations

import re

from headwright.homework.reading.document import Segment
from headwright.homework.reading.segments.who_speaks import only_announces

# What stands where an answer should be, by language; a bare "no" is an answer
_PLACEHOLDERS = {
    "en": r"to ?do|tbd|n/?a|your (?:answer|solution|response)(?: goes)?(?: here)?"
    r"|write your (?:answer|solution|response)[^.]{0,20}|insert[^.]{0,30}here"
    r"|(?:left )?(?:blank|empty)|skip(?:ped)?|no (?:answer|time)"
    r"|not (?:done|attempted|answered)|(?:(?:my|our) )?(?:answers?|solutions?)|ans|response",
    "de": r"lösung|antwort|leer|(?:keine|ohne) antwort|fehlt"
    r"|nicht (?:bearbeitet|gemacht|beantwortet)",
    "es": r"respuesta|vacío|(?:sin|no) (?:respuesta|hecho|contestad[oa])|no (?:lo )?hice|pendiente",
    "pt": r"resposta|vazio|(?:sem|não) (?:resposta|feito|respondid[oa])|não fiz",
    "fr": r"réponse|vide|(?:sans|pas de) réponse|pas (?:fait|traité)e?|non traitée?|à faire",
    "ko": r"답|풀이|없음|미작성|미완성|못 ?(?:함|풀었음|했음)",
    "zh": r"解答?|答案?|略|空|空白|待补充?|未完成|未作答|未做|没做",
    "ja": r"なし|まだ|未回答|未解答|空欄|白紙",
}
_PLACEHOLDER = re.compile(
    rf"[\W_]*(?:(?:{'|'.join(_PLACEHOLDERS.values())})[\W_]*){{0,2}}", re.IGNORECASE
)
_MOST_READ = 200  # characters


def is_silent(segment: Segment) -> bool:
    """A title, or nothing but "Answer:", dots or "TODO"."""
    if segment.kind == "heading" or segment.voice == "question":
        return True
    if segment.kind == "math":
        return False
    beginning = segment.text[:_MOST_READ]
    return only_announces(beginning) or _PLACEHOLDER.fullmatch(beginning) is not None
