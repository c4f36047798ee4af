"""Writes samples/argilla_labelled.json with Argilla itself and holds tasks for Label Studio against its own checks.

Run with argilla 2.8.0 and label-studio-sdk 2.1.2, after `data.next(8, out=…, tool=…)` wrote the two files of tasks:

    python label_tools.py argilla_tasks.json label_studio_tasks.json ../samples/argilla_labelled.json
"""

import json
import sys
from pathlib import Path
from uuid import UUID

import argilla as rg
from argilla.records._io._json import JsonIO
from label_studio_sdk.label_interface import LabelInterface

CONFIG = """<View><Text name="question" value="$source"/><Text name="answer" value="$output"/>
<Rating name="quality" toName="answer" maxRating="5"/></View>"""

records = JsonIO._records_from_json(sys.argv[1])
for number, record in enumerate(records):
    record.responses.add(rg.Response("quality", 1 + number % 5, user_id=UUID(int=1 + number % 2)))
Path(sys.argv[3]).unlink(missing_ok=True)
JsonIO.to_json(records, sys.argv[3])

interface = LabelInterface(CONFIG)
tasks = json.loads(Path(sys.argv[2]).read_text())
assert all(interface.validate_task(task) for task in tasks)
print(f"{len(records)} records written by argilla {rg.__version__}; {len(tasks)} tasks fit the labelling interface")
