"""Kept chat completions end to end: the official SDK, the real app, the real fake upstream, SQLite and Redis."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import openai
import pytest
import requests
from openai import OpenAI
from openai.types.chat import ChatCompletion

from fake_upstream import FakeUpstream
from fake_upstream.scenarios import cut, finish, text, tool_args, tool_call, usage
from tests.support import strict
from tests.support.servers import Gunicorn

HI: list[Any] = [{"role": "user", "content": "hi"}]
KEYS = {"CANDOR_API_KEYS": "key-ann,key-bob"}
ANN = {"Authorization": "Bearer key-ann"}
BOB = {"Authorization": "Bearer key-bob"}


@pytest.fixture
def url(serve: Callable[..., str]) -> str:
    return serve()


def sdk(url: str) -> OpenAI:
    return OpenAI(base_url=f"{url}/v1", api_key="k", max_retries=0)


def create(url: str, headers: dict[str, str] | None = None, **body: Any) -> requests.Response:
    request = {"model": "fake-echo", "messages": HI, "store": True, **body}
    return requests.post(f"{url}/v1/chat/completions", json=request, headers=headers, timeout=10)


def ask(
    url: str, method: str, path: str = "", headers: dict[str, str] | None = None, **more: Any
) -> requests.Response:
    where = f"{url}/v1/chat/completions{path and '/' + path}"
    return requests.request(method, where, headers=headers, timeout=10, **more)


def fault(reply: requests.Response) -> tuple[int, str | None, str | None]:
    """(status, param, code)"""
    said = reply.json()["error"]
    return reply.status_code, said["param"], said["code"]


def test_the_sdk_stores_lists_updates_and_deletes(serve: Callable[..., str], store: dict[str, str]) -> None:
    with sdk(serve(**store)) as client:
        made = [
            client.chat.completions.create(
                model="fake-echo",
                messages=[{"role": "user", "content": f"part {number}"}],
                store=True,
                metadata={"parity": "even" if number % 2 == 0 else "odd", "n": str(number)},
            )
            for number in range(5)
        ]
        ids = [each.id for each in made]
        assert client.chat.completions.retrieve(ids[0]).to_dict() == made[0].to_dict()
        assert [each.id for each in client.chat.completions.list()] == ids
        assert [each.id for each in client.chat.completions.list(order="desc", limit=2)] == ids[::-1]
        assert [each.id for each in client.chat.completions.list(metadata={"parity": "odd"})] == [
            ids[1],
            ids[3],
        ]
        assert [each.id for each in client.chat.completions.list(metadata={"parity": "odd", "n": "3"})] == [
            ids[3]
        ]
        assert [each.id for each in client.chat.completions.list(after=ids[2])] == ids[3:]
        changed = client.chat.completions.update(ids[1], metadata={"parity": "none"})
        assert changed.to_dict() == {**made[1].to_dict(), "metadata": {"parity": "none"}}
        assert client.chat.completions.retrieve(ids[1]).metadata == {"parity": "none"}
        assert [each.id for each in client.chat.completions.list(metadata={"parity": "odd"})] == [ids[3]]
        messages = client.chat.completions.messages.list(ids[2]).data
        assert [(message.id, message.content) for message in messages] == [(f"{ids[2]}-0", "part 2")]
        deleted = client.chat.completions.delete(ids[2])
        assert deleted.to_dict() == {"id": ids[2], "object": "chat.completion.deleted", "deleted": True}
        for gone in (client.chat.completions.retrieve, client.chat.completions.delete):
            with pytest.raises(openai.NotFoundError):
                gone(ids[2])
        assert [each.id for each in client.chat.completions.list()] == [ids[0], ids[1], *ids[3:]]


def test_two_workers_and_a_restart_find_what_was_kept(
    start_gunicorn: Callable[..., Gunicorn], store: dict[str, str]
) -> None:
    close = {"Connection": "close"}
    first = start_gunicorn(CANDOR_WORKERS="2", **store)
    made = [create(first.url, close).json() for _ in range(12)]
    for said in made:
        assert ask(first.url, "GET", said["id"], close).json() == {**said, "metadata": {}}
    first.process.terminate()
    first.process.wait(15)
    second = start_gunicorn(CANDOR_WORKERS="2", **store)
    listed = ask(second.url, "GET", params={"limit": 100}).json()
    assert [each["id"] for each in listed["data"]] == [said["id"] for said in made]


def test_nothing_is_kept_unless_asked_for(url: str) -> None:
    for body in ({"store": False}, {"store": None}):
        assert fault(ask(url, "GET", create(url, **body).json()["id"])) == (
            404,
            None,
            "chat_completion_not_found",
        )
    assert ask(url, "GET").json() == {
        "object": "list",
        "data": [],
        "first_id": None,
        "last_id": None,
        "has_more": False,
    }


def test_the_switch_turns_it_off_and_the_header_says_so(serve: Callable[..., str]) -> None:
    url = serve(CANDOR_STORE_RESPONSES="0")
    for stream in (False, True):
        assert create(url, stream=stream).headers["x-candor-ignored"] == "store"
    assert "x-candor-ignored" not in create(url, store=False).headers
    assert ask(url, "GET").json()["data"] == []


def test_a_kept_completion_is_no_finding(url: str) -> None:
    reply = create(url)
    assert {name.lower() for name in reply.headers if name.lower().startswith("x-candor")} == set()


def test_a_stream_is_kept_as_the_completion_it_was(url: str, fake: FakeUpstream) -> None:
    fake.queue(
        [
            text("a"),
            text("b"),
            tool_call(0, "call_a", "f"),
            tool_args(0, '{"x":1}'),
            usage(fresh=1, completion=3),
            finish(),
        ]
    )
    tools = [{"type": "function", "function": {"name": "f"}}]
    reply = create(url, stream=True, tools=tools, metadata={"k": "v"})
    assert reply.text.endswith("data: [DONE]\n\n")
    assert "not stored" not in reply.text
    completion_id = json.loads(reply.text.split("\n\n")[0][6:])["id"]
    kept = ask(url, "GET", completion_id)
    strict.check(ChatCompletion, kept.text)
    assert kept.json()["choices"] == [
        {
            "index": 0,
            "message": {
                "role": "assistant",
                "content": "ab",
                "refusal": None,
                "tool_calls": [
                    {"id": "call_a", "type": "function", "function": {"name": "f", "arguments": '{"x":1}'}}
                ],
            },
            "logprobs": None,
            "finish_reason": "tool_calls",
        }
    ]
    assert kept.json()["usage"]["total_tokens"] == 4
    assert kept.json()["metadata"] == {"k": "v"}


def test_a_stream_that_failed_has_no_completion_to_keep(url: str, fake: FakeUpstream) -> None:
    fake.queue([text("half"), cut()])
    reply = create(url, stream=True)
    assert "[DONE]" not in reply.text
    assert ask(url, "GET").json()["data"] == []


def test_messages_come_back_as_sent_with_ids_and_in_pages(url: str) -> None:
    parts = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    messages: list[Any] = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": parts, "name": "ann"},
        {"role": "assistant", "content": "c"},
        {"role": "user", "content": "d"},
    ]
    completion_id = create(url, messages=messages).json()["id"]
    page = ask(url, "GET", f"{completion_id}/messages", params={"limit": 3}).json()
    assert page["has_more"] is True
    assert page["data"][1] == {
        "id": f"{completion_id}-1",
        "role": "user",
        "name": "ann",
        "content": None,
        "content_parts": parts,
        "refusal": None,
    }
    rest = ask(url, "GET", f"{completion_id}/messages", params={"after": page["last_id"]}).json()
    assert [message["content"] for message in rest["data"]] == ["d"]
    newest = ask(url, "GET", f"{completion_id}/messages", params={"order": "desc", "limit": 1}).json()
    assert [message["content"] for message in newest["data"]] == ["d"]


def test_two_callers_never_meet(serve: Callable[..., str], store: dict[str, str]) -> None:
    url = serve(**KEYS, **store)
    mine = create(url, ANN, metadata={"k": "v"}).json()
    unknown = "chatcmpl-" + "f" * 48

    def alike(path: Callable[[str], str], method: str, **more: Any) -> None:
        """Another's id and an unknown one are answered in the same words."""
        theirs, nobodys = (ask(url, method, path(each), BOB, **more) for each in (mine["id"], unknown))
        assert theirs.status_code == nobodys.status_code == 404
        assert theirs.text.replace(mine["id"], unknown) == nobodys.text

    alike(lambda each: each, "GET")
    alike(lambda each: each, "DELETE")
    alike(lambda each: each, "POST", json={"metadata": {"k": "w"}})
    alike(lambda each: f"{each}/messages", "GET")
    assert ask(url, "GET", headers=BOB).json()["data"] == []
    assert ask(url, "GET", headers=BOB, params={"metadata[k]": "v"}).json()["data"] == []
    assert fault(ask(url, "GET", headers=BOB, params={"after": mine["id"]}))[:2] == (400, "after")
    for method, path in (("GET", ""), ("GET", mine["id"]), ("DELETE", mine["id"])):
        assert ask(url, method, path, {}).status_code == 401
    assert ask(url, "GET", mine["id"], ANN).json() == mine


def test_each_kind_is_found_on_its_own_paths_only(url: str) -> None:
    completion = create(url).json()["id"]
    response = requests.post(
        f"{url}/v1/responses", json={"model": "fake-echo", "input": "hi"}, timeout=10
    ).json()["id"]
    assert ask(url, "GET", response).status_code == 404
    assert ask(url, "DELETE", response).status_code == 404
    assert ask(url, "POST", response, json={"metadata": {}}).status_code == 404
    for method in ("GET", "DELETE"):
        assert requests.request(method, f"{url}/v1/responses/{completion}", timeout=10).status_code == 404
    assert ask(url, "GET", completion).status_code == 200
    assert requests.get(f"{url}/v1/responses/{response}", timeout=10).status_code == 200
    assert [each["id"] for each in ask(url, "GET").json()["data"]] == [completion]


@pytest.mark.parametrize(
    ("body", "param", "code"),
    [
        ({}, "metadata", "missing_required_parameter"),
        ({"metadata": 1}, "metadata", "invalid_type"),
        ({"metadata": {"k": 1}}, "metadata.k", "invalid_type"),
        ({"metadata": {"k": "v" * 513}}, "metadata.k", None),
    ],
)
def test_a_bad_update_is_named_and_changes_nothing(url: str, body: Any, param: str, code: str | None) -> None:
    completion_id = create(url, metadata={"a": "b"}).json()["id"]
    assert fault(ask(url, "POST", completion_id, json=body)) == (400, param, code)
    assert ask(url, "GET", completion_id).json()["metadata"] == {"a": "b"}


def test_an_update_of_null_clears_and_other_keys_are_ignored(url: str) -> None:
    completion_id = create(url, metadata={"a": "b"}).json()["id"]
    reply = ask(url, "POST", completion_id, json={"metadata": None, "colour": "red"})
    assert reply.json()["metadata"] == {}
    assert reply.headers["x-candor-ignored"] == "colour"


@pytest.mark.parametrize(
    ("query", "param"), [({"limit": "0"}, "limit"), ({"order": "x"}, "order"), ({"after": "x"}, "after")]
)
def test_a_bad_page_is_named(url: str, query: dict[str, str], param: str) -> None:
    assert fault(ask(url, "GET", params=query))[:2] == (400, param)


def test_lists_are_filtered_by_model(url: str) -> None:
    one = create(url).json()["id"]
    two = create(url, model="fake-tools").json()["id"]
    assert [each["id"] for each in ask(url, "GET", params={"model": "fake-tools"}).json()["data"]] == [two]
    assert [each["id"] for each in ask(url, "GET").json()["data"]] == [one, two]
