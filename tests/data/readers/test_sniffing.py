"""Which reader knows which file: exactly one for every sample, none for ordinary tables."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import nlgauge as ng
from nlgauge import registry
from nlgauge.data.dataset import Dataset
from nlgauge.data.peek import Peek

KNOWN = {
    "arena.jsonl": "pairwise", "argilla_flat.jsonl": "argilla", "argilla_labelled.json": "argilla", "argilla_ranking.jsonl": "argilla",
    "argilla_v1.json": "argilla", "argilla_v2.jsonl": "argilla", "doccano": "doccano", "doccano.jsonl": "doccano",
    "doccano_seq2seq.jsonl": "doccano", "label_studio.json": "label-studio",
    "label_studio_pairwise.json": "label-studio", "mqm.tsv": "mqm", "mt_metrics_ratings.jsonl": "mt-metrics-ratings", "mqm_2023.tsv": "mqm",
    "mqm_x.avg_seg_scores.tsv": "mqm", "pairwise.csv": "pairwise", "preferences.csv": "preferences",
    "qags.jsonl": "qags", "rankme.csv": "rankme", "ranks.csv": "preferences", "summeval.jsonl": "summeval",
    "tidy.jsonl": "tidy", "unieval.json": "unieval", "unieval_result.json": "unieval", "wmt99": "mt-metrics-eval",
    "wmt99/en-de": "mt-metrics-eval", "alpaca_eval.json": "alpaca-eval", "alt_test": "alt-test",
    "alt_test/human_annotations.json": "alt-test", "deepeval.json": "deepeval",
    "deepeval_conversations.json": "deepeval", "every_eval_ever": "every-eval-ever",
    "inspect.eval": "inspect-ai", "inspect.json": "inspect-ai", "inspect_0.3.60.eval": "inspect-ai",
    "inspect_0.3.60.json": "inspect-ai", "lm_eval_0.4.5": "lm-eval", "langfuse_v2.json": "langfuse",
    "langfuse_v3.json": "langfuse", "lm_eval": "lm-eval", "mlflow_search.jsonl": "mlflow",
    "mlflow_traces.jsonl": "mlflow", "openinference.jsonl": "openinference", "openinference_otlp.json": "openinference", "promptfoo.json": "promptfoo", "rewardbench_outputs.jsonl": "rewardbench",
}  # fmt: skip
PLAIN = ["plain.csv", "plain.json", "plain.jsonl"]


def recognized(path: Path) -> list[str]:
    """Asked of those that may know such a file; asking all of them must give the same."""
    peek = Peek(path)
    found = [name for name, reader in peek.readers() if reader.recognizes(peek)]
    assert found == [name for name in registry.names("reader") if registry.get("reader", name).recognizes(peek)]
    return found


@pytest.mark.parametrize("name", KNOWN)
def test_each_sample_is_known_to_exactly_one_reader(samples: Path, name: str) -> None:
    assert recognized(samples / name) == [KNOWN[name]]


@pytest.mark.parametrize("name", PLAIN)
def test_ordinary_tables_are_known_to_no_reader(samples: Path, name: str) -> None:
    assert recognized(samples / name) == []


def test_no_sample_is_left_out(samples: Path) -> None:
    assert {p.name for p in samples.iterdir()} == {n.partition("/")[0] for n in [*KNOWN, *PLAIN]}


@pytest.mark.parametrize("content", [b"", b"\x00\xff\x00", b"{", b"[", b"[1, 2]", b"{}\n", b'"a","b\n', b"PAR1"])
def test_no_reader_claims_or_chokes_on_rubbish(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "rubbish"
    path.write_bytes(content)
    assert recognized(path) == []
    assert recognized(tmp_path / "absent.csv") == []
    assert recognized(tmp_path) == []


@pytest.mark.parametrize("name", [*(n for n in KNOWN if "seq2seq" not in n), *PLAIN])
def test_every_sample_survives_the_round_trip(samples: Path, name: str, round_trip: Callable[[Dataset], None]) -> None:
    round_trip(ng.load(samples / name))


def test_every_reader_says_what_it_reads() -> None:
    for name in registry.names("reader"):
        assert (registry.get("reader", name).__doc__ or "").strip(), name


def test_a_missing_file_is_still_a_missing_file(tmp_path: Path, refused: Callable[..., str]) -> None:
    assert refused(tmp_path / "absent.csv") == "absent.csv: no such file."


def test_an_unknown_option_is_refused_with_the_known_ones(samples: Path, refused: Callable[..., str]) -> None:
    message = refused(samples / "mqm.tsv", weigths="major=5")
    assert "the reader mqm has no option 'weigths'. Did you mean 'weights'?" in message
    assert "load has no option 'sistem'. Did you mean 'system'?" in refused(samples / "plain.csv", sistem="x")


def test_columns_named_for_a_named_reader_are_refused_not_ignored(samples: Path, refused: Callable[..., str]) -> None:
    assert "columns cannot be declared for the format" in refused(
        samples / "qags.jsonl", reader="qags", output="article"
    )
