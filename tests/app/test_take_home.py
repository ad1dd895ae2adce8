"""What a class takes home: every page is in the file, its numbers are the tensors, and nothing typed becomes markup."""

import base64
import hashlib
import json
import re
import zlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from app.components.bundles import bundle, marked_texts
from app.components.recording import recording
from app.figures.canvas_message import quantised
from app.languages import Language, speaking
from app.lessons.lesson_file import LessonScene
from app.pages import PAGES
from app.take_home.exact_numbers import EXACT
from app.take_home.exercise_sheet import exercise_sheet
from app.take_home.exercises import exercises
from app.take_home.files import trace_file, trace_notebook
from app.take_home.hand_out import HandOut, cell_text, hand_out
from app.take_home.handed_scenes import Handed, handed_scenes, licence, sources
from app.take_home.packed_pictures import component_script
from app.take_home.visit import see
from tests.support.drawn import unpacked_canvas
from tests.support.english_numbers import english_numbers
from transformer.analysis.trace import Trace
from transformer.model.attention_kinds import KINDS, SITES

SENTENCE = "the cat sat on the mat"
HOSTILE = "</script><img src=x onerror=alert(1)> <!--"


@pytest.fixture(autouse=True)
def folder_of_checkpoints(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(folder))


def scene_of(page: str, sentence: str = SENTENCE, title: str = "A title", **query: str) -> LessonScene:
    return LessonScene(title, 1, page, query, "en-de", sentence, "Each row sums to 1.", "only for me", "", 1)


def handed(*scenes: LessonScene) -> list[Handed]:
    return list(handed_scenes(scenes, {}))


def file_of(scenes: list[Handed], title: str = "A lesson") -> str:
    return hand_out(HandOut(title, "For a test.", date(2026, 11, 27), sources(scenes), [one.scene for one in scenes]))


class Page(HTMLParser):
    """Tags, scripts and the cells of tables, as the parser of a browser sees them."""

    def __init__(self, text: str):
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[str, str]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.texts.append((self.tags[-1][0] if self.tags else "", data))

    @property
    def scripts(self) -> list[str]:
        return [text for tag, text in self.texts if tag == "script" and text.strip()]

    @property
    def packed(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(zlib.decompress(base64.b64decode(self.scripts[0])))
        return found

    @property
    def cells(self) -> list[str]:
        return [text for tag, text in self.texts if tag == "td" and text.strip()]


@pytest.mark.parametrize("page", [page.name for page in PAGES])
def test_every_page_is_drawn_for_nobody(page: str) -> None:
    (found,) = handed(scene_of(page))
    assert found.of is not None
    assert found.of.translation.source == SENTENCE
    if page in ("beside", "training", "lessons"):
        assert found.scene.picture is None  # frames of the app; here is no run; words only
    else:
        assert found.scene.picture
        assert found.scene.picture.alt
    assert file_of([found]).count("<section") == 1


def test_what_a_page_shows_late_is_there() -> None:
    found = see("whatif", {"sentence": SENTENCE, "experiment": "heads"})
    assert found
    (switches,) = [one.data for one in found.drawn if one.name == "head_switches"]
    assert switches["change"]


def test_a_figure_that_a_page_does_not_have_leaves_its_picture() -> None:
    found = see("attention", {"sentence": SENTENCE, "figure": "tree"})
    assert found
    assert "canvas" in [one.name for one in found.drawn]


def test_a_visitor_of_a_page_is_not_changed_by_it() -> None:
    with recording() as mine:
        see("translate", {"sentence": SENTENCE})
    assert mine.drawn == []


def test_the_numbers_in_the_file_are_the_tensors() -> None:
    (found,) = handed(scene_of("attention", kind="cross", layer="2", head="3"))
    assert found.of
    page = Page(file_of([found]))
    (picture,), data = page.packed["pictures"], page.packed["data"]
    (canvas,) = [data[each["at"]]["bytes"] for each in picture["components"] if each["name"] == "canvas"]
    _, arrays, _ = unpacked_canvas(base64.b64decode(canvas))
    for kind in KINDS:
        np.testing.assert_array_equal(arrays[kind], quantised(found.of.attention(kind).weights))
    exact, site = picture["exact"], SITES["cross"].format(1)
    assert (exact["kind"], exact["layer"], exact["head"]) == ("cross", 1, 2)
    for name in EXACT[1:]:
        tensor = found.of.record(f"{site}.{name}")[f"{site}.{name}"][2]
        assert base64.b64decode(exact[name]) == tensor.astype("<f4").tobytes()
    weights = found.of.attention("cross").weights[1, 2]  # (T, S)
    assert base64.b64decode(exact["weights"]) == weights.astype("<f4").tobytes()
    rows = np.array(page.cells).reshape(len(weights), -1)[:, 1:]
    np.testing.assert_array_equal(rows.astype(np.float32), weights)


def test_masked_scores_are_minus_infinity() -> None:
    (found,) = handed(scene_of("attention", kind="decoder", layer="1", head="1"))
    assert found.scene.picture
    assert found.scene.picture.exact
    scores = np.frombuffer(base64.b64decode(found.scene.picture.exact["masked_scores"]), "<f4")
    size = int(np.sqrt(len(scores)))
    assert np.isinf(scores.reshape(size, size)[np.triu_indices(size, 1)]).all()


def test_hostile_words_stay_words_and_notes_stay_with_the_presenter() -> None:
    found = handed(scene_of("translate", sentence=HOSTILE, title=HOSTILE), scene_of("steps", sentence=HOSTILE))
    text = file_of(found, title=HOSTILE)
    page = Page(text)
    assert "img" not in {tag for tag, _ in page.tags}
    assert len([tag for tag, _ in page.tags if tag == "script"]) == 2
    assert any(HOSTILE in data for _, data in page.texts)
    assert "only for me" not in text


def test_the_policy_allows_these_scripts_and_no_connection() -> None:
    page = Page(file_of(handed(scene_of("translate"), scene_of("hand"))))
    (policy,) = [attributes["content"] for tag, attributes in page.tags if "http-equiv" in attributes]
    assert policy
    assert policy.startswith("default-src 'none'")
    assert "connect-src" not in policy
    assert "'unsafe-inline'" not in policy.partition("style-src")[0]
    scripts = [*page.packed["scripts"].values(), page.packed["frame"]["script"], page.scripts[1]]
    for script in scripts:
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy
    assert not [attributes for _, attributes in page.tags if "src" in attributes]


def test_equal_data_are_in_the_file_once() -> None:
    one = len(file_of(handed(scene_of("translate"))))
    two = len(file_of(handed(scene_of("translate"), scene_of("translate", title="Again"))))
    assert two - one < 20_000


def test_a_page_that_fails_leaves_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(scene: object) -> None:
        raise RuntimeError("broken")

    monkeypatch.setattr("app.views.hand.page.draw", fails)
    first, second = handed(scene_of("hand"), scene_of("translate"))
    assert first.scene.picture is None
    assert second.scene.picture


def test_the_licence_is_that_of_the_card() -> None:
    card = "# x\n\n| Licence of the data | CC0 ([a](https://b.org)) |\n| Licence of the weights | CC BY 4.0 |\n"
    assert licence(card) == "CC BY 4.0. Data: CC0 (a)"
    assert licence("| Licence | weights MIT |\n") == "weights MIT"
    assert licence("nothing") == "Its card does not name a licence."


@pytest.mark.parametrize("value", [0.1, 1e-30, 1.0, 0.0, 123456.78, 1 / 3, -2.5e-7, 16777216.0])
def test_a_number_is_written_so_that_it_is_read_back(value: float) -> None:
    assert np.float32(cell_text(np.float32(value))) == np.float32(value)
    assert not re.search(r"\d{12}", cell_text(np.float32(value)).replace("0", ""))


def test_the_exercises_are_computed_from_the_tensors() -> None:
    (found,) = handed(scene_of("translate"))
    assert found.of
    hand, *others = exercises([found.of])
    sheet = exercise_sheet("A lesson", date(2026, 11, 27), [], [hand, *others])
    tasks = sheet.split('class="answers"')[0]
    assert hand.answer not in tasks
    assert hand.task.split("“")[0] in tasks
    assert "script-src 'none'" in sheet

    def numbers(column: object) -> np.ndarray:
        return np.array([float(str(each).replace("−", "-")) for each in column])  # type: ignore[attr-defined]

    query = numbers(re.findall(r"−?\d+\.\d", hand.task.split("q = (")[1].split(")")[0]))
    keys = np.stack([numbers(hand.given[f"k{i + 1}"]) for i in range(len(query))], axis=-1)
    scores = numbers(hand.solution[f"q·k / √{len(query)}"])
    np.testing.assert_allclose(keys @ query / np.sqrt(len(query)), scores, atol=0.0051)
    np.testing.assert_allclose(numbers(hand.solution["weight"]), np.exp(scores) / np.exp(scores).sum(), atol=0.00051)
    mask = next(each for each in others if each.title == "The causal mask")
    rows = len(found.of.hypothesis.ids)
    assert mask.answer.startswith(f"{rows * (rows - 1) // 2}.")
    given = next(each for each in others if each.title == "Shapes")
    assert str(found.of.attention("cross").weights.shape[1:]) in given.solution["in numbers"]


def test_a_token_that_occurs_several_times_is_named_with_its_position_and_a_given_one_as_given() -> None:
    (found,) = handed(scene_of("translate"))
    assert found.of
    hand, attended, *_ = exercises([found.of])
    (repeated,) = handed(scene_of("translate", "the the the the"))
    assert repeated.of
    keys = exercises([repeated.of])[0].given["key"]
    assert len(set(keys)) == len(keys) > 2
    assert "The decoder writes “" in hand.task
    assert "while it writes “" in attended.task
    own = {"given": "Das Tier war müde", "alternative": "given"}
    (given,) = handed(scene_of("translate", **own))
    assert given.of
    assert ("German, given", "Das Tier war müde") in given.scene.about
    for each in exercises([given.of])[:2]:
        assert "a translation whose next token is “" in each.task
        assert "writes" not in each.task


def test_a_weight_that_an_edit_sets_is_not_computed_by_hand() -> None:
    (plain,) = handed(scene_of("translate"))
    assert plain.of
    assert exercises([plain.of])[0].title == "One weight by hand"
    layers, heads = plain.of.attention("cross").weights.shape[:2]
    edits = (f"temperature=cross.{layer + 1}.{head + 1}.9" for layer in range(layers) for head in range(heads))
    (edited,) = handed(scene_of("translate", edits=";".join(edits)))
    assert edited.of
    assert "One weight by hand" not in [each.title for each in exercises([edited.of])]


@pytest.mark.parametrize(("edits", "checkpoint"), [("", "en-de"), ("uniform=cross.3.1", "en-de, changed")])
def test_the_notebook_repeats_a_number(
    edits: str, checkpoint: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (found,) = handed(scene_of("translate", **({"edits": edits} if edits else {})))
    assert found.of
    assert bool(found.of.subject.edits) == bool(edits)
    (tmp_path / "lesson.npz").write_bytes(trace_file(found.of))
    cells = json.loads(trace_notebook(str(tmp_path / "lesson.npz"), found.of))["cells"]
    for cell in cells:
        if cell["cell_type"] == "code":
            exec("".join(cell["source"]), {})
    *rows, last = capsys.readouterr().out.splitlines()
    assert len(rows) == len(found.of.source)
    assert float(last.rpartition(":")[2]) < 1e-6
    stored = Trace.load(tmp_path / "lesson.npz")
    assert (stored.sentence, stored.checkpoint) == (SENTENCE, checkpoint)


def test_where_the_tensors_are_too_large_there_is_no_notebook_that_reads_them(
    open_app: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.take_home.files.MOST_BYTES", 0)
    app = open_app(sentence=SENTENCE)
    app.button(key="take_home").click().run()
    assert not app.exception
    assert [each.proto.label for each in app.get("download_button")] == ["Hand-out (HTML)", "Exercises (HTML)"]
    assert any("no file of the tensors" in each.value for each in app.caption)


def test_a_file_is_in_the_language_of_its_maker_and_two_languages_do_not_mix() -> None:
    def made(spoken: Language) -> tuple[str, str, dict[str, str], dict[str, str]]:
        with speaking(spoken):
            found = handed(scene_of("translate"), scene_of("hand"))
            sheet = exercise_sheet("A lesson", date(2026, 11, 7), [], exercises([one.of for one in found if one.of]))
            packed = Page(text := file_of(found)).packed
            texts: dict[str, str] = packed["pictures"][0]["texts"]
            return text, sheet, packed["scripts"], texts | {"about": found[0].scene.about[2][0]}

    with ThreadPoolExecutor(2) as pool:
        english, german, again = pool.map(made, ("en", "de", "en"))
    assert english == again
    assert ('<html lang="en">' in english[0], '<html lang="de">' in german[0]) == (True, True)
    assert "Made</dt><dd>27 November 2026" in english[0]
    assert "Erstellt</dt><dd>27. November 2026" in german[0]
    assert not re.search("Made|Scenes|Numbers:|All numbers|works without", german[0])
    assert ("07 November 2026" in english[1], "7. November 2026" in german[1]) == (True, True)
    assert '<html lang="de">' in german[1]
    assert not re.search("The decoder|: exercises|: answers|>weight<", german[1])
    for each in german[:2]:
        assert english_numbers(re.sub(r"<(script|style)\b.*?</\1>|<[^>]*>", " ", each, flags=re.DOTALL)) == []
    assert (english[3]["about"], german[3]["about"]) == ("Model", "Modell")
    for name, script in german[2].items():
        with speaking("de"):
            assert script == component_script(name)
        texts = marked_texts(bundle(name))
        assert (script != english[2][name]) == bool(texts), name
    assert german[3]["needsApp"].startswith("Das müsste das Modell berechnen")
    assert all(german[3][name] != english[3][name] for name in ("needsApp", "oneHead"))


def test_the_words_of_a_lesson_in_another_language_say_so() -> None:
    (found,) = handed(scene_of("translate"))
    given = HandOut("Leçon", "Pour un essai.", date(2026, 11, 27), [], [found.scene], "fr")
    page = Page(hand_out(given))
    assert [attributes.get("lang") for tag, attributes in page.tags if tag in ("html", "h1", "h2")] == [
        "en",
        "fr",
        "fr",
    ]


def test_a_scene_without_a_sentence_has_that_of_the_scene_before() -> None:
    first, second = handed(scene_of("translate"), scene_of("hand", sentence=""))
    assert first.of
    assert second.of
    assert second.of.translation.source == first.of.translation.source == SENTENCE
