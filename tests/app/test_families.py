"""Families of models are drawn as their files say, and a click opens a member that ships."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from app.figures.family_plot import Place, family_alt, family_chart, family_table
from app.languages import speaking
from app.library.catalogue import entry
from app.library.checkpoints import checkpoints
from app.library.families import Member, Value, read_families, shipped_members
from app.library.tasks import Task
from app.views.models.families_section import _clicked
from tests.support.app_checkpoints import Size, write_checkpoint
from tests.support.app_families import REPORT, write_families
from tests.support.drawn import array, chart, charts, checked, open_view, page_text
from tests.support.models_page import opened


@pytest.fixture
def finished_toys() -> dict[str, Any]:
    """A report of toys: three members with two runs each, of which one is in another order than in the paper."""
    heads = REPORT["families"][0]["members"][:3]
    runs = {
        member["member"]: {"runs": [{"beam_4": {"exact_match": share + plus}} for plus in (-0.05, 0.05)]}
        for member, share in zip(heads, (0.8, 0.9, 0.7), strict=True)
    }
    family = {"name": "heads", "option": "model.heads", "members": heads}
    return {"scored_on": "toy:reverse", "prefix": "reverse", "members": runs, "families": [family]}


def test_brackets_are_explained_only_where_there_are_some(shelf: Path) -> None:
    for most, is_explained in ((3, True), (1, False)):
        members = {name: one | {"runs": one["runs"][:most]} for name, one in REPORT["members"].items()}
        (shelf / "families.json").write_text(json.dumps(REPORT | {"members": members}), encoding="utf-8")
        assert ("in brackets the lowest" in page_text(opened(family="heads"))) == is_explained


def test_a_family_is_drawn_as_its_file_says(shelf: Path) -> None:
    write_families(shelf)
    app = opened(family="heads")
    points = chart(app, "BLEU, by heads h")["data"][0]
    members, heads = REPORT["members"], REPORT["families"][0]["members"]
    ours = [members[member["member"]] for member in heads]
    means = [one["mean"]["bleu"] if one["runs"] else np.nan for one in ours]  # no number: no point
    assert array(points["y"]).tolist() == pytest.approx(means, abs=0, nan_ok=True)
    bleus = [[run["beam_4"]["bleu"] for run in one["runs"]] or [np.nan] for one in ours]
    bar = points["error_y"]
    assert array(bar["array"]).tolist() == pytest.approx([max(b) - np.mean(b) for b in bleus], nan_ok=True)
    assert array(bar["arrayminus"]).tolist() == pytest.approx([np.mean(b) - min(b) for b in bleus], nan_ok=True)
    assert "1 to 3 runs each: differences may be chance" in page_text(app)
    figure = chart(app, "BLEU, by heads h")
    assert figure["layout"]["xaxis"]["ticktext"] == ["1", "4", "8", "16"]
    assert [(mark["x"], mark["text"]) for mark in figure["layout"]["annotations"]] == [(3, "not trained")]
    papers = chart(app, "The paper, table 3: BLEU")
    assert array(papers["data"][0]["y"]).tolist() == [member["paper"]["bleu"] for member in heads]
    table = next(table.value for table in app.table if "heads h" in table.value)
    assert list(table["BLEU"]) == ["29.5 (29.2 to 29.8)", "31.2", "31.5 (31.0 to 31.9)", "not trained"]
    assert list(table["BLEU, the paper"]) == ["24.9", "25.5", "25.8", "25.8"]
    assert any("<b>25.5</b>" in text.value for text in app.text)  # as text, and nowhere as markup
    assert not any("<b>" in each.value for each in (*app.markdown, *app.caption))


def test_a_point_and_a_button_open_the_member_that_ships(shelf: Path) -> None:
    write_families(shelf)
    app = opened(family="heads", sentence="the cat sat")
    fills = chart(app, "BLEU, by heads h")["data"][0]["marker"]["color"]
    assert len(set(fills)) == 2  # one ships, the others do not
    assert fills[1] == fills[2] != fills[0]
    app.button(key="open_0_heads_family-heads-1").click().run()
    assert app.selectbox(key="checkpoint").value == "family-heads-1"
    assert app.text_input(key="sentence").value == "the cat sat"
    assert chart(app, "BLEU, by heads h")["layout"]["xaxis"]["ticktext"][0] == "<b>1</b>"
    assert app.button(key="open_0_heads_family-heads-1").disabled


def test_a_click_on_a_point_that_does_not_ship_opens_nothing(shelf: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_families(shelf)
    opened: list[str] = []
    monkeypatch.setattr("app.views.models.families_section.open_checkpoint", opened.append)
    family = read_families(checkpoints())[0]
    for place in (0, 1, 3, 99, -1, None, "0"):
        _clicked(family, place)
    assert opened == ["family-heads-1"]


def test_the_family_and_the_score_are_in_the_address(shelf: Path) -> None:
    write_families(shelf)
    app = opened(family="window", measure="perplexity")
    figure = chart(app, "Perplexity, by attention window r")
    assert figure["layout"]["xaxis"]["ticktext"] == ["1", "unlimited"]
    assert [mark["text"] for mark in chart(app, "The paper, table 3")["layout"]["annotations"]] == ["not in the paper"]
    assert chart(opened(family="none of these"), ", by heads h")


def test_families_with_several_runs_are_drawn_and_those_with_one_run_are_tables_that_say_so(
    shelf: Path, finished_toys: dict[str, Any]
) -> None:
    write_families(shelf)
    (shelf / "toy-families.json").write_text(json.dumps(finished_toys), encoding="utf-8")
    app = opened()
    assert app.selectbox(key="family").options == ["What differs: heads"]
    (drawn,) = [figure for figure in charts(app) if "Exact matches" in json.dumps(figure["layout"]["title"])]
    assert array(drawn["data"][0]["y"]).tolist() == pytest.approx([80.0, 90.0, 70.0])
    assert array(drawn["data"][0]["error_y"]["array"]).tolist() == pytest.approx([5.0] * 3)
    text = page_text(app)
    assert "2 runs each: the bar goes from the lowest to the highest" in text
    assert "Here the order differs (Exact matches): the mean of 4 heads is above that of 8 heads." in text
    assert "Heads, translating: 1 to 3 runs each" in text
    assert "Differences may be chance" in text


def test_a_member_is_compared_with_those_of_its_own_task(shelf: Path, finished_toys: dict[str, Any]) -> None:
    write_families(shelf)
    letters: dict[str, Any] = {"toy": "reverse", "source_language": "letters", "target_language": "letters reversed"}
    for name in ("reverse-heads-1", "reverse-base"):
        write_checkpoint(shelf / f"{name}.safetensors", Size(1, 1, 1), **letters)
    (shelf / "toy-families.json").write_text(json.dumps(finished_toys), encoding="utf-8")

    def names(task: Task | None) -> dict[Value, str]:
        return {value: file.name for value, file in shipped_members("model.heads", task).items()}

    own = entry(checkpoints()["reverse-base"]).task
    assert names(own) == {1: "reverse-heads-1", 8: "reverse-base"}
    assert names(None) == names(replace(own, source="Latin")) == {1: "family-heads-1"}


def test_the_page_heads_leads_to_the_plot_over_heads_where_there_is_one(
    shelf: Path, finished_toys: dict[str, Any]
) -> None:
    def links() -> list[str]:
        found = [element.proto for element in open_view("multihead").get("page_link")]
        return [link.query_string for link in found if "one head" in link.label]

    assert links() == []
    (shelf / "toy-families.json").write_text(json.dumps(finished_toys), encoding="utf-8")
    assert links() == ["family=heads"]


def test_families_of_one_name_from_several_toy_tasks_are_listed_with_their_tasks(
    shelf: Path, finished_toys: dict[str, Any]
) -> None:
    for task in ("copy", "reverse", "sort"):
        report = finished_toys | {"scored_on": f"toy:{task}"}
        (shelf / f"{task}-families.json").write_text(json.dumps(report), encoding="utf-8")
    app = opened(family="heads")
    assert "their task is copy" in page_text(app)
    assert [header.value for header in app.header if "2 runs each" in header.value] == [
        "Heads, reversing letters: 2 runs each",
        "Heads, sort: 2 runs each",
    ]


@pytest.mark.parametrize(
    ("text", "families"),
    [
        ("", []),
        ("[]", []),
        ("{", []),
        ('{"families": 5}', []),
        ('{"families": [5, {"name": 3}, {"name": "heads", "members": [7]}]}', ["heads"]),
        (
            '{"families": [{"name": "x", "option": "y", "members": [{"member": "a", "value": [1]}]}], "members": {"a": '
            '{"mean": {"bleu": NaN, "perplexity": "2"}, "runs": 5}}, "disagreements": [4]}',
            ["x"],
        ),
        ('{"families": [{"name": "x", "members": [{"member": "\\ud800"}]}], "members": {}}', []),
    ],
)
def test_a_file_of_families_that_is_none_breaks_nothing(shelf: Path, text: str, families: list[str]) -> None:
    (shelf / "families.json").write_text(text, encoding="utf-8")
    app = opened()
    found = read_families(checkpoints())
    assert [family.name for family in found] == families
    assert not any(member.ours for family in found for member in family.members)
    assert ("Not trained here. `python -m transformer queue families`" in page_text(app)) == (not families)
    assert ('"text": "not trained"' in json.dumps(charts(app))) == bool(families)


def test_the_figure_of_a_family_begins_at_0_and_has_no_point_for_what_was_not_run() -> None:
    places = [Place("1", 20.0, (19.5, 20.4), 3, True), Place("2", None), Place("unlimited", 25.0, None, 1)]
    figure = family_chart(places, title="t", varies="r", unit="BLEU")
    drawn = checked(figure)
    assert list(drawn.data[0].text) == ["  20.0", "", "  25.0"]
    assert np.isnan(array(figure.data[0]["y"])[1])
    low, high = figure.layout["yaxis"]["range"]
    assert low < 0.0  # so that a small difference looks small
    assert high > 25.0
    assert "20.00 (3 runs from 19.50 to 20.40), 2 not trained" in family_alt(places, "t")
    assert list(family_table(places, "r", "BLEU")["BLEU"]) == [20.0, "not trained", 25.0]
    words = family_chart([Place("sinusoidal", 20.0), Place("<b>", 25.0)], title="t", varies="r", unit="BLEU")
    assert words.layout["xaxis"]["ticktext"][1] == "&lt;b&gt;"
    assert np.isfinite(
        checked(family_chart([Place("1", None)], title="t", varies="r", unit="u")).layout.yaxis.range
    ).all()


def test_the_value_of_a_member_is_written_in_the_language_of_the_visitor() -> None:
    member = Member("smooth", 0.1, {}, {}, 0, "", None)
    with speaking("de"):
        assert member.label == "0,1"
