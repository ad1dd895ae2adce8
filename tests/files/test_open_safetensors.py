"""Opening a .safetensors file that a training run replaces at the same time."""

import os
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file

from transformer.files import open_safetensors as module
from transformer.files.open_safetensors import TRIES, open_safetensors


@pytest.mark.parametrize("fails", [True, False])
def test_a_file_that_is_replaced_while_it_is_opened_is_opened_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fails: bool
) -> None:
    path, newer, opened = tmp_path / "run.safetensors", tmp_path / "newer", []
    save_file({"x": torch.zeros(9)}, path)
    save_file({"x": torch.ones(3)}, newer)

    def replaced_in_between(path: Path, framework: str) -> Any:
        file = safe_open(path, framework)
        opened.append(path)
        if newer.exists():
            os.replace(newer, path)
            if fails:  # as torch does
                raise RuntimeError("size 92 is smaller than the required mapping size 116")
        return file

    monkeypatch.setattr(module, "safe_open", replaced_in_between)
    with open_safetensors(path) as file:
        assert file.get_tensor("x").tolist() == [1, 1, 1]
    assert len(opened) == 2


def test_a_file_that_cannot_be_opened_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, tried = tmp_path / "run.safetensors", []
    save_file({"x": torch.zeros(9)}, path)

    def failing(path: Path, framework: str) -> Any:
        tried.append(path)
        raise RuntimeError("the size is smaller")

    monkeypatch.setattr(module, "safe_open", failing)
    with pytest.raises(SafetensorError, match="the size is smaller"), open_safetensors(path):
        pass
    assert len(tried) == TRIES
    monkeypatch.undo()
    path.write_bytes(b"no safetensors")
    with pytest.raises(SafetensorError), open_safetensors(path):
        pass
    with pytest.raises(FileNotFoundError), open_safetensors(tmp_path / "none"):
        pass
