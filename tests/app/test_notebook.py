"""The canvas in a notebook: its numbers, its text, and the notebook that is documented."""

import base64
import html
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from app.notebook import Canvas
from tests.support.app_checkpoints import write_checkpoint
from transformer import Translator
from transformer.analysis.trace import Trace
from transformer.errors import HeadlightError, TranslationError

ROOT = Path(__file__).parents[2]
HOSTILE = "</script><img src=x onerror=alert(1)> \"' &amp;"


@pytest.fixture(scope="module")
def translator(tmp_path_factory: pytest.TempPathFactory) -> Translator:
    return Translator.load(write_checkpoint(tmp_path_factory.mktemp("checkpoints") / "small.safetensors"))


def page_of(canvas: Canvas) -> str:
    """The page inside the frame."""
    (found,) = re.findall('srcdoc="([^"]*)"', canvas._repr_html_())
    return html.unescape(found)


def test_the_output_of_a_cell_has_the_tensors_and_loads_nothing(translator: Translator) -> None:
    canvas = Canvas(translator, "the cat sat on the mat", layer=2, head=3)
    page = page_of(canvas)
    (data,) = re.findall('<script type="application/json" id="picture">(.*?)</script>', page)
    values: dict[str, Any] = json.loads(data)
    assert [each["name"] for each in values["components"]] == ["canvas", "canvas_channel"]
    exact = np.frombuffer(base64.b64decode(values["exact"]["weights"]), "<f4")
    np.testing.assert_array_equal(exact, canvas.weights("cross")[1, 2].ravel())
    assert not re.search(r"(src|href)=.?https?:", page)
    assert "default-src 'none'" in page


def test_the_picture_can_be_in_german(translator: Translator) -> None:
    page = page_of(Canvas(translator, "the cat sat", language="de"))
    assert '<html lang="de"' in page
    assert "Encoder-Decoder-Attention, Schicht " in page
    assert "Encoder-Decoder-Attention" not in page_of(Canvas(translator, "the cat sat"))


def test_hostile_words_stay_words(translator: Translator) -> None:
    shown = Canvas(translator, HOSTILE)._repr_html_()
    assert shown.count("<") == 2  # the frame and its end
    assert "<img" not in page_of(Canvas(translator, HOSTILE)).replace("\\u003c", "")


def test_an_empty_sentence_is_refused(translator: Translator) -> None:
    with pytest.raises(TranslationError):
        Canvas(translator, " ")._repr_html_()


@pytest.mark.parametrize(("layer", "head"), [(9, 1), (1, 9), (-1, 1), (2, 0), (0, 3)])
def test_a_head_that_does_not_exist_is_refused(translator: Translator, layer: int, head: int) -> None:
    with pytest.raises(HeadlightError, match="attention has layers 1 to 3 and heads 1 to 4"):
        Canvas(translator, "the cat sat", layer=layer, head=head)


def test_the_documented_notebook_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its code cells in order, as Jupyter runs them, on the checkpoint that ships."""
    (tmp_path / "pretrained").symlink_to(ROOT / "pretrained")
    monkeypatch.chdir(tmp_path)
    written = json.loads((ROOT / "app" / "notebook.ipynb").read_text(encoding="utf-8"))
    assert (written["nbformat"], written["nbformat_minor"]) == (4, 5)
    names: dict[str, Any] = {}
    for cell in written["cells"]:
        if cell["cell_type"] == "code":
            exec("".join(cell["source"]), names)
    assert Trace.load("station.npz").sentence == "Where is the station?"
    assert "cross" in names["canvas"]._repr_html_()
    assert "attention" in names["view"].data
