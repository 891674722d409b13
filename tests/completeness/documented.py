"""What is documented: every path of the installed official packages' request types, and of the recorded universe.

Paths are written as the ledger writes them: ``input[type=reasoning].summary``, ``tools[].type=custom``.
"""

from __future__ import annotations

import collections.abc
import json
import re
import types
import typing
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import typing_extensions
from pydantic import BaseModel
from pydantic.alias_generators import to_camel

UNIVERSE = Path(__file__).parents[1] / "data" / "universe"
DEEPEST = 6
_TAGS = ("type", "role", "mode")
_LISTS = (list, collections.abc.Iterable, collections.abc.Sequence)


def recorded(name: str) -> dict[str, Any]:
    """One file of the universe."""
    data: dict[str, Any] = json.loads((UNIVERSE / f"{name}.json").read_text())
    return data


def paths_of_universe(entries: Iterable[dict[str, Any]]) -> list[str]:
    """``input[].type=message.role`` -> ``input[type=message].role``; the tag itself is left to its kinds."""
    paths = [
        re.sub(r"(?:\[\])?\.(type|role)=([\w.]+?)\.(?=.)", r"[\1=\2].", entry["path"]) for entry in entries
    ]
    return sorted({path.removesuffix("[]").removesuffix("{}") for path in paths})


def paths_of_typed_dict(root: Any) -> list[str]:
    """Every path of a request's TypedDict."""
    return sorted(set(_fields(root, "", ())))


def paths_of_model(root: type[BaseModel], path: str) -> list[str]:
    """Every path of a pydantic model that stands at ``path``, in camelCase."""
    return sorted(set(_fields(root, path, ())))


def _fields(holder: Any, path: str, within: tuple[Any, ...]) -> Iterator[str]:
    """The paths of an object's fields and of all below."""
    if holder in within or len(within) >= DEEPEST:
        return
    for name, hint in _hints(holder).items():
        here = f"{path}.{name}" if path else name
        yield here
        yield from _below(hint, here, (*within, holder))


def _below(hint: Any, path: str, within: tuple[Any, ...]) -> Iterator[str]:
    """The paths below a value of this type, whatever of its alternatives it is."""
    is_model = isinstance(within[-1], type) and issubclass(within[-1], BaseModel)
    objects = [
        (each, in_list)
        for each, in_list in _objects(hint, in_list=False)
        if typing_extensions.is_typeddict(each)
        is not is_model  # a reply's model may stand for its dictionary
    ]
    for one, in_list in objects:
        place = f"{path}[]" if in_list else path
        tag, kinds = _kinds(one)
        if tag is not None:
            for kind in kinds:
                yield f"{place}.{tag}={kind}"
                yield from _fields(one, f"{path}[{tag}={kind}]", within)
        else:
            yield from _fields(one, place, within)


def _objects(hint: Any, *, in_list: bool) -> Iterator[tuple[Any, bool]]:
    """(object type, whether it is an element of a list) for everything that ``hint`` allows."""
    hint = getattr(hint, "__value__", hint)  # of a type alias
    origin = typing.get_origin(hint)
    if typing_extensions.is_typeddict(hint) or (isinstance(hint, type) and issubclass(hint, BaseModel)):
        yield hint, in_list
    elif origin in (typing.Union, types.UnionType):
        for each in typing.get_args(hint):
            yield from _objects(each, in_list=in_list)
    elif origin in (typing.Annotated, typing.Required, typing.NotRequired):
        yield from _objects(typing.get_args(hint)[0], in_list=in_list)
    elif origin in _LISTS or getattr(origin, "__name__", "") == "SequenceNotStr":
        for each in typing.get_args(hint):
            yield from _objects(each, in_list=True)


def _hints(holder: Any) -> dict[str, Any]:
    if typing_extensions.is_typeddict(holder):
        return {
            _alias(name, hint): hint
            for name, hint in typing_extensions.get_type_hints(holder, include_extras=True).items()
        }
    return {field.alias or to_camel(name): field.annotation for name, field in holder.model_fields.items()}


def _alias(name: str, hint: Any) -> str:
    """The name on the wire: a package may have to spell it otherwise (``async_``)."""
    for each in _annotations(hint):
        alias = getattr(each, "alias", None)
        if isinstance(alias, str) and re.fullmatch(r"[a-z_]+", alias):
            return alias
    return name


def _annotations(hint: Any) -> Iterator[Any]:
    if typing.get_origin(hint) is typing.Annotated:
        yield from typing.get_args(hint)[1:]
    if typing.get_origin(hint) in (typing.Annotated, typing.Required, typing.NotRequired):
        yield from _annotations(typing.get_args(hint)[0])


def _kinds(holder: Any) -> tuple[str | None, list[str]]:
    """The tag key that tells this object's kind, and the kinds that it has."""
    for tag in _TAGS:
        hint = _hints(holder).get(tag)
        values = [value for value in _literals(hint) if isinstance(value, str)]
        if values:
            return tag, values
    return None, []


def _literals(hint: Any) -> Iterator[Any]:
    origin = typing.get_origin(hint)
    if origin is typing.Literal:
        yield from typing.get_args(hint)
    elif origin in (typing.Union, types.UnionType, typing.Required, typing.NotRequired):
        for each in typing.get_args(hint):
            yield from _literals(each)
    elif origin is typing.Annotated:
        yield from _literals(typing.get_args(hint)[0])
