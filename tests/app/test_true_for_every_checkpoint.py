"""What a page says, in words, formulas and code, is true of the checkpoint that is open: whichever it is."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from app import source
from app.theme import probability_text
from tests.app.checkpoints import Size, write_checkpoint
from tests.app.drawn import MAIN, array, chart, components, open_view
from transformer.decoding.translator import Translator
from transformer.trace import trace

PAGES = sorted(path.stem for path in (MAIN.parent / "views").glob("*.py") if path.read_text().endswith("\npage()\n"))
SENTENCE = "the cat sat on the mat"


@pytest.fixture
def checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Writes the only checkpoint that the app finds."""

    def written(size: Size | None = None, **options: Any) -> Path:
        monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(tmp_path))
        return write_checkpoint(tmp_path / "any.safetensors", size or Size(1, 2, 2), options=options)

    return written


def said(app: AppTest) -> str:
    """All words of the page."""
    kinds = (app.markdown, app.caption, app.text, app.info, app.latex, app.header)
    return "\n".join(element.value for kind in kinds for element in kind)


@pytest.mark.parametrize("page", PAGES)
def test_no_code_card_says_that_its_file_has_changed(page: str, checkpoint: Any) -> None:
    checkpoint()
    for address in ({}, {"part": "Logit lens"}, {"part": "Length penalty"}) if page == "decoding" else ({},):
        app = open_view(page, sentence=SENTENCE, **address)
        assert source.CHANGED not in [code.value for code in app.code]


@pytest.mark.parametrize("temperature", [0.5, 1.0, 1.5])
def test_loop_and_bar_have_the_probability_at_the_temperature_of_sampling(temperature: float, checkpoint: Any) -> None:
    path = checkpoint()
    address = {"sentence": SENTENCE, "method": "sampling", "t": "2"}
    app = open_view("decoding", temperature=str(temperature), **address)
    translator = Translator.load(path)
    found = translator.translate(SENTENCE, method="sampling", temperature=temperature, n_best=3).sentences[0]
    ids = found.hypotheses[0].ids
    logits = trace(translator.model, found.source_ids, ids, ["logits"])["logits"][1].astype(np.float64)
    powers = np.exp((logits - logits.max()) / temperature)
    expected = float(powers[ids[1]] / powers.sum())
    (loop,) = components(app, "loop")
    assert loop["probability"] == probability_text(expected)
    bars = chart(app, "the next piece")["data"][0]
    (label,) = [text for text in bars["text"] if "chosen" in text]
    assert label.split(" · ")[0] == probability_text(expected)
    other = app.slider(key=f"what_if_sampling_{temperature}").set_value(2.0).run()
    assert f"It was decoded at {temperature:g}, where the chosen piece has {probability_text(expected)}." in said(other)
    assert array(chart(other, "at temperature 2")["data"][0]["x"]).sum() == pytest.approx(1)
    tree = open_view("decoding", temperature=str(temperature), part="tree", **address)
    assert ("at temperature 1; pieces were drawn at" in said(tree)) == (temperature != 1)


@pytest.mark.parametrize(
    ("method", "where"),
    [
        ({"method": "beam"}, "The paper, section 6.1"),
        ({"method": "beam", "beam": "1"}, "Not in the paper: greedy decoding"),
        ({"method": "greedy"}, "Not in the paper: greedy decoding"),
        ({"method": "sampling"}, "Not in the paper: sampling"),
    ],
)
def test_only_beam_search_is_said_to_be_the_paper_s(method: dict[str, str], where: str, checkpoint: Any) -> None:
    checkpoint()
    cards = [caption.value for caption in open_view("decoding", sentence=SENTENCE, **method).caption]
    assert where in cards
    assert len({"The paper, section 6.1"} & set(cards)) == where.startswith("The paper")


def test_what_the_visitor_gave_was_not_chosen(checkpoint: Any) -> None:
    checkpoint()
    app = open_view("translate", sentence=SENTENCE, t="2")
    app.text_input(key="given").set_value("Das Tier war müde").run()
    for page, address in (("decoding", {}), ("steps", {"at": "logits"}), ("steps", {"at": "probabilities"})):
        app.switch_page(str(MAIN.parent / "views" / f"{page}.py"))
        for name, value in address.items():
            app.session_state[name] = value
        app.run()
        assert not app.exception
        bars = json.dumps(chart(app, "row 2" if address else "the next piece")["data"][0]["text"])
        assert "given" in bars
        assert "chosen" not in bars
        assert "was chosen" not in said(app)
    app.session_state["at"] = "chosen"
    app.run()
    assert "was given, and scored" in said(app)
    assert "ids = (*(piece.id for piece in pieces), EOS)" in app.code[0].value
