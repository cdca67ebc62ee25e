"""ZFP at a fixed rate, bit for bit against libzfp; any bits decode to some values."""

from __future__ import annotations

from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
from codec_fields import KINDS, field_of
from coded_arrays import Boxes, run, sizes_of, table_of, whole
from guard_page import guarded
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from variants import long_variants, short_and_long

from groundswell.backends import open_backend
from groundswell.compression import Zfp

pytestmark = pytest.mark.each_value

zfpy = pytest.importorskip("zfpy", reason="needs zfpy, what streams are compared with")

BACKEND = open_backend("cpu")
NUMBERS = [kind for kind in KINDS if kind not in ("bits", "strange")]
RATES = {"float32": (4, 8, 12, 16, 24, 32), "float64": (4, 8, 16, 24, 48, 64)}
CASES = [(dtype, rate) for dtype in RATES for rate in RATES[dtype]]
LONG = [("float32", 12), ("float32", 24), ("float64", 4), ("float64", 24)]


def codec_of(values: NDArray[Any], rate: int) -> Zfp:
    return Zfp(BACKEND, str(values.dtype), sizes_of(whole(values)), rate)


def encoded(values: NDArray[Any], rate: int) -> NDArray[np.uint8]:
    """The stream of values, in poisoned memory that ends where it does."""
    code, values = codec_of(values, rate), guarded(values)
    stream = guarded(np.full(code.capacity // 8, 2**63 + 12345, np.uint64))
    run(code.encode(table_of(BACKEND, values), stream))
    return stream.view(np.uint8)


def decoded(like: NDArray[Any], rate: int, stream: NDArray[np.uint8]) -> NDArray[Any]:
    """As many values as another array has, of a stream; both end at guard pages."""
    values = guarded(np.full_like(like, np.nan))
    given = guarded(stream.view(np.uint64))
    run(codec_of(like, rate).decode(given, table_of(BACKEND, values)))
    return values


def check(values: NDArray[Any], rate: int) -> None:
    """The stream and the decoded values are those of libzfp."""
    dtype = str(values.dtype)
    stream = encoded(values, rate)
    wanted = zfpy.compress_numpy(values, rate=rate, write_header=False)
    assert stream.tobytes() == wanted
    kind = {"float32": zfpy.type_float, "float64": zfpy.type_double}[dtype]
    back = zfpy._decompress(wanted, kind, values.shape, rate=rate)
    assert decoded(values, rate, stream).tobytes() == back.tobytes()


@pytest.mark.parametrize(("dtype", "rate"), short_and_long(CASES, LONG))
@pytest.mark.parametrize("count", [999, *long_variants([1000, 4641])])
def test_streams_are_those_of_libzfp(dtype: str, rate: int, count: int) -> None:
    for kind in NUMBERS:
        check(field_of(kind, (count,), dtype, seed=len(kind)), rate)


@pytest.mark.parametrize("dtype", list(RATES))
def test_blocks_that_are_not_whole(dtype: str) -> None:
    for count in range(1, 40):
        check(field_of("normal", (count,), dtype, seed=count), 16)


@pytest.mark.parametrize("rate", [3, 5, 6, 15, 17, 18, 31, *long_variants([7, 9, 10, 25, 63, 64])])
@pytest.mark.parametrize("count", [1, 4, 5, 63, 1001])
def test_blocks_that_end_within_a_word(rate: int, count: int) -> None:
    """Neighbouring blocks share words, and bytes, of the stream."""
    for dtype, kind in product(RATES, ("normal", "wide")):
        check(field_of(kind, (count,), dtype), rate)


@settings(max_examples=150)
@given(
    count=st.integers(1, 3000),
    kind=st.sampled_from(NUMBERS),
    case=st.sampled_from([("float32", 8), ("float32", 16), ("float64", 16), ("float64", 24)]),
    seed=st.integers(0, 2**32 - 1),
)
def test_any_count(count: int, kind: str, case: tuple[str, int], seed: int) -> None:
    check(field_of(kind, (count,), case[0], seed), case[1])


@pytest.mark.parametrize("dtype", list(RATES))
@pytest.mark.parametrize("exponent", ["least", "most"])
def test_the_ends_of_the_exponents(dtype: str, exponent: str) -> None:
    """Every power of two near where scales become infinite, where results become denormal, or 0."""
    info = np.finfo(dtype)
    if exponent == "least":
        powers = np.arange(info.minexp - info.nmant, info.minexp + 70)
    else:
        powers = np.arange(info.maxexp - 20, info.maxexp)
    scales = np.ldexp(np.ones(len(powers)), powers)[:, None]
    values = (scales * [1.0, -0.75, 0.3, 0.0]).astype(dtype).ravel()
    for rate in (8, 16, 40):
        check(values, rate)


@pytest.mark.parametrize("dtype", list(RATES))
def test_any_bits_are_read_as_by_libzfp(full: bool, dtype: str) -> None:
    """Streams that no encoder has written, with many zeros or few: blocks may end anywhere."""
    kind = {"float32": zfpy.type_float, "float64": zfpy.type_double}[dtype]
    rng = np.random.default_rng(8)
    like = np.zeros(4000, dtype)
    for rate in (3, 5, 8, 13, 16, 24, 40) if full else (5, 16, 24):
        size = codec_of(like, rate).capacity
        stream = np.full(size, 255, np.uint8)
        for _ in range(4):
            stream &= rng.integers(0, 256, size, np.uint8)
            wanted = zfpy._decompress(stream.tobytes(), kind, (4000,), rate=rate)
            assert decoded(like, rate, stream).tobytes() == wanted.tobytes()


@pytest.mark.parametrize("dtype", list(RATES))
@pytest.mark.parametrize("count", [9, 729])
def test_any_bits_and_any_values_stay_inside(dtype: str, count: int) -> None:
    """libzfp leaves the results undefined, so any will do."""
    for rate, kind in product((5, 16, 24), ("bits", "strange")):
        values = field_of(kind, (count,), dtype)
        size = len(encoded(values, rate))
        for seed in range(20):
            decoded(values, rate, np.random.default_rng(seed).integers(0, 256, size, np.uint8))


def test_error_halves_with_each_bit() -> None:
    """Of smooth values, from 8 bits per value on."""
    values = np.sin(0.2 * np.arange(4096.0))
    errors = []
    for rate in (8, 12, 16, 20):
        errors.append(np.abs(decoded(values, rate, encoded(values, rate)) - values).max())
    assert all(a > 10 * b for a, b in pairwise(errors))


def test_values_and_stream_may_begin_anywhere() -> None:
    """Values at multiples of their own size, streams at those of 8."""
    values = field_of("normal", (1003,), "float32")
    for offset in range(4):
        check(values[offset:], 16)


@pytest.mark.parametrize("dtype", list(RATES))
@pytest.mark.parametrize("rate", [8, 15, 24])
def test_boxes_of_an_array(dtype: str, rate: int) -> None:
    """Of boxes with 1029, 3 and 4 values, in strips of 1024, 5, 3 and 4: each begins a block."""
    field = field_of("normal", (20, 343), dtype)
    boxes: Boxes = [((4, 0), (3, 343)), ((8, 1), (1, 3)), ((10, 340), (2, 2))]
    sizes = sizes_of(boxes)
    assert sizes == [1024, 5, 3, 4]
    cuts = [tuple(slice(f, f + n) for f, n in zip(*box, strict=True)) for box in boxes]
    code = Zfp(BACKEND, dtype, sizes, rate)
    assert code.capacity == -(-(256 + 2 + 1 + 1) * 4 * rate // 64) * 8
    stream, back = np.zeros(code.capacity, np.uint8), np.zeros_like(field)
    run(code.encode(table_of(BACKEND, field, boxes), stream))
    run(code.decode(stream, table_of(BACKEND, back, boxes)))
    for cut in cuts:
        values = field[cut].ravel()
        assert back[cut].tobytes() == decoded(values, rate, encoded(values, rate)).tobytes()
        back[cut] = 0
    assert not back.any()
