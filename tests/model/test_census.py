"""The census of sites: names are an interface and must not change by accident; shapes are those of tensors.

After an intended change: `python tests/model/test_census.py` writes the snapshot again.
"""

from pathlib import Path

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.small_model import everything, sites, small
from transformer.config import ModelConfig
from transformer.model import Probe, Transformer, census

SNAPSHOT = Path(__file__).with_name("sites.txt")


def written() -> str:
    lines = []
    for norm in ("post", "pre"):
        lines.append(f"# {norm}-norm, 1 encoder layer, 1 decoder layer")
        for name, shape in census(small(norm=norm, decoder_layers=1)).items():
            lines.append(f"{name} {' '.join(shape)}")
    return "\n".join(lines) + "\n"


def test_names_and_shapes_of_the_sites_are_those_of_the_snapshot() -> None:
    assert written() == SNAPSHOT.read_text(encoding="utf-8")


def test_the_sites_of_the_design_are_all_there() -> None:
    around = ["residual_in", "residual_connection", "residual_sum", "norm_out"]
    feed_forward = ["hidden", "activated", "output"]
    attention = ["query", "key", "value", "scores", "mask", "masked_scores", "weights", "context", "head_outputs",
                 "output"]  # fmt: skip
    names = census(small())
    for stack, layers, kinds in (("encoder", 1, ["self"]), ("decoder", 2, ["self", "cross"])):
        assert all(f"{stack}.embedding.{site}" in names for site in ("tokens", "scaled", "positions", "output"))
        for i in range(layers):
            at = f"{stack}.layers.{i}"
            assert all(f"{at}.{kind}_attention.{site}" in names for kind in kinds for site in [*attention, *around])
            assert all(f"{at}.feed_forward.{site}" in names for site in feed_forward + around)
    assert {"logits", "probabilities"} < names.keys()
    assert ("encoder.norm_out" in names, "decoder.norm_out" in names) == (False, False)
    assert {"encoder.norm_out", "decoder.norm_out"} < census(small(norm="pre")).keys()


@st.composite
def configs(draw: st.DrawFn) -> ModelConfig:
    heads = draw(st.integers(1, 4))
    return ModelConfig(
        vocab_size=draw(st.integers(5, 30)),
        encoder_layers=draw(st.integers(1, 2)),
        decoder_layers=draw(st.integers(1, 2)),
        d_model=heads * 2 * draw(st.integers(1, 4)),
        d_ff=draw(st.integers(1, 20)),
        heads=heads,
        norm=draw(st.sampled_from(["post", "pre"])),
        positions=draw(st.sampled_from(["sinusoidal", "learned", "none"])),
        sinusoid_layout=draw(st.sampled_from(["interleaved", "concatenated"])),
        max_positions=draw(st.integers(8, 20)),
        shared_embeddings=draw(st.booleans()),
        attention_window=draw(st.none() | st.integers(1, 3)),
        causal_training=draw(st.booleans()),
        activation=draw(st.sampled_from(["relu", "gelu", "silu"])),
        attention_dropout=draw(st.sampled_from([0.0, 0.5])),
    )


@settings(max_examples=12)
@given(configs(), st.integers(1, 3), st.integers(1, 8), st.integers(1, 8))
def test_the_census_is_what_a_real_pass_computes(config: ModelConfig, b: int, s: int, t: int) -> None:
    source, target = torch.randint(0, config.vocab_size, (b, s)), torch.randint(0, config.vocab_size, (b, t))
    shapes = census(config)
    probe = Probe(shapes, ["*"])
    with torch.no_grad():
        Transformer(config).eval()(source, target, probe)
    letters = {"B": b, "S": s, "T": t, "H": config.heads, "E": config.d_k, "D": config.d_model, "F": config.d_ff}
    letters["V"] = config.vocab_size
    actual = {name: tuple(record.shape) for name, record in probe.records.items()}
    assert actual == {name: tuple(letters[letter] for letter in shape) for name, shape in shapes.items()}
    assert list(actual) == list(shapes) == sites(config)


def test_the_census_leaves_the_random_numbers_and_the_memory_alone() -> None:
    before = torch.get_rng_state()
    shapes = census(ModelConfig(vocab_size=1_000_000, d_model=16_384, d_ff=65_536, heads=128, encoder_layers=1))
    assert torch.equal(torch.get_rng_state(), before)
    assert shapes["logits"] == ("B", "T", "V")


def test_records_name_everything_that_the_census_names() -> None:
    model = Transformer(small()).eval()
    source, target = torch.full((1, 3), 5), torch.full((1, 2), 5)
    assert list(everything(model, source, target)) == list(census(small()))


if __name__ == "__main__":
    SNAPSHOT.write_text(written(), encoding="utf-8")
