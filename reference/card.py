"""The numbers of decision 0001 and the scorecard file of docs/guide/scorecard.md, its formulas read and its decimals
exact. A card is taken to have passed `karat card check`: this file reads cards, it does not judge them.
"""

import tomllib
from decimal import Context, Decimal
from fractions import Fraction
from pathlib import Path

from formula import Refused, parse

# 1. Numbers

WEIGHT_PLACES, READING_PLACES, SCORE_PLACES = 6, 9, 15


def on_grid(value, places):
    """The nearest multiple of 10^-places, ties to even."""
    return Fraction(round(Fraction(value) * 10**places), 10**places)


def double_on_grid(value, places):
    """The same for a double; the product is a double too, as the numbers decision asks."""
    return Fraction(round(value * float(10**places)), 10**places)


def exact_decimal(value):
    """A weight, threshold or number of points from the card."""
    return on_grid(value, WEIGHT_PLACES)


def decimal_text(value):
    """A fraction with a finite decimal expansion, as text without an exponent."""
    decimal = Context(prec=60).divide(Decimal(value.numerator), Decimal(value.denominator))
    text = format(decimal, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


# 2. The card


DAY_SECONDS = 86_400


def decay_rule(table):
    """The rule of standing.py with its defaults, and what decays: each dimension or the composite. None without one."""
    if table is None:
        return None
    return {
        "grace_seconds": table.get("grace_days", 7) * DAY_SECONDS,
        "period_seconds": table.get("period_days", 7) * DAY_SECONDS,
        "points_per_period": table.get("points_per_period", 1),
        "point_billionths": int(Fraction(table.get("point", Decimal("0.001"))) * 10**9),
        "whole": table.get("periods", "exact") == "whole",
        "scope": table.get("scope", "dimension"),
    }


class Card:
    """A scorecard: the tables of the file, with formulas parsed and decimals exact."""

    def __init__(self, table):
        def formula(entry, field):
            return parse(entry[field]) if field in entry else None

        def decimals(entries):
            return {key: exact_decimal(value) for key, value in entries.items()}

        self.name = f"{table['id']}@{table['version']}"
        self.is_family = "family" in table
        self.facts = table.get("facts", {})
        # A constant is a formula of one number; a unit is for the checker, and true is 1.
        constants = table.get("const", {}).items()
        values = {name: entry["value"] if isinstance(entry, dict) else entry for name, entry in constants}
        self.lets = {name: ("constant", float(value)) for name, value in values.items()}
        self.lets |= {name: parse(text) for name, text in table.get("let", {}).items()}
        self.mean = table.get("mean", "weighted-mean")
        self.scale = {"max": 1, "publish": "exact", "places": 0} | table.get("scale", {})
        self.dimensions = [
            entry | {
                "formula": parse(entry.get("formula", entry["key"])),
                "when": formula(entry, "when"),
                "applies": formula(entry, "applies"),
                "missing": entry.get("missing", "exclude"),
                "group": entry.get("group"),
                "age": entry.get("age"),
            }
            for entry in table.get("dimension", [])
        ]  # fmt: skip
        self.groups = [{"group": None, "mean": self.mean} | entry for entry in table.get("group", [])]
        self.keys = {dimension["key"] for dimension in self.dimensions}
        self.weights = {e["key"]: exact_decimal(e.get("weight", 0)) for e in self.dimensions + self.groups}
        self.profiles = table.get("profiles")
        profiles = (self.profiles or {}).get("weights", {})
        self.profile_weights = {name: decimals(weights) for name, weights in profiles.items()}
        self.override = table.get("override")
        self.rules = [e | {"when": parse(e["when"]), "set": parse(e["set"])} for e in table.get("rule", [])]
        self.gates = [e | {"when": parse(e["when"])} for e in table.get("gate", [])]
        self.bands = table.get("band", [])
        self.tiers = table.get("tier", [])
        self.decay = decay_rule(table.get("standing", {}).get("decay"))
        guard = table.get("weights", {"tolerance": 0} if self.mean == "weighted-sum" else None)
        self.is_challenge = "base" in table
        self.weights_tolerance = None if guard is None else exact_decimal(guard.get("tolerance", 0))

    def members(self, group):
        """What a group (None: the card) consists of, in card order: its dimensions, then its groups."""
        return [entry for entry in self.dimensions + self.groups if entry["group"] == group]

    def top_sum(self, weights):
        return sum((weights[entry["key"]] for entry in self.members(None)), Fraction(0))


def weights_guard(card, weights):
    """The sum of the top-level weights, and whether the card accepts it."""
    total = card.top_sum(weights)
    if card.weights_tolerance is None or total == 1:
        return total, True
    distance = abs(total - 1)
    # A challenge has the tolerance of the arena, which excludes it.
    return total, distance < card.weights_tolerance or (distance == card.weights_tolerance and not card.is_challenge)


def read_table(path):
    try:
        return tomllib.loads(Path(path).read_text(encoding="utf-8"), parse_float=Decimal)
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise Refused(f"cannot read the card `{path}`: {error}") from error


def card_path(name, cards):
    identifier, _, version = name.partition("@")
    return Path(cards) / identifier / f"{version}.toml"


def judged_dimensions(evaluator):
    """The dimensions that have no score without a verdict: executed by a judge, or waiting for what is."""

    def counts(part, *primitives):
        return part["primitive"] in primitives and part.get("weight", 1) > 0

    executed = {key for key, parts in evaluator.items() if any(counts(part, "tests", "script") for part in parts)}
    if not any(part["primitive"] in ("tests", "script") for parts in evaluator.values() for part in parts):
        return executed
    waiting = {
        key
        for key, parts in evaluator.items()
        if any(counts(part, "time_decay") and part.get("needs_score") for part in parts)
    }
    return executed | waiting


def build_card(table, cards):
    if "base" in table:
        base = read_table(card_path(table["base"], cards))
        palette = {entry["key"]: entry for entry in base["dimension"]}
        unknown = [key for key in table["dims"] if key not in palette]
        if unknown:
            raise Refused(f"`{table['base']}` has no dimension `{unknown[0]}`")
        described = table.get("describe", {})
        dimensions = [palette[key] | described.get(key, {}) | {"weight": w} for key, w in table["dims"].items()]
        judged = judged_dimensions(table.get("evaluator", {}))
        dimensions = [entry | ({"missing": "withhold"} if entry["key"] in judged else {}) for entry in dimensions]
        inherited = {name: value for name, value in base.items() if name != "family"}
        table = inherited | table | {"dimension": dimensions}
    card = Card(table)
    if not card.is_family:
        for weights in list(card.profile_weights.values()) or [{}]:
            weights = card.weights | weights
            total, accepted = weights_guard(card, weights)
            if not accepted:
                raise Refused(f"`{card.name}`: weights sum to {decimal_text(total)}, expected 1")
    return card


def load_card(name, cards):
    """A card by file name or as id@version from the folder of cards."""
    path = Path(name) if Path(name).is_file() or "@" not in name else card_path(name, cards)
    return build_card(read_table(path), cards)
