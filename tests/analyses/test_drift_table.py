"""`nlgauge drift`: anchors part the judge's shift from the data's, none are made up, and many looks hold the rate."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from bench.drift import CHANGES, two_runs

import nlgauge as ng
from command import run_command
from nlgauge.analyses.judges.drift import drift
from nlgauge.errors import NameUnknown, NeedsMissing, NlgaugeError
from nlgauge.stats.estimation.judge_shift import agreements, anchors_needed, shifts
from nlgauge.stats.tests.betting import betting_interval, log_capital


def rows_of(table: Any) -> dict[str, Any]:
    return {row["measure"]: row for row in table}


@pytest.mark.parametrize(
    ("change", "judge", "data"), [("judge +.2", 0.2, 0.0), ("data +.3", 0.0, 0.3), ("judge −.2, data +.3", -0.2, 0.3)]
)
def test_the_change_is_split_into_the_judges_and_the_datas(change: str, judge: float, data: float) -> None:
    found = rows_of(drift(two_runs(4000, CHANGES[change], np.random.default_rng(1))))
    assert found["judge_shift"]["value"] == pytest.approx(judge, abs=0.06)
    assert found["data_shift"]["value"] == pytest.approx(0.75 * data, abs=0.06)  # a quarter of the outputs are anchors
    assert found["total"]["value"] == pytest.approx(found["judge_shift"]["value"] + found["data_shift"]["value"])
    assert (found["judge_shift"]["verdict"] == "found") == (judge != 0)
    assert (found["data_shift"]["verdict"] == "found") == (data != 0)


def test_without_anchors_nothing_is_apportioned_and_the_number_needed_is_said() -> None:
    old, new = two_runs(300, CHANGES["judge +.2"], np.random.default_rng(0))
    apart = ng.Dataset.of(
        "new",
        new.samples.with_columns("x" + pl.col("input")),
        scores=new.scores.with_columns(input="x" + pl.col("input")),
    )
    apart = ng.Dataset.of(
        "new", apart.samples.with_columns(input="x" + pl.col("input")).select("system", "input"), scores=apart.scores
    )
    table = drift([old, apart])
    found = rows_of(table)
    assert table.facts["verdict"] == "inconclusive"
    assert np.isnan(found["judge_shift"]["value"]) and np.isnan(found["data_shift"]["value"])
    assert np.isfinite(found["total"]["low"])
    assert f"about {anchors_needed(1.0, 0.2)} to detect a shift of 0.2 SD" in table.answers[0]


def test_anchors_in_a_file_of_their_own_are_outputs_of_the_old_run_judged_anew() -> None:
    rng = np.random.default_rng(2)
    quality = rng.normal(3, 1, 400)
    old = ng.load([{"id": k, "judge": float(q)} for k, q in enumerate(quality)], metrics=["judge"])
    new = ng.load(
        [{"id": 1000 + k, "judge": float(q) + 0.8} for k, q in enumerate(rng.normal(3, 1, 400))], metrics=["judge"]
    )
    again = ng.load([{"id": k, "judge": float(quality[k]) + 0.5} for k in range(60)], metrics=["judge"])
    found = rows_of(ng.analyze("drift", [old, new, again]))
    assert found["judge_shift"]["value"] == pytest.approx(0.5)
    assert found["data_shift"]["value"] == pytest.approx(found["total"]["value"] - 0.5)
    stranger = ng.load([{"id": 5000 + k, "judge": 1.0 + k} for k in range(30)], metrics=["judge"])
    with pytest.raises(NeedsMissing, match="none of its outputs matches"):
        ng.analyze("drift", [old, new, stranger])


def test_an_output_with_another_text_is_no_anchor_and_equal_texts_are_where_no_key_is_shared() -> None:
    old = [{"id": k, "output": f"text {k}", "judge": float(k % 5)} for k in range(60)]
    changed = [{**row, "output": row["output"] + "!" * (row["id"] < 20)} for row in old]
    renamed = [{**row, "id": 900 + row["id"]} for row in old]
    counts = [
        rows_of(ng.analyze("drift", [ng.load(old, metrics=["judge"]), ng.load(new, metrics=["judge"])]))["judge_shift"][
            "n"
        ]
        for new in (changed, renamed)
    ]
    assert counts == [40, 60]


def test_outputs_that_one_run_did_not_score_are_no_change_of_the_data() -> None:
    old = [{"id": k, "judge": None if k < 30 else float(k % 5)} for k in range(90)]
    new = [{"id": k, "judge": float(k % 5) + 2 * (k < 30)} for k in range(90)]
    table = ng.analyze("drift", [ng.load(old, metrics=["judge"]), ng.load(new, metrics=["judge"])])
    found = rows_of(table)
    assert found["judge_shift"]["value"] == 0 and found["judge_shift"]["verdict"] == "not found"
    assert "data_shift" not in found
    assert any("30 outputs that were scored in only one of the runs are excluded" in note for note in table.notes)


def selected_anchors(by: str, seed: int = 5) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """400 scores of an unchanged judge, 80 of them judged again: rows of the old run and of the anchors."""
    rng = np.random.default_rng(seed)
    quality = rng.normal(3, 0.9, 400)
    old, again = (np.clip(np.round(quality + rng.normal(0, 0.6, 400)), 1, 5) for _ in range(2))
    key = {"random": rng.random(400), "lowest": old, "extremes": -np.abs(old - 3)}[by]
    chosen = np.argsort(key, kind="stable")[:80].tolist()
    return [{"id": k, "judge": float(v)} for k, v in enumerate(old)], [
        {"id": k, "judge": float(again[k])} for k in chosen
    ]


@pytest.mark.parametrize("by", ["lowest", "extremes"])
def test_nothing_is_concluded_from_anchors_that_were_selected_by_their_score(by: str) -> None:
    old, again = (ng.load(rows, metrics=["judge"]) for rows in selected_anchors(by))
    fresh = ng.load([{"id": 1000 + k, "judge": float(k % 5 + 1)} for k in range(100)], metrics=["judge"])
    for runs in (
        (old, again),
        (old, fresh, again),
        (fresh, old, again),
    ):  # the last: NEW outputs judged by the old judge
        table = ng.analyze("drift", [*runs])
        found = rows_of(table)
        assert table.facts["verdict"] == "inconclusive" and table.facts["representative"]["judge"] < 0.001
        for measure in {"judge_shift", "data_shift", "spread"} & set(found):
            assert found[measure]["verdict"] == "inconclusive" and np.isnan(found[measure]["p"])
            assert "regression to the mean" in found[measure]["reason"]
        run = "new" if runs[1] is old else "old"
        assert f"not a random sample of the {run} scores (mean " in table.answers[0]
        assert (", SD " in table.answers[0]) == (by == "extremes")
        assert "how='random'" in table.answers[0]


def test_anchors_drawn_at_random_pass_the_test_and_their_number_is_in_a_note() -> None:
    old, again = (ng.load(rows, metrics=["judge"]) for rows in selected_anchors("random"))
    table = ng.analyze("drift", [old, again])
    assert table.facts["verdict"] == "not found"
    assert any("no evidence that the anchors differ" in note for note in table.notes)
    assert ng.analyze("drift", [old, old]).facts["representative"] == {}  # all outputs are anchors: none were selected


def test_selected_anchors_do_not_enter_later_looks(tmp_path: Path) -> None:
    old, again = (ng.load(rows, metrics=["judge"]) for rows in selected_anchors("lowest"))
    looks = tmp_path / "looks.jsonl"
    table = ng.analyze("drift", [old, again], looks=looks)
    assert table.facts["verdict"] == "inconclusive"
    assert json.loads(looks.read_text())["metrics"]["judge"]["inputs"] == {}


def test_agreement_with_people_is_reported_next_to_selected_anchors() -> None:
    old, new = two_runs(1000, (0.0, 0.0, 0.2, 0.5), np.random.default_rng(3), "lowest scores")
    (answer,) = drift([old, new]).answers
    assert "inconclusive" in answer and "agreement with human ratings of good changed" in answer


def test_shifts_are_those_of_a_plain_jackknife() -> None:
    rng = np.random.default_rng(0)
    old, new = rng.normal(size=90), rng.normal(0.3, 1, 60)
    codes = np.arange(90) // 3, np.concatenate([np.arange(30) // 3, 30 + np.arange(30) // 3])
    pairs = np.stack([old[:30], new[:30]])
    found = shifts((old, codes[0]), (new, codes[1]), (pairs, codes[0][:30]))

    def plain(keep: int | None) -> list[float]:
        o, n, a = (c != keep for c in (codes[0], codes[1], codes[0][:30]))
        judge = (pairs[1] - pairs[0])[a].mean()
        total = new[n].mean() - old[o].mean()
        return [total, judge, total - judge, pairs[1][a].std() - pairs[0][a].std()]

    left = np.array([plain(c) for c in range(40)])
    assert found.value == pytest.approx(plain(None))
    assert found.se == pytest.approx(np.sqrt(39 / 40 * ((left - left.mean(axis=0)) ** 2).sum(axis=0)))


def test_agreement_is_pearson_or_kappa() -> None:
    from sklearn.metrics import cohen_kappa_score

    rng = np.random.default_rng(0)
    y, z = rng.normal(size=50), rng.normal(size=50)
    codes = np.arange(50)
    assert agreements((y, z, codes), None, False).value[0] == pytest.approx(np.corrcoef(y, z)[0, 1])
    a, b = (y > 0).astype(float), (y + z > 0).astype(float)
    assert agreements((a, b, codes), None, True).value[0] == pytest.approx(cohen_kappa_score(a, b))


def test_capital_is_the_product_of_the_bets() -> None:
    """Waudby-Smith and Ramdas 2023, hedged capital, written out value by value."""
    x = np.array([0.2, 0.9, 0.7, 0.4, 1.0])
    m, alpha = 0.4, 0.05
    up = down = 1.0
    mean_sum, var_sum = 0.5, 0.25
    for i, value in enumerate(x, start=1):
        stake = np.sqrt(2 * np.log(2 / alpha) / (var_sum / i * i * np.log(i + 1)))
        up *= 1 + min(stake, 0.75 / m) * (value - m)
        down *= 1 - min(stake, 0.75 / (1 - m)) * (value - m)
        mean_sum += value
        var_sum += (value - mean_sum / (i + 1)) ** 2
    assert log_capital(x, m, alpha)[-1, 0] == pytest.approx(np.log(max(up, down) / 2))


def test_a_confidence_sequence_misses_the_mean_at_any_of_many_looks_rarely() -> None:
    missed = 0
    for seed in range(100):
        x = np.random.default_rng(seed).choice([0.25, 0.5, 0.75], 2000, p=[0.2, 0.6, 0.2])
        missed += bool((log_capital(x, 0.5, 0.05)[:, 0] >= np.log(20)).any())
    assert missed <= 8
    low, high = betting_interval(np.full(400, 0.5), 4.0, 0.05)
    assert 0 < low < 0.5 < high


def test_looks_are_kept_counted_once_and_alarm_when_the_judge_shifts(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    base = [{"id": k, "judge": float(rng.integers(1, 6))} for k in range(60)]
    kept = tmp_path / "looks.jsonl"

    def look(shift: float, name: str) -> Any:
        rows = [{**r, "judge": float(np.clip(r["judge"] + shift + (rng.random() < 0.1), 1, 5))} for r in base]
        path = tmp_path / name
        pl.DataFrame(rows).write_csv(path)
        return ng.analyze("drift", [ng.load(base, metrics=["judge"]), ng.load(path, metrics=["judge"])], looks=kept)

    tables = [look(0.0, f"day{k}.csv") for k in range(3)]
    same = ng.analyze(
        "drift", [ng.load(base, metrics=["judge"]), ng.load(tmp_path / "day2.csv", metrics=["judge"])], looks=kept
    )
    assert [t.facts["verdict"] for t in tables] == ["not found"] * 3
    assert any("not counted again" in note for note in same.notes)
    assert len(kept.read_text().splitlines()) == 3
    assert look(-1.0, "day3.csv").facts["verdict"] == "found"
    assert [json.loads(line)["look"] for line in kept.read_text().splitlines()] == [1, 2, 3, 4]
    with pytest.raises(
        NlgaugeError, match=r"looks.jsonl, line 1: level= must be 0.95 as in the recorded test; got 0.9"
    ):
        ng.analyze("drift", [ng.load(base, metrics=["judge"]), ng.load(base, metrics=["judge"])], looks=kept, level=0.9)
    kept.write_text("nonsense\n")
    with pytest.raises(NlgaugeError, match=r"looks.jsonl, line 1: expected a test recorded"):
        ng.analyze("drift", [ng.load(base, metrics=["judge"]), ng.load(base, metrics=["judge"])], looks=kept)


def test_what_changed_in_the_judge_is_said_from_data_and_from_cards(tmp_path: Path) -> None:
    from dataclasses import replace

    old, new = two_runs(200, CHANGES["nothing"], np.random.default_rng(0))
    old = replace(old, signatures={"judge": "model:gpt-3.5|prompt:aa|n:1"})
    new = replace(new, signatures={"judge": "model:gpt-4|prompt:bb|n:1"})
    said = ["model gpt-3.5 → gpt-4", "another prompt"]
    assert drift([old, new]).facts["made_otherwise"] == {"judge": said}
    cards = [ng.analyze("judge-card", d).write(tmp_path / f"{k}.json") for k, d in enumerate((old, new))]
    compared = ng.analyze("drift", [*cards])
    assert compared.answers == ["judge: model gpt-3.5 → gpt-4.", "judge: prompt aa → bb."]
    assert any(row["measure"] == "pearson" for row in compared)


def test_results_of_two_runs_of_one_system_can_be_compared(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    made = []
    for k, shift in enumerate((0.0, -0.6)):
        rows = [{"id": i, "human": i % 5 + 1, "judge": float(i % 5) + shift + rng.normal(0, 0.3)} for i in range(60)]
        data = ng.load(rows, human=["human"], metrics=["judge"])
        made.append(ng.report(data, out=tmp_path / f"{k}.html", quick=True).results)
    found = rows_of(ng.analyze("drift", [*made]))
    assert found["judge_shift"]["verdict"] == "found"
    assert found["agreement"]["old"] > 0.9
    beside_data = rows_of(
        ng.analyze("drift", [made[0], data])
    )  # results.json does not keep the name of a single system
    assert beside_data["judge_shift"] == pytest.approx(found["judge_shift"], nan_ok=True)


def test_no_judge_in_common_and_one_table_alone_are_one_line() -> None:
    old, new = (ng.load([{"id": k, name: float(k)} for k in range(30)], metrics=[name]) for name in ("a", "b"))
    with pytest.raises(NeedsMissing, match="no judge in common"):
        ng.analyze("drift", [old, new])
    with pytest.raises(NameUnknown, match="'c' not found in both runs"):
        ng.analyze("drift", [old, old], metrics="c")
    with pytest.raises(NeedsMissing, match="the old table and the new one"):
        ng.analyze("drift", old)


def test_exit_codes_say_no_shift_shift_and_cannot_tell(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    base = rng.integers(1, 5, 80)
    files = {"old": base, "same": base, "lower": base - (rng.random(80) < 0.5)}
    for name, values in files.items():
        pl.DataFrame({"id": range(80), "judge": values.astype(float)}).write_csv(tmp_path / f"{name}.csv")
    pl.DataFrame({"id": range(500, 580), "judge": base.astype(float)}).write_csv(tmp_path / "other.csv")
    lowest = np.argsort(base, kind="stable")[:30]
    pl.DataFrame({"id": lowest, "judge": base[lowest] + 1.0}).write_csv(tmp_path / "selected.csv")
    codes = [
        run_command("analyze", "drift", "old.csv", f"{name}.csv", "--columns", "metrics=judge", cwd=tmp_path).returncode
        for name in ("same", "lower", "other", "selected", "missing")
    ]
    assert codes == [0, 1, 3, 3, 2]
