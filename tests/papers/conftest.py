"""The tests of the papers' analyses make their data with the helpers of tests/analyses."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "analyses"))
