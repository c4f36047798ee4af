"""System and corpus values of `aggregate` against sacrebleu's corpus scores: not the mean of the sentence scores."""

import pytest

import nlgauge as ng
from nlgauge.scoring import aggregate

sacrebleu = pytest.importorskip("sacrebleu")


@pytest.mark.parametrize("by", ["system", None])
def test_the_corpus_column_is_sacrebleus_corpus_score_and_the_mean_is_not(by: str | None) -> None:
    data = ng.example()
    table = aggregate(data, ["bleu", "chrf"], by=by)
    groups = data.by("system") if by else [({"outputs": "all outputs"}, data)]
    for group, part in groups:
        outputs, lists = part.samples["output"].to_list(), part.samples["references"].to_list()
        references = [list(column) for column in zip(*lists, strict=True)]
        theirs = {
            "bleu": sacrebleu.corpus_bleu(outputs, references).score,
            "chrf": sacrebleu.corpus_chrf(outputs, references).score,
        }
        for name, value in theirs.items():
            mine = {row["of"]: row["value"] for row in table if row["metric"] == name and group.items() <= row.items()}
            assert mine["corpus"] == pytest.approx(value, abs=1e-9)
            assert mine["mean"] != pytest.approx(value, abs=1e-3)
