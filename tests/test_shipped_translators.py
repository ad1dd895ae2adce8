"""The translation models that ship: sentences that a class is shown, and the source of each number on their cards."""

from pathlib import Path

import pytest

from transformer.analysis.alignment.alignment_map import read_map
from transformer.analysis.alignment.alignment_report import named, percent
from transformer.checkpoint.header import read_header
from transformer.decoding.translator import Translator
from transformer.recipe import load_recipe

FOLDER = Path(__file__).parents[1] / "pretrained"
SHIPPED = ("en-de", "de-en", "en-fr")


def path_of(name: str) -> Path:
    return FOLDER / f"{name}.safetensors"


def card_of(name: str) -> str:
    return (FOLDER / f"{name}.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "sentence", "translation"),
    [
        ("en-de", "Where is the nearest train station?", "Wo ist der nächste Bahnhof?"),
        (
            "en-de",
            "The animal didn't cross the street because it was too tired.",
            "Das Tier überquerte die Straße nicht, weil es zu müde war.",
        ),
        ("en-de", "I have never seen such a beautiful garden.", "Ich habe noch nie einen so schönen Garten gesehen."),
        (
            "de-en",
            "Das Tier überquerte die Straße nicht, weil es zu müde war.",
            "The animal didn't cross the street because it was too tired.",
        ),
        ("en-fr", "Where is the nearest train station?", "Où est la gare la plus proche ?"),
        ("en-fr", "I have never seen such a beautiful garden.", "Je n'ai jamais vu un si beau jardin."),
        ("de-en", "Ich habe noch nie einen so schönen Garten gesehen.", "I've never seen such a beautiful garden."),
    ],
)
def test_the_sentences_of_a_lecture_are_translated_correctly(name: str, sentence: str, translation: str) -> None:
    assert Translator.load(path_of(name)).translate(sentence).text == translation


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.safetensors")), ids=lambda path: path.stem)
def test_a_checkpoint_that_ships_names_no_folder_of_the_machine_that_trained_it(path: Path) -> None:
    recipe = read_header(path).recipe
    assert recipe
    data = recipe["data"]
    assert data.get("folder") is None
    files = [data.get("valid"), *data.get("train", ()), *(part["file"] for part in data.get("mix", ()))]
    assert not [file for file in files if file and Path(file).is_absolute()]


@pytest.mark.parametrize("name", SHIPPED)
def test_the_card_has_the_scores_that_the_checkpoint_carries(name: str) -> None:
    """Both come from `python -m transformer evaluate` on the test text, which is not in this repository."""
    metrics, card = read_header(path_of(name)).metrics, card_of(name)
    for score in ("bleu", "chrf"):
        assert f"{metrics[f'test_{score}']:.1f} | {metrics[f'test_greedy_{score}']:.1f} |" in card
        assert f"{metrics[f'{score}_signature']}" in card


@pytest.mark.parametrize("name", SHIPPED)
def test_what_the_card_says_of_fifty_sentences_is_what_the_model_writes(name: str) -> None:
    """Which of them are right is a judgement; that the others were written so, and how many there are, is not."""
    lines = (FOLDER / "fifty-sentences.tsv").read_text(encoding="utf-8").splitlines()
    sentences = {line.split("\t")[("en", "de").index(name[:2])] for line in lines}
    assert len(sentences) == 50
    card = card_of(name)
    rows = [line.strip("| ").split(" | ") for line in card.splitlines() if line.startswith(("| nearly |", "| wrong |"))]
    assert {row[1] for row in rows} <= sentences
    found = Translator.load(path_of(name)).translate_sentences([row[1] for row in rows])
    assert [translation.text for translation in found] == [row[2] for row in rows]
    wrong = sum(row[0] == "wrong" for row in rows)
    assert f"**{50 - len(rows)} right, {len(rows) - wrong} nearly right, {wrong} wrong**" in card


@pytest.mark.parametrize("name", SHIPPED)
def test_it_is_the_architecture_of_its_recipe(name: str) -> None:
    config, recipe = read_header(path_of(name)).config, load_recipe(name).model
    names = [name for name in vars(recipe) if name != "vocab_size" and "dropout" not in name]
    assert {name: getattr(config, name) for name in names} == {name: getattr(recipe, name) for name in names}


@pytest.mark.parametrize(("name", "target"), [("en-de", "German"), ("de-en", "English"), ("en-fr", "French")])
def test_the_map_of_its_heads_is_of_these_weights_and_the_card_has_its_numbers(name: str, target: str) -> None:
    """It comes from `python -m transformer align --store`, see the card, on a text that is not in this repository."""
    found, card = read_map(path_of(name), read_header(path_of(name)).config), card_of(name)
    assert found is not None
    for shift, does in (("reads", "read the word"), ("predicts", "predict the word")):
        reading = found.reads if shift == "reads" else found.predicts
        for (layer, head), more in zip(reading.best[:2], ("", ", the next best"), strict=True):
            rates = (table[layer][head] for table in (reading.aer, reading.precision, reading.recall))
            assert f"| {does} | {named((layer, head))}{more} | {' | '.join(map(percent, rates))} |" in card
    together = " and ".join(", ".join(map(named, found.heads_shown_first("predicts"))).rsplit(", ", 1))
    assert f"| predict the word | the mean of {together} | {percent(min(found.predicts.together))} |" in card
    for guess, rate in (("the diagonal", found.diagonal), ("a word drawn at random", found.chance)):
        assert f"| {guess} | {percent(rate.aer)} | {percent(rate.precision)} | {percent(rate.recall)} |" in card
    assert found.home is not None
    for here, home in (
        (f"{found.text.source_words:.1f} words", f"validation text: {found.home.source_words:.1f})"),
        (f"{found.text.source_tokens_per_word:.2f} tokens", f"({found.home.source_tokens_per_word:.2f} and "),
        (f"{found.text.target_tokens_per_word:.2f} in {target}", f" and {found.home.target_tokens_per_word:.2f})"),
        (f"{found.text.loss:.2f} nats", f"({found.home.loss:.2f} nats"),
    ):
        assert here in card
        assert home in card
