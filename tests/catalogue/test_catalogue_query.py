from __future__ import annotations

import pytest

from app.catalogue.query import Query
from app.turn.faults import FaultKind, TurnFault


def fault_of(query: Query, *spellings: str, high: int | None = 10) -> TurnFault:
    with pytest.raises(TurnFault) as caught:
        query.number(*spellings, low=1, high=high)
    assert caught.value.kind is FaultKind.INVALID_REQUEST
    return caught.value


def test_a_text_is_read_once_and_then_gone() -> None:
    query = Query({"a": ["x"], "b": ["y"]})
    assert (query.text("a"), query.text("a"), query.left) == ("x", None, ["b"])


def test_a_parameter_has_several_spellings() -> None:
    assert Query({"page_size": ["5"]}).number("pageSize", "page_size", low=0) == 5


@pytest.mark.parametrize("parameters", [{"a": ["1", "2"]}, {"a": ["1"], "A": ["1"]}])
def test_a_parameter_that_is_given_twice_is_refused(parameters: dict[str, list[str]]) -> None:
    with pytest.raises(TurnFault) as caught:
        Query(parameters).text("a", "A")
    assert caught.value.problem == "is given more than once"


@pytest.mark.parametrize(("text", "value"), [("1", 1), ("10", 10), ("007", 7)])
def test_a_number_within_its_bounds_is_read(text: str, value: int) -> None:
    assert Query({"limit": [text]}).number("limit", low=1, high=10) == value


@pytest.mark.parametrize("text", ["", "0", "11", "-1", "+1", "1.0", "ten", " 1", "٣", "9" * 5000])
def test_any_other_number_is_refused_with_its_name_and_bounds(text: str) -> None:
    fault = fault_of(Query({"limit": [text]}), "limit")
    assert fault.param == "limit"
    assert fault.problem == f"must be a whole number from 1 to 10, not '{text[:100]}'"


def test_a_number_without_an_upper_bound_says_so() -> None:
    assert fault_of(Query({"n": ["x"]}), "n", high=None).problem == "must be a whole number from 1, not 'x'"


def test_an_absent_number_is_none() -> None:
    assert Query({}).number("limit", low=1) is None


def test_texts_are_all_values_of_all_spellings() -> None:
    assert Query({"a[]": ["y"], "a": ["x"]}).texts("a", "a[]") == ["x", "y"]


def test_a_free_parameter_is_not_left() -> None:
    query = Query({"beta": ["true"], "alt": ["json"]})
    query.free("beta")
    query.free("alt", "json")
    assert query.left == []


def test_a_parameter_that_is_free_with_some_values_is_left_with_others() -> None:
    query = Query({"alt": ["media"]})
    query.free("alt", "json")
    assert query.left == ["alt"]
