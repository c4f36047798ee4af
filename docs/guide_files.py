"""Hook of mkdocs: the guide of the package (llms.txt, SKILL.md, schema) stands at the root of the site."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any


def on_post_build(config: Any) -> None:
    guide = Path(__file__).resolve().parent.parent / "src" / "nlgauge" / "guide"
    shutil.copytree(guide, config["site_dir"], dirs_exist_ok=True)
