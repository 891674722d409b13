"""The harness itself: reading what clients print, the recorder, the sandbox, the table, the fixtures."""

from __future__ import annotations

import errno
import http.client
import json
import os
import re
import select
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import requests

from tests.clients import claude, codex, gemini, install, opencode, program, sandbox, table
from tests.clients.client import json_lines, json_object
from tests.clients.recorder import Recorder
from tests.clients.run import supervise
from tests.clients.sandbox import Ran, run
from tests.clients.sanitise import PROSE, fixture
from tests.clients.world import without_index

ROOT = Path(__file__).parents[2]


def ran(stdout: str = "", stderr: str = "", exit_code: int = 0) -> Ran:
    return Ran(exit_code, stdout, stderr, 1.0)


def lines(*events: dict[str, object]) -> str:
    return "".join(json.dumps(event) + "\n" for event in events)


# What clients print.


def test_codex_says_its_last_message_and_its_session() -> None:
    answer = codex.read(
        ran(
            lines(
                {"type": "thread.started", "thread_id": "t1"},
                {"type": "item.completed", "item": {"type": "error", "message": "a warning"}},
                {"type": "item.completed", "item": {"type": "agent_message", "text": "first"}},
                {"type": "item.completed", "item": {"type": "agent_message", "text": "last"}},
                {"type": "turn.completed"},
            )
        )
    )
    assert (answer.text, answer.error, answer.session) == ("last", "", "t1")


def test_codex_says_why_a_turn_failed() -> None:
    events = lines(
        {"type": "error", "message": "retrying"}, {"type": "turn.failed", "error": {"message": "no"}}
    )
    assert codex.read(ran(events, exit_code=1)).error == "no"


def test_claude_says_its_result_or_its_error() -> None:
    good = claude.read(ran(json.dumps({"result": "hi", "is_error": False, "session_id": "s"})))
    assert (good.text, good.error, good.session) == ("hi", "", "s")
    bad = claude.read(ran(json.dumps({"result": "API Error: 400", "is_error": True})))
    assert (bad.text, bad.error) == ("", "API Error: 400")


def test_claude_says_a_structured_result_as_json() -> None:
    printed = json.dumps({"result": "", "structured_output": {"score": 1}})
    assert json.loads(claude.read(ran(printed)).text) == {"score": 1}


def test_gemini_says_its_response_between_warnings_or_the_error_on_stderr() -> None:
    good = gemini.read(ran('a warning\n{\n "session_id": "s",\n "response": "hi"\n}\n'))
    assert (good.text, good.session) == ("hi", "s")
    bad = gemini.read(ran("", 'at x {\n  status: 400\n}\n{"error": {"message": "no"}}\n', 144))
    assert (bad.error, bad.exit_code) == ("no", 144)


def test_opencode_says_its_last_text_and_error() -> None:
    answer = opencode.read(
        ran(
            lines(
                {"type": "text", "sessionID": "ses", "part": {"text": "hi"}},
                {
                    "type": "error",
                    "sessionID": "ses",
                    "error": {"name": "APIError", "data": {"message": "no"}},
                },
            )
        )
    )
    assert (answer.text, answer.error, answer.session) == ("hi", "no", "ses")


def test_a_program_says_what_it_printed() -> None:
    answer = program.read(ran('noise\n{"text": "hi", "calls": ["a"]}\n'))
    assert (answer.text, program.said(answer)["calls"]) == ("hi", ["a"])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", {}),
        ("no json", {}),
        ('{"a": 1}', {"a": 1}),
        ('{"a": 1}\n{"b": 2}', {"b": 2}),
        ('x {"a": 1}', {}),
        ("{ broken\n}\n", {}),
    ],
)
def test_the_last_object_at_the_beginning_of_a_line(text: str, expected: dict[str, int]) -> None:
    assert json_object(text) == expected


def test_lines_that_are_no_objects_are_passed_over() -> None:
    assert list(json_lines('x\n[1]\n{"a": 1}\n')) == [{"a": 1}]


# The recorder.


class _Target(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: object) -> None:
        pass

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        self.send_response(201)
        self.send_header("x-candor-ignored", "a[0].b, c")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        self.wfile.write(b"%x\r\n%s\r\n" % (len(body), body))
        if self.path == "/cut":
            self.wfile.flush()
            self.connection.close()
            self.close_connection = True
        else:
            self.wfile.write(b"0\r\n\r\n")


@pytest.fixture
def recorder() -> Iterator[Recorder]:
    target = HTTPServer(("127.0.0.1", 0), _Target)
    thread = threading.Thread(target=target.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    recorder = Recorder(f"http://127.0.0.1:{target.server_address[1]}")
    yield recorder
    recorder.close()
    target.shutdown()
    target.server_close()


def test_the_recorder_keeps_what_passes_through_it(recorder: Recorder) -> None:
    reply = requests.post(f"{recorder.url}/p?q=1", json={"x": 1}, headers={"X-Mine": "yes"}, timeout=5)
    assert (reply.status_code, reply.json()) == (201, {"x": 1})
    (kept,) = recorder.turns
    assert (kept.method, kept.path, kept.query, kept.status) == ("POST", "/p", "q=1", 201)
    assert (kept.headers["x-mine"], kept.json, json.loads(kept.reply)) == ("yes", {"x": 1}, {"x": 1})
    assert (kept.ignored, kept.emulated) == (["a[0].b", "c"], [])
    assert json.loads(kept.dump())["body"] == {"x": 1}


def test_the_recorder_takes_chunked_requests(recorder: Recorder) -> None:
    reply = requests.post(f"{recorder.url}/p", data=iter([b"[1,", b"2]"]), timeout=5)
    assert reply.json() == recorder.turns[0].json == [1, 2]


def test_the_recorder_cuts_where_its_target_does(recorder: Recorder) -> None:
    host = recorder.url.removeprefix("http://")
    connection = http.client.HTTPConnection(host, timeout=5)
    connection.request("POST", "/cut", b"some")
    with pytest.raises(http.client.IncompleteRead):
        connection.getresponse().read()
    connection.close()


def test_the_recorder_resets_one_connection_after_given_bytes(recorder: Recorder) -> None:
    recorder.reset_after = b"some"
    connection = http.client.HTTPConnection(recorder.url.removeprefix("http://"), timeout=5)
    connection.request("POST", "/p", b"some")
    reply = connection.getresponse()
    assert reply.read1(4) == b"some"
    with pytest.raises(ConnectionResetError):
        reply.read1(1)
    connection.close()
    again = requests.post(f"{recorder.url}/p", data=b"some", timeout=5)
    assert (again.content, [kept.reply for kept in recorder.turns]) == (b"some", [b"some", b"some"])


# The sandbox.


def test_a_program_runs_with_little_environment_and_no_input(tmp_path: Path) -> None:
    code = "import os, sys; print(sorted(os.environ), repr(sys.stdin.read()), os.getcwd())"
    done = run([sys.executable, "-c", code], folder=tmp_path, environment={"MINE": "1"})
    assert done.exit_code == 0
    assert "'MINE'" in done.stdout
    assert "'PATH'" in done.stdout
    assert "HOME" not in done.stdout
    assert f"'' {tmp_path}" in done.stdout


def ends_within(seconds: float, pid: int) -> bool:
    """Whether a process that was sent a signal is gone, or waits to be reaped, before ``seconds`` have passed."""
    try:
        process = os.pidfd_open(pid)  # readable once the process has ended
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([process], [], [], seconds)[0])
    finally:
        os.close(process)


def test_a_program_that_takes_too_long_is_ended_with_its_children(tmp_path: Path) -> None:
    done = run(["sh", "-c", "sleep 60 & echo $!; wait"], folder=tmp_path, environment={}, timeout_s=2)
    assert done.timed_out
    assert done.exit_code == -9
    assert ends_within(5, int(done.stdout))


def test_without_the_right_to_a_namespace_there_is_a_clear_message(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox, "_unshare", lambda flags: errno.EPERM)
    with pytest.raises(sandbox.SandboxError, match=r"only loopback.*run as root"):
        sandbox.enter_loopback_namespace()


def test_a_namespace_without_the_right_to_map_users_is_the_same_message(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sandbox, "_unshare", lambda flags: 0 if flags & 0x1000_0000 else errno.EPERM)

    def refuse(path: Path, text: str) -> int:
        raise PermissionError(errno.EACCES, "no")

    monkeypatch.setattr(Path, "write_text", refuse)
    with pytest.raises(sandbox.SandboxError, match=r"could be made \(Permission denied\).*run as root"):
        sandbox.enter_loopback_namespace()


def test_interfaces_that_are_down_are_none_of_its_business(monkeypatch: pytest.MonkeyPatch) -> None:
    flags = {"lo": 0x49, "sit0": 0x80, "tunl0": 0x80}
    monkeypatch.setattr("socket.if_nameindex", lambda: list(enumerate(["tunl0", "sit0", "lo"])))
    monkeypatch.setattr(sandbox, "_flags", lambda control, name: flags[name])
    assert sandbox.interfaces_up() == ["lo"]
    flags["sit0"] |= 1
    assert sandbox.interfaces_up() == ["lo", "sit0"]


# The deadline, the programs.


def test_what_is_done_in_time_has_its_own_exit_code() -> None:
    assert supervise([sys.executable, "-c", "raise SystemExit(5)"], 60) == 5


def test_what_is_not_done_in_time_is_interrupted(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    ready = tmp_path / "ready"
    code = f"""
import pathlib, signal
try:
    pathlib.Path({str(ready)!r}).touch()
    signal.pause()
except KeyboardInterrupt:
    print("tidied up")
"""
    assert supervise([sys.executable, "-c", code], 2) == 1
    assert ready.exists()
    assert capfd.readouterr() == ("tidied up\n", "clients: not done after 2 s, so they are stopped\n")


def test_a_program_is_replaced_at_once(tmp_path: Path) -> None:
    source, target = tmp_path / "new.mjs", tmp_path / "old.mjs"
    source.write_text("new")
    target.write_text("old")
    with target.open() as reading:
        program.replace_copy(source, target)
        assert reading.read() == "old"
    assert target.read_text() == "new"
    assert sorted(tmp_path.iterdir()) == [source, target]


# Pins, table, fixtures.


def test_every_pin_is_exact() -> None:
    pins = [pin for package in install.PACKAGES for pin in (*package.npm.values(), *package.pip.values())]
    assert pins
    assert all(pin.replace(".", "").isdigit() for pin in pins)


def test_the_locks_agree_with_the_pins() -> None:
    locked = json.loads((install.LOCKS / install.NODE_SDKS.lock).read_text())["packages"]
    assert locked[""]["dependencies"] == install.NODE_SDKS.npm
    assert {name: locked[f"node_modules/{name}"]["version"] for name in install.NODE_SDKS.npm} == dict(
        install.NODE_SDKS.npm
    )
    constraints = (install.LOCKS / install.FRAMEWORKS.lock).read_text().splitlines()
    assert all(re.fullmatch(r"[\w.-]+==[\w.]+", line) for line in constraints)
    pins = {f"{name.partition('[')[0]}=={version}" for name, version in install.FRAMEWORKS.pip.items()}
    assert pins <= set(constraints)


def test_a_changed_lock_is_another_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(install, "LOCKS", tmp_path)
    package = install.Package("p", pip={"x": "1"}, lock="p.txt")
    (tmp_path / "p.txt").write_text("x==1\ny==1\n")
    before = package.stamp
    (tmp_path / "p.txt").write_text("x==1\ny==2\n")
    assert (before["x"], before == package.stamp) == ("1", False)
    assert install.Package("p", pip={"x": "1"}).stamp == {"x": "1"}


def test_packages_have_folders_of_their_own() -> None:
    names = [package.name for package in install.PACKAGES]
    assert len(set(names)) == len(names)
    assert all(package.folder.parent == ROOT / ".clients" for package in install.PACKAGES)


def test_the_table_is_aligned_and_sorted() -> None:
    row = {"requests": 1, "captures": 2, "exit": "0", "seconds": 1.5, "result": "ok"}
    text = table.render(
        [{"client": "b", "scenario": "long one", **row}, {"client": "a", "scenario": "s", **row}]
    )
    assert text.splitlines() == [
        "client  scenario  requests  captures  exit  seconds  result",
        "a       s         1         2         0     1.5      ok",
        "b       long one  1         2         0     1.5      ok",
    ]


def report(nodeid: str, *, when: str = "teardown", outcome: str = "passed") -> Any:
    rows = [("row", {"client": "c", "requests": 1, "captures": 1, "exit": "0", "seconds": 1.0})]
    return SimpleNamespace(
        nodeid=nodeid,
        when=when,
        failed=outcome == "failed",
        user_properties=rows if when == "teardown" else [],
    )


@pytest.mark.parametrize(
    ("ended", "exit_status", "kept"),
    [
        (["f::test_a", "f::test_b[x]"], 0, True),
        (["f::test_a", "f::test_b[x]"], 1, True),
        (["f::test_a", "f::test_b[x]"], 2, False),
        (["f::test_a"], 1, False),
    ],
)
def test_only_the_table_of_a_whole_run_is_kept(
    ended: list[str], exit_status: int, kept: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "clients.txt"
    path.write_text("old")
    monkeypatch.setenv(table.TABLE, str(path))
    made = table.Table()
    made.pytest_xdist_node_collection_finished(["f::test_a", "f::test_b[x]"])
    made.pytest_runtest_logreport(report("f::test_a", when="call", outcome="failed"))
    for nodeid in ended:
        made.pytest_runtest_logreport(report(nodeid))
    said: list[str] = []
    terminal: Any = SimpleNamespace(section=said.append, write=said.append)
    made.pytest_terminal_summary(terminal, exit_status)
    if not kept:
        assert path.read_text() == "old"
        assert said[-1] == f"The run is not complete, so {path} stays as it was.\n"
        return
    title, about, blank, *rows = path.read_text().splitlines()
    assert (title, blank) == ("Real clients", "")
    assert re.match(r"\d{4}-\d\d-\d\d, commit .*, Python 3\.11\.", about)
    assert [row.split() for row in rows] == [
        ["client", "scenario", "requests", "captures", "exit", "seconds", "result"],
        ["c", "a", "1", "1", "0", "1.0", "FAILED"],
        ["c", "b", "1", "1", "0", "1.0", "ok"],
    ]


def test_a_scenario_is_named_by_its_test() -> None:
    assert table.scenario_of("tests/clients/scenario_x.py::test_a_plain_turn[codex]") == "a plain turn"


def test_indices_are_left_out() -> None:
    assert without_index("tools[3].tools[12].type") == "tools[].tools[].type"


def test_a_fixture_has_no_prose() -> None:
    kept = {
        "method": "POST",
        "path": "/v1/messages",
        "query": "",
        "headers": {"user-agent": "x", "x-api-key": "secret"},
        "body": {
            "model": "m",
            "messages": [{"role": "user", "content": [{"type": "text", "text": "private"}]}],
            "id": "a-01a22e1f-ee0f-7e51-86f9-1e4456d3b886",
            "note": "two\nlines",
        },
        "reply": {},
    }
    made = fixture(kept, "n")
    assert made["headers"] == {"user-agent": "x"}
    assert made["body"]["messages"][0]["content"][0] == {"type": "text", "text": PROSE}
    assert (made["body"]["model"], made["body"]["note"]) == ("m", PROSE)
    assert made["body"]["id"] == "a-00000000-0000-7000-8000-000000000000"
