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


TEXTS = (
    ["The cat sat on the mat.", "It is a dog", "", "No, we can't go there today & now"],
    ["The cat sat on a mat.", "This is a dog.", "nothing here", "No we cannot go there now"],
    ["A cat sat on the mat.", "It's a Dog", "empty", "no, we can't go there"],
)
CORPUS = {
    "bleu": sacrebleu.BLEU,
    "bleu(lowercase=True, tokenize='char')": lambda: sacrebleu.BLEU(lowercase=True, tokenize="char"),
    "bleu(smooth='floor', effective_order=True)": lambda: sacrebleu.BLEU(smooth_method="floor", effective_order=True),
    "bleu(smooth='add-k', smooth_value=2.0)": lambda: sacrebleu.BLEU(smooth_method="add-k", smooth_value=2.0),
    "bleu(smooth='none', tokenize='none')": lambda: sacrebleu.BLEU(smooth_method="none", tokenize="none"),
    "chrf": sacrebleu.CHRF,
    "chrf(eps=True, lowercase=True, spaces=True)": lambda: sacrebleu.CHRF(
        eps_smoothing=True, lowercase=True, whitespace=True
    ),
    "chrf++": lambda: sacrebleu.CHRF(word_order=2),
    "ter": sacrebleu.TER,
    "ter(normalize=True, lowercase=False)": lambda: sacrebleu.TER(normalized=True, case_sensitive=True),
}


@pytest.mark.parametrize("references", [1, 2, "var"])
@pytest.mark.parametrize("spec", CORPUS)
def test_score_shows_sacrebleus_corpus_score_with_its_signature(spec: str, references: int | str) -> None:
    outputs, first, second = TEXTS
    lists = {1: [[a] for a in first], 2: [[a, b] for a, b in zip(first, second, strict=True)]}
    lists["var"] = [*lists[2][:2], *lists[1][2:]]
    mine = ng.score(outputs, spec, ref=lists[references]).tables[0].rows[0]
    other: list[str | None] = [None if references == "var" and i > 1 else text for i, text in enumerate(second)]
    program = CORPUS[spec]()
    theirs = program.corpus_score(outputs, [first] if references == 1 else [first, other])
    assert mine["corpus"] == pytest.approx(theirs.score, abs=1e-9)
    assert mine["corpus_signature"] == str(program.get_signature())
    assert mine["mean"] != pytest.approx(theirs.score, abs=1e-3)


@pytest.mark.parametrize("spec", ["bleu(order=2)", "bleu(preset='coco')", "chrf(beta=1.0)", "ter(references='mean')"])
def test_scores_that_are_not_sacrebleus_do_not_carry_its_signature(spec: str) -> None:
    row = ng.score(TEXTS[0], spec, ref=TEXTS[1]).tables[0].rows[0]
    assert row["corpus_signature"] == row["signature"]
