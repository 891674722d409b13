from __future__ import annotations

from pathlib import Path

import pytest

from app.catalogue.models import Catalogue, Model, load_catalogue
from app.settings import SettingsError, load
from app.turn.faults import FaultKind, TurnFault

UPSTREAMS = ("connect", "local")


def catalogue_of(tmp_path: Path, text: str, **switches: str) -> Catalogue:
    file = tmp_path / "models.toml"
    file.write_text(text)
    return load_catalogue(load({"CANDOR_MODELS": str(file), **switches}), UPSTREAMS)


def problem_of(tmp_path: Path, text: str) -> str:
    with pytest.raises(SettingsError) as caught:
        catalogue_of(tmp_path, text)
    start, _, problem = str(caught.value).partition(": ")
    assert start == f"CANDOR_MODELS={str(tmp_path / 'models.toml')!r}"
    return problem


def test_the_default_file_lists_the_models_of_the_fake_upstream_and_a_local_one() -> None:
    catalogue = load_catalogue(load({}), UPSTREAMS)
    assert [(model.id, model.upstream) for model in catalogue.models] == [
        ("fake-echo", "connect"),
        ("fake-tools", "connect"),
        ("fake-tools-3", "connect"),
        ("fake-reasoning", "connect"),
        ("fake-agent", "connect"),
        ("local-echo", "local"),
    ]


def test_what_a_row_does_not_say_has_a_default(tmp_path: Path) -> None:
    (model,) = catalogue_of(tmp_path, '[[model]]\nid = "m"\nupstream = "connect"').models
    assert model == Model("m", "connect", "m", "paid", (), None, None, "candor")


def test_a_row_may_say_everything(tmp_path: Path) -> None:
    text = """
        [[model]]
        id = "m"
        upstream = "local"
        selector = "upstreams-name"
        tier = "free"
        aliases = ["a", "b"]
        context_tokens = 1000
        output_tokens = 100
        owner = "us"
    """
    (model,) = catalogue_of(tmp_path, text).models
    assert model == Model("m", "local", "upstreams-name", "free", ("a", "b"), 1000, 100, "us")


ROW = '[[model]]\nid = "m"\nupstream = "connect"\n'


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "has no [[model]] table"),
        ("[[model]]\n", "a [[model]] has no id"),
        ('[[model]]\nid = ""\nupstream = "connect"', "a [[model]] has no id"),
        ('[[model]]\nid = "m"', "model 'm' names no upstream of connect, local"),
        ('[[model]]\nid = "m"\nupstream = "http"', "model 'm' names no upstream of connect, local"),
        (ROW + 'tier = "gold"', "the tier of model 'm' is neither free nor paid"),
        (ROW + "context = 5", "unknown key 'context' in [[model]]"),
        (ROW + 'output_tokens = "5"', "'output_tokens' of model 'm' has the wrong type"),
        (ROW + "output_tokens = true", "'output_tokens' of model 'm' has the wrong type"),
        (ROW + 'aliases = "a"', "'aliases' of model 'm' has the wrong type"),
        (ROW + ROW, "the name 'm' is given to two models"),
        (ROW + 'aliases = ["m"]', "the name 'm' is given to two models"),
        (ROW + "aliases = [1]", "an alias of model 'm' is not a text"),
        (ROW + 'aliases = [""]', "an alias of model 'm' is not a text"),
        (ROW + "output_tokens = 0", "'output_tokens' of model 'm' is not positive"),
        (ROW + "context_tokens = -1", "'context_tokens' of model 'm' is not positive"),
        ("model = 5", "has no [[model]] table"),
        ("model = [5]", "has no [[model]] table"),
        ('[model]\nid = "m"', "has no [[model]] table"),
    ],
)
def test_a_file_that_cannot_be_meant_stops_the_start(tmp_path: Path, text: str, problem: str) -> None:
    assert problem_of(tmp_path, text) == problem


def test_a_file_that_is_no_toml_stops_the_start(tmp_path: Path) -> None:
    assert "at line 1, column 4" in problem_of(tmp_path, "id m")


def test_a_file_that_is_not_there_stops_the_start() -> None:
    with pytest.raises(SettingsError) as caught:
        load_catalogue(load({"CANDOR_MODELS": "/nowhere/models.toml"}), UPSTREAMS)
    assert str(caught.value) == "CANDOR_MODELS='/nowhere/models.toml': No such file or directory"


CATALOGUE = Catalogue(
    [Model("big", "connect", "big", aliases=("huge", "giant")), Model("small", "local", "small")]
)


@pytest.mark.parametrize(("name", "found"), [("big", "big"), ("giant", "big"), ("small", "small")])
def test_a_model_is_found_by_id_or_alias(name: str, found: str) -> None:
    assert CATALOGUE.resolve(name).id == found


@pytest.mark.parametrize("name", ["Big", "big ", "models/big", "nope"])
def test_any_other_name_is_not_found(name: str) -> None:
    with pytest.raises(TurnFault) as caught:
        CATALOGUE.resolve(name)
    fault = caught.value
    assert (fault.kind, fault.param, fault.code) == (FaultKind.NOT_FOUND, "model", "model_not_found")
    assert fault.problem == f"the model '{name}' does not exist or is not served here"


def test_no_name_is_a_missing_parameter_not_a_missing_model() -> None:
    with pytest.raises(TurnFault) as caught:
        CATALOGUE.resolve("")
    assert (caught.value.kind, caught.value.code) == (FaultKind.INVALID_REQUEST, "missing_required_parameter")


def test_unknown_names_go_to_the_connect_upstream_when_they_are_to_be_forwarded(tmp_path: Path) -> None:
    catalogue = catalogue_of(tmp_path, ROW, CANDOR_UNKNOWN_MODELS="forward")
    assert catalogue.resolve("other") == Model("other", "connect", selector="other", tier="paid")
    assert [model.id for model in catalogue.models] == ["m"]


LIMITED = Model("m", "connect", output_tokens=100)


@pytest.mark.parametrize(
    ("model", "asked"), [(LIMITED, 100), (LIMITED, None), (Model("m", "connect"), 10**9)]
)
def test_output_within_the_limit_is_fine(model: Model, asked: int | None) -> None:
    model.check_output_limit(asked, "max_tokens")


def test_more_output_than_the_model_has_is_refused_in_each_vendors_wording() -> None:
    with pytest.raises(TurnFault) as caught:
        LIMITED.check_output_limit(101, "max_tokens")
    fault = caught.value
    assert (fault.kind, fault.param, fault.code) == (FaultKind.INVALID_REQUEST, "max_tokens", "invalid_value")
    assert fault.wording["chat_completions"] == (
        "max_tokens is too large: 101. This model supports at most 100 completion tokens, whereas you provided 101."
    )
    assert fault.wording["messages"] == (
        "max_tokens: 101 > 100, which is the maximum allowed number of output tokens for m"
    )
