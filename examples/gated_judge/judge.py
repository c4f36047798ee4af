"""The judge of our support bot: does an answer give the customer the right information?

Put the call of your language model into `judge`. The rule below stands for it, so that this example runs without a
network: it looks for the fact that the answer should hold and for gifts that nobody promised. Like a model it is
sometimes wrong: a fact in other words, a gift that it does not know.
"""

import csv
import sys
from pathlib import Path

GIFTS = ("free book", "5 euros from us")


def judge(row: dict[str, str]) -> bool:
    """Pass or fail of one answer."""
    answer = row["answer"].lower()
    return row["fact"].lower() in answer and not any(gift in answer for gift in GIFTS)


if __name__ == "__main__":  # python judge.py answers.csv judged.csv
    with Path(sys.argv[1]).open(newline="") as file:
        rows = list(csv.DictReader(file))
    with Path(sys.argv[2]).open("w", newline="") as file:
        out = csv.DictWriter(file, [*rows[0], "judge"])
        out.writeheader()
        out.writerows({**row, "judge": "pass" if judge(row) else "fail"} for row in rows)
