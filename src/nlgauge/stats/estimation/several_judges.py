"""Prediction of the human rating from the scores of several judges, by cross-fitted linear regression."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
FOLDS = 5
LABELS_PER_JUDGE = 5  # labels below which fitting increases the variance


def cross_fitted(labels: Floats, scores: Floats, groups: NDArray[np.int64] | None = None) -> Floats:
    """Predict the label of every row from `scores` (rows × judges), by linear regression.

    A labeled row gets the prediction of the regression fitted without its fold, an unlabeled row the mean over the
    folds, so that predictions are independent of the labels they are compared with (Zrnic and Candès 2024). Folds are
    formed in the order of scores and labels, so the order of the file does not matter. `groups`: rows with one code are
    in one fold.

    >>> labels = np.array([1.0, 2, 3, 4, 5, 6, 7, 8, np.nan])
    >>> scores = np.column_stack([np.arange(9.0), np.ones(9)])
    >>> round(float(cross_fitted(labels, scores)[-1]), 6)
    9.0
    """
    index = np.flatnonzero(np.isfinite(labels))
    rows = np.column_stack([np.ones(len(labels)), (scores - scores.mean(axis=0)) / (scores.std(axis=0) + 1e-12)])
    fold = _folds(labels[index], scores[index], None if groups is None else groups[index])
    result = np.zeros(len(labels))
    for k in range(FOLDS):
        fit = np.linalg.lstsq(rows[index[fold != k]], labels[index[fold != k]], rcond=1e-8)[0]
        predicted = rows @ fit
        others = np.isnan(labels)
        result[others] += predicted[others] / FOLDS
        result[index[fold == k]] = predicted[index[fold == k]]
    return result


def _folds(labels: Floats, scores: Floats, groups: NDArray[np.int64] | None) -> NDArray[np.int64]:
    order = np.lexsort((labels, *scores.T))
    if groups is None:
        fold = np.empty(len(labels), np.int64)
        fold[order] = np.arange(len(labels)) % FOLDS
        return fold
    _, first, code = np.unique(groups[order], return_index=True, return_inverse=True)
    number = np.argsort(np.argsort(first)) % FOLDS
    fold = np.empty(len(labels), np.int64)
    fold[order] = number[code.reshape(-1)]
    return fold
