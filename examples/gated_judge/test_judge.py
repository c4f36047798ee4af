"""The same gate as in CI, while you write the judge: `pytest`."""

from judge import judge


def test_the_judge_agrees_with_the_labels(judge_gate):
    judge_gate("answers.csv", "kappa=.6,tnr=.75", judge=judge)
