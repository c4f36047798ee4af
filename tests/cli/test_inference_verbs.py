"""nlgauge compare, stability, agree, plan and simulate, as a user types them."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from command import run_command
from nlgauge.cli import main

FEW = ("--draws", "49")


def nlgauge(*args: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return run_command(*args, cwd=cwd, COLUMNS="160")


def tables(run: subprocess.CompletedProcess[str]) -> list[dict[str, Any]]:
    assert run.returncode == 0, run.stderr
    found: list[dict[str, Any]] = json.loads(run.stdout)["tables"]
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """scores.csv: 8 systems × 12 inputs, 3 named raters, four metrics (ter: less is better); mean.csv: no single
    raters.
    """
    home = tmp_path_factory.mktemp("inference")
    rng = np.random.default_rng(0)
    rows, means = [], []
    for s in range(8):
        for i in range(12):
            q = 3 + 0.25 * (s - 4) + rng.normal(0, 0.8)
            scores = {
                "good": q + rng.normal(0, 0.3),
                "fair": q + rng.normal(0, 1.5),
                "noise": rng.normal(),
                "ter": -q + rng.normal(0, 1),
            }
            scores = {k: round(v, 4) for k, v in scores.items()}
            given = [int(np.clip(np.rint(q + rng.normal(0, 0.5)), 1, 5)) for _ in range(3)]
            key = {"system": f"sys{s}", "doc": f"d{i}", "domain": "news" if i < 6 else "chat"}
            rows += [{**key, "annotator": f"rater{k}", "coherence": g, **scores} for k, g in enumerate(given)]
            means.append({**key, "coherence": round(float(np.mean(given)), 4), **scores})
    for name, content in (("scores.csv", rows), ("mean.csv", means)):
        with (home / name).open("w", newline="") as file:
            writer = csv.DictWriter(file, list(content[0]))
            writer.writeheader()
            writer.writerows(content)
    return home


def data(name: str = "scores.csv") -> tuple[str, ...]:
    return (name, "--human", "coherence", "--metric", "good,fair,noise,ter", "--lower", "ter")


def test_compare_ranks_the_metrics(folder: Path) -> None:
    run = nlgauge("compare", *data(), *FEW, "-f", "json", cwd=folder)
    (table,) = tables(run)
    assert table["analysis"] == "ranking"
    assert table["rows"][0]["metric"] == "good"
    assert table["rows"][-1]["metric"] == "noise"
    assert {r["metric"] for r in table["rows"]} == {"good", "fair", "noise", "ter"}
    assert {"rank", "value", "low", "high", "p_to_next", "n"} <= set(table["rows"][0])
    assert "Test for systems and inputs like these" in table["method"]


@pytest.mark.parametrize("verb", ["run", "meta", "compare", "gate --min input/kendall=.1", "jury"])
def test_verbs_about_systems_take_families_and_clusters(folder: Path, verb: str) -> None:
    for option in ("--family", "--cluster"):
        run = nlgauge(*verb.split(), *data(), option, "domian", cwd=folder)
        assert run.returncode == 2
        assert "no column 'domian'. Did you mean 'domain'?" in run.stderr
    run = nlgauge(*verb.split(), *data(), "--family", "domain", cwd=folder)
    assert run.returncode == 2
    assert "it differs between the outputs of system 'sys0': chat, news." in run.stderr


def test_a_cluster_that_is_named_is_used_by_compare_and_meta(folder: Path) -> None:
    for args in (("compare",), ("meta", "--analysis", "intervals", "--measure", "input/kendall")):
        verb, *more = args
        run = nlgauge(verb, *data(), *more, "--cluster", "domain", "-f", "json", cwd=folder)
        (table,) = tables(run)
        together = "Inputs with the same 'domain' are not independent; they are left out together (2 clusters)."
        assert together in table["notes"]


def test_compare_pairs_with_williams_as_csv(folder: Path) -> None:
    run = nlgauge(
        "compare", *data(), "--test", "williams", "--measure", "global/pearson", "--pairs", "-f", "csv", cwd=folder
    )
    rows = list(csv.DictReader(io.StringIO(run.stdout)))
    assert len(rows) == 6
    assert all(float(r["difference"]) >= 0 for r in rows)


def test_compare_prints_for_people_without_a_terminal(folder: Path) -> None:
    run = nlgauge("compare", *data(), *FEW, cwd=folder)
    assert "ranks of the metrics on coherence" in run.stdout
    assert "Test for systems and inputs like these" in run.stdout
    assert "\x1b[" not in run.stdout + run.stderr


def test_stability_recommends_a_measure(folder: Path) -> None:
    run = nlgauge("stability", *data(), *FEW, "--trials", "30", "-f", "json", cwd=folder)
    (table,) = tables(run)
    assert len(table["rows"]) == 12
    said = table["answers"][0]  # four metrics are too few for one measure to stand out
    assert said.startswith("No measure is steady here") or "no measure can stand out" in said
    assert "trust" not in said
    assert all(len(curve) == 6 for curve in table["facts"]["curves"].values())


def test_agree_answers_three_questions_with_named_raters(folder: Path) -> None:
    run = nlgauge("agree", *data(), "--rater", "annotator", *FEW, "-f", "json", cwd=folder)
    assert [t["analysis"] for t in tables(run)] == ["agreement", "ceiling", "replacement"]


def test_aggregate_changes_the_ratings_and_is_in_the_signature(folder: Path) -> None:
    args = ("meta", *data(), "--rater", "annotator", "--measure", "input/kendall", "-f", "json")
    values = {}
    for how in ("mean", "median", "mace"):
        (table,) = tables(nlgauge(*args, "--aggregate", how, cwd=folder))
        values[how] = table["rows"][0]["value"]
        assert (f"aggregate:{how}" in table["signature"]) == (how != "mean")
    assert len(set(values.values())) == 3


def test_plan_gives_a_curve_and_the_chance_level(folder: Path) -> None:
    run = nlgauge(
        "plan", *data(), "--metrics", "good,noise", "--axis", "systems", "--size", "8,16", "--trials", "10", "-f",
        "json", cwd=folder
    )  # fmt: skip
    curve, chance = tables(run)
    assert [r["systems"] for r in curve["rows"]] == [8, 16]
    assert {"power", "se", "wrong", "difference", "target"} <= set(curve["rows"][0])
    assert {r["measure"] for r in chance["rows"]} >= {"input/acc-eq", "system/spa"}


def test_plan_over_raters_needs_raters(folder: Path) -> None:
    args = (
        "--metrics",
        "good,noise",
        "--axis",
        "raters",
        "--trials",
        "5",
        "--size",
        "1,3",
        "--no-chance",
        "-f",
        "json",
    )
    (curve,) = tables(nlgauge("plan", *data(), "--rater", "annotator", *args, cwd=folder))
    assert [r["raters"] for r in curve["rows"]] == [1, 3]
    run = nlgauge("plan", *data("mean.csv"), *args, cwd=folder)
    assert run.returncode == 2
    assert "needs at least two raters" in run.stderr


def test_independent_by_a_column(folder: Path) -> None:
    run = nlgauge(
        "meta",
        *data("mean.csv"),
        "--analysis",
        "independent",
        "--by",
        "domain",
        "--set",
        "draws=20",
        "-f",
        "json",
        cwd=folder,
    )
    (table,) = tables(run)
    assert {(r["first"], r["second"]) for r in table["rows"]} == {("news", "chat")}
    assert {r["n_first"] for r in table["rows"]} == {48}


def test_a_simulated_panel_is_read_back(folder: Path) -> None:
    run = nlgauge(
        "simulate", "--systems", "5", "--inputs", "9", "--scale-human", "4", "--seed", "7", "-o", "sim.csv", cwd=folder
    )
    assert run.returncode == 0, run.stderr
    (table,) = tables(nlgauge("meta", "sim.csv", "--measure", "global/pearson", "-f", "json", cwd=folder))
    assert table["rows"][0]["n"] == 45
    first = (folder / "sim.csv").read_text()
    again = nlgauge("simulate", "--systems", "5", "--inputs", "9", "--scale-human", "4", "--seed", "7", cwd=folder)
    assert again.stdout == first
    assert len({line.split(",")[2] for line in first.splitlines()[1:]}) <= 4


def test_simulate_fits_a_file_and_runs_the_studies(folder: Path) -> None:
    run = nlgauge(
        "simulate", *data(), "--metrics", "fair", "--study", "relation", "--trials", "3", "-f", "json", cwd=folder
    )
    assert [t["analysis"] for t in tables(run)] == ["relation", "relation"]
    assert "fair on coherence: ρ_sys" in run.stderr
    run = nlgauge(
        "simulate",
        "--study",
        "scale",
        "--trials",
        "2",
        "--redraws",
        "1",
        "--systems",
        "4",
        "--inputs",
        "20",
        "-f",
        "json",
        cwd=folder,
    )
    (table,) = tables(run)
    assert len(table["rows"]) == 12 * 12


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("compare", *data(), "--test", "t-test"), "use auto, permutation, williams or bootstrap"),
        (("compare", *data(), "--how", "rows"), "use both, inputs, systems or cells"),
        (("compare", *data(), "--profile", "nlpstat"), "Did you mean 'nlpstats'?"),
        (("compare", *data(), "--correction", "bonferroni"), "use simultaneous, holm, bh or none"),
        (("compare", *data(), "--measure", "input/kendal"), "Did you mean 'kendall'?"),
        (("stability", *data(), "--metrics", "good,fair"), "at least 3; found 2"),
        (("agree", *data("mean.csv")), "agreement needs at least two raters"),
        (("meta", *data("mean.csv"), "--aggregate", "mace"), "MACE weighs persons"),
        (("meta", *data(), "--aggregate", "mode"), "use mean, median, mace"),
        (("plan", *data()), "name them with --metrics a,b"),
        (("plan", *data(), "--metrics", "good,noise", "--size", "ten"), "write whole numbers"),
        (("plan", *data(), "--metrics", "good,noise", "--power", "80"), "between 0 and 1"),
        (("plan", *data(), "--metrics", "good,noise", "--axis", "docs"), "use inputs, systems or raters"),
        (("simulate", "--study", "scales"), "use panel, relation or scale"),
        (("simulate", "--rho-sys", "2"), "rho_sys must lie between -1 and 1"),
        (("simulate", "--trials", "0"), "at least 1"),
        (("simulate", *data()), "name it with --metrics"),
        (("simulate", "-o", "x.xlsx"), "written as .csv"),
    ],
)  # fmt: skip
def test_a_mistake_is_one_line_on_stderr_and_exit_code_2(
    folder: Path, args: tuple[str, ...], words: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In this process: eighteen interpreters would take a minute to start."""
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "argv", ["nlgauge", *args])
    with pytest.raises(SystemExit) as stopped:
        main()
    out, err = capsys.readouterr()
    assert stopped.value.code == 2
    assert words in err
    assert err.strip().splitlines()[-1].startswith("nlgauge: ")
    assert out == ""
