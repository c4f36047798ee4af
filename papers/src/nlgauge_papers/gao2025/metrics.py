"""Gao et al. (2025), Table 6: parameters of the metrics, means over D1 to D30.

From the authors' scores where they are present; otherwise five metrics are computed from the available texts.
"""

from __future__ import annotations

from dataclasses import replace
from statistics import fmean

from nlgauge import Dataset, analyze
from nlgauge.metrics import Batch, metric_from_spec
from nlgauge.plugins import NeedsMissing, NotHere
from nlgauge_papers import Key, NeedsDownload, Ours, Sources, study, why_absent
from nlgauge_papers.common import Array
from nlgauge_papers.gao2025.measures import SETS, numbered
from nlgauge_papers.gao2025.released_scores import SET as SCORES
from nlgauge_papers.gao2025.released_scores import parameters_of

# As the paper's appendix A.1: BLEU and chrF of TorchMetrics, ROUGE of Hugging Face's evaluate; all on 0 to 1.
SPECS = {
    "BLEU": ("bleu(preset='torchmetrics')", 100.0),
    "CHRf": ("chrf++(preset='torchmetrics')", 100.0),
    "ROUGE-1": ("rouge-1", 1.0),
    "ROUGE-2": ("rouge-2", 1.0),
    "ROUGE-L": ("rouge-l", 1.0),
}
# As the paper prints them -> our columns.
PARAMETERS = {
    "mean": "mean", "σ": "sigma", "ρ_sys": "rho_sys", "μ_ρ": "mu_rho", "σ_ρ": "sigma_rho", "input r": "input_pearson",
    "global r": "global_pearson", "unique": "unique", "tie ratio": "tie_ratio",
}  # fmt: skip


@study("gao2025", "6", title="Parameters of the metrics, means over D1 to D30", sets=[SCORES, *SETS], tolerance=0.01)
def table_6(sources: Sources) -> Ours:
    """Compute the parameters of all metrics from the authors' scores, or of five metrics from the texts."""
    try:
        return Ours(parameters_of(sources, PARAMETERS))
    except NotHere as error:
        return from_texts(sources, why_absent(error))


def from_texts(sources: Sources, missing: str) -> Ours:
    """Compute the parameters of five metrics on the sets that have texts, means over the sets."""
    reasons: dict[Key, str] = {(): missing}
    gathered: dict[Key, list[float]] = {}
    scored: dict[str, Dataset] = {}
    used, absent = [], []
    for number, part, aspect in numbered():
        try:
            data = sources(part.name, **part.options)
        except NeedsMissing:
            absent.append(number)
            continue
        if "references" not in data.samples.columns:
            absent.append(number)
            continue
        if part.name not in scored:
            scored[part.name] = data.with_scores({name: s.tolist() for name, s in _scores(data).items()})
        part_panel = scored[part.name].panel(
            part.aspects.get(aspect, aspect), metrics=list(SPECS), keep_human=part.people
        )
        panel = replace(part_panel, metrics={n: part_panel.metrics[n] / scale for n, (_, scale) in SPECS.items()})
        for row in analyze("parameters", panel, human_scale=part.scale).rows[1:]:
            for name, column in PARAMETERS.items():
                if row[column] is not None:
                    gathered.setdefault((row["variable"], name), []).append(float(row[column]))
        used.append(number)
    values: dict[Key, float] = {key: fmean(result) for key, result in gathered.items()}
    text = f"mean over {len(used)} of the 30 sets; {', '.join(absent)} have no texts or references here"
    reasons |= {(name,): text if used else NeedsDownload("none of the 30 sets is here") for name in SPECS}
    return Ours(
        values,
        reasons,
        other=dict.fromkeys(values, "fewer sets"),
        notes=["not judged: the mean is over fewer sets. Settings as in the paper's appendix A.1; all references."]
        if values
        else [],
    )


def _scores(data: Dataset) -> dict[str, Array]:
    batch = Batch.of(data)
    return {name: metric_from_spec(spec).score(batch).values for name, (spec, _) in SPECS.items()}
