"""What the app computes for the next scene of a lesson."""

from threading import Thread

from app.stage.lecture import next_scene


def compute_in_advance(page: str, checkpoint: str, texts: dict[str, str]) -> None:
    """In a thread of its own, because it becomes a session of Streamlit; this one would stay one for later tests."""
    work = Thread(target=next_scene._compute, args=(page, checkpoint, texts), kwargs={"with_scene": True})
    work.start()
    work.join()
