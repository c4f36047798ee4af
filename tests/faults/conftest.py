"""The judge server of tests/judges, for its fixture `serve`."""

from __future__ import annotations

import importlib.util
from pathlib import Path

_path = Path(__file__).resolve().parent.parent / "judges" / "conftest.py"
_spec = importlib.util.spec_from_file_location("judges_conftest", _path)
assert _spec is not None and _spec.loader is not None
_module = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_module)
serve = _module.serve
