"""``fake-agent``: a model that is given tools by a coding agent and does what the user's text asks for.

It runs the commands that stand between backticks in the user's text with whatever shell-like tool it is
offered, reports what came back, and stops. Where an output format is asked for, it answers JSON of that shape.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from app.upstreams.connect import wire_pb2
from fake_upstream.schema_sample import minimal
from fake_upstream.speech import NO_TEXT, TOOL_RESULT, USER, Request, call, speak
from fake_upstream.steps import Step

LONGEST_ECHO = 400
LONGEST_REPORT = 4000

SHELL_NAMES = (
    "exec_command",
    "run_shell_command",
    "shell_command",
    "run_command",
    "run_shell",
    "local_shell",
    "shell",
    "bash",
    "terminal",
    "exec",
)
"""Names of tools that run commands, without namespace and in lower case; the first one offered is taken."""

COMMAND_KEYS = ("command", "cmd", "commands", "script", "input")
"""Where such a tool wants its command."""

ANSWER_NAMES = ("structuredoutput", "final_result")
"""Tools by which an agent takes a final answer of a given shape."""

_COMMAND = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
_REMINDER = re.compile(r"<(system-reminder|session_context|environment_context)>.*?</\1>", re.DOTALL)
_BOUNDS = {"$ref", "anyOf", "const", "default", "enum", "format", "minimum", "exclusiveMinimum", "multipleOf"}
_SYSTEM_TURN = "[system]\n"
_SCHEMA = re.compile(r"JSON Schema[^:\n]*: (?=\{)")

Tool = wire_pb2.ToolDefinition


def act(request: Request) -> tuple[Step, ...]:
    """The next step of the task: the calls that are still to be made, else the report."""
    forced = request.tool_choice.option_name == "function"
    shell = None if request.tool_choice.option_name == "none" else find_shell(request.tools)
    at, commands = last_commands(request.messages)
    results = [message.text for message in request.messages[at + 1 :] if message.source == TOOL_RESULT]
    if shell is not None and commands[len(results) :] and not forced:
        left = commands[len(results) :]
        if request.disable_parallel_tool_calls:
            left = left[:1]
        return call(request, [(shell.name, arguments_for(shell, command)) for command in left])
    text = report(results) if results else echo(request.messages)
    answer = _answer_tool(request)
    if answer is not None:
        return call(request, [(answer.name, fill(_schema(answer.parameters), text))])
    schema = output_schema(request.system_prompt)
    return speak(request, fill(schema, text) if schema is not None else text)


def last_commands(messages: Sequence[wire_pb2.ChatMessage]) -> tuple[int, list[str]]:
    """The commands of the last line with backticks that the user wrote, and the index of its message.

    What a coding agent wraps around the user's own words does not count. -1 and no commands when there are none.
    """
    for index in range(len(messages) - 1, -1, -1):
        if messages[index].source != USER:
            continue
        for line in reversed(own_words(messages[index].text).splitlines()):
            if commands := _COMMAND.findall(line):
                return index, [command.strip() for command in commands]
    return -1, []


def own_words(text: str) -> str:
    """A user text without what a coding agent adds to it; nothing is left of a system turn in mid-conversation."""
    return "" if text.startswith(_SYSTEM_TURN) else _REMINDER.sub("", text)


def echo(messages: Sequence[wire_pb2.ChatMessage]) -> str:
    """The last line that the user wrote, cut short."""
    for message in reversed(messages):
        if message.source == USER and (words := own_words(message.text).strip()):
            return words.splitlines()[-1][:LONGEST_ECHO]
    return NO_TEXT


def report(results: Sequence[str]) -> str:
    """What the commands printed."""
    return "The commands said:\n" + "\n".join(results)[:LONGEST_REPORT]


def find_shell(tools: Sequence[Tool]) -> Tool | None:
    """The tool that runs commands: by its name, which may be flattened from a namespace, and by its schema."""
    for name in SHELL_NAMES:
        for tool in tools:
            if _bare(tool.name) == name and command_key(tool) is not None:
                return tool
    for tool in tools:
        if {"command", "cmd"} & _properties(tool).keys() and command_key(tool) is not None:
            return tool
    return None


def command_key(tool: Tool) -> str | None:
    """The property in which ``tool`` takes a command, as a string or as a list of strings."""
    properties = _properties(tool)
    for key in COMMAND_KEYS:
        if key in properties and _kind(properties[key]) in ("string", "array"):
            return key
    return None


def arguments_for(tool: Tool, command: str) -> str:
    """The arguments that run ``command``, with whatever else the schema requires filled minimally."""
    key = command_key(tool)
    assert key is not None
    schema = _schema(tool.parameters)
    arguments = minimal(schema, schema)
    arguments = arguments if isinstance(arguments, dict) else {}
    value: object = command
    if _kind(_properties(tool)[key]) == "array":
        value = [command] if key == "commands" else ["bash", "-lc", command]
    elif _bare(tool.name) == "exec" and list(_properties(tool)) == ["input"]:
        value = code_for(command)
    arguments[key] = value
    return _json(arguments)


def code_for(command: str) -> str:
    """JavaScript for a tool that runs code, in which the shell is a function."""
    return f"const result = await tools.exec_command({{cmd: {json.dumps(command)}}});\ntext(result.output);\n"


def output_schema(system: str) -> Mapping[str, Any] | None:
    """The JSON Schema that the system text asks an answer to conform to, if it does."""
    decoder = json.JSONDecoder()
    for found in reversed(list(_SCHEMA.finditer(system))):
        try:
            schema, _ = decoder.raw_decode(system, found.end())
        except ValueError:
            continue
        if isinstance(schema, dict):
            return schema
    return None


def fill(schema: Mapping[str, Any], text: str) -> str:
    """A minimal value of ``schema`` as JSON; what is free at its top is ``text``, or 1 where a number must be."""
    value = minimal(schema, schema)
    if isinstance(value, dict):
        for key, property_ in _mapping(schema.get("properties")).items():
            if key in value and not _BOUNDS & _mapping(property_).keys():
                kind = _kind(property_)
                if kind == "string":
                    value[key] = text
                elif kind in ("integer", "number"):
                    value[key] = 1
    return _json(value)


def _answer_tool(request: Request) -> Tool | None:
    """The tool that must take the answer: the one that is forced, or an agent's own until it has been called."""
    if request.tool_choice.option_name == "function":
        return next(tool for tool in request.tools if tool.name == request.tool_choice.tool_name)
    called = {made.name for message in request.messages for made in message.tool_calls}
    for tool in request.tools:
        if _bare(tool.name) in ANSWER_NAMES and tool.name not in called:
            return tool
    return None


def _bare(name: str) -> str:
    return re.split(r"__|[./]", name)[-1].lower()


def _schema(text: str) -> Mapping[str, Any]:
    try:
        return _mapping(json.loads(text))
    except (ValueError, RecursionError):
        return {}


def _properties(tool: Tool) -> Mapping[str, Any]:
    return _mapping(_schema(tool.parameters).get("properties"))


def _kind(schema: object) -> str:
    kind = _mapping(schema).get("type")
    if isinstance(kind, list):
        kind = next((one for one in kind if one != "null"), None)
    return kind.lower() if isinstance(kind, str) else "string"


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
