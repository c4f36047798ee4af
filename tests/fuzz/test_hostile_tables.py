"""Tables that were made to break the verbs: each is read, or refused in one clear line that ends with exit code 2."""

from __future__ import annotations

import gzip
import json
import math
import sqlite3
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from fuzz.contract import in_time
from fuzz.verbs import VERBS, called, explored, hostile, verb

import nlgauge as ng
from nlgauge.errors import DataError, NlgaugeError
from nlgauge.metrics.judge.replies import Reply, Request
from nlgauge.report.explorer.points import Explored
from nlgauge.scoring.replies import Replies
from nlgauge.scoring.store import DamagedCache, Store, StoredScore
from nlgauge.stats.agreement.icc import icc

pytest.importorskip("yaml", reason="judge tasks need the extra 'judges'")
HERE = [name for name, words in VERBS.items() if words]


def written(path: Path, metric: str = "m", aspect: str = "human.quality", **more: object) -> Path:
    """Four systems × five inputs with texts, one rated aspect and two metrics."""
    rows = [
        {
            "system": f"S{s}",
            "input": str(i),
            "output": f"cat {s} {i}",
            "references": "a cat",
            "source": f"cat {i}",
            aspect: 1 + (s + i) % 5,
            metric: (7 * s + 3 * i) % 11 / 11,
            "other": (5 * s + i) % 7 / 7,
            **more,
        }
        for s in range(4)
        for i in range(5)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.mark.parametrize("name", HERE)
@pytest.mark.parametrize("pattern", ["^m.*$", "*"])
def test_a_column_whose_name_is_a_pattern_is_refused_in_one_line_by_every_verb(
    tmp_path: Path, name: str, pattern: str
) -> None:
    path = written(tmp_path / "t.jsonl", pattern)
    with pytest.raises(
        NlgaugeError, match=r"a column cannot have the name .* which would be read as a pattern"
    ) as refused:
        called(*VERBS[name], file=path)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    "metric", ["row", "column", "place", "value", "from", "people:quality", "[m", "", "🙂", "m.n", "a\nb"]
)
def test_a_metric_may_have_any_other_name(tmp_path: Path, metric: str) -> None:
    data = ng.load(written(tmp_path / "t.jsonl", f"metric.{metric}"))
    assert metric in data.metrics or not metric
    name = next(m for m in data.metrics if m != "other")
    assert list(data.panel("quality").metrics[name][0]) == pytest.approx([3 * i % 11 / 11 for i in range(5)])
    assert Explored(data).points("quality", name)["score"][:5] == pytest.approx([3 * i % 11 / 11 for i in range(5)])


@pytest.mark.parametrize("aspect", ["system", "input", "value", "aspect"])
def test_an_aspect_may_be_called_as_a_key_is(tmp_path: Path, aspect: str) -> None:
    path = written(tmp_path / "t.jsonl", aspect=f"human.{aspect}")
    assert ng.load(path).aspects == [aspect]
    called(*VERBS["convert-wide"], file=path)
    assert ng.load(tmp_path / "hostile-out.csv").aspects == [aspect]
    explored(path)


@pytest.mark.parametrize("metric", ["system", "input", "__row__"])
def test_a_metric_that_is_called_as_a_key_is_refused(tmp_path: Path, metric: str) -> None:
    if metric != "__row__":  # which is left aside, as all names that begin so
        with pytest.raises(DataError, match=f"a metric cannot have the name '{metric}' of a key column"):
            ng.load(written(tmp_path / "t.jsonl", f"metric.{metric}"))
    long = tmp_path / "long.csv"
    long.write_text(f"system,input,metric,score\nA,1,{metric},.5\nB,1,{metric},.6\n")
    with pytest.raises(DataError, match=f"a metric cannot have the name '{metric}' of a key column"):
        ng.load(long)


def test_a_damaged_gzip_file_is_one_line_in_batches_too(tmp_path: Path) -> None:
    rows = "".join(f'{{"system": "A", "input": "{i}", "output": "cat {i * 7919}"}}\n' for i in range(400))
    packed = bytearray(gzip.compress(rows.encode(), mtime=0))
    for at in range(len(packed) // 2, len(packed) // 2 + 40):
        packed[at] ^= 0x55
    path = tmp_path / "t.jsonl.gz"
    path.write_bytes(bytes(packed))
    with pytest.raises(DataError, match="the gzip file is truncated or damaged"):
        called("score", "{file}", "-m", "len", "--batch", "3", file=path)


def test_a_judge_on_a_table_without_texts_says_what_is_missing(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("system,input,m1,human.quality\nA,1,.5,3\nB,1,.6,4\n")
    with pytest.raises(NlgaugeError, match="needs outputs"):
        called(*VERBS["judge"], file=path)


def test_a_report_needs_no_correlation_of_judges_to_be_written(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    rows = [{"system": "S0", "input": str(i), "judge": 1.0, "human.quality": 3} for i in range(2)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    called(*VERBS["run"], file=path)


def stored(path: Path) -> tuple[Store, Request]:
    store, request = Store(path), Request("http://x/v1", {"model": "m"})
    store.put("bleu", {b"k": StoredScore(0.5)})
    Replies(store).keep({request.key: Reply("4", "m")}, {request.key: request})
    return store, request


@pytest.mark.parametrize(
    "damage", ["reply = x'00'", "reply = 'text'", "request = x'789c00'", "prompt_tokens = 'many'", "seconds = x'ff'"]
)
def test_damaged_replies_are_missing_and_counted(tmp_path: Path, damage: str) -> None:
    store, request = stored(tmp_path / "s.sqlite")
    with store.work() as db:
        db.execute(f"UPDATE replies SET {damage}")
    with pytest.warns(DamagedCache, match="1 damaged rows are asked for again"):
        assert Replies(store).known([request.key]) == {}
    with pytest.warns(DamagedCache, match="1 damaged rows are left out"):
        assert list(Replies(Store(store.path)).all()) == []


@pytest.mark.parametrize("damage", ["value = 'half'", "reason = x'ff'", "note = x'07'"])
def test_damaged_scores_are_missing_and_counted(tmp_path: Path, damage: str) -> None:
    store, _ = stored(tmp_path / "s.sqlite")
    with store.work() as db:
        db.execute(f"UPDATE scores SET {damage}")
    with pytest.warns(DamagedCache, match="1 damaged rows are computed again"):
        assert store.get("bleu", [b"k"]) == {}


def test_a_claim_of_nobody_is_taken_over(tmp_path: Path) -> None:
    store, request = stored(tmp_path / "s.sqlite")
    replies = Replies(store)
    replies.claim([request.key])
    for owner in ("x'ff'", "'nobody'", "'99999999999999999999.0'"):
        with sqlite3.connect(tmp_path / "s.sqlite") as db:
            db.execute(f"UPDATE claims SET owner = {owner}")
        assert Replies(store).claim([request.key]) == {request.key}


def test_the_hostile_tables_are_many_kinds_and_the_verbs_get_through_some_of_them() -> None:
    cases = [hostile(bytes([k])) for k in range(60)]
    assert len({kind for kind, _ in cases}) == 7
    assert len({table for _, table in cases}) == 60
    for k in range(6):
        with in_time(60):
            verb("convert")(bytes([k]))


# --- found by the generated tables of fuzz/valid_tables.py ---


def test_a_heading_with_quotes_has_one_name_in_every_format(tmp_path: Path) -> None:
    name = 'metric.say "hi"'
    rows = [
        {"system": s, "input": str(i), "human.quality": i, name: k / 7} for i in range(3) for k, s in enumerate("AB")
    ]
    pl.DataFrame(rows).write_csv(tmp_path / "t.csv")
    assert ng.load(tmp_path / "t.csv").metrics == ng.load(rows).metrics == ['say "hi"']


@pytest.mark.parametrize("word", ["False", "true", "TRUE"])
def test_a_column_of_one_truth_value_is_read_from_csv_too(word: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("system,input,passed,ok\n" + "".join(f"A,{i},{i % 2},{word}\n" for i in range(4)))
    data = ng.load(tmp_path / "t.csv", human="passed", metrics="ok")
    assert data.scores["ok"].to_list() == [float(word.lower() == "true")] * 4


@pytest.mark.parametrize("name", ["a\tb", "a\nb"])
def test_a_quoted_tab_or_line_break_in_tsv_is_part_of_its_field(name: str, tmp_path: Path) -> None:
    rows = [f'"{name}"\t{i}\t{i % 3}\t{i / 7}\nB\t{i}\t2\t.5\n' for i in range(4)]
    (tmp_path / "t.tsv").write_text("system\tinput\thuman.quality\tm\n" + "".join(rows))
    data = ng.load(tmp_path / "t.tsv")
    assert (len(data.systems), data.panel("quality").human.shape) == (2, (2, 4))


@pytest.mark.parametrize("word", ["False", "True"])
def test_one_truth_value_is_no_class_although_there_are_annotators(word: str, tmp_path: Path) -> None:
    rows = [f"A,{i},{who},{i % 2},{word}\n" for i in range(3) for who in ("ann", "bob")]
    (tmp_path / "t.csv").write_text("system,input,rater,human.quality,ok\n" + "".join(rows))
    data = ng.load(tmp_path / "t.csv", metrics="ok", rater="rater")
    assert data.scores["ok"].to_list() == [float(word == "True")] * 3


@pytest.mark.parametrize("unit", [2.0**-400, 2.0**-1000, 2.0**400, 2.0**900])
def test_agreement_does_not_depend_on_the_unit(unit: float) -> None:
    """A power of two changes no digit: values and limits are the same to the last bit."""
    table = np.random.default_rng(0).integers(0, 100, (3, 9)).astype(float)
    one, other = icc(table), icc(table * unit)
    for name in one.forms:
        assert (one[name].value, one[name].low, one[name].high) == (
            other[name].value,
            other[name].low,
            other[name].high,
        )


@pytest.mark.parametrize(
    "ratings",
    [
        [[0, 0, 1], [1, 0, 0], [0, 1, 0]],  # every variance of a mean is zero or negative
        [[0, 1], [1, 0]],
        [[0, 2, 1, 3], [3, 1, 2, 0]],
    ],
)
def test_no_agreement_is_beyond_one(ratings: list[list[float]]) -> None:
    for form in icc(ratings).forms.values():
        assert form.value <= 1 or (math.isnan(form.value) and form.reason)
        assert not form.low > form.high
