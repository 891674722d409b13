"""Kept responses read again: retrieved, replayed as streams, their input listed in pages, deleted."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import requests
from openai import OpenAI
from openai.types.responses import Response
from openai.types.responses.response_input_message_item import ResponseInputMessageItem

from fake_upstream import FakeUpstream
from fake_upstream.scenarios import cut, error, finish, reasoning, text, tool_args, tool_call, usage
from tests.support import strict
from tests.support.stored import create, created, events, fault, get, sdk

X = {"type": "object", "properties": {"x": {"type": "string"}}, "required": ["x"]}
TOOLS: list[Any] = [{"type": "function", "name": "f", "parameters": X, "strict": None}]


@pytest.fixture
def url(serve: Callable[..., str]) -> str:
    return serve()


@pytest.fixture
def client(url: str) -> Iterator[OpenAI]:
    with sdk(url) as made:
        yield made


def test_a_stream_is_kept_before_its_last_event_and_replayed_as_it_was(url: str, fake: FakeUpstream) -> None:
    fake.queue([text("a"), text("b"), text("c"), usage(fresh=1, completion=3), finish()])
    reply = create(url, stream=True, metadata={"k": "ü"})
    told = events(reply)
    final = told[-1]["response"]
    assert {json.dumps(event["response"]["metadata"]) for event in told if "response" in event} == {
        json.dumps({"k": "ü"})
    }
    assert get(url, final["id"]).json() == final
    again = get(url, final["id"], stream="true")
    assert again.text == reply.text
    for after in (0, 3, len(told) - 2, len(told) - 1, 1000):
        rest = get(url, final["id"], stream="true", starting_after=after)
        numbers = [event["sequence_number"] for event in events(rest)] if rest.text else []
        assert numbers == list(range(after + 1, len(told)))


def test_the_sdk_replays_a_stream(client: OpenAI) -> None:
    with client.responses.create(model="fake-echo", input="abc", stream=True) as stream:
        told = [event.to_dict() for event in stream]
    response_id = told[-1]["response"]["id"]
    with client.responses.retrieve(response_id, stream=True, starting_after=2) as stream:
        assert [event.to_dict() for event in stream] == told[3:]


def test_a_response_that_was_no_stream_is_told_in_whole_items(url: str, fake: FakeUpstream) -> None:
    fake.queue(
        [
            reasoning("hm"),
            text("abc"),
            tool_call(0, "call_a", "f"),
            tool_args(0, '{"x":"1"}'),
            usage(fresh=1, completion=3),
            finish(),
        ]
    )
    said = created(url, tools=TOOLS, reasoning={"summary": "auto"}, include=["reasoning.encrypted_content"])
    told = events(get(url, said["id"], stream="true"))
    assert [event["sequence_number"] for event in told] == list(range(len(told)))
    assert told[-1] == {
        "type": "response.completed",
        "sequence_number": len(told) - 1,
        "response": said,
    }
    assert [event["delta"] for event in told if "delta" in event] == ["hm", "abc", '{"x":"1"}']
    done = [event["item"] for event in told if event["type"] == "response.output_item.done"]
    assert done == said["output"]


def test_a_failed_stream_is_kept_as_failed(url: str, fake: FakeUpstream) -> None:
    fake.queue([text("half"), error("unavailable", "busy")])
    told = events(create(url, stream=True))
    assert told[-1]["type"] == "response.failed"
    final = told[-1]["response"]
    assert (final["status"], final["store"]) == ("failed", True)
    assert get(url, final["id"]).json() == final
    assert events(get(url, final["id"], stream="true")) == told


def test_a_truncated_stream_is_kept_as_failed(url: str, fake: FakeUpstream) -> None:
    fake.queue([text("half"), cut()])
    final = events(create(url, stream=True))[-1]["response"]
    assert get(url, final["id"]).json() == final
    assert final["error"]["message"].startswith("upstream_truncated")


@pytest.mark.parametrize("stream", [False, True])
def test_an_incomplete_response_is_kept_as_incomplete(url: str, fake: FakeUpstream, stream: bool) -> None:
    fake.queue([text("half"), usage(fresh=1, completion=5), finish()])
    reply = create(url, stream=stream, max_output_tokens=5)
    final = events(reply)[-1]["response"] if stream else reply.json()
    assert (final["status"], final["store"]) == ("incomplete", True)
    assert get(url, final["id"]).json() == final


def test_input_items_come_in_pages_and_in_both_orders(client: OpenAI, url: str) -> None:
    said = client.responses.create(
        model="fake-echo", input=[{"role": "user", "content": f"part {number}"} for number in range(7)]
    )

    def texts(**page: Any) -> list[str]:
        items = client.responses.input_items.list(said.id, **page)
        return [item.to_dict()["content"][0]["text"] for item in items]  # type: ignore[index]

    all_texts = [f"part {number}" for number in range(7)]
    assert texts() == all_texts[::-1]
    assert texts(order="asc") == all_texts
    assert texts(order="asc", limit=3) == all_texts, "the SDK fetches every page"
    page = get(url, f"{said.id}/input_items", order="asc", limit=3).json()
    assert (page["object"], len(page["data"]), page["has_more"]) == ("list", 3, True)
    assert (page["first_id"], page["last_id"]) == (page["data"][0]["id"], page["data"][2]["id"])
    rest = get(url, f"{said.id}/input_items", order="asc", after=page["last_id"]).json()
    assert [item["content"][0]["text"] for item in rest["data"]] == all_texts[3:]
    assert rest["has_more"] is False
    for item in page["data"]:
        strict.check(ResponseInputMessageItem, json.dumps(item))


@pytest.mark.parametrize(
    ("query", "param"),
    [
        ({"limit": 0}, "limit"),
        ({"limit": 101}, "limit"),
        ({"limit": "x"}, "limit"),
        ({"order": "up"}, "order"),
        ({"after": "msg_x"}, "after"),
    ],
)
def test_a_bad_page_is_named(url: str, query: dict[str, Any], param: str) -> None:
    assert fault(get(url, f"{created(url)['id']}/input_items", **query))[:2] == (400, param)


def test_a_bad_replay_is_named(url: str) -> None:
    response_id = created(url)["id"]
    assert fault(get(url, response_id, stream="yes"))[:2] == (400, "stream")
    assert fault(get(url, response_id, stream="true", starting_after="-1"))[:2] == (400, "starting_after")


def test_queries_that_mean_nothing_are_ignored_and_said_so(url: str) -> None:
    response_id = created(url)["id"]
    reply = get(url, response_id, colour="red", include="web_search_call.results", starting_after=1)
    assert reply.status_code == 200
    assert reply.headers["x-candor-ignored"] == "colour, starting_after, include"
    strictly = requests.delete(
        f"{url}/v1/responses/{response_id}?colour=red", headers={"Prefer": "handling=strict"}, timeout=10
    )
    assert fault(strictly) == (400, "colour", "unsupported_parameter")
    assert get(url, response_id).status_code == 200, "nothing was deleted"


def test_sealed_reasoning_is_shown_to_whoever_asks_for_it(url: str, fake: FakeUpstream) -> None:
    fake.queue([reasoning("hm"), text("a"), usage(fresh=1, completion=1), finish()])
    said = created(url, reasoning={"summary": "auto"})
    assert "encrypted_content" not in said["output"][0]
    reply = get(url, said["id"], include="reasoning.encrypted_content")
    assert reply.json()["output"][0]["encrypted_content"].startswith("cb1.")
    strict.check(Response, reply.text)


def test_a_response_is_deleted_in_the_vendors_words(url: str) -> None:
    said = created(url)
    reply = requests.delete(f"{url}/v1/responses/{said['id']}", timeout=10)
    assert reply.json() == {"id": said["id"], "object": "response", "deleted": True}
    assert fault(get(url, said["id"])) == (404, None, "response_not_found")


def test_nothing_can_be_cancelled(url: str) -> None:
    said = created(url)
    reply = requests.post(f"{url}/v1/responses/{said['id']}/cancel", timeout=10)
    assert reply.status_code == 400
    assert reply.json()["error"]["message"] == (
        "Only background responses can be cancelled, and this one was not created as such."
    )
    assert get(url, said["id"]).json() == said
