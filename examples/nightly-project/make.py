#!/usr/bin/env python3
"""Writes runs/*.csv and tonight.csv again, by the rule in README.md: the same bytes every time."""

import datetime
import pathlib

NIGHTS, TASKS = 90, 24
FIRST = datetime.date(2026, 1, 1)
DECLINE = 43  # the first night of the decline, 12 February
PRICE = 55  # the first night at the higher price, 24 February
FLAKY = {3, 9, 15, 21}
WORSE = {2, 5, 8, 12, 17, 23}
NEVER = {6, 14, 20}


def share(night, task, salt):
    """Returns a number from 0 to 1 that looks random and is not: a hash of the three."""
    x = (night * 2654435761 + task * 2246822519 + salt * 3266489917) % 2**32
    for _ in range(2):
        x = (x ^ (x >> 15)) * 2246822519 % 2**32
        x = (x ^ (x >> 13)) * 3266489917 % 2**32
    return (x ^ (x >> 16)) / 2**32


def chance(night, task):
    """Returns the chance that the task is solved that night."""
    if task in NEVER:
        return 0
    if task in FLAKY:
        return 0.5
    if task in WORSE:
        weeks = max(0, night - DECLINE + 1) / 7
        return 1 - 0.08 * weeks  # 6 of 24 tasks, so two points a week of the mean
    return 1


files = {}
for night in range(1, NIGHTS + 1):
    day = FIRST + datetime.timedelta(days=night - 1)
    for task in range(1, TASKS + 1):
        solved = int(share(night, task, 1) < chance(night, task))
        cost = (0.02 + 0.002 * task) * (0.8 + 0.4 * share(night, task, 2)) * (1.3 if night >= PRICE else 1)
        seconds = (20 + 3 * task) * (0.8 + 0.4 * share(night, task, 3))
        outcome = "succeeded" if solved else "failed"
        time = f"{day}T02:{task:02}:00Z"
        row = f"clerk,{day},{time},ticket-{task:02},{outcome},{solved},{cost:.4f},{seconds:.1f}\n"
        files.setdefault(f"runs/{day:%Y-%m}.csv" if night < NIGHTS else "tonight.csv", []).append(row)

for name, rows in files.items():
    text = "subject,night,time,task,outcome,solved,cost_usd,seconds\n" + "".join(rows)
    path = pathlib.Path(__file__).parent / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, newline="\n")
