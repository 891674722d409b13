"""Captures: what was received, byte by byte and decoded."""

import gzip

from fake_upstream import scenarios as s


def varint_field(number, value):
    return bytes([number << 3, value])  # one byte each: small numbers only


def test_a_capture_has_everything_under_its_documented_keys(fake, client):
    message = client.request("fake-echo")
    message.completion.temperature = 0
    message.completion.max_tokens = 7
    message.disable_parallel_tool_calls = False
    body = message.SerializeToString()
    client.post(client.envelope(body), {"X-Thing": "1"})
    [capture] = fake.captures()
    headers = capture.pop("headers")
    assert headers["x-thing"] == "1"
    assert headers["authorization"] == "Bearer t"
    assert all(name == name.lower() for name in headers)
    assert capture == {
        "id": "capture_1",
        "path": "/exa.api_server_pb.ApiServerService/GetChatMessage",
        "envelope": {"flags": 0, "length": len(body)},
        "raw_hex": body.hex(),
        "message": {
            "metadata": {"session_token": "t"},
            "messages": [{"source": 1, "text": "hello"}],
            "completion": {"max_tokens": 7, "temperature": 0.0},
            "disable_parallel_tool_calls": False,
            "model": "fake-echo",
        },
        "top_level_fields": [1, 3, 8, 11, 21],
        "unknown_fields": [],
        "token": "t",
        "outcome": "completed",
    }


def test_http_answers_what_the_python_api_answers(fake, client):
    client.send()
    client.send(client.request("m2"))
    assert client.control("GET", "/_fake/captures").json() == fake.captures()
    assert client.control("GET", "/_fake/captures?limit=1").json() == fake.captures()[1:]
    assert client.control("GET", "/_fake/captures?limit=0").json() == []
    assert client.control("GET", "/_fake/captures?limit=x").status_code == 400


def test_deleting_captures_is_204_and_ids_go_on(fake, client):
    client.send()
    response = client.control("DELETE", "/_fake/captures")
    assert (response.status_code, response.content) == (204, b"")
    assert fake.captures() == []
    client.send()
    assert fake.captures()[0]["id"] == "capture_2"


def test_duplicates_show_in_wire_order(fake, client):
    body = client.request().SerializeToString()
    twice = body + varint_field(11, 1) + varint_field(7, 5) + varint_field(11, 0)
    client.post(client.envelope(twice))
    [capture] = fake.captures()
    assert capture["top_level_fields"] == [1, 3, 21, 11, 7, 11]
    assert capture["message"]["disable_parallel_tool_calls"] is False
    assert capture["unknown_fields"] == []


def test_unknown_fields_are_found_at_every_depth(fake, client):
    call = b"\x0a\x01c" + b"\x7a\x01z"  # 1: "c", and 15 as bytes
    message = b"\x10\x02" + b"\x32" + bytes([len(call)]) + call + b"\x32\x00"  # source, tool_calls twice
    other = b"\x4d\x00\x00\x00\x00" + b"\x49" + bytes(8)  # 9 as fixed32 and as fixed64
    group = b"\x73\x08\x01\x74"  # 14 as a group
    body = client.request(user="").SerializeToString()
    for inner in (message, other):
        body += b"\x1a" + bytes([len(inner)]) + inner
    client.post(client.envelope(body + group + varint_field(9, 1)))
    [capture] = fake.captures()
    assert capture["top_level_fields"] == [1, 21, 3, 3, 14, 9]
    assert capture["unknown_fields"] == [
        {"path": "messages[0].tool_calls[0]", "number": 15, "wire_type": 2},
        {"path": "messages[1]", "number": 9, "wire_type": 5},
        {"path": "messages[1]", "number": 9, "wire_type": 1},
        {"path": "", "number": 14, "wire_type": 3},
        {"path": "", "number": 9, "wire_type": 0},
    ]


def test_a_known_number_of_another_wire_type_is_unknown(fake, client):
    body = client.request().SerializeToString() + b"\x5a\x01x"  # 11 as bytes
    body += b"\x42\x03\x12\x01x"  # 8.2 as bytes
    client.post(client.envelope(body))
    [capture] = fake.captures()
    assert capture["unknown_fields"] == [
        {"path": "", "number": 11, "wire_type": 2},
        {"path": "completion", "number": 2, "wire_type": 2},
    ]
    assert "disable_parallel_tool_calls" not in capture["message"]


def test_a_gzipped_envelope_is_captured_inflated(fake, client):
    body = client.request().SerializeToString()
    squeezed = gzip.compress(body)
    client.post(client.envelope(squeezed, 1), {"connect-content-encoding": "gzip"})
    [capture] = fake.captures()
    assert capture["envelope"] == {"flags": 1, "length": len(squeezed)}
    assert capture["raw_hex"] == body.hex()
    assert capture["message"]["model"] == "m"


def test_a_capture_is_listed_while_its_reply_runs(fake, client):
    fake.queue([s.sleep(5000)])
    with client.raw():
        [capture] = fake.wait_captures(1)
        assert capture["outcome"] == "running"
        assert capture["message"]["model"] == "m"


def test_the_oldest_captures_make_room(fake, client, monkeypatch):
    monkeypatch.setattr("fake_upstream.captures.MAX_CAPTURES", 3)
    for _ in range(5):
        client.send()
    assert [capture["id"] for capture in fake.captures()] == ["capture_3", "capture_4", "capture_5"]


def test_many_bytes_make_room_too_but_the_newest_stays(fake, client, monkeypatch):
    monkeypatch.setattr("fake_upstream.captures.MAX_KEPT_BYTES", 1000)
    client.send()
    client.send(client.request(user="x" * 2000))
    assert [capture["id"] for capture in fake.captures()] == ["capture_2"]
