"""The model that plays a coding agent: which tool it calls, with what, and what it reports."""

import json

import pytest

from fake_upstream.agent import (
    arguments_for,
    command_key,
    fill,
    find_shell,
    last_commands,
    output_schema,
)

STRING = {"type": "string"}
STRINGS = {"type": "array", "items": STRING}


def schema(*required, **properties):
    return {"type": "object", "properties": properties, "required": list(required)}


BASH = ("Bash", schema("command", command=STRING, timeout={"type": "number"}))
EXEC_COMMAND = ("exec_command", schema("cmd", cmd=STRING, workdir=STRING))
READ = ("Read", schema("file_path", file_path=STRING))
WRITE_STDIN = ("write_stdin", schema("session_id", session_id={"type": "number"}, chars=STRING))
CODE = ("functions__exec", schema("input", input=STRING))
ANSWER = ("StructuredOutput", schema("verdict", "score", verdict=STRING, score={"type": "integer"}))
USER, ASSISTANT, RESULT = 1, 2, 4


def ask(client, *tools, user="Run `echo hi`", system="", **fields):
    message = client.request("fake-agent", user)
    message.system_prompt = system
    for name, parameters in tools:
        message.tools.add(name=name, parameters=json.dumps(parameters))
    for name, value in fields.items():
        setattr(message, name, value)
    return message


def answered(message, *results, name="Bash"):
    for number in range(len(results)):
        call = message.messages.add(source=ASSISTANT).tool_calls.add(id=f"call_{number}", name=name)
        call.arguments_json = "{}"
    for number, text in enumerate(results):
        message.messages.add(source=RESULT, text=text, tool_call_id=f"call_{number}")
    return message


def called(reply):
    calls = {}
    current = None
    for message in reply.messages:
        for call in message.tool_calls:
            if call.id:
                current = calls.setdefault(call.id, [call.name, ""])
            current[1] += call.arguments_json
    return [(name, json.loads(arguments)) for name, arguments in calls.values()]


def tools_of(client, *tools):
    return ask(client, *tools).tools


def test_it_calls_the_shell_with_the_command_between_backticks(client):
    reply = client.send(ask(client, READ, BASH))
    assert called(reply) == [("Bash", {"command": "echo hi"})]
    assert reply.text == ""
    assert reply.end == {}


def test_it_reports_what_the_command_said_and_stops(client):
    reply = client.send(answered(ask(client, BASH), "hi\n"))
    assert called(reply) == []
    assert reply.text == "The commands said:\nhi\n"


def test_it_calls_twice_in_one_turn_for_two_commands(client):
    reply = client.send(ask(client, BASH, user="Run `a` and `b`."))
    assert called(reply) == [("Bash", {"command": "a"}), ("Bash", {"command": "b"})]


def test_it_reports_both_results(client):
    reply = client.send(answered(ask(client, BASH, user="Run `a` and `b`."), "of a", "of b"))
    assert reply.text == "The commands said:\nof a\nof b"


def test_it_calls_one_after_the_other_when_parallel_is_not_allowed(client):
    message = ask(client, BASH, user="Run `a` and `b`.", disable_parallel_tool_calls=True)
    assert called(client.send(message)) == [("Bash", {"command": "a"})]
    assert called(client.send(answered(message, "of a"))) == [("Bash", {"command": "b"})]


def test_it_goes_on_with_the_next_prompt_of_a_session(client):
    message = answered(ask(client, BASH), "hi")
    message.messages.add(source=ASSISTANT, text="done")
    message.messages.add(source=USER, text="Now `echo more`")
    assert called(client.send(message)) == [("Bash", {"command": "echo more"})]


@pytest.mark.parametrize(
    "tools",
    [(), (READ,), (WRITE_STDIN,), (("Bash", {"type": "object"}),)],
    ids=["none", "read", "stdin", "bare"],
)
def test_without_a_shell_it_says_the_last_line_of_the_user(client, tools):
    reply = client.send(ask(client, *tools, user="context\n\nRun `echo hi`\n"))
    assert called(reply) == []
    assert reply.text == "Run `echo hi`"


def test_without_backticks_it_says_the_last_line_of_the_user(client):
    assert client.send(ask(client, BASH, user="Hello there")).text == "Hello there"


def test_an_echo_is_short(client):
    assert len(client.send(ask(client, user="x" * 10_000)).text) == 400


def test_a_choice_of_no_tool_is_obeyed(client):
    message = ask(client, BASH)
    message.tool_choice.option_name = "none"
    reply = client.send(message)
    assert (called(reply), reply.text) == ([], "Run `echo hi`")


def test_a_forced_tool_is_called_whatever_the_command(client):
    message = ask(client, BASH, ANSWER)
    message.tool_choice.option_name = "function"
    message.tool_choice.tool_name = "StructuredOutput"
    assert called(client.send(message)) == [("StructuredOutput", {"verdict": "Run `echo hi`", "score": 1})]


def test_the_answer_goes_to_the_tool_that_takes_answers_once(client):
    message = ask(client, BASH, ANSWER)
    assert called(client.send(message)) == [("Bash", {"command": "echo hi"})]
    answered(message, "hi")
    expected = {"verdict": "The commands said:\nhi", "score": 1}
    assert called(client.send(message)) == [("StructuredOutput", expected)]
    message.messages.add(source=ASSISTANT).tool_calls.add(
        id="x", name="StructuredOutput", arguments_json="{}"
    )
    message.messages.add(source=RESULT, text="thank you", tool_call_id="x")
    assert called(client.send(message)) == []


def test_an_output_format_in_the_system_text_is_obeyed(client):
    wanted = json.dumps(schema("reason", "score", reason=STRING, score={"type": "INTEGER"}, more=STRING))
    system = (
        f"Judge.\n\nAnswer with one JSON value that conforms to this JSON Schema and nothing else: {wanted}"
    )
    reply = client.send(ask(client, user="How hard is it?", system=system))
    assert json.loads(reply.text) == {"reason": "How hard is it?", "score": 1}


@pytest.mark.parametrize(
    "name", ["shell", "bash", "exec_command", "run_shell_command", "local_shell", "a__shell"]
)
def test_a_shell_is_found_by_its_name(client, name):
    found = find_shell(tools_of(client, READ, (name, schema("command", command=STRING))))
    assert found is not None
    assert found.name == name


def test_a_shell_is_found_by_its_schema(client):
    found = find_shell(tools_of(client, READ, ("do", schema("command", command=STRING))))
    assert found is not None
    assert found.name == "do"


def test_a_tool_for_commands_comes_before_one_for_code(client):
    found = find_shell(tools_of(client, CODE, EXEC_COMMAND))
    assert found is not None
    assert found.name == "exec_command"


@pytest.mark.parametrize(
    ("tool", "expected"),
    [
        (EXEC_COMMAND, {"cmd": "ls"}),
        (("shell", schema("command", command=STRINGS)), {"command": ["bash", "-lc", "ls"]}),
        (("shell", schema("commands", commands=STRINGS)), {"commands": ["ls"]}),
        (("bash", schema("command", "description", command=STRING, description=STRING)), None),
        (("shell", schema("input", input=STRING)), {"input": "ls"}),
    ],
)
def test_arguments_follow_the_schema(client, tool, expected):
    (offered,) = tools_of(client, tool)
    expected = expected or {"command": "ls", "description": "x"}
    assert json.loads(arguments_for(offered, "ls")) == expected


def test_a_tool_for_code_gets_code(client):
    (offered,) = tools_of(client, CODE)
    code = json.loads(arguments_for(offered, 'echo "hi"'))["input"]
    assert code == 'const result = await tools.exec_command({cmd: "echo \\"hi\\""});\ntext(result.output);\n'


def test_a_nullable_command_is_a_command(client):
    (offered,) = tools_of(client, ("bash", schema(command={"type": ["string", "null"]})))
    assert command_key(offered) == "command"


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["Run `a`"], (0, ["a"])),
        (["Run `a`", "no more"], (0, ["a"])),
        (["Run `a`", "Run `b`"], (1, ["b"])),
        (["see `context`\nRun `a` and `b`"], (0, ["a", "b"])),
        (["Run `a`\n<system-reminder>\nsee `x`\n</system-reminder>"], (0, ["a"])),
        (["Run `a`", "[system]\nsee `x`"], (0, ["a"])),
        (["```\ncode\n```"], (-1, [])),
        (["Run ``a``"], (-1, [])),
        ([], (-1, [])),
    ],
)
def test_commands_are_those_of_the_users_last_line_with_backticks(client, texts, expected):
    message = client.request("fake-agent", "")
    for text in texts:
        message.messages.add(source=USER, text=text)
    assert last_commands(message.messages) == expected


@pytest.mark.parametrize(
    "system", ["", "JSON Schema: not json", "this JSON Schema: {broken", "this JSON Schema and more: [1]"]
)
def test_a_system_text_without_a_schema_asks_for_nothing(system):
    assert output_schema(system) is None


def test_what_a_schema_fixes_is_not_filled_with_text():
    wanted = schema(
        "a", "b", "c", "d", a={"enum": ["p"]}, b={"const": 2}, c={"type": "integer", "minimum": 3}, d=STRING
    )
    assert json.loads(fill(wanted, "said")) == {"a": "p", "b": 2, "c": 3, "d": "said"}
