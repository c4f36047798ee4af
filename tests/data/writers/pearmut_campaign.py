"""What wrote pearmut.jsonl: a Pearmut server on loopback, to which two annotators' answers are sent as its page sends them.

pip install pearmut==1.1.6
python pearmut_campaign.py campaign.json
PEARMUT_TOKEN_MAIN=t pearmut add campaign.json && PEARMUT_TOKEN_MAIN=t pearmut run --port 18001 &
python pearmut_campaign.py http://127.0.0.1:18001     (the log is data/annotations/stations.jsonl)
"""

import json
import sys
from pathlib import Path

import httpx
from stations import outputs

target = sys.argv[1]
if not target.startswith("http"):
    documents = {}
    for o in outputs():
        item = documents.setdefault(
            o["id"], {"item_id": o["id"], "src": o["question"], "ref": o["expected"], "tgt": {}}
        )
        item["tgt"][o["system"]] = o["answer"]
    data = [[item] for item in documents.values()]
    info = {"assignment": "task-based", "protocol": "ESA", "users": ["ann", "bob"], "shuffle": False}
    Path(target).write_text(json.dumps({"campaign_id": "stations", "info": info, "data": [data, data]}) + "\n")
    sys.exit()

by = {}
for o in outputs():
    by.setdefault(o["id"], {})[o["system"]] = o
for user in ("ann", "bob"):
    while True:
        item = httpx.post(f"{target}/get-next-item", json={"campaign_id": "stations", "user_id": user}).json()
        if item["status"] != "ok":
            break
        answers = []
        for segment in item["payload"]:
            said = {}
            for system, text in segment["tgt"].items():
                good = by[segment["item_id"]][system][user]
                start = text.index("station")
                error = {"start_i": start, "end_i": start + 6, "category": None, "severity": "major"}
                said[system] = {"score": 90 if good else 35, "error_spans": [] if good else [error], "textfield": None}
            answers.append(said)
        payload = {
            "annotation": answers,
            "actions": [{"time": 1771311126.0, "action": "load"}],
            "item": item["payload"],
        }
        httpx.post(
            f"{target}/log-response",
            json={"campaign_id": "stations", "user_id": user, "item_i": item["info"]["item_i"], "payload": payload},
        ).raise_for_status()
