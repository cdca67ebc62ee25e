"""Recorded sequences of launches, as CUDA's graphs."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from groundswell.backends.streams import Lanes
from groundswell.errors import RunFailed

UNROLL = 8  # sequences in the long graph: host work per replay becomes negligible
LONG = 64  # launches of a sequence that is long enough by itself


class CudaGraph:
    """A sequence, and if it is short several of them, each as an instantiated graph."""

    def __init__(self, stream: Any, sequence: Callable[[], None], lanes: Lanes) -> None:
        self._stream, self._lanes = stream, lanes
        self._sequence = sequence  # and with it what its launches need
        before = lanes.launched
        self._one = self._capture(sequence, 1)
        self._unroll = UNROLL if lanes.launched - before < LONG else 1
        self._many = self._capture(sequence, UNROLL) if self._unroll > 1 else self._one

    def _capture(self, sequence: Callable[[], None], times: int) -> Executable:
        with self._stream, self._lanes.afresh():
            self._stream.begin_capture()
            try:
                for _ in range(times):
                    sequence()
            except BaseException:
                with suppress(Exception):  # what went wrong matters, not the unfinished capture
                    self._stream.end_capture()
                raise
            return Executable(self._stream.end_capture())

    def replay(self, times: int) -> None:
        for _ in range(times // self._unroll):
            self._many.launch(self._stream)
        for _ in range(times % self._unroll):
            self._one.launch(self._stream)


class Executable:
    """A graph that keeps what is urgent so. CuPy's own lets all of it wait in one line.

    CuPy before version 14 keeps nothing of what graphs were made of: those are taken as they are.

    Args:
        graph: CuPy's.
    """

    def __init__(self, graph: Any) -> None:
        from cuda.bindings import runtime

        self._graph, self._runtime = graph, runtime
        self._ready: Any = None
        if source := getattr(graph, "graph", 0):
            by_node = runtime.cudaGraphInstantiateFlags.cudaGraphInstantiateFlagUseNodePriority
            error, self._ready = runtime.cudaGraphInstantiate(source, int(by_node))
            self._require(error)

    def launch(self, stream: Any) -> None:
        """Enqueue it in a stream of CuPy's."""
        if self._ready is None:
            self._graph.launch(stream)
        else:
            self._require(self._runtime.cudaGraphLaunch(self._ready, stream.ptr)[0])

    def _require(self, error: Any) -> None:
        if error != self._runtime.cudaError_t.cudaSuccess:
            raise RunFailed(f"the GPU refused a graph of launches ({error.name})")

    def __del__(self) -> None:
        with suppress(Exception):  # the interpreter may be ending
            if self._ready is not None:
                self._runtime.cudaGraphExecDestroy(self._ready)
