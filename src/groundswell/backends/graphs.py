"""CUDA graphs of captured launches."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from groundswell.backends.streams import Streams
from groundswell.errors import RunFailed

if TYPE_CHECKING:
    import cupy
    from cuda.bindings import runtime as cuda_runtime

UNROLL = 8  # repetitions in the unrolled graph, so that the host's work becomes negligible
LONG_SEQUENCE = 64  # launches from which on unrolling gains nothing


class CudaGraph:
    """A captured sequence. A short sequence is also captured UNROLL times in one graph."""

    def __init__(
        self, stream: cupy.cuda.Stream, sequence: Callable[[], None], streams: Streams
    ) -> None:
        self._stream, self._streams = stream, streams
        self._sequence = sequence  # keeps alive what its launches use
        before = streams.launch_count
        self._single = self._capture(sequence, 1)
        self._unroll = UNROLL if streams.launch_count - before < LONG_SEQUENCE else 1
        self._unrolled = self._capture(sequence, UNROLL) if self._unroll > 1 else self._single

    def _capture(self, sequence: Callable[[], None], times: int) -> GraphExecutable:
        with self._stream, self._streams.isolated():
            self._stream.begin_capture()
            try:
                for _ in range(times):
                    sequence()
            except BaseException:
                with suppress(Exception):  # raise the original error, not that of the capture
                    self._stream.end_capture()
                raise
            return GraphExecutable(self._stream.end_capture())

    def replay(self, times: int) -> None:
        for _ in range(times // self._unroll):
            self._unrolled.launch(self._stream)
        for _ in range(times % self._unroll):
            self._single.launch(self._stream)


class GraphExecutable:
    """An instantiated graph whose nodes keep the priorities of their streams.

    CuPy instantiates graphs without priorities. CuPy before version 14 does not give access to the
    graph itself, so its own instance is used there.

    Args:
        graph: a graph of CuPy's.
    """

    def __init__(self, graph: cupy.cuda.Graph) -> None:
        from cuda.bindings import runtime

        self._graph, self._runtime = graph, runtime
        self._executable: cuda_runtime.cudaGraphExec_t | None = None
        if source := getattr(graph, "graph", 0):
            by_node = runtime.cudaGraphInstantiateFlags.cudaGraphInstantiateFlagUseNodePriority
            error, self._executable = runtime.cudaGraphInstantiate(source, int(by_node))
            self._require(error)

    def launch(self, stream: cupy.cuda.Stream) -> None:
        """Enqueue the graph in a stream of CuPy's."""
        if self._executable is None:
            self._graph.launch(stream)
        else:
            self._require(self._runtime.cudaGraphLaunch(self._executable, stream.ptr)[0])

    def _require(self, error: cuda_runtime.cudaError_t) -> None:
        if error != self._runtime.cudaError_t.cudaSuccess:
            raise RunFailed(f"the GPU could not run a graph of launches ({error.name})")

    def __del__(self) -> None:
        with suppress(Exception):  # the interpreter may be shutting down
            if self._executable is not None:
                self._runtime.cudaGraphExecDestroy(self._executable)
