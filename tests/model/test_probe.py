"""The probe: what it records, what it may change, and that nothing of it stays in the model."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import torch
from torch import Tensor

from tests.support.small_model import batch, everything, probe_of, randomised, sites, small
from transformer.analysis.edits.rows import Row
from transformer.config import PAD
from transformer.errors import HeadlightError
from transformer.model import NULL_PROBE, EditedTransformer, Probe, Transformer

SELF, CROSS = "decoder.layers.0.self_attention", "decoder.layers.1.cross_attention"


@pytest.fixture
def model() -> Transformer:
    return randomised(small())


def edited(model: Transformer, edits: dict[str, Callable[[Tensor], Tensor]], *patterns: str) -> dict[str, Tensor]:
    probe = Probe(sites(model.config), patterns or ["*"], edits)
    with torch.no_grad():
        model(*batch(), probe)
    return probe.records


def test_the_null_probe_is_false_and_its_sites_are_the_identity() -> None:
    x = torch.randn(2)
    assert not NULL_PROBE
    assert NULL_PROBE("anything", x) is x
    assert NULL_PROBE.at("layers", 0) is NULL_PROBE
    assert NULL_PROBE.is_probed("anything") is False


@pytest.mark.parametrize(
    ("pattern", "nearest"),
    [
        ("encoder.layers.0.self_attention.weight", "encoder.layers.0.self_attention.weights"),
        ("decoder.layers.0.crossattention.scores", "decoder.layers.0.cross_attention.scores"),
        ("encoder.layers.7.self_attention.context", "encoder.layers.0.self_attention.context"),
    ],
)
def test_a_pattern_that_matches_nothing_names_the_nearest_site(pattern: str, nearest: str) -> None:
    for asked in ({"record": ["logits", pattern]}, {"edits": {pattern: torch.neg}}):
        with pytest.raises(HeadlightError) as error:
            Probe(sites(small()), **asked)
        assert repr(pattern) in str(error.value)
        assert nearest in str(error.value)


def test_records_hold_exactly_what_was_asked(model: Transformer) -> None:
    for patterns in (["logits"], ["*"], ["encoder.layers.*.weights", "probabilities"], [f"{CROSS}.head_outputs"], []):
        names = {name for pattern in patterns for name in sites(model.config) if matches(name, pattern)}
        probe = probe_of(model, *patterns)
        model(*batch(), probe)
        assert probe.records.keys() == names
        assert not any(record.requires_grad for record in probe.records.values())


def matches(name: str, pattern: str) -> bool:
    start, star, end = pattern.partition("*")
    return name.startswith(start) and name.endswith(end) if star else name == pattern


def test_an_edited_site_is_recorded_only_on_request_and_as_edited(model: Transformer) -> None:
    assert edited(model, {f"{SELF}.context": torch.zeros_like}, "logits").keys() == {"logits"}
    assert edited(model, {f"{SELF}.context": torch.zeros_like})[f"{SELF}.context"].eq(0).all()


def test_below_a_prefix_without_probed_sites_the_probe_is_the_null_probe() -> None:
    names = [f"decoder.layers.{i}.feed_forward.{site}" for i in range(11) for site in ("hidden", "output")]
    probe = Probe(names, ["decoder.layers.10.feed_forward.hidden"])
    assert probe.at("encoder") is NULL_PROBE
    assert probe.at("decoder", "layers", 1) is NULL_PROBE  # "1." is not the beginning of "10."
    below = probe.at("decoder").at("layers", 10)
    assert below
    assert below.at("cross_attention") is NULL_PROBE
    assert below.at("feed_forward").is_probed("hidden")
    assert not below.at("feed_forward").is_probed("output")


def test_probing_does_not_change_the_result_and_identity_edits_change_no_bit(model: Transformer) -> None:
    records = everything(model, *batch())
    same = edited(model, {"*": lambda x: x.clone()})
    assert all(torch.equal(same[name], record) for name, record in records.items())


def zero_head(head: int) -> Callable[[Tensor], Tensor]:
    return lambda x: torch.cat([x[:, :head], torch.zeros_like(x[:, head : head + 1]), x[:, head + 1 :]], dim=1)


@pytest.mark.parametrize("site", ["weights", "context", "head_outputs"])
def test_zeroing_a_head_removes_exactly_its_output(model: Transformer, site: str) -> None:
    before = everything(model, *batch())
    after = edited(model, {f"{CROSS}.{site}": zero_head(1)})
    written = before[f"{CROSS}.head_outputs"]
    expected = before[f"{CROSS}.output"] - written[:, 1]
    torch.testing.assert_close(after[f"{CROSS}.output"], expected, rtol=0, atol=1e-12)
    assert torch.equal(after[f"{CROSS}.head_outputs"][:, 0], written[:, 0])
    assert after[f"{CROSS}.head_outputs"][:, 1].eq(0).all()
    assert not torch.allclose(after["logits"], before["logits"])
    unwatched = edited(model, {f"{CROSS}.{site}": zero_head(1)}, "logits")
    torch.testing.assert_close(unwatched["logits"], after["logits"], rtol=0, atol=1e-12)


def test_a_cell_of_the_mask_can_be_forbidden_or_allowed(model: Transformer) -> None:
    def setting(cell: tuple[int, ...], value: bool) -> Callable[[Tensor], Tensor]:
        return lambda mask: mask.clone().index_put(tuple(torch.tensor(i) for i in cell), torch.tensor(value))

    before = everything(model, *batch())
    for cell, allowed in (((0, 1, 2, 0), False), ((0, 1, 1, 3), True)):  # batch, head, query, key
        assert before[f"{SELF}.mask"][cell] != allowed
        after = edited(model, {f"{SELF}.mask": setting(cell, allowed)})
        weights = after[f"{SELF}.weights"]
        assert bool(weights[cell] > 0) == allowed
        torch.testing.assert_close(weights.sum(-1), torch.ones_like(weights[..., 0]), rtol=0, atol=1e-12)
        same = torch.ones_like(weights[..., 0], dtype=torch.bool)
        same[cell[:3]] = False
        assert torch.equal(weights[same], before[f"{SELF}.weights"][same])
        moved = (after["logits"] != before["logits"]).any(dim=-1)
        assert moved.any(dim=1).tolist() == [True, False, False]
        assert moved[0, : cell[2]].sum() == 0


def test_a_head_made_uniform_averages_the_values(model: Transformer) -> None:
    after = edited(model, {f"{CROSS}.weights": lambda w: torch.full_like(w, 1 / w.shape[-1])})
    mean = after["decoder.layers.1.cross_attention.value"].mean(dim=2, keepdim=True)
    context = after[f"{CROSS}.context"]
    torch.testing.assert_close(context, mean.expand_as(context), rtol=0, atol=1e-12)


def test_a_sub_layer_knocked_out_leaves_the_residual(model: Transformer) -> None:
    for name in ("encoder.layers.0.self_attention", SELF, CROSS, "decoder.layers.1.feed_forward"):
        after = edited(model, {f"{name}.output": torch.zeros_like})
        assert torch.equal(after[f"{name}.residual_sum"], after[f"{name}.residual_in"])


def test_positions_can_be_swapped(model: Transformer) -> None:
    def swap(x: Tensor) -> Tensor:
        return x[:, [1, 0, *range(2, x.shape[1])]]

    source, target = batch()
    after = edited(model, {"encoder.embedding.positions": swap, "encoder.embedding.tokens": swap})
    expected = everything(model, source, target)["encoder.embedding.output"]
    assert torch.equal(after["encoder.embedding.output"], swap(expected))


@torch.no_grad()
def test_a_record_of_another_pass_can_be_patched_in(model: Transformer) -> None:
    """The encoder's last record carried over into a pass over another source gives the first pass's output."""
    source, target = batch()
    other = source.clone()
    other[:, :3] = (source[:, :3] - 4 + 2) % 9 + 4
    before = everything(model, source, target)
    memory = before["encoder.layers.0.feed_forward.norm_out"]
    probe = probe_of(model, "logits", encoder__layers__0__feed_forward__norm_out=lambda _: memory)
    model(other, target, probe)
    torch.testing.assert_close(probe.records["logits"], before["logits"], rtol=0, atol=1e-12)


@torch.no_grad()
def test_an_edit_of_any_site_reaches_the_logits(model: Transformer) -> None:
    source, target = batch()
    before = everything(model, source, target)
    real = target != PAD
    for name in before.keys() - {"probabilities"}:  # no site is below those
        after = edited(model, {name: lambda x: ~x if x.dtype == torch.bool else x.tanh()}, "logits")["logits"]
        assert not torch.allclose(after[real], before["logits"][real]), name


def test_edits_of_one_site_by_several_patterns_all_take_place_in_order(model: Transformer) -> None:
    after = edited(model, {"logits": lambda x: x * 0 + 1, "log*": lambda x: x + 2})
    assert after["logits"].eq(3).all()


def test_an_edit_that_changes_the_shape_is_refused(model: Transformer) -> None:
    with pytest.raises(HeadlightError, match=r"decoder\.layers\.1\.cross_attention\.weights .* keep the shape"):
        edited(model, {f"{CROSS}.weights": lambda x: x[..., :1]})


@torch.no_grad()
@pytest.mark.parametrize("site", [f"{SELF}.context", f"{CROSS}.mask", "encoder.embedding.output", "logits"])
def test_of_a_batch_with_one_row_an_edit_may_make_more(model: Transformer, site: str) -> None:
    one = [ids[:1] for ids in batch()]

    def logits(edit: Callable[[Tensor], Tensor]) -> Tensor:
        probe = Probe(sites(model.config), ["logits"], {site: edit})
        model(*one, probe)
        return probe.records["logits"]

    both = logits(lambda x: torch.cat([x, torch.zeros_like(x)]))
    torch.testing.assert_close(both, torch.cat([logits(lambda x: x), logits(torch.zeros_like)]))


def test_nothing_remains_on_the_model_after_a_call(model: Transformer) -> None:
    def state() -> list[dict[str, Any]]:
        return [{key: repr(value) for key, value in vars(module).items()} for module in model.modules()]

    before = state()
    edited(model, {f"{SELF}.context": torch.zeros_like})
    with pytest.raises(HeadlightError):
        edited(model, {"logits": lambda x: x[:1]})
    assert state() == before


def test_four_threads_with_probes_of_their_own_never_differ_by_a_bit(model: Transformer) -> None:
    jobs: list[dict[str, Callable[[Tensor], Tensor]]] = [
        {},
        {f"{CROSS}.context": zero_head(0)},
        {f"{SELF}.weights": lambda w: w.flip(1)},
        {"encoder.embedding.positions": torch.zeros_like},
    ]
    expected = [edited(model, job) for job in jobs]
    assert len({str(records["logits"]) for records in expected}) == 4

    def run(i: int) -> bool:
        for _ in range(10):
            records = edited(model, jobs[i])
            if not all(torch.equal(records[name], expected[i][name]) for name in expected[i]):
                return False
        return True

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(run, range(4))) == [True] * 4


@pytest.mark.parametrize("query", [0, 2])
def test_an_edit_of_one_query_is_made_in_the_decoding_step_of_that_query(model: Transformer, query: int) -> None:
    """In a step, the tensor has the row of the newest query only."""
    source, target = batch(padded=False)
    site = f"{SELF}.weights"
    edit = Row(query, 1, lambda weights: weights * 0.5)
    names = sites(model.config)
    with torch.no_grad():
        expected = model(source, target, Probe(names, (), {site: edit}))
        plain = model(source, target)
        for steps_of in (model, EditedTransformer(model, {site: edit})):
            probe = Probe(names, (), {site: edit}) if steps_of is model else NULL_PROBE
            state = steps_of.start(source)
            found = torch.stack([steps_of.step(tokens, state, probe) for tokens in target.T], dim=1)
            torch.testing.assert_close(found, expected)
    assert not torch.allclose(plain[:, query], expected[:, query])


def test_an_edited_model_is_in_the_mode_of_the_model_whose_modules_it_shares() -> None:
    model = randomised(small())
    edited = EditedTransformer(model, {})
    for changed, mode in ((edited, True), (model, False), (model, True), (edited, False)):
        changed.train(mode)
        assert {edited.training, model.training, model.encoder.training} == {mode}
