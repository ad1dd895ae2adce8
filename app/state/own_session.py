"""A Streamlit session without a visitor: a thread draws a page in it, or computes results, as if a link was opened."""

from collections.abc import Mapping
from pathlib import Path
from threading import current_thread
from urllib.parse import urlencode

from streamlit.runtime.fragment import MemoryFragmentStorage
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.pages_manager import PagesManager
from streamlit.runtime.scriptrunner.script_cache import ScriptCache
from streamlit.runtime.scriptrunner_utils.script_run_context import ScriptRunContext, add_script_run_ctx
from streamlit.runtime.state import SafeSessionState, SessionState

MAIN = str(Path(__file__).resolve().parents[1] / "main.py")


def enter(name: str, link: Mapping[str, str]) -> PagesManager:
    """Gives this thread a new session. Its choices do not affect visitors; cached results are shared with them.

    Args:
        name: id of the session.
        link: the parameters of the address.

    Returns:
        The pages of the session.
    """
    pages = PagesManager(MAIN, ScriptCache())
    context = ScriptRunContext(
        session_id=name,
        _enqueue=lambda message: None,
        query_string="",
        session_state=SafeSessionState(SessionState(), lambda: None),
        uploaded_file_mgr=MemoryUploadedFileManager(f"/{name}"),
        main_script_path=MAIN,
        user_info={},
        fragment_storage=MemoryFragmentStorage(),
        pages_manager=pages,
    )
    add_script_run_ctx(current_thread(), context)
    context.reset(urlencode(link))
    return pages
