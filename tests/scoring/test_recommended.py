"""`recommended`: the task, the languages that are refused, and the figures that are printed with the metrics."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import nlgauge as ng
from loops import for_each
from nlgauge.errors import NameUnknown, NeedsMissing, NlgaugeError
from nlgauge.metrics import metric_from_spec
from nlgauge.models.weights import weights_file
from nlgauge.scoring import recommended
from nlgauge.scoring.recommended import Recommendation, with_recommended
from nlgauge.text.batch import Batch

DOCS = Path(__file__).resolve().parents[2] / "docs"
ENGLISH = "The storm closed the northern port, and the port that feeds three of the cities was out of use for a week."
SUMMARY = "The port was closed by a storm."
OTHERS = {
    "German": "Der Sturm schloss den Hafen im Norden, und die Stadt war für eine Woche ohne Brot, weil sie nicht nah ist.",
    "Estonian": "Torm sulges põhja sadama ja see oli nädal aega kinni, aga linn ei ole veel seda kõike taastanud, kui ka tahaks.",
    "Romanian": "Furtuna a închis portul din nord și orașul nu a fost aprovizionat pentru o săptămână, dar este mai bine.",
    "Russian": "Буря закрыла порт на севере, и он не работал в течение недели, но это было не так долго, как и у других.",
    "Chinese script": "风暴关闭了北部港口，三座城市依靠该港口供应。",
    "Devanagari script": "आँधीले उत्तरी बन्दरगाह बन्द गर्‍यो र तीन सहरहरू प्रभावित भए।",
    "Sinhala script": "කුණාටුව නිසා උතුරු වරාය වසා දමන ලදී.",
    "Hebrew script": "הסערה סגרה את הנמל הצפוני למשך שבוע.",
}


def choose(spec: str = "recommended", task: str | None = None, **columns: Any) -> tuple[list[str], list[str]]:
    batch = Batch.from_columns(**{name: [text] * 4 for name, text in columns.items()})
    metrics, remarks = with_recommended(spec, task, lambda: batch)
    return [str(metric) for metric in metrics], remarks


def test_the_task_is_inferred_from_texts_and_lengths_and_the_guess_names_its_option() -> None:
    metrics, remarks = choose(output=SUMMARY, source=ENGLISH)
    assert metrics == ["consistency", "salience", "compression", "repetition"]
    assert remarks[0].startswith("task: summarization (inferred from outputs 0.32 times") and "task=" in remarks[0]
    assert "relevance" in choose(output=SUMMARY, source=ENGLISH, references=[SUMMARY])[0]
    metrics, remarks = choose(output=ENGLISH, source=ENGLISH)
    assert "style-transfer" in remarks[0] and metrics == [recommended.PRESERVATION.spec]
    metrics, remarks = choose(output=SUMMARY, source=SUMMARY, context=ENGLISH)
    assert "dialogue" in remarks[0] and metrics == [recommended.ENGAGINGNESS.spec, recommended.GROUNDEDNESS.spec]


def test_a_task_that_is_given_replaces_the_guess() -> None:
    metrics, remarks = choose("recommended(task='style-transfer')", output=SUMMARY, source=ENGLISH)
    assert metrics == [recommended.PRESERVATION.spec] and "inferred" not in remarks[0]
    assert choose(task="style-transfer", output=SUMMARY, source=ENGLISH) == (metrics, remarks)


@for_each(list(OTHERS))
def test_texts_in_another_language_are_refused_in_each_role(language: str) -> None:
    text = OTHERS[language]
    with pytest.raises(NlgaugeError, match=rf"translation \(inferred from sources in {language} and outputs in Engl"):
        choose(output=ENGLISH, source=text)
    for columns in (
        {"output": text, "source": ENGLISH},
        {"output": SUMMARY, "source": text},
        {"output": SUMMARY, "source": ENGLISH, "references": [text]},
    ):
        with pytest.raises(NlgaugeError, match=f"English texts only.* in {language}; use .*chrf"):
            choose(task="summarization", **columns)


def test_a_text_in_no_recognized_language_is_refused_unless_it_is_declared_english() -> None:
    words = " ".join(["port storm closure city bread ship"] * 6)
    with pytest.raises(NlgaugeError, match="sources in an unrecognized language"):
        choose(task="summarization", output=SUMMARY, source=words)
    metrics, _ = choose("recommended(language='English')", "summarization", output=SUMMARY, source=words)
    assert metrics[0] == "consistency"


def test_short_replies_in_english_are_recognized_together() -> None:
    replies = ["Yes, a dog, they smell better than we do.", "No.", "Nice!", "I like it here.", "Where are you from?"]
    batch = Batch.from_columns(replies, [SUMMARY] * 5, [ENGLISH] * 5)
    assert recommended.ENGAGINGNESS.spec in with_recommended("recommended", None, lambda: batch)[0]


def test_one_foreign_text_in_many_is_a_detection_error_and_one_in_ten_is_not() -> None:
    def choice(many: int) -> list[str]:
        sources = [*[ENGLISH] * many, OTHERS["German"]]
        batch = Batch.from_columns([SUMMARY] * len(sources), sources)
        return list(with_recommended("recommended", "summarization", lambda: batch)[0])

    assert choice(40)
    with pytest.raises(NlgaugeError, match="sources in German"):
        choice(9)


@for_each(list(recommended.INSTEAD))
def test_a_task_without_comparisons_is_refused_with_what_to_use(task: str) -> None:
    with pytest.raises(NlgaugeError, match=f"human ratings of {task}; use .*nlgauge judge"):
        choose(task=task, output=SUMMARY, source=ENGLISH)


def test_wrong_requests_are_refused() -> None:
    with pytest.raises(NlgaugeError, match="task must be summarization"):
        choose("recommended(task='poetry')", output=SUMMARY, source=ENGLISH)
    with pytest.raises(NameUnknown, match="no option 'tsk'"):
        choose("recommended(tsk='story')", output=SUMMARY, source=ENGLISH)
    with pytest.raises(NeedsMissing, match="sources"):
        choose(output=SUMMARY, references=[SUMMARY])
    with pytest.raises(NlgaugeError, match="the task is not known"):
        choose(output=ENGLISH, source=SUMMARY)
    with pytest.raises(NlgaugeError, match="task= chooses the metrics of 'recommended'"):
        ng.score(["a b"], "len", task="story")


def test_the_fact_checker_comes_first_where_its_model_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    metrics, remarks = choose(output=SUMMARY, source=ENGLISH)
    assert (metrics[0] == "factcheck") == (weights_file("qwen2.5-coder-1.5b").is_file())  # type: ignore[union-attr]
    monkeypatch.setattr(recommended, "_why_missing", lambda spec: "")
    assert choose(output=SUMMARY, source=ENGLISH)[0][:2] == ["factcheck", "consistency"]
    monkeypatch.setattr(recommended, "_why_missing", lambda spec: "no weights")
    metrics, remarks = choose(output=SUMMARY, source=ENGLISH)
    assert "factcheck" not in metrics and any(line.startswith("factcheck is left out (") for line in remarks)


@for_each([each for each in vars(recommended).values() if isinstance(each, Recommendation)], name=lambda r: r.spec)
def test_each_printed_figure_is_in_the_documentation_of_its_metric(recommendation: Recommendation) -> None:
    metric_from_spec(recommendation.spec)
    pages = [(DOCS / page).read_text() for page in ("metric_choice.md", "lm_metrics.md", "aligners.md")]
    figures = re.findall(r"[\d.]+ \[[\d.]+, [\d.]+\]", recommendation.agreement)
    assert figures and all(any(figure in page for page in pages) for figure in figures)


def test_score_refuses_at_once_and_in_batches(tmp_path: Path) -> None:
    rows = [{"system": "a", "input": str(i), "output": SUMMARY, "source": OTHERS["German"]} for i in range(3)]
    file = tmp_path / "rows.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    for score in (
        lambda: ng.score(rows, ["len", "recommended"]),
        lambda: ng.score(file, ["len", "recommended"], batch=2),
        lambda: ng.score([SUMMARY], "recommended", src=[OTHERS["German"]]),
    ):
        with pytest.raises(NlgaugeError, match="sources in German"):
            score()
