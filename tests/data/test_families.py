"""Families of metrics by the names of their columns."""

from __future__ import annotations

import pytest

from nlgauge.data.families import families_of, family_of
from nlgauge.errors import NameUnknown

CHECKLIST = {
    "UniEval": "overall_unieval", "Perplexity": "perplexity", "BLEU": "bleu", "BERTScore": "bert_f1_src bert_recall_ttl",
    "ROUGE": "rouge1 rouge2 rougeL", "CTC": "ctc_e_engage ctc_r_ground", "CTRLEval": "cohere_met consist_met relev_met",
}  # fmt: skip


@pytest.mark.parametrize("family", CHECKLIST)
def test_columns_of_the_checklist_tables_have_the_families_of_table_3(family: str) -> None:
    assert {family_of(column) for column in CHECKLIST[family].split()} == {family}


@pytest.mark.parametrize(
    ("column", "family"),
    [
        ("ROUGE-WE-3 Recall", "ROUGE-WE"), ("ROUGE-W-1.2 F-Score", "ROUGE"), ("rouge-l(stem=True)", "ROUGE"),
        ("BLEURT-20-refA", "BLEURT"), ("sentence_bleu", "BLEU"), ("content.unmasked.BLEU", "BLEU"),
        ("BERTScore F1", "BERTScore"), ("bertscore-f", "BERTScore"), ("bartscore_cnn", "BARTScore"), ("Chrfpp", "chrF"),
        ("XCOMET-XL-refA", "COMET"), ("TER", "TER"), ("fwppl", "Perplexity"), ("ctc(aspect='consistency')", "CTC"),
        ("coherence", "coherence"), ("supplier", "supplier"),
    ],
)  # fmt: skip
def test_variants_share_a_family_and_strangers_are_their_own(column: str, family: str) -> None:
    assert family_of(column) == family


def test_what_the_user_says_goes_first() -> None:
    assert families_of(["bleu", "x"], {"x": "BLEU"}) == {"bleu": "BLEU", "x": "BLEU"}
    assert families_of(["bleu", "x"], {"mine": ["bleu"]})["bleu"] == "mine"
    with pytest.raises(NameUnknown, match="Did you mean 'bleu'"):
        families_of(["bleu"], {"blue": "BLEU"})
