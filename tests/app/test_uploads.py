"""Uploaded checkpoints on a server that many visitors share: so many at once and no more, and each whole."""

import errno
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from app.library import checkpoints
from app.library.checkpoints import MOST_UPLOADS, keep_upload, load


@pytest.fixture(autouse=True)
def own_folder() -> Iterator[None]:
    """Uploads of other tests do not count."""
    checkpoints._upload_folder.clear()
    yield
    checkpoints._upload_folder.clear()


def give(app: AppTest, content: bytes) -> None:
    uploader: Any = app.get("file_uploader")[0]
    uploader.upload("mine.safetensors", content, "application/octet-stream").run()


def test_only_the_newest_uploads_are_kept_and_the_oldest_goes_first() -> None:
    kept = [keep_upload(f"number {n}", b"content %d" % n) for n in range(MOST_UPLOADS)]
    assert all(Path(file.path).is_file() for file in kept)
    assert keep_upload("again", b"content 0").path == kept[0].path  # the same bytes take no room of their own
    assert all(Path(file.path).is_file() for file in kept)
    kept.append(keep_upload("one more", b"content more"))
    assert [Path(file.path).is_file() for file in kept] == [False, *[True] * MOST_UPLOADS]
    assert Path(kept[-1].path).read_bytes() == b"content more"


def test_an_upload_that_met_a_full_disk_can_be_given_again(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    write, content = Path.write_bytes, (folder / "small.safetensors").read_bytes()

    def full(path: Path, data: bytes) -> int:
        write(path, data[:100])
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as while_full:
        while_full.setattr(Path, "write_bytes", full)
        with pytest.raises(OSError, match="No space left"):
            keep_upload("mine", content)
    load(keep_upload("mine", content))


def test_a_visitor_whose_upload_was_pushed_out_is_told(open_app: Callable[..., AppTest], folder: Path) -> None:
    app = open_app()
    content = (folder / "small.safetensors").read_bytes()
    give(app, content)
    assert app.selectbox(key="checkpoint").value == "mine (yours)"
    for number in range(MOST_UPLOADS):
        keep_upload(f"of others {number}", b"content %d" % number)
    checkpoints._load.clear()  # as if it had been pushed out there, too
    app.run()
    assert not app.exception
    assert "The newest 4 uploads are kept, and yours is older: open it again in the menu." in app.text[0].value
    give(app, content)
    assert not any("cannot be opened" in text.value for text in app.text)


def test_a_message_about_an_upload_names_the_file_and_nothing_else_by_its_name(
    open_app: Callable[..., AppTest],
) -> None:
    app = open_app()
    give(app, b"this is no checkpoint, but a text of some length")
    said = " ".join(text.value for text in app.text)
    assert "mine.safetensors is not a checkpoint" in said
    assert "It is not a safetensors file" in said
    assert "headlight-" not in said  # the folder on the server
