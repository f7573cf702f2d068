"""Turns tau-bench results into reasoning traces, one JSON line each. The mapping is in README.md."""

import json
import re
import sys
from pathlib import Path

from reasoning_trace import Steps, reasoning_trace

# The policy in the first message states the moment in which the task plays.
STATED_TIME = re.compile(r"current time is (\d{4}-\d\d-\d\d) (\d\d):(\d\d):(\d\d) EST")


def created_at(messages):
    """The stated time in UTC, or None. Five hours after EST may be the next day, which no known policy states."""
    for message in messages:
        stated = STATED_TIME.search(message.get("content") or "") if message["role"] == "system" else None
        if stated and int(stated[2]) + 5 < 24:
            return f"{stated[1]}T{int(stated[2]) + 5:02}:{stated[3]}:{stated[4]}Z"
    return None


def convert(record, agent):
    messages = record["traj"]
    steps = Steps()
    for message in messages:
        content = message.get("content")
        if message["role"] == "user":
            steps.observation(content)
        elif message["role"] == "tool":
            steps.observation(content, failed=(content or "").startswith("Error"))
        elif message["role"] == "assistant":
            steps.thought(content)
            for call in message.get("tool_calls") or []:
                function = call["function"]
                steps.call(function["name"], json.loads(function["arguments"]))
    reward = float(record["reward"])
    stated = created_at(messages)
    return reasoning_trace(
        trace_id=f"{agent}-{record['task_id']}-{record['trial']}",
        agent=agent,
        domain="customer_service",
        objective=record["info"]["task"]["instruction"].strip(),
        steps=steps,
        success=reward == 1.0,
        # The agent states no confidence; the reward of the benchmark is the only word on the outcome.
        confidence=reward,
        summary=f"reward {reward:g}",
        **({"created_at": stated} if stated else {}),
    )


def main(paths):
    if not paths:
        sys.exit("usage: python3 tau_bench.py FILE.json... > traces.jsonl")
    refused = False
    for path in map(Path, paths):
        try:
            for place, record in enumerate(json.loads(path.read_text(encoding="utf-8"))):
                try:
                    print(json.dumps(convert(record, path.stem), ensure_ascii=False))
                except (AttributeError, KeyError, TypeError, ValueError) as error:
                    print(f"{path}: record {place}: {type(error).__name__}: {error}", file=sys.stderr)
                    refused = True
        except (OSError, ValueError) as error:
            print(f"{path}: {error}", file=sys.stderr)
            refused = True
    sys.exit(1 if refused else 0)


if __name__ == "__main__":
    main(sys.argv[1:])
