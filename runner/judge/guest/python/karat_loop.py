"""Lets `asyncio` run where there are no sockets: a loop sleeps until its next timer, and nothing else can wake it."""

import asyncio.selector_events
import selectors
import time


class Sleeper(selectors.SelectSelector):
    """A selector of nothing."""

    def select(self, timeout=None):
        if timeout is None:
            raise RuntimeError("the loop waits for what cannot happen")
        if timeout > 0:
            time.sleep(timeout)
        return []


def _make_self_pipe(loop):
    loop._ssock = loop._csock = None


def _close_self_pipe(loop):
    pass


asyncio.selector_events.BaseSelectorEventLoop._make_self_pipe = _make_self_pipe
asyncio.selector_events.BaseSelectorEventLoop._close_self_pipe = _close_self_pipe
selectors.DefaultSelector = Sleeper
