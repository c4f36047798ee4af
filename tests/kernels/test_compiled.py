"""Compiled and uncompiled kernels give the same numbers, on every CPU; and one line says when they are not compiled."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from nlgauge import kernels
from nlgauge.kernels import shared
from nlgauge.stats.correlation.panel_kernels import group_stats

FOLDER = Path(kernels.__file__).parent

# Small, because the uncompiled kernels take their time; hex, because bits are compared.
NUMBERS = """
import json, tempfile, numpy as np
from nlgauge.metrics import Batch, metric_from_spec
from nlgauge.stats.agreement.alpha import alpha
from nlgauge.stats.resampling.bootstrap import bootstrap
from nlgauge.stats.correlation.tie_calibration import calibrate
from nlgauge.stats.correlation.panel_kernels import group_stats
from nlgauge.stats.tests.permutation import permutation_test

rng = np.random.default_rng(3)
z = np.round(rng.normal(size=(4, 30)), 1)
x = z + rng.normal(size=(2, 4, 30))
x[1] = np.round(x[1])
x[0, 1, 3] = np.nan
said = {}
big = rng.normal(size=(2, 1, 1, 300))
for name, found in {
    "groups": group_stats(x, z[None]), "one group": group_stats(big[0], np.round(big[1], 1)), "ties": calibrate(x, z[None]).epsilon,
    "test": permutation_test(x[0], x[1], z, ["input/kendall", "global/spearman", "system/pearson"], draws=127).samples,
    "bootstrap": bootstrap(x, z, ["item/pearson", "system/kendall"], draws=100).samples,
    "alpha": [v for level in ("ordinal", "interval") for v in (lambda a: (a.value, a.low, a.high))(
        alpha(np.round(x[:, 0]), level, rng=np.random.default_rng(1), draws=20))],
}.items():
    said[name] = [float(v).hex() for part in (found if isinstance(found, tuple) else [found]) for v in np.ravel(part)]
outputs = ["The cat sat on the mat, at 3.5 o'clock.", "A dog ran off; ran far away - today!", "", "naïve café 北京 of of of the"]
references = [["On the mat the cat sat at 3.5 o'clock."], ["A dog ran far away today.", "The dog ran off."], ["x"], ["the naïve café of 北京"]]
batch = Batch.from_columns(outputs, references=references, source=[r[0] for r in references])
table = tempfile.NamedTemporaryFile()
table.write(b"0.1\\non the mat\\nthe mat\\n0.2\\nfar away\\nran off\\n0.2\\nof\\nthe\\n")
table.flush()
for spec in ("bleu", "chrf", "ter", "nist", "cider-d", "lepor", "rouge-l", "rouge-lsum", "rouge-w", "rouge-s", "sari", "coverage",
             "meteor(synonyms=False)", "meteor(preset='nltk', synonyms=False)", f"meteor(synonyms=False, paraphrases={table.name!r})"):
    said[spec.replace(table.name, "")] = [float(v).hex() for v in metric_from_spec(spec).score(batch).values]
print(json.dumps(said))
"""


def numbers(how: str) -> dict[str, list[str]]:
    environment = os.environ | {"NLGAUGE_KERNELS": how}
    ran = subprocess.run([sys.executable, "-c", NUMBERS], env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    found: dict[str, list[str]] = json.loads(ran.stdout.split("\n")[-2])
    return found


@pytest.mark.skipif(not kernels.found(), reason="nothing is compiled here")
@pytest.mark.parametrize("how", ["plain", "base"])
def test_every_build_gives_the_same_numbers_to_the_bit(how: str) -> None:
    assert numbers(how) == numbers("")


def test_one_line_and_doctor_say_that_kernels_are_not_compiled(tmp_path: Path) -> None:
    environment = os.environ | {"NLGAUGE_KERNELS": str(tmp_path)}  # an empty folder
    code = (
        "import numpy as np; from nlgauge.stats.correlation.panel_kernels import group_stats; from nlgauge.kernels "
        "import resample;print(int(group_stats(np.array([[[1.0, 2, 3]]]), np.array([[[1.0, 3, 2]]])).concordant[0, 0]))"
    )
    ran = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert ran.stdout == "2\n"
    assert re.fullmatch(r"nlgauge: the kernels are not compiled: .*nlgauge list environment.*\n", ran.stderr)
    ran = subprocess.run(
        [sys.executable, "-m", "nlgauge", "list", "environment", "--format", "json"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    rows = {row["what"]: row for row in json.loads(ran.stdout)["tables"][0]["rows"]}
    assert rows["compiled kernels"]["state"] == "missing"
    assert "build_ext --inplace" in rows["compiled kernels"]["remark"]


def test_constants_for_the_c_compiler_are_those_of_python() -> None:
    said = (FOLDER / "shared.pxd").read_text()
    for name in ("STRIP", "LANES"):
        assert int(re.search(rf"{name} = (\d+)", said)[1]) == getattr(shared, name)  # type: ignore[index]
    for name in ("ALL", "PRIME"):
        assert int(re.search(rf'{name} "(0x\w+?)ULL"', said)[1], 16) == getattr(shared, name)  # type: ignore[index]
    assert float(re.search(r'CANCELLED "(.*)"', said)[1]) == shared.CANCELLED  # type: ignore[index]
    rows = r"^    ([A-Z_]+) = ([\d <]+?)(?:  #.*)?$"
    declared = re.findall(rows, (FOLDER / "tercom.pxd").read_text(), re.MULTILINE)
    assert len(declared) > 15
    assert declared == re.findall(rows, (FOLDER / "tercom.py").read_text(), re.MULTILINE)


def test_kernels_read_arrays_that_may_not_be_written() -> None:
    x, z = np.array([[[1.0, 2, 3, 4]]]), np.array([[[1.0, 3, 2, 4]]])
    for values in (x, z):
        values.flags.writeable = False
    assert group_stats(x, z).discordant[0, 0] == 1


def test_compiled_kernels_refuse_what_they_were_not_made_for() -> None:
    """An array of another kind is an error, never memory read as something else."""
    from nlgauge.kernels.sequences import alignments

    if not kernels.found():
        pytest.skip("nothing is compiled here")
    one = np.zeros(1, np.int64)
    with pytest.raises(ValueError, match="mismatch"):
        alignments(np.zeros(3, np.int64), one, one, one, one, 1, False)
