"""The container image cannot be built here; its steps are run: what is copied exists, and the app starts from it."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from fnmatch import fnmatch
from pathlib import Path

from tests.support.browser_driver import wait_for_app
from tests.support.free_port import free_port
from tests.support.patience import PATIENCE
from tests.support.raw_client import Tab, ask

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "app" / "deployment"
CONTAINERFILE = (FOLDER / "Containerfile").read_text(encoding="utf-8")
STEPS = [line.partition(" ")[::2] for line in CONTAINERFILE.splitlines() if line and not line.startswith("#")]
PAGE = (FOLDER / "README.md").read_text(encoding="utf-8")


def of(step: str) -> list[str]:
    """The arguments of all steps of a kind."""
    return [text.strip() for name, text in STEPS if name == step]


def test_the_app_starts_from_what_the_image_has_with_its_command(tmp_path: Path, folder: Path) -> None:
    """In a folder with the copied files only. Small checkpoints stand for those that ship."""
    for text in of("COPY"):
        *sources, target = text.split()
        for source in sources:
            assert (ROOT / source).exists()
            if source in ("app", "transformer"):
                ignored = shutil.ignore_patterns("__pycache__")
                shutil.copytree(ROOT / source, tmp_path / target, symlinks=True, ignore=ignored)
    shutil.copytree(folder, tmp_path / "pretrained")
    port = str(free_port())
    (entry,), (health,), (exposed,) = of("ENTRYPOINT"), of("HEALTHCHECK"), of("EXPOSE")
    python, *command = json.loads(entry)
    check = json.loads(health.removeprefix("CMD "))
    assert python == check[0] == "python"
    assert f":{exposed}/_stcore/health" in check[2]
    variables = dict(pair.split("=") for line in of("ENV") for pair in shlex.split(line))
    known = {name: value for name, value in os.environ.items() if not name.startswith("HEADLIGHT_")}
    options = ["--server.port", port, "--server.allowedHosts", "class.example"]
    with (tmp_path / "log").open("w") as log:
        process = subprocess.Popen(
            [sys.executable, *command, *options], cwd=tmp_path, env=known | variables, stdout=log, stderr=log
        )
    try:
        address = f"http://127.0.0.1:{port}"
        wait_for_app(f"{address}/_stcore/health", process, tmp_path / "log")
        subprocess.run([sys.executable, "-c", check[2].replace(exposed, port)], check=True, timeout=PATIENCE)
        behind = {"Host": "class.example", "X-Forwarded-Proto": "https", "Accept": "text/html"}
        status, headers, _ = ask(address, "/", behind)
        assert (status, headers["Set-Cookie"].endswith("; Secure")) == (200, True)
        with Tab(address, host="class.example", origin="https://class.example") as tab:
            assert not tab.opens_start_of_training()
    finally:
        process.terminate()
        process.wait(PATIENCE)


def test_the_page_names_what_exists() -> None:
    for link in re.findall(r"\]\((?!https?:)([^)#]+)\)", PAGE):
        assert (FOLDER / link).exists(), link
    code = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "app").rglob("*.py"))
    named = set(re.findall(r"HEADLIGHT_[A-Z_]+", PAGE + CONTAINERFILE))
    assert named
    assert not [name for name in named if name not in code]
    assert "app/deployment/Containerfile" in PAGE


# In the repository, and of no use in the image: tests, and what describes and builds the project.
LEFT_OUT = {".ci", ".dockerignore", ".gitignore", "README.md", "pyproject.toml", "tests"}


def copied() -> set[str]:
    return {source for text in of("COPY") for source in text.split()[:-1]}


def is_ignored(path: str, pattern: str) -> bool:
    """By a pattern of .dockerignore: `name`, `folder/name`, or `**/name` in any folder."""
    parts, wanted = path.split("/"), pattern.removeprefix("**/").split("/")
    if pattern.startswith("**/"):
        return any(fnmatch(part, *wanted) for part in parts)
    return all(map(fnmatch, parts, wanted)) and len(parts) >= len(wanted)


def test_the_image_has_all_that_the_app_uses_and_nothing_that_only_this_folder_has() -> None:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    tracked = listed.splitlines()
    assert {path.partition("/")[0] for path in tracked} == copied() | LEFT_OUT
    needs = re.compile(r"^\s*(?:from|import) (?:tests|\.ci)\b", flags=re.M)
    assert not [path for path in tracked if path.startswith(("app/", "transformer/")) and path.endswith(".py")
                and needs.search((ROOT / path).read_text(encoding="utf-8"))]  # fmt: skip
    patterns = (ROOT / ".dockerignore").read_text(encoding="utf-8").split()
    assert not [path for path in tracked for pattern in patterns if is_ignored(path, pattern)]
    for line in (ROOT / ".gitignore").read_text(encoding="utf-8").split():
        pattern = line[1:].strip("/") if line.startswith("/") else f"**/{line.strip('/')}"
        assert pattern in patterns, f"git ignores {line}, and the image would have it"
