"""The precision "auto" is measured once, when a run starts, and kept when it is resumed."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.support.small_training import metadata, toy_recipe
from transformer.config import TrainingPrecision
from transformer.data.batches import Batch, collate
from transformer.recipe import load_recipe
from transformer.training import precision, run_start, train
from transformer.training.autocast import arithmetic_of, use_tf32
from transformer.training.distributed import Ranks
from transformer.training.precision import TIMES, TOKENS, faster_precision, sixteen_bits
from transformer.training.run_start import with_precision
from transformer.training.update_timing import TimedModel

BATCHES = [collate([[5] * 9] * 500, [[6] * 9] * 500)]  # 5,000 target tokens


@pytest.mark.parametrize(
    ("speed", "chosen", "sizes"),
    [(0.04, "float32", 1), (1.05, "float32", 3), (1.5, "bfloat16", 3), (3.0, "bfloat16", 1)],
)
def test_the_faster_precision_is_chosen_and_a_far_slower_one_costs_little_time(
    speed: float, chosen: str, sizes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    timed: list[int] = []

    def update(model: TimedModel, batch: Batch, precision: TrainingPrecision) -> float:
        timed.append(batch.target_tokens)
        return batch.target_tokens / (800.0 * (speed if precision == "bfloat16" else 1.0))

    monkeypatch.setattr(TimedModel, "update", update)
    found, sentence = faster_precision(toy_recipe(), BATCHES, torch.device("cpu"))
    assert found == chosen
    assert f"Computing in {chosen}: timed were 800 target tokens per second in float32, {800 * speed:,.0f}" in sentence
    assert len(timed) == sizes * 2 * (1 + TIMES)
    assert all(tokens <= TOKENS[number // (2 * (1 + TIMES))] for number, tokens in enumerate(timed))


def test_a_gpu_without_bfloat16_is_timed_in_float16(monkeypatch: pytest.MonkeyPatch) -> None:
    for has, narrow in ((True, "bfloat16"), (False, "float16")):
        monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda including_emulation, h=has: h)
        assert sixteen_bits(torch.device("cuda")) == narrow
        assert sixteen_bits(torch.device("cpu")) == "bfloat16"
    monkeypatch.setattr(precision, "sixteen_bits", lambda device: "float16")
    took = {"float32": 2.0, "float16": 1.0}
    monkeypatch.setattr(TimedModel, "update", lambda model, batch, precision: took[precision])
    found, sentence = faster_precision(toy_recipe(), BATCHES, torch.device("cpu"))
    assert found == "float16"
    assert sentence.startswith("Computing in float16: timed were")


def test_a_device_without_bfloat16_computes_in_float32(monkeypatch: pytest.MonkeyPatch) -> None:
    def update(model: TimedModel, batch: Batch, precision: TrainingPrecision) -> float:
        if precision == "bfloat16":
            raise RuntimeError("not implemented for this device")
        return 1.0

    monkeypatch.setattr(TimedModel, "update", update)
    assert faster_precision(toy_recipe(), BATCHES, torch.device("cpu"))[0] == "float32"


def test_a_resumed_run_keeps_its_precision_and_measures_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(run_start, "faster_precision", lambda *_: ("bfloat16", "measured"))
    recipe = toy_recipe(updates=2, precision="auto")
    train(recipe, tmp_path / "run", device="cpu")
    state = metadata(tmp_path / "run" / "training.safetensors")
    assert state["recipe"]["training"]["precision"] == "bfloat16"
    assert load_recipe(tmp_path / "run" / "recipe.toml").training.precision == "bfloat16"
    monkeypatch.setattr(run_start, "faster_precision", lambda *_: pytest.fail("measured again"))
    longer = replace(recipe, training=replace(recipe.training, updates=4))
    train(longer, tmp_path / "run", resume=True, device="cpu")
    state = metadata(tmp_path / "run" / "training.safetensors")
    assert state["progress"]["update"] == 4
    assert state["progress"]["computed_in"].startswith("bfloat16 on cpu")
    assert "not to the same bits" not in caplog.text


def test_rank_0_decides_for_all_also_where_another_recipe_states_a_precision() -> None:
    class Broadcasting(Ranks):
        def broadcast(self, value: bytes) -> bytes:
            return b"bfloat16"

    data: Any = None
    for stated in ("auto", "float32"):
        recipe = toy_recipe(precision=stated)
        assert with_precision(recipe, data, torch.device("cpu"), None, Broadcasting()).training.precision == "bfloat16"


def test_tf32_is_used_on_gpus_that_have_it(monkeypatch: pytest.MonkeyPatch) -> None:
    setting = torch.backends.cuda.matmul
    before = setting.fp32_precision
    try:
        for capability, used in (((7, 5), before), ((8, 0), "tf32")):
            monkeypatch.setattr(torch.cuda, "get_device_capability", lambda _, c=capability: c)
            use_tf32(torch.device("cuda"))
            assert setting.fp32_precision == used
        assert arithmetic_of(torch.device("cuda"), "float32") == "TF32 on cuda"
        assert arithmetic_of(torch.device("cuda"), "bfloat16") == "bfloat16 on cuda"
        assert arithmetic_of(torch.device("cuda"), "bfloat16", 2) == "bfloat16 on cuda, processes: 2"
    finally:
        setting.fp32_precision = before
