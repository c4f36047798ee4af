"""A metric for the tests of engines, named by its file: it notes what it scores, and may end its process while it
does.
"""

import os
import signal
import time
from pathlib import Path

import numpy as np

from nlgauge.metrics import Batch, Metric, Scores, metric


@metric("fragile", family="test", needs=(), bounds=(0.0, 1e9), year=2026, cite="none")
class Fragile(Metric):
    """Letters of the output. The first process that meets the word KILL is gone."""

    folder: str = ""
    wait: float = 0.0

    signature = "version:test"  # where it takes its notes is no part of the run

    def score(self, batch: Batch) -> Scores:
        texts = [batch.texts.list()[i] for i in batch.output.tolist()]
        with (Path(self.folder) / "log").open("a") as log:
            log.write(f"{texts[0].split()[0]}\n")
        time.sleep(self.wait)
        killed = Path(self.folder) / "killed"
        if any("KILL" in text for text in texts) and not killed.exists():
            killed.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return Scores(np.array([len(text) / 7 for text in texts]))
