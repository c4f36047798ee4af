"""METEOR with a table of paraphrases: by hand, the search against plain Python, and what a table may be.

tests/parity/test_metrics_meteor.py compares it with METEOR 1.5 itself.
"""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nlgauge.errors import NlgaugeError
from nlgauge.kernels.meteor import align_phrases
from nlgauge.metrics import Batch, metric_from_spec
from nlgauge.metrics.overlap import paraphrases as module

TABLE = "0.5\ntook account of\ntaken into account\n0.2\nas well\ntoo\n0.1\ncar\nautomobile of theirs\n"


@pytest.fixture
def table(tmp_path: Path) -> str:
    path = tmp_path / "table.gz"
    path.write_bytes(gzip.compress(TABLE.encode()))
    return str(path)


def spec(table: str, more: str = "") -> str:
    return f"meteor(synonyms=False, paraphrases={table!r}{more})"


def value(spec: str, output: str, *references: str) -> float:
    return float(metric_from_spec(spec).score(Batch.from_columns([output], references=[list(references)])).values[0])


def test_the_score_by_hand(table: str) -> None:
    """Output "he left too", reference "they left as well": two words of the output and three of the reference match,
    in one chunk: left exactly (1), too with as well (.6).

    Function words (he, they, as, too) weigh .25: P = (.75 + .25 · .6) / (.75 + .25 · 2), R = (.75 + .25 · .6 + .75 ·
    .6) / (.25 · 2 + .75 · 2), as "well" is a content word.
    """
    p, r = (0.75 + 0.15) / 1.25, (0.75 + 0.15 + 0.45) / 2.0
    mean = 1 / (0.15 / p + 0.85 / r)
    wanted = mean * (1 - 0.6 * (1 / 2.5) ** 0.2)
    assert value(spec(table), "he left too", "they left as well") == pytest.approx(wanted)
    assert value("meteor(synonyms=False)", "he left too", "they left as well") < wanted


def test_a_table_is_read_both_ways_and_as_plain_text(table: str, tmp_path: Path) -> None:
    one, other = "it was taken into account", "she took account of it"
    assert value(spec(table), other, one) > value("meteor(synonyms=False)", other, one)
    assert value(spec(table), one, other) > value("meteor(synonyms=False)", one, other)
    plain = tmp_path / "table"
    plain.write_text(TABLE)
    assert value(spec(str(plain)), one, other) == value(spec(table), one, other)


def test_words_without_paraphrases_have_the_score_of_before(tmp_path: Path) -> None:
    path = tmp_path / "table"
    path.write_text("0.1\nzzz\nyyy\n")
    rng = np.random.default_rng(2)
    texts = [[" ".join(rng.choice(list("abcdefgh"), n)) for n in (12, 9)] for _ in range(40)]
    batch = Batch.from_columns([o for o, _ in texts], references=[[r] for _, r in texts])
    ours = metric_from_spec(spec(str(path))).score(batch).values
    assert np.array_equal(ours, metric_from_spec("meteor(synonyms=False)").score(batch).values)


def test_the_table_is_read_through_again_for_more_words(table: str, monkeypatch: pytest.MonkeyPatch) -> None:
    outputs = ["he left too", "a car came", "it was taken into account", "nothing"]
    batch = lambda: Batch.from_columns(  # noqa: E731
        outputs, references=[["they left as well"], ["an automobile of theirs came"], ["he took account of it"], ["x"]]
    )
    whole = metric_from_spec(spec(table)).score(batch()).values
    monkeypatch.setattr(module, "WORDS_PER_READ", 8)
    assert np.array_equal(metric_from_spec(spec(table)).score(batch()).values, whole)
    assert (whole[:3] > metric_from_spec("meteor(synonyms=False)").score(batch()).values[:3]).all()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "No such file"),
        (b"word\nword\nword\n", "must begin with a number"),
        (b"0.5\nword\n", "must begin with a number"),
        (b"0.5\n\nword\n", "a phrase is empty"),
        (b"\x1f\x8bnot really", "not a table such as METEOR's"),
    ],
)
def test_what_is_no_table_is_said_before_any_work(content: bytes | None, said: str, tmp_path: Path) -> None:
    path = tmp_path / "table"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(NlgaugeError, match=said):
        metric_from_spec(spec(str(path))).ready()


def test_other_faults_get_one_line_too(table: str, tmp_path: Path) -> None:
    with pytest.raises(NlgaugeError, match="nltk's METEOR has none"):
        metric_from_spec(spec(table, ", preset='nltk'"))
    path = tmp_path / "long"
    path.write_text(f"0.5\n{' '.join('abcdefghijklm')}\nx\n")
    with pytest.raises(NlgaugeError, match="more than 10 words"):
        value(spec(str(path)), "a b", "c d")
    cut = tmp_path / "cut.gz"
    cut.write_bytes(gzip.compress(TABLE.encode() * 2000)[:-9])
    with pytest.raises(NlgaugeError, match="not a table such as METEOR's"):
        value(spec(str(cut)), "a b", "c d")


def test_the_signature_names_the_table(table: str) -> None:
    metric: Any = metric_from_spec(spec(table))
    assert "match:exact+stem+paraphrase" in metric.signature
    assert "paraphrases:table.gz@" in metric.signature


# --- the search, as METEOR describes it: lists of paths, sorted at each word ---


def plainly(nr: int, matches: list[tuple[int, ...]]) -> tuple[list[int], list[tuple[int, ...]]]:
    """Matched words by kind of the output and of the reference (4 + 4), and the matches, by the rules on paper.

    A match: start, span, place, width, kind, gain.
    """
    words = {i: sum(m[2] <= i < m[2] + m[3] for m in matches) for i in range(200)}
    under = {j: sum(m[0] <= j < m[0] + m[1] for m in matches) for j in range(200)}
    paths: list[dict[str, Any]] = [{"gain": 0, "chunks": 0, "far": 0, "end": -1, "next": 0, "used": set(), "taken": []}]
    for j in range(nr):
        paths.sort(key=lambda p: (-p["gain"], p["chunks"], p["far"]))
        grown = []
        here = [m for m in matches if m[0] == j]
        sure = len(here) == 1 and all(
            [words[i] == 1 for i in range(here[0][2], here[0][2] + here[0][3])]
            + [under[k] == 1 for k in range(j, j + here[0][1])]
        )
        for path in paths[:40]:
            if j < path["next"]:
                grown.append(path)
                continue
            for m in here:
                covers = set(range(m[2], m[2] + m[3]))
                if covers & path["used"]:
                    continue
                new = {**path, "used": path["used"] | covers, "taken": [*path["taken"], m]}
                new["gain"] += m[5]
                new["chunks"] += path["end"] not in (-1, m[2])
                new["end"], new["next"] = m[2] + m[3], j + m[1]
                if sure:
                    new["far"] += abs(j - m[2])
                else:
                    path["far"] += abs(j - m[2])
                grown.append(new)
            if not sure:
                path["chunks"] += path["end"] != -1
                path["end"], path["next"] = -1, j + 1
                grown.append(path)
        paths = grown
    paths.sort(key=lambda p: (-p["gain"], p["chunks"], p["far"]))
    for path in paths[:40]:
        path["chunks"] += path["end"] != -1
    best = min(paths[:40], key=lambda p: (-p["gain"], p["chunks"], p["far"]))
    counts = [sum(m[side] for m in best["taken"] if m[4] == kind) for side in (3, 1) for kind in range(4)]
    return counts, best["taken"]


@pytest.mark.parametrize("seed", range(30))
def test_the_search_is_the_one_on_paper(seed: int) -> None:
    rng = np.random.default_rng(seed)
    texts = [int(rng.integers(1, 14)) for _ in range(12)]
    length = np.array(texts, np.int64)
    begin = np.cumsum(length) - length
    output, reference = np.arange(0, 12, 2), np.arange(1, 12, 2)
    weights, match_at, rows = (1.0, 0.6, 0.8, 0.6), [0], []
    for h, r in zip(output, reference, strict=True):
        some = []
        for _ in range(rng.integers(0, 25)):
            span, width = (int(min(rng.integers(1, 4), n)) for n in (length[r], length[h]))
            kind = int(rng.integers(0, 4)) if span == width == 1 else 3
            gain = int(span * weights[kind] + 1e-9) + int(width * weights[kind] + 1e-9)
            at = int(rng.integers(0, length[r] - span + 1)), int(rng.integers(0, length[h] - width + 1))
            some.append((at[0], span, at[1], width, kind, gain))
        some.sort(key=lambda m: m[0])
        rows += some
        match_at.append(len(rows))
    columns = [np.array([m[k] for m in rows], np.int64) for k in range(6)]
    found = align_phrases(
        np.zeros(length.sum(), np.int32),
        begin,
        length,
        output,
        reference,
        np.zeros(1, np.int64),
        np.array(match_at),
        *columns,
    )
    for p, r in enumerate(reference):
        counts, taken = plainly(int(length[r]), rows[match_at[p] : match_at[p + 1]])
        chunks, end, behind = 0, None, None
        for start, span, place, width, *_ in taken:
            chunks += not (start == behind and place == end)
            end, behind = place + width, start + span
        assert [*found[p, :4], *found[p, 8:12], found[p, 16]] == [*counts, chunks]
