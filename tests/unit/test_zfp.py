"""ZFP at a fixed rate, bit for bit against libzfp; any bits decode to something."""

from __future__ import annotations

from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
from codec_fields import KINDS, field_of
from guard_page import guarded
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from variants import long_variants, short_and_long

from groundswell.backends import open_backend
from groundswell.errors import InputError
from groundswell.exchange.codecs.coder import coder
from groundswell.exchange.codecs.strips import strip_sizes
from groundswell.exchange.codecs.zfp import Zfp

zfpy = pytest.importorskip("zfpy", reason="needs zfpy, what streams are compared with")

BACKEND = open_backend("cpu")
NUMBERS = [kind for kind in KINDS if kind not in ("bits", "strange")]
RATES = {"float32": (4, 8, 12, 16, 24, 32), "float64": (4, 8, 16, 24, 48, 64)}
CASES = [(dtype, rate) for dtype in RATES for rate in RATES[dtype]]
LONG = [("float32", 12), ("float32", 24), ("float64", 4), ("float64", 24)]
Bytes = NDArray[np.uint8]


def coded(code: Zfp, values: NDArray[Any]) -> Bytes:
    """The stream of values, in poisoned memory that ends where it does."""
    stream = guarded(np.full(code.size // 8, 2**63 + 12345, np.uint64))
    for launch in code.compress(guarded(values), stream):
        launch()
    return stream.view(np.uint8)


def decoded(code: Zfp, stream: Bytes) -> NDArray[Any]:
    values = guarded(np.full(code.count, np.nan, code.dtype))
    for launch in code.decompress(guarded(stream.view(np.uint64)), values):
        launch()
    return values


def check(values: NDArray[Any], rate: float) -> None:
    """The stream of libzfp, and what libzfp makes of it."""
    dtype = str(values.dtype)
    code = Zfp(BACKEND, dtype, values.size, rate)
    stream = coded(code, values)
    wanted = zfpy.compress_numpy(values, rate=rate, write_header=False)
    assert stream.tobytes() == wanted
    kind = {"float32": zfpy.type_float, "float64": zfpy.type_double}[dtype]
    back = zfpy._decompress(wanted, kind, values.shape, rate=rate)
    assert decoded(code, stream).tobytes() == back.tobytes()


@pytest.mark.parametrize(("dtype", "rate"), short_and_long(CASES, LONG))
@pytest.mark.parametrize("count", [999, *long_variants([1000, 4641])])
def test_streams_are_those_of_libzfp(dtype: str, rate: float, count: int) -> None:
    for kind in NUMBERS:
        check(field_of(kind, (count,), dtype, seed=len(kind)), rate)


@pytest.mark.parametrize("dtype", list(RATES))
def test_blocks_that_are_not_whole(dtype: str) -> None:
    for count in range(1, 40):
        check(field_of("normal", (count,), dtype, seed=count), 16)


@pytest.mark.parametrize(
    "rate", [3, 3.25, 5.25, 15.75, 17, 31.25, *long_variants([3.5, 4.75, 7, 16.25, 64])]
)
@pytest.mark.parametrize("count", [1, 4, 5, 63, 1001])
def test_blocks_that_end_within_a_word(rate: float, count: int) -> None:
    """Neighbours share words, and bytes, of the stream."""
    for dtype, kind in product(RATES, ("normal", "wide")):
        check(field_of(kind, (count,), dtype), rate)


@settings(max_examples=150)
@given(
    count=st.integers(1, 3000),
    kind=st.sampled_from(NUMBERS),
    case=st.sampled_from([("float32", 8), ("float32", 16), ("float64", 16), ("float64", 24)]),
    seed=st.integers(0, 2**32 - 1),
)
def test_any_count(count: int, kind: str, case: tuple[str, float], seed: int) -> None:
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
    """Streams that no code has written, with many zeros or few: blocks may end anywhere."""
    kind = {"float32": zfpy.type_float, "float64": zfpy.type_double}[dtype]
    rng = np.random.default_rng(8)
    for rate in (3, 5.25, 8, 13, 16, 24, 40) if full else (5.25, 16, 24):
        code = Zfp(BACKEND, dtype, 4000, rate)
        stream = np.full(code.size, 255, np.uint8)
        for _ in range(4):
            stream &= rng.integers(0, 256, code.size, np.uint8)
            wanted = zfpy._decompress(stream.tobytes(), kind, (4000,), rate=rate)
            assert decoded(code, stream).tobytes() == wanted.tobytes()


@pytest.mark.parametrize("dtype", list(RATES))
@pytest.mark.parametrize("count", [9, 729])
def test_any_bits_and_any_values_stay_inside(dtype: str, count: int) -> None:
    """What libzfp leaves undefined: nothing is asked of the results, but that there are some."""
    for rate, kind in product((5.25, 16, 24), ("bits", "strange")):
        code = Zfp(BACKEND, dtype, count, rate)
        coded(code, field_of(kind, (count,), dtype))
        for seed in range(20):
            stream = np.random.default_rng(seed).integers(0, 256, code.size, np.uint8)
            decoded(code, stream)


def test_error_halves_with_each_bit() -> None:
    """Of smooth values, from 8 bits a value on."""
    values = np.sin(0.2 * np.arange(4096.0))
    errors = []
    for rate in (8, 12, 16, 20):
        code = Zfp(BACKEND, "float64", values.size, rate)
        errors.append(np.abs(decoded(code, coded(code, values)) - values).max())
    assert all(a > 10 * b for a, b in pairwise(errors))


def test_values_and_stream_may_begin_anywhere() -> None:
    """Values at multiples of their own size, streams at those of 8."""
    values = field_of("normal", (1003,), "float32")
    for offset in range(4):
        check(values[offset:], 16)


@pytest.mark.parametrize(
    ("dtype", "count", "rate", "words"),
    [
        ("int32", 8, 8, "allowed: float32, float64"),
        ("float32", 0, 8, "1 or more"),
        ("float32", (4, 4), 8, "a number of values"),
        ("float32", 8, 8.1, "in steps of 1/4"),
        ("float32", 8, 2, "2.25 to 64"),
        ("float32", 8, float("nan"), "2.25 to 64"),
        ("float64", 8, 0.5, "3 to 128"),
        ("float32", 8, 80, "2.25 to 64"),
    ],
)
def test_what_cannot_be_coded(dtype: str, count: Any, rate: float, words: str) -> None:
    with pytest.raises(InputError, match=words):
        Zfp(BACKEND, dtype, count, rate)


def test_arrays_must_fit() -> None:
    code = Zfp(BACKEND, "float32", 100, 8)
    values, stream = np.zeros((10, 10), np.float32), np.zeros(code.size, np.uint8)
    assert code.size == 25 * 4 + 4 and len(code.compress(values, stream)) == 1
    with pytest.raises(InputError, match="90 of type float32"):
        code.compress(values[:9], stream)
    with pytest.raises(InputError, match="at least 104"):
        code.decompress(stream[:-1], values)
    with pytest.raises(InputError, match="no gaps"):
        code.compress(np.zeros((10, 20), np.float32)[:, ::2], stream)
    with pytest.raises(InputError, match="begin at a multiple of 8 bytes"):
        code.decompress(np.zeros(code.size + 1, np.uint8)[1:], values)


def test_strips_take_no_more_than_their_own_blocks() -> None:
    """Of three boxes with 1029, 3 and 4 values: one full strip, and three short ones."""
    sizes = strip_sizes([(3, 343), (3,), (2, 2)])
    assert sizes == [1024, 5, 3, 4]
    assert coder("zfp16", BACKEND, "float32", sizes).capacity == 8 * (256 + 2 + 1 + 1)
