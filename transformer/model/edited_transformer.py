"""An edited model: the weights of another one, and edits that every pass applies.

It can be used like any `Transformer` to translate, trace and score: `forward`, `start` and `step` add the edits to
the probe they are given. The model whose weights it shares is not changed, so both can be used at the same time.
"""

from collections.abc import Mapping

from torch import Tensor, nn

from transformer.model.cache import DecoderState
from transformer.model.probe import NULL_PROBE, BaseProbe, Probe, SiteEdit, depends_on_padding, resolve
from transformer.model.site_census import census
from transformer.model.transformer import Transformer


class EditedTransformer(Transformer):
    """A model with edits.

    Args:
        model: the model whose weights are shared. If it is edited itself, its edits are applied first.
        edits: name or pattern of a site -> pure function of the tensor, see `transformer.model.probe`.

    Raises:
        HeadlightError: a pattern matches no site.
    """

    def __init__(self, model: Transformer, edits: Mapping[str, SiteEdit]):
        nn.Module.__init__(self)
        self.config = model.config
        self.encoder, self.decoder, self.output = model.encoder, model.decoder, model.output
        self.output_bias = model.output_bias
        self._unedited = (model,)  # in a tuple, which nn.Module ignores: each parameter has one name
        self.edits = dict(edits)
        names = list(census(model.config))
        self._edits = Probe(names, edits=edits)
        self.depends_on_padding = model.depends_on_padding or any(
            depends_on_padding(site, edit) for pattern, edit in edits.items() for site in resolve(pattern, names)
        )

    @property
    def training(self) -> bool:
        """Whether it is in training mode. Both models are in the same mode, because they share their modules."""
        return self.unedited.training

    @training.setter
    def training(self, mode: bool) -> None:
        """Called by `nn.Module.train` and `eval`, and by `nn.Module.__init__` before there is a model to share."""
        if "_unedited" in self.__dict__:
            self.unedited.training = mode

    @property
    def unedited(self) -> Transformer:
        """The model whose weights it shares."""
        return self._unedited[0]

    def decoder_output(self, source: Tensor, target: Tensor, probe: BaseProbe = NULL_PROBE) -> Tensor:
        """`Transformer.decoder_output` with the edits: (B, T, D)."""
        return self.unedited.decoder_output(source, target, self._with_edits(probe))

    def predict(self, decoder_output: Tensor, probe: BaseProbe = NULL_PROBE) -> Tensor:
        """`Transformer.predict` with the edits: logits (..., V)."""
        return self.unedited.predict(decoder_output, self._with_edits(probe))

    def start(self, source: Tensor, probe: BaseProbe = NULL_PROBE) -> DecoderState:
        """`Transformer.start` with the edits."""
        return self.unedited.start(source, self._with_edits(probe))

    def step(self, tokens: Tensor, state: DecoderState, probe: BaseProbe = NULL_PROBE) -> Tensor:
        """`Transformer.step` with the edits: logits (R, V)."""
        return self.unedited.step(tokens, state, self._with_edits(probe))

    def _with_edits(self, probe: BaseProbe) -> Probe:
        return probe.after(self._edits) if isinstance(probe, Probe) else self._edits
