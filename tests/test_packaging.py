"""What a user gets: every data file is in the wheel, versions agree, and `nlgauge doctor` says what is missing."""

from __future__ import annotations

import importlib.metadata
import json
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
from typer.testing import CliRunner

import nlgauge
from nlgauge.cli import build, doctor

REPO = Path(__file__).resolve().parent.parent
SRC = REPO / "src"
PROJECT = tomllib.loads((REPO / "pyproject.toml").read_text(encoding="utf-8"))["project"]
LEFT = {".pyc", ".nbi", ".nbc"}  # what running leaves behind


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    folder = tmp_path_factory.mktemp("wheel")
    said = subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "--no-deps", "--quiet", "--disable-pip-version-check", "-w", folder, REPO],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if said.returncode and ("No matching distribution" in said.stderr or "Could not find" in said.stderr):
        pytest.skip("the build backend cannot be had (no registry)")
    assert said.returncode == 0, said.stderr
    (path,) = folder.glob("*.whl")
    return zipfile.ZipFile(path)


@pytest.mark.slow
def test_every_file_of_the_package_is_in_the_wheel(wheel: zipfile.ZipFile) -> None:
    there = {n for n in wheel.namelist() if n.startswith("nlgauge/")}
    ours = {
        str(p.relative_to(SRC).as_posix())
        for p in (SRC / "nlgauge").rglob("*")
        if p.is_file() and p.suffix not in LEFT
    }
    data = {name for name in ours if not name.endswith(".py")}
    assert len(data) > 50
    assert there == ours
    assert "nlgauge/py.typed" in there


@pytest.mark.slow
def test_the_wheel_states_its_licence_extras_and_pythons(wheel: zipfile.ZipFile) -> None:
    name = next(n for n in wheel.namelist() if n.endswith("METADATA"))
    facts = wheel.read(name).decode()
    for extra in PROJECT["optional-dependencies"]:
        assert f"Provides-Extra: {extra}\n" in facts
    for line in (
        "License-Expression: Apache-2.0",
        "License-File: LICENSE",
        "Requires-Python: >=3.11",
        "Classifier: Typing :: Typed",
    ):
        assert line in facts
    for minor in (11, 12, 13, 14):
        assert f"Classifier: Programming Language :: Python :: 3.{minor}\n" in facts


def test_the_version_is_the_same_everywhere() -> None:
    assert PROJECT["version"] == nlgauge.__version__
    assert f"\nversion: {nlgauge.__version__}\n" in (REPO / "CITATION.cff").read_text(encoding="utf-8")
    assert f"## {nlgauge.__version__}" in (REPO / "CHANGELOG.md").read_text(encoding="utf-8")


def test_doctor_names_every_extra_and_what_it_adds() -> None:
    said = CliRunner().invoke(build("doctor"), ["doctor", "--format", "json"])
    assert said.exit_code == 0
    rows = {row["what"]: row for row in json.loads(said.stdout)["tables"][0]["rows"]}
    extras = set(PROJECT["optional-dependencies"]) - set(doctor.GROUPS)
    assert {f"extra {name}" for name in extras} <= set(rows)
    assert set(doctor.ADDS) == extras
    for name in extras:
        assert rows[f"extra {name}"]["remark"]
    assert {
        "nlgauge",
        "Python",
        "score store",
        "compiled kernels",
        "published data",
        "WordNet",
        "chromium",
    } <= set(rows)
    assert {row["state"] for row in rows.values()} <= {"ok", "missing", "wrong"}


def test_doctor_says_how_to_install_what_is_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    needs = [
        "numpy>=2",
        "torch>=2; extra == 'neural'",
        "nlgauge[vectors]; extra == 'neural'",
        "no-such-thing>=1; extra == 'vectors'",
    ]
    monkeypatch.setattr(importlib.metadata, "requires", lambda _: needs)
    rows = {row["what"]: row for row in doctor.extras()}
    for name in ("neural", "vectors"):  # one lacks it by way of the other
        assert rows[f"extra {name}"]["state"] == "missing"
        assert "no-such-thing" in rows[f"extra {name}"]["found"]
        assert f'pip install "nlgauge[{name}]" adds' in rows[f"extra {name}"]["remark"]
    assert "bertscore" in rows["extra neural"]["remark"]


def test_doctor_finds_a_store_that_cannot_be_written(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("NLGAUGE_STORE", str(tmp_path / "file" / "scores.sqlite"))
    store = next(row for row in doctor.places() if row["what"] == "score store")
    assert store["state"] == "wrong"
    assert "NLGAUGE_STORE" in store["remark"]
    monkeypatch.setenv("NLGAUGE_STORE", str(tmp_path / "new" / "scores.sqlite"))
    assert next(row for row in doctor.places() if row["what"] == "score store")["state"] == "ok"
    assert not (tmp_path / "new").exists()
