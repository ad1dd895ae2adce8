"""Every page opens with a model that was imported from Hugging Face: it has an output bias and two tokenizers."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.support.drawn import components
from tests.support.marian_folder import ENGLISH, marian_folder
from tests.support.pages import MAIN, PAGES, switch_page
from tests.support.patience import PATIENCE
from transformer.decoding.translator import Translator
from transformer.importing.marian_import import import_marian


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one checkpoint."""
    folder = tmp_path_factory.mktemp("imported")
    marian_folder(folder / "model")
    (folder / "checkpoints").mkdir()
    import_marian(folder / "model", folder / "checkpoints" / "opus.safetensors")
    return folder / "checkpoints"


@pytest.mark.parametrize(
    "page", [page if index % 2 else pytest.param(page, marks=pytest.mark.soak) for index, page in enumerate(PAGES)]
)
def test_every_page_opens_with_an_imported_model(page: str, imported: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(imported))
    app = AppTest.from_file(str(MAIN), default_timeout=PATIENCE)
    switch_page(app, page)
    app.query_params["details"] = "true"
    app.query_params["sentence"] = ENGLISH[0]
    app.run()
    assert not app.exception, app.exception[0].message
    assert not app.error
    if page == "translate":
        (line,) = components(app, "translation_line")
        assert line["text"] == Translator.load(imported / "opus.safetensors").translate(ENGLISH[0]).text
