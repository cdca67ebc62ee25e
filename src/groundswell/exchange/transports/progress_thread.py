"""A thread that drives MPI while the main thread computes."""

from __future__ import annotations

import threading
from collections.abc import Callable

BUSY_SECONDS = 1e-3  # of polling; the cores are for the kernels


class ProgressThread:
    """Completes requests. Kernels run outside of Python's lock, so the thread runs beside them.

    Args:
        complete: waits for the requests; gets the time of polling, s.
    """

    def __init__(self, complete: Callable[[float], None]) -> None:
        self._complete = complete
        self._error: BaseException | None = None
        self._begin, self._done = threading.Semaphore(0), threading.Semaphore(0)
        self._ended = False
        self._thread = threading.Thread(target=self._run, name="groundswell-mpi", daemon=True)
        self._thread.start()

    def start(self) -> None:
        """Begin to complete the requests, which have been started."""
        self._begin.release()

    def wait(self) -> None:
        """Wait until they are complete.

        Raises:
            RunFailed: a rank is late or lost.
        """
        if self._error is None:
            self._done.acquire()
        if self._error is not None:
            raise self._error

    def close(self) -> None:
        """End the thread."""
        self._ended = True
        self._begin.release()
        self._thread.join()

    def _run(self) -> None:
        while self._begin.acquire() and not self._ended:
            try:
                self._complete(BUSY_SECONDS)
            except BaseException as error:  # the main thread raises it
                self._error = error
            self._done.release()
