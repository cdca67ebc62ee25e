"""Codes on a GPU: the streams of a CPU, by both drivers of MPC, and when graphs repeat them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from codec_fields import KINDS, field_of
from numpy.typing import NDArray

from groundswell.backends import Backend, open_backend
from groundswell.exchange.codecs.mpc import VERDICTS, Mpc
from groundswell.exchange.codecs.zfp import Zfp

pytestmark = pytest.mark.gpu
precisions = pytest.mark.parametrize("dtype", ["float32", "float64"])
drivers = pytest.mark.parametrize("at_once", [True, False], ids=["at-once", "three-launches"])

POISON = 0xA5
CPU = open_backend("cpu")
NUMBERS = [kind for kind in KINDS if kind not in ("bits", "strange")]
COUNTS = [1, 127, 129, 1024, 1025, 9000, 300_001]


def run(launches: Any) -> None:
    for launch in launches:
        launch()


def poisoned(backend: Backend, size: int) -> Any:
    return backend.to_device(np.full(size, POISON, np.uint8))


def same_bits(a: NDArray[Any], b: NDArray[Any]) -> bool:
    return a.tobytes() == b.tobytes()


# --- MPC ------------------------------------------------------------------------------------------


def mpc_stream(backend: Backend, code: Mpc, values: NDArray[Any]) -> NDArray[np.uint8]:
    """The stream, in poisoned memory that stays as it is behind it."""
    stream = poisoned(backend, code.capacity + 64)
    run(code.compress(backend.to_device(values), stream))
    used = int(backend.to_host(code.used)[0])
    found = backend.to_host(stream)
    assert used <= code.capacity and (found[used:] == POISON).all()
    return found[:used]


def mpc_values(backend: Backend, code: Mpc, stream: NDArray[np.uint8]) -> tuple[str, NDArray[Any]]:
    """Verdict and values, which nothing is written behind."""
    size = code.count * np.dtype(code.dtype).itemsize
    memory = poisoned(backend, size + 64)
    backend.assign(code.verdict, np.zeros((1,), np.int64))
    run(code.decompress(backend.to_device(stream), memory[:size].view(code.dtype)))
    found = backend.to_host(memory)
    assert (found[size:] == POISON).all()
    return VERDICTS[int(backend.to_host(code.verdict)[0])], found[:size].view(code.dtype)


@precisions
@drivers
@pytest.mark.parametrize("count", COUNTS)
def test_mpc_gives_the_cpus_streams(gpu: Any, dtype: str, at_once: bool, count: int) -> None:
    for dim in (1, 2, 3, 11, 16, 17, 31, 32):
        code, wanted = Mpc(gpu, dtype, count, dim, at_once=at_once), Mpc(CPU, dtype, count, dim)
        for kind in KINDS if dim == 1 else KINDS[:2]:
            values = field_of(kind, (count,), dtype, seed=count + dim)
            stream = mpc_stream(gpu, code, values)
            assert same_bits(stream, mpc_stream(CPU, wanted, values)), (dim, kind)
            verdict, back = mpc_values(gpu, code, stream)
            assert verdict == "sound" and same_bits(back, values), (dim, kind)


@precisions
def test_mpc_with_many_tiles(gpu: Any, dtype: str) -> None:
    """More than blocks take in one turn, several times, with fresh values."""
    count = 40_000_003
    code = Mpc(gpu, dtype, count)
    wanted = Mpc(CPU, dtype, count)
    for kind in ("normal", "sparse", "smooth"):
        values = field_of(kind, (count,), dtype)
        stream = mpc_stream(gpu, code, values)
        assert same_bits(stream, mpc_stream(CPU, wanted, values))
        verdict, back = mpc_values(gpu, code, stream)
        assert verdict == "sound" and same_bits(back, values)


@precisions
@drivers
@pytest.mark.parametrize("offset", [1, 2, 3])
def test_mpc_values_may_begin_anywhere(gpu: Any, dtype: str, at_once: bool, offset: int) -> None:
    values = field_of("normal", (5000,), dtype)
    code = Mpc(gpu, dtype, 5000 - offset, at_once=at_once)
    stream = poisoned(gpu, code.capacity)
    run(code.compress(gpu.to_device(values)[offset:], stream))
    back = gpu.to_device(np.zeros(5000, dtype))
    run(code.decompress(stream, back[offset:]))
    found = gpu.to_host(back)
    assert same_bits(found[offset:], values[offset:]) and not found[:offset].any()


@precisions
@drivers
def test_mpc_graphs_repeat(gpu: Any, dtype: str, at_once: bool) -> None:
    """A recorded code of fresh values, over poisoned memory, each time."""
    count = 777_777
    code, wanted = Mpc(gpu, dtype, count, at_once=at_once), Mpc(CPU, dtype, count)
    values, back = gpu.zeros((count,), dtype), gpu.zeros((count,), dtype)
    stream = gpu.zeros((code.capacity,), np.uint8)
    launches = [*code.compress(values, stream), *code.decompress(stream, back)]
    run(launches)
    graph = gpu.capture(lambda: run(launches))
    for seed in range(3):
        fresh = field_of(("normal", "smooth", "sparse")[seed], (count,), dtype, seed)
        gpu.assign(values, fresh)
        gpu.assign(back, np.full(count, np.nan, dtype))
        gpu.assign(stream, np.full(code.capacity, POISON, np.uint8))
        graph.replay(2)
        expected = mpc_stream(CPU, wanted, fresh)
        assert int(gpu.to_host(code.used)[0]) == len(expected)
        assert same_bits(gpu.to_host(stream)[: len(expected)], expected)
        assert same_bits(gpu.to_host(back), fresh)


@precisions
@drivers
@pytest.mark.parametrize("dim", [1, 7])
def test_mpc_damage_stays_inside(gpu: Any, dtype: str, at_once: bool, dim: int) -> None:
    """What CPU and GPU make of damaged streams is the same."""
    rng = np.random.default_rng(dim)
    values = field_of("smooth", (27_777,), dtype)
    code, cpu = (
        Mpc(gpu, dtype, len(values), dim, at_once=at_once),
        Mpc(CPU, dtype, len(values), dim),
    )
    stream = mpc_stream(CPU, cpu, values)
    for n in range(12):
        wrong = stream.copy()
        if n % 3 == 0:
            wrong[8:] = rng.integers(0, 256, len(wrong) - 8, np.uint8)
        elif n % 3 == 1:
            wrong[rng.integers(0, len(wrong), 9)] ^= np.uint8(1 << n % 8)
        else:
            wrong = wrong[: len(wrong) // 8 * (8 - n // 3) // 8 * 8].copy()
        expected, found = mpc_values(CPU, cpu, wrong), mpc_values(gpu, code, wrong)
        assert expected[0] == found[0] and same_bits(expected[1], found[1]), n
    assert mpc_values(gpu, code, stream)[0] == "sound"


# --- ZFP ------------------------------------------------------------------------------------------


def zfp_stream(backend: Backend, code: Zfp, values: NDArray[Any]) -> NDArray[np.uint8]:
    stream = poisoned(backend, code.size + 64)
    run(code.compress(backend.to_device(values), stream))
    found = backend.to_host(stream)
    assert (found[code.size :] == POISON).all()
    return found[: code.size]


def zfp_values(backend: Backend, code: Zfp, stream: NDArray[np.uint8]) -> NDArray[Any]:
    size = code.count * np.dtype(code.dtype).itemsize
    memory = poisoned(backend, size + 64)
    run(code.decompress(backend.to_device(stream), memory[:size].view(code.dtype)))
    found = backend.to_host(memory)
    assert (found[size:] == POISON).all()
    return found[:size].view(code.dtype)


@precisions
@pytest.mark.parametrize("rate", [3.25, 4, 8, 12, 16, 24])
@pytest.mark.parametrize("count", [1, 8710, 100_003])
def test_zfp_gives_the_cpus_streams(gpu: Any, dtype: str, rate: float, count: int) -> None:
    code, wanted = Zfp(gpu, dtype, count, rate), Zfp(CPU, dtype, count, rate)
    for kind in NUMBERS:
        values = field_of(kind, (count,), dtype, seed=len(kind))
        stream = zfp_stream(gpu, code, values)
        assert same_bits(stream, zfp_stream(CPU, wanted, values)), kind
        found, expected = zfp_values(gpu, code, stream), zfp_values(CPU, wanted, stream)
        assert same_bits(found, expected), kind


@precisions
def test_zfp_takes_any_bits(gpu: Any, dtype: str) -> None:
    for rate in (5.25, 8, 16, 24):
        code = Zfp(gpu, dtype, 2003, rate)
        for kind in ("bits", "strange"):
            zfp_stream(gpu, code, field_of(kind, (2003,), dtype))
        zfp_values(gpu, code, np.random.default_rng(1).integers(0, 256, code.size, np.uint8))


def test_zfp_graphs_repeat(gpu: Any) -> None:
    code, wanted = (Zfp(b, "float32", 50_001, 16) for b in (gpu, CPU))
    values, back = gpu.zeros((50_001,), np.float32), gpu.zeros((50_001,), np.float32)
    stream = gpu.zeros((code.size,), np.uint8)
    launches = [*code.compress(values, stream), *code.decompress(stream, back)]
    graph = gpu.capture(lambda: run(launches))
    for seed in range(2):
        fresh = field_of("normal", (50_001,), "float32", seed)
        gpu.assign(values, fresh)
        gpu.assign(stream, np.full(code.size, POISON, np.uint8))
        graph.replay(2)
        expected = zfp_stream(CPU, wanted, fresh)
        assert same_bits(gpu.to_host(stream), expected)
        assert same_bits(gpu.to_host(back), zfp_values(CPU, wanted, expected))
