"""A person's thumbs, through the API that promptfoo's own web page calls."""

import json
import urllib.request
from pathlib import Path

d = json.loads(Path("out.json").read_text())
up = {("model-a", 0): True, ("model-a", 1): True, ("model-b", 0): False, ("model-a", 2): False}
for r in d["results"]["results"]:
    key = (r["provider"]["label"], r["testIdx"])
    if key in up:
        g = r["gradingResult"]
        v = up[key]
        g["componentResults"].append(
            {
                "pass": v,
                "score": int(v),
                "reason": "Manual result (overrides all other grading results)",
                "assertion": {"type": "human"},
            }
        )
        g |= {"pass": v, "score": int(v), "reason": "Manual result (overrides all other grading results)"}
        q = urllib.request.Request(
            f"http://127.0.0.1:15333/api/eval/{d['evalId']}/results/{r['id']}/rating",
            json.dumps(g).encode(),
            {"content-type": "application/json"},
        )
        print(urllib.request.urlopen(q).status)
print(d["evalId"])
