"""The control API: queueing, matching, and bad steps that are named."""

import pytest

from fake_upstream import StepError
from fake_upstream import scenarios as s

UINT32 = "must be an integer from 0 to 4294967295"


@pytest.mark.parametrize(
    ("step", "message"),
    [
        ({"txt": "b"}, "unknown step 'txt'"),
        ("text", "must be an object"),
        (None, "must be an object"),
        ({}, "must have exactly one key, has none"),
        ({"text": "a", "finish": 2}, "must have exactly one key, has 'text', 'finish'"),
        ({"text": 1}, "'text' must be a string"),
        ({"text": None}, "'text' must be a string"),
        ({"text": "\ud800"}, "'text' must be text that UTF-8 can carry"),
        ({"reasoning": ["hm"]}, "'reasoning' must be a string"),
        ({"tool_call": "f"}, "'tool_call' must be an object"),
        ({"tool_call": {}}, "'tool_call.index' is missing"),
        ({"tool_call": {"index": "0"}}, f"'tool_call.index' {UINT32}"),
        ({"tool_call": {"index": 0, "id": 7}}, "'tool_call.id' must be a string"),
        ({"tool_call": {"index": 0, "nmae": "f"}}, "unknown key 'tool_call.nmae'"),
        ({"tool_args": {"index": 0}}, "'tool_args.fragment' is missing"),
        ({"tool_args": {"index": True, "fragment": ""}}, f"'tool_args.index' {UINT32}"),
        ({"tool_args": {"index": 0, "fragment": {}}}, "'tool_args.fragment' must be a string"),
        ({"usage": {"fresh": -1}}, f"'usage.fresh' {UINT32}"),
        ({"usage": {"fresh": 1.0}}, f"'usage.fresh' {UINT32}"),
        ({"usage": {"prompt": 1}}, "unknown key 'usage.prompt'"),
        (
            {"quota_basis_points": "250"},
            "'quota_basis_points' must be an integer from -2147483648 to 2147483647",
        ),
        ({"credit_cost": "0.5"}, "'credit_cost' must be a number"),
        ({"credit_cost": float("nan")}, "'credit_cost' must be a number"),
        ({"finish": True}, "'finish' must be an integer from -2147483648 to 2147483647"),
        ({"finish": 2**31}, "'finish' must be an integer from -2147483648 to 2147483647"),
        ({"sleep_ms": -1}, "'sleep_ms' must be an integer from 0 to 600000"),
        ({"end": False}, "'end' must be true"),
        ({"error": {"message": "m"}}, "'error.code' is missing"),
        ({"error": {"code": ""}}, "'error.code' must not be empty"),
        (
            {"error": {"code": "x", "retry_after_s": -1}},
            "'error.retry_after_s' must not be negative or beyond 2147483647",
        ),
        ({"error": {"code": "x", "details": {}}}, "'error.details' must be a list of objects"),
        ({"http_error": {"status": 429, "code": "x"}}, "'http_error' must be the first step"),
        ({"cut": False}, "'cut' must be true or \"clean\""),
        ({"cut": "dirty"}, "'cut' must be true or \"clean\""),
        ({"raw_hex": "0g"}, "'raw_hex' must be hexadecimal"),
        ({"raw_hex": ""}, "'raw_hex' must not be empty"),
        ({"dribble_bytes": 0}, "'dribble_bytes' must be an integer from 1 to 4294967295"),
        ({"one_packet": 1}, "'one_packet' must be true"),
        ({"frame": {}}, "'frame.gzip' is missing"),
        ({"frame": {"gzip": "yes"}}, "'frame.gzip' must be true or false"),
    ],
)
def test_a_bad_step_is_named(fake, step, message):
    with pytest.raises(StepError) as error:
        fake.queue([s.text("a"), step])
    assert str(error.value) == f"steps[1]: {message}"


@pytest.mark.parametrize(
    ("step", "message"),
    [
        ({"code": "x"}, "'http_error.status' is missing"),
        ({"status": 200, "code": "x"}, "'http_error.status' must be an integer from 300 to 599"),
        ({"status": 429}, "'http_error.code' is missing"),
        ({"status": 429, "code": "x", "headers": []}, "'http_error.headers' must be an object"),
        ({"status": 429, "code": "x", "headers": {"a": 1}}, "'http_error.headers.a' must be a string"),
        (
            {"status": 429, "code": "x", "headers": {"a": "b\r\nc"}},
            "'http_error.headers.a' must be printable ASCII",
        ),
    ],
)
def test_a_bad_http_error_is_named(fake, step, message):
    with pytest.raises(StepError) as error:
        fake.queue([{"http_error": step}])
    assert str(error.value) == f"steps[0]: {message}"


@pytest.mark.parametrize(("last", "name"), [(s.cut(), "cut"), (s.http_error(500, "internal"), "http_error")])
def test_nothing_follows_a_step_that_ends_the_response(fake, last, name):
    with pytest.raises(StepError, match=rf"^steps\[1\]: nothing can follow '{name}'$"):
        fake.queue([last, s.text("a")])


def test_a_bad_step_over_http_is_a_400(client):
    response = client.control("POST", "/_fake/scenarios", json={"steps": [{"text": "a"}, {"txt": "b"}]})
    assert response.status_code == 400
    assert response.json() == {"error": "steps[1]: unknown step 'txt'"}
    assert client.send().text == "hello"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("{", "the body is not JSON"),
        ("[]", "the body must be an object"),
        ("{}", "steps: is missing"),
        ('{"steps": {}}', "steps: must be a list"),
        ('{"steps": [], "time": 1}', "unknown key 'time'"),
        ('{"steps": [], "times": -1}', "times: must be an integer of 0 or more"),
        ('{"steps": [], "times": true}', "times: must be an integer of 0 or more"),
        ('{"steps": [], "match": "m"}', "match: must be an object"),
        ('{"steps": [], "match": {"modle": "m"}}', "match: unknown key 'modle'"),
        ('{"steps": [], "match": {"token": 1}}', "match: 'token' must be a string"),
    ],
)
def test_a_bad_scenario_over_http_is_a_400(client, body, message):
    response = client.control("POST", "/_fake/scenarios", data=body)
    assert (response.status_code, response.json()) == (400, {"error": message})


def test_a_scenario_over_http_is_201_with_its_id_and_serves_once(client):
    response = client.control("POST", "/_fake/scenarios", json={"steps": [{"text": "abc"}]})
    assert (response.status_code, response.json()) == (201, {"id": "scenario_1"})
    assert client.send().text == "abc"
    assert client.send().text == "hello"


def test_first_queued_is_first_served(fake, client):
    fake.queue([s.text("a")])
    fake.queue([s.text("b")], times=2)
    fake.queue([s.text("c")])
    assert [client.send().text for _ in range(5)] == ["a", "b", "b", "c", "hello"]


def test_times_zero_is_for_ever_until_cleared(fake, client):
    fake.queue([s.text("a")], times=0)
    assert [client.send().text for _ in range(4)] == ["a"] * 4
    assert client.control("DELETE", "/_fake/scenarios").status_code == 204
    assert client.send().text == "hello"


def test_match_looks_at_the_model_and_the_token(fake, client):
    fake.queue([s.text("model")], match={"model": "m2"})
    fake.queue([s.text("token")], match={"token": "t2"})
    fake.queue([s.text("both")], match={"model": "m2", "token": "t2"})
    assert client.send().text == "hello"
    assert client.send(client.request("m2")).text == "model"
    assert client.send(client.request("m2")).text == "hello"
    assert client.send(client.request(token="t2")).text == "token"
    assert client.send(client.request("m2", token="t2")).text == "both"


def test_clear_forgets_captures_and_scenarios(fake, client):
    client.send()
    fake.queue([s.text("a")])
    fake.clear()
    assert fake.captures() == []
    assert client.send().text == "hello"


def test_a_rejected_request_uses_no_scenario(fake, client):
    fake.queue([s.text("a")])
    client.post(b"")
    assert client.send().text == "a"


@pytest.mark.parametrize(
    ("method", "path", "status", "allow"),
    [
        ("GET", "/_fake/health", 200, None),
        ("POST", "/_fake/health", 405, "GET"),
        ("PUT", "/_fake/captures", 405, "GET, DELETE"),
        ("GET", "/_fake/scenarios", 405, "POST, DELETE"),
        ("GET", "/nowhere", 404, None),
        ("POST", "/exa.api_server_pb.ApiServerService/Other", 404, None),
    ],
)
def test_paths_and_methods(client, method, path, status, allow):
    response = client.control(method, path)
    assert response.status_code == status
    assert response.headers.get("allow") == allow
    assert isinstance(response.json(), dict)
