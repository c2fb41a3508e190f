"""Work that other threads hand to the one that owns the simulation."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from queue import Empty, SimpleQueue
from typing import Any

from tactile_sim.errors import CommandError


class Mailbox:
    """Filled by any thread, emptied by one: between two steps, so that no lock is held while stepping."""

    def __init__(self) -> None:
        self._letters: SimpleQueue[Callable[[], object]] = SimpleQueue()
        self._closing = threading.Lock()
        self._closed = False

    def post(self, work: Callable[[], object]) -> None:
        """Lets work be done."""
        self._letters.put(work)

    def call(self, work: Callable[[], Any]) -> Future:
        """Do work between two steps.

        Returns:
            The future of its result or error. If the result is a future itself, of the result of that one.
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
        """Does all work that is there; waits so long [s] for the first."""
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
        """Does what is there; whoever calls later is told that the simulation has ended."""
        with self._closing:
            self._closed = True
        self.read()
