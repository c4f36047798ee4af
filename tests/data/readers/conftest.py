"""What the reader tests share: the samples, a refusal in one line, and the round trip to the tidy format."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import nlgauge as ng
from nlgauge.data.dataset import KEY, Dataset
from nlgauge.data.tidy import write_tidy
from nlgauge.errors import NlgaugeError


@pytest.fixture
def samples() -> Path:
    return Path(__file__).resolve().parent.parent / "samples"


@pytest.fixture
def refused() -> Callable[..., str]:
    """The one line with which a file is refused."""

    def refused(path: Path, **options: Any) -> str:
        with pytest.raises(NlgaugeError) as error:
            ng.load(path, **options)
        message = str(error.value)
        assert "\n" not in message
        return message.replace(f"{path.parent}/", "")

    return refused


@pytest.fixture
def edited(samples: Path, tmp_path: Path) -> Callable[..., Path]:
    """A sample after a change: `edited("x.jsonl", change)`, where `change` gets and returns its records."""

    def edited(name: str, change: Callable[[Any], Any]) -> Path:
        text = (samples / name).read_text(encoding="utf-8")
        path = tmp_path / name
        if name.endswith(".jsonl"):
            rows = change([json.loads(line) for line in text.splitlines()])
            path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        elif name.endswith(".json"):
            path.write_text(json.dumps(change(json.loads(text))), encoding="utf-8")
        else:
            path.write_text(change(text), encoding="utf-8")
        return path

    return edited


@pytest.fixture
def same() -> Callable[[Dataset, Dataset], None]:
    """Two Datasets hold the same; rows of ratings, failures and spans may stand in another order."""

    def same(ours: Dataset, theirs: Dataset) -> None:
        for name in ("name", "persons", "human_systems", "lower", "notes", "rated_by"):
            assert getattr(ours, name) == getattr(theirs, name), name
        for name in ("systems", "inputs", "aspects", "metrics"):
            assert getattr(ours, name) == getattr(theirs, name), name
        assert set(ours.raters) == set(theirs.raters)
        assert_frame_equal(ours.samples, theirs.samples)
        assert_frame_equal(ours.comparisons, theirs.comparisons)
        assert_frame_equal(ours.samples.select(KEY).join(ours.scores, on=KEY, how="left"), theirs.scores)
        for name in ("ratings", "failures", "spans"):
            one, two = getattr(ours, name), getattr(theirs, name)
            assert_frame_equal(one.sort(pl.all()), two.sort(pl.all()))

    return same


@pytest.fixture
def round_trip(tmp_path: Path, same: Callable[[Dataset, Dataset], None]) -> Callable[[Dataset], None]:
    """Writes a Dataset as tidy, plain and gzipped, and checks that nothing was lost."""

    def round_trip(data: Dataset) -> None:
        for name in ("tidy.jsonl", "tidy.jsonl.gz"):
            same(data, ng.load(write_tidy(data, tmp_path / name)))

    return round_trip
