"""Turns tau-bench results into runs that leaderboards rank, one JSON line each: who, at which task, how it ended."""

from lines import main
from tau_bench import records


def convert(record, path):
    agent, reward = path.stem, float(record["reward"])
    return {
        "subject": agent,
        "task": record["task_id"],
        "id": f"{agent}-{record['task_id']}-{record['trial']}",
        # The reward is 1 where the data base and the answers are as they should be, else 0.
        "outcome": "succeeded" if reward == 1.0 else "failed",
        "solved": reward,
    }


if __name__ == "__main__":
    main("tau_runs.py FILE.json ...", records, convert)
