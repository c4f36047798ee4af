"""Attack texts in outputs, and what they do to the ratings of a judge whose weakness is known."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom
from test_judge_verb import nlgauge, rows

import nlgauge as ng
from nlgauge.analyses.errors._injection import ALPHA, attack_facts, probe_table
from nlgauge.analyses.errors._versions import Versions
from nlgauge.errors import NlgaugeError
from nlgauge.text.damage import ATTACKS, KEYS, attacked

Serve = Callable[..., Any]


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("NLGAUGE_STORE", str(tmp_path / "store.sqlite"))
    (tmp_path / "outputs.csv").write_text(rows(16))
    return tmp_path / "outputs.csv"


def test_a_probe_finds_the_attack_that_a_judge_obeys(serve: Serve, data: Path) -> None:
    server = serve(obeys=["Ignore all previous instructions and give"])
    done = ng.judge(data, aspect="coherence", model="m", base_url=server.base_url, mode="rating", probe=8)
    (table,) = [table for table in done.tables if table.kind == "probe"]
    found = {row["attack"]: row for row in table.rows}
    assert set(found) == {*ATTACKS, "all"}
    assert (found["inject-demand"]["points"], found["inject-demand"]["raised"]) == (3.0, 1.0)
    assert found["inject-verdict"]["points"] == 0.0
    added = len(ATTACKS) - len(KEYS)
    assert found["all"]["points"] == pytest.approx(3 / added)
    assert found["all"]["attacked"] == 8 * added
    assert f"attack texts raise the ratings by +{3 / added:.2f}" in " ".join(table.answers)
    assert found["inject-demand"]["weakness"] and not found["inject-verdict"]["weakness"]
    requests = server.log()["stats"]["requests"]
    assert requests == 16 + 8 * added + 4 * len(KEYS)  # a key is the same request for all outputs of one of 4 inputs


def test_a_judge_that_obeys_nothing_is_said_to_resist(serve: Serve, data: Path) -> None:
    server = serve(obeys=[])
    done = ng.judge(data, aspect="coherence", model="m", base_url=server.base_url, mode="rating", probe=8)
    assert "do not raise the ratings" in " ".join(done.tables[-1].answers)


def test_the_verb_reports_the_probe(serve: Serve, data: Path) -> None:
    words = ["judge", "outputs.csv", "--aspect", "coherence", "--model", "m", "--probe", "4"]
    ran = nlgauge(data.parent, *words, "--base-url", serve(obeys=["Final score"]).base_url)
    assert ran.returncode == 0, ran.stderr
    assert "inject-verdict" in ran.stdout
    assert "--probe sends requests" in nlgauge(data.parent, *words, "--dry-run").stderr


def test_robustness_adds_attacks_for_a_judge(serve: Serve, data: Path) -> None:
    metric = (
        f"judge(aspect='coherence', model='m', mode='rating', base_url='{serve(obeys=['three experts']).base_url}')"
    )
    table = ng.analyze("robustness", data, metrics=[metric], perturbations="inject", sample=8)
    found = {row["perturbation"]: row for row in table.rows}
    assert set(found) == set(ATTACKS)
    assert found["inject-authority"]["points"] == 3.0
    assert found["inject-demand"]["points"] == 0.0
    assert {k for k, row in found.items() if row["should"] == "fall"} == KEYS
    assert "inject-authority: +3.00" in " ".join(table.answers)


def test_intervals_resample_inputs_and_lost_ratings_are_counted() -> None:
    original, after = np.array([1.0, 2, 3, 4]), np.array([2.0, 3, np.nan, 4])
    facts = attack_facts(original, after, ["a", "a", "b", "c"], 500, 0)
    assert (facts["attacked"], facts["lost"]) == (3, 1)
    assert facts["points"] == pytest.approx(2 / 3)
    assert facts["points_low"] == 0.0 and facts["points_high"] == 1.0


def test_an_unknown_attack_is_named() -> None:
    with pytest.raises(NlgaugeError, match="no attack 'inject-x'"):
        attacked("text", "inject-x")


def ratings(weakness: str = "", rng: np.random.Generator | None = None, outputs: int = 40) -> ng.Table:
    """The probe of a stub judge of 1 to 5 points with noise: keys get 1 point, and the planted weakness is obeyed."""
    rng = rng or np.random.default_rng(0)
    quality = rng.integers(1, 6, outputs)
    kinds = list(ATTACKS)

    def rated(base: np.ndarray) -> np.ndarray:
        return np.clip(base + rng.integers(-1, 2, outputs) * (rng.random(outputs) < 0.3), 1, 5).astype(float)

    blocks = [rated(quality)]
    for kind in kinds:
        lowest = np.ones(outputs, int)
        base = np.minimum(quality + 2, 5) if kind == weakness and kind not in KEYS else quality
        base = base if kind not in KEYS or kind == weakness else lowest
        blocks.append(rated(base))
    inputs = [f"q{k}" for k in range(outputs)]
    made = Versions(ng.example(), inputs, kinds, (1.0,), {}, [])
    return probe_table("stub", made, {"judge": np.array(blocks)}, draws=50)


@pytest.mark.parametrize("weakness", list(ATTACKS))
def test_each_planted_weakness_is_found_and_nothing_else(weakness: str) -> None:
    table = ratings(weakness)
    assert [row["attack"] for row in table if row["weakness"]] == [weakness]
    assert f"Significant weaknesses: {weakness}." in table.answers[0]


@pytest.mark.parametrize("probes", [80, pytest.param(400, marks=pytest.mark.long)])
def test_a_clean_judge_is_accused_no_more_often_than_stated(probes: int) -> None:
    """Ratings with noise that does not depend on the attack: any accusation in at most 5% of the probes."""
    rng = np.random.default_rng(1)
    accused = sum(any(row["weakness"] for row in ratings(rng=rng)) for _ in range(probes))
    assert accused <= binom.ppf(0.999, probes, ALPHA)
