"""A service that knows three things. The weather is slow when it is asked for the first time."""

import json
import sys
import time

KNOWN = {
    "tides": ("The water is highest at noon.", {"depth_m": 4}),
    "berths": ("north harbour", {"berths": 2}),
    "weather": ("south-westerly, 12 knots", {"knots": 12}),
}

request = json.load(sys.stdin)
of = request["params"]["of"]
if of == "weather" and request["attempt"] == 1:
    time.sleep(30)
text, metadata = KNOWN[of]
json.dump({"output": {"text": text, "artifacts": {"metadata": metadata}}, "cost": 0.0005}, sys.stdout)
