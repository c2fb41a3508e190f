"""Run functions from other threads in the thread that owns the simulation."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from queue import Empty, SimpleQueue
from typing import Any

from tactile_sim.common.errors import CommandError


class Mailbox:
    """A queue of functions. Any thread can add functions; a single thread executes them.

    The functions run between two steps, so no lock is held while stepping.
    """

    def __init__(self) -> None:
        self._letters: SimpleQueue[Callable[[], object]] = SimpleQueue()
        self._closing = threading.Lock()
        self._closed = False

    def post(self, work: Callable[[], object]) -> None:
        """Queue a function to run between two steps; its result is ignored."""
        self._letters.put(work)

    def call(self, work: Callable[[], Any]) -> Future:
        """Queue a function and return a future for its result.

        Args:
            work: Function to run between two steps.

        Returns:
            A future with the result of the function or the exception that it raises. If the function returns
            a future, that future's result is used. After `close`, the future fails with a CommandError.
        """
        future: Future = Future()

        def pass_on(done: Future) -> None:
            if error := done.exception():
                future.set_exception(error)
            else:
                future.set_result(done.result())

        def answer() -> None:
            try:
                result = work()
            except Exception as error:
                future.set_exception(error)
            else:
                if isinstance(result, Future):
                    result.add_done_callback(pass_on)
                else:
                    future.set_result(result)

        with self._closing:
            if self._closed:
                future.set_exception(CommandError("the simulation has ended"))
            else:
                self._letters.put(answer)
        return future

    def read(self, wait: float = 0.0) -> None:
        """Execute all queued functions.

        Args:
            wait: Longest time to wait for the first function [s].
        """
        if not wait and self._letters.empty():
            return
        try:
            work = self._letters.get(timeout=wait) if wait else self._letters.get_nowait()
            while True:
                work()
                work = self._letters.get_nowait()
        except Empty:
            pass

    def close(self) -> None:
        """Execute all queued functions and reject later calls."""
        with self._closing:
            self._closed = True
        self.read()
