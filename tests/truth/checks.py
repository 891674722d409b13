"""Checks of observable effects, for rows whose effect is not that their samples are in one wire field."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from app.ledger import Parameter
from fake_upstream.scenarios import finish, reasoning, text
from tests.truth.case import KEEP, Case, replaced, split_kind
from tests.truth.proof import Check, Seen
from tests.truth.stage import LOCAL, SESSION_ID, Answer, Stage
from tests.truth.wire import at, missing, text_of
from tests.truth.wire import says as word_in


def connected(seen: list[Seen], house: str | None = None) -> list[Seen]:
    """Those that reached the wire, in one house where it is given."""
    kept = [each for each in seen if each.house != LOCAL and house in (None, each.house)]
    assert kept, "no request of this row reaches the wire"
    return kept


def without(case: Case, *, whole_object: bool) -> Case:
    """The request without what stands at the case's path, or without the object that holds it."""
    path = case.path.rpartition(".")[0] if whole_object else case.path
    return replace(case, body=replaced(case.body, path, KEEP))


def unchanged(stage: Stage, surface: str, row: Parameter, seen: list[Seen]) -> None:
    """It asks for nothing: without it the very same message goes out."""
    for each in connected(seen):
        bare = without(each.case, whole_object=split_kind(row.path)[2] is not None)
        assert stage.ask(surface, bare, house=each.house).wire == each.answer.wire


def told(wire: str) -> Check:
    """The model is told what the sample says, in this field."""

    def check(stage: Stage, surface: str, row: Parameter, seen: list[Seen]) -> None:
        for each in connected(seen):
            assert missing(each.case.sample, at(each.answer.wire, wire)) == []
            assert text_of(each.case.sample), "a sample that says something"

    check.__doc__ = f"The model is told what the sample says, in {wire}."
    return check


def says(wire: str, *words: str) -> Check:
    """The field says these words: one for each sample, or one for all."""

    def check(stage: Stage, surface: str, row: Parameter, seen: list[Seen]) -> None:
        kept = connected(seen)
        for number, each in enumerate(kept):
            word = words[number % len(words)]
            there = text_of(at(each.answer.wire, wire))
            assert word_in(there, word), (word, there)

    check.__doc__ = f"{wire} says {', '.join(words)}."
    return check


def offers(*names: Sequence[str]) -> Check:
    """Where the wire has no field for a choice, the model is offered these tools: a list for each sample."""

    def check(stage: Stage, surface: str, row: Parameter, seen: list[Seen]) -> None:
        for number, each in enumerate(connected(seen, "plain")):
            assert at(each.answer.wire, "tools[].name") == list(names[number % len(names)])

    check.__doc__ = (
        f"The tools that are offered are {', then '.join(' and '.join(each) or 'none' for each in names)}."
    )
    return check


def mode_of_subset(stage: Stage, surface: str, row: Parameter, seen: list[Seen]) -> None:
    """A subset that is required is required on the wire where there is a field for it; auto says nothing."""
    for each in connected(seen):
        required = each.case.sample == "required" and each.house != "plain"
        assert at(each.answer.wire, "tool_choice.option_name") == (["required"] if required else [])


def withheld(stage: Stage, surface: str, row: Parameter, seen: list[Seen]) -> None:
    """No tool is offered, and where the wire has a field for the choice it says none."""
    for each in connected(seen):
        assert "tools" not in each.answer.wire
        option = at(each.answer.wire, "tool_choice.option_name")
        assert option == ([] if each.house == "plain" else ["none"])


def pairs(stage: Stage, surface: str, row: Parameter, seen: list[Seen]) -> None:
    """A result has the id of the call that it answers, and the call has the name."""
    for each in connected(seen):
        wire = each.answer.wire
        (made,) = at(wire, "messages[].tool_calls[]")
        assert at(wire, "messages[].tool_call_id") == [made["id"]]
        assert made["name"] == each.case.sample


def streamed(stage: Stage, surface: str, row: Parameter, seen: list[Seen]) -> None:
    """Events when it is true, one JSON body when it is false."""
    for each in connected(seen):
        wanted = "text/event-stream" if each.case.sample else "application/json"
        assert each.answer.headers["content-type"].startswith(wanted)
        assert ("data: " in each.answer.text) is bool(each.case.sample)


def stops(stage: Stage, surface: str, row: Parameter, seen: list[Seen]) -> None:
    """The answer ends before the stop string, streaming and not, wherever its fragments are cut."""
    for each in connected(seen):
        wanted = each.case.sample if isinstance(each.case.sample, str) else each.case.sample[0]
        steps = [text("before "), text(wanted[:1]), text(f"{wanted[1:]} behind"), finish()]
        for stream in (False, True):
            case = replace(each.case, scenario=(steps,))
            answer = stage.ask(surface, case, house=each.house, stream=stream)
            assert spoken(surface, answer, stream) == "before "


def names_the_session(stage: Stage, surface: str, row: Parameter, seen: list[Seen]) -> None:
    """Each sample has a session of its own, the same one whenever it comes."""
    switched_on = connected(seen, "switched on")
    sessions = [each.answer.captures[0]["message"]["session_id"] for each in switched_on]
    assert len(set(sessions)) == len({repr(each.case.sample) for each in switched_on})
    assert SESSION_ID not in sessions
    again = stage.ask(surface, switched_on[0].case, house="switched on")
    assert again.captures[0]["message"]["session_id"] == sessions[0]


def echoed(stage: Stage, surface: str, row: Parameter, seen: list[Seen]) -> None:
    """The reply hands the value back."""
    for each in connected(seen):
        assert each.answer.body[row.path] == each.case.sample


def thinking(shown: Callable[[Any], bool]) -> Check:
    """Reasoning is in the reply when ``shown(sample)``, and only then; streaming and not."""

    def check(stage: Stage, surface: str, row: Parameter, seen: list[Seen]) -> None:
        for each in connected(seen):
            case = replace(each.case, scenario=([reasoning("secretly"), text("said"), finish()],))
            for stream in (False, True):
                answer = stage.ask(surface, case, house=each.house, stream=stream)
                assert "said" in answer.text
                assert ("secretly" in answer.text) is shown(each.case.sample)

    check.__doc__ = "Reasoning is in the reply when it is asked for, and only then; streaming and not."
    return check


def spoken(surface: str, answer: Answer, stream: bool) -> str:
    """The text of the answer."""
    assert answer.status == 200, answer.text
    if surface == "generate_content":
        chunks = answer.frames or answer.body if stream else [answer.body]
        parts = [
            part for chunk in chunks for part in chunk["candidates"][0].get("content", {}).get("parts", ())
        ]
        return "".join(part.get("text", "") for part in parts)
    if not stream:
        body = answer.body
        match surface:
            case "chat_completions":
                return str(body["choices"][0]["message"]["content"])
            case "messages":
                return "".join(block.get("text", "") for block in body["content"])
        return "".join(part["text"] for item in body["output"] for part in item.get("content", ()))
    match surface:
        case "chat_completions":
            deltas = [choice["delta"] for frame in answer.frames for choice in frame["choices"]]
            return "".join(delta.get("content") or "" for delta in deltas)
        case "messages":
            return "".join(frame.get("delta", {}).get("text", "") for frame in answer.frames)
    return "".join(frame["delta"] for frame in answer.frames if frame["type"] == "response.output_text.delta")
