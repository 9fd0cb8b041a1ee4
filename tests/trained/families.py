"""Small random models of every family, as data: what to build, and what to feed it."""

from __future__ import annotations

import warnings

import torch
import transformers as tf

with warnings.catch_warnings():
    # The library's own file still uses torch.jit.
    warnings.simplefilter("ignore", DeprecationWarning)
    from transformers import DebertaModel, DebertaV2Model

_SIZES = {
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "vocab_size": 60,
    "max_position_embeddings": 64,
}
_GROUPED = _SIZES | {"num_key_value_heads": 2, "pad_token_id": 0}
_SMALL_GPT2 = {"n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 64, "vocab_size": 60}
_ENCODER_DECODER = {
    "d_model": 32,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 48,
    "decoder_ffn_dim": 48,
    "vocab_size": 60,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
}
_LENGTH = 21


def _tokens(batch: int = 2) -> dict:
    return {
        "input_ids": torch.randint(
            1, 60, (batch, _LENGTH), generator=torch.Generator().manual_seed(3)
        )
    }


def _padded() -> dict:
    mask = torch.ones((2, _LENGTH), dtype=torch.long)
    mask[1, 13:] = 0
    return _tokens() | {"attention_mask": mask}


def _both() -> dict:
    return _padded() | {"decoder_input_ids": _tokens()["input_ids"][:, :9]}


def _audio() -> dict:
    features = torch.randn((2, 8, 40), generator=torch.Generator().manual_seed(5))
    return {"input_features": features, "decoder_input_ids": _tokens()["input_ids"][:, :9]}


def _image() -> dict:
    return {"pixel_values": torch.randn((2, 3, 16, 16), generator=torch.Generator().manual_seed(7))}


# family -> (model class, configuration, input). Windows are shorter than the text, so that they
# matter.
FAMILIES = {
    "bert": (tf.BertModel, tf.BertConfig(**_SIZES), _padded),
    "gpt2": (tf.GPT2Model, tf.GPT2Config(**_SMALL_GPT2), _tokens),
    "gpt2 padded": (
        tf.GPT2Model,
        tf.GPT2Config(**_SMALL_GPT2),
        _padded,
    ),
    "gpt_neox": (tf.GPTNeoXModel, tf.GPTNeoXConfig(**_SIZES), _tokens),
    "llama": (tf.LlamaModel, tf.LlamaConfig(**_GROUPED), _padded),
    "qwen3": (tf.Qwen3Model, tf.Qwen3Config(**_GROUPED, head_dim=16), _tokens),
    "gemma": (tf.GemmaModel, tf.GemmaConfig(**_GROUPED, head_dim=16), _tokens),
    "gemma2, soft cap": (
        tf.Gemma2Model,
        tf.Gemma2Config(**_GROUPED, head_dim=16, sliding_window=8, attn_logit_softcapping=0.5),
        _tokens,
    ),
    "gemma3": (
        tf.Gemma3TextModel,
        tf.Gemma3TextConfig(**_GROUPED, head_dim=16, sliding_window=8),
        _tokens,
    ),
    "phi3": (tf.Phi3Model, tf.Phi3Config(**_GROUPED), _tokens),
    "mistral": (tf.MistralModel, tf.MistralConfig(**_GROUPED, sliding_window=8), _tokens),
    "gpt_oss, sinks": (
        tf.GptOssModel,
        tf.GptOssConfig(
            **_GROUPED,
            head_dim=8,
            sliding_window=8,
            num_local_experts=2,
            num_experts_per_tok=1,
            layer_types=["sliding_attention", "full_attention"],
            experts_implementation="eager",  # the others know no double precision
        ),
        _padded,
    ),
    "t5": (
        tf.T5Model,
        tf.T5Config(d_model=32, d_kv=8, d_ff=48, num_layers=2, num_heads=4, vocab_size=60),
        _both,
    ),
    "bart": (
        tf.BartModel,
        tf.BartConfig(
            **_ENCODER_DECODER,
            max_position_embeddings=64,
            decoder_start_token_id=2,
            forced_eos_token_id=2,
        ),
        _both,
    ),
    "modernbert": (
        tf.ModernBertModel,
        tf.ModernBertConfig(**_SIZES, local_attention=8, pad_token_id=0, reference_compile=False),
        _padded,
    ),
    "whisper": (
        tf.WhisperModel,
        tf.WhisperConfig(
            **_ENCODER_DECODER,
            num_mel_bins=8,
            max_source_positions=20,
            max_target_positions=20,
            decoder_start_token_id=1,
        ),
        _audio,
    ),
    "vit": (
        tf.ViTModel,
        tf.ViTConfig(
            hidden_size=32,
            intermediate_size=48,
            num_hidden_layers=2,
            num_attention_heads=4,
            image_size=16,
            patch_size=4,
        ),
        _image,
    ),
}
# Families whose attention is code of their own: the same, and what the library's eager maps are
# built with.
_FALCON = {
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "vocab_size": 60,
    "attn_implementation": "eager",
}
_DEBERTA = _SIZES | {"relative_attention": True, "pos_att_type": ["c2p", "p2c"]}
OWN_CODE = {
    "gptj": (tf.GPTJModel, tf.GPTJConfig(**_SMALL_GPT2, rotary_dim=4), _padded),
    "codegen": (tf.CodeGenModel, tf.CodeGenConfig(**_SMALL_GPT2, rotary_dim=4), _tokens),
    "gpt_neo": (
        tf.GPTNeoModel,
        tf.GPTNeoConfig(
            hidden_size=32,
            num_layers=2,
            num_heads=4,
            vocab_size=60,
            max_position_embeddings=64,
            attention_types=[[["global", "local"], 1]],
            window_size=8,
        ),
        _padded,
    ),
    "falcon": (tf.FalconModel, tf.FalconConfig(**_FALCON), _tokens),
    "falcon, key heads": (
        tf.FalconModel,
        tf.FalconConfig(**_FALCON, new_decoder_architecture=True, num_kv_heads=2),
        _padded,
    ),
    "falcon, alibi": (
        tf.FalconModel,
        tf.FalconConfig(**_FALCON, alibi=True, multi_query=False),
        _padded,
    ),
    "bloom": (
        tf.BloomModel,
        tf.BloomConfig(hidden_size=32, n_layer=2, n_head=4, vocab_size=60),
        _padded,
    ),
    "mpnet": (tf.MPNetModel, tf.MPNetConfig(**_SIZES), _padded),
    "xlnet": (
        tf.XLNetModel,
        tf.XLNetConfig(d_model=32, n_layer=2, n_head=4, d_inner=48, vocab_size=60),
        _padded,
    ),
    "deberta": (DebertaModel, tf.DebertaConfig(**_DEBERTA), _padded),
    "deberta_v2": (
        DebertaV2Model,
        tf.DebertaV2Config(**_DEBERTA, position_buckets=8, share_att_key=True),
        _padded,
    ),
}
FAMILIES |= OWN_CODE


def _trocr() -> tf.VisionEncoderDecoderModel:
    encoder = tf.ViTConfig(hidden_size=32, num_hidden_layers=1, num_attention_heads=4)
    decoder = tf.TrOCRConfig(
        d_model=32, decoder_layers=1, decoder_attention_heads=4, vocab_size=60, decoder_ffn_dim=32
    )
    config = tf.VisionEncoderDecoderConfig.from_encoder_decoder_configs(encoder, decoder)
    return tf.VisionEncoderDecoderModel(config)


_TINY = {"n_layer": 1, "n_head": 4, "vocab_size": 60}
# family -> how to make one, and why it is refused
REFUSED = {
    "MptModel": (
        lambda: tf.MptModel(tf.MptConfig(d_model=32, n_layers=1, n_heads=4, vocab_size=60)),
        "MptModel, which computes attention in its own code",
    ),
    "OpenAIGPTModel": (
        lambda: tf.OpenAIGPTModel(tf.OpenAIGPTConfig(n_embd=32, n_positions=32, **_TINY)),
        "OpenAIGPTModel, which computes attention in its own code",
    ),
    "XLMModel": (
        lambda: tf.XLMModel(tf.XLMConfig(emb_dim=32, n_layers=1, n_heads=4, vocab_size=60)),
        "XLMModel, which computes attention in its own code",
    ),
    "LongformerModel": (
        lambda: tf.LongformerModel(tf.LongformerConfig(**_SIZES, attention_window=4)),
        "LongformerModel, which computes attention in its own code",
    ),
    "VisionEncoderDecoderModel": (
        _trocr,
        "TrOCRForCausalLM, which computes attention in its own code",
    ),
    "ResNetModel": (
        lambda: tf.ResNetModel(tf.ResNetConfig(embedding_size=8, hidden_sizes=[8], depths=[1])),
        "attention layers that call the registered function; got none in ResNetModel",
    ),
}


def build(family: str) -> tuple:
    """The model, in float64 so that agreement is to rounding, and its input."""
    kind, config, feed = FAMILIES[family]
    torch.manual_seed(11)
    model = kind(config).double().eval()
    for parameter in model.parameters():
        # Fresh weights are tiny and give nearly uniform rows, on which every mistake looks right.
        parameter.data.add_(torch.randn_like(parameter) * 0.2)
    inputs = {name: x.double() if x.is_floating_point() else x for name, x in feed().items()}
    return model, inputs
