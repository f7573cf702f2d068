"""Turns tau-bench results into reasoning traces, one JSON line each. The mapping is in README.md."""

import json
import re

from lines import main
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


def records(path):
    """The results of a file, one per attempt at a task."""
    results = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(results, list):
        raise ValueError("no list of results at the top: not a file of tau-bench")
    return results


def convert(record, path):
    agent, messages = path.stem, record["traj"]
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


if __name__ == "__main__":
    main("tau_bench.py FILE.json... > traces.jsonl", records, convert)
