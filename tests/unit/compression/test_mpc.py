"""MPC streams, word for word against NumPy; round trips; damaged streams."""

from __future__ import annotations

import numpy as np
import pytest
from codec_fields import KINDS, field_of
from coded_arrays import run, sizes_of, table_of, whole
from guard_page import guarded
from mpc_oracle import stream_of
from numpy.typing import NDArray

from groundswell.arrays import HostArray
from groundswell.backends import Backend, open_backend
from groundswell.compression import Mpc
from groundswell.errors import InputError

pytestmark = pytest.mark.each_value

POISON = 0xA5
FOREIGN, TRUNCATED = "not MPC of this length and type", "truncated"
precisions = pytest.mark.parametrize("dtype", ["float32", "float64"])


@pytest.fixture(scope="module")
def backend() -> Backend:
    return open_backend("cpu")


def codec_of(backend: Backend, values: HostArray) -> Mpc:
    return Mpc(backend, str(values.dtype), sizes_of(whole(values)))


def encoded(backend: Backend, values: HostArray) -> NDArray[np.uint8]:
    """The stream of values, in poisoned memory that stays as it is behind it."""
    code = codec_of(backend, values)
    stream = np.full(code.capacity + 64, POISON, np.uint8)
    run(code.encode(table_of(backend, values), stream))
    used = int(code.used[0])
    assert used <= code.capacity and (stream[used:] == POISON).all()
    return stream[:used]


def decoded(backend: Backend, like: HostArray, stream: NDArray[np.uint8]) -> tuple[str, HostArray]:
    """The fault of any stream, and its values; both arrays end at guard pages."""
    code, values = codec_of(backend, like), guarded(np.full_like(like, np.nan))
    run(code.decode(guarded(stream), table_of(backend, values)))
    return code.fault(None), values


def same_bits(a: HostArray, b: HostArray) -> bool:
    return a.tobytes() == b.tobytes()


def check(backend: Backend, values: HostArray) -> NDArray[np.uint8]:
    """The stream is that of NumPy, and decodes to the values."""
    stream = encoded(backend, values)
    assert same_bits(stream, stream_of(values))
    fault, back = decoded(backend, values, stream)
    assert not fault and same_bits(back, values)
    return stream


@precisions
@pytest.mark.parametrize("kind", KINDS)
def test_streams_are_those_of_the_format(backend: Backend, dtype: str, kind: str) -> None:
    for count in (1, 31, 33, 64, 1023, 1024, 1025, 5000):
        check(backend, field_of(kind, (count,), dtype, seed=count))


@pytest.mark.full
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_every_length(backend: Backend, dtype: str) -> None:
    """All lengths up to a chunk, and every seventh up to four of them."""
    values = field_of("alternating", (4096,), dtype)
    for count in [*range(1, 1025), *range(1025, 4096, 7)]:
        check(backend, values[:count])


@precisions
@pytest.mark.parametrize("offset", [0, 1, 2, 3])
def test_values_may_begin_anywhere(backend: Backend, dtype: str, offset: int) -> None:
    check(backend, field_of("normal", (3000 + offset,), dtype)[offset:])


@precisions
@pytest.mark.parametrize("kind", ["bits", "strange", "alternating"])
def test_growth_is_bounded(backend: Backend, dtype: str, kind: str) -> None:
    values = field_of(kind, (100_000,), dtype)
    capacity = codec_of(backend, values).capacity
    header_and_padding = 8 + 64 * values.itemsize
    assert len(encoded(backend, values)) <= capacity <= 1.032 * values.nbytes + header_and_padding


@precisions
def test_zeros_become_little_more_than_bitmaps(backend: Backend, dtype: str) -> None:
    values = np.zeros(100 * 1024, dtype)
    assert len(check(backend, values)) == 8 + values.size // 8


def test_compression_ratio_of_smooth_waves(backend: Backend) -> None:
    """At 10 and at 200 points per wavelength, or about."""
    x = np.arange(2**17)
    for points, ratio in ((10.37, 1.1), (200.37, 1.3)):
        values = np.sin(2 * np.pi * x / points).astype(np.float32)
        assert values.nbytes / len(check(backend, values)) > ratio


@precisions
def test_the_padding_may_leave_a_word_that_is_not_read(backend: Backend, dtype: str) -> None:
    """The last word of a group has the signs; the first one of the padding differs from it."""
    values = np.linspace(2.0, 1.0, 8 * np.dtype(dtype).itemsize, dtype=dtype)
    stream = check(backend, values)
    fault, back = decoded(backend, values, stream[: -values.itemsize].copy())
    assert not fault and same_bits(back, values)


# --- damaged streams ------------------------------------------------------------------------------


@precisions
def test_a_wrong_header_is_detected(backend: Backend, dtype: str) -> None:
    values = field_of("normal", (3000,), dtype)
    stream = encoded(backend, values)
    for byte in range(8):  # of signature and length
        wrong = stream.copy()
        wrong[byte] ^= 1 << byte
        fault, back = decoded(backend, values, wrong)
        assert fault == FOREIGN and np.isnan(back).all()
    assert not decoded(backend, values, stream)[0]


def test_a_fault_stays(backend: Backend) -> None:
    """So a caller that asks now and then misses none."""
    values = field_of("normal", (3000,), "float32")
    code, stream, table = (
        codec_of(backend, values),
        encoded(backend, values),
        table_of(backend, values),
    )
    for damaged in (stream[:-400].copy(), stream):
        run(code.decode(damaged, table))
        assert code.fault(None) == TRUNCATED


@precisions
@pytest.mark.parametrize("kept", [0, 1, 500, 2999])
def test_missing_words_count_as_zero(backend: Backend, dtype: str, kept: int) -> None:
    """Chunks that are complete are right; nothing beyond the stream's memory is read."""
    values = field_of("normal", (3000,), dtype)
    stream = encoded(backend, values)
    size, width = values.itemsize, 8 * values.itemsize
    header = 8 // size + -(-3000 // width)
    words = min(header + kept, len(stream) // size - 2)  # the last one may be of the padding
    fault, back = decoded(backend, values, stream[: words * size].copy())
    assert fault == TRUNCATED and not same_bits(back, values)
    if kept == 2999:
        assert same_bits(back[:2048], values[:2048])


@precisions
def test_damage_stays_inside(backend: Backend, dtype: str) -> None:
    """Random bits after an intact header, and flipped bits anywhere."""
    rng = np.random.default_rng(1)
    values = field_of("smooth", (2777,), dtype)
    stream = encoded(backend, values)
    for n in range(60):
        wrong = stream.copy()
        if n % 2:
            wrong[8:] = rng.integers(0, 256, len(wrong) - 8, np.uint8)
        else:
            wrong[rng.integers(0, len(wrong), 9)] ^= np.uint8(1 << n % 8)
        assert decoded(backend, values, wrong)[0] in ("", FOREIGN, TRUNCATED)
    assert same_bits(decoded(backend, values, stream)[1], values)


def test_a_stream_shorter_than_its_bitmaps(backend: Backend) -> None:
    values = field_of("normal", (100,), "float32")
    assert decoded(backend, values, encoded(backend, values)[:20].copy())[0] == FOREIGN


def test_a_message_may_be_too_long(backend: Backend) -> None:
    with pytest.raises(InputError, match=r"2147483648 values; allowed: at most 2147483647; use"):
        Mpc(backend, "float32", [1024] * 2**21)
