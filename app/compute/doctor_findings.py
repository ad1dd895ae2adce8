"""What the doctor finds, computed once and kept for all sessions."""

from dataclasses import replace

import streamlit as st

from app.compute.cached_results import GATE, KEPT, observed
from app.compute.subject import Subject
from transformer.analysis import doctor
from transformer.analysis.doctor import CheckpointExamination, Finding, examine_checkpoint
from transformer.decoding.translation import Hypothesis, Translation


@st.cache_data(max_entries=16, ttl=KEPT, show_spinner=False)
def _checkpoint_examination(subject: Subject) -> CheckpointExamination:
    return examine_checkpoint(subject.translator)


def findings(subject: Subject, translation: Translation, hypothesis: Hypothesis) -> tuple[Finding, ...]:
    """What the doctor finds in a checkpoint and one of its translations; see `transformer.analysis.doctor`.

    Trap: to find again what is kept, Streamlit reads all of its arguments, and a tree of a thousand nodes takes it
    longer than all else that a click does (test_the_doctor_is_asked_once_whether_there_is_a_tree_or_not).
    """
    return _findings(subject, replace(translation, hypotheses=(), tree=()), replace(hypothesis, node=None))


@st.cache_data(max_entries=64, ttl=KEPT, show_spinner=False)
def _findings(subject: Subject, translation: Translation, hypothesis: Hypothesis) -> tuple[Finding, ...]:
    known = _checkpoint_examination(subject)
    own = observed(subject, translation.source_ids, hypothesis.ids).trace
    with GATE:
        return doctor.examine(subject.translator, known, translation, hypothesis, own)
