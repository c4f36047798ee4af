"""Families of metrics by the names of their columns; families of systems by a column or by their names."""

from __future__ import annotations

import pytest

from nlgauge.data.card import card
from nlgauge.data.dataset import Dataset
from nlgauge.data.families import families_of, family_of, related_systems
from nlgauge.data.load import load
from nlgauge.errors import DataError, NameUnknown

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
        ("ROUGE-WE-3 Recall", "ROUGE-WE"),
        ("ROUGE-W-1.2 F-Score", "ROUGE"),
        ("rouge-l(stem=True)", "ROUGE"),
        ("BLEURT-20-refA", "BLEURT"),
        ("sentence_bleu", "BLEU"),
        ("content.unmasked.BLEU", "BLEU"),
        ("BERTScore F1", "BERTScore"),
        ("bertscore-f", "BERTScore"),
        ("bartscore_cnn", "BARTScore"),
        ("Chrfpp", "chrF"),
        ("XCOMET-XL-refA", "COMET"),
        ("TER", "TER"),
        ("fwppl", "Perplexity"),
        ("ctc(aspect='consistency')", "CTC"),
        ("coherence", "coherence"),
        ("supplier", "supplier"),
    ],
)
def test_variants_share_a_family_and_strangers_are_their_own(column: str, family: str) -> None:
    assert family_of(column) == family


def test_what_the_user_says_goes_first() -> None:
    assert families_of(["bleu", "x"], {"x": "BLEU"}) == {"bleu": "BLEU", "x": "BLEU"}
    assert families_of(["bleu", "x"], {"mine": ["bleu"]})["bleu"] == "mine"
    with pytest.raises(NameUnknown, match="Did you mean 'bleu'"):
        families_of(["bleu"], {"blue": "BLEU"})


SYSTEMS = ["gpt-4", "gpt-4o", "llama-2", "llama-3", "zeta"]


def rated(**columns: list[object]) -> Dataset:
    """Five systems on four inputs, with one value per system in each of the columns."""
    rows = [
        {"system": s, "input": f"i{j}", "quality": (k * 7 + j * 3) % 5, "bleu": (k + j) / 9}
        | {name: values[k] for name, values in columns.items()}
        for k, s in enumerate(SYSTEMS)
        for j in range(4)
    ]
    return load(rows, name="mine", human=["quality"], metrics=["bleu"])


FAMILIES = ("gpt", "gpt", "llama", "llama", "zeta")


def test_a_column_names_the_family_of_each_system_also_in_canonical_order() -> None:
    panel = rated(base=list(FAMILIES)).with_family("base").panel()
    assert (panel.families, panel.family_column) == (FAMILIES, "base")
    canonical = panel.canonical()
    assert canonical.systems != panel.systems
    assert dict(zip(canonical.systems, canonical.families or (), strict=True)) == dict(
        zip(SYSTEMS, FAMILIES, strict=True)
    )


def test_a_pattern_finds_the_family_in_the_names_whatever_their_case() -> None:
    assert rated().with_family("^([A-Z]+)-").panel().families == FAMILIES
    assert rated().panel().families is None
    assert rated().with_family("^(.+)$").panel().families is None  # every system stands alone


def test_an_empty_value_is_a_family_of_its_own() -> None:
    families = rated(base=["gpt", "gpt", None, None, None]).with_family("base").panel().families
    assert families == ("gpt", "gpt", "llama-2", "llama-3", "zeta")


def test_a_column_of_numbers_can_be_the_family() -> None:
    rows = [
        {"system": s, "input": j, "quality": k + j, "bleu": j, "group": k // 2}
        for k, s in enumerate(SYSTEMS)
        for j in range(3)
    ]
    data = load(rows, human=["quality"])
    assert "group" in data.metrics
    named = data.with_family("group")
    assert "group" not in named.metrics
    assert len(set(named.panel().families or ())) == 3


@pytest.mark.parametrize("column", ["family", "system_family", "model_family"])
def test_a_column_called_family_is_used_and_the_summary_says_so(column: str) -> None:
    data = rated(**{column: list(FAMILIES)})
    assert data.panel().families == FAMILIES
    line = f"families of systems: 5 systems in 3 families by column '{column}', not independent (inferred;"
    assert any(text.startswith(line) for text in card(data))


def test_a_column_called_family_that_groups_no_systems_is_not_used() -> None:
    for values in (list("abcde"), list("aaaaa")):
        data = rated(family=values)
        assert data.panel().families is None
        assert not any("families of systems" in text for text in card(data))


def test_a_family_that_was_named_and_holds_all_systems_is_kept() -> None:
    assert rated(base=["x"] * 5).with_family("base").panel().families == ("x",) * 5


def test_what_cannot_be_a_family_is_one_clear_line() -> None:
    rows = [{"system": "a", "input": j, "quality": j, "bleu": j, "family": f"f{j % 2}"} for j in range(4)]
    data = load(rows, name="mine", human=["quality"], metrics=["bleu"])
    assert data.panel().families is None
    with pytest.raises(DataError, match="differs between the outputs of system 'a': f0, f1"):
        data.with_family("family")
    with pytest.raises(NameUnknown, match=r"Did you mean 'family'.*needs one group"):
        data.with_family("famly")
    with pytest.raises(NameUnknown, match="needs one group"):
        data.with_family("(a)(b)")
    with pytest.raises(NameUnknown, match="matches no system"):
        data.with_family("^(x)")


RELATED = {
    # published sets
    "summeval": ([f"M{k}" for k in range(24)], {}),
    "tac": ([str(k) for k in range(1, 60)], {}),
    "mlqe": (["en-de", "ne-en", "en-zh", "ro-en"], {}),
    "wmt20": (["Huoshan_Translate.832", "Online-A.1574", "Online-B.1590", "Tencent_Translation.1520"], {}),
    "wmt21": (
        ["Facebook-AI", "WeChat-AI", "Online-W", "VolcTrans-AT", "VolcTrans-GLAT", "metricsystem1", "metricsystem2"],
        {"volctrans": ["VolcTrans-AT", "VolcTrans-GLAT"]},
    ),
    "wmt23": (
        ["GPT4-5shot", "Lan-BridgeMT", "NLLB_Greedy", "NLLB_MBR_BLEU", "ONLINE-A", "ONLINE-B", "ONLINE-W", "ZengHuiMT"],
        {"nllb": ["NLLB_Greedy", "NLLB_MBR_BLEU"]},
    ),
    "dialsummeval": (
        ["LONGEST-3", "LEAD-3", "PGN", "Transformer", "BART", "PEGASUS", "UniLM", "CODS", "MV_BART", "S_BART"],
        {"bart": ["BART", "MV_BART", "S_BART"]},
    ),
    "hanna": (["GPT", "GPT-2", "GPT-2 (tag)", "RoBERTa", "XLNet", "CTRL"], {"gpt": ["GPT", "GPT-2", "GPT-2 (tag)"]}),
    "webnlg": (
        ["Baseline-FORGE2017", "Baseline-FORGE2020", "ORANGE-NLG", "OSU_Neural_NLG", "bt5"],
        {"baseline-forge": ["Baseline-FORGE2017", "Baseline-FORGE2020"]},
    ),
    "realsumm": (
        ["bart_out", "presumm_out_abs", "presumm_out_ext_abs", "refresh_out", "t5_out_11B", "t5_out_base"],
        {"presumm": ["presumm_out_abs", "presumm_out_ext_abs"], "t5": ["t5_out_11B", "t5_out_base"]},
    ),
    # as users name them
    "versions": (
        ["gpt-4-0613", "gpt-4-turbo", "gpt-4o", "claude-3-opus-20240229"],
        {"gpt": ["gpt-4-0613", "gpt-4-turbo", "gpt-4o"]},
    ),
    "owners": (
        ["meta-llama/Llama-3-8b", "codellama-7b", "openai/gpt-4o"],
        {"llama": ["meta-llama/Llama-3-8b", "codellama-7b"]},
    ),
    "sizes": (["t5-small", "t5-base", "lead"], {"t5": ["t5-small", "t5-base"]}),
    "prompts": (["modelA_promptA", "modelA_promptB", "modelB"], {"modela": ["modelA_promptA", "modelA_promptB"]}),
    "model by prompt": (
        ["gpt4-short", "claude-short", "gpt4-long", "claude-long"],
        {"gpt": ["gpt4-short", "gpt4-long"], "claude": ["claude-short", "claude-long"]},
    ),
    "checkpoints": (["checkpoint-100", "checkpoint-200"], {"checkpoint": ["checkpoint-100", "checkpoint-200"]}),
    "generic": (
        ["system1", "system2", "sys_a", "sys_b", "model-3", "model-4", "Model A", "Model B", "run1", "run2"],
        {},
    ),
    "enumeration": (["foo1", "foo2", "foo3"], {}),
    "letters": (list("ABCDEF"), {}),
    "signs": (["", "_", "--"], {}),
}


@pytest.mark.parametrize("names", RELATED)
def test_related_systems_are_found_by_their_names(names: str) -> None:
    systems, groups = RELATED[names]
    assert related_systems(systems) == groups
