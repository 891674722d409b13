"""The official SDKs list and look up models over a real loopback server."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import anthropic
import openai
import pytest
import requests
from anthropic.types import ModelInfo
from anthropic.types.beta import BetaModelInfo
from google import genai
from google.genai import errors as genai_errors
from google.genai import types
from openai.types import Model

from app import create_app
from app.settings import load
from tests.support.servers import in_thread
from tests.support.strict import check

NAMES = ["fake-echo", "fake-tools", "fake-tools-3", "fake-reasoning", "fake-agent", "local-echo"]
ANTHROPIC = {"anthropic-version": "2026-10-21", "x-api-key": "right"}


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A Candor that wants a key."""
    state = str(tmp_path_factory.mktemp("var"))
    with in_thread(create_app(load({"CANDOR_API_KEYS": "right", "CANDOR_STATE_DIR": state}))) as served:
        yield served


def openai_client(url: str, key: str = "right") -> openai.OpenAI:
    return openai.OpenAI(base_url=f"{url}/v1", api_key=key, max_retries=0, _strict_response_validation=True)


def anthropic_client(url: str, key: str = "right") -> anthropic.Anthropic:
    return anthropic.Anthropic(base_url=url, api_key=key, max_retries=0, _strict_response_validation=True)


def gemini_client(url: str, version: str | None = None, key: str = "right") -> genai.Client:
    return genai.Client(api_key=key, http_options=types.HttpOptions(base_url=url, api_version=version))


def get(url: str, headers: dict[str, str]) -> str:
    reply = requests.get(url, headers=headers, timeout=10)
    assert reply.status_code == 200
    return reply.text


def test_openai_lists_models(url: str) -> None:
    with openai_client(url) as client:
        assert [model.id for model in client.models.list()] == NAMES


def test_openai_retrieves_a_model(url: str) -> None:
    with openai_client(url) as client:
        assert client.models.retrieve("fake-echo").owned_by == "candor"


def test_openai_raises_not_found_for_an_unknown_model(url: str) -> None:
    with openai_client(url) as client, pytest.raises(openai.NotFoundError) as caught:
        client.models.retrieve("nope")
    assert (caught.value.code, caught.value.param) == ("model_not_found", "model")
    assert caught.value.request_id is not None


def test_openai_raises_authentication_error_for_a_wrong_key(url: str) -> None:
    with openai_client(url, "wrong") as client, pytest.raises(openai.AuthenticationError) as caught:
        client.models.list()
    assert caught.value.code == "invalid_api_key"


def test_anthropic_lists_models_over_all_pages(url: str) -> None:
    with anthropic_client(url) as client:
        page = client.models.list(limit=4)
        assert (len(page.data), page.has_more) == (4, True)
        assert [model.id for model in page] == NAMES


def test_anthropic_lists_models_backwards(url: str) -> None:
    with anthropic_client(url) as client:
        listed = [model.id for model in client.models.list(limit=2, before_id="fake-agent")]
    assert listed == ["fake-tools-3", "fake-reasoning", "fake-echo", "fake-tools"]


@pytest.mark.parametrize(("stage", "count"), [("active", 6), ("retired", 0)])
def test_anthropic_lists_models_by_lifecycle(url: str, stage: str, count: int) -> None:
    with anthropic_client(url) as client:
        assert len(list(client.models.list(lifecycle=[stage]))) == count  # type: ignore[list-item]


def test_anthropic_retrieves_a_model_with_its_limits(url: str) -> None:
    with anthropic_client(url) as client:
        model = client.models.retrieve("fake-echo")
    assert (model.lifecycle, model.max_input_tokens, model.max_tokens) == ("active", 200_000, 128_000)


def test_anthropics_beta_client_lists_and_retrieves(url: str) -> None:
    with anthropic_client(url) as client:
        assert [model.id for model in client.beta.models.list(limit=2)] == NAMES
        assert client.beta.models.retrieve("fake-echo").id == "fake-echo"


def test_anthropic_raises_not_found_for_an_unknown_model(url: str) -> None:
    with anthropic_client(url) as client, pytest.raises(anthropic.NotFoundError) as caught:
        client.models.retrieve("nope")
    assert caught.value.type == "not_found_error"
    assert caught.value.request_id is not None


def test_anthropic_raises_bad_request_for_a_bad_page(url: str) -> None:
    with anthropic_client(url) as client, pytest.raises(anthropic.BadRequestError):
        client.models.list(after_id="nope")


def test_anthropic_raises_authentication_error_for_a_wrong_key(url: str) -> None:
    with anthropic_client(url, "wrong") as client, pytest.raises(anthropic.AuthenticationError):
        client.models.list()


@pytest.mark.parametrize("version", [None, "v1", "v1beta"])
def test_gemini_lists_models_over_all_pages(url: str, version: str | None) -> None:
    with gemini_client(url, version) as client:
        listed = [model.name for model in client.models.list(config={"page_size": 4})]
    assert listed == [f"models/{name}" for name in NAMES]


@pytest.mark.parametrize("version", [None, "v1", "v1beta"])
def test_gemini_gets_a_model_with_its_limits(url: str, version: str | None) -> None:
    with gemini_client(url, version) as client:
        model = client.models.get(model="fake-echo")
    assert (model.name, model.input_token_limit, model.output_token_limit) == (
        "models/fake-echo",
        200_000,
        128_000,
    )
    assert model.supported_actions == ["generateContent", "streamGenerateContent", "countTokens"]


@pytest.mark.parametrize("version", [None, "v1beta"])
def test_gemini_raises_not_found_for_an_unknown_model(url: str, version: str | None) -> None:
    with gemini_client(url, version) as client, pytest.raises(genai_errors.ClientError) as caught:
        client.models.get(model="nope")
    assert (caught.value.code, caught.value.status) == (404, "NOT_FOUND")


def test_gemini_raises_for_a_wrong_key(url: str) -> None:
    with gemini_client(url, key="wrong") as client, pytest.raises(genai_errors.ClientError) as caught:
        client.models.list()
    assert (caught.value.code, caught.value.status) == (401, "UNAUTHENTICATED")


def test_openais_models_pass_the_strict_check(url: str) -> None:
    headers = {"authorization": "Bearer right"}
    for model in json.loads(get(f"{url}/v1/models", headers))["data"]:
        check(Model, json.dumps(model))
    check(Model, get(f"{url}/v1/models/fake-echo", headers))


@pytest.mark.parametrize("shape", [ModelInfo, BetaModelInfo])
def test_anthropics_models_pass_the_strict_check(url: str, shape: type) -> None:
    for model in json.loads(get(f"{url}/v1/models", ANTHROPIC))["data"]:
        check(shape, json.dumps(model))
    check(shape, get(f"{url}/v1/models/fake-echo", ANTHROPIC))


def test_geminis_models_pass_the_strict_check_but_for_the_key_that_its_sdk_renames(url: str) -> None:
    page = json.loads(get(f"{url}/v1beta/models", {"x-goog-api-key": "right"}))
    for model in page["models"]:
        del model["supportedGenerationMethods"]
        check(types.Model, json.dumps(model))


def test_an_alias_is_resolved_by_every_sdk(serve: Callable[..., str], tmp_path: Path) -> None:
    file = tmp_path / "models.toml"
    file.write_text('[[model]]\nid = "m-2026"\nupstream = "local"\naliases = ["m-latest"]\n')
    url = serve(CANDOR_MODELS=str(file))
    with openai_client(url) as client:
        assert client.models.retrieve("m-latest").id == "m-2026"
    with anthropic_client(url) as other:
        assert other.models.retrieve("m-latest").id == "m-2026"
    with gemini_client(url) as third:
        assert third.models.get(model="m-latest").name == "models/m-2026"
