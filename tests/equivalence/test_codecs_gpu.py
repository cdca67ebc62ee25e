"""Codecs on a GPU: the streams of a CPU, also when CUDA graphs are replayed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from codec_fields import KINDS, field_of
from coded_arrays import run, sizes_of, table_of, whole
from numpy.typing import NDArray

from groundswell.backends import Backend, open_backend
from groundswell.compression import Mpc, Zfp

pytestmark = pytest.mark.gpu
precisions = pytest.mark.parametrize("dtype", ["float32", "float64"])

POISON = 0xA5
CPU = open_backend("cpu")
NUMBERS = [kind for kind in KINDS if kind not in ("bits", "strange")]
COUNTS = [1, 127, 129, 1024, 1025, 9000, 300_001]


def poisoned(backend: Backend, size: int) -> Any:
    return backend.to_device(np.full(size, POISON, np.uint8))


def same_bits(a: NDArray[Any], b: NDArray[Any]) -> bool:
    return a.tobytes() == b.tobytes()


def memory_of(backend: Backend, like: NDArray[Any]) -> tuple[Any, Any]:
    """Poisoned memory, and an array like another one at its beginning."""
    memory = poisoned(backend, like.nbytes + 64)
    return memory, memory[: like.nbytes].view(like.dtype)


# --- MPC ------------------------------------------------------------------------------------------


def mpc_of(backend: Backend, values: Any) -> Mpc:
    return Mpc(backend, str(values.dtype), sizes_of(whole(values)))


def mpc_stream(backend: Backend, code: Mpc, values: NDArray[Any]) -> NDArray[np.uint8]:
    """The stream, in poisoned memory that stays as it is behind it."""
    stream, source = poisoned(backend, code.capacity + 64), backend.to_device(values)
    run(code.encode(table_of(backend, source), stream))
    used = int(backend.to_host(code.used)[0])
    found = backend.to_host(stream)
    assert used <= code.capacity and (found[used:] == POISON).all()
    return found[:used]


def mpc_values(
    backend: Backend, code: Mpc, stream: NDArray[np.uint8], like: NDArray[Any]
) -> tuple[str, NDArray[Any]]:
    """The fault of a stream, and its values, behind which nothing is written."""
    memory, values = memory_of(backend, like)
    backend.assign(code.status, np.zeros((1,), np.int64))
    run(code.decode(backend.to_device(stream), table_of(backend, values)))
    found = backend.to_host(memory)
    assert (found[like.nbytes :] == POISON).all()
    return code.fault(None), found[: like.nbytes].view(like.dtype)


def check_mpc(gpu: Any, dtype: str, count: int, kinds: Any) -> None:
    """Streams of a CPU, and back."""
    sizes = sizes_of([((0,), (count,))])
    code, cpu = Mpc(gpu, dtype, sizes), Mpc(CPU, dtype, sizes)
    for kind in kinds:
        values = field_of(kind, (count,), dtype, seed=count)
        stream = mpc_stream(gpu, code, values)
        assert same_bits(stream, mpc_stream(CPU, cpu, values)), kind
        fault, back = mpc_values(gpu, code, stream, values)
        assert not fault and same_bits(back, values), kind


@precisions
@pytest.mark.parametrize("count", COUNTS)
def test_mpc_gives_the_cpus_streams(gpu: Any, dtype: str, count: int) -> None:
    check_mpc(gpu, dtype, count, KINDS)


@precisions
def test_mpc_with_many_tiles(gpu: Any, dtype: str) -> None:
    """Blocks encode several tiles each, several times, with new values."""
    check_mpc(gpu, dtype, 40_000_003, ("normal", "sparse", "smooth"))


@precisions
@pytest.mark.parametrize("offset", [1, 2, 3])
def test_mpc_values_may_begin_anywhere(gpu: Any, dtype: str, offset: int) -> None:
    values = field_of("normal", (5000,), dtype)
    source, back = gpu.to_device(values)[offset:], gpu.to_device(np.zeros(5000, dtype))
    code = mpc_of(gpu, source)
    stream = poisoned(gpu, code.capacity)
    run(code.encode(table_of(gpu, source), stream))
    run(code.decode(stream, table_of(gpu, back[offset:])))
    found = gpu.to_host(back)
    assert same_bits(found[offset:], values[offset:]) and not found[:offset].any()


@precisions
def test_mpc_graphs_repeat(gpu: Any, dtype: str) -> None:
    """Each replay encodes new values, into poisoned memory."""
    count = 777_777
    values, back = gpu.zeros((count,), dtype), gpu.zeros((count,), dtype)
    code, cpu = mpc_of(gpu, values), mpc_of(CPU, values)
    stream = gpu.zeros((code.capacity,), np.uint8)
    launches = [
        *code.encode(table_of(gpu, values), stream),
        *code.decode(stream, table_of(gpu, back)),
    ]
    run(launches)
    graph = gpu.capture(lambda: run(launches))
    for seed in range(3):
        new = field_of(("normal", "smooth", "sparse")[seed], (count,), dtype, seed)
        gpu.assign(values, new)
        gpu.assign(back, np.full(count, np.nan, dtype))
        gpu.assign(stream, np.full(code.capacity, POISON, np.uint8))
        graph.replay(2)
        expected = mpc_stream(CPU, cpu, new)
        assert int(gpu.to_host(code.used)[0]) == len(expected)
        assert same_bits(gpu.to_host(stream)[: len(expected)], expected)
        assert same_bits(gpu.to_host(back), new)


@precisions
def test_mpc_damage_stays_inside(gpu: Any, dtype: str) -> None:
    """CPU and GPU decode damaged streams to the same values."""
    rng = np.random.default_rng(1)
    values = field_of("smooth", (27_777,), dtype)
    code, cpu = mpc_of(gpu, values), mpc_of(CPU, values)
    stream = mpc_stream(CPU, cpu, values)
    for n in range(12):
        wrong = stream.copy()
        if n % 3 == 0:
            wrong[8:] = rng.integers(0, 256, len(wrong) - 8, np.uint8)
        elif n % 3 == 1:
            wrong[rng.integers(0, len(wrong), 9)] ^= np.uint8(1 << n % 8)
        else:
            wrong = wrong[: len(wrong) // 8 * (8 - n // 3) // 8 * 8].copy()
        expected = mpc_values(CPU, cpu, wrong, values)
        found = mpc_values(gpu, code, wrong, values)
        assert expected[0] == found[0] and same_bits(expected[1], found[1]), n
    assert not mpc_values(gpu, code, stream, values)[0]


# --- ZFP ------------------------------------------------------------------------------------------


def zfp_of(backend: Backend, values: Any, rate: int) -> Zfp:
    return Zfp(backend, str(values.dtype), sizes_of(whole(values)), rate)


def zfp_stream(backend: Backend, values: NDArray[Any], rate: int) -> NDArray[np.uint8]:
    code, source = zfp_of(backend, values, rate), backend.to_device(values)
    stream = poisoned(backend, code.capacity + 64)
    run(code.encode(table_of(backend, source), stream))
    found = backend.to_host(stream)
    assert (found[code.capacity :] == POISON).all()
    return found[: code.capacity]


def zfp_values(
    backend: Backend, like: NDArray[Any], rate: int, stream: NDArray[np.uint8]
) -> NDArray[Any]:
    memory, values = memory_of(backend, like)
    decode = zfp_of(backend, like, rate).decode
    run(decode(backend.to_device(stream), table_of(backend, values)))
    found = backend.to_host(memory)
    assert (found[like.nbytes :] == POISON).all()
    return found[: like.nbytes].view(like.dtype)


@precisions
@pytest.mark.parametrize("rate", [3, 4, 8, 12, 16, 24])
@pytest.mark.parametrize("count", [1, 8710, 100_003])
def test_zfp_gives_the_cpus_streams(gpu: Any, dtype: str, rate: int, count: int) -> None:
    for kind in NUMBERS:
        values = field_of(kind, (count,), dtype, seed=len(kind))
        stream = zfp_stream(gpu, values, rate)
        assert same_bits(stream, zfp_stream(CPU, values, rate)), kind
        found, expected = (zfp_values(backend, values, rate, stream) for backend in (gpu, CPU))
        assert same_bits(found, expected), kind


@precisions
def test_zfp_takes_any_bits(gpu: Any, dtype: str) -> None:
    for rate in (5, 8, 16, 24):
        for kind in ("bits", "strange"):
            values = field_of(kind, (2003,), dtype)
            size = len(zfp_stream(gpu, values, rate))
            any_bits = np.random.default_rng(1).integers(0, 256, size, np.uint8)
            zfp_values(gpu, values, rate, any_bits)


def test_zfp_graphs_repeat(gpu: Any) -> None:
    values, back = gpu.zeros((50_001,), np.float32), gpu.zeros((50_001,), np.float32)
    code = zfp_of(gpu, values, 16)
    stream = gpu.zeros((code.capacity,), np.uint8)
    launches = [
        *code.encode(table_of(gpu, values), stream),
        *code.decode(stream, table_of(gpu, back)),
    ]
    graph = gpu.capture(lambda: run(launches))
    for seed in range(2):
        new = field_of("normal", (50_001,), "float32", seed)
        gpu.assign(values, new)
        gpu.assign(stream, np.full(code.capacity, POISON, np.uint8))
        graph.replay(2)
        expected = zfp_stream(CPU, new, 16)
        assert same_bits(gpu.to_host(stream), expected)
        assert same_bits(gpu.to_host(back), zfp_values(CPU, new, 16, expected))
