"""Tokens in the characters they stand for, whatever the vocabulary writes."""

import pytest

pytest.importorskip("transformers", reason="needs the extra 'models'")

from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from headwright.trained.passage.spelling import runs_right_to_left, spelled


def _of_bytes():
    """Every byte a token of its own, and a special token."""
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    numbers = {letter: i for i, letter in enumerate(letters)}
    inner = Tokenizer(models.BPE(vocab=numbers, merges=[]))
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    inner.decoder = decoders.ByteLevel()
    return PreTrainedTokenizerFast(tokenizer_object=inner, eos_token="<|Ġend|>")


def test_byte_vocabularies_are_spelled_byte_by_byte():
    """Whole characters as they are; parts of one in hexadecimal, never as another letter."""
    tokenizer = _of_bytes()
    ids = tokenizer("a b\n日")["input_ids"]
    assert spelled(tokenizer, ids) == ("a", " ", "b", "\n", "e6", "97", "a5")


def test_special_tokens_are_left_as_they_are():
    tokenizer = _of_bytes()
    assert spelled(tokenizer, [tokenizer.eos_token_id]) == ("<|Ġend|>",)


class _Pieces:
    all_special_tokens = ("[CLS]",)

    def convert_ids_to_tokens(self, ids):
        table = ["[CLS]", "▁the", "##ing", "<0x0A>", "<0xE6>", "Ġ", None, "<0xZZ>"]
        return [table[i] for i in ids]


def test_pieces_keep_their_marks_but_for_the_space():
    """`Ġ` is a letter of Maltese where no bytes are spelled."""
    shown = spelled(_Pieces(), range(8))
    assert shown == ("[CLS]", " the", "##ing", "\n", "e6", "Ġ", "?", "<0xZZ>")


def test_without_a_tokenizer_numbers_stand_for_themselves():
    assert spelled(None, [7, 12]) == ("7", "12")


@pytest.mark.parametrize(
    ("tokens", "rtl"),
    [(("שלום", " abc", "עולם"), True), (("سلام",), True), (("日", "a"), False), ((), False)],
)
def test_direction_of_the_text(tokens, rtl):
    assert runs_right_to_left(tokens) == rtl
