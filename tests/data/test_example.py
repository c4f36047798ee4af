import json
from collections import defaultdict
from itertools import pairwise

import numpy as np
import pytest
from example_maker import OUTPUTS, SYSTEMS, made_rows, outputs, true_order
from scipy.stats import kendalltau

from nlgauge.data.example import ASPECT, METRICS, NOTE, RATERS, example_rows, example_texts

TEXTS = example_texts()


def order_tau(rows, column):
    """Kendall's tau-b between the true order and the system means of a column."""
    cells = defaultdict(list)
    for row in rows:
        cells[row["system"]].append(row[column])
    means = [np.mean(cells[system]) for system in true_order()]
    return kendalltau(means, -np.arange(len(means))).statistic


@pytest.fixture(scope="module")
def rows():
    return example_rows()


def test_there_are_24_inputs_with_unique_ids():
    assert len({text["id"] for text in TEXTS}) == len(TEXTS) == 24
    assert len({text["source"] for text in TEXTS}) == 24
    assert all(set(text) == {"id", "topic", "source", "output", "references"} for text in TEXTS)


@pytest.mark.parametrize("text", TEXTS, ids=lambda text: text["id"])
def test_texts_have_the_promised_lengths_and_differ(text):
    assert 90 <= len(text["source"].split()) <= 140
    assert 35 <= len(text["output"].split()) <= 60
    assert len(text["references"]) == 2
    assert all(30 <= len(reference.split()) <= 60 for reference in text["references"])
    assert len({text["output"], *text["references"]}) == 3
    for summary in (text["output"], *text["references"]):
        assert summary == " ".join(summary.split())
        assert summary.endswith(".")


def digits(text):
    return {word.strip(".,;:()") for word in text.split() if any(c.isdigit() for c in word)}


def names(text):
    """Capitalised words inside a sentence, which in these texts are names."""
    words = text.split()
    inner = [b for a, b in pairwise(words) if a[-1] not in ".:?!"]
    return {word.strip(".,;:()").removesuffix("'s") for word in inner if word[0].isupper()}


# what a summary may say that its source says in other words
SAID_OTHERWISE = {"Bronze", "Age"}


@pytest.mark.parametrize("text", TEXTS, ids=lambda text: text["id"])
def test_numbers_and_names_of_the_summaries_are_in_the_source(text):
    known = text["source"].replace("(", " ").replace("-", " ") + text["source"]
    for summary in (text["output"], *text["references"]):
        assert {n for n in digits(summary) if n not in known} == set()
        assert {n for n in names(summary) - SAID_OTHERWISE if n not in known} == set()


def test_every_rater_rates_every_output_once(rows):
    keys = {(row["system"], row["input"], row["rater"]) for row in rows}
    assert len(keys) == len(rows) == len(SYSTEMS) * len(TEXTS) * len(RATERS)
    assert {type(row[ASPECT]) for row in rows} == {int}
    assert {row[ASPECT] for row in rows} == {1, 2, 3, 4, 5}
    assert all(row["output"].strip() for row in rows)


def test_the_maker_gives_the_shipped_file_and_rows_exactly_and_other_rows_with_another_seed(rows):
    assert outputs(made_rows()) == json.loads(OUTPUTS.read_text(encoding="utf-8"))
    assert made_rows() == rows
    assert made_rows(1) != rows


def test_intact_is_the_good_summary_and_every_other_system_damages_it(rows):
    good = {text["id"]: text["output"] for text in TEXTS}
    for row in rows:
        assert (row["output"] == good[row["input"]]) == (row["system"] == "intact"), row["output"]


def test_constructed_quality_and_overlap_recover_the_true_order_and_random_does_not(rows):
    assert order_tau(rows, ASPECT) == pytest.approx(1)
    assert order_tau(rows, "unigram_f1") > 0.8
    assert order_tau(rows, "char3_f1") > 0.8
    assert abs(order_tau(rows, "random")) < 0.6
    assert order_tau(rows, "length_ratio") < order_tau(rows, "unigram_f1")


def test_the_order_does_not_hang_on_the_seed():
    seeds = [made_rows(seed) for seed in range(1, 7)]
    assert min(order_tau(rows, "unigram_f1") for rows in seeds) > 0.8
    assert min(order_tau(rows, ASPECT) for rows in seeds) > 0.9
    assert abs(np.mean([order_tau(rows, "random") for rows in seeds])) < 0.4


def test_loss_and_amount_grow_together_down_the_true_order():
    losses = [system.loss for system in SYSTEMS]
    assert losses == sorted(losses)
    graded = [system.amount for system in SYSTEMS if system.name not in {"shuffled", "negated"}]
    assert graded == sorted(graded)


def test_ready_scores_are_what_their_names_say(rows):
    for row in rows:
        assert set(METRICS) <= set(row)
        assert all(0 <= row[name] <= 1 for name in METRICS if name != "length_ratio")
    row = next(row for row in rows if row["system"] == "intact" and row["input"] == "bridge")
    # counted by hand from the word lists, without the module's own helpers
    words = row["output"].lower().replace(".", "").replace(",", "").split()
    best = 0.0
    for reference in row["references"]:
        other = reference.lower().replace(".", "").replace(",", "").split()
        common = sum(min(words.count(w), other.count(w)) for w in set(words))
        best = max(best, 2 * common / (len(words) + len(other)))
    assert row["unigram_f1"] == pytest.approx(best, abs=1e-4)
    assert row["length_ratio"] == pytest.approx(
        len(words) / np.mean([len(reference.split()) for reference in row["references"]]), abs=1e-4
    )


def test_the_rating_is_labelled_as_constructed(rows):
    assert "constructed" in ASPECT and ASPECT in NOTE
    assert all(row["rater"].startswith("constructed-") for row in rows)
    assert not {"human", "quality", "rating"} & set(rows[0])
