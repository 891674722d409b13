"""Kept responses end to end: the official SDK, the real app, the real fake upstream, SQLite and Redis."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import openai
import pytest
import requests
from openai import OpenAI

from fake_upstream import FakeUpstream
from fake_upstream.scenarios import finish, reasoning, text, tool_args, tool_call, usage
from tests.support.servers import Gunicorn
from tests.support.stored import create, created, events, fault, get, sdk

X = {"type": "object", "properties": {"x": {"type": "string"}}, "required": ["x"]}
TOOLS: list[Any] = [{"type": "function", "name": "f", "parameters": X, "strict": None}]
KEYS = {"CANDOR_API_KEYS": "key-ann,key-bob"}
ANN = {"Authorization": "Bearer key-ann"}
BOB = {"Authorization": "Bearer key-bob"}
PNG = "data:image/png;base64,iVBORw0KGgo="


@pytest.fixture
def url(serve: Callable[..., str]) -> str:
    return serve()


@pytest.fixture
def client(url: str) -> Iterator[OpenAI]:
    with sdk(url) as made:
        yield made


def sent(fake: FakeUpstream) -> list[tuple[Any, ...]]:
    """What the last turn sent upstream: (source, text) of messages, (name, arguments) of calls, results by id."""
    message = fake.captures()[-1]["message"]
    said: list[tuple[Any, ...]] = []
    for each in message["messages"]:
        for call in each.get("tool_calls", ()):
            said.append(("call", call["name"], call["arguments_json"]))
        if each.get("tool_call_id"):
            said.append(("result", each["tool_call_id"], each.get("text", "")))
        elif each.get("text"):
            said.append((each["source"], each["text"]))
    return said


def test_the_sdk_creates_chains_retrieves_lists_and_deletes(
    serve: Callable[..., str], store: dict[str, str], fake: FakeUpstream
) -> None:
    with sdk(serve(**store)) as client:
        one = client.responses.create(model="fake-echo", input="one", metadata={"k": "v"})
        two = client.responses.create(model="fake-echo", input="two", previous_response_id=one.id)
        three = client.responses.create(model="fake-echo", input="three", previous_response_id=two.id)
        assert sent(fake) == [(1, "one"), (2, "one"), (1, "two"), (2, "two"), (1, "three")]
        assert three.previous_response_id == two.id
        assert client.responses.retrieve(one.id).to_dict() == one.to_dict()
        assert client.responses.retrieve(three.id).to_dict() == three.to_dict()
        items = client.responses.input_items.list(three.id).data
        assert [item.to_dict()["content"] for item in items] == [[{"type": "input_text", "text": "three"}]]
        client.responses.delete(two.id)
        with pytest.raises(openai.NotFoundError):
            client.responses.retrieve(two.id)
        with pytest.raises(openai.NotFoundError):
            client.responses.delete(two.id)
        with pytest.raises(openai.BadRequestError, match="is no longer stored") as caught:
            client.responses.create(model="fake-echo", input="four", previous_response_id=three.id)
        assert caught.value.code == "previous_response_not_found"
        assert client.responses.retrieve(three.id).output_text == "three"


def test_two_workers_and_a_restart_find_what_was_kept(
    start_gunicorn: Callable[..., Gunicorn], store: dict[str, str]
) -> None:
    first = start_gunicorn(CANDOR_WORKERS="2", **store)
    ids: list[str] = []
    for number in range(20):
        body = {"previous_response_id": ids[-1]} if ids else {}
        said = created(first.url, {"Connection": "close"}, input=f"turn {number}", **body)
        assert said["store"] is True
        ids.append(said["id"])
        assert get(first.url, said["id"], {"Connection": "close"}).json() == said
    first.process.terminate()
    first.process.wait(15)
    second = start_gunicorn(CANDOR_WORKERS="2", **store)
    for number in range(0, 20, 5):
        assert get(second.url, ids[number]).json()["output"][0]["content"][0]["text"] == f"turn {number}"
    assert create(second.url, previous_response_id=ids[-1]).status_code == 200


def test_store_is_true_unless_said_otherwise_and_every_copy_says_so(url: str) -> None:
    assert [created(url, **body)["store"] for body in ({}, {"store": True}, {"store": False})] == [
        True,
        True,
        False,
    ]
    kept, not_kept = created(url), created(url, store=False)
    assert get(url, kept["id"]).json() == kept
    assert fault(get(url, not_kept["id"])) == (404, None, "response_not_found")
    told = events(create(url, stream=True))
    assert [event["response"]["store"] for event in told if "response" in event] == [True, True, True]


def test_the_switch_turns_it_off_and_every_echo_says_so(serve: Callable[..., str]) -> None:
    url = serve(CANDOR_STORE_RESPONSES="0")
    reply = create(url, store=True)
    assert reply.headers["x-candor-ignored"] == "store"
    assert reply.json()["store"] is False
    silent = create(url)
    assert "x-candor-ignored" not in silent.headers
    assert silent.json()["store"] is False
    assert {
        event["response"]["store"] for event in events(create(url, stream=True)) if "response" in event
    } == {False}
    assert fault(get(url, reply.json()["id"])) == (404, None, "response_not_found")
    assert fault(create(url, previous_response_id=reply.json()["id"])) == (
        400,
        "previous_response_id",
        "previous_response_not_found",
    )


def test_a_chain_holds_calls_and_results_in_order(url: str, fake: FakeUpstream) -> None:
    call = [tool_call(0, "call_a", "f"), tool_args(0, '{"x":"1"}'), usage(fresh=1, completion=1), finish()]
    fake.queue(call)
    one = created(url, input="use f", tools=TOOLS, instructions="Be brief.")
    result = {"type": "function_call_output", "call_id": "call_a", "output": "done"}
    two = created(url, input=[result], tools=TOOLS, previous_response_id=one["id"])
    created(url, input="and now?", previous_response_id=two["id"])
    expected = [(1, "use f"), ("call", "f", '{"x":"1"}'), ("result", "call_a", "done")]
    assert sent(fake)[:3] == expected
    assert sent(fake)[-1] == (1, "and now?")


def test_instructions_and_labels_are_not_carried_over(url: str, fake: FakeUpstream) -> None:
    one = created(url, instructions="Be brief.", metadata={"a": "b"})
    assert fake.captures()[-1]["message"]["system_prompt"] == "Be brief."
    two = created(url, previous_response_id=one["id"])
    assert "system_prompt" not in fake.captures()[-1]["message"]
    assert (two["instructions"], two["metadata"]) == (None, {})


def test_system_messages_of_earlier_input_are_part_of_the_history(url: str, fake: FakeUpstream) -> None:
    one = created(url, input=[{"role": "system", "content": "Rules."}, {"role": "user", "content": "one"}])
    created(url, input="two", instructions="First.", previous_response_id=one["id"])
    assert fake.captures()[-1]["message"]["system_prompt"] == "First.\n\nRules."
    assert sent(fake) == [(1, "one"), (2, "one"), (1, "two")]


@pytest.mark.parametrize(
    "asked", [{"reasoning": {"summary": "auto"}}, {"include": ["reasoning.encrypted_content"]}]
)
def test_reasoning_of_earlier_responses_goes_back_where_the_upstream_takes_it(
    serve: Callable[..., str], fake: FakeUpstream, asked: dict[str, Any]
) -> None:
    url = serve(DEVIN_CONNECT_REASONING="1")
    fake.queue([reasoning("deep thought"), text("42"), usage(fresh=1, completion=1), finish()])
    one = created(url, **asked)
    reply = create(url, input="why?", previous_response_id=one["id"])
    assert "x-candor-ignored" not in reply.headers
    assert [message.get("reasoning") for message in fake.captures()[-1]["message"]["messages"]] == [
        None,
        "deep thought",
        None,
    ]


def test_reasoning_that_the_upstream_does_not_take_is_ignored_and_said_so(
    url: str, fake: FakeUpstream
) -> None:
    fake.queue([reasoning("deep thought"), text("42"), usage(fresh=1, completion=1), finish()])
    one = created(url, reasoning={"summary": "auto"})
    reply = create(url, input="why?", previous_response_id=one["id"])
    assert reply.headers["x-candor-ignored"] == "previous_response_id"


def test_history_that_the_upstream_cannot_carry_is_refused(url: str) -> None:
    image = created(url, input=[{"role": "user", "content": [{"type": "input_image", "image_url": PNG}]}])
    reply = create(url, model="local-echo", previous_response_id=image["id"])
    assert fault(reply) == (400, "previous_response_id", "unsupported_parameter")


def test_a_call_that_nobody_answered_is_named(url: str, fake: FakeUpstream) -> None:
    fake.queue([tool_call(0, "call_a", "f"), usage(fresh=1, completion=1), finish()])
    one = created(url, tools=TOOLS)
    reply = create(url, input="well?", previous_response_id=one["id"])
    assert fault(reply) == (400, "previous_response_id", None)
    assert "call_a" in reply.json()["error"]["message"]


@pytest.mark.parametrize("previous", ["resp_x", "resp_" + "0" * 48, "chatcmpl-" + "0" * 48, "x", "\x00"])
def test_what_is_not_stored_cannot_be_continued(url: str, fake: FakeUpstream, previous: str) -> None:
    reply = create(url, previous_response_id=previous)
    assert fault(reply) == (400, "previous_response_id", "previous_response_not_found")
    assert fake.captures() == []


def test_a_reference_stands_for_its_item(url: str, fake: FakeUpstream) -> None:
    one = created(url, input="remember this", store=True)
    items = get(url, f"{one['id']}/input_items").json()["data"]
    two = created(
        url,
        input=[
            {"type": "item_reference", "id": items[0]["id"]},
            {"id": one["output"][0]["id"]},
            {"role": "user", "content": "now"},
        ],
    )
    assert sent(fake) == [(1, "remember this"), (2, "remember this"), (1, "now")]
    listed = get(url, f"{two['id']}/input_items", order="asc").json()["data"]
    assert [item["id"] for item in listed[:2]] == [items[0]["id"], one["output"][0]["id"]]
    unknown = "msg_" + "0" * 48
    reply = create(url, input=[{"role": "user", "content": "a"}, {"type": "item_reference", "id": unknown}])
    assert fault(reply) == (400, "input[1].id", "item_not_found")


def test_references_together_are_bounded_as_a_body_is(serve: Callable[..., str], fake: FakeUpstream) -> None:
    url = serve(CANDOR_MAX_BODY_MB="1")
    one = created(url, input="x" * 400_000, store=True)
    item = get(url, f"{one['id']}/input_items").json()["data"][0]["id"]
    turns = len(fake.captures())
    served = create(url, input=[{"type": "item_reference", "id": item}] * 2)
    refused = create(url, input=[{"type": "item_reference", "id": item}] * 3)
    assert served.status_code == 200
    assert (refused.status_code, refused.json()["error"]["param"]) == (400, "input[2].id")
    assert "the items referred to are larger than 1 MiB together" in refused.json()["error"]["message"]
    assert len(fake.captures()) == turns + 1


def test_two_callers_never_meet(serve: Callable[..., str], store: dict[str, str], fake: FakeUpstream) -> None:
    url = serve(**KEYS, **store)
    mine = created(url, ANN, input="secret")
    item = mine["output"][0]["id"]
    unknown = "resp_" + "f" * 48
    turns = len(fake.captures())

    def alike(ask: Callable[[str], requests.Response]) -> None:
        """Another's id and an unknown one are answered in the same words."""
        theirs, nobodys = ask(mine["id"]), ask(unknown)
        assert theirs.status_code == nobodys.status_code >= 400
        assert theirs.text.replace(mine["id"], unknown) == nobodys.text

    alike(lambda each: get(url, each, BOB))
    alike(lambda each: get(url, each, BOB, stream="true"))
    alike(lambda each: get(url, f"{each}/input_items", BOB))
    alike(lambda each: requests.delete(f"{url}/v1/responses/{each}", headers=BOB, timeout=10))
    alike(lambda each: requests.post(f"{url}/v1/responses/{each}/cancel", headers=BOB, timeout=10))
    alike(lambda each: create(url, BOB, previous_response_id=each))
    reference = [{"type": "item_reference", "id": item}]
    assert fault(create(url, BOB, input=reference)) == (400, "input[0].id", "item_not_found")
    for headers in ({}, {"Authorization": "Bearer key-eve"}):
        assert get(url, mine["id"], headers).status_code == 401
        assert (
            requests.delete(f"{url}/v1/responses/{mine['id']}", headers=headers, timeout=10).status_code
            == 401
        )
    assert len(fake.captures()) == turns
    assert get(url, mine["id"], ANN).json() == mine
    assert create(url, ANN, previous_response_id=mine["id"]).status_code == 200


@pytest.mark.parametrize(
    ("body", "param"), [({"background": True}, "background"), ({"conversation": "conv_1"}, "conversation")]
)
def test_what_is_not_kept_here_stays_refused(url: str, body: dict[str, Any], param: str) -> None:
    assert fault(create(url, **body)) == (400, param, "unsupported_parameter")


def test_ids_are_long_and_in_the_vendors_form(url: str) -> None:
    ids = {created(url)["id"] for _ in range(5)}
    assert len(ids) == 5
    for response_id in ids:
        assert response_id.startswith("resp_")
        assert len(bytes.fromhex(response_id.removeprefix("resp_"))) * 8 >= 128


def test_counting_input_tokens_counts_the_history(url: str, fake: FakeUpstream) -> None:
    one = created(url, input="a long story " * 50)
    body = {"model": "fake-echo", "input": "hi"}

    def count(**more: Any) -> int:
        reply = requests.post(f"{url}/v1/responses/input_tokens", json={**body, **more}, timeout=10)
        return int(reply.json()["input_tokens"])

    assert count(previous_response_id=one["id"]) > count() + 200
