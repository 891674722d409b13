"""The runner itself, on a small tree of its own with four tests and a dozen ways to break it."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from tests.mutations.__main__ import LIMITS, Limits, main, summary, too_slow
from tests.mutations.judge import Verdict
from tests.mutations.record import recorded
from tests.mutations.spec import BEYOND, FAMILIES, read_all

CODE = '''
"""Sums."""

def add(one, other):
    return one + other

def double(one):
    return add(one, one)

def unused():
    return 1
'''
TESTS = """
import pathlib
from code_of_tree import add, double

def test_add():
    assert add(2, 3) == 5

def test_add_nothing():
    assert add(2, 0) == 2

def test_double():
    assert double(4) == 8

def test_the_tree_is_not_touched():
    assert "TREE" not in str(pathlib.Path.cwd())
"""
ADD = "tests/test_tree.py::test_add"
DOUBLE = "tests/test_tree.py::test_double"


class Tree:
    """A tree with one spec; ``run`` judges it."""

    def __init__(self, folder: Path, capture: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
        self._capture = capture
        self.spec = folder / "tests/mutations/specs/sums.toml"
        self.spec.parent.mkdir(parents=True)
        (folder / "code_of_tree.py").write_text(CODE)
        (folder / "tests/test_tree.py").write_text(TESTS)
        (folder / "pyproject.toml").write_text('[tool.pytest.ini_options]\npythonpath = ["."]\n')

    def write(self, **changes: object) -> None:
        """One mutation that is as expected but for ``changes``, whose values are TOML."""
        entry = {
            "name": '"minus"',
            "family": f'"{BEYOND}"',
            "why": '"sums must be right"',
            "file": '"code_of_tree.py"',
            "anchor": '"return one + other"',
            "replacement": '"return one - other"',
            "red": f'["{ADD}", "{DOUBLE}"]',
            **changes,
        }
        mutation = "".join(f"{key} = {value}\n" for key, value in entry.items() if value is not None)
        head = 'about = "sums"\ntests = ["tests/test_tree.py"]\nbaseline = 4\n'
        self.spec.write_text(f"{head}\n[[mutation]]\n{mutation}")

    def run(self, *arguments: str, limits: Limits = LIMITS) -> tuple[int, str]:
        """(exit code, report)."""
        code = main([*arguments, "--jobs", "1"], root=self.folder, preloaded=(), limits=limits)
        told = self._capture.readouterr()
        return code, told.out + told.err

    def contents(self) -> dict[str, bytes]:
        """Everything in the tree."""
        files = (path for path in self.folder.rglob("*") if path.is_file())
        return {str(path.relative_to(self.folder)): path.read_bytes() for path in files}


@pytest.fixture
def tree(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Tree:
    return Tree(tmp_path / "TREE", capsys)


def test_a_mutation_with_its_exact_red_set_is_as_expected(tree: Tree) -> None:
    tree.write()
    code, report = tree.run()
    assert code == 0, report
    assert "CAUGHT" in report
    assert "sums/minus" in report
    assert ADD in report
    assert DOUBLE in report
    assert "1 mutations" in report
    assert "all as expected" in report


def test_the_tree_is_left_as_it_was(tree: Tree) -> None:
    tree.write()
    before = tree.contents()
    tree.run()
    assert tree.contents() == before


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"anchor": '"return two"'}, "the anchor is 0 times in code_of_tree.py, not once"),
        ({"anchor": '"one"'}, "times in code_of_tree.py, not once"),
        ({"file": '"gone.py"'}, "there is no gone.py"),
        ({"baseline": 5}, "the baseline drifted: 4 tests pass, the spec says 5"),
        ({"red": f'["{ADD}"]'}, f"another red set; red too: {DOUBLE}"),
        ({"red": f'["{ADD}", "{DOUBLE}", "{ADD}_nothing"]'}, f"another red set; not red: {ADD}_nothing"),
        (
            {"anchor": '"return 1"', "replacement": '"return 2"'},
            "it survives, and no reason is written down",
        ),
        (
            {"red": "[]", "survives": '"nothing looks"'},
            "it is caught, although the spec says why it cannot be",
        ),
        ({"tests": '["tests/test_tree.py::test_gone"]'}, "no test ran"),
        ({"replacement": '"return ("'}, "no test ran"),
    ],
)
def test_what_is_not_as_expected_fails_the_run_and_says_why(
    tree: Tree, changes: dict[str, object], problem: str
) -> None:
    tree.write(**changes)
    code, report = tree.run()
    assert code == 1, report
    assert problem in report
    assert "NOT AS EXPECTED" in report


CONDITIONAL = f"""{TESTS}
import pytest

@pytest.mark.skipif(add(1, 1) != 2, reason="no sums")
def test_that_skips():
    assert add(2, 2) == 4

@pytest.mark.parametrize("sum", [add(1, 1)] if add(1, 1) == 2 else [])
def test_of_a_list(sum):
    assert sum == 2

if add(1, 1) == 2:
    def test_that_vanishes():
        assert add(2, 2) == 4
"""
SKIPPED = "with the mutation these are skipped: tests/test_tree.py::"


@pytest.mark.parametrize(
    ("test", "problem"),
    [
        ("test_that_skips", f"{SKIPPED}test_that_skips"),
        ("test_of_a_list", f"{SKIPPED}test_of_a_list["),
        (
            "test_that_vanishes",
            "with the mutation 2 tests pass and 2 fail, which makes not the 5 of the baseline",
        ),
    ],
)
def test_a_test_that_is_skipped_or_gone_is_not_a_red_one_and_fails_the_run(
    tree: Tree, test: str, problem: str
) -> None:
    tree.write(tests=f'["tests/test_tree.py", "-k", "add or double or touched or {test}"]', baseline=5)
    (tree.folder / "tests/test_tree.py").write_text(CONDITIONAL)
    code, report = tree.run()
    assert code == 1, report
    assert "BROKEN" in report
    assert problem in report


def test_a_mutation_that_takes_longer_than_any_may_fails_the_run(tree: Tree) -> None:
    tree.write()
    code, report = tree.run(limits=Limits(one_s=0.001))
    assert code == 1
    assert "over 0.001 s: sums/minus" in report
    assert "over 0.002 s, which no mutation may take: sums/minus" in report


@pytest.mark.parametrize(
    ("seconds", "named", "fails"), [(8, False, False), (9, True, False), (17, True, True)]
)
def test_a_mutation_is_named_over_the_limit_and_fails_at_twice_as_much(
    tree: Tree, seconds: float, named: bool, fails: bool
) -> None:
    tree.write()
    (mutation,) = read_all(tree.spec.parent)
    verdict = Verdict(mutation, "CAUGHT", mutation.red, "", seconds)
    told = summary([verdict], seconds, LIMITS)
    assert ("over 8 s: sums/minus" in told) is named
    assert ("over 16 s, which no mutation may take: sums/minus" in told) is fails
    assert (too_slow([verdict], LIMITS) == [verdict]) is fails


def test_a_run_whose_time_is_up_ends_and_fails(tree: Tree) -> None:
    tree.write()
    code, report = tree.run(limits=Limits(all_s=0.006))
    assert code == 1
    assert report == "the run was ended: 1 mutations may take 0.0001 minutes\n"


def test_a_whole_run_that_is_as_expected_is_kept_as_evidence_when_asked(tree: Tree) -> None:
    tree.write(family=f'"{FAMILIES[0]}"')
    (tree.folder / "evidence").mkdir()
    page = tree.folder / "evidence/mutations.txt"
    assert tree.run()[0] == 0
    assert not page.exists()
    assert tree.run("--evidence")[0] == 0
    title, _, blank, *lines = page.read_text().splitlines()
    assert (title, blank) == ("Mutations that the tests must catch", "")
    assert lines[0] == f"1 mutations, 1 caught, 0 survived for a reason; 1 of {len(FAMILIES)} families"
    assert lines[-3:] == ["", FAMILIES[0], "  caught     2  sums/minus"]


def test_evidence_is_of_a_whole_run_that_is_as_expected_only(tree: Tree) -> None:
    tree.write(red="[]")
    (tree.folder / "evidence").mkdir()
    assert tree.run("--evidence")[0] == 1
    with pytest.raises(SystemExit):
        tree.run("--evidence", "minus")
    assert not (tree.folder / "evidence/mutations.txt").exists()


def test_a_documented_survivor_is_as_expected(tree: Tree) -> None:
    tree.write(anchor='"return 1"', replacement='"return 2"', red="[]", survives='"nobody calls it"')
    code, report = tree.run()
    assert code == 0, report
    assert "SURVIVED" in report
    assert "documented: nobody calls it" in report


def test_a_baseline_that_is_red_fails_the_run(tree: Tree) -> None:
    tree.write()
    (tree.folder / "code_of_tree.py").write_text(
        CODE.replace("one + other", "one + other  # return one + other")
    )
    (tree.folder / "tests/test_tree.py").write_text(TESTS.replace("== 5", "== 6"))
    code, report = tree.run()
    assert code == 1
    assert f"on unchanged code these do not pass: {ADD}" in report


def test_mutations_are_applied_one_at_a_time(tree: Tree) -> None:
    tree.write()
    second = textwrap.dedent(f"""
        [[mutation]]
        name = "triple"
        family = "beyond the list"
        why = "sums must be right"
        file = "code_of_tree.py"
        anchor = "add(one, one)"
        replacement = "add(one, 2 * one)"
        red = ["{DOUBLE}"]
    """)
    tree.spec.write_text(tree.spec.read_text() + second)
    code, report = tree.run()
    assert code == 0, report
    assert "2 mutations" in report


def test_changes_of_equal_length_within_one_second_are_told_apart(tree: Tree) -> None:
    tree.write(red="[]")
    blocks = [
        f'[[mutation]]\nname = "{name}"\nfamily = "{BEYOND}"\nwhy = "sums must be right"\nfile = "code_of_tree.py"\n'
        f'anchor = "one + other"\nreplacement = "{change}"\nred = {red}\n'
        for name, change, red in (
            ("minus", "one - other", f'["{ADD}", "{DOUBLE}"]'),
            ("times", "one * other", f'["{ADD}", "{ADD}_nothing", "{DOUBLE}"]'),
            ("turned", "other + one", "[]\nsurvives = 'the same sum'"),
        )
    ]
    head = tree.spec.read_text().partition("[[mutation]]")[0]
    tree.spec.write_text(head + "\n".join(blocks))
    code, report = tree.run()
    assert code == 0, report


def test_a_part_of_a_name_narrows_the_run(tree: Tree) -> None:
    tree.write()
    assert tree.run("minus")[0] == 0
    code, report = tree.run("nothing-like-it")
    assert code == 2
    assert "no mutation has nothing-like-it in its name" in report


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"colour": '"red"'}, "sums/minus: unknown keys colour"),
        ({"why": None}, "sums/minus: needs 'why'"),
        ({"family": None}, "sums/minus: needs 'family'"),
        ({"family": '"sums"'}, "sums/minus: unknown family 'sums'; there are:\n  the 400 comes back"),
        ({"replacement": '"return one + other"'}, "sums/minus: changes nothing"),
        ({"survives": '"a reason"'}, "sums/minus: has a red set and yet a reason to survive"),
    ],
)
def test_a_spec_that_cannot_be_meant_stops_the_run(
    tree: Tree, changes: dict[str, object], problem: str
) -> None:
    tree.write(**changes)
    code, report = tree.run()
    assert code == 2
    assert problem in report


def test_recording_writes_what_was_found_and_the_next_run_is_as_expected(tree: Tree) -> None:
    tree.write(red="[]")
    tree.spec.write_text(tree.spec.read_text().replace("baseline = 4", "baseline = 0"))
    tree.run("--record")
    text = tree.spec.read_text()
    assert "baseline = 4\n" in text
    assert f'red = [\n    "{ADD}",\n    "{DOUBLE}",\n]\n' in text
    assert tree.run()[0] == 0


def test_recording_keeps_the_baselines_of_the_file_and_of_a_mutation_apart(tree: Tree) -> None:
    tree.write(red="[]")
    own = f"""
        [[mutation]]
        name = "own"
        family = "beyond the list"
        why = "sums must be right"
        file = "code_of_tree.py"
        anchor = "add(one, one)"
        replacement = "add(one, 3)"
        tests = ["{DOUBLE}"]
        baseline = 0
        red = []
    """
    tree.spec.write_text(tree.spec.read_text().replace("baseline = 4", "baseline = 0") + textwrap.dedent(own))
    tree.run("--record")
    text = tree.spec.read_text()
    assert [line for line in text.splitlines() if line.startswith("baseline")] == [
        "baseline = 4",
        "baseline = 1",
    ]
    assert tree.run()[0] == 0


def test_recording_touches_nothing_but_baselines_and_red_sets() -> None:
    text = textwrap.dedent("""
        about = "x"  # a comment
        baseline = 1

        [[mutation]]
        name = "a"
        anchor = '''
        red = 3'''
        red = [
            "old",
        ]

        [[mutation]]
        name = "b"
        baseline = 2
        red = []
        # the end
    """)
    written = recorded(text, {None: 5, "a": 5, "b": 7}, {"a": [], "b": ["n[\\x]", "m"]})
    expected = text.replace("baseline = 1", "baseline = 5").replace("baseline = 2", "baseline = 7")
    expected = expected.replace('red = [\n    "old",\n]', "red = []")
    expected = expected.replace("red = []\n# the end", 'red = [\n    "m",\n    "n[\\\\x]",\n]\n# the end')
    assert written == expected
