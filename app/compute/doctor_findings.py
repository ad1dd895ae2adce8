"""What the doctor finds, computed once and kept for all sessions."""

from dataclasses import replace

import streamlit as st

from app.compute.cached_results import CACHE_LIFETIME, GATE, observed
from app.compute.subject import Subject
from transformer.analysis import doctor
from transformer.analysis.doctor import CheckpointExamination, Finding, examine_checkpoint
from transformer.decoding.translation import Hypothesis, Translation


@st.cache_data(max_entries=16, ttl=CACHE_LIFETIME, show_spinner=False)
def _checkpoint_examination(subject: Subject) -> CheckpointExamination:
    """The examination of the weights. Edits do not change them, so all edited models of a file share one."""
    return examine_checkpoint(subject.translator)


def findings(subject: Subject, translation: Translation, hypothesis: Hypothesis) -> tuple[Finding, ...]:
    """What the doctor finds in a checkpoint and one of its translations; see `transformer.analysis.doctor`.

    Trap: to look up a cached result, Streamlit hashes all arguments, and for a search tree of a thousand nodes that
    takes longer than the rest of a click (test_the_doctor_runs_once_with_or_without_a_search_tree).
    """
    return _findings(subject, replace(translation, hypotheses=(), tree=()), replace(hypothesis, node=None))


@st.cache_data(max_entries=64, ttl=CACHE_LIFETIME, show_spinner=False)
def _findings(subject: Subject, translation: Translation, hypothesis: Hypothesis) -> tuple[Finding, ...]:
    known = _checkpoint_examination(subject.original)
    own = observed(subject, translation.source_ids, hypothesis.ids).trace
    with GATE:
        return doctor.examine(subject.translator, known, translation, hypothesis, own)
