"""What asks for more than a server has is refused with a reason, before anything is computed."""

from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from app.compute import cached_results
from app.compute.subject import Subject
from app.library import checkpoints, limits, uploads
from app.library.checkpoints import CheckpointFile
from app.library.limits import (
    MOST_BEAM,
    MOST_EXTRA_LENGTH,
    MOST_FLOP,
    bounded,
    check_search,
    check_showable,
    check_upload,
)
from app.library.uploads import store_upload
from tests.support.app_checkpoints import write_checkpoint
from transformer.checkpoint.header import Header, read_header
from transformer.config import DecodingConfig, ModelConfig
from transformer.errors import CheckpointError, TranslationError

BASE = ModelConfig(vocab_size=37_000)
BASE_PARAMETERS = 65_000_000


def header_of(**config: Any) -> Header:
    found = ModelConfig(**({"vocab_size": 8000} | config))
    return Header(Path("theirs.safetensors"), 1000, 1, found, None, {}, {})


def test_settings_of_a_checkpoint_are_followed_as_far_as_the_app_goes() -> None:
    usual = DecodingConfig(beam=4, alpha=1.4, max_extra_length=20)
    assert bounded(usual) == usual
    endless = DecodingConfig(beam=64, n_best=64, max_extra_length=1000)
    found = bounded(endless)
    assert (found.beam, found.n_best, found.max_extra_length) == (MOST_BEAM, MOST_BEAM, MOST_EXTRA_LENGTH)


@pytest.mark.parametrize("settings", [DecodingConfig(), DecodingConfig(beam=12), DecodingConfig(method="greedy")])
def test_the_longest_sentence_is_translated_by_the_papers_base_model(settings: DecodingConfig) -> None:
    check_search(BASE, BASE_PARAMETERS, [101], settings)


def test_a_search_that_takes_too_long_is_refused_and_the_message_says_what_to_change() -> None:
    with pytest.raises(TranslationError, match=r"43,488 decoding steps.* up to 3,846 .*Lower the beam or give fewer"):
        check_search(BASE, BASE_PARAMETERS, [101] * 24, DecodingConfig(beam=12))
    with pytest.raises(TranslationError, match=r"Draw fewer translations or give fewer sentences"):
        check_search(BASE, BASE_PARAMETERS, [101] * 24, DecodingConfig(method="sampling", n_best=8))
    with pytest.raises(TranslationError, match=r"Give fewer sentences\."):
        check_search(BASE, BASE_PARAMETERS, [101] * 100, DecodingConfig(method="greedy"))
    with pytest.raises(TranslationError, match=r"Shorten the sentence\."):
        check_search(BASE, 100 * BASE_PARAMETERS, [101], DecodingConfig(method="greedy"))


def test_a_text_of_many_sentences_is_translated_by_a_model_as_those_that_ship() -> None:
    config = replace(BASE, vocab_size=8000, d_model=256, d_ff=1024)
    check_search(config, 13_100_000, [42] * 24, DecodingConfig(beam=4))  # a thousand tokens


def test_a_model_with_more_heads_than_a_page_can_show_is_refused() -> None:
    check_showable(header_of(encoder_layers=6, decoder_layers=6, heads=16, d_model=1024))
    with pytest.raises(CheckpointError, match=r"64 layers of 128 heads.* 1,024 at most"):
        check_showable(header_of(encoder_layers=1, decoder_layers=64, heads=128, d_model=128))


def test_an_upload_is_bounded_by_the_memory_that_it_takes_and_not_by_its_size() -> None:
    check_upload(header_of())
    with pytest.raises(CheckpointError, match=r"1,000,000 tokens\. Together they take about 2.3 GiB .* may take 1 GiB"):
        check_upload(header_of(vocab_size=1_000_000, d_model=2, heads=1))


def test_an_upload_that_is_too_large_is_refused_and_the_same_file_in_the_folder_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    uploads._folder.clear()
    path = write_checkpoint(tmp_path / "own.safetensors", seed=77)
    monkeypatch.setattr(limits, "MOST_UPLOAD_MEMORY", limits.BYTES_PER_PARAMETER * read_header(path).parameters)
    assert checkpoints.load(CheckpointFile.at(path))
    with pytest.raises(CheckpointError, match="may take"):
        checkpoints.load(CheckpointFile.at(store_upload(path.read_bytes())))
    uploads._folder.clear()


def test_the_limits_of_the_app_apply_whatever_search_a_checkpoint_asks_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, open_app: Callable[..., AppTest]
) -> None:
    endless = {"max_extra_length": 1000, "beam": 64, "n_best": 1}
    write_checkpoint(tmp_path / "en-de.safetensors", search=endless, options={"max_positions": 2000})
    seen: list[DecodingConfig] = []
    translate = cached_results.translate

    def watched(subject: Subject, text: str, settings: DecodingConfig, **how: bool) -> Any:
        # A thread of another test may still ask another checkpoint.
        if Path(subject.file.path).parent == tmp_path.resolve():
            seen.append(settings)
        return translate(subject, text, settings, **how)

    monkeypatch.setattr(cached_results, "translate", watched)
    app = open_app()
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(tmp_path))
    app.run()
    assert not app.exception
    assert asdict(seen[-1]) | {"n_best": 0} == asdict(bounded(DecodingConfig(**endless))) | {"n_best": 0}  # type: ignore[arg-type]


def test_a_search_that_is_too_long_is_refused_on_the_page_with_a_reason(
    open_app: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch
) -> None:
    app = open_app()
    monkeypatch.setattr(limits, "MOST_FLOP", MOST_FLOP / 1e5)
    app.text_input(key="sentence").set_value("the cat. " * 12).run()
    assert not app.exception
    assert any("This search could take" in text.value for text in app.text)


def test_sixty_times_one_letter_takes_no_longer_than_a_sentence() -> None:
    """Steps are counted, not seconds: the search ends once a token has been repeated."""
    translator = checkpoints.load(CheckpointFile.at(Path(__file__).parents[2] / "pretrained" / "en-de.safetensors"))
    found = translator.translate("a" * 60, bounded(translator.settings)).sentences[0].hypotheses[0]
    assert len(found.ids) <= 56
    assert found.finished or found.is_loop
