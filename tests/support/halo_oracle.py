"""What an exchange must do, computed another way: pad the whole array, then decompose it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groundswell.arrays import HostArray
from groundswell.errors import InputError
from groundswell.exchange.decomposition import Decomposition, decompose
from groundswell.exchange.ghosts import Ghosts

EMPTY = 99  # what points hold that no exchange may touch; no value of `numbered`


def numbered(shape: Sequence[int], dtype: str, number: int = 0) -> HostArray:
    """A whole array of values that tell their places, as far as the type can tell them apart."""
    places = np.arange(int(np.prod(shape)), dtype=np.int64).reshape(tuple(shape))
    values = (places + 100 + number) % 250 if np.dtype(dtype).itemsize == 1 else 100 + places
    result = (values + 1000 * number * (np.dtype(dtype).itemsize > 1)).astype(dtype)
    return result - 1j * places if np.iscomplexobj(result) else result


def random_cut(rng: np.random.Generator, ranks: int = 0, longest: int = 7) -> Decomposition:
    """A decomposition of one to three axes for so many ranks, or for one to eight."""
    while True:
        axes = int(rng.integers(1, 4))
        shape = tuple(int(n) for n in rng.integers(1, longest + 1, axes))
        periodic = tuple(bool(b) for b in rng.integers(0, 2, axes))
        try:
            return decompose(shape, ranks or int(rng.integers(1, 9)), periodic)
        except InputError:  # too few points: throw the dice again
            continue


def random_ghosts(rng: np.random.Generator, axes: int, widest: int = 3) -> Ghosts:
    """Other widths on every side, with corners as often as without."""
    low, high = (tuple(int(n) for n in rng.integers(0, widest + 1, axes)) for _ in range(2))
    return Ghosts(low, high, bool(rng.integers(2)))


def around(whole: HostArray, cut: Decomposition, rank: int, margin: int, outside: Any) -> HostArray:
    """A block and `margin` points around it, wrapped on periodic axes, else `outside`."""
    for axis, wraps in enumerate(cut.periodic):
        ends = [(margin, margin) if n == axis else (0, 0) for n in range(whole.ndim)]
        if wraps:
            whole = np.pad(whole, ends, mode="wrap")
        else:
            whole = np.pad(whole, ends, mode="constant", constant_values=outside)
    block = cut.block(rank)
    slices = zip(block.start, block.shape, strict=True)
    return np.array(whole[tuple(slice(s, s + n + 2 * margin) for s, n in slices)])


def needed(cut: Decomposition, rank: int, ghosts: Ghosts, margin: int) -> NDArray[np.bool_]:
    """Which points of a block with `margin` points around it are its own or wanted ghosts."""
    steps = np.zeros((), np.int64)
    for n, low, high in zip(cut.block(rank).shape, ghosts.low, ghosts.high, strict=True):
        step = np.full(n + 2 * margin, 99)
        step[margin - low : margin + n + high] = 1
        step[margin : margin + n] = 0
        steps = np.add.outer(steps, step)
    inside = around(np.ones(cut.shape, bool), cut, rank, margin, False)
    return inside & (steps <= (len(cut.shape) if ghosts.corners else 1))


def before(whole: HostArray, cut: Decomposition, rank: int, margin: int) -> HostArray:
    """A rank's array before the exchange: its own points, and nothing around them."""
    block = cut.block(rank)
    result = np.full(tuple(n + 2 * margin for n in block.shape), EMPTY, whole.dtype)
    result[tuple(slice(margin, margin + n) for n in block.shape)] = whole[block.slices]
    return result


def after(
    whole: HostArray,
    cut: Decomposition,
    rank: int,
    ghosts: Ghosts,
    margin: int,
    sent: HostArray | None = None,
) -> HostArray:
    """The same after the exchange.

    Args:
        sent: what values become on their way between ranks, if other than they are.
    """
    exact = around(whole, cut, rank, margin, EMPTY)
    arrived = exact if sent is None else around(sent, cut, rank, margin, EMPTY)
    mine = around(owners(cut), cut, rank, margin, -1) == rank
    values = np.where(mine, exact, arrived)
    return np.where(needed(cut, rank, ghosts, margin), values, np.asarray(EMPTY, whole.dtype))


def owners(cut: Decomposition) -> NDArray[np.int64]:
    """The rank that holds each point of the whole array."""
    result = np.full(cut.shape, -1, np.int64)
    for rank in range(cut.ranks):
        result[cut.block(rank).slices] = rank
    return result


def rounded_to_bfloat16(values: NDArray[np.float32]) -> NDArray[np.uint16]:
    """The nearest of two neighbouring bfloat16 numbers, measured in double precision.

    Of a tie the even one is taken; the number after the largest counts as 2^128, and is infinity.
    NaN becomes 0x7fc0 or 0xffc0.
    """
    bits = np.asarray(values, np.float32).view(np.uint32)
    below = (bits & 0x7FFF0000).astype(np.uint32)
    above = below + np.uint32(0x10000)
    size = np.abs(values).astype(np.float64)
    lower, upper = (b.view(np.float32).astype(np.float64) for b in (below, above))
    down, up = size - lower, np.where(np.isinf(upper), 2.0**128, upper) - size
    upwards = (up < down) | ((up == down) & (below >> 16 & 1 == 1))
    chosen = np.where(upwards, above, below) >> 16
    chosen = np.where(np.isinf(values), 0x7F80, np.where(np.isnan(values), 0x7FC0, chosen))
    return (chosen | (bits >> 31 << 15)).astype(np.uint16)


def widened_from_bfloat16(bits: NDArray[np.uint16]) -> NDArray[np.float32]:
    """The numbers that these bits mean: sign, eight bits of exponent, seven of fraction."""
    sign, exponent, fraction = (
        a.astype(np.int32) for a in (bits >> 15, bits >> 7 & 255, bits & 127)
    )
    scaled = np.where(exponent == 0, fraction, fraction + 128).astype(np.float64)
    with np.errstate(over="ignore"):
        value = np.ldexp(scaled, np.maximum(exponent, 1) - 134)
    value = np.where(exponent == 255, np.where(fraction == 0, np.inf, np.nan), value)
    return np.where(sign == 1, -value, value).astype(np.float32)
