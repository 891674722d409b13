"""When JSON that arrives in fragments is whole."""

import itertools
import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.turn.json_value import JsonValueScanner, is_object

JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def completed_at(text, splits):
    """How many characters had been fed when the scanner first said that the value was complete."""
    scanner = JsonValueScanner()
    cuts = [0, *sorted(splits), len(text)]
    for start, end in itertools.pairwise(cuts):
        if scanner.feed(text[start:end]):
            return end
    return None


@given(st.dictionaries(st.text(), JSON_VALUES, max_size=5), st.booleans(), st.booleans())
def test_an_object_is_complete_exactly_at_its_last_character(value, ascii_only, spaced):
    text = json.dumps(value, ensure_ascii=ascii_only, indent=1 if spaced else None)
    assert completed_at(text, range(1, len(text))) == len(text)


@given(JSON_VALUES, st.lists(st.integers(0, 60), max_size=6))
def test_any_split_of_a_value_gives_the_same_answer(value, splits):
    text = json.dumps(value)
    scanner = JsonValueScanner()
    cuts = [0, *sorted(min(split, len(text)) for split in splits), len(text)]
    for start, end in itertools.pairwise(cuts):
        scanner.feed(text[start:end])
    assert scanner.complete is isinstance(value, (dict, list, str))


@given(st.text(alphabet='{}[]"\\ a:1,\n', max_size=40), st.lists(st.integers(0, 40), max_size=6))
def test_any_split_of_any_text_gives_the_same_answer(text, splits):
    whole = JsonValueScanner()
    whole.feed(text)
    pieces = JsonValueScanner()
    cuts = [0, *sorted(min(split, len(text)) for split in splits), len(text)]
    for start, end in itertools.pairwise(cuts):
        pieces.feed(text[start:end])
    assert pieces.complete is whole.complete


@pytest.mark.parametrize(
    "text",
    ["", " ", "{", '{"a":', '{"a":"}', '{"a":"\\"}', '{"a":"\\\\\\"}', '{"a":[1,2}', "12", "true", '"open'],
)
def test_what_shows_no_end_is_not_complete(text):
    assert JsonValueScanner().feed(text) is False


def test_brackets_and_quotes_inside_strings_do_not_count():
    text = '{"a":"}]\\"{[","b\\\\":"\\\\"}'
    assert completed_at(text, range(1, len(text))) == len(text)


def test_text_after_the_end_changes_nothing():
    scanner = JsonValueScanner()
    assert scanner.feed("{}") is True
    assert scanner.feed("{{{") is True


def test_scanning_takes_time_in_proportion_to_the_text():
    def seconds(size):
        text = '{"a":"' + 'x\\"y' * size + '","b":[' + '{"c":1},' * size + "0]}"
        best = 9.0
        for _ in range(3):
            scanner = JsonValueScanner()
            started = time.process_time()
            for position in range(0, len(text), 50):
                scanner.feed(text[position : position + 50])
            best = min(best, time.process_time() - started)
            assert scanner.complete
        return best

    assert seconds(40_000) < 20 * seconds(5_000)


@pytest.mark.parametrize(
    "text", ["{}", ' {"a": [1, null]}\n', '{"a":"\\ud800"}', '{"a":123456789012345678901234567890}']
)
def test_an_object_is_an_object(text):
    assert is_object(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "null",
        "1",
        '"{}"',
        "[{}]",
        "{}{}",
        "{} x",
        '{"a":}',
        '{"a":NaN}',
        "{'a':1}",
        '{"a":"x',
        "{]",
        '{"a":' * 99999,
    ],
)
def test_anything_else_is_not(text):
    assert not is_object(text)
