from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest

from app import settings_docs
from app.settings import Settings, SettingsError, load, switches, unknown_names

ROOT = Path(__file__).resolve().parents[2]

BAD_VALUES = [
    ("CANDOR_WORKERS", "0"),
    ("CANDOR_WORKERS", "65"),
    ("CANDOR_WORKERS", "-1"),
    ("CANDOR_WORKERS", "2.0"),
    ("CANDOR_WORKERS", "two"),
    ("CANDOR_WORKERS", "٢"),
    ("CANDOR_THREADS", "5000"),
    ("CANDOR_THREADS", "9" * 5000),
    ("CANDOR_DRAIN_S", "-1"),
    ("CANDOR_DRAIN_S", "nan"),
    ("CANDOR_DRAIN_S", "inf"),
    ("CANDOR_DRAIN_S", "3601"),
    ("CANDOR_DRAIN_S", "1_0"),
    ("CANDOR_DRAIN_S", "1e1"),
    ("CANDOR_DRAIN_S", "ten"),
    ("CANDOR_DRAIN_S", "."),
    ("CANDOR_KEEPALIVE_S", "-0.1"),
    ("CANDOR_CONNECT_TIMEOUT_S", "0"),
    ("CANDOR_FIRST_EVENT_TIMEOUT_S", "0"),
    ("CANDOR_IDLE_TIMEOUT_S", "7201"),
    ("CANDOR_TOTAL_TIMEOUT_S", "0.001"),
    ("CANDOR_MAX_BODY_MB", "65"),
    ("CANDOR_MAX_BODY_MB", "1.5"),
    ("CANDOR_LOG_LEVEL", "info"),
    ("CANDOR_LOG_LEVEL", "TRACE"),
    ("CANDOR_HANDLING", "Strict"),
    ("CANDOR_UNKNOWN_MODELS", "yes"),
    ("CANDOR_SESSION_FROM", "turn"),
    ("CANDOR_CORS_ORIGINS", "example.com"),
    ("CANDOR_CORS_ORIGINS", "https://example.com/"),
    ("CANDOR_CORS_ORIGINS", "https://example.com/app"),
    ("CANDOR_CORS_ORIGINS", "https://Example.com"),
    ("CANDOR_CORS_ORIGINS", "https://*.example.com"),
    ("CANDOR_CORS_ORIGINS", "https://example.com:port"),
    ("CANDOR_CORS_ORIGINS", "null"),
    ("CANDOR_CORS_ORIGINS", "*,https://example.com"),
    ("CANDOR_STORE", "candor.sqlite3"),
    ("CANDOR_STORE", "sqlite:"),
    ("DEVIN_CONNECT_BASE_URL", "127.0.0.1:4010"),
    ("DEVIN_CONNECT_BASE_URL", "ftp://upstream"),
    ("DEVIN_CONNECT_BASE_URL", "http://"),
    ("DEVIN_CONNECT_BASE_URL", "http://:80"),
    ("DEVIN_CONNECT_BASE_URL", "http://host:port"),
    ("DEVIN_CONNECT_BASE_URL", "http://host:99999"),
    ("DEVIN_CONNECT_BASE_URL", "http://[::1"),
    ("DEVIN_CONNECT_BASE_URL", "http://host/?a=b"),
    ("DEVIN_CONNECT_TOOL_CHOICE_TAGS", "12"),
    ("DEVIN_CONNECT_TOOL_CHOICE_TAGS", "choice"),
    ("DEVIN_CONNECT_TOOL_CHOICE_TAGS", "choice=0"),
    ("DEVIN_CONNECT_TOOL_CHOICE_TAGS", "choice=-3"),
    ("DEVIN_CONNECT_TOOL_CHOICE_TAGS", "choice=536870912"),
    ("DEVIN_CONNECT_TOOL_CHOICE_TAGS", "choice=12,choice=13"),
    ("DEVIN_CONNECT_TOOL_CHOICE_TAGS", "tool=12"),
    ("DEVIN_CONNECT_STOP_REASON_MAP", "3"),
    ("DEVIN_CONNECT_STOP_REASON_MAP", "3=tool_calls"),
    ("DEVIN_CONNECT_STOP_REASON_MAP", "x=length"),
    ("DEVIN_CONNECT_STOP_REASON_MAP", "3=length,3=stop"),
]


@pytest.mark.parametrize(("name", "value"), BAD_VALUES)
def test_a_bad_value_is_refused_naming_the_switch(name: str, value: str) -> None:
    with pytest.raises(SettingsError) as caught:
        load({name: value})
    assert str(caught.value).startswith(f"{name}=")
    assert "\n" not in str(caught.value)


def rows_parsed_by(parser: str) -> list[str]:
    return [row.name for _, row in switches() if row.parse.__qualname__.startswith(parser)]


def test_every_switch_whose_values_can_be_bad_has_a_bad_value_here_or_a_bounded_number() -> None:
    tried = {name for name, _ in BAD_VALUES}
    free = {*rows_parsed_by("_text"), *rows_parsed_by("_list")}
    numbers = {*rows_parsed_by("_number"), *rows_parsed_by("_integer"), *rows_parsed_by("_flag")}
    assert {row.name for _, row in switches()} - tried - free - numbers == set()


@pytest.mark.parametrize("name", [*rows_parsed_by("_number"), *rows_parsed_by("_integer")])
@pytest.mark.parametrize("value", ["many", "-1", "999999999999", "nan", " 1"])
def test_every_number_is_bounded(name: str, value: str) -> None:
    with pytest.raises(SettingsError, match=f"^{name}=.*: must be a (whole )?number from"):
        load({name: value})


@pytest.mark.parametrize("name", rows_parsed_by("_flag"))
def test_a_boolean_is_exactly_0_or_1(name: str) -> None:
    attribute = next(attribute for attribute, row in switches() if row.name == name)
    assert getattr(load({name: "1"}), attribute) is True
    assert getattr(load({name: "0"}), attribute) is False
    for value in ("true", "on", "yes", "2", "01", " 1", "１"):
        with pytest.raises(SettingsError) as caught:
            load({name: value})
        assert str(caught.value) == f"{name}={value!r}: must be 0 or 1"


@pytest.mark.parametrize(("name", "value"), [("CANDOR_WORKERS", "0"), ("CANDOR_HANDLING", "kind")])
def test_a_bad_value_is_repeated(name: str, value: str) -> None:
    with pytest.raises(SettingsError, match=f"^{name}='{value}': "):
        load({name: value})


def test_a_bad_value_of_a_secret_is_not_repeated() -> None:
    with pytest.raises(SettingsError) as caught:
        load({"CANDOR_STORE": "my-password"})
    assert "my-password" not in str(caught.value)
    assert str(caught.value).startswith("CANDOR_STORE=(secret): ")


def test_secrets_are_not_in_the_text_of_settings() -> None:
    secrets = {row.name: f"sqlite:secret-{row.name}" for _, row in switches() if row.secret}
    assert {
        "CANDOR_API_KEYS",
        "CANDOR_OPERATOR_KEY",
        "CANDOR_SEAL_KEY",
        "DEVIN_CONNECT_TOKEN",
    } <= secrets.keys()
    assert "secret-" not in repr(load(secrets))


def test_an_empty_value_is_the_default() -> None:
    assert load({row.name: "" for _, row in switches()}) == load({}) == Settings()


def test_every_default_can_be_written_out() -> None:
    assert load({row.name: row.default for _, row in switches()}) == Settings()


def test_every_switch_has_a_name_of_its_own_that_begins_as_ours_do() -> None:
    names = [row.name for _, row in switches()]
    assert len(set(names)) == len(names) == len(fields(Settings))
    assert [name for name in names if not re.fullmatch(r"(CANDOR|DEVIN_CONNECT)_[A-Z0-9_]+", name)] == []


def test_defaults_that_others_rely_on() -> None:
    settings = Settings()
    assert (settings.bind, settings.workers, settings.threads) == ("127.0.0.1:8080", 2, 300)
    assert (settings.keepalive_s, settings.max_body_mb, settings.handling) == (10.0, 32, "lenient")
    assert (settings.api_keys, settings.cors_origins, settings.strict_parameters) == ((), (), ())
    assert settings.connect_tool_choice is False
    assert settings.connect_tool_choice_tags == {"choice": 12, "parallel": 11}


def test_what_is_unconfirmed_is_off() -> None:
    off = {"0", "", "choice=12,parallel=11"}
    assert {row.default for _, row in switches() if row.unconfirmed} <= off


@pytest.mark.parametrize(
    ("text", "tags"),
    [
        ("choice=12,parallel=11", {"choice": 12, "parallel": 11}),
        (" parallel=30 , choice=31 ", {"parallel": 30, "choice": 31}),
        ("choice=536870911", {"choice": 536_870_911}),
        (",choice=13,", {"choice": 13}),
    ],
)
def test_tags_are_read(text: str, tags: dict[str, int]) -> None:
    assert load({"DEVIN_CONNECT_TOOL_CHOICE_TAGS": text}).connect_tool_choice_tags == tags


def test_stop_reasons_are_read() -> None:
    reasons = load(
        {"DEVIN_CONNECT_STOP_REASON_MAP": "3=length, 5=content_filter,6=stop"}
    ).connect_stop_reason_map
    assert reasons == {3: "length", 5: "content_filter", 6: "stop"}


@pytest.mark.parametrize(
    ("text", "origins"),
    [
        ("*", ("*",)),
        ("https://a.example, http://localhost:3000", ("https://a.example", "http://localhost:3000")),
        ("http://[::1]:8080", ("http://[::1]:8080",)),
        ("chrome-extension://abcdef", ("chrome-extension://abcdef",)),
    ],
)
def test_origins_are_read(text: str, origins: tuple[str, ...]) -> None:
    assert load({"CANDOR_CORS_ORIGINS": text}).cors_origins == origins


@pytest.mark.parametrize(
    ("text", "url"), [("https://up.example/", "https://up.example"), ("http://h:1/a/", "http://h:1/a")]
)
def test_a_base_url_loses_its_last_slash(text: str, url: str) -> None:
    assert load({"DEVIN_CONNECT_BASE_URL": text}).connect_base_url == url


def test_names_that_no_switch_has_are_found() -> None:
    environ = {
        "CANDOR_HANDLNG": "strict",
        "DEVIN_CONNECT_TOOLCHOICE": "1",
        "CANDOR_HANDLING": "strict",
        "PATH": "/bin",
    }
    assert unknown_names(environ) == ["CANDOR_HANDLNG", "DEVIN_CONNECT_TOOLCHOICE"]


def test_the_switches_page_is_what_the_table_writes() -> None:
    assert settings_docs.PAGE.read_text() == settings_docs.page(), "run: python -m app.settings_docs"


def test_the_example_environment_is_what_the_table_writes() -> None:
    assert settings_docs.EXAMPLE.read_text() == settings_docs.example(), "run: python -m app.settings_docs"


def test_every_switch_is_in_exactly_one_group_of_the_page() -> None:
    grouped = [row.name for rows in settings_docs.groups().values() for row in rows]
    assert grouped == [row.name for _, row in switches()]
    assert "" not in settings_docs.groups()


def test_the_page_marks_what_is_unconfirmed_and_what_is_secret() -> None:
    page = settings_docs.page()
    assert re.search(r"^\| `DEVIN_CONNECT_QUOTA` \| `0` \| .+ \*Unconfirmed\.\* \|$", page, re.M)
    assert re.search(r"^\| `CANDOR_API_KEYS` \| empty \| .+ \*Secret\.\* \|$", page, re.M)
    assert re.search(r"^\| `CANDOR_WORKERS` \| `2` \| [^*]+ \|$", page, re.M)


def test_the_example_environment_is_read_by_a_shell_and_holds_the_defaults(tmp_path: Path) -> None:
    uncommented = re.sub(r"^#(?=[A-Z_]+=)", "", settings_docs.example(), flags=re.M)
    (tmp_path / "env").write_text(uncommented)
    shown = subprocess.check_output(
        ["env", "-i", "sh", "-ec", "set -a; . ./env; env"], cwd=tmp_path, text=True
    )
    environ = dict(line.split("=", 1) for line in shown.splitlines())
    assert load(environ) == Settings()
    assert {row.name for _, row in switches()} <= environ.keys()


def test_the_pages_are_written_by_one_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings_docs, "PAGE", tmp_path / "page.md")
    monkeypatch.setattr(settings_docs, "EXAMPLE", tmp_path / "example")
    settings_docs.write()
    assert (tmp_path / "page.md").read_text() == settings_docs.page()
    assert (tmp_path / "example").read_text() == settings_docs.example()


def test_every_setting_is_read_somewhere() -> None:
    sources = [*(ROOT / "app").rglob("*.py"), ROOT / "gunicorn.conf.py", ROOT / "wsgi.py"]
    text = "\n".join(path.read_text() for path in sources if path.name != "settings.py")
    unread = [name for name, _ in switches() if not re.search(rf"settings\.{name}\b", text)]
    assert unread == []


def test_importing_the_settings_reads_no_environment() -> None:
    code = "import os; os.environ['CANDOR_WORKERS'] = 'many'; import app.settings; app.settings.Settings()"
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)
