"""The CPU backend: memory, kernels, graphs, measurements, and how backends open."""

from __future__ import annotations

import ctypes
import gc
import importlib.util
import re
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sample_kernels import check_branches

from groundswell.backends import Items, Source, cpu, open_backend
from groundswell.backends.cache import KernelCache
from groundswell.backends.cpu import CpuBackend
from groundswell.errors import BackendError, InputError

pytestmark = pytest.mark.each_value


KERNELS = """
#include "portable.h"
KERNEL add(real* out, const real* in, index_t count) {
  FOR_ITEMS(n, count) { out[n] += in[n]; }
}
KERNEL widest(long long* out, index_t value) { FOR_ITEMS(n, 1) { out[0] = value; } }
extern "C" int omp_get_num_threads();
KERNEL team(long long* out, index_t count) {
  FOR_ITEMS(n, count) { out[n] = omp_get_num_threads(); }
}
"""


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> KernelCache:
    return KernelCache(tmp_path_factory.mktemp("cache"))


@pytest.fixture
def backend(cache: KernelCache) -> CpuBackend:
    return CpuBackend(cache)


@pytest.fixture
def kernels(tmp_path: Path) -> Source:
    path = tmp_path / "kernels.h"
    path.write_text(KERNELS)
    return Source(path, {})


# --- memory ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
@pytest.mark.parametrize("shape", [(1,), (7, 3), (3, 5, 11)])
def test_new_arrays_are_zero_aligned_and_writable(
    backend: CpuBackend, shape: Any, dtype: str
) -> None:
    array = backend.zeros(shape, dtype)
    assert array.shape == shape and array.dtype == dtype and not array.any()
    assert array.ctypes.data % 128 == 0 and array.flags.c_contiguous
    array[...] = 1


def test_arrays_start_at_different_places_within_a_page(backend: CpuBackend) -> None:
    """Else the same point of a dozen fields would compete for one set of the cache."""
    arrays = [backend.zeros((4096,), np.float32) for _ in range(16)]
    starts = [array.ctypes.data % cpu.PAGE for array in arrays]
    assert len(set(starts)) >= 12


def test_copies_do_not_share_memory(backend: CpuBackend) -> None:
    host = np.random.default_rng(1).normal(size=(3, 4))
    array = backend.to_device(host)
    copy = backend.to_host(array)
    array[...] = 0
    assert (copy == host).all() and host.any()
    backend.assign(array[1:2, ::2], host[1:2, ::2])
    assert np.count_nonzero(array) == 2 and array[1, 2] == host[1, 2]


def test_free_memory_is_part_of_all_memory(backend: CpuBackend) -> None:
    free, total = backend.memory_info()
    assert 2**20 < free <= total < 2**50


def test_shared_memory_takes_one_file_descriptor(backend: CpuBackend) -> None:
    """An open domain holds memory of each neighbour, too."""

    def descriptors() -> int:
        return len(list(Path("/proc/self/fd").iterdir()))

    before = descriptors()
    own = backend.allocate_shared(5000)
    others = [backend.attach_handle(own.handle) for _ in range(5)]
    assert descriptors() == before + 1
    for n, memory in enumerate((own, *others)):
        ctypes.memset(memory.address + n, n + 1, 1)
    assert ctypes.string_at(own.address, 7) == bytes([1, 2, 3, 4, 5, 6, 0])
    own.close()
    assert descriptors() == before
    with pytest.raises(BackendError, match="cannot be used"):
        backend.attach_handle(own.handle)
    del own
    gc.collect()
    assert ctypes.string_at(others[0].address, 2) == bytes([1, 2])


# --- compiling and launching ----------------------------------------------------------------------


def test_launches_take_views_by_their_first_element(backend: CpuBackend, kernels: Source) -> None:
    out, values = backend.zeros((10,), np.float32), backend.to_device(np.arange(4, dtype="f4"))
    run = backend.compile(kernels).launch("add", Items(3), out[5:], values[1:], 3)
    assert not out.any()  # nothing happens before the launch is called
    run()
    run()
    assert out.tolist() == [0, 0, 0, 0, 0, 2, 4, 6, 0, 0]


@pytest.mark.parametrize("value", [2**62 + 1, -(2**62) - 1, np.int64(2**40), np.int32(7)])
def test_integers_have_64_bits(backend: CpuBackend, kernels: Source, value: Any) -> None:
    out = backend.zeros((1,), np.int64)
    backend.compile(kernels).launch("widest", Items(1), out, value)()
    assert out[0] == value


def test_a_launch_keeps_its_arrays_alive(backend: CpuBackend, kernels: Source) -> None:
    out = backend.zeros((2**20,), np.float32)
    values = backend.to_device(np.ones(2**20, np.float32))
    run = backend.compile(kernels).launch("add", Items(2**20), out, values, 2**20)
    del values
    backend.zeros((2**20,), np.float32)[...] = 5  # would take the freed memory
    run()
    assert (out == 1).all()


def test_kernels_use_as_many_threads_as_they_are_given(tmp_path: Path, kernels: Source) -> None:
    """Whichever thread launches them, and whatever another backend of the process uses."""
    cache = KernelCache(tmp_path / "cache")
    for threads in (3, 1, 2):
        backend = CpuBackend(cache, threads)
        found = backend.zeros((80,), np.int64)
        launch = backend.compile(kernels).launch("team", Items(80), found, 80)
        launch()
        assert backend.cores == threads and (found == threads).all()
        found[...] = 0
        with ThreadPoolExecutor(1) as pool:
            pool.submit(launch).result()
        assert (found == threads).all()


def test_other_arguments_are_refused(backend: CpuBackend, kernels: Source) -> None:
    with pytest.raises(TypeError, match="not float"):
        backend.compile(kernels).launch("widest", Items(1), backend.zeros((1,), np.int64), 1.5)


def test_the_second_compilation_comes_from_the_cache(tmp_path: Path, kernels: Source) -> None:
    cache = KernelCache(tmp_path / "shared")
    CpuBackend(cache).build(kernels)
    (entry,) = cache.entries()
    built = entry.stat().st_ino
    CpuBackend(cache).build(kernels)
    assert [path.stat().st_ino for path in cache.entries()] == [built]


@pytest.mark.parametrize("change", ["constants", "text", "flags"])
def test_whatever_changes_the_code_changes_the_entry(
    tmp_path: Path, kernels: Source, change: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    backend = CpuBackend(cache := KernelCache(tmp_path / "shared"))
    backend.build(kernels)
    if change == "flags":
        monkeypatch.setattr(cpu, "FLAGS", [*cpu.FLAGS, "-g0"])
    elif change == "text":
        kernels.path.write_text(KERNELS + "// more\n")
    backend.build(Source(kernels.path, {"N": 1} if change == "constants" else {}))
    assert len(cache.entries()) == 2


def test_a_kernel_that_does_not_compile_shows_the_compilers_words(
    backend: CpuBackend, tmp_path: Path
) -> None:
    (tmp_path / "bad.h").write_text("int f( {\n")
    with pytest.raises(BackendError, match=r"could not compile a kernel(.|\n)*bad\.h:1"):
        backend.compile(Source(tmp_path / "bad.h", {}))
        backend.finish_compiling()


def test_a_machine_without_a_compiler_says_what_to_install(
    backend: CpuBackend, kernels: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.delenv("CXX", raising=False)
    cpu._compiler.cache_clear()
    try:
        with pytest.raises(BackendError, match=r"no C\+\+ compiler.*apt install"):
            backend.compile(kernels)
            backend.finish_compiling()
    finally:
        cpu._compiler.cache_clear()


def test_flags_leave_rounding_alone() -> None:
    """Fast mathematics would make results depend on where a block of the grid begins."""
    assert "-ffp-contract=off" in cpu.FLAGS
    assert not {"-ffast-math", "-Ofast", "-funsafe-math-optimizations"} & set(cpu.FLAGS)


# --- graphs, events, measurements -----------------------------------------------------------------


def test_a_graph_replays_its_sequence(backend: CpuBackend, kernels: Source) -> None:
    out, one = backend.zeros((1,), np.float32), backend.to_device(np.ones(1, np.float32))
    add = backend.compile(kernels).launch("add", Items(1), out, one, 1)
    graph = backend.capture(lambda: [add(), add()])
    start = out[0]
    for times in (0, 1, 9):
        graph.replay(times)
    assert out[0] - start == 20


def test_branches_run_one_after_the_other(backend: CpuBackend) -> None:
    check_branches(backend, 100, rounds=10)


def test_events_measure_seconds(backend: CpuBackend) -> None:
    begin = backend.record_event()
    time.sleep(0.02)
    end = backend.record_event()
    end.wait()
    backend.synchronize()
    assert 0.02 <= end.seconds_since(begin) < 2


def test_bandwidth_is_that_of_a_computer(backend: CpuBackend) -> None:
    assert 1e8 < backend.measure_bandwidth(megabytes=4, repeats=2) < 1e13


def test_versions_name_the_compiler(backend: CpuBackend) -> None:
    assert re.search(r"\d+\.\d+", backend.versions()["compiler"])


# --- opening --------------------------------------------------------------------------------------


def test_backends_open_by_name() -> None:
    found = open_backend("cpu")
    assert found.name == "cpu" and "1 thread" in open_backend("cpu", threads=1).device


def test_unknown_backends_are_refused_with_the_allowed_ones() -> None:
    with pytest.raises(InputError, match="'gpu' is unknown; allowed: cpu, cuda"):
        open_backend("gpu")


@pytest.mark.skipif(importlib.util.find_spec("cupy") is not None, reason="CuPy is installed")
def test_a_missing_gpu_is_an_error_never_the_cpu() -> None:
    with pytest.raises(BackendError, match=r"CuPy is not installed.*backend = \"cpu\""):
        open_backend("cuda")
