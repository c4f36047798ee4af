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


COLUMNS = "human=coherence,metrics=good+fair+noise+ter,lower=ter"


def data(name: str = "scores.csv", more: str = "") -> tuple[str, ...]:
    return (name, "--columns", f"{COLUMNS}{more}")


def test_compare_ranks_the_metrics(folder: Path) -> None:
    run = nlgauge("analyze", "compare", *data(), *FEW, "-f", "json", cwd=folder)
    (table,) = tables(run)
    assert table["analysis"] == "compare"
    assert table["rows"][0]["metric"] == "good"
    assert table["rows"][-1]["metric"] == "noise"
    assert {r["metric"] for r in table["rows"]} == {"good", "fair", "noise", "ter"}
    assert {"rank", "value", "low", "high", "p_to_next", "n"} <= set(table["rows"][0])
    assert "Test for systems and inputs like these" in table["method"]


@pytest.mark.parametrize(
    "verb", ["run", "analyze correlate", "analyze compare", "gate --min input/kendall=.1", "analyze jury"]
)
def test_verbs_about_systems_take_families_and_clusters(folder: Path, verb: str) -> None:
    for option in ("--family", "--cluster"):
        run = nlgauge(*verb.split(), *data(), option, "domian", cwd=folder)
        assert run.returncode == 2
        assert "no column 'domian'. Did you mean 'domain'?" in run.stderr
    run = nlgauge(*verb.split(), *data(), "--family", "domain", cwd=folder)
    assert run.returncode == 2
    assert "it differs between the outputs of system 'sys0': chat, news." in run.stderr


def test_a_cluster_that_is_named_is_used_by_compare_and_meta(folder: Path) -> None:
    for name, *more in (("compare",), ("intervals", "--measures", "input/kendall")):
        run = nlgauge("analyze", name, *data(), *more, "--cluster", "domain", "-f", "json", cwd=folder)
        (table,) = tables(run)
        together = (
            "Inputs with the same 'domain' are not independent; the jackknife leaves them out together (2 clusters)."
        )
        assert together in table["notes"]


def test_compare_pairs_with_williams_as_csv(folder: Path) -> None:
    run = nlgauge(
        "analyze",
        "compare-pairs",
        *data(),
        "--test",
        "williams",
        "--measure",
        "global/pearson",
        "-f",
        "csv",
        cwd=folder,
    )
    rows = list(csv.DictReader(io.StringIO(run.stdout)))
    assert len(rows) == 6
    assert all(float(r["difference"]) >= 0 for r in rows)


def test_compare_prints_for_people_without_a_terminal(folder: Path) -> None:
    run = nlgauge("analyze", "compare", *data(), *FEW, cwd=folder)
    assert "ranking of metrics on coherence" in run.stdout
    assert "Test for systems and inputs like these" in run.stdout
    assert "\x1b[" not in run.stdout + run.stderr


def test_stability_recommends_a_measure(folder: Path) -> None:
    run = nlgauge("analyze", "stability", *data(), *FEW, "--trials", "30", "-f", "json", cwd=folder)
    (table,) = tables(run)
    assert len(table["rows"]) == 12
    said = table["answers"][0]
    assert (
        said.startswith("No measure is reliable on these data")
        or "a single best measure requires 6 metrics; found 4" in said
    )
    assert "trust" not in said
    assert all(len(curve) == 6 for curve in table["facts"]["curves"].values())


def test_agree_answers_three_questions_with_named_raters(folder: Path) -> None:
    run = nlgauge("analyze", "agreement", *data(more=",rater=annotator"), *FEW, "-f", "json", cwd=folder)
    assert [t["analysis"] for t in tables(run)] == ["agreement", "ceiling", "replacement"]


def test_aggregate_changes_the_ratings_and_is_in_the_signature(folder: Path) -> None:
    args = (
        "analyze",
        "correlate",
        *data(),
        "--measures",
        "input/kendall",
        "-f",
        "json",
        "--columns",
        "rater=annotator",
    )
    values = {}
    for how in ("mean", "median", "mace"):
        (table,) = tables(nlgauge(*args, "--aggregate", how, cwd=folder))
        values[how] = table["rows"][0]["value"]
        assert (f"aggregate:{how}" in table["signature"]) == (how != "mean")
    assert len(set(values.values())) == 3


def test_plan_gives_a_curve_and_the_chance_level(folder: Path) -> None:
    run = nlgauge(
        "plan",
        *data(),
        "--metrics",
        "good,noise",
        "--axis",
        "systems",
        "--sizes",
        "8,16",
        "--trials",
        "10",
        "-f",
        "json",
        cwd=folder,
    )
    curve, chance = tables(run)
    assert [r["systems"] for r in curve["rows"]] == [8, 16]
    assert {"power", "se", "wrong", "difference", "target"} <= set(curve["rows"][0])
    assert {r["measure"] for r in chance["rows"]} >= {"input/acc-eq", "system/spa"}


def test_plan_over_raters_needs_raters(folder: Path) -> None:
    args = ("--metrics", "good,noise", "--axis", "raters", "--trials", "5", "--sizes", "1,3", "-f", "json")
    curve, _ = tables(nlgauge("plan", *data(more=",rater=annotator"), *args, cwd=folder))
    assert [r["raters"] for r in curve["rows"]] == [1, 3]
    run = nlgauge("plan", *data("mean.csv"), *args, cwd=folder)
    assert run.returncode == 2
    assert "needs at least two annotators" in run.stderr


def test_independent_by_a_column(folder: Path) -> None:
    run = nlgauge(
        "analyze", "independent", *data("mean.csv"), "--by", "domain", "-f", "json", "--draws", "20", cwd=folder
    )
    (table,) = tables(run)
    assert {(r["first"], r["second"]) for r in table["rows"]} == {("news", "chat")}
    assert {r["n_first"] for r in table["rows"]} == {48}


def test_a_simulated_panel_is_read_back(folder: Path) -> None:
    run = nlgauge(
        "data",
        "simulate",
        "--systems",
        "5",
        "--inputs",
        "9",
        "--scale-human",
        "4",
        "--seed",
        "7",
        "-o",
        "sim.csv",
        cwd=folder,
    )
    assert run.returncode == 0, run.stderr
    (table,) = tables(
        nlgauge("analyze", "correlate", "sim.csv", "--measures", "global/pearson", "-f", "json", cwd=folder)
    )
    assert table["rows"][0]["n"] == 45
    first = (folder / "sim.csv").read_text()
    again = nlgauge(
        "data",
        "simulate",
        "--systems",
        "5",
        "--inputs",
        "9",
        "--scale-human",
        "4",
        "--seed",
        "7",
        "-f",
        "csv",
        cwd=folder,
    )
    assert again.stdout == first
    assert len({line.split(",")[2] for line in first.splitlines()[1:]}) <= 4


def test_simulate_fits_a_file(folder: Path) -> None:
    run = nlgauge("data", "simulate", *data(), "--metrics", "fair", "--seed", "1", "-f", "json", cwd=folder)
    (table,) = tables(run)
    assert len(table["rows"]) == 8 * 12
    assert "fair on coherence: ρ_sys" in run.stderr


def test_the_two_studies_of_the_paper_run_from_parameters(folder: Path) -> None:
    size = "trials=2,redraws=1,systems=4,inputs=20"
    run = nlgauge(
        "reproduce", "gao2025", "relation", "--options", "trials=3,systems=4,inputs=20", "-f", "json", cwd=folder
    )
    assert [t["analysis"] for t in tables(run)] == ["relation", "relation"]
    (table,) = tables(nlgauge("reproduce", "gao2025", "scale", "--options", size, "-f", "json", cwd=folder))
    assert len(table["rows"]) == 12 * 12


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("analyze", "compare", *data(), "--test", "t-test"), "use auto, permutation, williams or bootstrap"),
        (("analyze", "compare", *data(), "--how", "rows"), "use both, inputs, systems or cells"),
        (("analyze", "compare", *data(), "--profile", "nlpstat"), "Did you mean 'nlpstats'?"),
        (("analyze", "compare", *data(), "--correction", "bonferroni"), "use simultaneous, holm, bh or none"),
        (("analyze", "compare", *data(), "--measure", "input/kendal"), "Did you mean 'kendall'?"),
        (("analyze", "stability", *data(), "--metrics", "good,fair"), "requires at least 3 metrics; found 2."),
        (("analyze", "agreement", *data("mean.csv")), "agreement needs at least two annotators"),
        (
            ("analyze", "correlate", *data("mean.csv"), "--aggregate", "mace"),
            "MACE weights annotators and needs ratings of at least two annotators with IDs.",
        ),
        (("analyze", "correlate", *data(), "--aggregate", "mode"), "use mean, median or mace"),
        (("plan", *data()), "select them with --metrics a,b"),
        (("plan", *data(), "--metrics", "good,noise", "--sizes", "ten"), "write whole numbers"),
        (("plan", *data(), "--metrics", "good,noise", "--power", "80"), "between 0 and 1"),
        (("plan", *data(), "--metrics", "good,noise", "--axis", "docs"), "use inputs, systems or raters"),
        (("data", "simulate", "--rho-sys", "2"), "rho_sys must lie between -1 and 1"),
        (("plan", *data(), "--metrics", "good,noise", "--trials", "0"), "must be at least 1"),
        (("data", "simulate", *data()), "requires one metric: select it with --metrics"),
        (("data", "simulate", "-o", "x.xlsx"), "cannot write '.xlsx'"),
    ],
)
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
