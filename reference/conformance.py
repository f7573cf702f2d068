"""Answers conformance lines {id, fn, input} for the scoring functions, through the card files and model.py.

Only the translation of inputs into facts and of records into the names of the vectors is written here.
"""

import copy
from decimal import Decimal
from fractions import Fraction

from card import build_card, decimal_text, load_card, weights_guard
from formula import Refused
from model import Item, apply_override, publish, score_item

WORKFLOW, ARENA, TRACE, TRUST = ("workflow@1.0.0", "arena@1.0.0", "trace@1.0.0", "trust@1.0.0")
STEP_TYPES = ("thought", "tool_call", "observation", "error_recovery")


def by_key(record, member):
    return {dimension["key"]: dimension[member] for dimension in record["dimensions"]}


def workflow_score(given, cards):
    """A run whose unplanned retries are already counted: nothing of them was declared."""
    card = load_card(WORKFLOW, cards)
    facts = given | {
        "steps_total": given["total_steps"],
        "actual_retries": given["unplanned_retries"],
        "declared_retry_budget": 0,
    }
    record = score_item(card, facts)
    ratio = Item(card, facts).evaluate(card.lets["completion_ratio"])
    readings = {f"s_{key}": reading for key, reading in by_key(record, "reading").items()}
    return {"completion_ratio": ratio, "score": record["score"]["exact"]} | readings


def weighted_total(given, cards):
    """A challenge on the arena family, with its dimensions and weights, on raw scores of 0..1000."""
    weights = {dimension["key"]: decimal(dimension["weight"]) for dimension in given["dimensions"]}
    card = build_card({"id": "challenge", "version": "1.0.0", "base": ARENA, "dims": weights}, cards)
    # A raw score that is not there is missing; what that means is up to the card.
    facts = {f"{key}_score": decimal(raw) for key, raw in given["raw"].items()}
    # No case speaks of refused dimensions, so none is.
    facts |= {fact: False for fact in card.facts if fact.endswith("_refused")}
    record = score_item(card, facts)
    weighted = {key: part * card.scale["max"] for key, part in by_key(record, "contribution").items()}
    return {"weighted": weighted, "total": record["score"]["published"], "result": record["band"]}


def decimal(value):
    return Decimal(str(value))


def check_trace(trace):
    """What a trace must be, before anything is counted."""
    problems = []
    if not trace["task"].get("objective"):
        problems.append("`task.objective` is empty")
    if not trace["steps"]:
        problems.append("`steps` is empty")
    for index, step in enumerate(trace["steps"]):
        if step.get("type") not in STEP_TYPES:
            problems.append(f"`steps[{index}].type` is `{step.get('type')}`, expected one of {', '.join(STEP_TYPES)}")
        if not isinstance(step.get("content", ""), str):
            problems.append(f"`steps[{index}].content` is not a text")
        if "tool" in step and not (isinstance(step["tool"], dict) and isinstance(step["tool"].get("name"), str)):
            problems.append(f"`steps[{index}].tool` has no name")
    if problems:
        raise Refused("; ".join(problems))


def trace_facts(trace, max_similarity):
    """The counts of a trace; novelty is one minus the best similarity, missing where none is known."""
    steps = trace["steps"]
    types = [step["type"] for step in steps]
    tools = [step["tool"]["name"] for step in steps if "tool" in step]
    return {
        "step_count": len(steps),
        "step_type_count": len(set(types)),
        "thought_count": types.count("thought"),
        "tool_step_count": len(tools),
        "unique_tool_count": len(set(tools)),
        "error_recovery_count": types.count("error_recovery"),
        "success": trace["metadata"]["success"],
        "confidence": trace["outcome"]["confidence"],
        "novelty": None if max_similarity is None else 1.0 - min(max(float(max_similarity), 0.0), 1.0),
        "task_domain": trace["metadata"]["task_domain"],
    }


def evaluate_trace(given, cards):
    trace = given["trace"]
    check_trace(trace)
    record = score_item(load_card(TRACE, cards), trace_facts(trace, given["max_similarity"]))
    contents = [step.get("content", "") for step in trace["steps"]]
    return by_key(record, "reading") | {
        "score": record["score"]["exact"],
        "composite": record["composite"],
        "profile": record["profile"]["name"],
        "rules": [step["name"] for step in record["steps"] if step["kind"] == "rule"],
        "embedding_text": f"{trace['task']['objective']} {' '.join(contents)}",
    }


def trust_card(given, cards):
    """The trust card, with the weights of the input where it gives them."""
    card = copy.copy(load_card(TRUST, cards))
    card.weights = card.weights | {key: Fraction(weight) for key, weight in given.get("weights", {}).items()}
    return card


def guard_weights(given, cards):
    card = trust_card(given, cards)
    total, accepted = weights_guard(card, card.weights)
    return {"sum": decimal_text(total), "ok": accepted}


def effective_weights(given, cards):
    card = trust_card({}, cards)
    override = given["override"]
    override = None if override is None else {key: decimal(weight) for key, weight in override.items()}
    effective, record = apply_override(card, card.weights, override)
    record = record or {"outcome": "none", "merged_sum": card.top_sum(card.weights)}
    return {
        "outcome": record["outcome"],
        "merged_sum": decimal_text(record["merged_sum"]),
        "effective": {key: decimal_text(weight) for key, weight in effective.items()},
    }


def composite_covered(given, cards):
    facts = {key: decimal(value) for key, value in given["dimensions"].items() if value is not None}
    facts |= {f"{key}_applies": True for key in facts}
    card = trust_card(given, cards)
    record = score_item(card, facts)
    covered = [key for key, status in by_key(record, "status").items() if status == "scored"]
    composite = record["composite"]
    return {
        "covered": covered,
        "covered_count": len(covered),
        "covered_weight": decimal_text(sum((card.weights[key] for key in covered), Fraction(0))),
        "composite": None if composite is None else decimal_text(composite),
        "composite_f64": composite,
    }


def to_thousand(given, cards):
    return {"score": publish(trust_card({}, cards), Fraction(given["composite"]))}


FUNCTIONS = {
    "workflow.score": workflow_score,
    "weighted_total": weighted_total,
    "evaluate": evaluate_trace,
    "weights_guard": guard_weights,
    "effective_weights": effective_weights,
    "composite_covered": composite_covered,
    "to_thousand": to_thousand,
}


def answer(line, cards):
    """One answer to one line; what this file does not know is refused, never guessed."""
    head = {"id": line.get("id"), "fn": line.get("fn")}
    if line.get("fn") not in FUNCTIONS:
        return head | {"refused": f"unknown fn `{line.get('fn')}`"}
    try:
        return head | {"output": FUNCTIONS[line["fn"]](line["input"], cards)}
    except Refused as refused:
        return head | {"refused": str(refused)}
