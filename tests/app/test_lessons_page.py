"""The page Lessons, the lessons that it finds, and Save as scene."""

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from app.languages import LANGUAGES, Language, speaking
from app.languages.numbers import signs
from app.lessons.lesson_file import LessonScene, read_lesson
from app.lessons.versions import differences
from app.library import lessons as library
from app.library.lessons import lesson_named, lessons, store_upload
from tests.app.test_lesson_file import LESSON, MISTAKES
from tests.support.drawn import components, page_text
from tests.support.pages import PAGES, choose, switch_page
from transformer.analysis.edits.edit_text import parse_edit

Open = Callable[..., AppTest]
SHIPPED = [path.stem for path in library.lesson_files(library.SHIPPED)]
VERSIONS = [(spoken, path.stem) for spoken in LANGUAGES for path in library.lesson_files(library.SHIPPED, spoken)]


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The lecturer's own folder."""
    monkeypatch.setenv("HEADLIGHT_LESSONS", str(tmp_path))
    return tmp_path


def test_lessons_of_the_folder_are_listed_and_one_with_mistakes_stops_nothing(own: Path, open_app: Open) -> None:
    (own / "mine.md").write_text(LESSON, encoding="utf-8")
    (own / "wrong.md").write_text(MISTAKES, encoding="utf-8")
    (own / "bytes.md").write_bytes(b"\xff\xfe\x00")
    (own / "README.md").write_text("no lesson", encoding="utf-8")
    (own / "folder.md").mkdir()
    found = lessons()
    assert next(iter(found)) == "mine"  # the shortest
    assert set(found) == {"mine", *SHIPPED, "bytes", "wrong"}
    assert [name for name, each in found.items() if each.lesson is None] == ["bytes", "wrong"]
    shown = page_text(open_app("lessons"))
    assert "Two scenes" in shown
    assert "wrong.md has 17 mistakes." in shown
    assert "Line 7: There is no page “atention”. Did you mean attention?" in shown
    assert "bytes.md has one mistake.\nLine 1: This is not UTF-8." in shown


def test_a_lesson_of_the_folder_replaces_one_that_ships(own: Path) -> None:
    (own / f"{SHIPPED[0]}.md").write_text(LESSON, encoding="utf-8")
    assert lessons()[SHIPPED[0]].title == "Two scenes"


def test_a_lesson_is_shown_in_the_language_of_the_visitor_where_there_is_one(own: Path, open_app: Open) -> None:
    (own / "de").mkdir()
    (own / "mine.md").write_text(LESSON.replace("language: de", "language: en"), encoding="utf-8")
    (own / "de" / "mine.md").write_text(LESSON.replace("Two scenes", "Zwei Szenen"), encoding="utf-8")
    (own / "other.md").write_text(LESSON.replace("Two scenes", "Another"), encoding="utf-8")
    (own / "de" / f"{SHIPPED[0]}.md").write_text(MISTAKES, encoding="utf-8")
    english, german = page_text(open_app("lessons")), page_text(open_app("lessons", lang="de"))
    assert ("Two scenes" in english, "Zwei Szenen" in english) == (True, False)
    assert ("Two scenes" in german, "Zwei Szenen" in german, "Another" in german) == (False, True, True)
    assert (f"de/{SHIPPED[0]}.md" in english, f"de/{SHIPPED[0]}.md" in german) == (False, True)
    for spoken, title in (("en", "The first"), ("de", "Die erste")):
        (own / "de" / "mine.md").write_text(LESSON.replace("The first", "Die erste"), encoding="utf-8")
        app = open_app("attention", lecture="1", lesson="mine", scene="1", lang=spoken)
        assert app.title[0].value == title
    (own / "other.md").write_text(MISTAKES, encoding="utf-8")  # its mistakes are told to each in their language
    with speaking("de"):
        mistakes = lessons()["other"].mistakes
    assert lessons()["other"].mistakes[0].problem == "“three” is not a number of minutes."
    assert mistakes[0].line == lessons()["other"].mistakes[0].line


def upload(app: AppTest, text: str) -> None:
    uploader: Any = app.get("file_uploader")[-1]
    uploader.upload("mine.md", text.encode(), "text/markdown").run()


def test_a_lesson_finds_the_checkpoint_of_a_run_that_is_made_later(own: Path, runs: Path, finished_run: Path) -> None:
    (own / "mine.md").write_text(LESSON.replace("checkpoint: en-de", "checkpoint: toy, best"), encoding="utf-8")

    def notes() -> str:
        return " ".join(map(str, lessons()["mine"].mistakes))

    assert "There is no checkpoint “toy, best” here." in notes()
    shutil.copytree(finished_run, runs / "toy")
    assert "toy, best" not in notes()


def test_an_uploaded_lesson_is_listed_for_its_visitor_alone_and_found_by_its_name(open_app: Open) -> None:
    app = open_app("lessons")
    upload(app, LESSON)
    assert "Two scenes" in page_text(app)
    assert "Line 25: Note: There is no checkpoint “reverse” here." in page_text(app)
    name = app.session_state["own_lesson_name"]
    found = lesson_named(name)
    assert found is not None
    assert found.title == "Two scenes"
    assert "Two scenes" not in page_text(open_app("lessons"))
    upload(app, MISTAKES)
    assert "has 17 mistakes." in page_text(app)


def test_an_uploaded_lesson_with_the_title_of_another_one_can_be_chosen(own: Path, open_app: Open) -> None:
    (own / "mine.md").write_text(LESSON, encoding="utf-8")
    app = open_app("lessons", details="true")
    upload(app, LESSON.replace("The first", "The other first"))
    choice = app.selectbox(key="scenes_of")
    assert len(set(choice.options)) == len(choice.options) == len(SHIPPED) + 2
    for label, first in (("Two scenes (mine.md)", "The first (2"), ("Two scenes (uploaded)", "The other first (2")):
        app.selectbox(key="scenes_of").select(label).run()
        assert first in page_text(app)


def test_the_link_of_a_scene_has_the_sentence_of_the_scene_before_and_no_empty_one(own: Path, open_app: Open) -> None:
    scene = "minutes: 1\nshow: positions\n"
    text = f"# A\nminutes: 3\n\n## One\n{scene}\n## Two\n{scene}sentence: a cat\n\n## Three\n{scene}"
    (own / "mine.md").write_text(text, encoding="utf-8")
    app = open_app("lessons", details="true")
    app.selectbox(key="scenes_of").select("A").run()
    links = [each.proto.query_string for each in app.get("page_link") if each.proto.label.startswith("Scene ")]
    assert ["sentence=a+cat" in link for link in links] == [False, True, True]
    (place,) = {app.text_input(key="sentence").value for app in [open_app("positions", sentence="")]}
    assert place  # an example, not an empty box


def test_one_minute_and_one_scene_are_singular(own: Path, open_app: Open) -> None:
    scene = "minutes: {}\nshow: positions\n"
    (own / "one.md").write_text(f"# One\nminutes: 1\n\n## A\n{scene.format(1)}", encoding="utf-8")
    (own / "two.md").write_text(
        f"# Two\nminutes: 2.5\n\n## A\n{scene.format(1)}\n## B\n{scene.format(1.5)}", encoding="utf-8"
    )
    lengths = [each.value for each in open_app("lessons").caption if each.value.endswith("your folder")]
    assert lengths == ["1 minute, 1 scene, your folder", "2.5 minutes, 2 scenes, your folder"]


def test_the_server_keeps_only_the_newest_uploads() -> None:
    first = store_upload(LESSON.encode()).name
    for number in range(library.MOST_UPLOADS):
        store_upload(f"# Lesson {number}".encode())
    assert lesson_named(first) is None


def test_the_example_of_the_readme_is_a_lesson_and_the_page_shows_it(open_app: Open) -> None:
    app = open_app("lessons", details="true")
    (example,) = [each.value for each in app.code]
    assert read_lesson(example.encode(), ("en-de",)).mistakes == ()
    assert example in (library.SHIPPED / "README.md").read_text(encoding="utf-8")


def open_scene(app: AppTest, scene: LessonScene) -> AppTest:
    """As a link of the app to another page does."""
    app.session_state["page"] = "another page"
    switch_page(app, scene.page)
    app.query_params.clear()
    app.query_params.update(scene.link)
    return app.run()


@pytest.mark.parametrize(
    ("spoken", "name"), [pytest.param(*each, marks=() if each[0] == "en" else pytest.mark.soak) for each in VERSIONS]
)
def test_each_scene_of_a_shipped_lesson_opens(open_app: Open, spoken: Language, name: str) -> None:
    with speaking(spoken):  # also AppTest, which looks for the labels of what is chosen
        lesson = lessons()[name].lesson
        assert lesson
        assert lesson.language == spoken
        app = open_app("lessons", lang=spoken)
        for scene in lesson.scenes:
            for edit in scene.query.get("edits", "").split(";"):
                assert not edit or parse_edit(edit)
            assert not open_scene(app, scene).exception, scene.title
            if scene.sentence:
                assert app.text_input(key="sentence").value == scene.sentence


@pytest.mark.parametrize(("spoken", "name"), [each for each in VERSIONS if each[0] != "en"])
def test_a_version_in_another_language_has_the_same_scenes_and_numbers(spoken: Language, name: str) -> None:
    lesson = lessons()[name].lesson
    with speaking(spoken):
        version = lessons()[name].lesson
    assert lesson
    assert version
    assert list(differences(lesson, version, spoken)) == []
    for one, other in zip(lesson.scenes, version.scenes, strict=True):
        assert numbers_of(other, spoken) == numbers_of(one, "en"), other.title
        assert (other.text != one.text, other.notes != one.notes) == (bool(one.text), bool(one.notes)), other.title


def numbers_of(scene: LessonScene, spoken: Language) -> list[str]:
    """Those with decimals that a scene names, such as 0.991, each with a point."""
    point = signs(spoken).get(".", ".")
    found = re.findall(rf"\d+{re.escape(point)}\d+", f"{scene.title} {scene.text} {scene.notes}")
    return sorted(each.replace(point, ".") for each in found)


def saved(app: AppTest) -> str:
    """What the window Save as scene shows."""
    (button,) = [each for each in app.button if each.label.startswith("Save as scene")]
    button.click().run()
    assert not app.exception
    return str(app.code[-1].value)


STATES: dict[str, dict[str, Any]] = {
    "translate": {"kind": "encoder", "layer": 2, "head": 3, "translate_form": "matrix"},
    "steps": {"at": "decoder.layers.0.self_attention.mask", "t": 2},
    "attention": {"kind": "decoder", "pinned": ("decoder", 2, 1, True), "threshold": 0.5},
    "hand": {"written": "softmax", "t": 1, "k": 2},
    "multihead": {"matrix": "value", "layer": 1},
    "masks": {"mask_taken": True, "mask_cell": (1, 3)},
    "positions": {"picture": "kinds", "shuffle": 5},
    "residual": {"stream": "decoder", "t": 2},
    "scaling": {"d_k": 128},
    "decoding": {"part": "tree", "node": (1, 0), "given": "Ja & nein; 50 % ü?", "beam": 2},
    "training": {"epsilon": 0.2, "run_sentence": "a b"},
    "models": {"measure": "chrf"},
    "whatif": {"experiment": "masks", "edits": ("off=cross.1.1", "off=encoder.1.2")},
    "compare": {"side": "sentence", "compared_sentence": "another cat"},
    "beside": {"beside_page": "masks"},
    "lessons": {},
}


@pytest.mark.parametrize(
    "page", [page if len(STATES[page]) > 1 else pytest.param(page, marks=pytest.mark.soak) for page in PAGES]
)
def test_a_page_saved_as_a_scene_opens_in_the_same_state(open_app: Open, page: str) -> None:
    app = open_app(page, sentence="the cat sat: on the mat", checkpoint="small" if page == "masks" else "en-de")
    choose(app, details=True, **STATES[page]).run()
    text = saved(app)
    found = read_lesson(f"# A lesson\nminutes: 1\n\n{text}".encode(), ("en-de", "small"))
    assert found.mistakes == ()
    assert found.lesson is not None
    (scene,) = found.lesson.scenes
    assert scene.page == page
    again = open_scene(choose(open_app("lessons", sentence="a dog", beam="3"), layer=2).run(), scene)
    assert not again.exception
    assert again.query_params == app.query_params
    assert again.text_input(key="sentence").value == "the cat sat: on the mat"
    assert {key: again.session_state[key] for key in STATES[page]} == STATES[page]
    assert components(again, "copy_link")[0]["texts"] == components(app, "copy_link")[0]["texts"]
