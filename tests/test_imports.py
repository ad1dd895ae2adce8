"""Data flows one way, and so do imports: a module imports only from its own layer and from those before it.

sentence -> text -> model -> decoding -> trace -> figures -> page
corpus   -> data -> training -> checkpoint
"""

import ast
from collections import Counter
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
# A line may import from itself and from the lines above it. The longest name that fits is that of a module's layer.
LAYERS = """
    transformer.errors transformer.device transformer.kernels transformer.progress_bar
    transformer.files
    transformer.text.normalisation transformer.data.hugging_face_address transformer.data.toy_tasks
    transformer.data.mix_options
    transformer.data.data_options
    transformer.config
    transformer.text
    transformer.model
    transformer.checkpoint
    transformer.data
    transformer.fit_to_corpus
    transformer.recipe_completion
    transformer.recipe transformer.recipe_files
    transformer.analysis.trace transformer.analysis.trace_file transformer.analysis.trace_frame
    transformer.decoding
    transformer.evaluation transformer.required_words transformer.significance
    transformer.training
    transformer.analysis
    transformer.export
    transformer.importing
    transformer.studies
    transformer.commands
    transformer.cli
    transformer
    app.languages
    app.figures
    app.component_address
    app.components
    app.server
    app.library
    app.compute
    app.state
    app.pages
    app.lessons app.library.lessons
    app.stage.text_check
    app.stage.scene app.stage.heads app.stage.canvas_of_scene
    app.classroom
    app.questions app.stage app.take_home
    app.views.shared
    app.views
    app
"""
LAYER = {name: number for number, line in enumerate(LAYERS.strip().splitlines()) for name in line.split()}


def modules() -> dict[str, Path]:
    files = [path.relative_to(ROOT) for package in ("transformer", "app") for path in (ROOT / package).rglob("*.py")]
    return {".".join(path.with_suffix("").parts).removesuffix(".__init__"): path for path in files}


def imports(path: Path, known: dict[str, Path]) -> set[str]:
    """The modules of ours that a file imports, also inside of functions."""
    named: set[str] = set()
    for node in ast.walk(ast.parse((ROOT / path).read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} has a relative import"
            whole = {f"{node.module}.{each.name}" for each in node.names}
            named |= {name if name in known else str(node.module) for name in whole}
        elif isinstance(node, ast.Import):
            named |= {each.name for each in node.names}
    return {name for name in named if name in known and known[name] != path}


def layer(module: str) -> int:
    while module not in LAYER:
        module = module.rpartition(".")[0]
    return LAYER[module]


@pytest.fixture(scope="module")
def graph() -> dict[str, set[str]]:
    known = modules()
    assert len(known) > 200
    return {name: imports(path, known) for name, path in known.items()}


def test_no_import_goes_against_the_flow(graph: dict[str, set[str]]) -> None:
    against = [f"{one} imports {other}" for one, named in graph.items() for other in named if layer(other) > layer(one)]
    assert not against


def test_no_page_imports_another_page(graph: dict[str, set[str]]) -> None:
    def page(module: str) -> str:
        _, _, below = module.partition("app.views.")
        return below.split(".")[0]

    pairs = [(one, other) for one, named in graph.items() for other in named if page(one) and page(other)]
    assert len(pairs) > 50
    assert not [pair for pair in pairs if page(pair[1]) not in ("shared", page(pair[0]))]


def test_there_is_no_import_cycle(graph: dict[str, set[str]]) -> None:
    TopologicalSorter(graph).prepare()  # CycleError names the modules of a cycle


def test_no_two_modules_have_the_same_name() -> None:
    """A page is views/NAME/page.py, the figures that a lecture takes from its details are in the file beside it, and
    `python -m PACKAGE` runs its __main__.py."""
    names = Counter(path.name for path in modules().values())
    assert {name for name, count in names.items() if count > 1} == {
        "__init__.py",
        "__main__.py",
        "figures_of_details.py",
        "page.py",
    }
