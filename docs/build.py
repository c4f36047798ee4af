"""Build the docs site in site/: run the commands of the pages, build strictly, and make the search work from a folder.

`make docs` calls it. A broken link is an error (`zensical build --strict`). Zensical's offline search loads a small
worker shim from another host; the site gets the copy in docs/shim instead, so that it fetches nothing.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

REPO = Path(__file__).resolve().parent.parent
SITE = REPO / "site"
HOSTED = "https://unpkg.com/iframe-worker/shim"
SHIM = Path("assets/javascripts/iframe-worker.js")


def finish(site: Path) -> None:
    """Put the guide of the package at the root of the site, and the worker shim where its pages look for it."""
    shutil.copytree(REPO / "src" / "nlgauge" / "guide", site, dirs_exist_ok=True)
    shutil.copy(REPO / "docs" / "shim" / "iframe-worker.js", site / SHIM)
    for page in site.rglob("*.html"):
        local = Path(os.path.relpath(site / SHIM, page.parent)).as_posix()
        page.write_text(page.read_text(encoding="utf-8").replace(HOSTED, local), encoding="utf-8")


if __name__ == "__main__":
    sys.path.insert(0, str(REPO / "docs"))
    import execute

    changed = execute.update()
    if changed:
        print("commands printed something else; written anew: " + ", ".join(changed))
    build = [sys.executable, "-m", "zensical", "build", "--strict", "--clean"]
    ended = subprocess.run(build, cwd=REPO, check=False).returncode
    if not ended:
        finish(SITE)
    sys.exit(ended)
