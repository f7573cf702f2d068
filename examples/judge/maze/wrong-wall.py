"""Goes straight to the goal, through walls. Reads the maze on standard input."""

import json
import sys

if __name__ == "__main__":
    maze = sys.stdin.read().split()
    print(json.dumps({"route": "R" * (len(maze[0]) - 3) + "D" * (len(maze) - 3)}))
