"""Judges a route through a maze: does it keep to the free fields, how far does it come, and what does it cost?"""

from heapq import heappop, heappush

MOVES = {"U": (-1, 0), "D": (1, 0), "L": (0, -1), "R": (0, 1)}
COSTS = {".": 1, "S": 1, "G": 1, "~": 3}


def find(maze, sign):
    return next((row, line.index(sign)) for row, line in enumerate(maze) if sign in line)


def cost(maze, field):
    """What it costs to enter a field; None for a wall and outside."""
    row, column = field
    if 0 <= row < len(maze) and 0 <= column < len(maze[row]):
        return COSTS.get(maze[row][column])
    return None


def costs_to(maze, goal):
    """The least cost from every field to the goal. The field itself is not entered, the goal is."""
    least = {goal: 0}
    open_fields = [(0, goal)]
    while open_fields:
        spent, field = heappop(open_fields)
        if spent > least[field]:
            continue
        entered = spent + cost(maze, field)
        for down, right in MOVES.values():
            near = (field[0] + down, field[1] + right)
            if cost(maze, near) is not None and entered < least.get(near, entered + 1):
                least[near] = entered
                heappush(open_fields, (entered, near))
    return least


def evaluate(answer, truth, match):
    maze = truth["maze"]
    start, goal = find(maze, "S"), find(maze, "G")
    least = costs_to(maze, goal)
    # The answer may be anything. What is not a text of moves is a route that does not move.
    route = answer.get("route") if isinstance(answer, dict) else None
    moves = route if isinstance(route, str) else ""
    field, spent = start, 0
    for move in moves:
        down, right = MOVES.get(move, (0, 0))
        following = (field[0] + down, field[1] + right)
        price = cost(maze, following)
        if price is None or following == field:
            break
        field, spent = following, spent + price
        if field == goal:
            break
    # A route counts as far as it is possible. Only one that arrives is correct, by what it costs beyond the least.
    left = least.get(field, least[start])
    arrived = 1000 * least[start] / spent if field == goal else 0
    return {"correctness": arrived, "completeness": max(0, 1000 * (1 - left / least[start]))}
