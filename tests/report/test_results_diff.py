"""results.json, and two of them compared: the gate of a CI run."""

from __future__ import annotations

import json
import subprocess
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import kendalltau

import nlgauge as ng
from command import run_command
from nlgauge.analyses.comparing.changes import FAIL, INCONCLUSIVE, PASS, compare_results, verdict_words
from nlgauge.analyses.comparing.earlier_run import EarlierRun
from nlgauge.data.example import example
from nlgauge.data.load import load
from nlgauge.datasets.results import SCHEMA_VERSION, read_results, write_results
from nlgauge.errors import DataError, NameUnknown, NlgaugeError
from nlgauge.report.results import per_input, results_of
from nlgauge.report.sections import ReportContext
from nlgauge.session import Session


def results(values: dict[str, list[float | None]], inputs: list[str] | None = None, **more: Any) -> dict[str, Any]:
    n = len(next(iter(values.values())))
    names = inputs or [f"i{k}" for k in range(n)]
    return {
        "schema_version": SCHEMA_VERSION,
        "nlgauge": "0",
        "data": "d",
        "seed": 0,
        "per_input": {"measure": "input/kendall", "inputs": names, "values": {"quality": values}},
        **more,
    }


def written(path: Path, found: dict[str, Any]) -> Path:
    return write_results(path, found)


@pytest.fixture
def old() -> list[float | None]:
    return np.random.default_rng(0).normal(0.5, 0.2, 40).round(3).tolist()


def compared(tmp_path: Path, old: Any, new: Any, **options: Any) -> Any:
    return compare_results(written(tmp_path / "old.json", old), written(tmp_path / "new.json", new), **options)


def test_values_per_input_are_pairwise_accuracies_over_systems() -> None:
    """Of the pairs of systems with unequal ratings, those that the metric orders alike; its ties count one half."""
    data = example()
    found = per_input(ReportContext(Session(data)))
    assert found["measure"] == "input/pairwise-accuracy"
    panel = data.panel()
    scores, values = panel.metrics["char3_f1"], found["values"]["constructed_quality"]["char3_f1"]
    for k in range(panel.n_inputs):
        x, z = scores[:, k], panel.human[:, k]
        right = [(np.sign(x[a] - x[b]) + 1) / 2 for a in range(len(z)) for b in range(len(z)) if z[a] > z[b]]
        assert values[k] == pytest.approx(np.mean(right), abs=1e-6)
    assert found["inputs"] == list(panel.inputs)


def test_values_per_input_of_another_gate_are_kendalls_tau_b() -> None:
    data = example()
    found = per_input(ReportContext(Session(data), gate="input/kendall"))
    panel = data.panel()
    values = found["values"]["constructed_quality"]["char3_f1"]
    for k in range(panel.n_inputs):
        assert values[k] == pytest.approx(
            kendalltau(panel.metrics["char3_f1"][:, k], panel.human[:, k]).statistic, abs=1e-6
        )
    assert found["inputs"] == list(panel.inputs)


def test_only_measures_of_single_inputs_can_be_a_gate() -> None:
    data = example()
    with pytest.raises(NlgaugeError, match="only input/"):
        per_input(ReportContext(Session(data), gate="global/kendall"))


def test_a_sure_drop_fails_and_a_small_one_does_not(tmp_path: Path, old: list[float]) -> None:
    lower = [v - 0.1 for v in old]
    table = compared(tmp_path, results({"m": old}), results({"m": lower}), fail_drop=0.02)
    assert table.rows[0]["change"] == pytest.approx(-0.1)
    assert table.rows[0]["p"] == 1 / 10_000  # (0 + 1) / (9999 + 1): no flip of 40 equal signs is as far
    assert verdict_words(table, 0.02)[0] == FAIL
    table = compared(tmp_path, results({"m": old}), results({"m": lower}), fail_drop=0.15)
    assert verdict_words(table, 0.15) == (PASS, "passes: nothing dropped by more than 0.15.")


def test_a_large_drop_within_chance_passes_and_is_said(tmp_path: Path) -> None:
    old, new = [0.1, 0.9, 0.5, 0.4, 0.3, 0.2], [0.6, 0.1, 0.4, 0.2, 0.1, 0.3]
    table = compared(tmp_path, results({"m": old}), results({"m": new}), fail_drop=0.02)
    gaps = np.subtract(new, old)
    flips = [abs(np.dot(s, gaps)) for s in product((1, -1), repeat=6)]
    exact = np.mean([f >= abs(gaps.sum()) - 1e-9 for f in flips])
    assert table.rows[0]["p"] == pytest.approx(exact, abs=0.02)
    code, words = verdict_words(table, 0.02)
    assert code == PASS
    assert "none significantly" in words


def test_many_comparisons_are_corrected_and_one_metric_can_be_asked_for(tmp_path: Path, old: list[float]) -> None:
    rng = np.random.default_rng(1)
    new = {f"m{k}": [v + rng.normal(0, 0.1) for v in old] for k in range(5)}
    table = compared(tmp_path, results(dict.fromkeys(new, old)), results(new))
    assert all(r["p_corrected"] >= r["p"] for r in table)
    alone = compared(tmp_path, results(dict.fromkeys(new, old)), results(new), metrics=["m2"])
    assert [r["metric"] for r in alone] == ["m2"]
    assert alone.rows[0]["p_corrected"] == alone.rows[0]["p"]


def test_inputs_are_matched_by_name_and_missing_values_left_out(tmp_path: Path) -> None:
    old = results({"m": [0.1, 0.2, 0.3, None, 0.5]}, ["a", "b", "c", "d", "e"])
    new = results({"m": [0.4, 0.2, 0.1, 0.9, 0.8]}, ["e", "c", "b", "d", "x"])
    table = compared(tmp_path, old, new)
    row = table.rows[0]
    assert (row["inputs"], row["old"], row["new"]) == (3, pytest.approx(1 / 3), pytest.approx(0.7 / 3))
    assert any("2 inputs of only one of the runs" in note for note in table.notes)


def test_a_judge_that_says_the_same_everywhere_fails(tmp_path: Path, old: list[float]) -> None:
    table = compared(tmp_path, results({"m": old}), results({"m": [None] * 40}))
    code, words = verdict_words(table, 0.02)
    assert code == FAIL
    assert "no values" in words


def test_a_metric_that_vanished_is_no_pass(tmp_path: Path, old: list[float]) -> None:
    """A judge that collapsed under another name was only listed in a note, and the gate passed."""
    table = compared(tmp_path, results({"m": old, "judge-v1": old}), results({"m": old, "judge-v2": old}))
    code, words = verdict_words(table, 0.02)
    assert code == INCONCLUSIVE
    assert "judge-v1 on quality: it is not in the new run" in words
    chosen = compared(tmp_path, results({"m": old, "x": old}), results({"m": old}), metrics=["m"])
    assert verdict_words(chosen, 0.02)[0] == PASS
    worse = compared(tmp_path, results({"m": old, "x": old}), results({"m": [v - 0.3 for v in old]}))
    assert verdict_words(worse, 0.02)[0] == FAIL  # a real drop keeps its own code


def test_an_aspect_that_vanished_is_no_pass(tmp_path: Path, old: list[float]) -> None:
    both = results({"m": old})
    both["per_input"]["values"]["wit"] = {"m": old}
    table = compared(tmp_path, both, results({"m": old}))
    assert verdict_words(table, 0.02)[0] == INCONCLUSIVE


@pytest.mark.parametrize(
    ("new", "why"),
    [
        ([None, 0.5] + [None] * 38, "lost their value"),  # compared on one input only
        ([0.5] * 20 + [None] * 20, "20 inputs lost their value and 0 gained one"),
    ],
)
def test_a_judge_that_lost_its_values_is_no_pass(
    tmp_path: Path, old: list[float], new: list[float | None], why: str
) -> None:
    table = compared(tmp_path, results({"m": [0.5] * 40}), results({"m": new}))
    code, words = verdict_words(table, 0.02)
    assert code == INCONCLUSIVE
    assert why in words


def test_values_that_come_and_go_in_equal_numbers_are_chance(tmp_path: Path) -> None:
    old: list[float | None] = [None] * 5 + [0.5] * 35
    table = compared(tmp_path, results({"m": old}), results({"m": old[::-1]}))
    assert verdict_words(table, 0.02)[0] == PASS


@pytest.mark.parametrize(("inputs", "code"), [(1, INCONCLUSIVE), (5, INCONCLUSIVE), (6, PASS)])
def test_too_few_inputs_for_any_drop_to_be_significant_are_no_pass(tmp_path: Path, inputs: int, code: int) -> None:
    old, new = [0.5 + 0.01 * i for i in range(inputs)], [0.5 + 0.011 * i for i in range(inputs)]
    assert verdict_words(compared(tmp_path, results({"m": old}), results({"m": new})), 0.02)[0] == code


def test_what_changed_about_a_judge_of_the_same_name_is_said(tmp_path: Path, old: list[float]) -> None:
    before, after = (
        results({"house": old}, signatures={"house": f"model:{m}|scale:1-5|endpoint:{e}|version:nlgauge-{v}"})
        for m, e, v in (("gpt-4", "ab", 1), ("llama3", "cd", 2))
    )
    table = compared(tmp_path, before, after)
    assert "house changed: model gpt-4 → llama3, another endpoint." in table.notes


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"schema_version": SCHEMA_VERSION - 1}, "schema_version: found 2, expected 3"),
        ({"schema_version": str(SCHEMA_VERSION)}, "schema_version: found '3', expected 3"),
        ({"schema_version": None}, "schema_version: found None, expected 3"),
        ({"per_input": None}, "no values per input"),
        ({"per_input": {"measure": "input/pearson", "inputs": ["i0"], "values": {}}}, "gate='input/kendall'"),
        (
            {"per_input": {"measure": "input/kendall", "inputs": ["zz"], "values": {"quality": {"m": [1]}}}},
            "no input in common",
        ),
        (
            {"per_input": {"measure": "input/kendall", "inputs": ["i0"], "values": {"q": {"m": [1]}}}},
            "no metric and aspect in common",
        ),
    ],
)
def test_files_that_cannot_be_compared_say_why(
    tmp_path: Path, old: list[float], change: dict[str, Any], words: str
) -> None:
    with pytest.raises(DataError, match=words):
        compared(tmp_path, results({"m": old}), {**results({"m": old}), **change})


def test_results_of_another_version_end_with_one_line_wherever_they_are_read(tmp_path: Path) -> None:
    report = ng.report(ng.example(), out=tmp_path / "page.html", quick=True)
    results = json.loads(report.results.read_text())
    assert type(results["schema_version"]) is int
    for change in ({"schema_version": results["schema_version"] + 1}, None):
        del results["schema_version"]
        report.results.write_text(json.dumps(results | (change or {})))
        for read in (
            lambda: ng.gate(ng.example(), max_drop={"kappa": 0.1}, against=report.results),
            lambda: ng.report(ng.example(), out=tmp_path / "later.html", quick=True, against=report.results),
            lambda: read_results(report.results),
        ):
            with pytest.raises(DataError, match="write it again with") as error:
                read()
            assert "\n" not in str(error.value)
        results["schema_version"] = 0


def test_an_unknown_metric_suggests_the_nearest(tmp_path: Path, old: list[float]) -> None:
    with pytest.raises(NameUnknown, match="Did you mean 'judge'"):
        compared(tmp_path, results({"judge": old}), results({"judge": old}), metrics=["juge"])


def nlgauge(*args: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return run_command(*args, cwd=cwd)


def test_the_exit_code_tells_ci(tmp_path: Path, old: list[float]) -> None:
    written(tmp_path / "a.json", results({"m": old}))
    written(tmp_path / "b.json", results({"m": [v - 0.1 for v in old]}))
    bad = nlgauge("gate", "b.json", "--against", "a.json", cwd=tmp_path)
    assert bad.returncode == 1
    assert "fails: dropped by more than 0.02, significantly: m on quality -0.100" in " ".join(bad.stdout.split())
    good = nlgauge("gate", "a.json", "--against", "b.json", "-f", "json", cwd=tmp_path)
    assert good.returncode == 0
    assert json.loads(good.stdout)["tables"][0]["rows"][0]["verdict"] == "rose"
    assert nlgauge("gate", "none.json", "--against", "a.json", cwd=tmp_path).returncode == 2
    written(tmp_path / "c.json", results({"m": old, "n": old}))
    gone = nlgauge("gate", "a.json", "--against", "c.json", cwd=tmp_path)
    assert gone.returncode == 3
    assert "inconclusive, which does not pass: n on quality" in " ".join(gone.stdout.split())


def test_run_writes_the_page_and_the_results(tmp_path: Path) -> None:
    rows = ["system,input,quality,bleu,ter,chrf"]
    rows += [f"{s},{i},{(i * k) % 5},{i + k},{i - k},{i * k % 7}" for k, s in enumerate("ABCD") for i in range(8)]
    (tmp_path / "scores.csv").write_text("\n".join(rows) + "\n")
    run = nlgauge("run", "scores.csv", "--quick", "--columns", "lower=ter", "-o", "out/page.html", cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    assert "Too few data for any conclusion" in " ".join(run.stdout.split())
    assert (tmp_path / "out/page.html").exists()
    found = read_results(tmp_path / "out/page.results.json")
    assert found["command"] == "nlgauge run scores.csv --quick --columns lower=ter -o out/page.html"
    assert {t["analysis"] for t in found["tables"]} >= {
        "correlate",
        "compare",
        "stability",
        "uses",
        "checklist",
        "wins",
    }
    assert [s["key"] for s in found["sections"]][:3] == ["evaluated", "annotators", "agrees"]
    assert set(found["per_input"]["values"]["quality"]) == {"bleu", "ter", "chrf"}


def test_trials_of_one_input_are_one_unit(tmp_path: Path, old: list[float | None]) -> None:
    """Values that repeat for each trial give the p-value of the inputs, not that of many more rows."""
    few, lower = old[:12], [v and v - 0.02 * (k % 4 - 1) for k, v in enumerate(old[:12])]
    (once,) = compared(tmp_path, results({"m": few}), results({"m": lower}))
    names = [f"i{k}" + (f" #{t}" if t > 1 else "") for k in range(12) for t in range(1, 6)]
    units = {name: name.partition(" ")[0] for name in names if " " in name}
    files = [results({"m": [v for v in values for _ in range(5)]}, names) for values in (few, lower)]
    (apart,) = compared(tmp_path, *files)
    for found in files:
        found["per_input"]["units"] = units
    table = compared(tmp_path, *files)
    (many,) = table
    assert (many["p"], many["inputs"], many["least_p"]) == (once["p"], 12, once["least_p"])
    assert many["change"] == pytest.approx(once["change"]) and apart["p"] < many["p"]
    assert any(note.startswith("60 rows belong to 12 inputs") for note in table.notes)


def test_a_gate_against_results_takes_the_trials_of_one_input_as_one_unit() -> None:
    rng = np.random.default_rng(0)
    people = rng.integers(1, 6, (4, 30))
    runs = [people + rng.normal(0, noise, people.shape) for noise in (1.0, 1.5)]

    def intervals(trials: int) -> tuple[float, float, float]:
        old, new = (
            load(
                [
                    {"system": f"s{s}", "id": f"q{i}", "trial": t, "judge": run[s, i], "human_score": int(people[s, i])}
                    for s, i, t in product(range(4), range(30), range(trials))
                ]
            )
            for run in runs
        )
        earlier = EarlierRun.of_results("old", results_of(ReportContext(Session(old)), []))
        (row,) = earlier.changes(new.panel(), ["input/pairwise-accuracy"])
        return row["value"], row["low"], row["high"]

    assert intervals(3) == pytest.approx(intervals(1))
