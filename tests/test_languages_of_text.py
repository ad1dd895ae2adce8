"""The languages of a corpus: stated, in the names of its files, asked for; never those of another text."""

import pytest

from transformer.data.language_names import languages_of_columns, languages_of_files
from transformer.errors import ConfigError
from transformer.recipe import load_recipe


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("corpus.en-de.tsv", ("en", "de")),
        ("texts/de-en/my-en-fr.tsv.gz", ("en", "fr")),
        ("tatoeba_PT_en_2.tsv", ("pt", "en")),
        ("my.pt-BR-de.tsv", ("pt-BR", "de")),
        ("my-en-zh_CN.tsv.gz", ("en", "zh-CN")),
        ("my.tsv", None),
        ("en-en.tsv", None),
        ("new-data.tsv", None),
        ("my-corpus.tsv", None),
        ("corpus-en-de-no-dups.tsv", ("en", "de")),  # a word after the pair
        ("no-en-de.tsv", ("en", "de")),
        ("en-no.tsv", ("en", "no")),
        ("tatoeba-en-no-2.tsv", ("en", "no")),
        ("my-en.tsv", ("my", "en")),  # Burmese, where nothing else is possible
        ("my-en-no.tsv", ("en", "no")),
        ("de-en-fr.tsv", ("de", "en")),  # three columns
        ("to-be-read-en-de.tsv", ("en", "de")),
        ("news-en-it.de-en.clean.tsv", ("de", "en")),  # alone between two dots
        ("my.pt-BR-en.tsv", ("pt-BR", "en")),
        ("my-pt_BR-en.tsv", ("pt-BR", "en")),
        ("my.pt-BR.tsv", None),
        # Names of OPUS, WMT and IWSLT
        ("Tatoeba.en-fr.en", ("en", "fr")),
        ("OpenSubtitles.en-pt_BR.tsv", ("en", "pt-BR")),
        ("europarl-v7.de-en.de", ("de", "en")),
        ("europarl-v10.de-en.tsv.gz", ("de", "en")),
        ("train.de-en.tsv.gz", ("de", "en")),
        ("train.tags.de-en.de", ("de", "en")),
        ("news-commentary-v15.de-en.tsv", ("de", "en")),
        ("WikiMatrix.v1.de-en.langid.tsv.gz", ("de", "en")),
        ("paracrawl-release5.1.en-de.bicleaner07.txt.gz", ("en", "de")),
        ("newstest2014-deen.tsv", None),
    ],
)
def test_the_name_of_a_file_says_the_languages_of_its_columns(name: str, found: tuple[str, str] | None) -> None:
    assert languages_of_columns(name) == found


@pytest.mark.parametrize(
    ("source", "target", "found"),
    [
        ("a/corpus.en", "b/corpus.de", ("en", "de")),
        ("train-en.txt.gz", "train-de.txt.gz", ("en", "de")),
        ("Tatoeba.en-fr.en", "Tatoeba.en-fr.fr", ("en", "fr")),
        ("OpenSubtitles.en-pt_BR.en", "OpenSubtitles.en-pt_BR.pt_BR", ("en", "pt-BR")),
        ("europarl-v7.de-en.de", "europarl-v7.de-en.en", ("de", "en")),
        ("Corpus-EN.txt", "corpus-DE.txt", ("en", "de")),
        ("one.en", "two.de", None),
        ("source.txt", "target.txt", None),
    ],
)
def test_the_names_of_aligned_files_say_their_languages(source: str, target: str, found: object) -> None:
    assert languages_of_files(source, target) == found


@pytest.mark.parametrize(
    ("overrides", "found"),
    [
        (["data.train=my.fr-it.tsv"], ("fr", "it")),
        (["data.train=my.fr-it.tsv", "data.source_column=2", "data.target_column=1"], ("it", "fr")),
        (["data.train=my.fr", "data.train_target=my.it"], ("fr", "it")),
        (["data.train=my.fr-it.tsv", "data.target_language=nl"], ("fr", "nl")),
        (["data.train=my.tsv", "data.source_language=a", "data.target_language=b"], ("a", "b")),
        (["data.train=elsewhere/wmt14.en-de.tsv"], ("en", "de")),  # the recipe's own text
        ([], ("en", "de")),
    ],
)
def test_languages_are_those_of_the_text(overrides: list[str], found: tuple[str, str]) -> None:
    data = load_recipe("paper-base", overrides).data
    assert (data.source_language, data.target_language) == found


def test_languages_that_nothing_says_are_asked_for_or_are_an_error() -> None:
    """A recipe's languages are of its own text."""
    other = ["data.train=my.tsv", "data.source_language=fr"]
    asked: list[str] = []

    def ask(question: str) -> str:
        asked.append(question)
        return " pt-BR "

    assert load_recipe("multi30k-en-de", other, ask).data.target_language == "pt-BR"
    assert asked == ["Language of the target side, for example en, de or pt-BR"]
    with pytest.raises(ConfigError, match=r"data\.target_language is missing: .* --set data\.target_language=de"):
        load_recipe("multi30k-en-de", other)
    with pytest.raises(ConfigError, match=r"source_language and data\.target_language are missing"):
        load_recipe("own-text", ["data.train=[a.en-de.tsv, b.en-fr.tsv]"])
