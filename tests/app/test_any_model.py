"""Every page opens with every model that the trainer accepts: random small models, sentences and choices."""

import ast
from enum import Enum
from pathlib import Path
from typing import NamedTuple

import pytest
import streamlit
from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest

from app.views.steps.stations import stations
from tests.support.app_checkpoints import Size, write_checkpoint
from tests.support.drawn import charts
from tests.support.pages import MAIN, PAGES, switch_page
from tests.support.patience import PATIENCE
from transformer.config import EOS
from transformer.decoding.translator import Translator

LONGEST = "the cat sat on the mat because it was tired"
SENTENCES = ("a", "the the the", LONGEST, "🚂", "</script><img src=x> _a_ $x$")

PICTURES = {
    "headlight_canvas",
    "headlight_frames",
    "headlight_model_walk",
    "headlight_search_tree",
    "headlight_difference",
    "headlight_outcome",
    "headlight_causal_matrix",
    "headlight_weight_bars",
}  # that a page may have instead of a chart
WORDS_ALONE = {  # what is said where there may be nothing to draw
    "penalty": "there is nothing to rank",
    "methods": "find the same translation",
    "models": "Not trained here.",  # neither curves nor families lie beside the checkpoint
    "beside": "Type a second sentence",
    "lessons": "A lesson is a series of pages",
}
CHOICES: dict[str, tuple[object, ...]] = {  # one of each for an example
    "reference": ("Das Tier",),
    "lens_cells": ("token", "rank"),
    "matrix": ("query", "key", "value", "output"),
    "bertviz": ("head", "model", "neuron"),
    "shift": ("reads", "predicts"),
}
PARTS: dict[str, tuple[str, tuple[str, ...]]] = {  # of these pages every second one, so two examples open all
    "decoding": ("part", ("loop", "tree", "methods", "penalty", "lens", "reference")),
    "attention": ("more", ("layers", "alignment", "bertviz", "layers")),
    "steps": ("detail", ("exam", "lecture")),
    "hand": ("written", ("all", "product")),
    "whatif": ("experiment", ("masks", "attention")),
}


class Length(Enum):
    """How long the translation is beside its source."""

    ALIKE = "two tokens longer"
    SHORT = "nothing but the end sign"
    LONG = "thirty tokens longer"


@st.composite
def models(draw: st.DrawFn) -> tuple[dict[str, object], Size]:
    """What the trainer accepts, from the smallest d_model there is: odd ones too, where positions need no pairs."""
    heads = draw(st.sampled_from([1, 2, 3, 8, 16]))
    d_model = heads * draw(st.integers(1 if heads > 1 else 2, 7))
    kinds = ["learned", "none"] if d_model % 2 else ["sinusoidal", "learned", "none"]
    options: dict[str, object] = {
        "d_model": d_model,
        "d_ff": draw(st.integers(1, 20)),
        "norm": draw(st.sampled_from(["post", "pre"])),
        "positions": draw(st.sampled_from(kinds)),
        "sinusoid_layout": draw(st.sampled_from(["interleaved", "concatenated"])),
        "max_positions": draw(st.integers(40, 90)),
        "shared_embeddings": draw(st.booleans()),
        "attention_window": draw(st.none() | st.integers(1, 3)),
        "activation": draw(st.sampled_from(["relu", "gelu", "silu"])),
        "causal_training": draw(st.booleans()),
        "norm_epsilon": draw(st.sampled_from([1e-6, 0.1])),
    }
    parts = ("dropout", "embedding_dropout", "attention_dropout", "activation_dropout")
    options |= {part: draw(st.sampled_from([0.0, 0.1])) for part in parts}
    return options, Size(draw(st.integers(1, 3)), draw(st.integers(1, 3)), heads)


ODD: dict[str, object] = {"d_model": 33, "positions": "learned", "attention_window": 1, "max_positions": 64}
LEAST: dict[str, object] = {"d_model": 2, "d_ff": 1, "sinusoid_layout": "concatenated", "max_positions": 64}
NARROW: dict[str, object] = {"max_positions": 4, "positions": "learned", "norm_epsilon": 0.1}
NONE: dict[str, object] = {"d_model": 15, "norm": "pre", "positions": "none", "shared_embeddings": False}


def test_all_pages_are_found() -> None:
    assert len(PAGES) == 16
    assert set(PARTS) < set(PAGES)
    assert set(PARTS["decoding"][1]) == set(decoding_parts())


def decoding_parts() -> list[str]:
    """The keys of PARTS in app/views/decoding/page.py, which is read and not imported: it draws when it is imported."""
    tree = ast.parse((MAIN.parent / "views" / "decoding" / "page.py").read_text(encoding="utf-8"))
    found = {ast.unparse(node.targets[0]): node.value for node in tree.body if isinstance(node, ast.Assign)}
    parts = found["PARTS"]
    assert isinstance(parts, ast.Dict)
    return [ast.literal_eval(key) for key in parts.keys if key]


class Case(NamedTuple):
    """A model, and what a visitor of it types and chooses."""

    model: tuple[dict[str, object], Size]
    sentence: str
    kind: str  # of attention
    place: int  # of everything that is chosen by a number
    length: Length
    byte_fallback: bool = True  # without, letters that the tokenizer never met are unknown


CASES = st.builds(
    Case,
    models(),
    st.sampled_from(SENTENCES),
    st.sampled_from(["cross", "encoder", "decoder"]),
    st.integers(1, 9),
    st.sampled_from(Length),
    st.booleans(),
)
SLOW = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]


@pytest.mark.soak
@settings(max_examples=40, derandomize=False, suppress_health_check=SLOW)
@given(CASES)
def test_every_page_opens_for_models_of_random_shapes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: Case
) -> None:
    opens(tmp_path, monkeypatch, case)


@settings(phases=[Phase.explicit], suppress_health_check=SLOW)
@given(CASES)
@example(Case((NONE, Size(1, 1, 1)), "a", "decoder", 1, Length.ALIKE))
@example(Case((ODD, Size(2, 1, 3)), LONGEST, "cross", 2, Length.SHORT))
@example(Case((LEAST, Size(1, 2, 2)), "🚂", "encoder", 3, Length.LONG, byte_fallback=False))
@example(Case((NARROW, Size(1, 1, 16)), "a", "decoder", 4, Length.ALIKE))
def test_every_page_opens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: Case) -> None:
    opens(tmp_path, monkeypatch, case)


def opens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: Case) -> None:
    """Every page, with its parts in turn and a station of the walk, opens and draws."""
    model, sentence, kind, place, length, byte_fallback = case
    options, size = model
    for old in tmp_path.glob("*"):
        old.unlink()
    longer = 30 if length is Length.LONG else 2
    at_once = length is Length.SHORT
    file = write_checkpoint(
        tmp_path / "any.safetensors",
        size,
        options=options,
        longer=longer,
        ends_at_once=at_once,
        byte_fallback=byte_fallback,
    )
    translator = Translator.load(file)
    (translation,) = translator.translate(sentence).sentences
    walk = stations(translator.model.config)
    assert translation.hypotheses[0].ids == (EOS,) or not at_once  # others may, by chance
    if model == (LEAST, Size(1, 2, 2)):
        assert len(translation.hypotheses[0].ids) == len(translation.source_ids) + longer
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(tmp_path))
    streamlit.cache_data.clear()
    streamlit.cache_resource.clear()
    for page in PAGES:
        app = AppTest.from_file(str(MAIN), default_timeout=PATIENCE)
        switch_page(app, page)
        chosen = {"sentence": sentence, "kind": kind, "layer": str(place), "head": str(place)}
        for name, value in chosen.items() | {(key, str(place)) for key in ("t", "s", "k")}:
            app.query_params[name] = value
        app.query_params["at"] = walk[len(walk) * place // 10].id
        app.query_params["details"] = "true"
        for name, values in CHOICES.items():
            app.session_state[name] = values[place % len(values)]
        part, parts = PARTS.get(page, ("", ("",)))
        for each in parts[place % 2 :: 2] or parts:
            if part:
                app.session_state[part] = each
            app.run()
            assert not app.exception, f"{page} {each}: {app.exception[0].message}"
            drawn = {found.proto.component_name for found in app.get("bidi_component")} & PICTURES
            words = " ".join(found.value for found in (*app.text, *app.caption, *app.info))
            alone = WORDS_ALONE.get(each or page)
            assert charts(app) or drawn or (alone and alone in words), f"{page} {each}: nothing drawn"
