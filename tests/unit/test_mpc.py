"""MPC streams, word for word against NumPy; round trips; streams that are damaged."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from codec_fields import KINDS, field_of
from guard_page import guarded
from mpc_oracle import stream_of
from numpy.typing import NDArray
from variants import long_variants

from groundswell.backends import Backend, open_backend
from groundswell.errors import InputError
from groundswell.exchange.codecs.mpc import VERDICTS, Mpc

POISON = 0xA5
Bytes = NDArray[np.uint8]
precisions = pytest.mark.parametrize("dtype", ["float32", "float64"])


@pytest.fixture(scope="module")
def backend() -> Backend:
    return open_backend("cpu")


def coded(code: Mpc, values: NDArray[Any]) -> Bytes:
    """The stream of values; all that it must not touch is looked at."""
    stream = np.full(code.capacity + 64, POISON, np.uint8)
    for launch in code.compress(values, stream):
        launch()
    used = int(code.used[0])
    assert used <= code.capacity and (stream[used:] == POISON).all()
    return stream[:used]


def decoded(code: Mpc, stream: Bytes) -> tuple[str, NDArray[Any]]:
    """What is made of any stream, both behind guards."""
    values = guarded(np.full(code.count, np.nan, code.dtype))
    code.verdict[0] = 0
    for launch in code.decompress(guarded(stream), values):
        launch()
    return VERDICTS[int(code.verdict[0])], values


def same_bits(a: NDArray[Any], b: NDArray[Any]) -> bool:
    return a.tobytes() == b.tobytes()


def check(backend: Backend, values: NDArray[Any], dim: int) -> Bytes:
    """The stream of NumPy, and back."""
    code = Mpc(backend, str(values.dtype), len(values), dim)
    stream = coded(code, values)
    assert same_bits(stream, stream_of(values, dim))
    verdict, back = decoded(code, stream)
    assert verdict == "sound" and same_bits(back, values)
    return stream


@precisions
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("count", [1, 31, 33, 64, 1023, 1024, 1025, 5000])
def test_streams_are_those_of_the_format(
    backend: Backend, dtype: str, kind: str, count: int
) -> None:
    for dim in (1, 3, 32):
        check(backend, field_of(kind, (count,), dtype, seed=count), dim)


@precisions
def test_every_dim(backend: Backend, dtype: str) -> None:
    for dim in range(1, 33):
        check(backend, field_of("smooth", (2500 + dim,), dtype), dim)


@pytest.mark.parametrize(
    ("dtype", "dim"), [("float32", 5), *long_variants([("float32", 1), ("float64", 1)])]
)
def test_every_length(backend: Backend, dtype: str, dim: int) -> None:
    """All lengths up to a chunk, and every seventh up to four of them."""
    values = field_of("alternating", (4096,), dtype)
    for count in [*range(1, 1025), *range(1025, 4096, 7)]:
        check(backend, values[:count], dim)


@precisions
@pytest.mark.parametrize("offset", [0, 1, 2, 3])
def test_values_may_begin_anywhere(backend: Backend, dtype: str, offset: int) -> None:
    check(backend, field_of("normal", (3000 + offset,), dtype)[offset:], 1)


@precisions
@pytest.mark.parametrize("kind", ["bits", "strange", "alternating"])
def test_growth_is_bounded(backend: Backend, dtype: str, kind: str) -> None:
    values = field_of(kind, (100_000,), dtype)
    code = Mpc(backend, dtype, len(values))
    header_and_padding = 8 + 64 * values.itemsize
    assert len(coded(code, values)) <= code.capacity <= 1.032 * values.nbytes + header_and_padding


@precisions
def test_zeros_become_little_more_than_bitmaps(backend: Backend, dtype: str) -> None:
    values = np.zeros(100 * 1024, dtype)
    assert len(check(backend, values, 1)) == 8 + values.size // 8


def test_what_smooth_waves_gain(backend: Backend) -> None:
    """Ratios of waves at 10 and at 200 points per wavelength, or about."""
    x = np.arange(2**17)
    for points, ratio in ((10.37, 1.1), (200.37, 1.3)):
        values = np.sin(2 * np.pi * x / points).astype(np.float32)
        assert values.nbytes / len(check(backend, values, 1)) > ratio


@precisions
def test_a_padded_chunk_may_leave_a_word_that_nobody_reads(backend: Backend, dtype: str) -> None:
    """The last word of a group has the signs; the first one of the padding differs from it."""
    values = np.linspace(2.0, 1.0, 8 * np.dtype(dtype).itemsize, dtype=dtype)
    stream = check(backend, values, 1)
    code = Mpc(backend, dtype, len(values))
    verdict, back = decoded(code, stream[: -values.itemsize].copy())
    assert verdict == "sound" and same_bits(back, values)


# --- damaged streams ------------------------------------------------------------------------------


@precisions
def test_foreign_streams_are_refused(backend: Backend, dtype: str) -> None:
    values = field_of("normal", (3000,), dtype)
    code = Mpc(backend, dtype, len(values), 2)
    stream = coded(code, values)
    for byte in range(8):  # of signature, dim and length
        wrong = stream.copy()
        wrong[byte] ^= 1 << byte
        verdict, back = decoded(code, wrong)
        assert verdict == "foreign" and np.isnan(back).all()
    assert decoded(code, stream)[0] == "sound"


def test_a_verdict_stays(backend: Backend) -> None:
    """Who looks now and then only misses none."""
    values = field_of("normal", (3000,), "float32")
    code = Mpc(backend, "float32", len(values))
    stream = coded(code, values)
    assert decoded(code, stream[:-400].copy())[0] == "too short"
    for launch in code.decompress(stream, values):
        launch()
    assert VERDICTS[int(code.verdict[0])] == "too short"


@precisions
@pytest.mark.parametrize("kept", [0, 1, 500, 2999])
def test_words_that_are_missing_count_as_zero(backend: Backend, dtype: str, kept: int) -> None:
    """Chunks that are complete are right; nothing beyond the stream's memory is read."""
    values = field_of("normal", (3000,), dtype)
    code = Mpc(backend, dtype, len(values))
    stream = coded(code, values)
    size, width = values.itemsize, 8 * values.itemsize
    header = 8 // size + -(-3000 // width)
    words = min(header + kept, len(stream) // size - 2)  # the last one may be of the padding
    verdict, back = decoded(code, stream[: words * size].copy())
    assert verdict == "too short" and not same_bits(back, values)
    if kept == 2999:
        assert same_bits(back[:2048], values[:2048])


@precisions
@pytest.mark.parametrize("dim", [1, 7])
def test_damage_stays_inside(backend: Backend, dtype: str, dim: int) -> None:
    """Random bits behind a sound header, and flipped bits anywhere."""
    rng = np.random.default_rng(dim)
    values = field_of("smooth", (2777,), dtype)
    code = Mpc(backend, dtype, len(values), dim)
    stream = coded(code, values)
    for n in range(60):
        wrong = stream.copy()
        if n % 2:
            wrong[8:] = rng.integers(0, 256, len(wrong) - 8, np.uint8)
        else:
            wrong[rng.integers(0, len(wrong), 9)] ^= np.uint8(1 << n % 8)
        verdict, _ = decoded(code, wrong)
        assert verdict in VERDICTS
    assert same_bits(decoded(code, stream)[1], values)


# --- arguments ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("dtype", "count", "dim", "words"),
    [
        ("float16", 10, 1, "allowed: float32, float64"),
        ("float32", 0, 1, "0 values"),
        ("float32", 2**31, 1, "allowed: 1 to 2147483647"),
        ("float32", 10, 0, "allowed: 1 to 32"),
        ("float32", 10, 33, "dim = 33"),
    ],
)
def test_what_cannot_be_coded(
    backend: Backend, dtype: str, count: int, dim: int, words: str
) -> None:
    with pytest.raises(InputError, match=words):
        Mpc(backend, dtype, count, dim)


def test_arrays_must_fit(backend: Backend) -> None:
    code = Mpc(backend, "float32", 100)
    values, stream = np.zeros(100, np.float32), np.zeros(code.capacity, np.uint8)
    with pytest.raises(InputError, match="99 of type float32"):
        code.compress(values[:99], stream)
    with pytest.raises(InputError, match="of type float64"):
        code.decompress(stream, values.astype(float))
    with pytest.raises(InputError, match=f"{code.capacity} are needed"):
        code.compress(values, stream[:-1])
    with pytest.raises(InputError, match="without gaps"):
        code.compress(np.zeros(200, np.float32)[::2], stream)
    with pytest.raises(InputError, match="24 are needed"):
        code.decompress(stream[:23], values)
    with pytest.raises(InputError, match="begin at a multiple of 4 bytes"):
        code.decompress(np.zeros(code.capacity + 1, np.uint8)[1:], values)
    with pytest.raises(InputError, match="use a GPU"):
        Mpc(backend, "float32", 100, at_once=True)
