"""Hidden suites: the side of the tests, where the submission is a stand-in, and the side of the submission.

What crosses is JSON. What has no JSON form stays where it is, and the tests hold it by a number.
"""

import builtins
import importlib
import json
import sys
import types
import unittest

import wit_world

_dumps = json.dumps
_loads = json.loads

# The side of the submission ---------------------------------------------------------------------------------------

_objects = []


def _pack(value, depth=0):
    """Returns a value as JSON, with objects by their numbers."""
    if value is None or type(value) in (bool, int, float, str):
        return {"value": value} if value == value and value not in (float("inf"), float("-inf")) else {
            "double": repr(value)}
    if depth < 50:
        if type(value) is list:
            return {"list": [_pack(item, depth + 1) for item in value]}
        if type(value) is tuple:
            return {"tuple": [_pack(item, depth + 1) for item in value]}
        if type(value) in (set, frozenset):
            return {type(value).__name__: [_pack(item, depth + 1) for item in value]}
        if type(value) is dict:
            return {"dict": [[_pack(key, depth + 1), _pack(item, depth + 1)] for key, item in value.items()]}
    if type(value) in (bytes, bytearray):
        return {type(value).__name__: list(value)}
    _objects.append(value)
    if isinstance(value, type) and issubclass(value, BaseException):
        return {"exception": _kinds(value)}
    return {"object": len(_objects) - 1}


def _kinds(kind):
    """Names an exception and what it is made from, down to the first of Python's own."""
    names = []
    for base in kind.__mro__:
        names.append(str(base.__name__))
        if base.__module__ == "builtins":
            break
    return names


def _unpack(packed, objects):
    """Returns the value of a packed one; `objects` makes one from its number and its words."""
    ((kind, content),) = packed.items()
    if kind == "value":
        return content
    if kind == "double":
        return float(content)
    if kind in ("list", "tuple", "set", "frozenset"):
        return getattr(builtins, kind)([_unpack(item, objects) for item in content])
    if kind == "dict":
        return {_unpack(key, objects): _unpack(item, objects) for key, item in content}
    if kind in ("bytes", "bytearray"):
        return getattr(builtins, kind)(content)
    return objects(packed)


def serve(question):
    """Answers a question of the tests: an attribute, or a call."""
    question = _loads(question)
    try:
        if "module" in question:
            target = importlib.import_module(question["module"])
        else:
            target = _objects[question["object"]]
        for name in question["path"]:
            target = getattr(target, name)
        if "args" in question:
            args = [_unpack(item, lambda it: _objects[it["object"]]) for item in question["args"]]
            named = {key: _unpack(it, lambda it: _objects[it["object"]]) for key, it in question["named"].items()}
            target = target(*args, **named)
        return "=" + _dumps(_pack(target), allow_nan=False)
    except BaseException as error:
        kinds = _kinds(type(error))
        try:
            words = str(error)[:500]
        except BaseException:
            words = ""
        return "!" + _dumps({"kinds": kinds, "words": words})


# The side of the tests --------------------------------------------------------------------------------------------

_exceptions = {}


def _exception(kinds):
    """Returns the class of the tests' side for an exception of the submission: the last name is Python's."""
    if len(kinds) < 2:
        return _builtin(kinds[0] if kinds else "")
    if kinds not in _exceptions:
        _exceptions[kinds] = type(kinds[0], (_exception(kinds[1:]),), {"__module__": "submission"})
    return _exceptions[kinds]


def _builtin(name):
    kind = getattr(builtins, name, None)
    # What would end the tests themselves is an exception like others here; some need more than words.
    if not (isinstance(kind, type) and issubclass(kind, Exception)):
        return Exception
    try:
        kind("")
    except TypeError:
        return ValueError if issubclass(kind, ValueError) else Exception
    return kind


def _stand_in(packed):
    if "exception" in packed:
        return _exception(tuple(str(kind) for kind in packed["exception"]))
    return Stand(None, int(packed["object"]), ())


def _hand_over(value):
    """Packs a value of a test."""
    if isinstance(value, Stand):
        return {"object": value._karat_object} if value._karat_object is not None else _refuse("a function")
    if value is None or type(value) in (bool, int, str):
        return {"value": value}
    if type(value) is float:
        return {"value": value} if value - value == 0 else {"double": repr(value)}
    if type(value) in (list, tuple, set, frozenset):
        return {type(value).__name__: [_hand_over(item) for item in value]}
    if type(value) is dict:
        return {"dict": [[_hand_over(key), _hand_over(item)] for key, item in value.items()]}
    if type(value) in (bytes, bytearray):
        return {type(value).__name__: list(value)}
    return _refuse("an object of " + type(value).__name__)


def _refuse(what):
    raise TypeError(what + " cannot be handed to the submission: only what has a JSON form, and what came from there")


def _ask(question):
    text = wit_world.ask("submission", _dumps(question))
    content = _loads(text[1:])
    if text[:1] == "=":
        return _unpack(content, _stand_in)
    raise _exception(tuple(str(kind) for kind in content["kinds"]))(str(content["words"]))


class Stand:
    """Something of the submission: a function, a class or an object there."""

    __slots__ = ("_karat_module", "_karat_object", "_karat_path")

    def __init__(self, module, number, path):
        object.__setattr__(self, "_karat_module", module)
        object.__setattr__(self, "_karat_object", number)
        object.__setattr__(self, "_karat_path", path)

    def _karat_question(self, path=()):
        where = {"module": self._karat_module} if self._karat_object is None else {"object": self._karat_object}
        return {**where, "path": [*self._karat_path, *path]}

    def __call__(self, *args, **named):
        return _ask({**self._karat_question(), "args": [_hand_over(item) for item in args],
                     "named": {key: _hand_over(item) for key, item in named.items()}})

    def __getattr__(self, name):
        if name.startswith("_karat") or (name.startswith("__") and name.endswith("__")):
            raise AttributeError(name)
        return _ask(self._karat_question((name,)))

    def __setattr__(self, name, value):
        raise TypeError("a test cannot change the submission")

    def __eq__(self, other):
        if isinstance(other, Stand):
            raise TypeError("two objects of the submission cannot be compared: compare values that they return")
        return False

    __hash__ = None

    def __bool__(self):
        raise TypeError("an object of the submission is neither true nor false: compare values that it returns")

    def __repr__(self):
        return "<something of the submission>"


def _method(name):
    def method(self, *args):
        return _ask({**self._karat_question((name,)), "args": [_hand_over(item) for item in args], "named": {}})
    method.__name__ = name
    return method


for _name in ("len", "getitem", "setitem", "delitem", "contains", "str", "add", "sub", "mul", "truediv", "floordiv",
              "mod", "pow", "neg", "abs", "lt", "le", "gt", "ge", "and", "or", "xor", "invert", "radd", "rsub", "rmul",
              "int", "float", "enter", "exit", "next"):
    setattr(Stand, f"__{_name}__", _method(f"__{_name}__"))


def _iterate(self):
    # Through the other side's own iteration, one by one.
    there = _ask({**self._karat_question(("__iter__",)), "args": [], "named": {}})
    while True:
        try:
            yield _ask({"object": there._karat_object, "path": ["__next__"], "args": [], "named": {}})
        except StopIteration:
            return


Stand.__iter__ = _iterate


class _Module(types.ModuleType):
    """A module of the submission, as the tests import it."""

    def __getattr__(self, name):
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        if not _answers:
            return Stand(self.__name__, None, (name,))
        return _ask({"module": self.__name__, "path": [name]})


# True where there is a submission to ask.
_answers = False


def load(request, code):
    """Loads a suite; the modules of the submission are stand-ins."""
    global _answers
    _answers = request["kind"] == "test"
    for name in request["modules"]:
        module = _Module(name)
        module.__path__ = []
        sys.modules[name] = module
        parent, _, child = name.rpartition(".")
        if parent in sys.modules:
            setattr(sys.modules[parent], child, module)
    suite = types.ModuleType("hidden_suite")
    suite.__file__ = request["file"]
    sys.modules["hidden_suite"] = suite
    exec(code(request["file"], request["source"]), suite.__dict__)
    return suite


def _cases(suite):
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from _cases(test)
        else:
            yield test


def _name(test):
    return test.id().removeprefix("hidden_suite.")


def names(suite):
    """Returns the names of the tests."""
    loader = unittest.TestLoader()
    found = loader.loadTestsFromModule(suite)
    if loader.errors:
        raise ImportError(loader.errors[0].strip().splitlines()[-1])
    return [_name(test) for test in _cases(found)]


class _Result(unittest.TestResult):
    """Notes what came of one test."""

    def __init__(self):
        super().__init__()
        self.outcome = None
        self.error = None

    def _note(self, outcome, error=None):
        # What failed once stays so, whatever its other parts come to.
        if self.outcome in (None, "pass"):
            self.outcome, self.error = outcome, error

    def addSuccess(self, test):
        self._note("pass")

    def addFailure(self, test, err):
        self._note("fail")

    def addError(self, test, err):
        self._note("error", err[1])

    def addSkip(self, test, reason):
        self._note("skip")

    def addExpectedFailure(self, test, err):
        self._note("pass")

    def addUnexpectedSuccess(self, test):
        self._note("fail")

    def addSubTest(self, test, subtest, err):
        if err is not None:
            if issubclass(err[0], test.failureException):
                self._note("fail")
            else:
                self._note("error", err[1])


def run(suite, name):
    """Runs one test; returns what came of it, and the exception if there was one."""
    for test in _cases(unittest.TestLoader().loadTestsFromModule(suite)):
        if _name(test) == name:
            result = _Result()
            unittest.TestSuite([test]).run(result)
            return result.outcome or "missing", result.error
    return "missing", None
