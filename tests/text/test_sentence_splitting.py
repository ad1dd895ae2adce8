"""Where a text is cut into sentences."""

import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from transformer.text.sentence_splitting import split_sentences

# "|" marks the end of a sentence.
CASES = [
    "Hello. |How are you? |Fine!",
    "Mr. Smith met Dr. J. R. Jones. |They talked.",
    "It costs 3.50 dollars. |That is 1,000.5 too much.",
    "Visit example.com today. |Or not.",
    "He said “Go.” |She went. |(It rained.) |Then it stopped.",
    '"Stop!" he cried. |"Why?" |"Because."',
    "We saw cats, dogs, etc. in the park. |We saw cats, dogs, etc. |They ran.",
    "I use tools, e.g. Python, i.e. the language. |You too?",
    "The U.S. Army left the U.S. |It was late.",
    "We met at 5 p.m. on Monday. |It ended at 6 p.m. |Then we slept.",
    "See No. 5 and Fig. 2. |No. |I won't.",
    "Wait... what? |Well... |Yes.",
    "What?! |No!!! |Really?",
    "So do I. |He does not.",
    "1. Open the door. |2. Close it.",
    "Es war am 3. Mai 2020. |Danach kam der 4. Juni.",
    "Das ist z.B. Herr Dr. Müller, d.h. mein Arzt. |Er kommt bzw. Anna kommt.",
    "Das ist z. B. Wasser. |Nr. 7 lebt.",
    "He was born in 1999. |I was not.",
    "no capital letters here. so this stays one. yes.",
    "今日は。|元気ですか？|はい。",
    "क्या हाल है? |ठीक है।",
    "👋 Hi. |👋 Bye.",
    "one line without an end",
    "First line|Second line.|Third",
    "... And so on.",
]


@pytest.mark.parametrize("case", CASES)
def test_sentences_are_split_as_a_reader_would(case: str) -> None:
    joined = case.replace("line|", "line\n").replace("line.|", "line.\n\n").replace("|", "")
    assert split_sentences(joined) == [sentence.strip() for sentence in case.split("|")]


@pytest.mark.parametrize("separator", ["\n", "\r\n", "\n\n \n", "\u2028", "\u2029", "\x85"])
def test_a_line_break_ends_a_sentence(separator: str) -> None:
    assert split_sentences(f"a heading{separator}then text") == ["a heading", "then text"]


@pytest.mark.parametrize("text", ["", "  ", "\n\n", "\t \r\n"])
def test_empty_text_has_no_sentences(text: str) -> None:
    assert split_sentences(text) == []


SPACES = "\t\x1f\u00a0\u2009\u202f\u3000"


@pytest.mark.parametrize("space", SPACES, ids=ascii)
def test_any_white_space_separates_words(space: str) -> None:
    for case in (*CASES[:20], "Wait. . What?", "A. “. Then. b"):
        plain = case.replace("|", "")
        spaced = [sentence.replace(space, " ") for sentence in split_sentences(plain.replace(" ", space))]
        assert spaced == split_sentences(plain)


@given(st.text() | st.text(st.sampled_from('Aa1.!?…"”) \n。Mr' + SPACES)))
@example("Wait.\u00a0. What?")
def test_a_sentence_is_not_split_again(text: str) -> None:
    for sentence in split_sentences(text):
        assert split_sentences(sentence) == [sentence]


@given(st.text() | st.text(st.sampled_from('Aa1.!?…"”) \n。Mr' + SPACES)))
def test_nothing_is_lost_and_no_sentence_is_empty(text: str) -> None:
    sentences = split_sentences(text)
    assert "".join("".join(sentences).split()) == "".join(text.split())
    assert all(sentence == sentence.strip() != "" for sentence in sentences)


@pytest.mark.parametrize("unit", [".", '."', "A. ", "a. ", "? ", "No. "])
def test_twice_the_text_takes_about_twice_the_time(unit: str) -> None:
    def seconds(times: int) -> float:
        begin = time.process_time()
        split_sentences(unit * times)
        return time.process_time() - begin

    seconds(100)
    assert min(seconds(16_000) for _ in range(2)) < 8 * 2.5 * max(seconds(2_000) for _ in range(3))  # square: 64 times
