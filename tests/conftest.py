"""What all tests share: where the published data are, and one visible line when they are not."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

REPO = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("NLGAUGE_DATA", REPO.parent / "shared" / "data"))

settings.register_profile("nlgauge", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)
settings.load_profile("nlgauge")


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of published ratings; the test is skipped when it is absent."""
    if not DATA.is_dir():
        pytest.skip(f"published data not found (NLGAUGE_DATA or {DATA.name}/ beside the project)")
    return DATA


@pytest.fixture(scope="session")
def golden(real_data: Path) -> Path:
    """Reference values made with other tools."""
    folder = real_data.parent / "golden"
    if not folder.is_dir():
        pytest.skip("golden reference values not found beside the published data")
    return folder
