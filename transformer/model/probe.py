"""The probe: one mechanism to record and to change what the model computes.

Every intermediate that the paper names is a *site* with a dotted name: `encoder.layers.0.self_attention.weights`. In
the code a site is one expression that names a tensor, records it, and may return an edited one:

    weights = probe("weights", softmax(masked_scores))

A probe is an argument of `forward` and belongs to one call. Nothing is kept on the modules, so two users of one cached
model never affect each other. Without a probe the argument is `NULL_PROBE`, a null object that is false and at whose
sites nothing happens: the code needs no `if` at each site, and `torch.compile` sees one graph without sites.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from fnmatch import fnmatchcase

from torch import Tensor

from transformer.errors import HeadlightError

SiteEdit = Callable[[Tensor], Tensor]


class StepwiseEdit(ABC):
    """An edit that acts differently in a decoding step: there the tensor has only the row of the newest query, while in
    a pass over all positions it has one row per query (Q)."""

    @abstractmethod
    def __call__(self, value: Tensor) -> Tensor:
        """Edits a tensor in a pass over all positions."""

    @abstractmethod
    def in_step(self, position: int) -> SiteEdit:
        """The edit for the step of a position of the decoder, counted from 0."""


def in_step(edit: SiteEdit, position: int) -> SiteEdit:
    """An edit as it is applied in the decoding step of a position, counted from 0."""
    return edit.in_step(position) if isinstance(edit, StepwiseEdit) else edit


@dataclass(frozen=True)
class InOrder(StepwiseEdit):
    """Several changes at one site, one after the other."""

    changes: tuple[SiteEdit, ...]

    def __call__(self, now: Tensor) -> Tensor:
        """In a pass over all positions."""
        for change in self.changes:
            now = change(now)
        return now

    def in_step(self, position: int) -> SiteEdit:
        """In a decoding step."""
        return InOrder(tuple(in_step(change, position) for change in self.changes))


def depends_on_padding(site: str, edit: SiteEdit) -> bool:
    """Whether an edit of a site may change a sentence in another way if the sentence is padded: it orders positions,
    padding included, or lets a query attend to a key that may be padding. Removing the padding mask itself does not
    count: that padding then changes the result is what it shows."""
    changes = edit.changes if isinstance(edit, InOrder) else (edit,)
    of_cells = site.endswith(".mask") and any(isinstance(change, StepwiseEdit) for change in changes)
    return site.endswith(".positions") or of_cells


class BaseProbe:
    """What the model calls at each site. This base class records and edits nothing: every site is the identity."""

    def __call__(self, name: str, value: Tensor) -> Tensor:
        return value

    def at(self, *path: object) -> "BaseProbe | Probe":
        """The probe for a part of the model."""
        return self

    def in_step(self, position: int) -> "BaseProbe | Probe":
        """The probe for the decoding step of a position, counted from 0."""
        return self

    def is_probed(self, name: str) -> bool:
        """Whether a site is recorded or edited."""
        return False

    def __bool__(self) -> bool:
        return False


NULL_PROBE = BaseProbe()


class Probe(BaseProbe):
    """Records sites and edits them, during one forward pass.

    Args:
        sites: the names of all sites, from `transformer.model.site_census.census`. Patterns are resolved once, here.
        record: names or shell patterns (`decoder.layers.*.cross_attention.weights`).
        edits: name or pattern -> pure function of the tensor. A site is edited before it is recorded, so the
            model continues with what is recorded (except `probabilities`, which it does not use further). An edit must
            keep the shape, but may turn a batch of one row into one of several.

    Raises:
        HeadlightError: a pattern matches no site; the message names the nearest ones. An edit changed a shape.

    `records` maps the name of each recorded site to its tensor after edits, with the batch axis and on the model's
    device.
    """

    def __init__(self, sites: Iterable[str], record: Iterable[str] = (), edits: Mapping[str, SiteEdit] | None = None):
        names = list(sites)
        self.records: dict[str, Tensor] = {}
        self._recorded = frozenset(name for pattern in record for name in resolve(pattern, names))
        self._edits: dict[str, tuple[SiteEdit, ...]] = {}
        for pattern, edit in (edits or {}).items():
            for name in resolve(pattern, names):
                self._edits[name] = (*self._edits.get(name, ()), edit)
        self._active = self._recorded | self._edits.keys()
        self._prefix = ""

    def __call__(self, name: str, value: Tensor) -> Tensor:
        site = self._prefix + name
        for edit in self._edits.get(site, ()):
            edited = edit(value)
            if edited.shape != value.shape and (value.shape[0] > 1 or edited.shape[1:] != value.shape[1:]):
                raise HeadlightError(
                    f"An edit of {site} turned the shape {tuple(value.shape)} into {tuple(edited.shape)}. "
                    "An edit must keep the shape."
                )
            value = edited
        if site in self._recorded:
            self.records[site] = value.detach()
        return value

    def at(self, *path: object) -> "BaseProbe | Probe":
        """The same probe for a part of the model: `probe.at("layers", 0)` puts `layers.0.` before each name of a site.

        If no probed site begins with the prefix, it is `NULL_PROBE`, and the code there takes the fast path.
        """
        prefix = self._prefix + "".join(f"{part}." for part in path)
        if not any(site.startswith(prefix) for site in self._active):
            return NULL_PROBE
        below = object.__new__(Probe)
        below.__dict__ = {**self.__dict__, "_prefix": prefix}
        return below

    def after(self, first: "Probe") -> "Probe":
        """This probe, with the edits of `first` applied before its own. The records are those of this probe."""
        sites = first._edits.keys() | self._edits.keys()
        edits = {site: (*first._edits.get(site, ()), *self._edits.get(site, ())) for site in sites}
        joined = object.__new__(Probe)
        joined.__dict__ = {**self.__dict__, "_edits": edits, "_active": self._recorded | sites}
        return joined

    def in_step(self, position: int) -> "Probe":
        """A probe with the same records, for the decoding step of a position, counted from 0."""
        edits = {site: tuple(in_step(edit, position) for edit in edits) for site, edits in self._edits.items()}
        found = object.__new__(Probe)
        found.__dict__ = {**self.__dict__, "_edits": edits}
        return found

    def is_probed(self, name: str) -> bool:
        """Whether this site is recorded or edited. It is asked only where a tensor is computed just for its site."""
        return self._prefix + name in self._active

    def __bool__(self) -> bool:
        return True


def resolve(pattern: str, sites: list[str]) -> list[str]:
    """The sites that a name or shell pattern matches.

    Raises:
        HeadlightError: there is none; the message names the nearest sites.
    """
    found = [site for site in sites if fnmatchcase(site, pattern)]
    if not found:
        nearest = get_close_matches(pattern, sites, n=3, cutoff=0.4)
        hint = f" Nearest: {', '.join(nearest)}." if nearest else ""
        raise HeadlightError(
            f"This model has no site named {pattern!r}.{hint} "
            "`python -m transformer inspect CHECKPOINT` lists them all."
        )
    return found
