"""Finds the cheapest route. Reads the maze on standard input and writes the answer."""

import json
import sys
from heapq import heappop, heappush

MOVES = {"U": (-1, 0), "D": (1, 0), "L": (0, -1), "R": (0, 1)}


def route(maze, price=lambda sign: 3 if sign == "~" else 1):
    start, goal = (
        next((row, line.index(sign)) for row, line in enumerate(maze) if sign in line) for sign in "SG"
    )
    seen = set()
    open_fields = [(0, start, "")]
    while open_fields:
        spent, field, moves = heappop(open_fields)
        if field == goal:
            return moves
        if field in seen:
            continue
        seen.add(field)
        for move, (down, right) in MOVES.items():
            row, column = field[0] + down, field[1] + right
            if maze[row][column] != "#":
                heappush(open_fields, (spent + price(maze[row][column]), (row, column), moves + move))
    return ""


if __name__ == "__main__":
    print(json.dumps({"route": route(sys.stdin.read().split())}))
