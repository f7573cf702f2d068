"""The services of a recorder: `service.py SECONDS PRICE`. They take that long for a call, at that multiple of the price.

The wind is measured when it is asked for the first time, which takes longer than anyone waits; no dictionary is at hand.
"""

import json
import sys
import time

SECONDS, PRICE = map(float, sys.argv[1:])
KNOWN = {"quay": "north quay", "tide": "11:40", "wind": "14 knots from the south-west"}
TAO = {"lookup": 0.001, "search": 0.008, "write": 0.002, "review": 0.002, "translate": 0.0005}

request = json.load(sys.stdin)
action, params = request["action"], request["params"]
answer = {"cost": TAO[action] * PRICE}
time.sleep(SECONDS)
if action == "translate":
    answer["error"] = "no dictionary for this language"
elif action in ("lookup", "search"):
    if params["of"] == "wind" and action == "lookup" and request["attempt"] == 1:
        time.sleep(30)
    answer["output"] = {"text": KNOWN[params["of"]]}
elif action == "write":
    known = ", ".join(params[name] for name in ("quay", "tide", "wind") if name in params)
    answer["output"] = {"text": f"On Saturday the ferry sails: {known or 'ask at the harbour'}."}
else:
    answer["output"] = {"text": params["text"].strip()}
json.dump(answer, sys.stdout)
