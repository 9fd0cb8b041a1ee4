"""A small random model with a tokenizer of its own, in a folder."""


def saved_model(folder, seed=0):
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import LlamaConfig, LlamaModel, PreTrainedTokenizerFast

    words = {word: i for i, word in enumerate(["[UNK]", "One", "one", "two", "three", ",", "."])}
    tokenizer = Tokenizer(models.WordLevel(words, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="[UNK]").save_pretrained(folder)
    torch.manual_seed(seed)
    config = LlamaConfig(
        hidden_size=32, intermediate_size=32, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, vocab_size=7, max_position_embeddings=64,
    )  # fmt: skip
    LlamaModel(config).save_pretrained(folder)
    return str(folder)
