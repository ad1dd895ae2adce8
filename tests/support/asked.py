"""Requests of a page that the app has not begun to answer, read from its WebSocket.

A click is over before the app has heard of it. On a slow machine that takes a while, in which the page looks as if its
script had ended; to see that it has not, one must know what was asked.
"""

import time
from typing import Any

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from tests.support.patience import PATIENCE

LOST = 15.0  # seconds; Streamlit drops the request of a fragment that is no longer on the page


class Asked:
    """Of one page, from its first connection on."""

    def __init__(self, page: Any):
        self._page = page
        self._asked: float | None = None  # when it last asked for a run that has not begun
        self._whole = False  # whether that was of the whole script
        self.count = 0  # how often it has asked for a run, except by the clock
        page.on("websocket", self._connected)

    def _connected(self, socket: Any) -> None:
        self._asked = None  # what was asked over another connection will not be answered
        socket.on("framesent", self._sent)
        socket.on("framereceived", self._received)

    def _sent(self, frame: bytes | str) -> None:
        if isinstance(frame, bytes):
            message = BackMsg.FromString(frame)
            if message.HasField("rerun_script"):
                self._asked, self._whole = time.monotonic(), not message.rerun_script.fragment_id
                self.count += not message.rerun_script.is_auto_rerun

    def _received(self, frame: bytes | str) -> None:
        if isinstance(frame, bytes):
            message = ForwardMsg.FromString(frame)
            of_fragment = bool(message.metadata.run.fragment_ids)  # asked for earlier, if now the whole script is
            if message.HasField("new_session") and not (self._whole and of_fragment):
                self._asked = None

    @property
    def is_answered(self) -> bool:
        """Whether the run that was asked for last has begun; or will not."""
        waits = 0.0 if self._asked is None else time.monotonic() - self._asked
        return self._asked is None or (waits > LOST and not self._whole)

    def wait(self) -> None:
        """Until that is so. Raises AssertionError: it does not come to that."""
        until = time.monotonic() + PATIENCE
        while not self.is_answered:
            assert time.monotonic() < until, "the app did not answer"
            self._page.wait_for_timeout(20)
