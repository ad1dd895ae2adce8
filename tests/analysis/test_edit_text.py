"""The text of an edit is read back as the same edit; any other text is refused with a message."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transformer.analysis.edits import (
    AttentionWindow,
    Edit,
    HeadOff,
    HeadUniform,
    MaskCell,
    MaskOff,
    PositionsOff,
    PositionsShifted,
    PositionsShuffled,
    PositionsSwapped,
    ResidualOff,
    SublayerOff,
    Temperature,
    VectorPatched,
    WeightsSet,
    edit_text,
    parse_edit,
)
from transformer.errors import HeadlightError

COUNT = st.integers(0, 99)
KIND = st.sampled_from(["cross", "encoder", "decoder"])
STACK = st.sampled_from(["encoder", "decoder"])
SUBLAYER = st.sampled_from(["self_attention", "cross_attention", "feed_forward"])
EDITS = st.one_of(
    st.builds(HeadOff, KIND, COUNT, COUNT),
    st.builds(HeadUniform, KIND, COUNT, COUNT),
    st.builds(SublayerOff, STACK, COUNT, SUBLAYER),
    st.builds(ResidualOff, STACK, st.none() | COUNT, SUBLAYER),
    st.builds(MaskOff, st.sampled_from(["causal", "padding", "cross"])),
    st.builds(AttentionWindow, COUNT),
    st.builds(MaskCell, KIND, st.none() | COUNT, st.none() | COUNT, COUNT, COUNT, st.booleans()),
    st.builds(
        WeightsSet,
        KIND,
        COUNT,
        st.none() | COUNT,
        COUNT,
        st.lists(st.tuples(COUNT, COUNT), min_size=1, max_size=60).map(tuple),
    ),
    st.builds(PositionsOff, STACK),
    st.builds(PositionsShifted, COUNT),
    st.builds(PositionsShuffled, COUNT),
    st.builds(PositionsSwapped, COUNT, COUNT),
    st.builds(Temperature, KIND, COUNT, COUNT, st.sampled_from([0.1, 0.5, 2.0, 30.0, 0.1234567, 1e-7])),
    st.builds(VectorPatched, st.none() | COUNT, COUNT, st.lists(COUNT, min_size=1, max_size=9).map(tuple)),
)


@given(EDITS)
def test_the_text_of_an_edit_is_read_back_as_the_same_edit(edit: Edit) -> None:
    assert parse_edit(edit_text(edit)) == edit


def test_layers_and_heads_count_from_1_in_the_text() -> None:
    assert edit_text(HeadOff("cross", 1, 5)) == "off=cross.2.6"
    assert edit_text(HeadOff("cross", 1, None)) == "off=cross.2.all"
    assert parse_edit("off=cross.2.all") == HeadOff("cross", 1, None)
    assert edit_text(ResidualOff("encoder", 1, "feed_forward")) == "noresidual=encoder.2.feed_forward"
    assert parse_edit("noresidual=decoder.all.cross_attention") == ResidualOff("decoder", None, "cross_attention")
    assert parse_edit("weights=cross.2.all.4.1-70.3-30") == WeightsSet("cross", 1, None, 3, ((0, 70), (2, 30)))
    assert parse_edit("forbid=decoder.all.6.3.5") == MaskCell("decoder", None, 5, 2, 4, False)
    assert parse_edit("patch=2.4.17-93-3") == VectorPatched(1, 3, (17, 93, 3))
    assert parse_edit("patch=embedding.4.17-93-3") == VectorPatched(None, 3, (17, 93, 3))
    assert parse_edit("temperature=cross.2.6.0.5") == Temperature("cross", 1, 5, 0.5)
    assert edit_text(Temperature("cross", 1, 5, 0.1234567)) == "temperature=cross.2.6.0.1234567"
    assert edit_text(Temperature("cross", 1, 5, 2.0)) == "temperature=cross.2.6.2"


@pytest.mark.parametrize(
    "text",
    ["", "off", "off=", "off=cross.0.1", "off=cross.1", "off=across.1.1", "mask=none", "skip=encoder.1.norm",
     "noresidual=encoder.0.feed_forward", "noresidual=all.1.feed_forward", "noresidual=encoder.1",
     "positions=swap.1", "positions=off.decoder.9", "positions=shift.-1",
     "temperature=cross.1.1.hot", "patch=1.1.a-b", "off=cross.1.1.1",
     "off=cross.²." + "9" * 50,
     "allow=cross.1.1.1", "forbid=cross.1.1.1.0", "weights=cross.1.1.1", "weights=cross.all.1.1.1-1",
     "weights=cross.1.1.1.1",
     "weights=cross.1.1.1." + ".".join(["1-1"] * 3000), "explode=all"],
)  # fmt: skip
def test_an_invalid_text_of_an_edit_raises_an_error_that_says_what_to_write(text: str) -> None:
    with pytest.raises(HeadlightError, match=r"Choose one of|Write, for example"):
        parse_edit(text)


@given(st.text(max_size=60))
def test_any_text_is_an_edit_or_gets_an_error_message(text: str) -> None:
    for candidate in (text, f"off={text}", f"positions={text}", f"patch={text}"):
        try:
            edit = parse_edit(candidate)
        except HeadlightError:
            continue
        assert parse_edit(edit_text(edit)) == edit


def test_the_text_of_a_patch_from_a_long_sentence_can_be_read() -> None:
    edit = VectorPatched(1, 2, (*range(30_000, 31_023), 3))  # 1,024 tokens
    assert parse_edit(edit_text(edit)) == edit
