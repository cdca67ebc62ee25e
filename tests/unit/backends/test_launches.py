"""Launches as objects: their attributes, the streams in which they run, and how they print."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from sample_kernels import KERNELS, stencil_source
from source_collector import dgwave_source

from groundswell.backends import (
    Backend,
    Blocks,
    Cells,
    HostCall,
    Items,
    KernelLaunch,
    Source,
    describe,
    list_launches,
)
from groundswell.backends.base import in_order
from groundswell.backends.compilation import CompilationQueue
from groundswell.backends.cpu import CpuBackend
from groundswell.backends.cuda import CudaBackend
from groundswell.backends.cuda_module import CudaModule
from groundswell.backends.launch import Replay
from groundswell.backends.signature import Parameter, signature
from groundswell.backends.source import INCLUDE
from groundswell.backends.streams import Streams
from groundswell.solvers.cavity.level import KERNELS as CAVITY
from groundswell.solvers.earthquake.step_source import KERNELS as EARTHQUAKE
from groundswell_rivals.exchange.strided_copy import copy_box

TRIAD = Source(INCLUDE / "triad.h", {})


@pytest.fixture(scope="module")
def cpu() -> CpuBackend:
    return CpuBackend()


# --- launches on a CPU ----------------------------------------------------------------------------


def test_a_launch_names_its_kernel_and_its_arrays(cpu: CpuBackend) -> None:
    a, b, c = (cpu.to_device(np.full(8, n, np.float32)) for n in range(3))
    launch = cpu.compile(TRIAD).launch("triad", Items(8), a, b, c, 8)
    assert isinstance(launch, KernelLaunch)
    assert (launch.name, launch.extent, launch.source) == ("triad", Items(8), TRIAD)
    assert launch.arguments[0] is a and launch.arguments[3] == 8
    launch()
    assert (a == 7).all()
    (entry,) = list_launches(launch, {"vx": a})
    assert (entry.number, entry.stream, entry.kind, entry.name) == (1, "main", "kernel", "triad")
    assert entry.extent == "8 items" and entry.nbytes == 96
    found = [(each.name, each.parameter, each.access) for each in entry.arrays]
    assert found == [("vx", "a", "writes"), ("", "b", "reads"), ("", "c", "reads")]


def test_five_lines_print_a_step(cpu: CpuBackend, capsys: pytest.CaptureFixture[str]) -> None:
    a, b = cpu.zeros((4,), np.float32), cpu.zeros((2, 4), np.float32)
    module = cpu.compile(TRIAD)
    update = module.launch("triad", Items(4), a, b, b, 4)
    step = [update, module.launch("touch", Items(1), b, 1)]
    print(describe(step, {"vx": a}))
    assert capsys.readouterr().out.splitlines() == [
        "#  stream  launch  extent   bytes of arrays  arrays",
        "1  main    triad   4 items  48               "
        "writes vx float32[4]; reads b c float32[2, 4]",
        "2  main    touch   1 item   32               writes a float32[2, 4]",
    ]
    assert str(in_order(step)) == describe(step)


def test_a_launch_on_a_team_is_listed_alike() -> None:
    backend = CpuBackend(threads=1)
    a = backend.zeros((4,), np.float32)
    launch = backend.compile(TRIAD).launch("touch", Items(4), a, 4)
    launch()
    assert "touch" in describe([launch])


def test_launches_keep_their_arrays_alive_and_no_longer(cpu: CpuBackend) -> None:
    a = cpu.zeros((4,), np.float32)
    launches = in_order([cpu.compile(TRIAD).launch("touch", Items(4), a, 4)])
    launches()
    alive = weakref.ref(a)
    del a
    gc.disable()
    try:
        assert alive() is not None
        del launches
        assert alive() is None, "a cycle of references keeps the array"
    finally:
        gc.enable()


def test_extents_are_words() -> None:
    assert str(Cells(4, 3, 1)) == "4 x 3 x 1 cells" and str(Items(1)) == "1 item"
    assert str(Blocks(1, 64)) == "1 block x 64 threads"
    assert str(Blocks(2, 64, work="8 bytes")) == "2 blocks x 64 threads, 8 bytes"


def test_library_calls_have_names(cpu: CpuBackend) -> None:
    values, spectrum = cpu.zeros((4, 6), np.float32), cpu.zeros((4, 4), np.complex64)
    transform = cpu.real_transform((4, 6), np.float32)
    box = copy_box(cpu, (2, 3), (values.ctypes.data, (24, 4)), (spectrum.ctypes.data, (24, 4)))
    copy = cpu.copy_bytes(values.ctypes.data, spectrum.ctypes.data, 24)
    calls = [transform.forward(values, spectrum), transform.inverse(spectrum, values), box, copy]
    in_order(calls)()
    forward, inverse, *copies = list_launches(calls, {"p": values, "s": spectrum})
    assert forward.name == "forward_transform" and inverse.name == "inverse_transform"
    assert [(each.name, each.access) for each in forward.arrays] == [
        ("p", "reads"),
        ("s", "writes"),
    ]
    assert [(each.name, each.extent) for each in copies] == [
        ("copy_box", ""),
        ("copy_bytes", "24 bytes"),
    ]


def test_arrays_are_named_by_their_memory(cpu: CpuBackend) -> None:
    whole, other = cpu.zeros((6, 6), np.float32), cpu.zeros((9,), np.float32)
    names = {"ghosts": whole, "inside": whole[1:5, 1:5], "other": other[3:]}

    def named(array: Any) -> str:
        launch = cpu.compile(TRIAD).launch("touch", Items(1), array, 1)
        return next(iter(list_launches(launch, names))).arrays[0].name

    assert named(whole) == "ghosts" and named(whole[1:5, 1:5]) == "inside"
    assert named(whole[2:4, 2:4]) == "", "it shares memory with two of them"
    assert named(other) == "other" and named(other[5:]) == "other" and named(other[:2]) == ""


# --- plain functions ------------------------------------------------------------------------------


def helper() -> None: ...


class Host:
    def receive(self) -> None: ...


def call(launch: Callable[[], None], owner: object) -> None:
    launch()


def test_plain_functions_have_their_qualified_names(cpu: CpuBackend) -> None:
    def inner() -> None: ...

    kernel = cpu.compile(TRIAD).launch("touch", Items(1), cpu.zeros((1,), np.float32), 1)
    plain = [helper, Host().receive, inner, partial(print, 1), HostCall("receive", helper)]
    wrapped = [partial(call, launch, None) for launch in (kernel, Host().receive)]
    entries = list_launches([*plain, *wrapped])
    assert [entry.name for entry in entries] == [
        "helper",
        "Host.receive",
        "test_plain_functions_have_their_qualified_names.inner",
        "print",
        "receive",
        "touch",
        "Host.receive",
    ]
    assert {entry.kind for entry in entries} == {"call", "kernel"}


def test_a_host_call_passes_its_arguments() -> None:
    calls: list[Any] = []
    HostCall("append", calls.append, 3)()
    assert calls == [3]


# --- streams --------------------------------------------------------------------------------------


class FakeStream:
    """A stream that enqueues nothing."""

    def __init__(self, **_: Any) -> None: ...

    def wait_event(self, event: Any) -> None: ...

    def __enter__(self) -> FakeStream:
        return self

    def __exit__(self, *_: object) -> None: ...


class FakeEvent:
    def __init__(self, **_: Any) -> None: ...

    def record(self, stream: FakeStream) -> None: ...


@pytest.fixture
def gpu() -> CudaBackend:
    """The streams of a GPU backend, without a GPU."""
    cupy = SimpleNamespace(cuda=SimpleNamespace(Stream=FakeStream, Event=FakeEvent))
    backend = object.__new__(CudaBackend)
    backend._streams = Streams(cupy, FakeStream())
    return backend


def compose(backend: Backend, done: list[str]) -> list[Any]:
    """A sequence with all kinds of groups, whose launches note their names."""

    def several(names: str) -> list[HostCall]:
        return [HostCall(name, done.append, name) for name in names]

    return [
        *backend.concurrently(several("ab"), [], several("c")),
        *backend.concurrently(several("d")),
        *backend.fork(several("e")),
        *several("f"),
        *backend.continue_fork(several("g")),
        in_order(several("h")),
        *backend.join(several("i")),
        *several("j"),
    ]


def test_launches_print_their_streams(gpu: CudaBackend) -> None:
    done: list[str] = []
    launches = compose(gpu, done)
    found = [(entry.stream, entry.name) for entry in list_launches(launches)]
    assert found == [
        *[("branch 1", "a"), ("branch 1", "b"), ("branch 2", "c"), ("main", "branches")],
        *[("main", "d"), ("forked", "e"), ("main", "f"), ("forked", "g"), ("main", "h")],
        *[("forked", "i"), ("main", "forked"), ("main", "j")],
    ]
    in_order(launches)()
    assert sorted(done) == list("abcdefghij") and "".join(done[3:]) == "defghij"
    assert "4   main      wait for branches" in describe(launches)


def test_a_cpu_has_one_stream(cpu: CpuBackend) -> None:
    done: list[str] = []
    launches = compose(cpu, done)
    in_order(launches)()
    entries = list(list_launches(launches))
    assert [entry.name for entry in entries] == done == list("abcdefghij")
    assert {entry.stream for entry in entries} == {"main"}


def test_a_graph_lists_what_it_captured(cpu: CpuBackend) -> None:
    done: list[str] = []
    launches = [HostCall(name, done.append, name) for name in "ab"]
    replay = Replay(cpu.capture(in_order(launches)), launches)
    replay()
    assert done == ["a", "b"] == [entry.name for entry in list_launches(replay)]


def test_a_gpu_launch_counts_itself(gpu: CudaBackend) -> None:
    calls: list[Any] = []

    class Function:
        shared_size_bytes = 0
        max_dynamic_shared_size_bytes = 0

        def __call__(self, *arguments: Any, shared_mem: int) -> None:
            calls.append((*arguments, shared_mem))

    kernels = SimpleNamespace(get_function=lambda name: Function())
    cupy = SimpleNamespace(RawModule=lambda path: kernels)
    built: Future[Path] = Future()
    built.set_result(Path("x.cubin"))
    module = CudaModule(cupy, CompilationQueue(), TRIAD, built, gpu._streams)
    array = np.zeros(4, np.float32)
    launch = module.launch("touch", Items(300), array, 4)
    blocks = module.launch("touch", Blocks(5, 64, 32), array, 4)
    in_order([launch, blocks])()
    assert gpu._streams.launch_count == 2
    assert calls == [((3,), (128,), (array, 4), 0), ((5,), (64,), (array, 4), 32)]
    assert isinstance(calls[0][2][1], np.int64)
    assert [entry.extent for entry in list_launches([launch, blocks])] == [
        "300 items",
        "5 blocks x 64 threads",
    ]


# --- signatures -----------------------------------------------------------------------------------

F, WRITES = "KERNEL f(T a) {}", (Parameter("a", "writes"),)


def access(source: Source, kernel: str) -> dict[str, str | None]:
    found = signature(source.text(), kernel)
    assert found is not None
    return {each.name: each.access for each in found}


def test_signatures_of_sample_kernels() -> None:
    assert access(TRIAD, "triad") == {"a": "writes", "b": "reads", "c": "reads", "count": None}
    stencil = access(stencil_source("float32", (4, 4, 4)), "laplacian")
    assert list(stencil.values()) == ["writes", "reads"]
    assert KERNELS.is_dir()


def test_signatures_of_macros() -> None:
    """Macros with parameters that they paste, and macros of macros."""
    found = access(Source(CAVITY / "step.h", {}), "advance")
    assert {name for name, each in found.items() if each == "writes"} == {
        f"{field}2" for field in "puvwt"
    }
    assert [name for name, each in found.items() if each is None][:2] == ["first_i", "first_j"]
    found = access(Source(EARTHQUAKE / "step.h", {}), "update_velocity")
    written = [name for name, each in found.items() if each == "writes"]
    assert written == ["vx", "vy", "vz", "memory_x", "memory_y", "memory_z", "clock"]


def test_signatures_of_macros_that_depend_on_constants() -> None:
    found = access(dgwave_source("float32", 4, elastic=True, upwind=1.0, mechanisms=2), "advance")
    assert {"u", "r", "theta", "memory_register"} == {n for n, a in found.items() if a == "writes"}
    found = access(dgwave_source("float32", 4, elastic=True, upwind=1.0, curved=True), "advance")
    assert {"u", "r"} == {n for n, a in found.items() if a == "writes"}
    assert found["metrics"] == "reads"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("KERNEL f() {}", ()),
        ("KERNEL f(real const * a, int n) {}", (Parameter("a", "reads"), Parameter("n", None))),
        ("KERNEL f(/* in, */ real *__restrict__ a) {} // KERNEL f()", (Parameter("a", "writes"),)),
        ("#define T real *\nKERNEL f(T a) {}", (Parameter("a", "writes"),)),
        ("#define T real *\n#define T const real *\nKERNEL f(T a) {}", None),
        ("#define T real *\n#undef T\nKERNEL f(T a) {}", None),
        ("#define T T2\n#define T2 T\nKERNEL f(T a) {}", None),
        ("#define P(a, b) real* a\nKERNEL f(P(x)) {}", None),
        ("#if 2 > 1 && !defined(A)\n#define T real *\n#else\n#define T int\n#endif\n" + F, WRITES),
        (
            "#ifdef A\n#if 1\n#define T int\n#endif\n#elif B || 1\n#define T real *\n#endif\n" + F,
            WRITES,
        ),
        ("#ifndef __CUDACC__\n#define T real *\n#else\n#define T real * \n#endif\n" + F, WRITES),
        ("#ifdef __CUDACC__\n#define T real *\n#else\n#define T int \n#endif\n" + F, None),
        ("#if f(1)\n#endif\nKERNEL f(real* a) {}", None),
        ("KERNEL f(real* a) {}\nKERNEL f(const real* a) {}", None),
        ("KERNEL f(real** a) {}", None),
        ("KERNEL f(real a[4]) {}", None),
        ("KERNEL f(Pair<int, int> a) {}", None),
        ("KERNEL f(real* a", None),
        ("KERNEL g(real* a) {}", None),
    ],
)
def test_unclear_signatures_are_not_guessed(text: str, expected: Any) -> None:
    assert signature(text, "f") == expected


def test_other_arguments_than_parameters_have_no_access(cpu: CpuBackend) -> None:
    a = cpu.zeros((1,), np.float32)
    module = cpu.compile(TRIAD)
    for arguments in ((a,), (a, a)):  # too few; an array for a number
        launch = module.launch("touch", Items(1), *arguments)
        for array in next(iter(list_launches(launch))).arrays:
            assert (array.parameter, array.access, array.label) == ("", None, "?")
    assert "gets ? ? float32[1]" in describe(launch)
