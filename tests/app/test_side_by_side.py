"""Side by side: what the addresses of the two frames say."""

import shutil
from collections.abc import Callable
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import pytest
from streamlit.testing.v1 import AppTest

from tests.support.app_checkpoints import Size, write_checkpoint
from tests.support.drawn import components

Open = Callable[..., AppTest]
EDIT = "uniform=cross.2.3"


def addresses(app: AppTest) -> tuple[dict[str, str], dict[str, str]]:
    """The choices in the address of each frame; the key "" has the page that the frame shows."""
    assert not app.exception
    (drawn,) = components(app, "frames")
    split = [urlsplit(side["address"]) for side in drawn["sides"]]
    one, other = ({"": each.path, **dict(parse_qsl(each.query))} for each in split)
    return one, other


def test_the_original_model_has_all_that_is_chosen_but_the_edits(open_app: Open) -> None:
    shown = {"sentence": "the cat & the mat", "layer": "2", "head": "1", "mask_taken": "true"}
    one, other = addresses(open_app("beside", beside_page="masks", edits=EDIT, **shown))
    assert one == other | {"edits": EDIT}
    assert other[""] == "./masks"
    assert "framed" in other
    assert {key: other[key] for key in shown} == shown


def test_another_checkpoint_keeps_the_sentence_and_no_head_of_this_one(open_app: Open) -> None:
    one, other = addresses(open_app("beside", beside="checkpoint", sentence="the cat", layer="2", edits=EDIT, t="2"))
    assert (one["layer"], one["edits"]) == ("2", EDIT)
    assert not {"layer", "edits", "t"} & set(other)
    assert (other["checkpoint"], other["sentence"]) == ("small", "the cat")


def test_another_sentence_keeps_the_edits(open_app: Open) -> None:
    chosen = {"beside": "sentence", "beside_sentence": "the mat", "beside_page": "translate"}
    one, other = addresses(open_app("beside", sentence="the cat", edits=EDIT, **chosen))
    assert (one["sentence"], one["edits"]) == ("the cat", EDIT)
    assert (other["sentence"], other["edits"], other[""]) == ("the mat", EDIT, "./")


def test_the_spelling_of_another_sentence_is_corrected_though_this_one_is_read_as_typed(open_app: Open) -> None:
    one, other = addresses(
        open_app("beside", beside="sentence", sentence="the caat", beside_sentence="the mat", as_typed="true")
    )
    assert one["as_typed"] == "true"
    assert "as_typed" not in other


@pytest.mark.parametrize("page", ["beside", "<script>", "../x"])
def test_a_hostile_link_opens_a_page_of_this_app(open_app: Open, page: str) -> None:
    one, other = addresses(open_app("beside", beside_page=page, sentence="the cat", beside_checkpoint="no"))
    assert one[""] == other[""] == "./attention"


def test_there_is_no_frame_before_something_is_edited(open_app: Open) -> None:
    app = open_app("beside", beside="original", sentence="the cat")
    assert components(app, "frames") == []
    assert any("Nothing is edited" in text.value for text in app.text)


def test_a_sentence_is_not_opened_beside_a_checkpoint_that_reads_another_language(
    folder: Path, tmp_path: Path, open_app: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copy(folder / "en-de.safetensors", tmp_path / "en-de.safetensors")
    write_checkpoint(tmp_path / "de-en.safetensors", source_language="de", target_language="en")
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(tmp_path))
    one, other = addresses(open_app("beside", sentence="the cat sat"))
    assert "checkpoint" not in other or other["checkpoint"] == one["checkpoint"]
    assert other["sentence"] == "cat cat sat"  # nobody else reads English, so another sentence is beside it
    write_checkpoint(tmp_path / "other.safetensors", Size(1, 1, 2))
    _, other = addresses(open_app("beside", sentence="the cat sat"))
    assert (other["checkpoint"], other["sentence"]) == ("other", "the cat sat")
