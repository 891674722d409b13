"""What is generated is fresh, and the import contracts hold and see every module."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
BIN = Path(sys.executable).parent
PROTOS = sorted(path.relative_to(ROOT) for path in (ROOT / "app").rglob("*.proto"))


@pytest.mark.parametrize("proto", PROTOS, ids=str)
def test_committed_protobuf_modules_equal_a_fresh_generation(proto: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "grpc_tools.protoc", "-I", ".", f"--python_out={tmp_path}"]
    command += [f"--mypy_out={tmp_path}", f"--plugin=protoc-gen-mypy={BIN / 'protoc-gen-mypy'}", str(proto)]
    subprocess.run(command, cwd=ROOT, check=True)
    for suffix in ("_pb2.py", "_pb2.pyi"):
        module = proto.with_name(proto.stem + suffix)
        assert (ROOT / module).read_text() == (tmp_path / module).read_text(), f"{module}: run `make proto`"


def test_import_contracts_hold() -> None:
    linter = subprocess.run(
        [BIN / "lint-imports", "--no-logo", "--no-cache"], cwd=ROOT, capture_output=True, text=True
    )
    assert linter.returncode == 0, linter.stdout + linter.stderr


@pytest.mark.parametrize("package", ["app", "fake_upstream"])
def test_every_folder_with_modules_is_a_package_so_that_the_contracts_see_it(package: str) -> None:
    folders = {path.parent for path in (ROOT / package).rglob("*.py")}
    assert [str(folder) for folder in sorted(folders) if not (folder / "__init__.py").is_file()] == []


def test_the_surfaces_contract_names_every_package_that_only_the_pipeline_may_use() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    forbidden = next(
        contract["forbidden_modules"]
        for contract in contracts
        if contract["name"].startswith("Surfaces know")
    )
    kept_from_surfaces = ["upstreams", "capacity"]
    there = [f"app.{name}" for name in kept_from_surfaces if (ROOT / "app" / name / "__init__.py").is_file()]
    assert set(there) <= set(forbidden)
