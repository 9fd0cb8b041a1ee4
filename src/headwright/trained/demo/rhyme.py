"""The words of the demo: a nursery rhyme in which each verse repeats the last, so that a head that
goes by what followed before has something to find."""

from __future__ import annotations

import re
from typing import Any

from headwright.trained.demo import TEXT
from headwright.trained.library import transformers

# Read for every word that the rhyme does not have
_UNKNOWN = "[UNK]"


def words() -> list[str]:
    """Every word and mark of the rhyme once, in the order of reading, after the unknown one."""
    read = re.findall(r"\w+|[^\w\s]+", TEXT.read_text("utf-8"))
    return list(dict.fromkeys([_UNKNOWN, *read]))


def tokenizer() -> Any:
    """One token a word."""
    from tokenizers import Tokenizer, models, pre_tokenizers

    numbers = {word: number for number, word in enumerate(words())}
    made = Tokenizer(models.WordLevel(numbers, unk_token=_UNKNOWN))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    return transformers.PreTrainedTokenizerFast(tokenizer_object=made, unk_token=_UNKNOWN)
