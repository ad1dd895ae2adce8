"""JSON from files is read more strictly than Python reads it."""

import pytest

from transformer.files.strict_json import check_unicode, parse_json, parse_object


@pytest.mark.parametrize(
    ("text", "where"),
    [
        (r'"\ud800"', r"text = \\ud800: not valid Unicode"),
        (r'{"recipe": {"data": {"source_language": "a\uDC80"}}}', r"recipe\.data\.source_language = a\\udc80: not"),
        (r'{"averaged": ["a", "\ud83d"]}', r"averaged\.1 = \\ud83d: not"),
        (r'{"metrics": {"\udfff": 1}}', r"the name metrics\.\\udfff is not valid Unicode"),
        ('["\udcff"]', r"0 = \\udcff: not valid Unicode"),
        ("[" * 100_000, "nested too deep"),
        ("{", "Expecting"),
        ("9" * 5000, "4300"),
    ],
)
def test_a_string_that_is_not_unicode_is_refused_with_its_place(text: str, where: str) -> None:
    for parse in (parse_json, parse_object):
        with pytest.raises(ValueError, match=where):
            parse(text)


def test_a_pair_of_surrogates_is_a_character_and_an_escaped_backslash_is_not() -> None:
    assert parse_json(r'["\ud83d\ude00", "\\ud800", 1, NaN]')[:3] == ["😀", r"\ud800", 1]
    assert parse_object(r'{"a": "\ud83d\ude00"}') == {"a": "😀"}
    check_unicode({"a": ["😀", 1, None, {"b": "ü"}]})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[]", "not an object"),
        ("3", "not an object"),
        ('{"a": NaN}', "NaN is not JSON"),
        ('{"a": -Infinity}', "-Infinity is not JSON"),
        ('{"a": 1, "b": 1, "a": 2}', "the name a occurs twice"),
        ('{"b": {"a": 1, "a": 1}}', "the name a occurs twice"),
    ],
)
def test_an_object_has_each_name_once_and_only_finite_numbers(text: str, expected: str) -> None:
    with pytest.raises(ValueError, match=expected):
        parse_object(text)
