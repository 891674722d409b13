"""What the connect upstream carries, by its settings, and what stops start-up."""

from __future__ import annotations

import pytest

from app.settings import Settings, SettingsError, load
from app.turn.features import Feature
from app.upstreams import Upstream
from app.upstreams.connect import ConnectUpstream
from tests.upstreams.kit import run, settings, turn


def test_it_is_an_upstream():
    upstream: Upstream = ConnectUpstream(Settings())
    assert (upstream.name, upstream.needs_lease) == ("connect", True)


def test_by_default_it_carries_what_needs_no_unconfirmed_field():
    assert ConnectUpstream(Settings()).features == {
        Feature.SYSTEM_PROMPT,
        Feature.TOOLS,
        Feature.STRICT_TOOLS,
        Feature.IMAGES,
        Feature.MAX_OUTPUT_TOKENS,
        Feature.TEMPERATURE,
        Feature.TOP_P,
        Feature.TOP_K,
    }


@pytest.mark.parametrize(
    ("switch", "added"),
    [
        ("DEVIN_CONNECT_TOOL_CHOICE", {Feature.TOOL_CHOICE, Feature.DISABLE_PARALLEL_TOOL_CALLS}),
        ("DEVIN_CONNECT_REASONING", {Feature.REASONING_HISTORY}),
        ("DEVIN_CONNECT_PROMPT_CACHE", {Feature.PROMPT_CACHE}),
        ("DEVIN_CONNECT_GZIP", set()),
        ("DEVIN_CONNECT_QUOTA", set()),
        ("DEVIN_CONNECT_CREDIT_COST", set()),
    ],
)
def test_each_switch_adds_its_features_and_the_upstream_names_it(switch, added):
    off, on = ConnectUpstream(Settings()), ConnectUpstream(load({switch: "1"}))
    assert on.features - off.features == added
    for feature in added:
        assert off.switch_for(feature) == f"{switch}=1"
        assert on.switch_for(feature) is None


def test_no_switch_is_named_for_what_none_adds():
    upstream = ConnectUpstream(Settings())
    for feature in (
        Feature.TEMPERATURE_ZERO,
        Feature.STRUCTURED_OUTPUT,
        Feature.TOOL_ERROR_FLAG,
        Feature.TOOLS_WITHOUT_SYSTEM,
        Feature.IMAGES,
    ):
        assert upstream.switch_for(feature) is None


def test_the_user_jwt_is_read_from_its_file_at_start_up_and_sent(fake, tmp_path):
    file = tmp_path / "jwt"
    file.write_text("abc.def\n")
    upstream = ConnectUpstream(settings(fake.url, connect_user_jwt=str(file)))
    file.unlink()
    run(upstream)
    assert fake.captures()[-1]["message"]["metadata"]["user_jwt"] == "abc.def"
    run(ConnectUpstream(settings(fake.url)))
    assert "user_jwt" not in fake.captures()[-1]["message"]["metadata"]


@pytest.mark.parametrize("content", [None, b"", b" \n", b"\xff\xfe"])
def test_a_user_jwt_file_that_cannot_be_used_stops_start_up_naming_the_switch(tmp_path, content):
    file = tmp_path / "jwt"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(SettingsError, match=r"^DEVIN_CONNECT_USER_JWT="):
        ConnectUpstream(settings(connect_user_jwt=str(file)))


def test_the_wire_without_the_switch_is_the_same_with_and_without_the_hint(fake):
    upstream = ConnectUpstream(settings(fake.url))
    for hint in (None, True, False):
        run(upstream, turn(parallel_tool_calls=hint))
    plain, with_true, with_false = (capture["raw_hex"] for capture in fake.captures())
    assert plain == with_true == with_false


def test_with_the_switch_a_server_parses_number_11_for_exactly_false(fake):
    upstream = ConnectUpstream(settings(fake.url, connect_tool_choice=True))
    for hint in (None, True, False):
        run(upstream, turn(parallel_tool_calls=hint))
    assert [11 in capture["top_level_fields"] for capture in fake.captures()] == [False, False, True]
    assert fake.captures()[-1]["message"]["disable_parallel_tool_calls"] is True
    assert fake.captures()[-1]["unknown_fields"] == []


def test_a_re_pointed_tag_is_where_a_server_finds_it(fake):
    upstream = ConnectUpstream(
        settings(fake.url, connect_tool_choice=True, connect_tool_choice_tags={"parallel": 30})
    )
    run(upstream, turn(parallel_tool_calls=False))
    capture = fake.captures()[-1]
    assert (30 in capture["top_level_fields"], 11 in capture["top_level_fields"]) == (True, False)
    assert capture["unknown_fields"] == [{"path": "", "number": 30, "wire_type": 0}]
