"""Names of publications that are typed: configurations of metrics, and hints where there is none."""

from __future__ import annotations

import re

import pytest

from loops import for_each
from nlgauge import registry
from nlgauge.errors import NameUnknown
from nlgauge.metrics import metric_from_spec
from nlgauge.metrics.published_names import CONFIGURATIONS, HINTS, reduced
from nlgauge.scoring.plan import known_metric

# As people type them.
TYPED = """
AlignScore alignscore align_score MiniCheck mini-check HHEM hhem-2.1 HHEM-2.1-Open LettuceDetect lettuce_detect SummaC
SummaC-ZS summac_zs SummaCZS SummaC-Conv SummaCConv summac_conv SelfCheckGPT self-check-gpt FActScore factscore BLEURT-20
bleurt20 COMET-22 comet22 CometKiwi comet-kiwi COMETKiwi xCOMET XCOMET-XL x-comet MetricX-24 metricx24 MetricX MAUVE mauve
SemScore sem_score G-Eval geval g_eval Prometheus-2 prometheus2 Prometheus GEMBA-MQM gemba_mqm RAGAS faithfulness
answer_relevancy answer-relevance context_precision context-recall BERTScore BERT-Score bert_score BERTScore-F1
""".split()


@for_each(TYPED)
def test_each_typed_name_gives_a_configuration_or_a_hint(typed: str) -> None:
    try:
        metric_from_spec(typed)
    except NameUnknown as error:
        assert str(error).startswith(f"'{typed}' ") and "Did you mean" not in str(error)


@for_each(list(CONFIGURATIONS))
def test_a_configuration_is_the_metric_with_its_options(names: str) -> None:
    for name in names.split(", "):
        assert metric_from_spec(name) == metric_from_spec(name.upper()) == metric_from_spec(CONFIGURATIONS[names][0])


def test_options_come_on_top_of_a_configuration_and_names_may_have_spaces() -> None:
    expected = metric_from_spec("entailment(minus=True, over='min', model='tals/albert-xlarge-vitaminc-mnli')")
    assert metric_from_spec("SummaC_ZS(over='min')") == metric_from_spec("SummaC ZS (over='min')") == expected
    assert metric_from_spec("COMET 22") == metric_from_spec("comet")


@for_each(list(HINTS))
def test_a_name_without_a_metric_says_what_to_use(names: str) -> None:
    for name in names.split(", "):
        with pytest.raises(NameUnknown) as error:
            metric_from_spec(name)
        assert str(error.value) == f"'{name}' {HINTS[names]}"


@for_each(list(HINTS))
def test_each_metric_that_a_hint_names_can_be_made(names: str) -> None:
    for spec in re.findall(r"\b[a-z][\w-]*\([^()]*=[^()]*\)", HINTS[names]):
        filled = spec.replace("base_url='…'", "base_url='http://x'").replace("aspect='…'", "aspect='coherence'")
        metric_from_spec(filled.replace(", prompt='…'", "").replace("=…", "='m'"))
    for name in re.findall(r"\b(?:factcheck|entailment|qags|summaqa|ctc|align-expr|[a-z]+-\w+-512)\b", HINTS[names]):
        metric_from_spec(name)


def test_each_spelling_stands_once_and_hides_no_metric() -> None:
    spellings = [reduced(name) for names in (*CONFIGURATIONS, *HINTS) for name in names.split(", ")]
    assert len(spellings) == len(set(spellings))
    for name in registry.names("metric"):
        if name != "judge":
            assert metric_from_spec(name).facts.name == name


def test_a_column_with_a_published_name_is_not_taken_for_our_metric() -> None:
    assert known_metric("BERTScore") is None and known_metric("COMET-22") is None
    assert known_metric("bertscore") is not None and known_metric("summac-conv") is not None
