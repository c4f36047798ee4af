"""Robustness on texts and metrics whose behaviour is known beforehand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
import pytest
from analysis_panels import by, same_rows

from nlgauge.analyses.errors._versions import versions
from nlgauge.analyses.errors.robustness import robustness
from nlgauge.data.dataset import Dataset
from nlgauge.data.example import example
from nlgauge.errors import NameUnknown, NeedsMissing, NlgaugeError
from nlgauge.metrics import Batch, Facts, Metric, Scores
from nlgauge.report.figures import figure_of
from nlgauge.text.wordnet import wordnet_folder


@dataclass(frozen=True)
class Made(Metric):
    """A metric from a function of the output."""

    name: str
    of: Callable[[str], float]
    lower: bool = False
    aspect: str = "overall"

    @property
    def facts(self) -> Facts:
        return Facts(self.name, "test", frozenset({"output"}), self.lower, (0.0, 1.0), 2020, "", "", "", "")

    def __str__(self) -> str:
        return self.name

    def score(self, batch: Batch) -> Scores:
        texts = batch.texts.list()
        return Scores(np.array([self.of(texts[i]) for i in batch.output.tolist()], np.float64))


def capitals(text: str) -> float:
    return float(sum(map(str.isupper, text)))


def texts(*outputs: str, **columns: Any) -> Dataset:
    n = len(outputs)
    frame = {"system": ["s"] * n, "input": [f"i{k}" for k in range(n)], "output": list(outputs), **columns}
    return Dataset.of("texts", pl.DataFrame(frame))


FOUR = texts("One apple fell.", "Two Pears fell.", "Three Red Plums.", "no capital here.")


def test_a_counter_of_capitals_has_exactly_the_sensitivity_that_follows_from_the_texts() -> None:
    table = robustness(
        FOUR, metrics=[Made("capitals", capitals)], amounts=1.0, perturbations=["lower", "upper", "number"]
    )
    rows = by(table, "perturbation")
    sd = np.std([1, 2, 3, 0], ddof=1)
    lower, upper = rows["lower"], rows["upper"]
    assert (lower["outputs"], lower["not_applicable"], lower["pairs"]) == (3, 1, 3)
    assert (lower["falls"], lower["ties"], lower["rises"]) == (1.0, 0.0, 0.0)
    assert lower["change"] == pytest.approx(-np.mean([1, 2, 3]) / sd)
    assert (lower["sensitivity"], lower["false_alarms"]) == (None, 1.0)
    letters = [sum(map(str.isalpha, t)) for t in FOUR.samples["output"]]
    assert upper["change"] == pytest.approx((np.mean(letters) - np.mean([1, 2, 3, 0])) / sd)
    assert (upper["falls"], upper["rises"], upper["outputs"]) == (0.0, 1.0, 4)
    # 'One' is no number here; 'Two' and 'Three' keep their capital.
    number = rows["number"]
    assert (number["outputs"], number["ties"], number["sensitivity"]) == (2, 1.0, 0.0)


def test_the_length_in_words_notices_missing_words_and_nothing_else() -> None:
    table = robustness(example(), metrics=["length"], sample=40, draws=50)
    for row in table:
        if row["perturbation"] in ("drop", "truncate"):
            assert (row["falls"], row["ties"]) == (1.0, 0.0), row
            assert row["monotone"] == 1.0
        elif row["perturbation"] in ("repeat", "repeat-sentence"):
            assert row["rises"] == 1.0, row
        elif row["perturbation"] not in ("wrong", "copy", "negate"):  # which may be shorter or longer
            assert (row["falls"], row["ties"], row["change"]) == (0.0, 1.0, 0.0), row


def test_a_random_score_notices_half_of_everything() -> None:
    table = robustness(example(), metrics=["random"], amounts=0.3, threshold=0.0, margin=0.0)
    for row in table:
        band = 3.5 * np.sqrt(0.25 / row["pairs"])
        assert abs(row["falls"] - 0.5) < band, row
        assert row["ties"] == 0.0
    covered = [row["falls_low"] <= 0.5 <= row["falls_high"] for row in table]
    assert np.mean(covered) > 0.7


def test_a_metric_of_which_less_is_better_is_judged_alike() -> None:
    up, down = Made("m", capitals), Made("m", lambda t: -capitals(t), lower=True)
    assert same_rows(robustness(FOUR, metrics=[up]), robustness(FOUR, metrics=[down]))


def test_neither_the_order_of_the_rows_nor_other_perturbations_nor_other_metrics_change_a_number() -> None:
    data = example()
    some = {"perturbations": ["swap", "negate", "wrong", "synonym"], "sample": 40, "seed": 3}
    table = robustness(data, metrics=["length", "rouge-1"], **some)
    mixed = Dataset.of(data.name, data.samples.sample(fraction=1.0, shuffle=True, seed=1))
    assert same_rows(table, robustness(mixed, metrics=["length", "rouge-1"], **some))
    alone = robustness(data, metrics=["rouge-1"], perturbations=["wrong"], sample=40, seed=3).rows
    assert alone == [row for row in table if (row["perturbation"], row["metric"]) == ("wrong", "rouge-1")]
    other = robustness(data, metrics=["length", "rouge-1"], **{**some, "seed": 4})
    assert not same_rows(table, other)


def test_a_fall_counts_beyond_the_threshold_and_a_false_alarm_beyond_the_margin() -> None:
    metric = [Made("capitals", capitals)]
    wide = by(robustness(FOUR, metrics=metric, amounts=1.0, margin=1.0, perturbations=["lower"]), "perturbation")
    assert wide["lower"]["false_alarms"] == pytest.approx(2 / 3)  # falls of 1, 2 and 3 capitals; the SD is 1.29
    assert wide["lower"]["ties"] == pytest.approx(1 / 3)
    words = Made("words", lambda t: float(len(t.split())))
    strict, loose = (
        by(
            robustness(example(), metrics=[words], amounts=0.1, threshold=t, perturbations=["drop"], sample=50),
            "perturbation",
        )
        for t in (100.0, 0.0)
    )
    assert (strict["drop"]["sensitivity"], loose["drop"]["sensitivity"]) == (0.0, 1.0)


def test_the_same_change_is_damage_to_one_aspect_and_none_to_another() -> None:
    short = Made("short", lambda t: -float(len(t)))
    should = {
        aspect: by(
            robustness(example(), metrics=[short], aspects=aspect, perturbations=["negate"], sample=20), "perturbation"
        )["negate"]
        for aspect in ("consistency", "fluency", "relevance")
    }
    assert {a: r["should"] for a, r in should.items()} == {
        "consistency": "fall",
        "fluency": "stay",
        "relevance": "open",
    }
    assert should["fluency"]["false_alarms"] is not None and should["fluency"]["sensitivity"] is None
    assert should["relevance"]["false_alarms"] is should["relevance"]["sensitivity"] is None
    own = robustness(
        example(), metrics=[Made("f", len, aspect="Naturalness"), short], perturbations=["negate"], sample=20
    )
    assert {r["metric"]: (r["aspect"], r["should"]) for r in own} == {
        "f": ("fluency", "stay"),
        "short": ("overall", "fall"),
    }


def test_versions_that_come_out_alike_are_one_pair() -> None:
    """One sentence can be negated once: three amounts are one changed text."""
    data = texts("The bridge is safe.", "The door was open.", "Nothing here to deny")
    row = robustness(data, metrics=["length"], perturbations=["negate"]).rows[0]
    assert (row["pairs"], row["outputs"], row["not_applicable"]) == (2, 2, 1)
    assert np.isnan(row["monotone"])
    assert row["falls_at_10"] == row["falls_at_60"] == 0.0


def test_what_cannot_be_done_here_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nlgauge.text.wordnet._places", lambda: iter(()))
    monkeypatch.setattr("nlgauge.analyses.errors._versions.same_meaning", lambda word: wordnet_folder())
    table = robustness(FOUR, metrics=["length"])
    assert not {"copy", "synonym"} & {row["perturbation"] for row in table}
    assert "copy left out: the data have neither sources nor contexts." in table.notes
    (synonym,) = [note for note in table.notes if note.startswith("synonym left out: synonyms need WordNet 3.0: apt")]
    assert synonym.endswith("or set NLGAUGE_WORDNET to its folder.")
    assert any(note.startswith("with only 4 outputs") for note in table.notes)


def test_a_constant_metric_has_no_sd_and_says_so() -> None:
    table = robustness(FOUR, metrics=[Made("same", lambda t: 1.0)], perturbations=["drop", "upper"])
    drop, upper = table.rows
    assert (drop["falls"], drop["ties"]) == (0.0, 1.0)
    assert np.isnan(drop["change"]) and np.isnan(upper["falls"])
    assert any("same: equal on all unchanged outputs" in note for note in table.notes)


def test_a_score_that_is_missing_is_counted() -> None:
    table = robustness(
        FOUR, metrics=[Made("m", lambda t: float("nan") if "APPLE" in t else 1.0 * len(t))], perturbations=["upper"]
    )
    row = table.rows[0]
    assert row["unscored"] > 0
    assert row["pairs"] + row["unscored"] == sum(len(set(t)) for t in _upper_versions())
    assert f"m: {row['unscored']} pairs without a score." in table.notes


def _upper_versions() -> list[list[str]]:
    made = versions(FOUR, ["upper"], (0.1, 0.3, 0.6), sample=200, keep_human=False, seed=0)
    blocks = np.array(made.data.samples["output"].to_list()).reshape(4, 4)
    return [[text for text in column[1:] if text != column[0]] for column in blocks.T.tolist()]


def test_each_changed_system_is_whole_and_wrong_texts_come_from_the_same_system() -> None:
    data = example()
    made = versions(data, ["number", "wrong"], (1.0,), sample=60, keep_human=False, seed=0)
    assert made.data.samples.height == 3 * 60
    rows = made.data.samples.to_dicts()
    assert {r["system"].partition(" [")[0] for r in rows[60:120]} == {r["system"] for r in rows[:60]}
    mine = {(r["system"], r["output"]): r["input"] for r in data.samples.to_dicts()}
    for row, original in zip(rows[120:], rows[:60], strict=True):
        system = row["system"].removesuffix(" [wrong 1]")
        assert mine[system, row["output"]] != original["input"]


def test_a_small_sample_takes_every_input_first() -> None:
    made = versions(example(), ["drop"], (0.5,), sample=24, keep_human=False, seed=0)
    assert len(set(made.inputs)) == 24


def test_people_among_the_systems_stay_out_unless_kept() -> None:
    data = Dataset.of(
        "d",
        pl.DataFrame(
            {"system": ["a", "a", "human", "human"], "input": list("1212"), "output": ["x y", "z w", "u v", "p q"]}
        ),
    )
    assert len(versions(data, ["drop"], (0.5,), sample=9, keep_human=False, seed=0).inputs) == 2
    assert len(versions(data, ["drop"], (0.5,), sample=9, keep_human=True, seed=0).inputs) == 4


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"perturbations": ["burn"]}, NameUnknown, "perturbation 'burn' not found"),
        ({"perturbations": "typos"}, NameUnknown, "Did you mean 'typo'"),
        ({"metrics": "lenght"}, NameUnknown, "Did you mean 'length'"),
        ({"metrics": "bleu"}, NeedsMissing, "'bleu' needs references"),
        ({"aspects": ["fluency", "relevance"]}, NlgaugeError, "one aspect at a time"),
        ({"aspects": "surprise"}, NameUnknown, "unknown aspect 'surprise'"),
        ({"amounts": [0.0, 0.5]}, NlgaugeError, "above 0"),
        ({"amounts": []}, NlgaugeError, "above 0"),
        ({"sample": 1}, NlgaugeError, "at least 2 outputs"),
        ({"margin": -1.0}, NlgaugeError, "0 or more"),
        ({"show": "p"}, NlgaugeError, "show must be falls"),
    ],
)
def test_wrong_options_say_what_is_possible(options: dict[str, Any], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        robustness(FOUR, **options)


def test_a_column_of_scores_is_no_metric_that_can_be_run() -> None:
    data = FOUR.with_scores({"mine": [1.0, 2.0, 3.0, 4.0]})
    with pytest.raises(NameUnknown, match="requires metrics that can be run, not columns of scores"):
        robustness(data, metrics=["mine"])


def test_without_texts_there_is_nothing_to_damage() -> None:
    with pytest.raises(NeedsMissing, match="requires output texts"):
        robustness(Dataset.of("d", pl.DataFrame({"system": ["a", "b"], "input": ["1", "1"]})))
    with pytest.raises(NeedsMissing, match="at least 2 outputs; found 1"):
        robustness(texts("Just one.", " "))


def test_the_picture_shows_falls_blue_where_right_and_orange_where_not() -> None:
    table = robustness(FOUR, metrics=[Made("<b>x</b>", capitals)], amounts=1.0, perturbations=["truncate", "lower"])
    figure = figure_of(table)
    assert figure is not None
    drawn = figure.data[0]
    assert list(drawn.x) == ["truncate", " ", "lower"]
    falls = by(table, "perturbation")["truncate"]["falls"]
    assert [list(line) for line in drawn.z] == [[falls, None, -1.0]]
    assert list(drawn.y) == ["&lt;b&gt;x&lt;/b&gt;"]


def test_each_line_says_what_should_happen_and_which_metric_is_meant_otherwise() -> None:
    two = [Made("a", len), Made("b", capitals), Made("c", capitals, aspect="fluency")]
    _, body = robustness(example(), metrics=two, perturbations=["negate", "upper"], sample=20).grid()
    assert [cells[0].text for cells in body] == ["negate ↓ (c =)", "upper ="]
