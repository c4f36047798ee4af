"""Sets that the five papers use, that others publish and no loader here reads yet: what they are, and where they are."""

from __future__ import annotations

from nlgauge.papers.catalogue import Entry, Origin

ENTRIES = (
    Entry(
        name="unieval-summ",
        title="UniEval's SummEval scores (UniEval-summ)",
        task="summarisation",
        aspects=dict.fromkeys(("coherence", "consistency", "fluency", "relevance", "overall"), "1–5, mean"),
        raters="means of 3 experts",
        licence="MIT",
        cite="zhong-etal-2022-towards",
        reference="Zhong, Liu, Yin, Mao, Jiao, Liu, Zhu, Ji, Han (2022). Towards a Unified "
        "Multi-Dimensional Evaluator for Text Generation. EMNLP.",
        origins=(Origin("maszhongming/UniEval", "d33e7b6", "reproduce/"),),
        papers=("nimah2023",),
        shape="16 systems × 100 articles",
        missing="UniEval's scores for SummEval are not redistributed here; their program makes them from its "
        "public weights. Outputs and ratings are those of 'summeval'.",
    ),
    Entry(
        name="summeval-17",
        title="SummEval with 17 systems, one row a rater (summEval of nimah2023)",
        task="summarisation",
        aspects=dict.fromkeys(("coherence", "consistency", "fluency", "relevance"), "1–5"),
        raters="3 experts and 5 crowd workers",
        licence="MIT",
        cite="fabbri-etal-2021-summeval",
        reference="Fabbri et al. (2021). SummEval: Re-evaluating Summarization Evaluation. TACL 9.",
        origins=(Origin("Yale-LILY/SummEval", "unknown", "model_annotations.aligned.jsonl"),),
        papers=("nimah2023",),
        shape="17 systems × 100 articles × 3 experts; 5,100 rows",
        missing="Not redistributed here: Yale-LILY/SummEval links to model_annotations.aligned.jsonl, which has the "
        "single ratings of M0, M1, M2, M5, too; the reader 'summeval' reads it. 'summeval' has 16 systems.",
    ),
    Entry(
        name="mans-wp",
        title="OpenMEVA, MANS-WP",
        task="story generation",
        aspects={"overall": "1–5, mean"},
        raters="mean of 5 crowd raters",
        licence="none stated",
        cite="guan-etal-2021-openmeva",
        reference="Guan et al. (2021). OpenMEVA: A Benchmark for Evaluating Open-ended Story Generation "
        "Metrics. ACL.",
        origins=(Origin("thu-coai/OpenMEVA", "unknown"),),
        papers=("gao2025",),
        shape="5 systems × 200 prompts",
        missing="Not redistributed here: thu-coai/OpenMEVA links to it (benchmark/data/download.sh). The other "
        "half, MANS-ROC, is 'openmeva'.",
    ),
    Entry(
        name="tac-texts",
        title="TAC 2008–2011 summaries and documents",
        task="summarisation",
        aspects={"pyr": "0–1", "resp": "1–5"},
        raters="NIST assessors",
        licence="by agreement with NIST",
        cite="dang-owczarzak-2008-overview",
        reference="Dang, Owczarzak (2008). Overview of the TAC 2008 Update Summarization Task. TAC.",
        origins=(Origin("AIPHES/emnlp19-moverscore", "unknown"),),
        papers=("colombo2023",),
        shape="not known here",
        missing="Not redistributed here: the texts are under an agreement with NIST. Their scores are 'tac08', "
        "'tac09' and 'tac11'.",
    ),
    Entry(
        name="bagel-individual",
        title="Individual ratings behind BAGEL, SFHOTEL and SFREST",
        task="data-to-text",
        aspects=dict.fromkeys(("informativeness", "naturalness", "quality"), "1–6"),
        raters="3 crowd raters an output",
        licence="MIT",
        cite="novikova-etal-2017-need",
        reference="Novikova, Dušek, Cercas Curry, Rieser (2017). Why We Need New Evaluation Metrics for "
        "NLG. EMNLP.",
        origins=(Origin("jeknov/EMNLP_17_submission", "ed7b667", "emnlp_data_individual_hum_scores.csv"),),
        papers=("novikova2017",),
        shape="2,460 outputs, 3 raters",
        missing="Not redistributed here: the authors' repository names emnlp_data_individual_hum_scores.csv; the "
        "copies that were looked at lack it. The medians are 'bagel-sf', and 'rankme-likert-1' has individual "
        "ratings of a kindred set.",
    ),
    Entry(
        name="wmt23-he-en",
        title="WMT23 metrics task, Hebrew–English",
        task="machine translation",
        aspects={"mqm": "≤ 0, minus the weighted errors"},
        raters="experts",
        licence="GPL-3.0 (ErrorSpanAnnotation)",
        cite="freitag-etal-2023-results",
        reference="Freitag et al. (2023). Results of WMT23 Metrics Shared Task. WMT.",
        origins=(Origin("wmt-conference/ErrorSpanAnnotation", "e7f88b5", "data/mt-metrics-eval-v2/wmt23/"),),
        shape="10,660 rated outputs",
        missing="Not redistributed here, and none of the five papers uses it; the origin has it in "
        "mt-metrics-eval's layout.",
    ),
)
