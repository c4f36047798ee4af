"""A metric in a user's own file."""

from __future__ import annotations

import importlib
import pkgutil
import subprocess
import sys
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

import nlgauge as ng
from nlgauge import registry
from nlgauge.errors import NlgaugeError
from nlgauge.metrics import Batch, metric_from_spec

MINE = '''
from __future__ import annotations
from dataclasses import dataclass
import numpy as np
from nlgauge.metrics import Batch, Metric, Scores, metric

@metric("letters", family="mine", needs=(), year=2026, cite="")
class Letters(Metric):
    """Number of letters."""
    times: int = 1

    def score(self, batch: Batch) -> Scores:
        return Scores(np.array([len(batch.text(n)) * self.times for n in batch.output], float))
'''


def test_a_metric_in_a_file_may_have_annotations_as_strings(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(MINE, encoding="utf-8")
    metric = metric_from_spec(f"{path}@letters(times=2)", allow_code=True)
    assert metric.score(Batch.from_columns(["abc", "de"])).values.tolist() == [6, 4]


def test_a_file_that_fails_leaves_no_half_module(tmp_path: Path) -> None:
    path = tmp_path / "broken_one.py"
    path.write_text("raise RuntimeError('no')", encoding="utf-8")
    with pytest.raises(NlgaugeError, match="your file cannot be run"):
        metric_from_spec(f"{path}@letters", allow_code=True)
    assert "nlgauge_user_broken_one" not in sys.modules


def test_an_analysis_in_a_file_may_be_named_twice_and_counts_as_it_stands_then(tmp_path: Path) -> None:
    path = tmp_path / "size.py"
    for number in (1, 2):
        path.write_text(
            "from nlgauge import Table\nfrom nlgauge.plugins import Panel, analysis\n"
            '@analysis("size-twice", question="How large?")\n'
            f'def size(panel: Panel) -> Table:\n    return Table("size", [{{"value": {number}}}])\n',
            encoding="utf-8",
        )
        assert ng.analyze(f"{path}@size-twice", ng.example()).rows[0]["value"] == number


def test_the_fault_of_a_metric_of_ones_own_says_the_line(tmp_path: Path) -> None:
    path = tmp_path / "broken_two.py"
    path.write_text(MINE.replace("return Scores", "1 / 0; return Scores"), encoding="utf-8")
    with pytest.raises(NlgaugeError, match=r"division by zero \(broken_two.py, line 13\)"):
        ng.score(["a"], f"{path}@letters")


def in_a_new_process(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("kind", list(registry.FOLDERS))
def test_names_are_all_that_the_modules_of_the_folder_register(kind: str) -> None:
    package = importlib.import_module(registry.FOLDERS[kind])
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        if not any(part.startswith("_") for part in module.name.split(".")):
            importlib.import_module(module.name)
    own = {name for name, thing in registry._found[kind].items() if "nlgauge_user" not in str(thing)}
    assert {*registry.names(kind)} >= own and {*registry._modules(kind)} <= own


def test_names_import_no_module_of_the_folder() -> None:
    code = "import sys; from nlgauge import registry as r; [r.names(k) for k in r.FOLDERS]; print(*sys.modules)"
    assert not [m for m in in_a_new_process(code).split() if m.startswith("nlgauge.") and m.count(".") > 1]


def test_a_look_up_imports_the_one_module_that_has_the_name() -> None:
    code = "import sys; from nlgauge import registry as r; r.get('metric', '{}'); print(*sys.modules)"
    families = ("overlap", "surface", "embedding", "learned", "alignment", "judge")
    for name, module in (("bleu", "overlap.bleu"), ("js-source", None), ("ppw", "surface.counts")):
        loaded = in_a_new_process(code.format(name)).split()
        metrics = {m for m in loaded if m.startswith(tuple(f"nlgauge.metrics.{f}." for f in families))}
        registering = metrics & {module for module, _ in registry._modules("metric").values()}
        assert registering == {f"nlgauge.metrics.{module}" if module else registry._modules("metric")[name][0]}


def test_to_recognize_a_table_imports_no_reader_of_json_files(tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text("system,input,quality\nA,1,2\n")
    code = f"import sys; from nlgauge.data.load import load; load({str(tmp_path / 'table.csv')!r}); print(*sys.modules)"
    loaded = in_a_new_process(code).split()
    assert not {"nlgauge.data.readers.tidy", "nlgauge.data.readers.tracing.mlflow"} & {*loaded}
    assert "nlgauge.data.readers.mqm" in loaded  # which may know a text


def test_a_plugin_is_known_by_name_and_loaded_when_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = EntryPoint("of-a-plugin", "no_such_package_of_mine:Thing", "nlgauge.metrics")
    monkeypatch.setattr(registry, "_plugins", lambda kind: {entry.name: entry} if kind == "metric" else {})
    assert entry.name in registry.names("metric") and entry.name not in registry.names("reader")
    with pytest.raises(NlgaugeError, match=r"plugin 'of-a-plugin' .* cannot be loaded .* mend it"):
        registry.get("metric", entry.name)
