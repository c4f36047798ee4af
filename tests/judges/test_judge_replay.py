"""Real replies of GPT-4 on SummEval, given again by a server on loopback: from prompt to correlation, nothing is lost
on the way.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from nlgauge.datasets import load_set
from nlgauge.metrics import Batch
from nlgauge.metrics.judge.client import Asking
from nlgauge.metrics.judge.judge import Judge
from nlgauge.scoring.judging import add_judged, judged
from nlgauge.scoring.replies import Replies
from nlgauge.scoring.store import Store


@pytest.mark.parametrize(("aspect", "spearman"), [("consistency", 0.557), ("relevance", 0.422)])
def test_replayed_gpt_4_has_the_correlation_of_its_replies(
    serve: Callable[..., Any], real_data: Path, tmp_path: Path, aspect: str, spearman: float
) -> None:
    folder = real_data / "summeval"
    replay = {
        "replies": str(folder / "summeval_llm_judge_responses.jsonl.gz"),
        "outputs": str(folder / "summeval_outputs_human_metrics.jsonl"),
        "evaluator": "gpt-4-0314",
        "method": "rts",
    }
    server = serve(replay=replay, faults={"429": 0.02, "drop": 0.02, "half": 0.02})
    data = load_set("summeval", mirror=real_data)
    judged_systems = data.ratings.filter(pl.col("rater").is_not_null())["system"].unique()
    data = data.where(data.samples.filter(pl.col("system").is_in(judged_systems.implode())))
    judge = Judge(aspect=aspect, model="gpt-4-0314", base_url=server.base_url)
    batch = Batch.of(data)
    result = judged(judge, batch, Replies(Store(tmp_path / "s")), Asking(concurrency=32, pause=0.02))
    assert result.failures == 0
    assert len(result.scores.reasons) <= 2
    table = (
        add_judged(data.only_metrics([]), judge, batch, result).panel(aspect).correlate(measures=["global/spearman"])
    )
    assert table.rows[0]["value"] == pytest.approx(spearman, abs=0.005)
