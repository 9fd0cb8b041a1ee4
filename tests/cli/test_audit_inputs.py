"""`headwright audit` on images, sounds, and texts with a target: models in folders, files made by
code, and one line for everything that cannot be read."""

import json
import re
import shutil
import wave

import numpy as np
import pytest

pytest.importorskip("transformers", reason="needs the extra 'models'")

import torch
import transformers
from click.testing import CliRunner
from PIL import Image
from tests.tolerances import AUDIT, RESAMPLED
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers.models.vit.image_processing_pil_vit import ViTImageProcessorPil

import headwright as hw
from headwright.cli.audit.command import command
from headwright.cli.audit.inputs import read_sound
from headwright.errors import InputError
from headwright.trained.own_inputs.examples import resampled
from headwright.trained.own_inputs.given import Given, Sound

_WORDS = ["<pad>", "<s>", "</s>", "<unk>", "One", "one", "two", "three", ",", "."]
_TEXT = "One two three, one two three."
_TARGET = "three two one"
_RATE = 16_000
_HALVES = {
    "d_model": 32, "encoder_layers": 1, "decoder_layers": 1, "encoder_attention_heads": 4,
    "decoder_attention_heads": 4, "encoder_ffn_dim": 32, "decoder_ffn_dim": 32, "vocab_size": 10,
    "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 1,
}  # fmt: skip


def _save_tokenizer(folder):
    words = {word: i for i, word in enumerate(_WORDS)}
    tokenizer = Tokenizer(models.WordLevel(words, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="$A </s>", special_tokens=[("</s>", 2)]
    )
    fast = transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, unk_token="<unk>", pad_token="<pad>", eos_token="</s>"
    )
    fast.save_pretrained(folder)


def _save_model(folder, kind, config):
    torch.manual_seed(0)
    kind(config).save_pretrained(folder)
    return str(folder)


@pytest.fixture(scope="module")
def vit(tmp_path_factory):
    folder = tmp_path_factory.mktemp("vit")
    config = transformers.ViTConfig(
        hidden_size=32, intermediate_size=32, num_hidden_layers=2, num_attention_heads=4,
        image_size=16, patch_size=4,
    )  # fmt: skip
    ViTImageProcessorPil(size={"height": 16, "width": 16}).save_pretrained(folder)
    return _save_model(folder, transformers.ViTModel, config)


@pytest.fixture(scope="module")
def whisper(tmp_path_factory):
    """One that reads one second at a time."""
    folder = tmp_path_factory.mktemp("whisper")
    config = transformers.WhisperConfig(
        **_HALVES, num_mel_bins=8, max_source_positions=50, max_target_positions=20
    )
    transformers.WhisperFeatureExtractor(feature_size=8, chunk_length=1).save_pretrained(folder)
    _save_tokenizer(folder)
    return _save_model(folder, transformers.WhisperModel, config)


@pytest.fixture(scope="module")
def t5(tmp_path_factory):
    folder = tmp_path_factory.mktemp("t5")
    config = transformers.T5Config(
        d_model=32, d_kv=8, d_ff=32, num_layers=1, num_heads=4, vocab_size=10,
        decoder_start_token_id=0,
    )  # fmt: skip
    _save_tokenizer(folder)
    return _save_model(folder, transformers.T5Model, config)


@pytest.fixture
def files(tmp_path):
    """Paths by what is in them."""
    paths = {name: tmp_path / name for name in ("text.txt", "target.txt", "image.png", "tone.wav")}
    paths["text.txt"].write_text(_TEXT)
    paths["target.txt"].write_text(_TARGET)
    _pixels(rows=20, columns=30).save(paths["image.png"])
    _write_wav(paths["tone.wav"], _tone(seconds=0.5))
    return {name: str(path) for name, path in paths.items()}


def _pixels(rows, columns):
    return Image.fromarray(
        np.random.default_rng(3).integers(0, 256, (rows, columns, 3), dtype=np.uint8)
    )


def _tone(seconds, rate=_RATE):
    return 0.5 * np.sin(2 * np.pi * 440.0 * np.arange(int(seconds * rate)) / rate)


def _write_wav(path, samples, *, rate=_RATE, width=2, channels=1):
    largest = 2 ** (8 * width - 1)
    whole = np.round(samples * (largest - 1)).astype("<i8")
    if width == 1:
        whole = whole + 128
    raw = whole.view(np.uint8).reshape(-1, 8)[:, :width]
    with wave.open(str(path), "wb") as file:
        file.setnchannels(channels)
        file.setsampwidth(width)
        file.setframerate(rate)
        file.writeframes(np.repeat(raw, channels, axis=0).tobytes())


def _run(*arguments):
    return CliRunner().invoke(command, [str(a) for a in arguments], env={"COLUMNS": "80"})


def _heads(*arguments):
    reply = _run(*arguments, "--rows", "0", "--json")
    assert reply.exit_code == 0, reply.output
    assert not reply.stderr
    return json.loads(reply.stdout)


def _same(heads, audit):
    for head, card in zip(heads, audit, strict=True):
        assert (head["stack"], head["layer"], head["head"]) == (card.stack, card.layer, card.head)
        np.testing.assert_allclose(head["entropy"], card.measures["entropy"], rtol=AUDIT)


def test_an_image(vit, files):
    """As the processor in the folder reads it, and in Python the same."""
    data = _heads(vit, "--image", files["image.png"])
    assert len(data["heads"]) == 8
    assert data["tokens"] == 17  # 16 patches and the class token
    model = transformers.ViTModel.from_pretrained(vit)
    processor = ViTImageProcessorPil.from_pretrained(vit)
    pixels = processor(images=[Image.open(files["image.png"])], return_tensors="pt")
    _same(data["heads"], hw.audit(model, dict(pixels), rows=0))
    assert _run(vit, "--image", files["image.png"]).exit_code == 0


def test_several_images(vit, files, tmp_path):
    _pixels(rows=9, columns=5).save(tmp_path / "other.jpg")
    both = _heads(vit, "--image", files["image.png"], "--image", tmp_path / "other.jpg")
    assert (both["texts"], both["tokens"]) == (2, 34)


def test_a_sound_and_what_is_said_in_it(whisper, files):
    data = _heads(whisper, "--audio", files["tone.wav"], "--target", files["target.txt"])
    assert {head["stack"] for head in data["heads"]} == {"encoder", "decoder", "cross"}
    model = transformers.WhisperModel.from_pretrained(whisper)
    extractor = transformers.WhisperFeatureExtractor.from_pretrained(whisper)
    samples = read_sound(files["tone.wav"]).samples
    np.testing.assert_allclose(samples, _tone(0.5), atol=2.0**-15)
    features = extractor(samples, sampling_rate=_RATE, return_tensors="pt").input_features
    words = {"input_features": features, "decoder_input_ids": torch.tensor([[1, 7, 6, 5]])}
    _same(data["heads"], hw.audit(model, words, rows=0))


def test_a_sound_alone_has_the_start_token_for_its_decoder(whisper, files):
    data = _heads(whisper, "--audio", files["tone.wav"])
    decoder = [head for head in data["heads"] if head["stack"] == "decoder"]
    assert [head["largest"] for head in decoder] == [1.0] * 4


def test_a_text_and_its_target(t5, files):
    data = _heads(t5, "--text", files["text.txt"], "--target", files["target.txt"])
    model = transformers.T5Model.from_pretrained(t5)
    words = {
        "input_ids": torch.tensor([[4, 6, 7, 8, 5, 6, 7, 9, 2]]),
        "decoder_input_ids": torch.tensor([[0, 7, 6, 5]]),
    }
    _same(data["heads"], hw.audit(model, words, rows=0))
    alone = _heads(t5, "--text", files["text.txt"])
    assert alone["heads"] != data["heads"]


def test_the_claim_on_a_sound(whisper, files):
    reply = _run(whisper, "--audio", files["tone.wav"], "--claim", "b.q", "--json")
    assert reply.exit_code == 0, reply.output
    assert json.loads(reply.stdout)["claim"] == "b.q"


@pytest.mark.parametrize(
    ("model", "options", "message"),
    [
        ("vit", ("--text", "text.txt"), "wanted an image for ViTModel.*got a text; try: --image"),
        ("vit", ("--audio", "tone.wav"), "wanted an image for ViTModel.*got a sound; try: --image"),
        ("vit", ("--image", "image.png", "--text", "text.txt"), "an image, which is all that ViT"),
        ("vit", ("--image", "image.png", "--target", "target.txt"), "leave out --target"),
        ("whisper", ("--text", "text.txt"), "wanted a sound for Whisper.*got a text; try: --audio"),
        ("whisper", ("--image", "image.png"), "wanted a sound for WhisperModel"),
        ("t5", ("--image", "image.png"), "wanted a text for T5Model.*got an image; try: --text"),
        ("t5", ("--text", "text.txt") * 2 + ("--target", "target.txt"), "2 texts, 1 targets"),
        ("t5", ("--target", "target.txt"), "something for the model to read; got no file"),
        ("t5", (), "something for the model to read; got no file"),
        ("vit", ("--image", "text.txt"), "a readable image as PNG or JPEG; got .*no image"),
        ("vit", ("--image", "none.png"), "No such file"),
        ("whisper", ("--audio", "text.txt"), "a readable sound as WAV.*RIFF"),
        ("whisper", ("--audio", "image.png"), "a readable sound as WAV"),
        ("whisper", ("--audio", "none.wav"), "No such file"),
    ],
)
def test_what_cannot_be_read(request, files, model, options, message):
    folder = request.getfixturevalue(model)
    given = [files.get(word, word) for word in options]
    reply = _run(folder, *given)
    assert (reply.exit_code, reply.stderr.count("\n")) == (2, 1), reply.output
    assert re.search(message, reply.stderr), reply.stderr


@pytest.mark.parametrize("width", [1, 2, 3, 4])
@pytest.mark.parametrize("channels", [1, 2])
def test_every_width_of_samples(tmp_path, width, channels):
    _write_wav(tmp_path / "x.wav", _tone(0.01), width=width, channels=channels)
    sound = read_sound(str(tmp_path / "x.wav"))
    assert sound.rate == _RATE
    np.testing.assert_allclose(sound.samples, _tone(0.01), atol=2.0 ** (1 - 8 * width))


@pytest.mark.parametrize("rate", [8_000, 44_100, 48_000])
def test_other_rates_are_resampled(whisper, rate):
    """A tone at another rate is heard as the same tone; the filter rings at both ends."""
    sound = Sound(_tone(0.5, rate), rate)
    heard = resampled(sound, _RATE)
    np.testing.assert_allclose(heard[800:-800], _tone(0.5)[800:-800], atol=RESAMPLED)
    assert len(hw.audit(whisper, Given(sounds=(sound,)), rows=0)) == 12


def test_a_sound_longer_than_the_model_reads_is_not_cut_in_silence(whisper):
    with pytest.raises(InputError, match=r"at most 1 seconds.*got a sound of 1\.5 seconds"):
        hw.audit(whisper, Given(sounds=(Sound(_tone(1.5), _RATE),)))


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"", "ends too early"), (b"RIFF\x04\x00\x00\x00WAVE", "WAV"), ("empty", "no samples in it")],
)
def test_damaged_sounds(tmp_path, content, message):
    path = tmp_path / "x.wav"
    if content == "empty":
        _write_wav(path, np.zeros(0))
    else:
        path.write_bytes(content)
    with pytest.raises(InputError, match=message):
        read_sound(str(path))


@pytest.mark.parametrize("rate", [1, 3_999, 4_000_000])
def test_rates_that_are_no_sound(tmp_path, rate):
    _write_wav(tmp_path / "x.wav", np.zeros(10), rate=rate)
    with pytest.raises(InputError, match=f"{rate} samples a second"):
        read_sound(str(tmp_path / "x.wav"))


def test_a_live_model_has_no_processor(vit):
    model = transformers.ViTModel.from_pretrained(vit)
    image = np.zeros((8, 8, 3), dtype=np.uint8)
    with pytest.raises(InputError, match=r"no processor.*hw\.audit\(model, processor"):
        hw.audit(model, Given(images=(image,)))


def _changed(folder, target, **changed):
    """A copy of a model's folder with another configuration of its processor."""
    shutil.copytree(folder, target)
    path = target / "preprocessor_config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changed))
    return target


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"size": {"height": 2**30, "width": 2**30}}, "size.width = 1.07374e[+]09"),
        ({"image_processor_type": "NoSuchProcessor"}, "how .* reads images"),
        ({"size": {"height": -1, "width": "a"}}, "a processor that makes pixel_values"),
    ],
)
def test_hostile_processors(vit, files, tmp_path, changed, message):
    folder = _changed(vit, tmp_path / "changed", **changed)
    reply = _run(folder, "--image", files["image.png"])
    assert (reply.exit_code, reply.stderr.count("\n")) == (2, 1), reply.output
    assert re.search(message, reply.stderr), reply.stderr


def test_a_folder_without_a_processor(vit, files, tmp_path):
    folder = _changed(vit, tmp_path / "changed")
    (folder / "preprocessor_config.json").unlink()
    reply = _run(folder, "--image", files["image.png"])
    assert reply.exit_code == 2
    assert "preprocessor_config.json beside the model" in reply.stderr
