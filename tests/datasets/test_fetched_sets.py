"""Sets that users fetch themselves: once a file of their layout is there, `reproduce` computes the cells that need it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import ks_2samp, pearsonr

from nlgauge.datasets import entry
from nlgauge.datasets.summeval import ASPECTS as ASPECTS_OF_SUMMEVAL
from nlgauge.stats.agreement.icc import icc
from nlgauge.table import Row
from nlgauge_papers import Sources, all_studies, meteor_1_5
from nlgauge_papers.compare import ELSEWHERE, JUDGED, compare
from nlgauge_papers.deng2021.tables import TOOLKIT
from nlgauge_papers.nimah2023.systems import OWN, listed_pairs
from nlgauge_papers.novikova2017._shared import ASPECTS


def rows(folder: Path, name: str) -> list[Row]:
    return compare(all_studies()[name], Sources(folder, slow=False)).rows


def write(folder: Path, name: str, text: str) -> None:
    (file,) = entry(name).files
    path = folder / file.path.removesuffix(".gz")
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")


def table(folder: Path, name: str, lines: list[dict[str, object]]) -> None:
    heads = list(lines[0])
    write(folder, name, "\n".join([",".join(heads), *(",".join(str(line[h]) for h in heads) for line in lines)]))


CASES = {"UniEval-summ": ("system_id", "17", "20"), "summEval": ("model_id", "17", "20"), "Newsroom": ("System", "17",
    "20"), "UBER-Topic": ("model", "19", "22")}  # fmt: skip


@pytest.mark.parametrize("data", CASES)
def test_the_authors_table_fills_its_lines_of_ks_and_preference(data: str, tmp_path: Path) -> None:
    """All cells of the data set have a value, and BERTScore's KS is the mean over pairs and columns that scipy finds."""
    own, (column, ks, preference) = OWN[data], CASES[data]
    before = [r for t in (ks, preference) for r in rows(tmp_path, f"nimah2023/{t}") if r["data"] == data]
    assert before
    assert not any(r["verdict"] in JUDGED for r in before)
    pairs = listed_pairs(own.pairs_in, data)
    systems = sorted({s for some in pairs.values() for pair in some for s in pair})
    rng = np.random.default_rng(0)
    columns = [*entry(own.set).aspects, *(c for some in own.columns.values() for c in some)]
    made = [
        {column: s} | {c: round(float(rng.normal(k / 9)), 3) for c in columns}
        for k, s in enumerate(systems)
        for _ in range(12)
    ]
    table(tmp_path, own.set, made)
    for study in (ks, preference):
        assert all(r["verdict"] in JUDGED for r in rows(tmp_path, f"nimah2023/{study}") if r["data"] == data)
    found = next(
        r["ours"]
        for r in rows(tmp_path, f"nimah2023/{ks}")
        if (r["data"], r["difficulty"], r["metric"]) == (data, "Easy", "BERTScore")
    )
    values = {
        c: {s: [line[c] for line in made if line[column] == s] for s in systems} for c in own.columns["BERTScore"]
    }
    expected = np.mean([ks_2samp(v[a], v[b]).statistic for v in values.values() for a, b in pairs["Easy"]])
    assert found == pytest.approx(expected)


def test_summeval_with_17_systems_gives_pairs_rows_and_people(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    with_ratings = ("expert_annotations", 3), ("turker_annotations", 5)
    systems = sorted({s for some in listed_pairs("12").values() for pair in some for s in pair} | {"M8", "M10"})
    lines = [
        {"id": f"dm-{i}", "model_id": s, "decoded": "a text"}
        | {
            group: [
                {a: int(rng.integers(1, 6)) for a in ("coherence", "consistency", "fluency", "relevance")}
                for _ in range(n)
            ]
            for group, n in with_ratings
        }
        for s in systems
        for i in range(5)
    ]
    write(tmp_path, "summeval-17", "".join(json.dumps(line) + "\n" for line in lines))
    assert all(r["verdict"] in JUDGED for r in rows(tmp_path, "nimah2023/12"))
    assert [r["ours"] for r in rows(tmp_path, "nimah2023/2") if r["data"] == "summEval"] == [len(systems) * 5 * 3]
    people = [r for r in rows(tmp_path, "nimah2023/17") if (r["data"], r["metric"]) == ("summEval", "Human")]
    assert [r["verdict"] in JUDGED for r in people] == [True, True]


def test_scores_of_summevals_toolkit_give_the_baselines_of_deng2021(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the scores are in lists (SUPERT), nested (ROUGE), and where a 17th system is in the file."""
    monkeypatch.setattr(meteor_1_5, "files", lambda: None)  # its table takes seconds to read; tests/real reads it
    wanted = {"SummaQA-prob", "SummaQA-f", "BLANC", "SUPERT", "S3-pyr", "ROUGE-1", "METEOR", "CIDEr", "SMS"}
    rng = np.random.default_rng(4)
    systems = [*(f"M{k}" for k in range(4)), "M23_dynamicmix"]
    texts = {"references": ["one two .", "three four ."]}
    people = [
        [{a: int(v) for a, v in zip(ASPECTS_OF_SUMMEVAL, some, strict=True)} for some in rng.integers(1, 6, (3, 4))]
        for _ in range(30)
    ]
    names = [name for name in TOOLKIT.values() if not name.startswith("rouge") and name != "supert"]
    lines = []
    for k, (s, i) in enumerate((s, i) for s in systems for i in range(6)):
        given = {
            f"metric_scores_{n}": {name: float(rng.normal()) for name in names}
            | {"supert": [float(rng.normal())], "rouge": {f"rouge_{x}_f_score": float(rng.normal()) for x in "12l"}}
            for n in (1, 11)
        }
        lines.append(
            {
                "id": f"dm-{i}",
                "model_id": s,
                "decoded": f"{s} says {i} .",
                "expert_annotations": people[k],
                **texts,
                **given,
            }
        )
    whole = [line for line in lines if line["model_id"] != "M23_dynamicmix"]
    made_summeval(tmp_path, whole)
    before = {r["metric"]: r["verdict"] for r in rows(tmp_path, "deng2021/D.2") if r["metric"] in wanted}
    assert {before[m] for m in ("SummaQA-prob", "SummaQA-f", "BLANC", "SUPERT", "S3-pyr")} == {ELSEWHERE}
    write(tmp_path, "summeval-scored", "".join(json.dumps(line) + "\n" for line in lines))
    for table, aspect, n in (("D.1", "consistency", 11), ("D.2", "relevance", 1), ("D.3", "relevance", 11)):
        found = {(r["metric"], r["level"], r["coefficient"]): r for r in rows(tmp_path, f"deng2021/{table}")}
        assert {r["verdict"] in JUDGED for (m, *_), r in found.items() if m in wanted} == {True}
        rated = [np.mean([e[aspect] for e in line["expert_annotations"]]) for line in whole]
        for metric, of in (("SUPERT", lambda s: s["supert"][0]), ("ROUGE-1", lambda s: s["rouge"]["rouge_1_f_score"])):
            expected = pearsonr([of(line[f"metric_scores_{n}"]) for line in whole], rated)[0]
            assert found[metric, "sample", "pearson"]["ours"] == pytest.approx(expected)


def made_summeval(folder: Path, lines: list[dict[str, object]]) -> None:
    """The files of 'summeval' with the same outputs."""
    outputs, original, *_ = entry("summeval").files
    for file, text in (
        (
            outputs,
            [
                {
                    "doc_id": x["id"],
                    "system": x["model_id"],
                    "decoded": x["decoded"],
                    "sys_summ": x["decoded"],
                    "expert": x["expert_annotations"],
                    "human_mean": {},
                    "metrics": dict.fromkeys(("S3_pyr", "S3_resp", "BERTScore", "MoverScore"), 0.5),
                }
                for x in lines
            ],
        ),
        (
            original,
            [
                {"id": i, "text": "An article .", "references": ["one two .", "three four ."]}
                for i in sorted({str(x["id"]) for x in lines})
            ],
        ),
    ):
        path = folder / file.path.removesuffix(".gz")
        path.parent.mkdir(exist_ok=True)
        path.write_text("".join(json.dumps(x) + "\n" for x in text), encoding="utf-8")


def test_single_ratings_of_bagel_give_the_agreement_of_table_7(tmp_path: Path) -> None:
    assert {r["verdict"] for r in rows(tmp_path, "novikova2017/7")} == {ELSEWHERE}
    rng = np.random.default_rng(2)
    places = [("BAGEL", "Dusek"), ("BAGEL", "LOLS"), ("SFHOT", "WEN"), ("SFHOT", "LOLS"), ("SFRES", "WEN")]
    truth = {p: rng.normal(4, 1, (9, 3)) for p in places}
    lines: list[dict[str, object]] = [
        {"judge": j, "dataset": d, "system": s, "sys_ref": "x"}
        | dict(zip(ASPECTS, (truth[d, s][k] + rng.normal(0, 1, 3)).round(2), strict=True))
        for j in (1, 2, 3)
        for d, s in places
        for k in range(9)
    ]
    table(tmp_path, "bagel-individual", lines)
    found = {(r["dataset"], r["part"]): r["ours"] for r in rows(tmp_path, "novikova2017/7")}
    assert not np.isnan(list(found.values())).any()

    def expected(chosen: list[dict[str, object]], aspects: tuple[str, ...], form: str = "ICC(k)") -> float:
        judges = [[float(str(line[a])) for a in aspects for line in chosen if line["judge"] == j] for j in (1, 2, 3)]
        return icc(judges)[form].value

    bagel = [line for line in lines if line["dataset"] == "BAGEL"]
    assert found["BAGEL", "quality"] == pytest.approx(expected(bagel, ("quality",)))
    assert found["BAGEL", "TGEN"] == pytest.approx(expected([x for x in bagel if x["system"] == "Dusek"], ASPECTS))
    assert found["all", "all"] == pytest.approx(expected(lines, ASPECTS, "ICC(C,k)"))


def test_the_second_half_of_mans_gives_its_lines_of_gao2025(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    systems = ("s2s", "fusion", "plan_write", "gpt", "gpt_kg")
    made = {
        str(i): {
            "prompt": "p",
            "gold_response": "r",
            "gen": {s: {"text": "t", "score": [int(v) for v in rng.integers(1, 6, 5)]} for s in systems},
        }
        for i in range(8)
    }
    write(tmp_path, "mans-wp", json.dumps(made))
    mine = {r["parameter"]: r for r in rows(tmp_path, "gao2025/5") if r["subset"] == "WP" and r["set"] == "MANS"}
    means = [np.mean(story["gen"][s]["score"]) for story in made.values() for s in systems]
    assert mine["mean"]["ours"] == pytest.approx((np.mean(means) - 1) / 4)
    assert all(r["verdict"] in JUDGED for r in mine.values())


def test_a_file_of_another_layout_is_one_line(tmp_path: Path) -> None:
    write(tmp_path, "checklist-newsroom", "system,overall\nlede3,4\n")
    text = {r["reason"] for r in rows(tmp_path, "nimah2023/17")}
    assert any("no column 'System'. Columns: system, overall." in reason for reason in text)
