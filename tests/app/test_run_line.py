"""The line of a run on the page Training: what became of its text, what it does now, and how it is stopped."""

import signal
from pathlib import Path

from app.library.snapshots import OWNER
from tests.support.drawn import page_text
from tests.support.held_run import held
from tests.support.patience import PATIENCE
from tests.support.training_page import machine, opened
from transformer.data.cleaning import Counts


def test_the_page_says_what_became_of_the_pairs_of_a_text(toy: Path) -> None:
    assert "pairs read" not in page_text(opened())  # a toy has no text
    counts = Counts(read=9000, empty=2, duplicates=1500, learnt=7498)
    counts.write(toy / "corpus.json")
    assert "The text: 9,000 pairs read: 2 with an empty side, 1,500 duplicates, 7,498 to learn from." in page_text(
        opened()
    )
    for broken in ("", "[" * 5000, "[1]", '{"read": "many"}'):
        (toy / "corpus.json").write_text(broken)
        assert "pairs read" not in page_text(opened())


def test_a_running_run_shows_its_progress_and_can_be_stopped(toy: Path) -> None:
    (toy / OWNER).touch()
    with held(toy) as process:
        app = opened()
        assert "Running: update 12 of 12, loss " in page_text(app)
        assert "now preparing to continue" in page_text(app)
        (toy / "metrics.jsonl").touch()  # as the trainer does when all is ready
        assert "now averaging its last checkpoints and validating the average" in page_text(app.run())
        metrics = (toy / "metrics.jsonl").read_text().splitlines(keepends=True)
        (toy / "metrics.jsonl").write_text("".join(line for line in metrics if '"valid"' not in line))
        assert "now validating" in page_text(app.run())
        app.button(key="stop_run").click().run()
        assert process.wait(PATIENCE) == -signal.SIGTERM
    app.run()
    assert "Finished after update 12 of 12" in page_text(app)


def test_before_its_first_lines_a_run_says_what_it_does(toy: Path) -> None:
    (toy / OWNER).touch()
    metrics, state = toy / "metrics.jsonl", toy / "training.safetensors"
    with held(toy):
        metrics.unlink()
        state.unlink()
        for snapshot in (toy / "snapshots").iterdir():
            snapshot.unlink()
        app = opened()
        assert "Running: preparing its text and its model" in page_text(app)
        assert "stores its first snapshot when its text and its model are prepared" in machine(app)["problem"]
        metrics.touch()
        assert "Running: update 0 of 12, making its first updates" in page_text(app.run())
    assert "This run was stopped before it stored its first snapshot." in machine(app.run())["problem"]
