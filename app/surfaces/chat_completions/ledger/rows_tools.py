"""Tools, which of them the model may or must call, and the legacy functions."""

from __future__ import annotations

from app.ledger import Disposition, Parameter
from app.surfaces.chat_completions.ledger import rules
from app.turn.features import Feature

FORWARDED = Disposition.FORWARDED
EMULATED = Disposition.EMULATED
IGNORED = Disposition.IGNORED

_FUNCTION = {"type": "function", "function": {"name": "f"}}
_CUSTOM = {"type": "custom", "custom": {"name": "c"}}
_GRAMMAR = {"syntax": "lark", "definition": "start: /.+/"}

TOOLS = (
    Parameter(
        "tools",
        FORWARDED,
        "What the model may call. Refused where the upstream knows no tools; with one neutral line of system "
        "text where it fails on tools without any.",
        feature=Feature.TOOLS,
        without=Disposition.REFUSED,
        rule=rules.tools,
        samples=([_FUNCTION], [_FUNCTION, {"type": "function", "function": {"name": "g"}}]),
        wire="tools[]",
    ),
    Parameter("tools[].type=function", FORWARDED, "A function.", samples=(_FUNCTION,), wire="tools[]"),
    Parameter(
        "tools[].type=custom",
        EMULATED,
        "A tool that takes free text: offered as a function with one string argument and unwrapped again.",
        samples=(_CUSTOM,),
        wire="tools[]",
    ),
    Parameter(
        "tools[type=function].function",
        FORWARDED,
        "The function's definition.",
        samples=({"name": "f"}, {"name": "g"}),
        wire="tools[]",
    ),
    Parameter(
        "tools[type=function].function.name",
        FORWARDED,
        "Its name.",
        samples=("f", "g"),
        wire="tools[].name",
    ),
    Parameter(
        "tools[type=function].function.description",
        FORWARDED,
        "What it does, in words; never rewritten.",
        samples=("one", "two"),
        wire="tools[].description",
    ),
    Parameter(
        "tools[type=function].function.parameters",
        FORWARDED,
        "A JSON Schema, passed as it is; absent, {} and {type: object} become an empty object schema.",
        samples=(
            {"type": "object", "properties": {"x": {"type": "string"}}},
            {"type": "object", "properties": {"y": {"$ref": "#/$defs/N"}}},
        ),
        wire="tools[].parameters",
    ),
    Parameter(
        "tools[type=function].function.strict",
        FORWARDED,
        "Asks that arguments conform to the schema.",
        feature=Feature.STRICT_TOOLS,
        neutral=(False,),
        samples=(True,),
        wire="tools[].strict",
    ),
    Parameter(
        "tools[type=custom].custom",
        EMULATED,
        "The tool's definition.",
        silent=True,
        samples=({"name": "c"}, {"name": "d"}),
        wire="tools[]",
    ),
    Parameter(
        "tools[type=custom].custom.name",
        FORWARDED,
        "Its name.",
        samples=("c", "d"),
        wire="tools[].name",
    ),
    Parameter(
        "tools[type=custom].custom.description",
        FORWARDED,
        "What it does, in words; never rewritten.",
        samples=("one", "two"),
        wire="tools[].description",
    ),
    Parameter(
        "tools[type=custom].custom.format",
        IGNORED,
        "A grammar that the text must follow: described to the model, enforced by no upstream.",
        neutral=({"type": "text"},),
        samples=({"type": "grammar", "grammar": _GRAMMAR},),
    ),
    Parameter(
        "tools[type=custom].custom.format.type=text",
        FORWARDED,
        "Free text; it asks for nothing.",
        samples=({"type": "text"},),
    ),
    Parameter(
        "tools[type=custom].custom.format.type=grammar",
        IGNORED,
        "See format.",
        silent=True,
        samples=({"type": "grammar", "grammar": _GRAMMAR},),
    ),
    Parameter(
        "tools[type=custom].custom.format[type=grammar].grammar",
        IGNORED,
        "See format.",
        silent=True,
        samples=(_GRAMMAR,),
    ),
    Parameter(
        "tools[].cache_control",
        IGNORED,
        "Another vendor's caching mark, sent by clients of several vendors.",
        samples=({"type": "ephemeral"},),
    ),
)

CHOICE = (
    Parameter(
        "parallel_tool_calls",
        FORWARDED,
        "false is a preference for one call at a time: served without it where the upstream has no field for it. "
        "Calls are never cut.",
        feature=Feature.DISABLE_PARALLEL_TOOL_CALLS,
        rule=rules.parallel_tool_calls,
        neutral=(True,),
        samples=(False,),
        wire="disable_parallel_tool_calls",
        hint_event="parallel_tool_calls_hint_ignored",
    ),
    Parameter(
        "tool_choice",
        FORWARDED,
        "`none` withholds the tools; a subset narrows them. That a call must happen is passed on where the "
        "upstream has a field for it and ignored otherwise; then one named tool is the only one offered.",
        feature=Feature.TOOL_CHOICE,
        rule=rules.tool_choice,
        neutral=("auto",),
        samples=("required", "none"),
        wire="tool_choice",
    ),
    Parameter(
        "tool_choice.type=function",
        FORWARDED,
        "Demands one named function; see tool_choice.",
        feature=Feature.TOOL_CHOICE,
        without=EMULATED,
        silent=True,
        samples=(_FUNCTION,),
        wire="tool_choice",
    ),
    Parameter(
        "tool_choice[type=function].function",
        FORWARDED,
        "Names the function.",
        feature=Feature.TOOL_CHOICE,
        without=EMULATED,
        silent=True,
        samples=({"name": "f"},),
        wire="tool_choice",
    ),
    Parameter(
        "tool_choice[type=function].function.name",
        FORWARDED,
        "The name, which must be among the tools.",
        feature=Feature.TOOL_CHOICE,
        without=EMULATED,
        silent=True,
        samples=("f", "g"),
        wire="tool_choice.tool_name",
    ),
    Parameter(
        "tool_choice.type=custom",
        FORWARDED,
        "Demands one named custom tool; see tool_choice.",
        feature=Feature.TOOL_CHOICE,
        without=EMULATED,
        silent=True,
        samples=(_CUSTOM,),
        wire="tool_choice",
    ),
    Parameter(
        "tool_choice[type=custom].custom",
        FORWARDED,
        "Names the tool.",
        feature=Feature.TOOL_CHOICE,
        without=EMULATED,
        silent=True,
        samples=({"name": "c"},),
        wire="tool_choice",
    ),
    Parameter(
        "tool_choice[type=custom].custom.name",
        FORWARDED,
        "The name, which must be among the tools.",
        feature=Feature.TOOL_CHOICE,
        without=EMULATED,
        silent=True,
        samples=("c", "d"),
        wire="tool_choice.tool_name",
    ),
    Parameter(
        "tool_choice.type=allowed_tools",
        EMULATED,
        "Only the named tools are offered; see tool_choice.",
        silent=True,
        samples=({"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [_FUNCTION]}},),
        wire="tools[]",
    ),
    Parameter(
        "tool_choice[type=allowed_tools].allowed_tools",
        EMULATED,
        "The subset and its mode; see tool_choice.",
        silent=True,
        samples=({"mode": "auto", "tools": [_FUNCTION]}, {"mode": "auto", "tools": [_CUSTOM]}),
        wire="tools[]",
    ),
    Parameter(
        "tool_choice[type=allowed_tools].allowed_tools.mode",
        EMULATED,
        "`auto` or `required`; see tool_choice.",
        silent=True,
        samples=("auto", "required"),
        wire="tool_choice",
    ),
    Parameter(
        "tool_choice[type=allowed_tools].allowed_tools.tools",
        EMULATED,
        "The tools that may be called; an empty list allows none.",
        silent=True,
        samples=([_FUNCTION], []),
        wire="tools[]",
    ),
    Parameter(
        "tool_choice[type=allowed_tools].allowed_tools.tools[].type=function",
        EMULATED,
        "Names a function.",
        silent=True,
        samples=(_FUNCTION,),
        wire="tools[]",
    ),
    Parameter(
        "tool_choice[type=allowed_tools].allowed_tools.tools[type=function].function",
        FORWARDED,
        "Names the function.",
        samples=({"name": "f"},),
        wire="tools[]",
    ),
    Parameter(
        "tool_choice[type=allowed_tools].allowed_tools.tools[].type=custom",
        EMULATED,
        "Names a custom tool.",
        silent=True,
        samples=(_CUSTOM,),
        wire="tools[]",
    ),
    Parameter(
        "tool_choice[type=allowed_tools].allowed_tools.tools[type=custom].custom",
        FORWARDED,
        "Names the tool.",
        samples=({"name": "c"},),
        wire="tools[]",
    ),
)

LEGACY = (
    Parameter(
        "functions",
        EMULATED,
        "Deprecated: rewritten to tools. The reply has a function_call, which holds one call, the first.",
        rule=rules.functions,
        samples=([{"name": "f"}], [{"name": "g"}]),
        wire="tools[]",
    ),
    Parameter("functions[].name", FORWARDED, "Its name.", samples=("f", "g"), wire="tools[].name"),
    Parameter(
        "functions[].description",
        FORWARDED,
        "What it does, in words; never rewritten.",
        samples=("one", "two"),
        wire="tools[].description",
    ),
    Parameter(
        "functions[].parameters",
        FORWARDED,
        "A JSON Schema, passed as it is; absent, {} and {type: object} become an empty object schema.",
        samples=(
            {"type": "object", "properties": {"x": {"type": "string"}}},
            {"type": "object", "properties": {"y": {"type": "string"}}},
        ),
        wire="tools[].parameters",
    ),
    Parameter(
        "functions[].strict",
        FORWARDED,
        "Asks that arguments conform to the schema.",
        feature=Feature.STRICT_TOOLS,
        neutral=(False,),
        samples=(True,),
        wire="tools[].strict",
    ),
    Parameter(
        "function_call",
        EMULATED,
        "Deprecated: does what tool_choice does.",
        rule=rules.tool_choice,
        neutral=("auto",),
        samples=({"name": "f"}, "none"),
        wire="tools[]",
    ),
    Parameter(
        "function_call.name",
        EMULATED,
        "The name, which must be among the functions.",
        silent=True,
        samples=("f", "g"),
        wire="tool_choice.tool_name",
    ),
)

TOOL_ROWS = (*TOOLS, *CHOICE, *LEGACY)
