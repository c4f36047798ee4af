"""The example repository: its CI passes, fails with coin flips, is undecided with ten labels. Plugin, action and hook."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from command import run_command

yaml = pytest.importorskip("yaml")
ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "gated_judge"
COIN = "\n\ndef judge(row):\n    import hashlib\n    return hashlib.sha256(row['id'].encode()).digest()[0] % 2 == 0\n"
PLUGIN = ["-p", "nlgauge.cli.pytest_plugin"]
STATES = {"as it is": (0, "passed"), "coin flips": (1, "failed"), "ten labels": (3, "undecided")}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the example, and a `nlgauge` and `python` of this interpreter on the path."""
    shutil.copytree(EXAMPLE, tmp_path / "repo")
    for name, words in (("nlgauge", "-m nlgauge"), ("python", "")):
        program = tmp_path / "bin" / name
        program.parent.mkdir(exist_ok=True)
        program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} {words} "$@"\n')
        program.chmod(0o755)
    return tmp_path / "repo"


def in_state(folder: Path, state: str) -> Path:
    judge, answers = folder / "judge.py", folder / "answers.csv"
    if state == "coin flips":
        before, main, after = judge.read_text().partition("\n\nif __name__")
        judge.write_text(before + COIN + main + after)
    if state == "ten labels":
        answers.write_text("\n".join(answers.read_text().splitlines()[:11]) + "\n")
    return folder


def shell(words: str, folder: Path, **env: str) -> subprocess.CompletedProcess[str]:
    """As a step of GitHub is run; `src` for the copies of this interpreter that have no nlgauge installed."""
    path = {"PATH": f"{folder.parent / 'bin'}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT / "src")}
    places = {name: str(folder.parent / name.lower()) for name in ("GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT")}
    return subprocess.run(
        ["bash", "-eo", "pipefail", "-c", words],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=180,
        env={**os.environ, "COLUMNS": "", **path, **places, "RUNNER_TEMP": str(folder.parent), **env},
    )


def steps(path: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = yaml.safe_load(path.read_text())["jobs"]["gate"]["steps"]
    return [step for step in found if "run" in step and "pip install" not in step["run"]]


@pytest.mark.parametrize("state", STATES)
def test_ci_of_the_example(folder: Path, state: str) -> None:
    judge, gate, summary = steps(folder / ".github/workflows/judge.yml")
    code, verdict = STATES[state]
    in_state(folder, state)
    assert shell(judge["run"], folder).returncode == 0
    done = shell(gate["run"], folder)
    assert (done.returncode, f"gate {verdict}" in done.stdout) == (code, True), done.stderr
    assert summary["if"] == "always()" and shell(summary["run"], folder).returncode == 0
    assert f"gate {verdict}" in (folder.parent / "github_step_summary").read_text()


@pytest.mark.parametrize("state", ["as it is", "coin flips"])  # ten labels: see below
def test_the_test_of_the_example(folder: Path, state: str) -> None:
    in_state(folder, state)
    done = pytest_in(folder)
    verdict = STATES[state][1]
    assert (done.returncode == 0) == (verdict == "passed"), done.stdout
    assert verdict == "passed" or f"gate {verdict}" in done.stdout


def test_pytest_finds_the_plugin_by_its_entry_point() -> None:
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]["pytest11"]
    assert scripts == {"nlgauge": PLUGIN[1]}


def pytest_in(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run pytest with our plugin only: the other plugins of this environment take most of its start."""
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *PLUGIN, *words],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=180,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
    )


def test_undecided_fails_is_expected_or_warns(folder: Path) -> None:
    in_state(folder, "ten labels")
    failed = pytest_in(folder)
    assert failed.returncode == 1 and "undecided fails here; --judge-undecided xfail" in failed.stdout
    assert "gate undecided" in failed.stdout
    expected = pytest_in(folder, "--judge-undecided", "xfail", "-rx")
    assert expected.returncode == 0 and "1 xfailed" in expected.stdout and "The gate is undecided" in expected.stdout
    (folder / "pytest.ini").write_text("[pytest]\njudge_gate_undecided = warn\n")
    warned = pytest_in(folder)
    assert warned.returncode == 0 and "JudgeUndecided: The gate is undecided" in warned.stdout


def test_a_marker_holds_recorded_verdicts_against_the_limits(folder: Path) -> None:
    assert shell("python judge.py answers.csv judged.csv", folder).returncode == 0
    (folder / "test_judge.py").write_text(
        "import pytest\n"
        "@pytest.mark.judge_gate('judged.csv', 'kappa=.6', metrics='judge')\ndef test_good(): pass\n"
        "@pytest.mark.judge_gate('judged.csv', 'kappa=.95', metrics='judge')\ndef test_strict(): pass\n"
        "@pytest.mark.judge_gate('judged.csv', 'kappa=.65', metrics='judge')\ndef test_one_look(): pass\n"
        "@pytest.mark.judge_gate('judged.csv', 'kappa=.65', metrics='judge', looks=20)\ndef test_looks(): pass\n"
        "@pytest.mark.judge_gate('nowhere.csv', 'kappa=.95')\ndef test_no_file(): pass\n"
        "def test_words(judge_gate): judge_gate('answers.csv', 'kappa=.6', judge=lambda row: 'yes')\n"
        "def test_change(judge_gate):\n"
        "    judge_gate('judged.csv', metrics='judge', against='judged.csv', max_drop='agreement=.1')\n"
    )
    done = pytest_in(folder, "--strict-markers", "-rA")
    outcome = {
        line.split()[1].rpartition("::")[2]: line.split()[0]
        for line in done.stdout.splitlines()
        if "test_judge.py::" in line
    }
    assert outcome == {
        "test_good": "PASSED",
        "test_strict": "FAILED",
        "test_no_file": "FAILED",
        "test_words": "FAILED",
        "test_change": "PASSED",
        "test_one_look": "PASSED",
        "test_looks": "FAILED",
    }, done.stdout
    assert "Traceback" not in done.stdout and "found 'yes'" in done.stdout and "nowhere.csv" in done.stdout


def action_steps() -> list[dict[str, Any]]:
    found: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text())
    assert found["runs"]["using"] == "composite"
    assert found["outputs"]["verdict"]["value"] == "${{ steps.gate.outputs.verdict }}"
    given = {f"${{{{ inputs.{name} }}}}" for name in found["inputs"]}
    steps: list[dict[str, Any]] = found["runs"]["steps"]
    assert {value for step in steps for value in step["env"].values()} == given  # every input is used, and none other
    assert not any("${{" in step["run"] for step in steps)  # an input is no code
    return steps


@pytest.mark.parametrize("state", STATES)
def test_the_action_writes_the_summary_and_ends_as_the_gate(folder: Path, state: str) -> None:
    install, gate = action_steps()
    in_state(folder, state)
    assert shell("python judge.py answers.csv judged.csv", folder).returncode == 0
    env = dict.fromkeys(gate["env"], "") | {"FILE": "judged.csv", "MIN": "kappa=.6,tnr=.75", "METRICS": "judge"}
    assert shell(install["run"], folder, INSTALL="").returncode == 0
    done = shell(gate["run"], folder, **env)
    code, verdict = STATES[state]
    assert done.returncode == code, done.stderr
    assert (folder.parent / "github_output").read_text() == f"verdict={verdict}\n"
    assert f"gate {verdict}" in (folder.parent / "github_step_summary").read_text()
    if state == "ten labels":
        assert shell(gate["run"], folder, **{**env, "UNDECIDED": "pass", "LOOKS": "12"}).returncode == 0
        assert "95% over 12 planned looks" in (folder.parent / "github_step_summary").read_text()


def test_the_hook_of_pre_commit_runs_the_gate(folder: Path) -> None:
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    assert hook["language"] == "python" and hook["pass_filenames"] is False
    assert shell("python judge.py answers.csv judged.csv", folder).returncode == 0
    assert shell(f"{hook['entry']} judged.csv --min kappa=.6 -f json", folder).returncode == 0
    program, *words = shlex.split(f"{hook['entry']} judged.csv --min kappa=.95 -f json")
    assert program == "nlgauge" and run_command(*words, cwd=folder).returncode == 1


def test_the_readme_shows_what_is_printed(folder: Path) -> None:
    shown = (EXAMPLE / "README.md").read_text()
    for state in STATES:
        shutil.copytree(EXAMPLE, folder, dirs_exist_ok=True)
        in_state(folder, state)
        shell("python judge.py answers.csv judged.csv", folder)
        done = run_command("gate", "judged.csv", "--min", "kappa=.6,tnr=.75", cwd=folder, COLUMNS="")
        assert done.stdout
        for line in done.stdout.splitlines()[:6]:
            assert line in shown


def test_the_plugin_costs_nothing_where_no_test_uses_it() -> None:
    code = (
        "import sys, pytest; before = set(sys.modules); import nlgauge.cli.pytest_plugin; "
        "print(*sorted(m for m in set(sys.modules) - before))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert set(ran.stdout.split()) == {"nlgauge", "nlgauge.cli", "nlgauge.cli.pytest_plugin"}
