"""Coefficients of classes and of sets of labels equal those of krippendorff, scikit-learn, nltk and Gwet's example."""

import krippendorff
import numpy as np
import pytest
from nltk.metrics.agreement import AnnotationTask
from nltk.metrics.distance import jaccard_distance, masi_distance
from sklearn.metrics import balanced_accuracy_score, cohen_kappa_score, f1_score, precision_score, recall_score

from nlgauge.stats.agreement.classes import chance_corrected, class_share, confusion_counts, macro, paired_gain
from nlgauge.stats.agreement.label_sets import (
    ac1_of_counts,
    alpha_of_counts,
    code_counts,
    judge_agreement,
    judge_alpha,
    pair_agreement,
    set_distances,
)

# Krippendorff's example of four annotators and twelve units, which Gwet (2014) and irrCAC use, too.
EXAMPLE = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, np.nan, np.nan, np.nan],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, np.nan, 3],
        [np.nan, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, np.nan],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, np.nan],
    ]
)


@pytest.mark.parametrize("seed", range(8))
def test_kappa_alpha_and_averages_equal_scikit_learn_and_krippendorff(seed):
    rng = np.random.default_rng(seed)
    k, n = int(rng.integers(2, 9)), 90
    z = rng.integers(0, k, n)
    x = np.where(rng.random(n) < rng.random(), z, rng.integers(0, k, n))
    units = rng.integers(0, 30, n)
    counts = confusion_counts(z, x, k, units)
    hits, human, judge = np.diagonal(counts, axis1=1, axis2=2), counts.sum(axis=2), counts.sum(axis=1)
    assert chance_corrected(counts, "kappa").value == pytest.approx(cohen_kappa_score(z, x))
    two = np.stack([z, x]).astype(float)
    assert chance_corrected(counts, "alpha").value == pytest.approx(
        krippendorff.alpha(two, level_of_measurement="nominal")
    )
    assert macro(hits, human).value == pytest.approx(balanced_accuracy_score(z, x))
    union = human + judge - hits
    assert macro(hits, union, f1=True).value == pytest.approx(f1_score(z, x, average="macro"))
    for c in range(k):
        only = {"labels": [c], "average": "macro"}
        assert class_share(hits[:, c], human[:, c]).value == pytest.approx(recall_score(z, x, **only))
        assert class_share(hits[:, c], judge[:, c]).value == pytest.approx(precision_score(z, x, **only))
        assert class_share(hits[:, c], union[:, c], f1=True).value == pytest.approx(f1_score(z, x, **only))


@pytest.mark.parametrize("seed", range(4))
def test_alpha_of_sets_equals_nltk_and_of_classes_krippendorff(seed):
    rng = np.random.default_rng(seed)
    members = np.unique((rng.random((20, 4)) < 0.5).astype(float), axis=0)
    sets = [frozenset(np.flatnonzero(row).tolist()) for row in members]
    cube = rng.integers(0, len(sets), (3, 40)).astype(float)
    cube[1] = np.where(rng.random(40) < 0.6, cube[0], cube[1])
    cube[rng.random(cube.shape) < 0.1] = np.nan
    counts = code_counts(cube, len(sets))
    rated = [(r, u) for r in range(3) for u in range(40) if np.isfinite(cube[r, u]) and counts[u].sum() > 1]
    for name, distance in (("masi", masi_distance), ("jaccard", jaccard_distance)):
        task = AnnotationTask(
            [(str(r), str(u), sets[int(cube[r, u])]) for r, u in rated],
            distance=lambda a, b, d=distance: 0.0 if not a | b else d(a, b),
        )
        assert alpha_of_counts(counts, set_distances(members, name)).value == pytest.approx(task.alpha())
    nominal = alpha_of_counts(counts, set_distances(members, "nominal")).value
    assert nominal == pytest.approx(krippendorff.alpha(cube, level_of_measurement="nominal"))


def test_the_published_example_gives_the_published_values():
    counts = code_counts(EXAMPLE - 1, 5)
    apart = set_distances(np.eye(5), "nominal")
    assert round(alpha_of_counts(counts, apart).value, 5) == 0.74342
    assert round(ac1_of_counts(counts).value, 5) == 0.77544
    assert round(pair_agreement(counts, apart).value, 5) == 0.81818


def test_ac1_of_two_raters_is_the_same_from_counts_and_from_the_confusion_matrix():
    rng = np.random.default_rng(1)
    z, x = rng.integers(0, 4, 60), rng.integers(0, 4, 60)
    of_matrix = chance_corrected(confusion_counts(z, x, 4), "ac1").value
    assert of_matrix == pytest.approx(ac1_of_counts(code_counts(np.stack([z, x]) * 1.0, 4)).value)
    apart = set_distances(np.eye(4), "nominal")
    assert judge_alpha(z, x, apart).value == pytest.approx(chance_corrected(confusion_counts(z, x, 4), "alpha").value)


def test_too_few_rows_or_outputs_have_no_interval_and_a_reason():
    z = np.array([0, 0, 1, 1, 2] * 4)
    few = confusion_counts(z, z, 3, np.arange(20) // 3)
    found = chance_corrected(few, "kappa")
    assert found.value == 1.0 and np.isnan(found.low) and "needs 10" in found.reason
    assert "needs 5" in class_share(np.ones(4), np.ones(4)).reason
    counts = confusion_counts(z, z, 3)
    hits, human = np.diagonal(counts, axis1=1, axis2=2), counts.sum(axis=2)
    assert "1 of 3 classes" in macro(hits, human).reason
    assert np.isnan(chance_corrected(confusion_counts([0] * 20, [0] * 20, 2), "kappa").value)


def test_a_perfect_judge_has_an_interval_with_a_width():
    z = np.arange(60) % 3
    counts = confusion_counts(z, z, 3)
    for found in (chance_corrected(counts, "kappa"), chance_corrected(counts, "ac1")):
        assert found.value == found.high == 1.0 and 0.8 < found.low < 0.97
    right = np.column_stack([np.ones(60), np.ones(60)])
    assert paired_gain(right, right).low < 0 < paired_gain(right, right).high


def test_repeating_rows_within_clusters_does_not_make_an_interval_shorter():
    rng = np.random.default_rng(3)
    z = rng.integers(0, 3, 40)
    x = np.where(rng.random(40) < 0.7, z, rng.integers(0, 3, 40))
    once = chance_corrected(confusion_counts(z, x, 3), "kappa")
    again = chance_corrected(confusion_counts(np.tile(z, 5), np.tile(x, 5), 3, np.tile(np.arange(40), 5)), "kappa")
    assert again.high - again.low >= 0.98 * (once.high - once.low)


def test_a_judge_that_copies_an_annotator_agrees_with_the_others_as_that_annotator_does():
    rng = np.random.default_rng(4)
    cube = rng.integers(0, 3, (3, 50)).astype(float)
    apart = set_distances(np.eye(3), "nominal")
    found = judge_agreement(cube[0].astype(int), code_counts(cube[1:], 3), apart)
    assert found.value == pytest.approx((cube[0] == cube[1:]).mean())
