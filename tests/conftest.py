"""What all tests share: where the published data are, and one visible line when they are not."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from nlgauge import registry

REPO = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("NLGAUGE_DATA", REPO.parent / "shared" / "data"))

settings.register_profile("nlgauge", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)
settings.register_profile("quick", settings.get_profile("nlgauge"), max_examples=60)
settings.load_profile("nlgauge")


# Files whose tests share results that are computed once for each process, so one process gets both.
TOGETHER = {
    "tests/test_terminal.py": "tests/test_api.py",
    "tests/analyses/test_canonical_columns.py": "tests/analyses/test_metamorphic.py",
    "tests/test_options.py": "tests/test_architecture.py",
    "tests/test_security.py": "tests/test_architecture.py",
}


def pytest_configure(config: pytest.Config) -> None:
    """Try 100 examples where tests marked long run, too, and 60 elsewhere."""
    if "not long" in (config.option.markexpr or ""):
        settings.load_profile("quick")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    from xdist.scheduler import LoadFileScheduling

    class TogetherScheduling(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = str(super()._split_scope(nodeid))
            return TOGETHER.get(file, file)

    return TogetherScheduling(config, log) if config.getvalue("dist") == "loadfile" else None


@pytest.fixture(scope="module", autouse=True)
def _own_things_end_with_the_module() -> Iterator[None]:
    """What a test registers from a file of its own is not there for the tests of another file."""
    before = {kind: set(things) for kind, things in registry._found.items()}
    yield
    for kind, things in registry._found.items():
        for name in {*things} - before[kind] - {*registry._modules(kind), *registry._plugins(kind)}:
            del things[name]


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
