"""All options, with their types, bounds and defaults.

The defaults of the model, of its training and of decoding are the paper's base model. Those of tokenizer and data are
ours: a vocabulary of 8,000 unigram tokens suits little text; the paper has BPE of about 37,000 (section 5.1).

One recipe (a commented TOML file in `recipes/`) fills these classes; a checkpoint stores them as JSON. They
are frozen and refuse unknown keys and values of another type ("32" and true are not numbers), so every section that
exists is valid. What must hold between sections is checked by `transformer.recipe`. The class of [data] is in
data/data_options.py.

Where the paper (v7 of arXiv:1706.03762) and its authors' later code differ, we follow the paper: tensor2tensor later
used pre-norm, dropout inside attention and feed-forward, a doubled learning rate, warm-up 8000 and beta2 0.997.
"""

from typing import Annotated, Literal

from pydantic import Field, StrictBool, StrictFloat, StrictInt, model_validator
from pydantic.dataclasses import dataclass

from transformer.data.data_options import Count, DataConfig
from transformer.files.untrusted_values import STRICT, refuse

# The four special tokens, with the same ids in every vocabulary.
PAD, UNK, BOS, EOS = 0, 1, 2, 3
OF_TRANSLATIONS = ("bleu", "chrf")  # validation scores that need translations
MOST_POSITION_NUMBERS = 2**25  # the most numbers in a table of positions: 128 MiB in float32

Rate = Annotated[StrictFloat, Field(ge=0.0, lt=1.0)]
UpdateNumber = Annotated[StrictInt, Field(ge=0)]
TrainingPrecision = Literal["auto", "float32", "bfloat16", "float16"]  # auto becomes one of the others at the start


@dataclass(frozen=True, config=STRICT, kw_only=True)
class ModelConfig:
    """The architecture (paper, section 3 and table 3). The upper bounds keep a hostile file from claiming memory."""

    vocab_size: Annotated[StrictInt, Field(ge=5, le=1_000_000)]  # V, shared by source and target
    encoder_layers: Annotated[StrictInt, Field(ge=1, le=64)] = 6  # N
    decoder_layers: Annotated[StrictInt, Field(ge=1, le=64)] = 6  # N
    d_model: Annotated[StrictInt, Field(ge=2, le=16_384)] = 512  # D
    d_ff: Annotated[StrictInt, Field(ge=1, le=65_536)] = 2048  # F
    heads: Annotated[StrictInt, Field(ge=1, le=128)] = 8  # H
    norm: Literal["post", "pre"] = "post"  # LayerNorm after the residual sum (the paper) or before the sub-layer
    norm_epsilon: Annotated[StrictFloat, Field(gt=0, le=0.1)] = 1e-6
    positions: Literal["sinusoidal", "learned", "none"] = "sinusoidal"
    sinusoid_layout: Literal["interleaved", "concatenated"] = "interleaved"  # the first is the paper's: positions.py
    max_positions: Annotated[StrictInt, Field(ge=2, le=65_536)] = 1024  # rows of the table of positions
    shared_embeddings: StrictBool = True  # source, target and output share one matrix (section 3.4)
    output_bias: StrictBool = False  # added to the logits: not in the paper; Marian has one
    # r: self-attention is restricted to |q - k| <= r (section 4); None: no restriction
    attention_window: Annotated[StrictInt, Field(ge=1, le=65_536)] | None = None
    # False: in training, every position of the decoder attends to the whole target (to show why the mask is needed)
    causal_training: StrictBool = True
    activation: Literal["relu", "gelu", "silu"] = "relu"
    dropout: Rate = 0.1  # on the output of each sub-layer (section 5.4)
    embedding_dropout: Rate = 0.1  # on the sum of embedding and position (section 5.4)
    attention_dropout: Rate = 0.0  # on attention weights: not in the paper
    activation_dropout: Rate = 0.0  # on feed-forward activations: not in the paper

    @model_validator(mode="after")
    def _consistent(self) -> "ModelConfig":
        uneven = f"d_model {self.d_model} cannot be split evenly over {self.heads} heads"
        odd = f"sinusoidal positions come in pairs of sine and cosine: d_model {self.d_model} is odd"
        large = (
            f"a table of {self.max_positions:,} positions of width {self.d_model:,} is too large: "
            f"max_positions times d_model can be at most {MOST_POSITION_NUMBERS:,}"
        )
        refuse(
            {
                uneven: self.d_model % self.heads != 0,
                odd: self.positions == "sinusoidal" and self.d_model % 2 != 0,
                large: self.max_positions * self.d_model > MOST_POSITION_NUMBERS,
            }
        )
        return self

    @property
    def d_k(self) -> int:
        """E, the width of one head: d_model / h (section 3.2.2)."""
        return self.d_model // self.heads


@dataclass(frozen=True, config=STRICT, kw_only=True)
class TokenizerConfig:
    """How text is cut into tokens; one vocabulary for both languages (section 5.1)."""

    model: str | None = None  # a sentencepiece .model file, or a checkpoint that has one; None: it is trained
    kind: Literal["unigram", "bpe"] = "unigram"
    vocab_size: Annotated[StrictInt, Field(ge=5, le=1_000_000)] = 8000
    byte_fallback: StrictBool = True  # a character outside the vocabulary becomes its UTF-8 bytes: nothing is lost
    character_coverage: Annotated[StrictFloat, Field(ge=0.98, le=1.0)] = 1.0  # sentencepiece takes no less than 0.98
    # Subword sampling in training: alpha, 0 = off. Unigram: the smaller alpha, the more varied (0.3 moderate, 1 mild).
    # BPE: the share of merges that are left out, so the larger, the more varied (0.1 is usual).
    sampling: Annotated[StrictFloat, Field(ge=0.0, le=1.0)] = 0.0
    threads: Annotated[StrictInt, Field(ge=1, le=64)] = 2  # another number gives another unigram vocabulary


@dataclass(frozen=True, config=STRICT, kw_only=True)
class TrainingConfig:
    """Optimizer, schedule and regularisation (section 5), and how often the run is validated and saved."""

    init_from: str | None = None  # a checkpoint, whose weights and vocabulary the run starts with (init_from.py)
    own_vocabulary: StrictBool = False  # with init_from: the vocabulary of this recipe instead
    updates: Count = 100_000
    # passes over the text; they replace `updates`. None: the run ends after `updates`
    epochs: Annotated[StrictFloat, Field(gt=0, le=1_000_000)] | None = None
    seed: Annotated[StrictInt, Field(ge=0, lt=2**32)] = 1
    precision: TrainingPrecision = "auto"  # auto: measured (training/precision.py)
    compile: Literal["auto", True, False] = "auto"  # torch.compile; auto: on a CUDA device (training/compilation.py)
    accumulate: Count = 1  # batches in one update; the loss is divided by the tokens of all of them
    label_smoothing: Rate = 0.1  # epsilon_ls (section 5.4)
    schedule: Literal["inverse_sqrt", "constant", "cosine"] = "inverse_sqrt"  # section 5.3, equation 3
    warmup: Annotated[StrictInt, Field(ge=0)] = 4000  # updates of linear rise
    peak_rate: Annotated[StrictFloat, Field(gt=0)] | None = None  # None: the paper's d_model^-0.5 * warmup^-0.5
    cooldown: Rate = 0.0  # share of the updates, at the end, over which the rate falls to 0 in a straight line
    beta1: Rate = 0.9
    beta2: Rate = 0.98
    adam_epsilon: Annotated[StrictFloat, Field(gt=0)] = 1e-9
    weight_decay: Annotated[StrictFloat, Field(ge=0)] = 0.0  # on weight matrices, never on norms, biases, embeddings
    clip_norm: Annotated[StrictFloat, Field(ge=0)] = 0.0  # 0 = no clipping, as in the paper
    log_every: Count = 50
    validate_every: Count = 1000
    save_every: Count = 500
    validation_sentences: Annotated[StrictInt, Field(ge=0)] = 500  # translated at each validation; 0 = loss only
    # stop after so many validations in a row without improvement, those of the warm-up not counted; 0 = never
    patience: Annotated[StrictInt, Field(ge=0)] = 10
    best_by: Literal["bleu", "chrf", "loss", "accuracy"] = "bleu"  # accuracy: share of tokens ranked first
    keep_best: Annotated[StrictInt, Field(ge=1, le=100)] = 1  # so many checkpoints are kept; several are in best/
    average_last: Annotated[StrictInt, Field(ge=1, le=100)] = 5  # checkpoints averaged at the end (section 6.1)
    half: StrictBool = False  # store the weights of finished checkpoints in half precision
    # write a snapshot (a small checkpoint that shows how the model learns) after these updates; 0 = untrained
    snapshots: Annotated[tuple[UpdateNumber, ...], Field(max_length=100)] = ()

    @model_validator(mode="after")
    def _consistent(self) -> "TrainingConfig":
        needs_warmup = "the inverse square root schedule needs a warmup of at least 1 update (equation 3)"
        needs_rate = f"the {self.schedule} schedule needs a peak_rate, for example 0.0005"
        needs_sentences = f'best_by = "{self.best_by}" needs validation_sentences above 0'
        refuse(
            {
                needs_warmup: self.schedule == "inverse_sqrt" and self.warmup == 0,
                needs_rate: self.schedule != "inverse_sqrt" and self.peak_rate is None,
                needs_sentences: self.best_by in OF_TRANSLATIONS and self.validation_sentences == 0,
            }
        )
        return self


@dataclass(frozen=True, config=STRICT, kw_only=True)
class DecodingConfig:
    """How a translation is searched (section 6.1: beam 4, alpha 0.6, at most 50 tokens longer than the input)."""

    method: Literal["beam", "greedy", "sampling"] = "beam"
    beam: Annotated[StrictInt, Field(ge=1, le=64)] = 4
    length_penalty: Literal["paper", "power", "none"] = "paper"  # ((5 + l) / 6)^alpha, or l^alpha; l counts the </s>
    alpha: Annotated[StrictFloat, Field(ge=0.0, le=5.0)] = 0.6
    max_extra_length: Annotated[StrictInt, Field(ge=0, le=1000)] = 50
    n_best: Annotated[StrictInt, Field(ge=1, le=64)] = 1
    temperature: Annotated[StrictFloat, Field(ge=0.001, le=100.0)] = 1.0  # sampling only, as are the next three
    top_k: Annotated[StrictInt, Field(ge=0)] = 0  # 0 = all tokens
    top_p: Annotated[StrictFloat, Field(gt=0.0, le=1.0)] = 1.0
    seed: StrictInt = 0

    @model_validator(mode="after")
    def _consistent(self) -> "DecodingConfig":
        if self.method == "beam" and self.n_best > self.beam:
            raise ValueError(f"{self.n_best} alternatives cannot come from a beam of {self.beam}: raise beam")
        if self.method == "greedy" and self.n_best > 1:
            raise ValueError(
                f"greedy decoding finds one translation and decoding.n_best is {self.n_best}: "
                "set n_best = 1, or choose beam or sampling"
            )
        return self


@dataclass(frozen=True, config=STRICT, kw_only=True)
class Recipe:
    """All that a training run is made from. `model.vocab_size` may be left out in a recipe file (see `load_recipe`)."""

    model: ModelConfig
    data: DataConfig
    name: str = "unnamed"
    tokenizer: TokenizerConfig = Field(default_factory=TokenizerConfig)
    training: TrainingConfig = Field(default_factory=TrainingConfig)
    decoding: DecodingConfig = Field(default_factory=DecodingConfig)
