"""OpenNMT-py with our weights: a Transformer in PyTorch with a search of its own, in a process and packages of its own.

OpenNMT-py 3.0.4 runs with our torch but wants CTranslate2 before version 4, so it cannot be installed beside what our
tests need; 3.5.1 wants torch before 2.3. Its layers are pre-norm only (see `transformer/model/layers.py`): it can have
the weights of our pre-norm models, not those of the paper's post-norm.

What is asked of it is what its own command `onmt_translate` does with a batch (`Translator.translate_batch`: its cache,
its GreedySearch or BeamSearch), without reading, scoring references, keeping attention, or writing. PAD, UNK and BOS
are forbidden, as they are with us: here by a bias on their logits, for its output layer has one.
"""

import re
import sys
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.support.oracles.process import Process, serve

if TYPE_CHECKING:  # its interpreter need not have what ours has
    from torch import Tensor

    from transformer.model import Transformer

SPECIAL = ["<blank>", "<unk>", "<s>", "</s>"]  # its names for our PAD, UNK, BOS and EOS, in the order of our ids
NEVER = -1e4  # added to the logit of what never comes next
NAMES = {  # ours, as patterns, and its
    r"^output\.": "generator.",
    r"embedding\.tokens": "embeddings.make_embedding.emb_luts.0",
    r"^(\w+)\.norm\.": r"\1.layer_norm.",
    r"^encoder\.layers": "encoder.transformer",
    r"^decoder\.layers": "decoder.transformer_layers",
    r"(encoder.*)self_attention_residual\.norm": r"\1layer_norm",
    r"self_attention_residual\.norm": "layer_norm_1",
    r"cross_attention_residual\.norm": "layer_norm_2",
    r"feed_forward_residual\.norm": "feed_forward.layer_norm",
    r"feed_forward\.hidden": "feed_forward.w_1",
    r"feed_forward\.output": "feed_forward.w_2",
    r"self_attention": "self_attn",
    r"cross_attention": "context_attn",
    r"\.query\.": ".linear_query.",
    r"\.key\.": ".linear_keys.",
    r"\.value\.": ".linear_values.",
    r"attn\.output": "attn.final_linear",
}


class OpenNMT(Process):
    """Use it in a `with` block, which ends the process.

    Args:
        python: path of an interpreter that has OpenNMT-py.
        threads: CPU threads that it computes with.
    """

    def __init__(self, python: str, threads: int):
        super().__init__(python, "tests.support.oracles.opennmt", threads)

    def translate(
        self, path: Path, batches: list[list[list[int]]], beam: int, length: int
    ) -> tuple[float, list[list[int]]]:
        """Batches of sentences of one length, with </s>: seconds, and the best `length` pieces of each sentence.

        Args:
            path: what `save_for_opennmt` wrote.
            beam: 1 is greedy search.
            length: forced, without </s>.
        """
        seconds, outputs = self.ask(path, batches, beam, length)
        return seconds, outputs


def save_for_opennmt(model: "Transformer", path: Path) -> None:
    """The weights of a pre-norm model of ours under OpenNMT-py's names, and the sizes."""
    import torch

    config = model.config
    assert config.norm == "pre"
    assert config.sinusoid_layout == "interleaved"
    weights = {its_name(name): weight for name, weight in model.state_dict().items()}
    weights["generator.bias"] = torch.zeros(config.vocab_size)  # (V)
    weights["generator.bias"][: SPECIAL.index("</s>")] = NEVER
    sizes = {
        name: getattr(config, name)
        for name in ("vocab_size", "encoder_layers", "decoder_layers", "d_model", "d_ff", "heads")
    }
    torch.save({"weights": weights, "sizes": sizes}, path)


def its_name(name: str) -> str:
    """OpenNMT-py's name of a parameter of ours."""
    for ours, its in NAMES.items():
        name = re.sub(ours, its, name)
    return name


def architecture(sizes: dict[str, int], dropout: float = 0.0) -> Any:
    """OpenNMT-py's model. Runs in its process.

    Args:
        dropout: where it has any, but for that of attention weights.
    """
    import onmt
    from torch import nn

    d_model, d_ff, heads = sizes["d_model"], sizes["d_ff"], sizes["heads"]

    def embeddings() -> Any:
        pad = SPECIAL.index("<blank>")
        return onmt.modules.Embeddings(d_model, sizes["vocab_size"], pad, position_encoding=True, dropout=dropout)

    encoder = onmt.encoders.TransformerEncoder(
        num_layers=sizes["encoder_layers"],
        d_model=d_model,
        heads=heads,
        d_ff=d_ff,
        dropout=dropout,
        attention_dropout=0.0,
        embeddings=embeddings(),
        max_relative_positions=0,
        add_qkvbias=True,
    )
    decoder = onmt.decoders.TransformerDecoder(
        num_layers=sizes["decoder_layers"],
        d_model=d_model,
        heads=heads,
        d_ff=d_ff,
        copy_attn=False,
        self_attn_type="scaled-dot",
        dropout=dropout,
        attention_dropout=0.0,
        embeddings=embeddings(),
        max_relative_positions=0,
        aan_useffn=False,
        full_context_alignment=False,
        alignment_layer=-1,
        alignment_heads=0,
        add_qkvbias=True,
    )
    model = onmt.models.NMTModel(encoder, decoder)
    model.generator = nn.Linear(d_model, sizes["vocab_size"])
    return model


def build(sizes: dict[str, int], weights: "dict[str, Tensor]") -> Any:
    """The same in eval mode, with these weights."""
    model = architecture(sizes)
    missing, unexpected = model.load_state_dict(weights, strict=False)
    assert not unexpected, unexpected
    assert all(name.endswith("pe.pe") for name in missing), missing  # positions, which it computes
    return model.eval()


def main(threads: int) -> None:
    """The process."""
    warnings.simplefilter("ignore", FutureWarning)  # of what torch will no longer have: this torch still has it
    import pyonmttok
    import torch
    from onmt.translate import GNMTGlobalScorer
    from onmt.translate.translator import Translator

    torch.set_num_threads(threads)
    models: dict[str, tuple[Any, Any]] = {}

    def load(path: str) -> tuple[Any, Any]:
        saved = torch.load(path)
        pieces = [*SPECIAL, *(str(id) for id in range(len(SPECIAL), saved["sizes"]["vocab_size"]))]
        return build(**saved), pyonmttok.build_vocab_from_tokens(pieces)

    def answer(path: str, batches: list[list[list[int]]], beam: int, length: int) -> Any:
        if path not in models:
            models[path] = load(path)
        model, vocabulary = models[path]
        translator = Translator(
            model,
            {"src": vocabulary, "tgt": vocabulary},
            min_length=length,
            max_length=length,
            beam_size=beam,
            random_sampling_topk=int(beam == 1),  # of the best one: its GreedySearch
            global_scorer=GNMTGlobalScorer(alpha=0.0, beta=0.0, length_penalty=None, coverage_penalty=None),
            report_score=False,
        )
        outputs = []
        start = time.perf_counter()
        for batch in batches:
            source = torch.tensor(batch)[..., None]  # (B, S, 1)
            lengths = torch.full((len(batch),), source.shape[1])  # (B)
            found = translator.translate_batch({"src": source, "srclen": lengths}, attn_debug=False)["predictions"]
            outputs += [best[0].tolist() for best in found]
        return time.perf_counter() - start, outputs

    serve(answer)


if __name__ == "__main__":
    main(int(sys.argv[1]))
