"""Every case of the collection has its tests: a file says which it holds, and each has a test by its number."""

from __future__ import annotations

import ast
from pathlib import Path

COLLECTION = {
    "a": "C01 C03 C04 C06 C07 C10",
    "b": "C12 C13",
    "c": "C16 C18 C19 C20 C21",
    "d": "C24 C25 C27 C29 C31 C32 C35",
    "e": "C37 C39 C40",
    "f": "C45",
    "g": "C50 C52 C54",
    "h": "C55 C56 C58 C60 C62",
    "i": "C64 C66 C67 C68",
    "j": "C71 C72",
    "k": "C73 C74 C76 C78",
    "l": "C80",
    "m": "C82 C83 C84 C85",
    "n": "C88 C90 C91 C93",
}


def tree(letter: str) -> ast.Module:
    return ast.parse((Path(__file__).parent / f"test_cases_{letter}.py").read_text())


def declared(module: ast.Module) -> list[str]:
    for node in module.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "NUMBERS":
            return list(ast.literal_eval(node.value))
    raise AssertionError("no NUMBERS")


def test_no_case_is_missing() -> None:
    assert {letter: " ".join(declared(tree(letter))) for letter in COLLECTION} == COLLECTION


def test_every_case_has_a_test_that_bears_its_number() -> None:
    for letter, numbers in COLLECTION.items():
        names = [node.name for node in tree(letter).body if isinstance(node, ast.FunctionDef)]
        tested = {part.upper() for name in names if name.startswith("test_c") for part in name.split("_")}
        assert set(numbers.split()) <= tested, letter
