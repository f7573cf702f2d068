"""Takes mud for free ground: the shortest route, and not the cheapest. Reads the maze on standard input."""

import json
import sys

from reference import route

if __name__ == "__main__":
    print(json.dumps({"route": route(sys.stdin.read().split(), lambda sign: 1)}))
