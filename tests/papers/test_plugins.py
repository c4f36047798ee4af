"""The metrics and analyses that only the papers use are plugins: found by name, and named where they are missing."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import entry_points

import pytest
from typer.testing import CliRunner

import nlgauge as ng
from nlgauge import registry
from nlgauge.cli import build
from nlgauge.errors import NameUnknown

KINDS = list(registry.IN_PAPERS)
NAMES = [(kind, name) for kind in KINDS for name in registry.IN_PAPERS[kind]]


@pytest.mark.parametrize("kind", [*KINDS, "figure"])
def test_the_product_names_every_plugin_of_the_papers(kind: str) -> None:
    found = [e for e in entry_points(group=f"nlgauge.{registry.PLURALS[kind]}") if e.dist.name == "nlgauge-papers"]
    wanted = registry.IN_PAPERS["analysis" if kind == "figure" else kind]
    assert sorted(entry.name for entry in found) == sorted(wanted)
    assert not {*wanted} & {*registry._modules(kind)}


@pytest.mark.parametrize(("kind", "name"), NAMES)
def test_a_plugin_is_known_by_name_and_says_what_it_is(kind: str, name: str) -> None:
    assert name in registry.names(kind)
    thing = registry.get(kind, name)
    assert thing.facts.name == name if kind == "metric" else (thing.name == name and thing.question and thing.paper)


@pytest.mark.parametrize(("kind", "name"), NAMES)
def test_without_the_package_one_line_says_what_to_install(
    kind: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registry, "_plugins", lambda kind: {})
    monkeypatch.setattr(registry, "_found", {kind: {} for kind in registry.FOLDERS})
    with pytest.raises(NameUnknown) as error:
        registry.get(kind, name)
    assert str(error.value) == (f"no {kind} '{name}'. It is part of nlgauge-papers: pip install \"nlgauge[papers]\"")


def test_names_import_no_plugin_and_facts_no_torch() -> None:
    code = (
        "import sys; from nlgauge import registry as r; [r.names(k) for k in r.FOLDERS]; "
        "print('nlgauge_papers' in sys.modules); [r.get(k, n) for k in r.IN_PAPERS for n in r.IN_PAPERS[k]]; "
        "print('nlgauge_papers' in sys.modules, 'torch' in sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["False", "True", "False"]


def test_a_plugin_analysis_runs_from_python_and_from_the_command_line() -> None:
    table = ng.analyze("quality-bins", ng.example(), cuts="terciles")
    assert table.kind == "quality-bins" and table.rows
    words = ["analyze", "quality-bins", "example", "--format", "csv", "--cuts", "terciles"]
    result = CliRunner().invoke(build("meta"), words)
    assert result.exit_code == 0 and "bin" in result.stdout.splitlines()[0]
