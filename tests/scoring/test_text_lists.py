"""Lists of texts reach the metrics as flat columns: the same scores as a table of them, and no frame before one is
asked for.
"""

from __future__ import annotations

import copy
import pickle
import threading

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nlgauge as ng
from nlgauge import registry
from nlgauge.errors import NameUnknown, NeedsMissing, NlgaugeError
from nlgauge.metrics import Bleu, Chrf, Metric, RougeL, Scores, Ter, metric
from nlgauge.scoring import score_batch as scoring_batch
from nlgauge.scoring.text_lists import TextLists

SPECS = ["bleu", "rouge-l(stem=True)", "chrf", "ter", "cider-d", "levenshtein(references='mean')", "len"]
words = st.sampled_from(["", " ", "a", "A b.", "the cat, sat", "é\n&amp;", "a b c d e f"])
one_or_several = words | st.lists(words, max_size=3)


def rows(outputs: list[str], references: list, source: list[str]) -> pl.DataFrame:
    lists = [[refs] if isinstance(refs, str) else refs for refs in references]
    columns = {"output": outputs, "source": source, "references": lists}
    keys = {"system": ["outputs"] * len(outputs), "input": [str(i + 1) for i in range(len(outputs))]}
    return pl.DataFrame(keys | columns, schema_overrides={"references": pl.List(pl.String)})


@settings(max_examples=40)
@given(st.lists(st.tuples(words, one_or_several, words), min_size=1, max_size=6))
def test_lists_have_the_scores_and_frames_of_a_table_of_the_same_texts(samples: list) -> None:
    outputs, references, source = (list(column) for column in zip(*samples, strict=True))
    table = ng.Dataset.of("texts", rows(outputs, references, source), human_systems=())
    try:
        theirs = ng.score(table, SPECS)
    except NlgaugeError as error:
        with pytest.raises(NlgaugeError) as mine:
            ng.score(outputs, SPECS, ref=references, src=source)
        assert str(mine.value).split("(columns")[0] == str(error).split("(columns")[0]
        return
    mine_too = ng.score(outputs, SPECS, ref=references, src=source)
    for name in mine_too.metrics:
        assert np.array_equal(mine_too.values(name), theirs.values(name), equal_nan=True)
    assert mine_too.scores.equals(theirs.scores)
    assert mine_too.failures.sort("metric", "input").equals(theirs.failures.sort("metric", "input"))
    assert mine_too.samples.select(table.samples.columns).equals(table.samples)
    assert mine_too.lower == theirs.lower and mine_too.signatures == theirs.signatures
    means = [[row["value"] for row in scored.tables[1].rows] for scored in (mine_too, theirs)]
    assert means[0] == pytest.approx(means[1], nan_ok=True)


def test_no_frame_is_made_before_one_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: TextLists) -> None:
        raise AssertionError("a frame was made")

    with monkeypatch.context() as patched:
        patched.setattr(TextLists, "dataset", property(refuse))
        scored = ng.score(["a b", "c d"], ["rouge-l", "ter"], ref=["a c", "c d"])
        assert scored.values("rouge-l").tolist() == [0.5, 1.0]
        assert scored.lower == {"ter"}
    assert scored.scores["ter"].to_list() == [50.0, 0.0]
    assert [table.kind for table in scored.tables] == ["score", "score-means"]


def test_a_few_texts_start_no_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: threading.Thread) -> None:
        raise AssertionError("a thread was started")

    texts = [f"the cat {i} sat" for i in range(1000)]
    monkeypatch.setattr(threading.Thread, "start", refuse)
    assert ng.score(texts, "rouge-1", ref=texts).values().tolist() == [1.0] * 1000
    monkeypatch.setattr(scoring_batch, "SMALL_TEXT", 10)
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    with pytest.raises(AssertionError, match="a thread was started"):
        ng.score(texts, "rouge-1", ref=texts)


@pytest.mark.parametrize("each", [RougeL(), Bleu(order=2), Chrf(words=2), Ter()])
def test_a_metric_is_called_on_two_lists_and_gives_what_score_gives(each: Metric) -> None:
    outputs, references = ["a b c", "", "d e"], ["a b", "x", ["d f", "d e"]]
    scored = ng.score(outputs, each, ref=references)
    assert each(outputs, references).tolist() == scored.scores[str(each)].to_list()


@metric("test-copied", family="test", needs=("source", "context"), year=2026, cite="none")
class Copied(Metric):
    """Whether the output is the source, and half if it is the context."""

    def score(self, batch):  # type: ignore[no-untyped-def]
        return Scores((batch.output == batch.source) + (batch.output == batch.context) / 2)


registry._found["metric"].pop("test-copied")  # other tests look at all metrics that are registered


def test_a_metric_is_called_with_sources_and_contexts() -> None:
    assert Copied()(["a", "b"], source=["a", "x"], context=["a", "b"]).tolist() == [1.5, 0.5]


@pytest.mark.parametrize(
    ("outputs", "references", "error", "message"),
    [
        ("the cat", ["x"], NlgaugeError, "outputs: expected a list of texts; got the single text 'the cat'"),
        (["a", "b"], ["x"], NlgaugeError, "got 2 of output, 1 of references"),
        (["a"], [3], NlgaugeError, "references: expected a text or a list of texts; got int"),
        (["a"], [["x", 3]], NlgaugeError, "references: expected a text; got int"),
        (["a"], None, NeedsMissing, "'rouge-l' needs references"),
        ([], [], NeedsMissing, "'rouge-l' needs outputs and references"),
        (["a"], [""], NlgaugeError, r"no output has a value: rouge-l: 1 unscored .empty reference"),
    ],
)
def test_texts_that_cannot_be_scored_are_refused(outputs, references, error, message) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(error, match=message):
        RougeL()(outputs, references)


def test_a_column_that_is_not_there_is_refused_before_scoring() -> None:
    with pytest.raises(NameUnknown, match=r"no column 'sytem'\. Did you mean 'system'"):
        ng.score(["a"], "len", by="sytem")


@pytest.mark.parametrize("twin", [copy.copy, copy.deepcopy, lambda scored: pickle.loads(pickle.dumps(scored))])
def test_a_copy_has_all_frames_and_tables(twin) -> None:  # type: ignore[no-untyped-def]
    scored = ng.score(["a b", "c d"], ["rouge-l", "len"], ref=["a c", "c d"])
    other = twin(scored)
    assert other.scores.equals(scored.scores)
    assert other.samples.equals(scored.samples)
    assert other.values("len").tolist() == scored.values("len").tolist()
    assert [t.rows for t in other.tables] == [t.rows for t in scored.tables]
    assert not hasattr(scored, "no_such_field")


def test_values_of_several_metrics_are_asked_for_by_name() -> None:
    scored = ng.score(["a b"], ["len", "rouge-l"], ref=["a c"])
    with pytest.raises(NlgaugeError, match="metric must be one of len, rouge-l"):
        scored.values()
    with pytest.raises(NameUnknown, match="no scores of metric 'rouge-1'"):
        scored.values("rouge-1")


def test_the_corpus_score_is_shown_first_with_its_signature() -> None:
    table = ng.score(["a b c d", "x y"], ["bleu", "rouge-l"], ref=["a b c e", "x z"]).tables[0]
    header, body = table.grid()
    assert header[:3] == ["metric", "corpus", "mean of outputs"]
    assert body[0][header.index("signature")].text.startswith("nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:")
    assert body[1][header.index("signature")].text.startswith("rules:rouge_score|")
    two = ng.Dataset.of("two", pl.DataFrame({"system": ["A", "B"], "input": ["1", "1"], "output": ["a", "b"]}))
    two = ng.Dataset.of("two", two.samples.with_columns(references=pl.Series([["a"], ["a"]])))
    header, _ = ng.score(two, "bleu").tables[0].grid()
    assert header[:2] == ["metric", "mean of outputs"]  # several systems are no corpus
