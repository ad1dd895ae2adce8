"""The subject: which model the app asks."""

from dataclasses import dataclass, field, replace

import streamlit as st

from app.library.checkpoints import CheckpointFile, load
from app.library.tasks import Task, task_of
from transformer.analysis.edits import AttentionWindow, Edit, MaskCell, MaskOff, edit_text, model_edits
from transformer.config import ModelConfig
from transformer.decoding.translator import Translator
from transformer.model.edited_transformer import EditedTransformer


@dataclass(frozen=True)
class Subject:
    """The model of a checkpoint file, with edits or without. Hashable: what a model computes is cached by its subject.

    Attributes:
        edits: what every pass changes, see `transformer.analysis.edits`.
        texts: the edits as texts. Streamlit's caches compare a dataclass by its fields alone, not by its class (Trap:
            without the texts, two kinds of edits with the same fields would share their results. Test:
            test_edits_of_two_kinds_with_the_same_fields_have_results_of_their_own).
    """

    file: CheckpointFile
    edits: tuple[Edit, ...] = ()
    texts: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "texts", tuple(edit_text(edit) for edit in self.edits))

    def edited(self, *edits: Edit) -> "Subject":
        """The same model with these edits added."""
        return replace(self, edits=(*self.edits, *edits))

    @property
    def translator(self) -> Translator:
        """Raises CheckpointError or OSError if the file cannot be loaded or does not exist any more."""
        return _edited(self) if self.edits else load(self.file)

    def is_edited_at(self, site: str) -> bool:
        """Whether an edit changes what the model computes at this site."""
        model = self.translator.model
        return isinstance(model, EditedTransformer) and site in model.edits

    @property
    def has_causal_mask(self) -> bool:
        """Whether the decoder has its causal mask. Without it, a row of the pass over the whole translation attends to
        later tokens, which a step of decoding does not have yet."""
        return MaskOff("causal") not in self.edits

    @property
    def with_causal_mask(self) -> "Subject":
        """The same with the causal mask, also if an edit takes it away."""
        return replace(self, edits=tuple(edit for edit in self.edits if edit != MaskOff("causal")))

    @property
    def as_in_steps(self) -> "Subject":
        """The same without the edits that let a row of the decoder attend to later tokens. A step of decoding does not
        have these tokens yet, so one pass of this subject computes what the steps of both compute."""
        return replace(self, edits=tuple(edit for edit in self.edits if not _allows_later_tokens(edit)))

    @property
    def window(self) -> int | None:
        """How far self-attention reaches: the window of the model or of an edit, whichever is smaller. None: without
        end."""
        found = [edit.distance for edit in self.edits if isinstance(edit, AttentionWindow)]
        if self.config.attention_window is not None:
            found.append(self.config.attention_window)
        return min(found, default=None)

    @property
    def original(self) -> "Subject":
        """The same without edits."""
        return Subject(self.file)

    @property
    def task(self) -> Task:
        return task_of(self.translator)

    @property
    def config(self) -> ModelConfig:
        return self.translator.model.config


def _allows_later_tokens(edit: Edit) -> bool:
    if isinstance(edit, MaskCell):
        return edit.kind == "decoder" and edit.allowed and edit.key > edit.query
    return edit == MaskOff("causal")


@st.cache_resource(max_entries=64, ttl="30m", show_spinner=False)
def _edited(subject: Subject) -> Translator:
    """Shares the weights of the unedited model. Cached, because some edits need a pass over another sentence first."""
    found = load(subject.file)
    return found.edited(model_edits(subject.edits, found.model))


def release() -> None:
    """Forgets all edited models."""
    _edited.clear()
