"""A large table, one metric at a time: the numbers of `intervals` to the last bit, in any order of rows, resumed and
refused.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import nlgauge as ng
from nlgauge.analyses.agreement import large_intervals as large
from nlgauge.analyses.agreement.large_intervals import large_intervals
from nlgauge.cli import build
from nlgauge.data.large_table import LargeTable
from nlgauge.errors import DataError, NameUnknown, NeedsMissing, NlgaugeError
from nlgauge.scoring.parts_folder import PartsFolder
from nlgauge.stats.correlation.measure import TWELVE
from nlgauge.stats.resampling import bootstrap_large as stats_large
from nlgauge.stats.resampling.draws import bootstrap_counts, bootstrap_weights

Row = dict[str, Any]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Seven systems and a person on forty inputs: ties, gaps, a constant input, unrated inputs, rows in any order."""
    rng = np.random.default_rng(5)
    rows: list[Row] = []
    for i in range(40):
        for s in [*(f"s{k}" for k in range(7)), "human"]:
            quality = float(rng.integers(1, 6)) if i != 3 else 3.0
            rows.append({
                "system": s, "input": f"i{i}", "human.coherence": None if i > 37 or (s, i) == ("s2", 9) else quality,
                "human.fluency": float(rng.integers(1, 4)) if i < 39 else None,
                "metric.good": quality + rng.normal(), "metric.tied": float(round(quality + rng.normal(0, 2))),
                "metric.gaps": rng.normal() if i % 5 else None,
            })  # fmt: skip
    path = tmp_path / "scores.parquet"
    pl.DataFrame(rows).sample(fraction=1.0, shuffle=True, seed=1).write_parquet(path, row_group_size=50)
    return path


def test_the_draws_are_those_of_the_bootstrap() -> None:
    for how in ("both", "inputs", "systems"):
        given = bootstrap_weights(how, 5, 300, 1100, seed=4)  # type: ignore[arg-type]
        blocks = list(bootstrap_counts(how, 5, 300, 1100, 4))  # type: ignore[arg-type]
        for mine, theirs in zip((given.systems, given.inputs), zip(*blocks, strict=True), strict=True):
            flat = mine.transpose(0, 2, 1).reshape(-1, mine.shape[1])[: given.draws]
            assert (flat[0] == 1).all()
            np.testing.assert_array_equal(flat[1:], np.concatenate(theirs))


@pytest.mark.parametrize("over", ["inputs", "systems", "both"])
def test_every_number_is_that_of_the_ordinary_analysis_to_the_last_bit(table: Path, over: Any) -> None:
    ours = large_intervals(LargeTable.open(table), aspect="coherence", measures=TWELVE, over=over, draws=150, seed=2)
    panel = ng.load(table).panel("coherence")
    theirs = panel.analyse("intervals", measures=TWELVE, over=over, kind="percentile", draws=150, seed=2)
    assert ours.rows == theirs.rows
    assert (ours.method, ours.signature) == (theirs.method, theirs.signature)
    assert "written by people, left out: human." in ours.notes
    assert len(ours.rows) == 3 * 12


def test_people_stay_when_asked_for(table: Path) -> None:
    wide = LargeTable.open(table, keep_people=True)
    ours = large_intervals(wide, aspect="fluency", measures=["system/pearson"], draws=50)
    panel = ng.load(table).panel("fluency", keep_people=True)
    assert (
        ours.rows
        == panel.analyse("intervals", measures=["system/pearson"], over="both", kind="percentile", draws=50).rows
    )


def test_an_interrupted_run_goes_on_with_the_next_metric(
    table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep = tmp_path / "table.csv.parts"
    options: dict[str, Any] = {"aspect": "coherence", "measures": ["input/kendall"], "draws": 40}
    whole = large_intervals(LargeTable.open(table), **options)
    resample, seen = stats_large.resample, []

    def killed_at_the_second(*args: Any, **more: Any) -> Any:
        seen.append(1)
        if len(seen) == 2:
            raise KeyboardInterrupt
        return resample(*args, **more)

    monkeypatch.setattr(stats_large, "resample", killed_at_the_second)
    with pytest.raises(KeyboardInterrupt):
        large_intervals(LargeTable.open(table), keep=keep, **options)
    (keep / "0002.json").write_text("[half")  # not whole: computed again
    told: list[tuple[int, int]] = []
    again = large_intervals(LargeTable.open(table), keep=keep, progress=lambda *at: told.append(at), **options)
    assert (len(seen), again.rows) == (4, whole.rows)
    assert told[-1] == (3, 3)
    with pytest.raises(NlgaugeError, match=r"left from another run \(other draws\)"):
        large_intervals(LargeTable.open(table), keep=keep, **{**options, "draws": 41})
    PartsFolder(keep, {}).remove()
    assert not keep.exists()


def test_the_verb_writes_the_table_and_leaves_nothing_beside_it(table: Path, tmp_path: Path) -> None:
    out = tmp_path / "out" / "table.json"
    words = ["intervals", str(table), "--aspect", "coherence", "--draws", "30", "--over", "inputs", "-o", str(out)]
    ran = CliRunner().invoke(build("intervals"), words)
    assert ran.exit_code == 0, ran.output
    rows = json.loads(out.read_text())["tables"][0]["rows"]
    assert {row["measure"] for row in rows} == set(large.QUICK)
    assert [p.name for p in out.parent.iterdir()] == ["table.json"]


def test_what_cannot_be_resampled_is_refused_by_name_and_reason(table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stats_large, "ROOM", 4 * 128 * 24)  # five levels of the ratings are one too many
    wide = LargeTable.open(table)
    found = large_intervals(wide, aspect="coherence", measures=["system/pearson", "global/kendall"], draws=20)
    assert {row["measure"] for row in found.rows} == {"system/pearson"}
    assert any(n.startswith("not given: global/kendall (people's scores have 5 different values") for n in found.notes)
    with pytest.raises(NeedsMissing, match="not given: global/kendall"):
        large_intervals(wide, aspect="coherence", measures=["global/kendall"], draws=20)


def test_bad_tables_are_one_clear_line(table: Path, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"no such file"):
        LargeTable.open(tmp_path / "gone.parquet")
    with pytest.raises(DataError, match=r"needs \.parquet"):
        LargeTable.open(tmp_path / "x.csv")
    (tmp_path / "x.parquet").write_text("no")
    with pytest.raises(DataError, match="no readable Parquet"):
        LargeTable.open(tmp_path / "x.parquet")
    with pytest.raises(NameUnknown, match=r"no column 'inptu'\. Did you mean 'input'"):
        LargeTable.open(table, input="inptu")
    with pytest.raises(NameUnknown, match="several aspects"):
        large_intervals(LargeTable.open(table))
    pl.read_parquet(table).drop("metric.good", "metric.tied", "metric.gaps").write_parquet(tmp_path / "y.parquet")
    with pytest.raises(DataError, match=r"no metric scores; call their columns metric\.NAME"):
        LargeTable.open(tmp_path / "y.parquet")
    twice = pl.read_parquet(table)
    pl.concat([twice, twice.filter(pl.col("system") == "s0")[:1]]).write_parquet(tmp_path / "z.parquet")
    with pytest.raises(DataError, match="two outputs for one input"):
        large_intervals(LargeTable.open(tmp_path / "z.parquet"), aspect="coherence")
