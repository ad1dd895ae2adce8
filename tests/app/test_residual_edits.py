"""The page Residual stream of an edited model: without residual connections, and with vectors of another sentence."""

import re
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from app.compute.outcomes import Outcome
from app.views.residual.sentences import of_edits
from app.views.residual.stream import sub_layers
from tests.support.app_checkpoints import write_checkpoint
from tests.support.drawn import chart, written
from tests.support.residual_page import Open, by_name, flowing, tensors
from transformer.analysis.trace import trace
from transformer.decoding.translator import Translator

OTHER = (17, 93, 3)  # the ids of another sentence
PATCHED = "-".join(map(str, OTHER))


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_without_its_residual_connection_its_output_alone_is_the_new_stream(
    open_residual: Open, residual_checkpoints: Path, norm: str
) -> None:
    edit = "noresidual=encoder.2.self_attention"
    app = open_residual(checkpoint=norm, edits=edit)
    held, state = flowing(app)
    assert state["off"] == [edit]
    sent = held["stacks"]["encoder"]
    assert sent["parts"][2]["edits"] == {"sublayer": "skip=encoder.2.self_attention", "residual": edit}
    before, after = (sent[name] for name in ("lengthsBefore", "lengths"))  # (R, 1 + U)
    truth, subs, end = tensors(residual_checkpoints / f"{norm}.safetensors"), sub_layers("encoder", 2), "residual_sum"
    if norm == "post":
        end = "norm_out"
    wanted = [np.linalg.norm(truth[f"{sub.site}.{end}"], axis=-1) for sub in subs]
    np.testing.assert_allclose(before[:, 1:].T, wanted, rtol=1e-5)  # of the original model
    np.testing.assert_allclose(after[:, :3], before[:, :3], rtol=1e-6)  # up to the edit nothing changes
    if norm == "pre":
        np.testing.assert_allclose(after[:, 3], sent["addedLengths"][:, 2], rtol=1e-6)
        assert not np.allclose(after[:, 4], before[:, 4], rtol=1e-2)
    shown_text = next(each.value for each in app.text if "largest difference" in each.value)
    sentence = "Layer 2, self-attention, has no residual connection now: its output alone is the new stream."
    assert (sentence in shown_text) == (norm == "pre")
    difference = re.search(r"largest difference [a-z0-9, ]+: ([^ )]+)\)", shown_text)
    assert difference
    assert written(difference[1]) < 1e-5
    assert "log-probability" in shown_text
    assert "(0.7 nats less: half as probable)" in shown_text


def test_a_sub_layer_that_reads_zeros_is_not_said_to_have_no_residual_connection(open_residual: Open) -> None:
    edits = "skip=encoder.1.feed_forward;noresidual=encoder.1.feed_forward"
    app = open_residual(checkpoint="pre", edits=edits)
    assert flowing(app)[1]["off"] == edits.split(";")
    shown_text = next(each.value for each in app.text if "largest difference" in each.value)
    assert "Layer 1, feed-forward, has no residual connection now" in shown_text


def test_all_connections_of_a_kind_are_one_edit_and_each_of_them_in_the_picture(open_residual: Open) -> None:
    _, state = flowing(open_residual(checkpoint="pre", edits="noresidual=decoder.all.feed_forward;mask=causal"))
    assert state["off"] == [f"noresidual=decoder.{layer}.feed_forward" for layer in (1, 2, 3)]


def test_what_does_not_reach_the_last_vector_has_no_share_of_it(open_residual: Open) -> None:
    app = open_residual(checkpoint="pre", kind="decoder", edits="noresidual=decoder.2.feed_forward")
    drawn = by_name(chart(app, "Shares of the last stream"))
    found = {int(place): share for places, ys in drawn.values() for place, share in zip(places, ys, strict=True)}
    assert [found[place] for place in range(6)] == [0] * 6  # the embedding, and five sub-layers before that one
    assert sum(found.values()) == pytest.approx(1.0)


def words_below(app: AppTest) -> str:
    return next(each.value for each in app.text if "LayerNorm normalises" in each.value or "last vector" in each.value)


def shares_drawn(app: AppTest) -> dict[int, float]:
    drawn = by_name(chart(app, "Shares of the last stream"))
    return {int(place): float(share) for places, ys in drawn.values() for place, share in zip(places, ys, strict=True)}


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_a_vector_that_an_edit_puts_in_is_not_said_to_be_computed_by_the_sub_layer(
    open_residual: Open, norm: str
) -> None:
    edit = f"patch=1.2.{PATCHED}"
    app = open_residual(checkpoint=norm, stream="encoder", s="2", edits=edit)
    assert "After layer 1, feed-forward, an edit replaces the vector by one of another sentence." in words_below(app)
    sent = flowing(app)[0]["stacks"]["encoder"]
    assert np.argwhere(sent["replaced"]).tolist() == [[1, 2]]  # the second token, after two sub-layers
    other = open_residual(checkpoint=norm, stream="encoder", s="3", edits=edit)
    assert "another sentence" not in words_below(other)
    captions = " ".join(each.value for each in app.caption)
    assert captions.count("After layer 1, feed-forward, an edit replaces") == (1 if norm == "pre" else 2)
    assert ("the sum is the new stream" in captions, "x + what is added" in by_name(chart(app, "Length of the"))) == (
        (False, False) if norm == "pre" else (False, True)
    )


def test_the_sum_of_a_pre_norm_stack_begins_with_the_vector_that_an_edit_puts_in(
    open_residual: Open, residual_checkpoints: Path
) -> None:
    app = open_residual(checkpoint="pre", stream="encoder", s="2", edits=f"patch=1.2.{PATCHED}")
    difference = re.search(
        r"what 2 later sub-layers added \(largest difference [a-z0-9, ]+: ([^ )]+)\)", words_below(app)
    )
    assert difference
    assert written(difference[1]) < 1e-5
    model = Translator.load(residual_checkpoints / "pre.safetensors").model
    patched = trace(model, OTHER, (5,), ["encoder.*"])["encoder.layers.0.feed_forward.residual_sum"][1]
    found, figure = shares_drawn(app), chart(app, "Shares of the last stream")
    assert figure["layout"]["xaxis"]["ticktext"][0] == "vector of another sentence"
    assert [found[1], found[2]] == [0, 0]  # what layer 1 added does not reach the end
    assert sum(found.values()) == pytest.approx(1.0)
    lengths = flowing(app)[0]["stacks"]["encoder"]["lengths"]
    assert lengths[1, 2] == pytest.approx(float(np.linalg.norm(patched)), rel=1e-5)
    last = open_residual(checkpoint="pre", stream="encoder", s="2", edits=f"patch=2.2.{PATCHED}")
    assert words_below(last).endswith("one of another sentence. That is the last vector.")


def test_an_embedding_that_an_edit_puts_in_is_not_said_to_be_that_of_the_token(open_residual: Open) -> None:
    app = open_residual(checkpoint="pre", stream="encoder", s="2", edits=f"patch=embedding.2.{PATCHED}")
    assert "is the sum of the vector of another sentence and what 4 sub-layers added" in words_below(app)
    starts = flowing(app)[0]["stacks"]["encoder"]["starts"]
    assert [i for i, start in enumerate(starts) if start == "vector of another sentence"] == [1]
    beyond = open_residual(
        checkpoint="pre", stream="encoder", s="2", edits=f"patch=embedding.40.{'-'.join(['5'] * 40)}"
    )
    assert "another sentence" not in words_below(beyond)


def test_a_stream_whose_positions_are_off_starts_with_the_embedding_alone(open_residual: Open) -> None:
    sent = flowing(open_residual(checkpoint="pre", edits="positions=off"))[0]["stacks"]
    assert set(sent["encoder"]["starts"]) == {"embedding"}
    assert set(sent["decoder"]["starts"]) == {"embedding + position"}


def test_no_later_sub_layers_are_counted_after_the_last_one(open_residual: Open) -> None:
    app = open_residual(checkpoint="pre", stream="encoder", edits="noresidual=encoder.2.feed_forward")
    assert words_below(app).endswith("its output alone is the new stream. That is the last vector.")


@pytest.mark.parametrize(
    ("lost", "size"), [((0.02, -0.05), "the same"), ((0.02, 0.05), "0.1 nats lower"), ((0.0, -0.3), "0.3 nats higher")]
)
def test_a_log_probability_that_hardly_changes_is_called_the_same(
    lost: tuple[float, float], size: str, tmp_path: Path
) -> None:
    written = Translator.load(write_checkpoint(tmp_path / "any.safetensors")).score("the cat", "the")
    assert f"its log-probability is {size} (" in of_edits(Outcome(written, written, lost))
