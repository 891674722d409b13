"""Custom tools as functions with one string: wrapping, unwrapping, and what is not a wrapping."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.surfaces import freeform


@settings(deadline=None)
@given(st.text())
def test_what_is_wrapped_unwraps_to_itself(text: str) -> None:
    assert freeform.unwrap(freeform.wrap(text)) == text


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ("{}", ""),
        ('{ "input" : "a" }', "a"),
        ('{"input": 5}', '{"input": 5}'),
        ('{"input":"a","more":1}', '{"input":"a","more":1}'),
        ('["a"]', '["a"]'),
        ('{"input":"a', '{"input":"a'),
        ("bare", "bare"),
        ("", ""),
    ],
)
def test_arguments_of_another_shape_are_handed_on_as_they_are(arguments: str, text: str) -> None:
    assert freeform.unwrap(arguments) == text


@pytest.mark.parametrize(("syntax", "what"), [("lark", "lark grammar"), ("regex", "regex expression")])
def test_a_grammar_is_described_in_the_wrapping(syntax: str, what: str) -> None:
    schema = json.loads(freeform.grammar_schema(syntax, "a+"))
    assert schema["properties"]["input"]["description"] == f"Text that conforms to this {what}:\na+"
    del schema["properties"]["input"]["description"]
    assert schema == json.loads(freeform.WRAPPED_SCHEMA)
