"""The text inside wrapped arguments, however they are cut into fragments."""

from __future__ import annotations

import itertools
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.surfaces import freeform
from app.surfaces.responses.custom_input import CustomInput


def told(fragments: list[str]) -> list[str]:
    """What each fragment, and then the end, adds."""
    reader = CustomInput()
    said = [reader.feed(fragment) for fragment in fragments]
    said.append(reader.finish())
    assert reader.text == "".join(said)
    return said


@given(st.text(), st.booleans(), st.data())
def test_responses_custom_input_is_the_same_however_it_is_cut(
    text: str, ascii_only: bool, data: st.DataObject
) -> None:
    arguments = json.dumps({"input": text}, ensure_ascii=ascii_only)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(arguments)), max_size=6)))
    edges = [0, *cuts, len(arguments)]
    fragments = [arguments[a:b] for a, b in itertools.pairwise(edges)]

    said = told(fragments)

    whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    assert "".join(said) == whole


def test_responses_custom_input_tells_text_as_it_comes() -> None:
    assert told(['{"input', '": "a', "b", 'c"', "}"]) == ["", "a", "b", "c", "", ""]


def test_responses_custom_input_waits_for_the_rest_of_an_escape() -> None:
    assert told(['{"input":"a\\', "nb\\u00", "fcc", '"}']) == ["a", "\nb", "üc", "", ""]


def test_responses_custom_input_waits_for_the_rest_of_a_surrogate_pair() -> None:
    assert told(['{"input":"a\\ud83d', "\\ude00", '"}']) == ["a", "😀", "", ""]


def test_responses_custom_input_replaces_half_a_pair() -> None:
    assert "".join(told(['{"input":"a\\ud83d', 'b"}'])) == "a\N{REPLACEMENT CHARACTER}b"


def test_responses_custom_input_takes_raw_control_characters_and_broken_escapes() -> None:
    assert "".join(told(['{"input":"a\nb\\uzzzzzz"}'])) == "a\nb\\uzzzzzz"


@pytest.mark.parametrize(
    "arguments",
    [
        "",
        "{}",
        "raw text",
        '{"patch":"a"}',
        '{"input":5}',
        '"just a string"',
        '{"input"',
        '{"cmd":"a","input":"b"}',
    ],
)
def test_responses_custom_input_hands_other_shapes_on_as_unwrap_does(arguments: str) -> None:
    for fragments in ([arguments], list(arguments)):
        assert "".join(told(fragments)) == (freeform.unwrap(arguments) if arguments else "")


def test_responses_custom_input_cut_in_its_midst_is_what_came() -> None:
    assert "".join(told(['{"input":"abc\\u00'])) == "abc"


@pytest.mark.timeout(5)
@pytest.mark.parametrize(
    "fragments",
    [
        ['{"input":"' + "\\uZ" * 400_000 + '"}'],
        ["x"] * 400_000,
        [" "] * 400_000,
        ['{"input":"', *["a"] * 400_000, '"}'],
    ],
    ids=["broken escapes", "another shape", "blanks", "letters"],
)
def test_responses_custom_input_takes_time_in_proportion(fragments: list[str]) -> None:
    assert len("".join(told(fragments))) > 399_999
