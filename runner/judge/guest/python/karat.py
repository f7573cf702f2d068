"""The primitives of karat for scripts. Each returns a value from 0 to 1, the same as in an evaluator.

    from karat import numeric_tolerance
    numeric_tolerance(answer["length"], truth["length"], tolerance=0.5)
"""

import json as _json

import wit_world as _world


def _call(primitive, **request):
    text = _world.ask("primitive", _json.dumps({"primitive": primitive, **request}, allow_nan=False))
    if text[:1] != "=":
        raise ValueError(text[1:])
    return float(text[1:])


def _compare(primitive, submitted, expected, options):
    return _call(primitive, submitted=submitted, expected=expected, options=options)


def exact_match(submitted, expected, **options):
    """Returns 1 if two values are the same, else 0. Options: case_sensitive, deep."""
    return _compare("exact_match", submitted, expected, options)


def exact_match_ratio(submitted, expected, **options):
    """Returns the share of the expected items that are at the same place. Options: case_sensitive, deep."""
    return _compare("exact_match_ratio", submitted, expected, options)


def numeric_tolerance(submitted, expected, **options):
    """Returns 1 within the tolerance, 0 from five times of it on. Options: tolerance, all_or_nothing."""
    return _compare("numeric_tolerance", submitted, expected, options)


def fuzzy_string(submitted, expected, **options):
    """Returns how alike two texts are. Options: case_sensitive, normalize_white_space."""
    return _compare("fuzzy_string", submitted, expected, options)


def set_overlap(submitted, expected, **options):
    """Returns the overlap of two lists as sets. Options: measure ("jaccard" or "recall"), ignore_case."""
    return _compare("set_overlap", submitted, expected, options)


def coverage_ratio(found, total):
    """Returns found / total, for counts or for lists as sets."""
    return _compare("coverage_ratio", found, total, {})


def time_decay(used_seconds, limit_seconds):
    """Returns the share of the time that is left."""
    return _call("time_decay", numbers=[used_seconds, limit_seconds])


def api_call_efficiency(calls, optimal, max):
    """Returns 1 up to `optimal` calls, 0 from `max` calls on."""
    return _call("api_call_efficiency", numbers=[calls, optimal, max])
