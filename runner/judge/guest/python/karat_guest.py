"""The guest of the judge: carries out one request in a fresh instance, and answers with one text.

The first character of an answer says what the rest is: `=` a result as JSON, `!` the reason why there is none,
`?` a fault of the challenge, as LINE:TEXT. Whatever a submission changes here, it changes for itself alone: the
expected values never come to this side.
"""

import builtins
import gc
import importlib.abc
import importlib.util
import io
import json
import linecache
import os
import random
import sys
import types

import karat  # noqa: F401  (for scripts)
import karat_preload  # noqa: F401  (loads the library into the snapshot)
import karat_loop  # noqa: F401  (makes `asyncio` work)
import karat_suite
import wit_world

# Functions of the library, as they are before a submission can change them.
_dumps = json.dumps
_loads = json.loads
_exec = builtins.exec
_compile = builtins.compile
_by_module = types.ModuleType

# Low enough for every frame of Python to fit the stack, on every engine.
RECURSION_LIMIT = 1000


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds modules among the files of a submission."""

    def __init__(self, files):
        self.files = files

    def find_spec(self, name, path=None, target=None):
        base = name.replace(".", "/")
        for file, is_package in ((base + ".py", False), (base + "/__init__.py", True)):
            if file in self.files:
                spec = importlib.util.spec_from_loader(name, self, origin=file, is_package=is_package)
                spec.has_location = True
                return spec
        return None

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        file = module.__spec__.origin
        _exec(_code(file, self.files[file]), module.__dict__)

    def get_source(self, name):
        spec = self.find_spec(name)
        return self.files[spec.origin] if spec else None


def _code(file, source):
    """Compiles a file; its lines are shown in tracebacks."""
    source = source.removeprefix("\ufeff")
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    return _compile(source, file, "exec", dont_inherit=True)


def _main_file(files):
    """Returns the file that a submission begins with."""
    for name in ("solution.py", "main.py"):
        if name in files:
            return name
    python = [name for name in files if name.endswith(".py")]
    return python[0] if len(python) == 1 else None


def _prepare(request):
    """Makes an instance ready: same seed, same numbers."""
    sys.setrecursionlimit(RECURSION_LIMIT)
    random.seed(request["seed"])
    files = request.get("files")
    if files is not None:
        for name in files:
            # A module of the submission has precedence over one of the library.
            sys.modules.pop(name.removesuffix(".py").removesuffix("/__init__").replace("/", "."), None)
        sys.meta_path.insert(0, _Finder(files))
    return files


def _reason(error):
    """Names an exception by the class of Python that it is, or is made from."""
    for kind in type(error).__mro__:
        if kind.__module__ == "builtins":
            return "!exception: " + kind.__name__
    return "!exception"


def _raised(error):
    if isinstance(error, SystemExit):
        return "!exit"
    return _reason(error)


def _line(error, file):
    """Returns the last line of a file that an exception passed through."""
    if isinstance(error, SyntaxError) and error.filename == file:
        return error.lineno or 0
    line, trace = 0, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == file:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


def _fault(error, file):
    try:
        words = str(error)
    except Exception:
        words = ""
    kind = type(error).__name__
    return "?%d:%s" % (_line(error, file), (kind + ": " + words if words else kind)[:500])


def _find(files, function):
    """Returns a function of the submission: of its main file, or of the module that the name begins with."""
    head, _, rest = function.partition(".")
    if rest and (head + ".py" in files or head + "/__init__.py" in files):
        found, names = importlib.import_module(head), rest.split(".")
    else:
        main = _main_file(files)
        if main is None:
            return None
        found, names = importlib.import_module(main.removesuffix(".py").replace("/", ".")), function.split(".")
    for name in names:
        found = getattr(found, name)
    return found


def _call(request):
    files = _prepare(request)
    if _main_file(files) is None and "." not in request["function"]:
        return "!no such file"
    try:
        try:
            function = _find(files, request["function"])
        except AttributeError:
            return "!no such function"
        result = function(*request["args"])
    except BaseException as error:
        return _raised(error)
    try:
        return "=" + _dumps(result, allow_nan=False)
    except MemoryError as error:
        return _reason(error)
    except BaseException:
        return "!no JSON"


def _program(request):
    files = _prepare(request)
    main = _main_file(files)
    if main is None:
        return "!no such file"
    module = _by_module("__main__")
    module.__file__ = main
    module.__builtins__ = builtins
    sys.modules["__main__"] = module
    sys.argv = [main]
    answer = "=0"
    try:
        _exec(_code(main, files[main]), module.__dict__)
    except SystemExit as error:
        if error.code is None or (isinstance(error.code, int) and error.code == 0):
            answer = "=0"
        else:
            answer = "!exit: 1"
    except BaseException as error:
        answer = _raised(error)
    try:
        sys.stdout.flush()
    except BaseException as error:
        if answer == "=0":
            answer = _raised(error)
    return answer


def _open(request):
    files = _prepare(request)
    try:
        for name in files:
            if name.endswith(".py"):
                importlib.import_module(name.removesuffix(".py").removesuffix("/__init__").replace("/", "."))
    except BaseException as error:
        return _raised(error)
    return "=null"


def _names(request):
    sys.setrecursionlimit(RECURSION_LIMIT)
    random.seed(request["seed"])
    try:
        suite = karat_suite.load(request, _code)
        return "=" + _dumps(karat_suite.names(suite))
    except BaseException as error:
        return _fault(error, request["file"])


def _test(request):
    sys.setrecursionlimit(RECURSION_LIMIT)
    random.seed(request["seed"])
    try:
        suite = karat_suite.load(request, _code)
        outcome, error = karat_suite.run(suite, request["name"])
    except BaseException as error:
        return _reason(error)
    return _reason(error) if error is not None else "=" + _dumps(outcome)


def _script(request):
    sys.setrecursionlimit(RECURSION_LIMIT)
    random.seed(request["seed"])
    file = request["file"]
    module = _by_module("evaluator")
    module.__file__ = file
    try:
        _exec(_code(file, request["source"]), module.__dict__)
        evaluate = module.__dict__.get("evaluate")
        if not callable(evaluate):
            return "?0:no function `evaluate`"
        result = evaluate(request["answer"], request["truth"], request["match"])
    except BaseException as error:
        return _fault(error, file)
    try:
        return "=" + _dumps(result, allow_nan=False)
    except BaseException as error:
        return "?0:`evaluate` returned what has no JSON form: " + str(error)[:200]


_KINDS = {
    "call": _call,
    "program": _program,
    "open": _open,
    "names": _names,
    "test": _test,
    "script": _script,
}


class WitWorld(wit_world.WitWorld):
    """What the component exports."""

    def run(self, text):
        request = _loads(text)
        if request["kind"] == "serve":
            return karat_suite.serve(request["question"])
        return _KINDS[request["kind"]](request)


# What is there now stays: nothing of it has to be looked at when memory is cleaned up.
gc.collect()
gc.freeze()
