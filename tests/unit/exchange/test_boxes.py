"""Boxes copied between arrays of any layout, and numbers narrowed on the way, against NumPy."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from halo_oracle import rounded_to_bfloat16, widened_from_bfloat16
from numpy.typing import NDArray

from groundswell.arrays import HostArray
from groundswell.backends import Backend, open_backend
from groundswell.errors import InputError
from groundswell.exchange.boxes import RAW, Copies, Copy, CopyLaunch, StridedBox

SOURCE = Path(__file__).parents[3] / "src"
BY_SIZE = {1: "int8", 2: "float16", 4: "float32", 8: "complex64", 16: "complex128"}


@pytest.fixture(scope="module")
def backend() -> Backend:
    return open_backend("cpu")


def memory(rng: np.random.Generator, size: int) -> NDArray[np.uint8]:
    """Random bytes that begin at a multiple of 64."""
    raw = rng.integers(0, 256, size + 64, np.uint8)
    return raw[-raw.ctypes.data % 64 :][:size]


def view(
    rng: np.random.Generator, shape: Sequence[int], dtype: str, plain: bool
) -> tuple[NDArray[np.uint8], HostArray]:
    """A random array in random memory.

    Args:
        plain: in the order of C, without gaps; otherwise axes in any order, forwards or backwards,
            with gaps between values, rows and planes.
    """
    size = np.dtype(dtype).itemsize
    step, begin, strides = size, size * int(rng.integers(0, 4)), [0] * len(shape)
    for axis in range(len(shape))[::-1] if plain else rng.permutation(len(shape)):
        step += 0 if plain else size * int(rng.integers(0, 3))
        sign = 1 if plain else int(rng.choice([-1, 1]))
        strides[axis] = sign * step
        begin += (shape[axis] - 1) * step if sign < 0 else 0
        step *= shape[axis]
    held = memory(rng, begin + step * 2 + 64)
    return held, np.ndarray(tuple(shape), dtype, held.data, begin, tuple(strides))


def same_view(of: HostArray, held: NDArray[np.uint8], there: NDArray[np.uint8]) -> HostArray:
    """The array that lies in other memory as `of` lies in its own."""
    offset = of.ctypes.data - held.ctypes.data
    return np.ndarray(of.shape, of.dtype, there.data, offset, of.strides)


def run(backend: Backend, copies: Sequence[Copy]) -> None:
    for launch in CopyLaunch(backend, copies).launches:
        launch()


def at(array: HostArray) -> StridedBox:
    return StridedBox(array.ctypes.data, array.strides)


def whole(source: HostArray, target: HostArray) -> Copy:
    """All of an array into all of another one."""
    return Copy(source.shape, at(source), at(target), str(source.dtype), str(target.dtype))


# --- copies of bits -------------------------------------------------------------------------------


@pytest.mark.parametrize("itemsize", sorted(BY_SIZE))
@pytest.mark.parametrize("seed", range(12))
def test_boxes_arrive_and_nothing_else_changes(backend: Backend, itemsize: int, seed: int) -> None:
    """Several boxes of one to three axes in one launch; all memory is compared byte by byte."""
    rng = np.random.default_rng((itemsize, seed))
    copies, wanted, kept = [], [], []
    for _ in range(int(rng.integers(1, 6))):
        axes = int(rng.integers(1, 4))
        shape = rng.integers(1, [4000, 70, 18][axes - 1], axes)
        room = [rng.integers(0, 4, (2, axes)) for _ in range(2)]
        sides = []
        for before, behind in room:
            extents = (shape + before + behind).tolist()
            sides.append((*view(rng, extents, BY_SIZE[itemsize], bool(rng.integers(2))), before))
        (_, source, first), (held, target, origin) = sides
        kept += [source, target]
        expected = held.copy()
        there = tuple(slice(o, o + n) for o, n in zip(origin, shape, strict=True))
        here = tuple(slice(o, o + n) for o, n in zip(first, shape, strict=True))
        same_view(target, held, expected)[there] = source[here]
        wanted.append((held, expected))
        places = (
            StridedBox.in_array(backend, source, first.tolist(), (0,) * axes),
            StridedBox.in_array(backend, target, (origin + 1).tolist(), (-1,) * axes),
        )
        copies.append(Copy(tuple(shape.tolist()), *places, str(source.dtype), str(target.dtype)))
    assert any((held != expected).any() for held, expected in wanted)
    run(backend, copies)
    for held, expected in wanted:
        assert (held == expected).all()


def test_nothing_to_copy_is_no_launch(backend: Backend) -> None:
    assert CopyLaunch(backend, []).launches == []


def test_empty_boxes_are_left_out(backend: Backend) -> None:
    source, target = np.ones((3, 4)), np.zeros((3, 4))
    empty = Copy((3, 0), at(source), at(target), "float64", "float64")
    rest = Copy((3, 1), at(source), at(target), "float64", "float64")
    run(backend, [empty, rest, empty])
    assert target.tolist() == [[1, 0, 0, 0]] * 3


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64", "complex128"])
def test_one_value_into_every_point(backend: Backend, dtype: str) -> None:
    """Strides of zero: how ghosts are poisoned."""
    rng = np.random.default_rng(3)
    one = np.full((1,), np.nan, dtype)
    target = rng.normal(size=(9, 40, 11)).astype(dtype)
    before = target.copy()
    inner = target[1:-1, 2:-2, 3:-3]
    run(
        backend,
        [Copy(inner.shape, StridedBox(one.ctypes.data, (0, 0, 0)), at(inner), dtype, dtype)],
    )
    assert np.isnan(inner).all() and np.isnan(target).sum() == inner.size
    inner[...] = before[1:-1, 2:-2, 3:-3]
    assert (target == before).all()


@pytest.mark.parametrize("offset", [1, 2, 3, 4, 7, 8])
def test_rows_may_begin_at_any_byte(backend: Backend, offset: int) -> None:
    """Contiguous rows are moved in the widest words that both places allow."""
    rng = np.random.default_rng(offset)
    held, out = memory(rng, 40 * 40), memory(rng, 40 * 40)
    shape, strides = (5, 7), (112, 4)
    source = np.ndarray(shape, "u4", held.data, offset, strides)
    target = np.ndarray(shape, "u4", out.data, 8, (40, 4))
    expected = out.copy()
    same_view(target, out, expected)[...] = source
    run(backend, [Copy(shape, at(source), at(target), "uint32", "uint32")])
    assert (out == expected).all()


def test_complex_numbers_may_begin_at_multiples_of_eight() -> None:
    """As NumPy has it, where their alignment is that of a double; a crash, so in a process."""
    program = """
import numpy as np
from groundswell.backends import open_backend
from groundswell.exchange.boxes import Copy, StridedBox, CopyLaunch
raw = np.arange(402.0)
raw = raw[1:] if raw.ctypes.data % 16 == 0 else raw
source, target = raw[:400].view(complex)[::2], np.zeros(100, complex)
assert source.flags.aligned and source.ctypes.data % 16 == 8
places = (StridedBox(a.ctypes.data, a.strides) for a in (source, target))
CopyLaunch(open_backend("cpu"), [Copy((100,), *places, "complex128", "complex128")]).launches[0]()
assert (source == target).all()
"""
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    done = subprocess.run([sys.executable, "-c", program], env=environment, check=False)
    assert done.returncode == 0


@pytest.mark.parametrize("padding", [0, 7])
@pytest.mark.parametrize(
    ("dtype", "as_dtype"), [("int16", "int16"), ("float64", "float64"), ("float64", "float32")]
)
def test_fields_of_packed_structures_are_refused(
    backend: Backend, dtype: str, as_dtype: str, padding: int
) -> None:
    """Kernels read no values across their alignment, be it the address or a stride that is odd."""
    packed = np.zeros(9, [("a", "u1"), ("b", dtype), ("c", f"V{padding}")])
    target = np.zeros(9, as_dtype)
    with pytest.raises(InputError, match=rf"values of type {dtype}.*packed structure"):
        run(backend, [whole(packed["b"], target)])


# --- what the kernel is told ----------------------------------------------------------------------


def test_a_contiguous_box_is_one_row_of_wide_words() -> None:
    place = StridedBox(4096, (4 * 6 * 8, 4 * 8, 4))
    kind, rows, length, *_ = Copy((5, 6, 8), place, place, "float32", "float32").row()
    assert (kind, rows, length) == (RAW[16], 1, 5 * 6 * 8 * 4 // 16)


@pytest.mark.parametrize(
    "source, target, word",
    [(4096, 4096, 16), (4096, 4104, 8), (4100, 4096, 4), (4098, 4096, 2), (4096, 4097, 1)],
)
def test_words_are_as_wide_as_both_addresses_allow(source: int, target: int, word: int) -> None:
    places = [StridedBox(address, (64, 4)) for address in (source, target)]
    kind, rows, length, *_, values = Copy((3, 8), places[0], places[1], "int32", "int32").row()
    assert (kind, rows, length) == (RAW[word], 3, 32 // word) and values == rows * length


def test_odd_epochs_keep_words_as_narrow_as_they_need() -> None:
    """A mailbox whose second half lies 4 bytes off cannot be filled with words of 16."""
    source, target = StridedBox(4096, (64, 4)), StridedBox(8192, (32, 4), flip=4 * 100 + 4)
    row = Copy((3, 8), source, target, "int32", "int32").row()
    assert row[0] == RAW[4] and row[12] == 404 and row[7] == 0


def test_boxes_beyond_what_the_kernel_counts_are_refused(backend: Backend) -> None:
    places = (StridedBox(0, (2**28, 2**14, 8)), StridedBox(2**50, (2**28, 2**14, 2)))
    huge = Copy((16, 2**14, 2**14 + 1), *places, "float32", "float16")
    with pytest.raises(InputError, match="use more ranks"):
        Copies(backend, [huge])


# --- narrower numbers -----------------------------------------------------------------------------


def narrowed(
    backend: Backend, values: HostArray, dtype: str, as_type: str, target: str
) -> HostArray:
    """Values converted by the kernel; bfloat16, which NumPy does not know, comes as its bits."""
    result = np.zeros(values.shape, target)
    run(backend, [Copy(values.shape, at(values), at(result), dtype, as_type)])
    return result


def patterns(rng: np.random.Generator) -> NDArray[np.float32]:
    """Bits of floats: at random, and on, just below and just above where rounding changes."""
    halves = np.arange(0x7C00, dtype=np.uint16).view(np.float16).astype(np.float64)
    ties = np.concatenate([(halves[1:] + halves[:-1]) / 2, halves, [65520.0, 65536.0, 2.0**-25]])
    exact = ties.astype(np.float32).view(np.uint32).astype(np.int64)
    near = np.concatenate([np.abs(exact + d) for d in (-1, 0, 1)]).astype(np.uint32)
    brains = np.arange(0x8000, dtype=np.int64) << 16
    brain_ties = np.concatenate([brains + d for d in (0, 1, 0x7FFF, 0x8000, 0x8001, 0xFFFF)])
    special = [0, 1, 0x7F7FFFFF, 0x7F800000, 0x7F800001, 0x7FC00000, 0x7FFFFFFF, 0x00800000]
    bits = np.concatenate([near, brain_ties.astype(np.uint32), np.array(special, np.uint32)])
    chance = rng.integers(0, 2**32, 3_000_000, np.uint32)
    # Most random bits are far beyond float16: have as many again among its exponents.
    small = rng.integers(0x32000000, 0x48000000, 2_000_000, np.uint32)
    return np.concatenate([bits, bits | 0x80000000, chance, small]).view(np.float32)


def test_float32_becomes_float16_as_in_numpy(backend: Backend) -> None:
    values = patterns(np.random.default_rng(5))
    found = narrowed(backend, values, "float32", "float16", "u2")
    with np.errstate(all="ignore"):
        wanted = values.astype(np.float16).view("u2")
    numbers = ~np.isnan(values)
    assert (found[numbers] == wanted[numbers]).all()  # bits, so signs of zeros too
    assert np.isnan(found.view(np.float16)[~numbers]).all()
    assert np.isinf(found[numbers].view(np.float16)).any() and (found == 0x8000).any()


def test_every_float16_becomes_float32_as_in_numpy(backend: Backend) -> None:
    values = np.arange(65536, dtype=np.uint16)
    found = narrowed(backend, values, "float16", "float32", "f4")
    wanted = values.view(np.float16).astype(np.float32)
    numbers = ~np.isnan(wanted)
    assert (found.view("u4")[numbers] == wanted.view("u4")[numbers]).all()
    assert np.isnan(found[~numbers]).all() and numbers.sum() == 65536 - 2 * 1023


def test_float32_becomes_the_nearest_bfloat16(backend: Backend) -> None:
    values = patterns(np.random.default_rng(6))
    found = narrowed(backend, values, "float32", "bfloat16", "u2")
    with np.errstate(invalid="ignore"):
        wanted = rounded_to_bfloat16(values)
    numbers = ~np.isnan(values)
    assert (found[numbers] == wanted[numbers]).all()
    assert np.isnan(widened_from_bfloat16(found[~numbers])).all()


def test_every_bfloat16_becomes_float32(backend: Backend) -> None:
    values = np.arange(65536, dtype=np.uint16)
    found = narrowed(backend, values, "bfloat16", "float32", "f4")
    wanted = widened_from_bfloat16(values)
    numbers = ~np.isnan(wanted)
    assert (found.view("u4")[numbers] == wanted.view("u4")[numbers]).all()
    assert np.isnan(found[~numbers]).all() and numbers.sum() == 65536 - 2 * 127


def test_float64_becomes_float32_as_in_numpy(backend: Backend) -> None:
    rng = np.random.default_rng(7)
    floats = rng.integers(0, 2**32, 500_000, np.uint32).view(np.float32)
    with np.errstate(invalid="ignore"):
        near = floats.astype(np.float64) * (1 + rng.integers(-2, 3, floats.size) * 2.0**-25)
    any_bits = rng.integers(0, 2**64, 500_000, np.uint64).view(np.float64)
    special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 5e-324, 1e-45, 3.5e38, 7.1e-46])
    values = np.concatenate([near, any_bits, special])
    found = narrowed(backend, values, "float64", "float32", "f4")
    with np.errstate(all="ignore"):
        wanted = values.astype(np.float32)
    numbers = ~np.isnan(values)
    assert (found.view("u4")[numbers] == wanted.view("u4")[numbers]).all()
    assert np.isnan(found[~numbers]).all()
    back = narrowed(backend, found, "float32", "float64", "f8")
    assert (back[numbers] == wanted[numbers].astype(np.float64)).all()


@pytest.mark.parametrize("wide, narrow", [("float64", "float32"), ("float32", "float16")])
@pytest.mark.parametrize("seed", range(4))
def test_values_are_converted_between_any_layouts(
    backend: Backend, wide: str, narrow: str, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    shape = tuple(rng.integers(1, 18, 3).tolist())
    for source_type, target_type in ((wide, narrow), (narrow, wide)):
        _, source = view(rng, shape, source_type, plain=seed == 0)
        held, target = view(rng, shape, target_type, plain=seed == 1)
        source[...] = rng.normal(size=shape) * 10.0 ** rng.integers(-6, 5, shape)
        expected = held.copy()
        same_view(target, held, expected)[...] = source
        run(backend, [whole(source, target)])
        assert (held == expected).all()
