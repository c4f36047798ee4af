"""Does a metric notice damage, and only damage? Texts are changed in known ways and scored; no ratings needed.

[bold]Examples[/bold]

  nlgauge robustness outputs.csv

  nlgauge robustness outputs.csv --metrics bleu,chrf,bertscore --sample 50 -o robustness.html

  nlgauge robustness outputs.csv --metrics ctc --aspect consistency --perturbation negate,entity,number,synonym
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

from nlgauge.cli import _options as o
from nlgauge.cli._data import with_data
from nlgauge.session import Selection


@with_data
def command(
    pick: Selection,
    metrics: Annotated[list[str] | None, o.choice("--metrics", "-m", "Metrics to run, as in "
        "bleu,rouge-l(stem=True); a handful of quick ones by default.")] = None,
    aspect: Annotated[list[str] | None, o.choice("--aspect", "What the metrics are meant to measure: overall "
        "(default), fluency, coherence, consistency or relevance.")] = None,
    perturbation: Annotated[list[str] | None, o.choice("--perturbation", "Changes to make, as in "
        "drop,negate,synonym; all by default.")] = None,
    amount: Annotated[list[str] | None, o.choice("--amount", "Shares of a text to change; 0.1,0.3,0.6 by "
        "default.")] = None,
    sample: Annotated[int, o.choice("--sample", "Outputs to use at most.")] = 200,
    threshold: Annotated[float, o.choice("--threshold", "A fall counts as noticed beyond this share of the "
                                                        "metric's SD.")] = 0.0,
    margin: Annotated[float, o.choice("--margin", "A fall is a false alarm beyond this share of the SD.")] = 0.1,
    show: Annotated[str, o.output("--show", "In the table: falls, change (in SDs) or monotone.")] = "falls",
    format: o.Format = "table",
    out: Annotated[Path | None, o.output("-o", "--out", "File to write; its suffix is the format (.html: with "
                                                        "the picture).")] = None,
) -> None:  # fmt: skip
    from nlgauge.errors import NlgaugeError, PartlyDone

    try:
        amounts = [float(a) for a in o.listed(amount) or ("0.1", "0.3", "0.6")]
    except ValueError:
        raise NlgaugeError(f"--amount {','.join(amount or [])}: use numbers above 0 and up to 1.") from None
    tables = pick.each(
        "robustness", perturbations=o.listed(perturbation), amounts=amounts, sample=sample, threshold=threshold,
        margin=margin, show=show,
    )  # fmt: skip
    if out is None or out.suffix.lower() not in (".html", ".htm"):
        o.show(tables, format, out)
    else:
        from nlgauge.report.page import write_report

        written = write_report(out, pick.data.name, pick.card, tables, sys.argv[1:])
        o.show(tables, format)
        o.tell([f"report: {written}"])
    rows = [row for table in tables for row in table.rows]
    scored = {row["metric"] for row in rows if row["pairs"]}
    if lost := dict.fromkeys(row["metric"] for row in rows if row["metric"] not in scored):
        raise PartlyDone(f"partly done: nothing could be compared for {', '.join(lost)}; the table says why.")
