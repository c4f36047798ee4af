"""The figures of the papers, drawn from real data: each picture of docs/figures.md comes from the code printed next to
it.

`NLGAUGE_DATA=… python docs/pictures.py [nimah2023-1 …]` draws them (about two minutes for all); without data nothing is
drawn.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

IMAGES = Path(__file__).parent / "images" / "figures"
PHONE = 400  # pixels


@dataclass(frozen=True)
class Drawn:
    """A figure of a paper: what it shows, the function and the code that draws it, the same from the shell where that
    works.
    """

    name: str
    what: str
    function: str
    code: str
    shell: str = ""
    note: str = ""
    width: int = 900
    height: int | None = None
    phone: str | None = None  # code after `code` that makes it narrow ("": as it is); where a page shows it on a phone
    phone_height: int | None = None

    @property
    def paper(self) -> str:
        return self.name.partition("-")[0]

    @property
    def title(self) -> str:
        return f"Figure {self.name.partition('-')[2]}"

    @property
    def image(self) -> Path:
        return IMAGES / f"{self.name}.svg"

    @property
    def phone_image(self) -> Path:
        return IMAGES / f"{self.name}-phone.svg"


LEVELS, ALIGN, CIRCLES = ("dot_plots.distance_and_order", "alignment.alignment_bars", "circles.correlation_circles")

FIGURES = [
    Drawn(
        "nimah2023-1",
        "correlation with human ratings in and out of domain",
        "curves.transfer_lines",
        """
from nlgauge.datasets import load_set
from nlgauge.analyses.checklist.transfer import transfer
from nlgauge.report.figures.curves import transfer_lines

names = ["checklist-usr-pc", "checklist-usr-tc", "checklist-unieval-tc", "checklist-ctrleval-topic"]
figure = transfer_lines(transfer([load_set(name) for name in names], keep_human=True))
""",
        "nlgauge analyze transfer checklist-usr-pc checklist-usr-tc checklist-unieval-tc checklist-ctrleval-topic "
        "--keep-human -o figure.svg",
        "The command draws the same numbers as dots.",
    ),
    Drawn(
        "nimah2023-2",
        "KS distance and order of the quality levels of an aspect, for summarization",
        LEVELS,
        """
from nlgauge.datasets import load_set
from nlgauge.report.figures.dot_plots import distance_and_order

panel = load_set("summeval").panel(
    "coherence", metrics=["ROUGE_1", "ROUGE_L", "BLEU", "Chrfpp", "S3_pyr", "JS_2", "BERTScore", "MoverScore"]
)
figure = distance_and_order(panel.analyze("discrimination"), panel.analyze("aspect-preference"))
""",
    ),
    Drawn(
        "nimah2023-3",
        "KS distance and order of the quality levels of an aspect, for controlled generation",
        LEVELS,
        """
from nlgauge.datasets import load_set
from nlgauge.report.figures.dot_plots import distance_and_order

panel = load_set("ctrl-topic").panel(
    "fluency", metrics=["perplexity", "bert_f1", "ctc_e_relev", "ctc_d_relev", "relev_met", "fluency_unieval"]
)
figure = distance_and_order(
    panel.analyze("discrimination", bins="paper"), panel.analyze("aspect-preference", bins="paper")
)
""",
        note="The figure shows fluency on CTRL-Topic. The paper also uses UBER-Topic, for which no scores were released.",
    ),
    Drawn(
        "nimah2023-4",
        "KS distance and order of systems, for summarization",
        LEVELS,
        """
from nlgauge import registry
from nlgauge.datasets import load_set
from nlgauge.report.figures.dot_plots import distance_and_order

data = load_set("summeval")
apart, order = (
    registry.get("analysis", name)(data) for name in ("system-discrimination", "system-preference")
)
figure = distance_and_order(apart, order)
""",
    ),
    Drawn(
        "nimah2023-5",
        "KS distance and order of systems, for dialogue",
        LEVELS,
        """
from nlgauge import registry
from nlgauge.datasets import load_set
from nlgauge_papers.nimah2023.systems import listed_pairs
from nlgauge.report.figures.dot_plots import distance_and_order

data = load_set("checklist-usr-pc")
apart, order = (
    registry.get("analysis", name)(data, keep_human=True, per="family", pairs=listed_pairs("16"))
    for name in ("system-discrimination", "system-preference")
)
figure = distance_and_order(apart, order, lines="family")
""",
        note="The figure shows USR-PC and the pairs of Table 16. Lower perplexity counts as better here; in the paper, higher does.",
        phone='figure = distance_and_order(apart, order, lines="family", across=1)',
    ),
    Drawn(
        "nimah2023-6",
        "KS distance and order of systems, for controlled generation",
        LEVELS,
        """
from nlgauge import registry
from nlgauge.datasets import load_set
from nlgauge_papers.nimah2023.systems import listed_pairs
from nlgauge.report.figures.dot_plots import distance_and_order

data = load_set("ctrl-topic")
apart, order = (
    registry.get("analysis", name)(data, per="family", pairs=listed_pairs("10", "CTRL-Topic"))
    for name in ("system-discrimination", "system-preference")
)
figure = distance_and_order(apart, order, lines="family")
""",
        note="The figure shows CTRL-Topic and the pairs of Table 10; no scores were released for UBER-Topic. Lower perplexity "
        "counts as better here; in the paper, higher does.",
    ),
    Drawn(
        "nimah2023-7",
        "human win rates of systems, on relevance and on fluency",
        "heat_maps.win_matrices",
        """
from dataclasses import replace
from nlgauge import registry
from nlgauge.datasets import load_set
from nlgauge.report.figures.heat_maps import win_matrices

data, wins = load_set("uber-topic"), registry.get("analysis", "wins")
voted, rated = wins(data, aspect="relevance"), wins(data, aspect="fluency", source="ratings")
both = replace(voted, rows=[{**row, "side": f"humans: {row['aspect']}"} for row in [*voted, *rated]])
figure = win_matrices(both)
""",
        "nlgauge analyze wins uber-topic --aspect relevance -o figure.svg",
        "The figure shows all 7,314 comparisons of UBER-Topic (the paper's figure has 4,679 of them); = marks the share of ties. "
        "No metric scores were released for this data set.",
        phone="figure = win_matrices(both, across=1)",
    ),
    Drawn(
        "nimah2023-9",
        "KS distance and order of the quality levels of an aspect, for dialogue",
        LEVELS,
        """
from nlgauge.datasets import load_set
from nlgauge.report.figures.dot_plots import distance_and_order

panel = load_set("checklist-usr-tc").panel(
    "Overall",
    keep_human=True,
    metrics=["bleu", "rouge1", "bert_recall_src", "perplexity", "ctc_d_ground", "overall_unieval"],
)
figure = distance_and_order(
    panel.analyze("discrimination", bins="paper"), panel.analyze("aspect-preference", bins="paper")
)
""",
    ),
    Drawn(
        "deng2021-3",
        "consistency: published values as bars, recomputed values as diamonds",
        ALIGN,
        """
from nlgauge.report.figures.alignment import alignment_bars
from nlgauge_papers import Sources, all_studies
from nlgauge_papers.compare import compare

tables = [compare(all_studies()[f"deng2021/{name}"], sources) for name in ("D.1", "D.4")]
figure = alignment_bars(*tables, leave=["CNN/DM"], titles=["SummEval", "QAGS-XSUM"])
""",
        "nlgauge reproduce deng2021 D.1",
        width=1000,
    ),
    Drawn(
        "deng2021-4",
        "relevance, 11 references",
        ALIGN,
        """
from nlgauge.report.figures.alignment import alignment_bars
from nlgauge_papers import all_studies
from nlgauge_papers.compare import compare

figure = alignment_bars(compare(all_studies()["deng2021/D.3"], sources))
""",
        "nlgauge reproduce deng2021 D.3",
    ),
    Drawn(
        "deng2021-5",
        "preservation in style transfer",
        ALIGN,
        """
from nlgauge.report.figures.alignment import alignment_bars, match_of
from nlgauge_papers import all_studies
from nlgauge_papers.compare import compare

figure = alignment_bars(compare(all_studies()["deng2021/E.1"], sources), kind=match_of)
""",
        "nlgauge reproduce deng2021 E.1",
        phone="figure.update_xaxes(tickangle=-90)",
    ),
    Drawn(
        "deng2021-6",
        "engagingness and groundedness in dialogue",
        ALIGN,
        """
from nlgauge.report.figures.alignment import alignment_bars
from nlgauge_papers import all_studies
from nlgauge_papers.compare import compare

tables = [compare(all_studies()[f"deng2021/{name}"], sources) for name in ("F.1", "F.3", "F.2", "F.4")]
figure = alignment_bars(
    *tables,
    titles=[
        "engaging, PersonaChat",
        "engaging, TopicalChat",
        "grounded, PersonaChat",
        "grounded, TopicalChat",
    ],
)
""",
        "nlgauge reproduce deng2021 F.1",
        width=1000,
    ),
    Drawn(
        "gao2025-1",
        "effect of increasing system-level and output-level agreement separately",
        "curves.study_curves",
        """
from nlgauge_papers.gao2025 import simulation
from nlgauge.report.figures.curves import study_curves
from nlgauge.stats.design.simulate import SimulationParams

systems, outputs = simulation.relation(SimulationParams(N=15, M=200), trials=20)
figure = study_curves(systems, outputs)
""",
        "nlgauge data simulate --study relation -o figure.svg",
        "In the top panel, ρ_sys increases; in the bottom panel, μ_ρ increases. This figure uses 20 trials; the paper uses 1,000. "
        "The command writes two files.",
        phone="figure = study_curves(systems, outputs, across=2)",
    ),
    Drawn(
        "gao2025-2",
        "effect of coarser rating scales on the twelve measures",
        "curves.study_curves",
        """
from nlgauge_papers.gao2025 import simulation
from nlgauge.report.figures.curves import study_curves
from nlgauge.stats.design.simulate import SimulationParams

table = simulation.scale(SimulationParams(N=15, M=200), trials=10, redraws=2)
figure = study_curves(table)
""",
        "nlgauge data simulate --study scale -o figure.svg",
        "Human ratings and metric have the same number of distinct values. This figure uses 10 trials × 2 redraws; the paper uses "
        "100 × 100.",
        phone="figure = study_curves(table, across=2)",
    ),
    Drawn(
        "gao2025-7",
        "p-value curves of the twelve measures (Figures 7 to 36)",
        "stability.p_value_curves",
        """
from nlgauge.datasets import load_set
from nlgauge.report.figures.stability import p_value_curves

panel = load_set("summeval").panel("coherence")
figure = p_value_curves(panel.analyze("stability", draws=1000, trials=50))
""",
        "nlgauge analyze stability summeval --aspect coherence -o figure.svg",
        "The command also plots discriminative power against ranking consistency.",
        phone="",
    ),
    Drawn(
        "colombo2023-1",
        "progress over the years, all metrics together",
        "curves.over_years",
        """
from dataclasses import replace
from nlgauge import registry
from nlgauge.datasets import load_set
from nlgauge.report.figures.curves import over_years

progress, rows = registry.get("analysis", "progress"), []
sets = {"tac08": "resp", "tac09": "resp", "tac11": "resp", "flickr": "overall", "summeval-table": "relevance",
        "realsumm-table": "pyr", "usr-persona-table": "overall", "usr-topical-table": "overall"}
for name, aspect in sets.items():
    table = progress(load_set(name), model="xgboost")
    shown = f"{name.removesuffix('-table')}, {aspect}"
    rows += [{**row, "aspect": shown} for row in table if row["aspect"] == aspect]
figure = over_years(replace(table, rows=rows))
""",
        "nlgauge analyze progress tac08 -o figure.svg",
        "The figure shows one aspect per data set; the paper shows all. The predictions use XGBoost with default settings and folds of inputs.",
        phone="",
    ),
    Drawn(
        "colombo2023-2",
        "complementarity of all metrics and human ratings",
        "heat_maps.distance_matrix",
        """
from nlgauge import registry
from nlgauge.datasets import load_set
from nlgauge.report.figures import figure_of

figure = figure_of(
    registry.get("analysis", "complementarity")(
        load_set("usr-persona-table"),
        metrics=["ROUGE_1", "ROUGE_L", "BLEU", "Chrfpp", "S3_resp", "BERTScore", "MoverScore"],
    )
)
""",
        "nlgauge analyze complementarity usr-persona-table --metrics "
        "ROUGE_1,ROUGE_L,BLEU,Chrfpp,S3_resp,BERTScore,MoverScore -o figure.svg",
        phone='figure.update_traces(texttemplate="", showscale=False).update_xaxes(tickangle=-90)',
    ),
    Drawn(
        "colombo2023-3",
        "human ratings predicted from metrics, from other human aspects, and from both",
        "bars.prediction_bars",
        """
from nlgauge import registry
from nlgauge.datasets import load_set
from nlgauge.report.figures import figure_of

figure = figure_of(registry.get("analysis", "predictability")(load_set("summeval-table"), model="xgboost"))
""",
        "nlgauge analyze predictability summeval-table -o figure.svg",
        phone="",
    ),
    Drawn(
        "novikova2017-1",
        "correlations among metrics, and with human ratings (in the border)",
        CIRCLES,
        """
from nlgauge.datasets import load_set
from nlgauge_papers.novikova2017.tables import METRICS
from nlgauge.report.figures.circles import correlation_circles

parts = load_set("bagel-sf").by("dataset", "system")
tgen = next(part for group, part in parts if group == {"dataset": "BAGEL", "system": "TGEN"})
table = tgen.panel("quality", metrics=list(METRICS.values())).analyze("inter-metric")
names = {column: name for name, column in METRICS.items()}  # the paper's
for row in table:
    row |= {end: names.get(row[end], row[end]) for end in ("metric", "other")}
figure = correlation_circles(table)
""",
        "nlgauge analyze inter-metric bagel-sf --by dataset,system -o figure.svg",
        "The figure shows TGEN on BAGEL, as in the paper. The command draws all six combinations of data set and system as colored squares.",
        width=760,
        phone="figure = correlation_circles(table, cell=12).update_xaxes(tickangle=-90)",
    ),
    Drawn(
        "novikova2017-2",
        "Williams' test: crosses mark pairs of metrics that do not differ significantly",
        "circles.not_different",
        """
from nlgauge.datasets import load_set
from nlgauge.report.figures.circles import not_different

panel = load_set("bagel-sf").panel("informativeness", metrics=words)
figure = not_different(
    panel.analyze("compare-pairs", test="williams", measure="global/spearman", correction="none")
)
""",
        "nlgauge analyze compare-pairs bagel-sf --measure global/spearman -o figure.svg --test williams",
        "The command draws the p-values.",
        width=700,
    ),
    Drawn(
        "novikova2017-3",
        "correlations among bad outputs and among all other outputs",
        "circles.bin_circles",
        """
from dataclasses import replace
from nlgauge.report.figures.circles import bin_circles
from nlgauge_papers import all_studies
from nlgauge_papers.compare import compare

table = compare(all_studies()["novikova2017/13"], sources)
table = replace(table, rows=[{**row, "value": row["ours"]} for row in table])
figure = bin_circles(table)
""",
        "nlgauge analyze quality-bins bagel-sf -o figure.svg",
        "Scores are quantized into eleven steps, as in the paper's Table 13; the sign of TER is flipped. The command uses "
        "unquantized scores and draws colored squares.",
        phone="figure = bin_circles(table, width=290)",
    ),
]


def figures_from(drawn: Drawn, sources: Any) -> list[Any]:
    """Run the printed code, then the one for phones; `sources` are the published sets without slow models, `words` the
    paper's word-based metrics.
    """
    from plotly.graph_objects import Figure

    words = ["TER", "Bleu_1", "Bleu_2", "Bleu_3", "Bleu_4", "ROUGE_L", "NIST", "LEPOR", "CIDEr", "METEOR", "sim.mr.sys"]
    names: dict[str, Any] = {"sources": sources, "words": words}
    found = []
    for code in (drawn.code, drawn.phone):
        if code is not None:
            exec(compile(code, drawn.name, "exec"), names)  # our own text above
            found.append(Figure(names["figure"]))
    return found


def slim(path: Path) -> None:
    """Tenths of a pixel are enough; the font and each style stand once, and what is the default is left out."""
    text = path.read_text(encoding="utf-8")
    text = re.sub(r"<[^>]*>", lambda tag: re.sub(r"(\d\.\d)\d+", r"\1", tag[0]), text)  # never in what is read
    text = re.sub(r"rgb\((\d+), (\d+), (\d+)\)", lambda m: "#" + "".join(f"{int(v):02x}" for v in m.groups()), text)
    text = re.sub(r"font-family: [^;]*; ?", "", text)
    text = re.sub(
        r"((fill|stroke)-opacity: 1|(?<![-\w])opacity: 1|font-variant: normal|font-style: normal|font-weight: "
        r"normal|text-shadow: none|vector-effect: none); ?",
        "",
        text,
    )
    text = re.sub(r' (data-(unformatted|math|notex)|class)="[^"]*"', "", text)
    names: dict[str, str] = {}

    def named(found: re.Match[str]) -> str:
        style = found[1].replace(": ", ":").replace("; ", ";").strip(" ;")
        return f' class="{names.setdefault(style, f"s{len(names)}")}"' if style else ""

    text = re.sub(r' style="([^"]*)"', named, text)
    while (less := re.sub(r"<g( class=\"\w+\")?(/>|></g>)", "", text)) != text:
        text = less
    rules = "".join(f".{name}{{{style}}}" for style, name in names.items())
    style = f"<style>text{{font-family:system-ui,-apple-system,'Segoe UI',Roboto,sans-serif}}{rules}</style>"
    path.write_text(re.sub(r"(<svg[^>]*>)", lambda m: m[1] + style, text, count=1), encoding="utf-8")


def main(asked: list[str]) -> None:
    from nlgauge.report.save import Picture, save_all
    from nlgauge_papers import Sources

    sources = Sources(slow=False)
    wanted = [d for d in FIGURES if not asked or d.name in asked]
    pictures = []
    for drawn in wanted:
        print(drawn.name, drawn.what, flush=True)
        wide, *narrow = figures_from(drawn, sources)
        pictures.append(Picture(wide, drawn.image, drawn.width, drawn.height))
        pictures += [Picture(made, drawn.phone_image, PHONE, drawn.phone_height) for made in narrow]
    for path in save_all(pictures):
        slim(path)
        print(f"{path.name} {path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main(sys.argv[1:])
