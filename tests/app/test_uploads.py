"""Uploaded checkpoints on a server that many visitors share: a limited number at once, and each completely."""

import errno
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from app.library import checkpoints, uploads
from app.library.checkpoints import CheckpointFile, load
from app.library.uploads import MOST_UPLOADS, store_upload
from tests.support.pages import switch_page


@pytest.fixture(autouse=True)
def own_folder() -> Iterator[None]:
    """Uploads of other tests do not count."""
    uploads._folder.clear()
    yield
    uploads._folder.clear()


def give(app: AppTest, content: bytes) -> None:
    uploader: Any = app.get("file_uploader")[0]
    uploader.upload("mine.safetensors", content, "application/octet-stream").run()


def test_only_the_newest_uploads_are_kept_and_the_oldest_goes_first() -> None:
    kept = [store_upload(b"content %d" % n) for n in range(MOST_UPLOADS)]
    for age, path in enumerate(reversed(kept), 1):
        os.utime(path, (time.time() - age, time.time() - age))
    assert store_upload(b"content 0") == kept[0]  # the same bytes are stored once, and are now the newest
    assert all(path.is_file() for path in kept)
    kept.append(store_upload(b"content more"))
    assert [path.is_file() for path in kept] == [True, False, *[True] * (MOST_UPLOADS - 1)]
    assert kept[-1].read_bytes() == b"content more"


def test_an_upload_that_failed_on_a_full_disk_can_be_repeated(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    write, content = Path.write_bytes, (folder / "small.safetensors").read_bytes()

    def full(path: Path, data: bytes) -> int:
        write(path, data[:100])
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as while_full:
        while_full.setattr(Path, "write_bytes", full)
        with pytest.raises(OSError, match="No space left"):
            store_upload(content)
    load(CheckpointFile.at(store_upload(content)))


def test_a_visitor_gets_a_message_that_newer_uploads_replaced_theirs(
    open_app: Callable[..., AppTest], folder: Path
) -> None:
    app = open_app()
    content = (folder / "small.safetensors").read_bytes()
    give(app, content)
    assert app.selectbox(key="checkpoint").value == "mine (yours)"
    assert app.selectbox(key="checkpoint").options[0].startswith("mine (yours)")  # first in the list
    for number in range(MOST_UPLOADS):
        store_upload(b"content %d" % number)
    checkpoints._load.clear()  # as if the cache of loaded models had dropped it, too
    app.run()
    assert not app.exception
    assert "The newest 4 uploads are kept, and yours is older: open it again in the menu." in app.text[0].value
    give(app, content)
    assert not any("cannot be opened" in text.value for text in app.text)


def test_a_message_about_an_upload_has_the_name_of_the_file_but_no_path_of_the_server(
    open_app: Callable[..., AppTest],
) -> None:
    app = open_app()
    give(app, b"this is no checkpoint, but a text of some length")
    shown_text = " ".join(text.value for text in app.text)
    assert "mine.safetensors is not a checkpoint" in shown_text
    assert "It is not a safetensors file" in shown_text
    assert "headlight-" not in shown_text  # the folder on the server


def test_a_message_about_an_upload_goes_when_another_checkpoint_is_opened_or_the_file_is_removed(
    open_app: Callable[..., AppTest],
) -> None:
    app = open_app(details="true")
    for use in ("list", "button", "file"):
        give(app, f"this is no checkpoint, but a text of some length, for the {use}".encode())
        assert any("Your file was not opened." in text.value for text in app.text)
        if use == "list":
            app.selectbox(key="checkpoint").select("small").run()
        elif use == "button":
            switch_page(app, "models").run()
            next(each for each in app.button if each.label == "Open" and not each.disabled).click().run()
        else:
            uploader: Any = app.get("file_uploader")[0]
            uploader.set_value(None).run()
        assert not app.exception
        assert not any("Your file was not opened." in text.value for text in app.text)
