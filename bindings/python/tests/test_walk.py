"""Values of Python as JSON: what is taken, and what is refused where."""

import datetime as dt
import enum
import json
import math
import random
import subprocess
import sys
from collections import Counter, OrderedDict, UserDict, defaultdict, namedtuple
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from karat_score import KaratError, Scorecard, _native


def walked(value):
    return json.loads(_native.to_json(value))


def refusal(value):
    with pytest.raises(KaratError) as caught:
        _native.to_json(value)
    return caught.value


@dataclass
class Point:
    x: int = 1


class Colour(enum.Enum):
    RED = 1


class Raises:
    """Whatever is asked of it raises."""

    @property
    def __class__(self):
        raise OSError("no class")


class FalseNumPy:
    __module__ = "numpy"
    ndim = 0

    class dtype:
        kind = "O"

    def item(self):
        return FalseNumPy()


class RaisingNumPy:
    __module__ = "numpy"

    def __getattr__(self, name):
        raise ZeroDivisionError(name)


class LyingDecimal(Decimal):
    def __str__(self):
        return '1, "extra": 2'


class RaisingDecimal(Decimal):
    def __str__(self):
        raise KeyError("no text")


class RaisingDatetime(dt.datetime):
    def utcoffset(self):
        raise OverflowError

    def __repr__(self):
        raise OverflowError


class WordlessDatetime(dt.datetime):
    def isoformat(self):
        return b"2026"


NAIVE = dt.datetime(2026, 1, 2, 3, 4, 5)


@pytest.mark.parametrize(
    ("value", "found"),
    [
        (math.nan, "NaN"),
        (math.inf, "infinity"),
        (-math.inf, "infinity"),
        (2**53 + 1, "2^53"),
        (-(2**53) - 1, "2^53"),
        (2**63, "2^53"),
        (10**5000, "2^53"),
        ({1, 2}, "type set"),
        (frozenset(), "type frozenset"),
        (b"bytes", "type bytes"),
        (bytearray(b"x"), "type bytearray"),
        (memoryview(b"x"), "type memoryview"),
        (object(), "type object"),
        (Point(), "type Point"),
        (Colour.RED, "type Colour"),
        (1 + 2j, "type complex"),
        (Fraction(1, 3), "type Fraction"),
        (range(3), "type range"),
        ((it for it in ()), "type generator"),
        ({}.keys(), "type dict_keys"),
        (UserDict(a=1), "type UserDict"),
        (print, "type builtin_function_or_method"),
        (dict, "type type"),
        (..., "type ellipsis"),
        (NAIVE, "without a zone"),
        (NAIVE.date(), "type date"),
        (NAIVE.time(), "type time"),
        (dt.timedelta(1), "type timedelta"),
        (pd.NaT, "without a zone, NaT"),
        (pd.NA, "type NAType"),
        (pd.Timestamp("2026-01-01"), "without a zone"),
        (pd.Timedelta(1), "type Timedelta"),
        (pd.Series([1]), "type Series"),
        (np.array([1, 2]), "array of NumPy"),
        (np.array([[1.0]]), "array of NumPy"),
        (np.array([]), "array of NumPy"),
        (np.array({"a": 1}, dtype=object), "type ndarray"),
        (np.array(object()), "type ndarray"),
        (np.float64("nan"), "NaN"),
        (np.float32("inf"), "infinity"),
        (np.float16("nan"), "NaN"),
        (np.int64(2**53 + 1), "2^53"),
        (np.uint64(2**64 - 1), "2^53"),
        (np.longdouble(1), "type longdouble"),
        (np.complex64(1), "type complex64"),
        (np.datetime64("2026-01-01T00:00:00"), "without a zone"),
        (np.datetime64("2026-01-01T00:00:00", "ns"), "without a zone"),
        (np.datetime64(1, "ns"), "without a zone"),
        (np.datetime64("NaT"), "without a zone"),
        (np.timedelta64(5, "ns"), "type timedelta64"),
        (np.timedelta64("NaT"), "type timedelta64"),
        (np.bytes_(b"x"), "type bytes_"),
        (np.void(b"x"), "type void"),
        (np.array((1, 2.0), dtype="i4,f8")[()], "type void"),
        (np.ma.masked, "type MaskedConstant"),
        (Decimal("NaN"), "NaN"),
        (Decimal("sNaN"), "sNaN"),
        (Decimal("-Infinity"), "Infinity"),
        (Decimal("1E+400"), "1E+400"),
        ("\ud800", "surrogate"),
        ("ok\udfff", "surrogate"),
        (LyingDecimal(1), "found Decimal('1')"),
        (RaisingDecimal(1), "raise KeyError"),
        (RaisingDatetime(2026, 1, 1), "without a zone"),
        (WordlessDatetime(2026, 1, 1, tzinfo=dt.timezone.utc), "WordlessDatetime"),
        (Raises(), "type Raises, whose methods raise OSError"),
        (FalseNumPy(), "type FalseNumPy"),
        (RaisingNumPy(), "raise ZeroDivisionError"),
    ],
    ids=lambda value: None if type(value) is str else type(value).__name__,
)
def test_what_is_no_evidence_is_refused_where_it_is(value, found):
    for whole, path in [({"a": {"b": [0, value]}}, "$.a.b[1]"), ([{"a-b": (value,)}], '$[0]["a-b"][0]')]:
        error = refusal(whole)
        assert error.path == path
        assert found in str(error), error
        assert str(error).startswith(f"{path}: found")
        assert [problem["path"] for problem in error.problems] == [path]
        assert (error.code, error.row) == ("evidence-refused", None)
    for score in [Scorecard.load("trust").score_one, Scorecard.load("trust").explain]:
        with pytest.raises(KaratError, match=r"\$\.agent_id"):
            score({"agent_id": value, "dimensions": {}})


def test_values_that_are_refused_alone_are_refused_at_the_root():
    for value in [math.nan, {1}, object(), NAIVE, 2**60, "\ud800"]:
        assert refusal(value).path == "$"


def test_keys_that_are_no_texts_are_refused():
    for key, kind in [(1, "int"), (None, "NoneType"), (True, "bool"), (1.5, "float"), ((1, 2), "tuple"), (b"a", "bytes")]:
        error = refusal({"at": {key: 1}})
        assert error.path == "$.at"
        assert f"a key of type {kind}, expected texts" in str(error)
    assert "surrogate" in str(refusal({"\ud800": 1}))


def test_all_that_is_wrong_is_said_at_once_up_to_twenty():
    error = refusal({"a": math.nan, "b": [math.inf, {3}], "c": {4: 1}, "d": 1})
    assert [problem["path"] for problem in error.problems] == ["$.a", "$.b[0]", "$.b[1]", "$.c"]
    assert "4 problems" in str(error)
    many = refusal([math.nan] * 50)
    assert [problem["path"] for problem in many.problems] == [f"$[{at}]" for at in range(20)]
    assert "20 problems" in str(many)


def test_paths_and_values_in_errors_are_cut():
    error = refusal({"x" * 100_000: {"y" * 5000 + "-": {"z" * 5000}}})
    assert len(error.path) < 200
    assert len(str(error)) < 500


def test_whole_numbers_up_to_2_to_the_53_are_taken():
    for number in [0, -1, 2**53, -(2**53), 2**53 - 1]:
        assert _native.to_json([number]) == f"[{number}]".encode()


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "null"),
        (True, "true"),
        (False, "false"),
        (1, "1"),
        (1.5, "1.5"),
        (-0.0, "-0.0"),
        (1e300, "1e+300"),
        (5e-324, "5e-324"),
        ("", '""'),
        ('"\\\n\u2028é😀\x00', '"\\"\\\\\\n\u2028é😀\\u0000"'),
        ({}, "{}"),
        ([], "[]"),
        ((), "[]"),
        ((1, (2,)), "[1,[2]]"),
        (OrderedDict(b=1, a=2), '{"b":1,"a":2}'),
        (defaultdict(list, a=[1]), '{"a":[1]}'),
        (Counter("aab"), '{"a":2,"b":1}'),
        (namedtuple("Pair", "a b")(1, 2), "[1,2]"),
        (enum.IntEnum("Level", {"LOW": 3})(3), "3"),
        (enum.Enum("Name", {"X": "x"}, type=str)("x"), '"x"'),
        (np.bool_(True), "true"),
        (np.bool_(False), "false"),
        (np.int8(-8), "-8"),
        (np.int16(-16), "-16"),
        (np.int32(-32), "-32"),
        (np.int64(-64), "-64"),
        (np.uint8(8), "8"),
        (np.uint16(16), "16"),
        (np.uint32(32), "32"),
        (np.uint64(64), "64"),
        (np.intp(1), "1"),
        (np.float16(0.5), "0.5"),
        (np.float32(0.25), "0.25"),
        (np.float64(0.1), "0.1"),
        (np.str_("text"), '"text"'),
        (np.array(7), "7"),
        (np.array(True), "true"),
        (Decimal("0.10"), "0.10"),
        (Decimal("1E+2"), "1E+2"),
        (Decimal("-0"), "-0"),
        (Decimal("1e-7"), "1E-7"),
        (Decimal("123456789.123456789123456789"), "123456789.123456789123456789"),
        (NAIVE.replace(tzinfo=dt.timezone.utc), '"2026-01-02T03:04:05+00:00"'),
        (NAIVE.replace(tzinfo=dt.timezone(dt.timedelta(hours=-5, minutes=-30))), '"2026-01-02T03:04:05-05:30"'),
        (pd.Timestamp("2026-01-02", tz="UTC"), '"2026-01-02T00:00:00+00:00"'),
    ],
    ids=repr,
)
def test_what_json_has_a_word_for_is_written(value, text):
    assert _native.to_json({"a": value, "b": [value]}) == f'{{"a":{text},"b":[{text}]}}'.encode()


def test_float32_is_written_as_the_double_that_it_is():
    assert walked([np.float32(0.1)]) == [0.10000000149011612]


def test_a_text_or_bytes_as_the_whole_value_are_json_already():
    for whole in ['{"a": NaN}', '"é"', ""]:
        assert _native.to_json(whole) == whole.encode()
        assert _native.to_json(whole.encode()) == whole.encode()
        assert _native.to_json(bytearray(whole.encode())) == whole.encode()


def test_subclasses_are_written_by_what_they_hold_not_by_what_their_methods_say():
    class Text(str):
        def __str__(self):
            return "other"

    class Whole(int):
        def __int__(self):
            return 9

        __index__ = __int__

    class Real(float):
        def __float__(self):
            return 9.0

    class Members(dict):
        def items(self):
            return [("x", 9)]

        def __iter__(self):
            raise OSError

    class Elements(list):
        def __len__(self):
            return 10**9

        def __iter__(self):
            raise OSError

    value = Members(text=Text("a"), whole=Whole(2), real=Real(2.5), elements=Elements([1]))
    assert _native.to_json(value) == b'{"text":"a","whole":2,"real":2.5,"elements":[1]}'


def test_a_value_may_stand_in_several_places():
    shared = {"x": [1]}
    assert walked({"a": shared, "b": [shared, shared]}) == {"a": shared, "b": [shared, shared]}


def test_values_that_hold_themselves_are_refused():
    cycle = {"a": {"b": []}}
    cycle["a"]["b"].append(cycle["a"])
    error = refusal(cycle)
    assert (error.path, "holds itself" in str(error)) == ("$.a.b[0]", True)
    own = []
    own.append(own)
    assert refusal(own).path == "$[0]"
    own = {}
    own["own"] = own
    assert refusal([own]).path == "$[0].own"
    inner = []
    around = (inner,)
    inner.append(around)
    assert refusal(around).path == "$[0][0]"
    array = np.array(None, dtype=object)
    array[()] = {"a": array}
    assert "type ndarray" in str(refusal([array]))


def nested(levels):
    value = 1
    for level in range(levels):
        value = [value] if level % 2 else {"a": value}
    return value


def test_128_levels_are_taken_and_no_more():
    assert walked(nested(128)) == nested(128)
    for levels in [129, 130, 500]:
        assert "more than 128 levels" in str(refusal(nested(levels)))


def test_a_dictionary_may_change_while_it_is_written():
    class Meddles(Decimal):
        def __str__(self):
            members.clear()
            elements.clear()
            members["late"] = 1
            return "1.5"

    elements = [Meddles(1), Meddles(2), 3]
    members = {"a": elements, "b": Meddles(1), "c": 2}
    held = {"members": members, "b": 1}
    assert walked(held) == {"members": {"a": [1.5], "b": 1.5, "c": 2}, "b": 1}

    class Grows(Decimal):
        def __str__(self):
            growing.append(Grows(1))
            return "1"

    growing = [Grows(1)]
    assert walked(growing) == [1]


def random_value(random, depth=0):
    kind = random.randrange(9 if depth < 5 else 6)
    if kind == 0:
        return random.choice([None, True, False])
    if kind == 1:
        return random.randint(-(2**53), 2**53) >> random.randrange(54)
    if kind == 2:
        return random.choice([random.random(), random.uniform(-1e9, 1e9), 10.0 ** random.randint(-300, 300), -0.0, 5e-324])
    if kind in (3, 4):
        return "".join(chr(random.choice([random.randrange(0xD800), random.randrange(0xE000, 0x110000), random.randrange(128)])) for _ in range(random.randrange(6)))
    if kind == 5:
        return random.choice([np.float64, np.float32, float])(random.random())
    if kind == 6:
        return {random_value_key(random): random_value(random, depth + 1) for _ in range(random.randrange(5))}
    return random.choice([list, tuple])(random_value(random, depth + 1) for _ in range(random.randrange(5)))


def random_value_key(random):
    return "".join(random.choice("ab\"\\\x07é😀\u2028 ") for _ in range(random.randrange(4)))


def test_random_values_are_written_as_json_dumps_writes_them():
    random_of = random.Random(37)
    for _ in range(3000):
        value = random_value(random_of)
        if isinstance(value, str):
            continue
        plain = json.loads(json.dumps(value, default=float))
        written = _native.to_json(value)
        assert json.loads(written) == plain
        # NaN aside, a value that is equal and one that has the same text differ only by the sign of zero and the type of numbers.
        assert json.dumps(json.loads(written)) == json.dumps(plain)


def spoilt(value, random):
    """Returns a value with something in it that may be anything."""
    if isinstance(value, dict) and value and random.random() < 0.7:
        key = random.choice(list(value))
        return {**value, key: spoilt(value[key], random)}
    if isinstance(value, (list, tuple)) and value and random.random() < 0.7:
        at = random.randrange(len(value))
        return [*value[:at], spoilt(value[at], random), *value[at + 1 :]]
    bad = [math.nan, 2**70, {1}, b"", "\ud900", NAIVE, np.array([1]), Raises(), RaisingNumPy(), RaisingDecimal(1), {1: 2}, pd.NA, object]
    return random.choice(bad)


def test_only_errors_of_karat_are_raised():
    card, random_of = Scorecard.load("workflow"), random.Random(38)
    refused = 0
    for _ in range(500):
        value = spoilt(random_value(random_of), random_of)
        for call in [_native.to_json, card.score_one, lambda value: _native.to_lines([value])]:
            try:
                call(value)
            except KaratError as error:
                refused += 1
                assert error.code != "internal", error
    assert refused > 1000


def test_values_too_deep_or_endless_do_not_end_the_interpreter():
    code = """
import karat_score as ks
deep = []
for _ in range(100_000):
    deep = [deep]
deep_dict = {}
for _ in range(100_000):
    deep_dict = {"a": deep_dict}
cyclic = {}
cyclic["a"] = [cyclic]
card = ks.Scorecard.load("trust")
for value in [deep, deep_dict, cyclic, {tuple: deep}, {"x": {("a",): deep_dict}}, "[" * 100_000, b'{"a":' * 100_000]:
    for call in [card.score_one, card.explain, lambda it: ks.leaderboard([it, it], card=card)]:
        try:
            call(value)
        except ks.KaratError as error:
            assert len(str(error)) < 5000, len(str(error))
        else:
            raise AssertionError(value)
print("alive")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, "alive\n"), done.stderr[-2000:]


def test_lines_of_items_name_the_place_of_what_is_wrong():
    assert _native.to_lines([{"a": 1}, '{"b":2}', (it for it in [3]).__next__()]) == b'{"a":1}\n{"b":2}\n3\n'
    with pytest.raises(KaratError) as caught:
        _native.to_lines([{"a": 1}, {"a": {"b": math.nan}}])
    assert (caught.value.path, caught.value.row) == ("[1].a.b", 1)
    with pytest.raises(TypeError):
        _native.to_lines(7)
