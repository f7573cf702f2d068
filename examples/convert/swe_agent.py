"""Turns SWE-agent trajectories (`.traj`) into reasoning traces, one JSON line each. The mapping is in README.md."""

import json

from lines import main
from reasoning_trace import Steps, reasoning_trace

# What a command prints when it did not do what was asked. A crash that the agent provokes on purpose looks the same,
# which is why only a second call of the same tool counts as recovery.
FAILURES = (
    "Traceback (most recent call last)",
    "Your proposed edit has introduced new syntax error",
    "EXECUTION TIMED OUT",
    "Wrong flag!",
    "command not found",
)


def text_of(content):
    """The text of a message, which newer versions keep as a list of parts."""
    if isinstance(content, list):
        return "\n".join(part.get("text", "") for part in content if isinstance(part, dict))
    return content or ""


def objective(history):
    """The first message of the user that sets the task: not the system's, not a demonstration."""
    for message in history:
        if message.get("role") == "user" and not message.get("is_demo"):
            return text_of(message.get("content")).strip()
    return ""


def records(path):
    """The one trajectory of a file."""
    log = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(log, dict) or "trajectory" not in log:
        raise ValueError("no `trajectory` at the top: not a SWE-agent trajectory")
    return [log]


def convert(log, path):
    steps = Steps()
    for turn in log["trajectory"]:
        steps.thought(turn.get("thought"))
        action = (turn.get("action") or "").strip()
        if action:
            steps.call(action.split()[0], {"command": action})
        observation = turn.get("observation") or ""
        steps.observation(observation, failed=any(sign in observation for sign in FAILURES))
    info = log.get("info", {})
    submitted = info.get("exit_status") == "submitted"
    return reasoning_trace(
        trace_id="swe-agent-" + path.name.removesuffix(".traj"),
        agent="swe-agent",
        domain="code",
        objective=objective(log.get("history", [])) or path.stem,
        steps=steps,
        success=submitted,
        # Nobody judged the submission, and the agent states no confidence: one half says just that.
        confidence=0.5,
        summary="exit status: " + str(info.get("exit_status")),
    )


if __name__ == "__main__":
    main("swe_agent.py FILE.traj... > traces.jsonl", records, convert)
