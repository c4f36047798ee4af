"""Long texts: a metric whose work grows faster than the text gives a reason beyond its limit, and the others stay
quick.
"""

from __future__ import annotations

import subprocess
import sys
import time
from typing import Any

import numpy as np
import pytest

from nlgauge import registry
from nlgauge.errors import NeedsMissing
from nlgauge.metrics import Batch, metric_from_spec

LIMITED = [name for name in registry.names("metric") if registry.get("metric", name).facts.longest]
SHORT = "The cat sat on the mat."


def batch_of(*texts: str) -> Batch:
    return Batch.from_columns(list(texts), source=[SHORT] * len(texts), references=[[SHORT]] * len(texts))


def able(spec: str) -> Any:
    metric: Any = metric_from_spec(spec)
    try:
        getattr(metric, "ready", lambda: None)()
        metric.score(batch_of(SHORT))
    except NeedsMissing as missing:
        pytest.skip(str(missing))
    return metric


@pytest.mark.parametrize("name", LIMITED)
def test_beyond_its_limit_an_output_has_a_reason_and_the_others_their_values(name: str) -> None:
    metric = able(name)
    longest = metric.facts.longest
    long = ("word " * longest)[: longest + 1]
    scores = metric.score(batch_of("A cat sat.", long, SHORT))
    assert scores.reasons[1].startswith(f"longer than {longest:,} characters: ")
    assert np.isnan(scores.values[1])
    assert scores.values[[0, 2]].tolist() == metric.score(batch_of("A cat sat.", SHORT)).values.tolist()
    alone = metric.score(batch_of(long))
    assert np.isnan(alone.values).all()
    if metric.has_stats:
        rows = metric.stats(batch_of("A cat sat.", long))
        assert not rows[1].any()
        assert rows[0].tolist() == metric.stats(batch_of("A cat sat."))[0].tolist()


@pytest.mark.parametrize("side", ["source", "references"])
def test_a_long_reference_or_source_counts_only_for_metrics_that_look_at_it(side: str) -> None:
    long = "a" * 100_001
    given: dict[str, Any] = {"source": [SHORT], "references": [[SHORT]]}
    given[side] = [long] if side == "source" else [[SHORT, long]]
    batch = Batch.from_columns([SHORT], **given)
    looks = {"source": "lev-source", "references": "levenshtein"}
    for of, name in looks.items():
        assert (0 in metric_from_spec(name).score(batch).reasons) == (of == side)


def test_thousands_of_equal_words_have_no_meteor_and_a_reason() -> None:
    metric = able("meteor(synonyms=False)")
    dots = "." * 2100
    batch = Batch.from_columns([dots, SHORT], references=[[dots], [SHORT]])
    scores = metric.score(batch)
    assert scores.reasons == {
        0: "more than 4,000,000 pairs of equal words: the running time of this metric grows faster than the text"
    }
    assert scores.values[1] == metric.score(batch_of(SHORT)).values[0]
    assert not metric.stats(batch)[0].any()


def test_a_word_of_any_length_does_not_end_the_process() -> None:
    """Harper's spelling took gigabytes for a word of 10,000 letters and aborted, so this runs in a process of its own."""
    pytest.importorskip("harper")
    code = (
        "import resource; resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))\n"
        "from nlgauge.metrics import Batch, metric_from_spec\n"
        "batch = Batch.from_columns(['a' * 50_000 + ' this is an test', 'This is an test.'])\n"
        "for spec in ('grammar-errors', 'grammar-errors(spelling=True)'):\n"
        "    scores = metric_from_spec(spec).score(batch)\n"
        "    print(scores.values.tolist(), scores.reasons)\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=300)
    assert run.returncode == 0, run.stderr
    plain, spelled = run.stdout.splitlines()
    assert plain == "[1.0, 1.0] {}"
    assert spelled.startswith("[nan, 1.0] {0: 'a word longer than 1,000 characters")


def test_many_words_of_no_dictionary_take_no_time_where_spelling_is_not_asked_for() -> None:
    pytest.importorskip("harper")
    metric = metric_from_spec("grammar-errors")
    metric.score(batch_of(SHORT))
    began = time.process_time()
    metric.score(batch_of(" ".join(f"w{i}" for i in range(2_000))))  # 4 s with the spelling rule
    assert time.process_time() - began < 2


def test_the_page_of_limits_names_every_limit() -> None:
    from bench.growth import KINDS, SIZES, page

    cells: list[dict[str, Any]] = [
        {"metric": "m", "kind": kind, "size": size, "seconds": 0.5, "megabytes": 2.0, "reason": ""}
        for kind in KINDS
        for size in SIZES[:2]
    ]
    cells += [
        {"metric": "m", "kind": kind, "size": SIZES[2], "seconds": 0.0, "megabytes": 0.0, "reason": "longer than 9: x"}
        for kind in KINDS
    ]
    cells.append({"metric": "n", "kind": "one word", "size": SIZES[0], "died": "more than 20 s"})
    text = page(cells)
    assert "| `m` | 0.50 / 0.50 / – s, 2 MB |" in text
    assert "**more than 20 s**" in text
    assert "- `m`: longer than 9: x" in text
