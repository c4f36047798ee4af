"""gao2025 from the authors' scores, on generated files in their layout; and deng2021 with the paper's models."""

from __future__ import annotations

import csv
import sys
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import kendalltau, pearsonr

from nlgauge.metrics import Batch
from nlgauge_papers import NeedsWeights, Sources, all_studies
from nlgauge_papers.compare import JUDGED, compare
from nlgauge_papers.deng2021.paper_models import BERT, ROWS, paper_scores
from nlgauge_papers.gao2025.released_scores import number_of, panels
from nlgauge_papers.gao2025.replies import drawn, granularity

sys.path.insert(0, str(Path(__file__).parents[1] / "metrics"))
METRICS = ["bertscore_f", "bleu", "GPT4_T=0_1_5"]
SETS = [("SummEval", "CNN/DM", "coherence"), ("google_mqm", "news", "mqm"), ("USR", "TC", "Uses_Knowledge")]


def write(folder: Path) -> dict[str, np.ndarray]:
    """Three of the thirty sets: 4 systems × 6 inputs, human scores first, then three metrics."""
    rng = np.random.default_rng(3)
    made: dict[str, np.ndarray] = {}
    path = folder / "gao2025" / "data.csv"
    path.parent.mkdir()
    with path.open("w", newline="") as file:
        out = csv.writer(file)
        out.writerow(["dataset", "ori_dataset", "aspect", "sys_id", "new_seg_id", "human_score", *METRICS])
        for names in SETS:
            human = rng.random((4, 6)).round(2)
            scores = np.stack([human, *(human + rng.normal(0, s, (4, 6)) for s in (0.2, 0.5, 0.9))]).round(3)
            scores[3] = 1 + 4 * (scores[3] - scores[3].min()) / np.ptp(scores[3])  # a judge on 1 to 5
            made[names[0]] = scores
            out.writerows([*names, f"s{i}", j, *scores[:, i, j]] for i in range(4) for j in range(6))
    return made


def test_names_of_the_authors_programs_find_their_set() -> None:
    assert [number_of(*names) for names in SETS] == ["D1", "D5", "D25"]
    assert number_of("SummEval", "CNN/DM", "grammar") is None


def test_tables_2_3_6_and_7_are_computed_from_the_file(tmp_path: Path) -> None:
    """Discriminative power, ranking consistency and parameters against slow computations on the same numbers."""
    made, sources = write(tmp_path), Sources(tmp_path, slow=False)
    assert list(panels(sources)) == ["D1", "D5", "D25"]
    assert panels(sources)["D1"].metrics["GPT4_T=0_1_5"].max() == 1
    ours = {t: all_studies()[f"gao2025/{t}"](sources).values for t in ("2", "3", "7")}
    assert {len(values) for values in ours.values()} == {36}
    assert all(0 <= v <= 1 for t in ("2", "7") for v in ours[t].values())
    human, *scores = made["SummEval"]
    stronger = [abs(pearsonr(a.ravel(), human.ravel())[0]) for a in scores]
    assert stronger == sorted(stronger, reverse=True)
    halves, rng = [], np.random.default_rng(0)
    for _ in range(400):
        order = rng.permutation(6)
        ranks = [[pearsonr(s[:, h].ravel(), human[:, h].ravel())[0] for s in scores] for h in (order[:3], order[3:])]
        halves.append(kendalltau(*ranks)[0])
    assert ours["3"]["D1", "Global", "Pearson"] == pytest.approx(np.mean(halves), abs=0.06)
    swapped = []
    standard = [(s - s.mean()) / s.std() for s in scores]
    for a, b in combinations(standard, 2):
        seen = abs(pearsonr(a.ravel(), human.ravel())[0] - pearsonr(b.ravel(), human.ravel())[0])
        count = 0
        for _ in range(400):
            rows, columns = rng.random(4) < 0.5, rng.random(6) < 0.5
            mask = rows[:, None] ^ columns[None]
            x, y = np.where(mask, b, a), np.where(mask, a, b)
            count += abs(pearsonr(x.ravel(), human.ravel())[0] - pearsonr(y.ravel(), human.ravel())[0]) >= seen
        swapped.append((count + 1) / 401)
    assert ours["2"]["D1", "Global", "Pearson"] == pytest.approx(np.mean(swapped), abs=0.08)
    table = {(r["metric"], r["parameter"]): r for r in compare(all_studies()["gao2025/6"], sources).rows}
    assert table["BLEU", "mean"]["verdict"] in JUDGED
    assert table["BLEU", "mean"]["ours"] == pytest.approx(np.mean([made[d][2].mean() for d, *_ in SETS]), abs=1e-9)


def test_fewer_replies_give_wider_intervals(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    replies = rng.random((10, 3, 4))
    assert drawn(replies, 3, 7, 0).shape == (7, 3, 4)
    assert drawn(np.ones((10, 2, 2)), 3, 2, 0).tolist() == np.ones((2, 2, 2)).tolist()
    path = tmp_path / "gao2025" / "data_all_rescaled.json"
    path.parent.mkdir()
    quality = rng.random((5, 12))
    path.write_text(
        str(
            [
                {
                    "dataset": "SummEval", "ori_dataset": "CNN/DM", "aspect": "coherence", "sys_id": f"s{i}",
                    "new_seg_id": j, "human_score": float(quality[i, j]),
                    "metric_scores": {"GPT4_T=1_1_5_all": (quality[i, j] + rng.normal(0, 0.5, 10)).tolist()},
                }
                for i in range(5)
                for j in range(12)
            ]
        ).replace("'", '"')
    )  # fmt: skip
    (table,) = granularity(Sources(tmp_path), draws=40)
    rows = {r["replies"]: r for r in table.rows if r["measure"] == "global/pearson"}
    assert rows[10]["value"] > rows[1]["value"]
    assert rows[10]["high"] - rows[10]["low"] < rows[1]["high"] - rows[1]["low"]


TEXTS = Batch.from_columns(["the cat sat on a mat", "a dog ran"], ["the cat sat", "the dog ran near the park"])


def test_without_weights_a_cell_says_which_model_it_needs() -> None:
    found = paper_scores(Sources(), "Ours (E) (RoBERTa-large)", "consistency", TEXTS)
    assert isinstance(found, NeedsWeights)
    assert found == "needs roberta-large: `nlgauge reproduce --weights` searches for it"
    missing = paper_scores(Sources(weights=True), "Ours (D) (CNN/DM)", "consistency", TEXTS)
    assert isinstance(missing, NeedsWeights)
    assert "looked for D-cnndm" in missing
    assert "ctc_score_models" in missing


def test_a_model_in_the_folder_is_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tiny encoder under the name of the paper's model gives the score of the metric on that folder."""
    from tiny_models import build

    from nlgauge.metrics import metric_from_spec

    build("masked", tmp_path / BERT)
    monkeypatch.setenv("NLGAUGE_STORE", str(tmp_path / "store.sqlite"))
    monkeypatch.setitem(ROWS, "tiny", type(ROWS["BERTScore"])("align-expr(expr='FORMULA', encoder='{0}')", (BERT,)))
    found = paper_scores(Sources(models=tmp_path), "tiny", "consistency", TEXTS)
    expected = metric_from_spec(f"align-expr(expr='mean(y>x)', encoder='{tmp_path / BERT}')").score(TEXTS).values
    assert not isinstance(found, str)
    assert found == pytest.approx(expected)
