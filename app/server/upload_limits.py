"""Limits of uploaded files in the memory of the server. A checkpoint is then stored by `app/library/uploads.py`.

Streamlit limits the size of one upload, but a client could send any number of them, under ids of its own choice.
`app/server/request_guard.py` puts this class in the place of Streamlit's own and asks it before the body of an upload
is read.
"""

from collections import deque
from collections.abc import Sequence

from starlette.responses import PlainTextResponse
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.uploaded_file_manager import UploadedFileRec, UploadFileUrlInfo

MOST_FILES = 4  # that one tab keeps; a page asks for three at most
MOST_BYTES = 600_000_000  # of the uploads of one tab: a file of the largest size that config.toml allows, and a corpus
MOST_BYTES_OF_ALL = 1_500_000_000


class Uploads(MemoryUploadedFileManager):
    """Streamlit's store of uploaded files, which accepts only files that a page asked for, up to these limits."""

    def __init__(self, upload_endpoint: str):
        super().__init__(upload_endpoint)
        self._expected: dict[str, deque[str]] = {}  # ids that were given to a tab, the newest last
        self._arriving: list[tuple[str, int]] = []  # (session, bytes) of uploads whose body is being read

    def get_upload_urls(self, session_id: str, file_names: Sequence[str]) -> list[UploadFileUrlInfo]:
        """Called when a visitor has chosen files in a file uploader of the page."""
        given = super().get_upload_urls(session_id, file_names[:MOST_FILES])
        expected = self._expected.setdefault(session_id, deque(maxlen=MOST_FILES))
        expected.extend(each.file_id for each in given)
        return given

    def remove_session_files(self, session_id: str) -> None:
        self._expected.pop(session_id, None)
        super().remove_session_files(session_id)

    def add_file(self, session_id: str, file: UploadedFileRec) -> None:
        """Stores a file that has arrived, unless its tab has been closed meanwhile: nothing would remove it."""
        if session_id in self._expected:
            super().add_file(session_id, file)

    def begin(self, session_id: str, file_id: str, size: int) -> PlainTextResponse | None:
        """Reserves room for an upload, which `end` releases once the file is stored. Returns a refusal if the upload is
        not allowed."""
        if file_id not in self._expected.get(session_id, ()):
            return PlainTextResponse("The page has not asked for this file. Choose it in the page.", 403)
        stored = {session: [len(file.data) for file in files.values()] for session, files in self.file_storage.items()}
        own = [*stored.get(session_id, []), *(size for session, size in self._arriving if session == session_id)]
        if len(own) >= MOST_FILES or sum(own) + size > MOST_BYTES:
            return PlainTextResponse("This tab has uploaded too much. Remove a file, or reload the page.", 413)
        everything = sum(map(sum, stored.values())) + sum(size for _, size in self._arriving)
        if everything + size > MOST_BYTES_OF_ALL:
            return PlainTextResponse("The uploads of all visitors fill the server's memory. Try again later.", 507)
        self._arriving.append((session_id, size))
        return None

    def end(self, session_id: str, size: int) -> None:
        self._arriving.remove((session_id, size))
