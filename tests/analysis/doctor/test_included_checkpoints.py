"""The included checkpoints have no findings, except the member of the family without a causal mask."""

import pytest

from app.library.tasks import EXAMPLES
from tests.support.findings import PRETRAINED, named
from transformer.analysis.doctor import diagnose
from transformer.decoding.translator import Translator


@pytest.mark.parametrize(
    ("name", "task"), [("en-de", "en"), ("numbers", "numbers"), ("reverse", "reverse"), ("family-base", "en")]
)
def test_the_doctor_has_no_findings_for_included_checkpoints(name: str, task: str) -> None:
    translator = Translator.load(PRETRAINED / f"{name}.safetensors")
    for sentence in EXAMPLES[task]:
        assert diagnose(translator, sentence) == ()


def test_the_family_member_without_a_causal_mask_has_a_finding() -> None:
    found = diagnose(Translator.load(PRETRAINED / "family-no-mask.safetensors"), EXAMPLES["en"][0])
    assert found[0].name == "no_causal_mask"
    assert {"ignores_source", "loop", "cut"} <= named(found).keys()
