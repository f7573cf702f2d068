"""Loads the standard library into the snapshot: an instance has no files to load it from, and so it costs nothing."""

import importlib
import pkgutil
import sys
import warnings

# Whatever opens windows, starts processes, builds packages or greets.
SKIP = {
    "__phello__", "_aix_support", "_android_support", "_apple_support", "_ios_support", "_osx_support",
    "_pyrepl", "antigravity", "ensurepip", "idlelib", "lib2to3", "nt", "ntpath_win", "pip", "pydoc_data",
    "setuptools", "test", "this", "tkinter", "turtle", "turtledemo", "venv", "winreg", "winsound",
}


def _load(name):
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return importlib.import_module(name)
    except BaseException:
        # Not for this platform: importing it later raises as it did now.
        return None


def _load_all(names):
    for name in sorted(names):
        if name in SKIP or name.rpartition(".")[2] in ("test", "tests", "__main__"):
            continue
        module = _load(name)
        path = getattr(module, "__path__", None)
        if path:
            _load_all(name + "." + found.name for found in pkgutil.iter_modules(path))


_load_all(sys.stdlib_module_names)
