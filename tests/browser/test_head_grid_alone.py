"""The heads of a layer alone in a browser: what the sentences say of the encoder, an edited model and a single head."""

from pathlib import Path
from typing import Any

from playwright.sync_api import expect

from app.stage.scene import Selection, scene_of
from app.views.multihead.head_grid_data import grid_alt, grid_data, layer_of
from tests.support.app_checkpoints import Size, write_checkpoint
from tests.support.canvas_alone import SENTENCE, scene_with
from tests.support.component_alone import draw, mount, sent
from transformer.analysis.edits import parse_edit


def test_the_sentences_about_heads_are_true(browser: Any, tmp_path: Path) -> None:
    page = browser.new_page()
    mount(page, "head_grid")
    says, card = page.locator(".says"), page.get_by_role("radio", name="Head 1 writes")

    scene = scene_with(write_checkpoint(tmp_path / "usual.safetensors"))
    draw(page, grid_data(layer_of(scene, "encoder", 0), 0, 0))
    expect(says).to_contain_text("With all heads the next token is")
    assert "vectors of mean length" in card.get_attribute("title")
    page.get_by_role("radio", name="Only this head").click()
    expect(says).to_contain_text("Its probability is highest with head")

    edited = scene.subject.edited(parse_edit("off=cross.1.1"))
    found = layer_of(scene_of(edited, SENTENCE, scene.translation.settings, Selection()), "cross", 0)
    draw(page, grid_data(found, 0, 0))
    expect(says).to_contain_text("As the model is edited, the next token is")
    assert "a vector of length" in card.get_attribute("title")
    assert "as the model is edited" in grid_alt(found, 0)

    one = scene_with(write_checkpoint(tmp_path / "one.safetensors", Size(1, 1, 1)))
    draw(page, grid_data(layer_of(one, "cross", 0), 0, 0))
    page.get_by_role("radio", name="Only this head").click()
    expect(says).to_contain_text("This layer has one head, so the prediction with it alone is the same.")
    page.close()


def test_the_number_of_a_tapped_cell_stays(browser: Any, tmp_path: Path) -> None:
    context = browser.browser.new_context(has_touch=True)
    page = context.new_page()
    mount(page, "head_grid")
    draw(page, grid_data(layer_of(scene_with(write_checkpoint(tmp_path / "usual.safetensors")), "encoder", 0), 0, 0))
    page.locator(".one svg rect").nth(4).tap()
    expect(page.locator(".pointed")).to_contain_text("” to “")
    context.close()


def test_keys_read_the_numbers_of_the_map(browser: Any, tmp_path: Path) -> None:
    page = browser.new_page()
    mount(page, "head_grid")
    data = grid_data(layer_of(scene_with(write_checkpoint(tmp_path / "usual.safetensors")), "encoder", 0), 0, 0)
    draw(page, data)
    pointed = page.locator(".pointed")
    expect(pointed).to_have_text("")
    page.locator(".one svg").focus()
    page.keyboard.press("ArrowRight")  # begins at the first square
    expect(pointed).to_contain_text(f"“{data['rows'][0]}” to “{data['columns'][0]}”: ")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    expect(pointed).to_contain_text(f"“{data['rows'][1]}” to “{data['columns'][1]}”: ")
    page.close()


def test_heads_are_chosen_by_keys_faster_than_the_page_answers(browser: Any, tmp_path: Path) -> None:
    page = browser.new_page()
    mount(page, "head_grid")
    data = grid_data(layer_of(scene_with(write_checkpoint(tmp_path / "usual.safetensors")), "cross", 0), 0, 0)
    draw(page, data | {"received": 0})
    heads = page.locator(".heads .grid").get_by_role("radio")
    heads.first.focus()
    page.keyboard.press("ArrowRight")
    first = sent(page)[-1]
    page.keyboard.press("ArrowLeft")
    second = sent(page)[-1]
    draw(page, data | {"head": 1, "received": first["number"]})  # the answer to the first
    expect(heads.first).to_have_attribute("aria-checked", "true")
    expect(heads.first).to_be_focused()
    draw(page, data | {"head": 0, "received": second["number"]})
    expect(heads.first).to_be_focused()
    draw(page, data | {"head": 1, "received": second["number"]})  # chosen elsewhere on the page
    expect(heads.nth(1)).to_have_attribute("aria-checked", "true")
    expect(page.locator(".one .title")).to_contain_text("head 2")
    page.close()


def test_a_step_is_reported_once_the_reader_stays_at_it_and_is_not_lost_by_a_choice_in_between(
    browser: Any, tmp_path: Path
) -> None:
    page = browser.new_page()
    mount(page, "head_grid")
    found = layer_of(scene_with(write_checkpoint(tmp_path / "usual.safetensors")), "cross", 0)
    data = grid_data(found, 0, 0) | {"received": 0}
    draw(page, data)
    steps = page.locator(".heads .row").get_by_role("radio")
    page.evaluate("""() => {
        const [steps, heads] = [".row", ".grid"].map(name => document.querySelectorAll(`.heads ${name} [role=radio]`));
        for (const node of [steps[1], steps[2], heads[1]]) node.click();
    }""")
    head = sent(page)[0]
    assert (head["name"], head["index"]) == ("head", 1)
    draw(page, data | {"head": 1, "received": head["number"]})  # the page answers before it has received the step
    expect(steps.nth(2)).to_have_attribute("aria-checked", "true")
    page.wait_for_function("() => sent.length === 2")
    assert [(one["name"], one["index"]) for one in sent(page)] == [("head", 1), ("step", 2)]
    draw(page, data | {"head": 1, "step": 2, "received": sent(page)[-1]["number"]})
    expect(steps.nth(2)).to_have_attribute("aria-checked", "true")
    page.close()
