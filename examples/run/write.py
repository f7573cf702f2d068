"""A service that writes a sentence about what it is given."""

import json
import sys

request = json.load(sys.stdin)
params = request["params"]
if request["action"] == "compare":
    text = f"the {params['free']}, {params['depth_m']} m deep, sheltered from the {params['wind']}"
elif request["action"] == "announce":
    text = f"Tomorrow the ferry lands in {params['harbour']}."
else:
    text = params["text"].strip()
json.dump({"output": {"text": text}}, sys.stdout)
