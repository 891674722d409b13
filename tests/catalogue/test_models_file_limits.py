"""A models file that no reader can hold stops the start with one clear line."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.catalogue.models import load_catalogue
from app.settings import SettingsError, load

HEAD = '[[model]]\nid = "m"\nupstream = "connect"\n'


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x = " + "[" * 100_000 + "]" * 100_000, "it is nested too deep to be read"),
        (HEAD + "context_tokens = 1000000001", "'context_tokens' of model 'm' is above 1000000000"),
        (HEAD + "output_tokens = 99999999999999999999", "'output_tokens' of model 'm' is above 1000000000"),
    ],
    ids=["deep", "context", "output"],
)
def test_a_file_beyond_its_bounds_is_told(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "models.toml"
    path.write_text(text)
    with pytest.raises(SettingsError) as caught:
        load_catalogue(load({"CANDOR_MODELS": str(path)}), {"connect"})
    assert str(caught.value) == f"CANDOR_MODELS={str(path)!r}: {words}"


def test_the_largest_limits_are_taken(tmp_path: Path) -> None:
    path = tmp_path / "models.toml"
    path.write_text(HEAD + "context_tokens = 1000000000\n")
    catalogue = load_catalogue(load({"CANDOR_MODELS": str(path)}), {"connect"})
    assert catalogue.find("m").context_tokens == 1_000_000_000
