"""What the converters share: the steps of a trace, and the trace around them."""


class Steps:
    """Steps in order. A call of the tool whose last call failed is a recovery, any other call is a call."""

    def __init__(self):
        self.list = []
        self._last_tool = None
        self._failed_tool = None

    def thought(self, text):
        if text and text.strip():
            self._add(type="thought", content=text.strip())

    def call(self, tool, given):
        kind = "error_recovery" if tool == self._failed_tool else "tool_call"
        self._add(type=kind, tool={"name": tool}, input=given)
        self._last_tool, self._failed_tool = tool, None

    def observation(self, text, failed=False):
        if failed:
            self._failed_tool = self._last_tool
        if text and text.strip():
            self._add(type="observation", content=text.strip())

    def _add(self, **step):
        self.list.append({"step_id": len(self.list), **step})


def reasoning_trace(trace_id, agent, domain, objective, steps, success, confidence, summary,
                    created_at="1970-01-01T00:00:00Z"):
    """A trace. Sources without a date get the epoch: a date that nobody takes for a real one, the same on every run."""
    return {
        "@context": "https://knowledgepulse.dev/schema/v1",
        "@type": "ReasoningTrace",
        "id": "kp:trace:" + trace_id,
        "metadata": {
            "created_at": created_at,
            "agent_id": "kp:agent:" + agent,
            "task_domain": domain,
            "success": success,
            "quality_score": 0,
            "visibility": "private",
            "privacy_level": "private",
        },
        "task": {"objective": objective},
        "steps": steps.list,
        "outcome": {"result_summary": summary, "confidence": confidence},
    }
