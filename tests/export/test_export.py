"""Export: CTranslate2 computes what we compute, and translates as we translate."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from typer.testing import CliRunner

from tests.support.oracles.served import Served
from tests.support.small_decoding import ids
from tests.support.small_model import randomised, small
from transformer.checkpoint.checkpoint_file import Checkpoint, TrainedModel, load_checkpoint, save_checkpoint
from transformer.cli import app
from transformer.config import BOS, EOS, DecodingConfig, ModelConfig, TokenizerConfig
from transformer.decoding.search import search
from transformer.decoding.translator import Translator
from transformer.errors import HeadlightError
from transformer.export.ctranslate2_model import export_ctranslate2
from transformer.export.ctranslate2_readme import PATIENCE, advice
from transformer.text.tokenizer import Tokenizer

PRETRAINED = Path(__file__).parents[2] / "pretrained"
LINES = ["a cat sat on a mat.", "the dog ran.", "eine Katze sass.", "der Hund lief."]
TOKENIZER = Tokenizer.train(LINES, TokenizerConfig(vocab_size=30, byte_fallback=False))

CONFIGS = {
    "as in the paper": {},
    "pre-norm": {"norm": "pre"},
    "halves": {"norm": "pre", "sinusoid_layout": "concatenated", "encoder_layers": 3},
    "learned positions": {"positions": "learned", "activation": "gelu"},
    "no positions": {"positions": "none", "norm": "pre", "activation": "silu", "decoder_layers": 1},
    "three matrices": {"shared_embeddings": False, "activation": "silu"},
    "a bias": {"output_bias": True, "norm": "pre"},
    "a large epsilon": {"norm_epsilon": 0.05, "heads": 4, "shared_embeddings": False},
}


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    with Served() as process:
        yield process


def checkpoint(folder: Path, **changes: Any) -> Checkpoint:
    """A random model of the tokenizer above."""
    config = ModelConfig(**{**vars(small()), "vocab_size": TOKENIZER.vocab_size, **changes})
    path = folder / "random.safetensors"
    save_checkpoint(path, TrainedModel(randomised(config, torch.float32), TOKENIZER))
    return load_checkpoint(path)


def tokens(ids: list[int]) -> list[str]:
    return [TOKENIZER.token(id) for id in ids]


@pytest.mark.parametrize("changes", CONFIGS.values(), ids=CONFIGS.keys())
def test_every_log_probability_and_greedy_translation_is_ours(
    changes: dict[str, Any], tmp_path: Path, served: Served
) -> None:
    random = checkpoint(tmp_path, **changes)
    export_ctranslate2(random, tmp_path / "there", DecodingConfig())
    limit = random.config.max_positions
    sources = [torch.randint(EOS + 1, TOKENIZER.vocab_size, (length,)).tolist() for length in (1, 4, 9, limit - 1)]
    targets = [torch.randint(EOS + 1, TOKENIZER.vocab_size, (length,)).tolist() for length in (7, limit - 1, 1, 3)]

    scored = served.score(tmp_path / "there", (list(map(tokens, sources)), list(map(tokens, targets))))
    for source, target, theirs in zip(sources, targets, scored, strict=True):
        with torch.no_grad():
            logits = random.model(torch.tensor([[*source, EOS]]), torch.tensor([[BOS, *target]]))[0]  # (T, V)
        logits[:, :EOS] = -torch.inf  # what never comes next
        ours = logits.log_softmax(dim=-1)[range(len(target) + 1), [*target, EOS]]  # (T)
        torch.testing.assert_close(torch.tensor(theirs), ours, rtol=1e-4, atol=1e-4)

    settings = DecodingConfig(method="greedy", max_extra_length=1000)
    options = {"beam_size": 1, "max_decoding_length": limit}
    _, found = served.translate(tmp_path / "there", [list(map(tokens, sources))], options)
    ours = search(random.model, [[*source, EOS] for source in sources], settings)
    for one, (theirs, _) in zip(ours, found, strict=True):
        assert theirs == [TOKENIZER.token(id) for id in ids(one) if id != EOS]


NUMBERS = [
    *("seven", "forty-two", "nine hundred and twelve", "one thousand one hundred and eleven", "two thousand and six"),
    *("and and and five", "six hundred ninety", "eight eight", "hundred", "a cat sat on a mat", "nine nine nine"),
]
LETTERS = [
    "a",
    "q w e r t y",
    "a a a a b",
    "t h e q u i c k b r o w n f o x",
    "a b c d e f g h i j k l m n o p q r s t u",
]


@pytest.mark.parametrize("penalty", ["greedy", "none", "power"])
@pytest.mark.parametrize(("name", "sentences"), [("numbers", NUMBERS), ("reverse", LETTERS)])
def test_included_toys_give_the_same_in_ctranslate2(
    name: str, sentences: list[str], penalty: Any, tmp_path: Path, served: Served
) -> None:
    """Also for inputs unlike their training data, where hypotheses have nearly the same score."""
    translator = Translator.load(PRETRAINED / f"{name}.safetensors")
    greedy = penalty == "greedy"
    settings = DecodingConfig() if greedy else DecodingConfig(length_penalty=penalty)
    settings = replace(settings, method="greedy" if greedy else "beam")
    assert translator.checkpoint is not None
    export_ctranslate2(translator.checkpoint, tmp_path / name, settings)
    options = {key: float(value) for key, value in (option.split("=") for option in advice(settings).arguments)}
    options = {key: int(value) if key == "beam_size" else value for key, value in options.items()}

    ours = translator.translate_sentences(sentences, settings)
    read = [[token.text for token in one.source_tokens[:-1]] for one in ours]
    _, found = served.translate(tmp_path / name, [read], options)
    assert [tokens for tokens, _ in found] == [list(one.hypotheses[0].tokens[:-1]) for one in ours]
    if not greedy:  # for greedy decoding CTranslate2 returns sums of log-probabilities
        scores = torch.tensor([score for _, score in found])
        expected = torch.tensor([one.hypotheses[0].normalised_score for one in ours])
        torch.testing.assert_close(scores, expected, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("quantization", ["float32", "bfloat16", "float16", "int8"])
def test_the_code_in_the_folder_translates(quantization: str, tmp_path: Path) -> None:
    """The code of its README, in its own process. The file is smaller with smaller types of numbers."""
    folder = tmp_path / "numbers"
    arguments = ["export", "--to", "ctranslate2", "--quantization", quantization]
    result = CliRunner().invoke(app, [*arguments, str(PRETRAINED / "numbers.safetensors"), str(folder)])
    assert (result.exit_code, result.stdout) == (0, "")
    assert str(folder / "README.md") in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["numbers"]
    numbers = 385_920 + 1024 * 128  # weights, and the table of positions, which int8 leaves in float32
    size = {"float32": 4 * numbers, "int8": numbers + 3 * 1024 * 128}.get(quantization, 2 * numbers)
    assert (folder / "model.bin").stat().st_size == pytest.approx(size, rel=0.05)

    assert run_readme(folder, ["forty-two", "nine hundred and twelve"]) == ["zweiundvierzig", "neunhundertzwölf"]


def run_readme(folder: Path, sentences: list[str]) -> list[str]:
    """What the code in the folder's README prints for these sentences, in a process of its own."""
    code = re.findall(r"```python\n(.*?)```", (folder / "README.md").read_text(encoding="utf-8"), flags=re.S)[0]
    code = code.replace('["One sentence.", "And another one."]', repr(sentences))
    ran = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=True)
    return list(ast.literal_eval(ran.stdout))


TRANSLATORS = ("en-de", "de-en", "en-fr")


@pytest.mark.parametrize(
    ("name", "beam", "first"),
    [
        ("de-en", 4, 40),  # of the last ten, CTranslate2 alone would choose another translation
        *[pytest.param(name, beam, 0, marks=pytest.mark.soak) for name in TRANSLATORS for beam in (1, 4)],
    ],
)
def test_included_translators_give_the_same_in_ctranslate2(name: str, beam: int, first: int, tmp_path: Path) -> None:
    """Fifty sentences, by the code in the folder, with the penalty that ships."""
    translator = Translator.load(PRETRAINED / f"{name}.safetensors")
    settings = replace(translator.settings, beam=beam)
    assert settings.length_penalty == "paper"
    assert translator.checkpoint is not None
    export_ctranslate2(translator.checkpoint, tmp_path / name, settings)
    rows = (PRETRAINED / "fifty-sentences.tsv").read_text(encoding="utf-8").splitlines()
    assert len(rows) == 50
    sentences = [row.split("\t")[("en", "de").index(name[:2])] for row in rows[first:]]
    ours = [found.text for found in translator.translate_sentences(sentences, settings)]
    assert run_readme(tmp_path / name, sentences) == ours


def test_each_search_gets_the_corresponding_settings() -> None:
    for settings, options in {
        DecodingConfig(method="greedy"): "beam_size=1",
        DecodingConfig(beam=1): "beam_size=1",
        DecodingConfig(beam=5, length_penalty="none"): "beam_size=5, length_penalty=0",
        DecodingConfig(length_penalty="power", alpha=0.7): f"beam_size=4, length_penalty=0.7, patience={PATIENCE}",
        DecodingConfig(): f"beam_size=4, length_penalty=0.45, patience={PATIENCE}, num_hypotheses=4, "
        "return_scores=True",
        DecodingConfig(method="sampling", top_k=9, top_p=0.5): "beam_size=1, sampling_topk=9, sampling_topp=0.5, "
        "sampling_temperature=1",
    }.items():
        assert ", ".join(advice(settings).arguments) == options
    assert "((5 + l) / 6)^0.6" in advice(DecodingConfig()).remarks[0]


def test_exporting_does_not_change_the_model(tmp_path: Path) -> None:
    random = checkpoint(tmp_path)
    before = {name: weight.clone() for name, weight in random.model.state_dict().items()}
    export_ctranslate2(random, tmp_path / "there", DecodingConfig(), "int8")
    assert all(torch.equal(weight, before[name]) for name, weight in random.model.state_dict().items())


def test_a_window_cannot_be_exported(tmp_path: Path) -> None:
    random = checkpoint(tmp_path, attention_window=2)
    with pytest.raises(HeadlightError, match=r"random\.safetensors .*does not support its attention_window = 2"):
        export_ctranslate2(random, tmp_path / "there", DecodingConfig())
    assert not (tmp_path / "there").exists()


def test_an_existing_folder_is_not_changed(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "mine.txt").write_text("mine", encoding="utf-8")
    result = CliRunner().invoke(app, ["export", str(PRETRAINED / "reverse.safetensors"), str(tmp_path / "there")])
    assert result.exit_code == 1
    assert "exists already" in result.output
    assert [path.name for path in (tmp_path / "there").iterdir()] == ["mine.txt"]


def test_a_failed_export_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: Path, data: bytes) -> int:
        raise OSError(28, "No space left on device", str(self))

    random = checkpoint(tmp_path)
    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(OSError, match="No space"):
        export_ctranslate2(random, tmp_path / "there", DecodingConfig())
    assert [path.name for path in tmp_path.iterdir()] == ["random.safetensors"]


def test_for_a_missing_package_the_message_has_the_command_that_installs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ctranslate2.specs", None)
    result = CliRunner().invoke(app, ["export", str(PRETRAINED / "reverse.safetensors"), str(tmp_path / "there")])
    assert result.exit_code == 1
    command = re.search(r"pip install (ctranslate2==[\d.]+)", result.output)
    assert command is not None
    pins = (Path(__file__).parents[1] / "requirements.txt").read_text(encoding="utf-8").split()
    assert command[1] in pins
