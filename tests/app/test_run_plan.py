"""Plans of runs that are started in the browser: the recipe of a toy task and of uploaded text, and what is refused."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from app.library.checkpoints import CheckpointFile
from app.views.training.own_text import read_own_text
from app.views.training.run_permission import LaunchError
from app.views.training.run_plan import Size, TextPlan, ToyPlan
from transformer.checkpoint.header import read_header
from transformer.fit_to_corpus import CONTINUED, peak_rate_for
from transformer.recipe import load_recipe
from transformer.text.tokenizer import Tokenizer

SIZE = Size(60, 1, 1, 2, 32)


def test_a_toy_run_is_the_recipe_that_ships_with_the_size_that_was_asked_for(tmp_path: Path) -> None:
    recipe = ToyPlan("sort", Size(300, 2, 1, 4, 64)).recipe(tmp_path)
    assert recipe.data.toy == "sort"
    model = recipe.model
    assert (model.encoder_layers, model.decoder_layers, model.heads, model.d_model) == (2, 1, 4, 64)
    assert recipe.training.updates == recipe.training.snapshots[-1] == 300
    assert recipe.training.snapshots[0] == 0
    assert recipe.training.snapshots[1] < 10
    shipped = load_recipe("reverse")
    assert replace(recipe.data, toy="reverse", target_language="letters reversed") == shipped.data
    assert ToyPlan("numbers", SIZE).recipe(tmp_path).data.toy == "numbers"


@pytest.mark.parametrize(
    "values",
    [
        (9, 1, 1, 2, 32),
        (60, 7, 1, 2, 32),
        (60, 1, 0, 2, 32),
        (60, 1, 1, 3, 32),
        (60, 1, 1, 2, 1024),
        (60.0, 1, 1, 2, 32),
        (10**9, 1, 1, 2, 32),
        ("60", 1, 1, 2, 32),
    ],
)
def test_what_no_control_of_the_page_can_say_is_refused(values: tuple[Any, ...]) -> None:
    with pytest.raises(ValidationError):
        Size(*values)


@pytest.mark.parametrize(("characters", "lines"), [(1_500, 100), (5_000, 6_000)])
def test_text_with_more_characters_than_a_small_vocabulary_can_be_learnt_from(
    characters: int, lines: int, tmp_path: Path
) -> None:
    """As Chinese has. The rarest ones are written in bytes, and nothing is lost."""
    texts = ["".join(chr(0x4E00 + (i * 60 + k) % characters) for k in range(60)) for i in range(lines)]
    corpus = "".join(f"{text}\tline {i}\n" for i, text in enumerate(texts)).encode()
    config = TextPlan(read_own_text("x.tsv", corpus), "zh", "en", SIZE).recipe(tmp_path).tokenizer
    assert characters < config.vocab_size < 2 * characters
    tokenizer = Tokenizer.train(texts, config)
    assert all(tokenizer.decode(tokenizer.encode(text)) == text for text in texts[:100])
    kinds = [tokenizer.kind(id) for text in texts[:100] for id in tokenizer.encode(text)]
    assert kinds.count("ordinary") > 0.8 * len(kinds)


def test_text_with_few_characters_has_a_small_vocabulary_and_with_too_many_it_is_refused(tmp_path: Path) -> None:
    text = read_own_text("x.tsv", "".join(f"die Straße {n}\tthe street\n" for n in range(50)).encode())
    few = TextPlan(text, "de", "en", SIZE).recipe(tmp_path).tokenizer
    assert (few.vocab_size, few.character_coverage) == (2000, 1.0)
    strange = "".join(map(chr, range(0x3400, 0x3400 + 30_000)))
    with pytest.raises(LaunchError, match=r"30,000 different characters\. Upload text in UTF-8"):
        read_own_text("x.tsv", f"{strange}\t{strange}\n".encode(), 1)


@pytest.mark.parametrize(
    ("source", "target"), [("../x", "de"), ("en", "/etc"), ("", "de"), ("en", " de"), ("a\n", "b")]
)
def test_a_language_is_never_a_path(source: str, target: str) -> None:
    with pytest.raises(ValidationError):
        TextPlan(read_own_text("x.tsv", b"a\tb\n", 1), source, target, SIZE)


@pytest.mark.parametrize("same", [True, False], ids=["the same languages", "others"])
def test_training_on_is_as_on_the_command_line(folder: Path, tmp_path: Path, same: bool) -> None:
    """The learning rate above all: lower for a model that knows these languages."""
    languages = ("en", "de") if same else ("en", "gsw")
    file = tmp_path / "x.tsv"
    file.write_bytes(b"".join(b"the cat %d\tdie Katze %d\n" % (i, i) for i in range(50)))
    start_from = CheckpointFile.at(folder / "en-de.safetensors")
    (tmp_path / "run").mkdir()
    ours = TextPlan(read_own_text("x.tsv", file.read_bytes()), *languages, SIZE, None, start_from).recipe(
        tmp_path / "run"
    )
    changes = [f"data.{side}_language={tag}" for side, tag in zip(("source", "target"), languages, strict=True)]
    model = read_header(start_from.path).config
    theirs = load_recipe(
        "own-text",
        [
            f"data.train={file}",
            "data.max_length=100",
            f"training.updates={SIZE.updates}",
            f"training.init_from={start_from.path}",
            f"training.own_vocabulary={not same}",
            *changes,
        ],
    )
    assert ours.training == replace(theirs.training, snapshots=ours.training.snapshots)
    assert ours.tokenizer == theirs.tokenizer
    assert ours.data == replace(theirs.data, train=ours.data.train)
    sizes = {name: getattr(theirs.model, name) for name in ("vocab_size", "dropout", "embedding_dropout")}
    assert ours.model == replace(model, **sizes)
    assert ours.training.peak_rate == float(
        f"{peak_rate_for(model.d_model, ours.data.tokens_per_batch) * (CONTINUED if same else 1):.2g}"
    )
