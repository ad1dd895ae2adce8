"""Whatever the trainer accepts, every page opens: random small models, any sentence, any choice."""

from pathlib import Path

import pytest
import streamlit
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest

from tests.app.checkpoints import Size, write_checkpoint
from tests.app.drawn import charts

VIEWS = Path(__file__).resolve().parents[2] / "app" / "views"
PAGES = sorted(path.name for path in VIEWS.glob("*.py") if path.read_text().endswith("\npage()\n"))
SENTENCES = ("a", "the the the", "the cat sat on the mat because it was tired", "🚂", "</script><img src=x> _a_ $x$")

PICTURES = {"headlight_map", "headlight_tree", "headlight_difference"}  # that a page may have instead of a chart
PARTS = {
    "detail": ("exam",),
    "part": ("loop", "tree", "lens", "reference"),
    "reference": ("Das Tier",),
    "stream_of": ("encoder", "decoder"),
    "matrix": ("query", "key", "value", "output"),
    "more": ("layers", "alignment", "bertviz"),
}

options = st.fixed_dictionaries(
    {
        "d_model": st.sampled_from([16, 48]),
        "d_ff": st.integers(1, 20),
        "norm": st.sampled_from(["post", "pre"]),
        "positions": st.sampled_from(["sinusoidal", "learned", "none"]),
        "sinusoid_layout": st.sampled_from(["interleaved", "concatenated"]),
        "max_positions": st.integers(40, 90),
        "shared_embeddings": st.booleans(),
        "attention_window": st.none() | st.integers(1, 3),
        "activation": st.sampled_from(["relu", "gelu", "silu"]),
    }
)
sizes = st.builds(Size, st.integers(1, 3), st.integers(1, 3), st.sampled_from([1, 2, 8]))


def test_all_pages_are_found() -> None:
    assert len(PAGES) == 11


@settings(max_examples=3, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(options, sizes, st.sampled_from(SENTENCES), st.sampled_from(["cross", "encoder", "decoder"]), st.integers(1, 9))
@example({"norm": "pre", "positions": "none"}, Size(1, 1, 1), "a", "decoder", 1)
def test_every_page_opens(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    options: dict[str, object],
    size: Size,
    sentence: str,
    kind: str,
    place: int,
) -> None:
    for old in tmp_path.glob("*"):
        old.unlink()
    write_checkpoint(tmp_path / "any.safetensors", size, options=options)
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(tmp_path))
    streamlit.cache_data.clear()
    streamlit.cache_resource.clear()
    for page in PAGES:
        app = AppTest.from_file(str(VIEWS.parent / "main.py"), default_timeout=120)
        app.switch_page(str(VIEWS / page))
        chosen = {"sentence": sentence, "kind": kind, "layer": str(place), "head": str(place)}
        for name, value in chosen.items() | {(key, str(place)) for key in ("t", "s", "k")}:
            app.query_params[name] = value
        app.query_params["at"] = (
            f"decoder.layers.{size.decoder - 1}.cross_attention.{('query', 'weights', 'output')[place % 3]}"
        )
        for name, values in PARTS.items():
            app.session_state[name] = values[place % len(values)]
        app.run()
        assert not app.exception, f"{page}: {app.exception[0].message}"
        drawn = {each.proto.component_name for each in app.get("bidi_component")} & PICTURES
        assert charts(app) or drawn, f"{page} has drawn nothing"
