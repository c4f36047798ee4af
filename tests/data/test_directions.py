"""Of which metrics less is better: by name, by word of the user, and the same on every screen."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import nlgauge as ng
from nlgauge import registry
from nlgauge.data.card import card
from nlgauge.data.tables.directions import OURS_HIGHER, OURS_LOWER, lower_by_name
from nlgauge.errors import NameUnknown
from nlgauge.table import Row


def test_our_own_metrics_have_the_direction_that_they_state() -> None:
    names = registry.names("metric")
    known = [n for n in names if not n.startswith("test-")]  # other test files register some
    assert [n for n in known if lower_by_name(n) != registry.get("metric", n).facts.lower] == []
    assert set(names) >= OURS_LOWER | OURS_HIGHER
    assert lower_by_name("ter(tokenize='13a')") and lower_by_name("perplexity(model='gpt2')")


@pytest.mark.parametrize(
    "name",
    [
        "ter",
        "TER",
        "hTER",
        "sacrebleu_ter",
        "CharacTER",
        "wer",
        "WER (%)",
        "cer",
        "ppl",
        "gpt2_ppl",
        "Perplexity",
        "log-perplexity",
        "nll",
        "loss",
        "eval.loss",
        "edit distance",
        "lev.dist",
        "levenshtein_distance",
        "Hallucination rate",
        "n_errors",
        "mqm_errors",
        "error_count",
        "FID",
        "wmd",
        "content.WMD",
        "cross-entropy",
    ],
)
def test_names_of_errors_distances_and_losses_are_lower_is_better(name: str) -> None:
    assert lower_by_name(name)


@pytest.mark.parametrize(
    "name",
    [
        "bleu",
        "meteor",
        "counter",
        "master",
        "filter",
        "answer",
        "super",
        "dist-1",
        "distinct-2",
        "neg_ter",
        "-ter",
        "1-WER",
        "1 - cer",
        "ter_neg",
        "inverse perplexity",
        "negated_loss",
        "edit similarity",
        "error-free",
        "mqm",
        "comet",
        "toxicity",
        "gloss",
        "quality",
        "lm-score",
        "random",
    ],
)
def test_what_is_unclear_or_turned_already_is_left_alone(name: str) -> None:
    assert not lower_by_name(name)


def rows(name: str, sign: float) -> list[Row]:
    rng = np.random.default_rng(3)
    found: list[Row] = []
    for s in range(6):
        for i in range(30):
            human = int(np.clip(round(3 + 0.4 * s + rng.normal()), 1, 5))
            found.append(
                {
                    "system": f"s{s}",
                    "input": i,
                    "domain": "ab"[i % 2],
                    **{f"quality_{k}": int(np.clip(human + rng.integers(-1, 2), 1, 5)) for k in (1, 2, 3)},
                    "bleu": human + rng.normal(0, 3),
                    name: sign * (human + rng.normal(0, 0.8)),
                    "chrf": human + rng.normal(0, 2),
                }
            )
    return found


def test_the_card_says_which_are_turned_and_the_user_has_the_last_word() -> None:
    data = ng.load(rows("ter", -1.0), name="d")
    assert data.lower == {"ter"}
    assert any("lower is better: ter;" in line and "higher=" in line for line in card(data))
    assert ng.load(rows("ter", 1.0), higher=["ter"]).lower == frozenset()
    assert ng.load(rows("ter", 1.0), lower=["bleu"], higher=["ter"]).lower == {"bleu"}
    with pytest.raises(NameUnknown, match="cannot be both"):
        ng.load(rows("ter", 1.0), lower=["ter"], higher=["ter"])
    with pytest.raises(NameUnknown, match="no scores of metric 'tre'"):
        ng.load(rows("ter", 1.0), higher=["tre"])


def test_the_tidy_file_keeps_what_the_user_said(tmp_path: Path) -> None:
    from nlgauge.data.tidy import write_tidy

    path = write_tidy(ng.load(rows("ter", 1.0), higher=["ter"]), tmp_path / "d.jsonl")
    assert ng.load(path).lower == frozenset()
    assert ng.load(path, lower=["ter"]).lower == {"ter"}
    header, *lines = path.read_text().splitlines()
    by_hand = {k: v for k, v in json.loads(header).items() if k != "lower"}
    path.write_text("\n".join([json.dumps(by_hand), *lines]))
    assert ng.load(path).lower == {"ter"}


def test_a_metric_called_lower_that_rises_with_people_is_said() -> None:
    table = ng.load(rows("ter", 1.0)).panel().correlate()
    assert any(
        "negative under every measure: ter" in note and "If higher is better, set higher='ter'" in note
        for note in table.notes
    )
    table = ng.load(rows("abc", -1.0)).panel().correlate()
    assert any(
        "negative under every measure: abc" in note and "If lower is better, set lower='abc'" in note
        for note in table.notes
    )


PANEL = [
    "correlate", "intervals", "compare", "compare-pairs", "uses", "quality-bins", "best-metric", "inter-metric",
    "ceiling", "stability",
    "measures", "replacement", "parameters",
]  # fmt: skip
DATA = ["split", "independent", "wins", "checklist", "judges", "portfolio", "complementarity", "predictability"]
SMALL = {"draws": 40, "trials": 10, "splits": 10, "redraws": 2}
RAW = {"mean", "scores", "low score", "high score"}  # scores themselves, not what they are worth


@pytest.mark.parametrize("analysis", [*PANEL, *DATA])
def test_a_lower_is_better_metric_stands_where_its_negation_stands(analysis: str) -> None:
    run = registry.get("analysis", analysis)
    known = run.options
    options = {k: v for k, v in SMALL.items() if k in known} | ({"by": "domain"} if "by" in known else {})
    found = []
    for sign in (-1.0, 1.0):
        data = ng.load(rows("abc", sign), name="d", lower=["abc"] if sign < 0 else [])
        data = replace(data, persons=True)
        table = run(data.panel() if run.takes == "panel" else data, **options)
        found.append([{k: _rounded(v) for k, v in row.items() if k not in RAW} for row in table.rows])
    assert found[0] == found[1]


def _rounded(value: object) -> object:
    """Numbers to nine digits; the arrow of a turned metric is no difference."""
    if isinstance(value, float):
        return "nan" if np.isnan(value) else round(value, 9) + 0.0
    if isinstance(value, dict):
        return {k: _rounded(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(v) for v in value]
    return value.replace(" ↓", "") if isinstance(value, str) else value


def test_screen_page_and_results_call_the_same_metric_best(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import polars as pl

    from nlgauge.cli import build

    monkeypatch.chdir(tmp_path)
    said = []
    for sign, more in ((-1.0, ["--columns", "lower=abc"]), (1.0, [])):
        pl.DataFrame(rows("abc", sign)).write_csv("d.csv")
        with pytest.raises(SystemExit) as ended:
            build("run")(["run", "d.csv", "--quick", *more])
        assert not ended.value.code
        screen = capsys.readouterr().out.splitlines()
        results = json.loads(Path("d.report.results.json").read_text())
        tables = [t["rows"] for t in results["tables"] if t["analysis"] in ("correlate", "compare", "uses")]
        answers = {
            s["key"]: s["answers"] for s in results["sections"] if s["key"] not in ("evaluated", "reading", "made")
        }
        said.append(_rounded([screen, answers, results["per_input"], tables]))
        assert "abc has the highest value" in str(answers["agrees"])
        text = " ".join(" ".join(screen).split())
        assert re.search(r"Quality: abc agrees best with the human ratings: pairwise accuracy 0\.\d\d \[", text), text
    assert said[0] == said[1]
