"""What wrote langfuse_v2.json and langfuse_v3.json: Langfuse's SDK, serialising scores as its client for the API hands
them over.
"""

import datetime as dt
from pathlib import Path

from langfuse.api.commons.types import score as s
from langfuse.api.scores import types as v3

now = dt.datetime(2026, 11, 1, 12, tzinfo=dt.UTC)
seen = {"timestamp": now, "created_at": now, "updated_at": now, "environment": "production"}
v2 = []
for i, (judge, good, who) in enumerate([(0.9, 1, "ann"), (0.7, 1, "bob"), (0.2, 0, "ann")], 1):
    of = {"trace_id": f"t{i}", **seen}
    v2.append(
        s.Score_Numeric(id=f"j{i}", name="helpfulness", source="EVAL", value=judge, comment="by the evaluator", **of)
    )
    v2.append(s.Score_Numeric(id=f"a{i}", name="length", source="API", value=10.0 * i, **of))
    v2.append(
        s.Score_Boolean(
            id=f"b{i}",
            name="correct",
            source="ANNOTATION",
            value=float(good),
            string_value=str(bool(good)),
            author_user_id=who,
            queue_id="q",
            **of,
        )
    )
    v2.append(
        s.Score_Categorical(
            id=f"c{i}",
            name="tone",
            source="ANNOTATION",
            value=float(good),
            string_value=["rude", "polite"][good],
            author_user_id=who,
            **of,
        )
    )
Path("langfuse_v2.json").write_text("[" + ",\n".join(x.json() for x in v2) + "]\n")
rows = []
for i, (judge, good, who) in enumerate([(0.9, True, "ann"), (0.7, True, "bob"), (0.2, False, "ann")], 1):
    of = {"project_id": "p", "subject": v3.ScoreSubjectV3_Trace(id=f"t{i}"), **seen}
    rows.append(v3.ScoreV3_Numeric(id=f"j{i}", name="helpfulness", source="EVAL", value=judge, **of))
    rows.append(
        v3.ScoreV3_Boolean(id=f"b{i}", name="correct", source="ANNOTATION", value=good, author_user_id=who, **of)
    )
    rows.append(
        v3.ScoreV3_Categorical(
            id=f"c{i}", name="tone", source="ANNOTATION", value="polite" if good else "rude", author_user_id=who, **of
        )
    )
page = v3.GetScoresV3Response(data=rows, meta=v3.GetScoresV3Meta(limit=50))
Path("langfuse_v3.json").write_text(page.json() + "\n")
