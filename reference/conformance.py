"""Answers conformance lines {id, fn, input}: scores through the card files and model.py, standings through standing.py,
rating.py and estimates.py.

Only the translation of inputs into facts and of records into the names of the vectors is written here.
"""

import copy
from decimal import Decimal
from fractions import Fraction

import estimates
import rating
import standing
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


def window(given, cards):
    """Scores of one subject, one after another."""
    rolling = standing.Window(given["window_size"])
    for moment, score in enumerate(given["scores"]):
        rolling.enter(moment, str(moment), units(score))
    return {"count": len(rolling.held), "tasks_seen": rolling.seen, "mean": rolling.mean() or 0}


def units(score):
    return round(Fraction(score) * standing.SCORE)


def capped(values):
    def answer(given, cards):
        shared = standing.share_out([units(value) for value in given[values]], round(given["cap"] * 10**6), False)
        return {"weights": [Fraction(share, standing.SCORE) for share in shared["shares"]]}

    return answer


def quantise(given, cards):
    """Shares in 16 bits; the subjects with none are left out."""
    whole = standing.sixteen_bit_shares([units(weight) for weight in given["weights"]])["whole"]
    kept = [(uid, share) for uid, share in zip(given["uids"], whole) if share]
    return {"uids": [uid for uid, _ in kept], "values": [share for _, share in kept]}


def decay(part, point=1_000_000, *, whole):
    """Points, composites or dimensions by their age, after a grace of a week and by weeks."""
    week = 604_800
    rule = {"grace_seconds": week, "period_seconds": week, "points_per_period": 1, "point_billionths": point}
    rule |= {"whole": whole}

    def answer(given, cards):
        if part == "points":
            return {"points": str(standing.points_lost(rule, given["age_seconds"]))}
        if part == "composite":
            composite = Fraction(given["composite_1000"]) / 1000
            return {"composite_1000": str(standing.remains(rule, composite, given["age_seconds"]) * 1000)}
        weights = load_card(TRUST, cards).weights
        dimensions = [
            {
                "key": key,
                "weight": round(weights[key] * standing.WEIGHT),
                "reading": round(Fraction(measured["score"]) * standing.READING),
                "age_seconds": measured["age_seconds"],
            }
            for key, measured in given["dimensions"].items()
            if measured is not None
        ]
        return {"composite_1000": str(Fraction(standing.decay_dimensions(rule, dimensions)["composite"]) * 1000)}

    def with_double(given, cards):
        found = answer(given, cards)
        return found | {f"{name}_f64": Fraction(value) for name, value in found.items()}

    return with_double


def elo_update(given, cards):
    before = given["rating"]
    after, _ = rating.update(rating.ARENA, [before, given["match_count"]], given["opponent"], given["outcome"])
    return {"new_rating": int(after), "change": int(after - before)}


def settle_match(given, cards):
    career = {"challenges_authored": 0} | given["agent"]
    match = given["match"] | {"outcome": rating.arena_outcome(given["score"])}
    settled = rating.settle(career, given["challenge"], match)
    after = {key: value for key, value in settled["career"].items() if key not in ("elo", "challenges_authored")}
    return after | {
        "result": match["outcome"],
        "opponent_elo": settled["opponent_elo"],
        "elo_before": career["elo"],
        "elo_change": settled["elo_change"],
        "elo_after": settled["career"]["elo"],
        "title": settled["titles"][0],
        "titles": settled["titles"],
    }


def title(given, cards):
    held = rating.title_list({"challenges_authored": 0} | given)
    return {"title": held[0], "titles": held}


def benchmark_metrics(given, cards):
    """Best-of-k is asked only where its two readings agree; the arena shows what three subjects or more have done."""
    order = sorted({match["agent"] for match in given["matches"]})
    attempts = [
        (order.index(match["agent"]), match["attempt"], match["score"], match["result"] == "win")
        for match in given["matches"]
    ]
    three, five = (estimates.attempt_metrics(attempts, k, 3) for k in (3, 5))

    def shown(value, scale=10**6):
        return None if value is None else Fraction(value, scale)

    def best(metrics):
        _, subjects, mean = metrics["best_of_any"]
        return shown(mean) if subjects >= estimates.FEWEST_SUBJECTS else None

    return {
        "pass_at_1": shown(three["pass_at_1"][2]),
        "pass_k_3": shown(three["shown"]),
        "pass_k_5": shown(five["shown"]),
        "learning_curve": [shown(mean) for _, _, mean in three["learning_curve"]],
        "agents_sampled": three["subjects"],
        "best_of_3": best(three),
        "best_of_5": best(five),
    }


FUNCTIONS = {
    "workflow.score": workflow_score,
    "weighted_total": weighted_total,
    "evaluate": evaluate_trace,
    "weights_guard": guard_weights,
    "effective_weights": effective_weights,
    "composite_covered": composite_covered,
    "to_thousand": to_thousand,
    "workflow.window": window,
    "weights.cap": capped("weights"),
    "weights.proportional_cap": capped("means"),
    "weights.quantise": quantise,
    "decay_points_whole_weeks": decay("points", whole=True),
    "decay_points_fractional_weeks": decay("points", whole=False),
    "decay_composite_whole_weeks": decay("composite", whole=True),
    "decay_composite_fractional_weeks": decay("composite", whole=False),
    "decay_per_dimension_whole_1000": decay("dimensions", whole=True),
    "decay_per_dimension_fractional_1000": decay("dimensions", whole=False),
    "decay_per_dimension_whole_100": decay("dimensions", 10_000_000, whole=True),
    "decay_per_dimension_fractional_100": decay("dimensions", 10_000_000, whole=False),
    "elo_update": elo_update,
    "settle_match": settle_match,
    "settle_match.draw_bonus": settle_match,
    "title": title,
    "benchmark_metrics": benchmark_metrics,
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
