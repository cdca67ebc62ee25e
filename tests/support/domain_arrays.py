"""Arrays of other libraries on a domain, and what they must be after an exchange."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from halo_oracle import EMPTY, after, rounded_to_bfloat16, widened_from_bfloat16

from groundswell.errors import InputError
from groundswell.exchange import Domain, Ghosts
from groundswell.exchange.decomposition import process_grids
from groundswell.exchange.mpi_communicator import get_communicator

MARGIN = 3


def to_library(library: str, device: str, host: np.ndarray[Any, Any]) -> Any:
    """An array of that library, which shares no memory with `host`."""
    if library == "torch":
        import torch

        return torch.from_numpy(host.copy()).to(device)
    if library == "jax":
        import jax

        if device == "cuda":  # where CuPy is; JAX itself prefers the first GPU
            return jax.dlpack.from_dlpack(to_library("cupy", device, host))
        return jax.numpy.array(host, copy=True)
    if library == "cupy":
        import cupy

        return cupy.array(host)
    return host.copy()


def to_host(array: Any) -> np.ndarray[Any, Any]:
    """The values of an array of any library."""
    if hasattr(array, "get"):  # CuPy
        return np.asarray(array.get())
    return np.asarray(array.cpu() if hasattr(array, "cpu") else array)


def trimmed(values: np.ndarray[Any, Any], ghosts: Ghosts) -> np.ndarray[Any, Any]:
    """A block with a margin around it, cut to the layers that a domain's arrays have."""
    sides = zip(ghosts.low, ghosts.high, values.shape, strict=True)
    return values[tuple(slice(MARGIN - a, n - MARGIN + b) for a, b, n in sides)]


def before(whole: np.ndarray[Any, Any], domain: Domain) -> np.ndarray[Any, Any]:
    """A rank's array before the exchange: its own points, and nothing around them."""
    host = np.full(domain.local_shape, EMPTY, whole.dtype)
    host[domain.own] = whole[domain.block.slices]
    return host


def wanted(whole: np.ndarray[Any, Any], domain: Domain) -> np.ndarray[Any, Any]:
    """The same after it."""
    return trimmed(
        after(whole, domain.decomposition, domain.rank, domain.ghosts, MARGIN), domain.ghosts
    )


def random_domain(rng: np.random.Generator, device: str, uneven: bool = False) -> Domain:
    """Any number of axes, other layers on every side, with corners as often as without.

    Args:
        uneven: whether blocks have random lengths always, and not only half of the time.
    """
    while True:
        axes = int(rng.integers(1, 4))
        widths = [(int(a), int(b)) for a, b in rng.integers(0, MARGIN + 1, (axes, 2))]
        shape, wraps = rng.integers(2, 9, axes), rng.integers(0, 2, axes).astype(bool)
        blocks = random_blocks(rng, [int(n) for n in shape], get_communicator().size)
        try:
            return Domain(
                [int(n) for n in shape],
                tuple(widths),
                periodic=list(wraps),
                corners=bool(rng.integers(2)),
                blocks=blocks if uneven or rng.integers(2) else None,
                device=device,
                aggregate=bool(rng.integers(2)),
            )
        except InputError:  # too few points: throw the dice again
            continue


def random_blocks(rng: np.random.Generator, shape: list[int], ranks: int) -> list[list[int]]:
    """Lengths of blocks along each axis, as uneven as they come; a block may have no points."""
    grids = list(process_grids(ranks, len(shape)))
    counts = grids[rng.integers(len(grids))]
    edges = [
        sorted(rng.permutation(n - 1)[: c - 1] + 1) for n, c in zip(shape, counts, strict=True)
    ]
    return [
        [int(n) for n in np.diff([0, *along, points])]
        for along, points in zip(edges, shape, strict=True)
    ]


def narrow(values: np.ndarray[Any, Any], sent_as: str) -> np.ndarray[Any, Any]:
    """What values become on their way."""
    if sent_as == "bfloat16":
        return widened_from_bfloat16(rounded_to_bfloat16(values))
    return values.astype(sent_as).astype(values.dtype)


def assert_poisoned(u: Any, exact: np.ndarray[Any, Any], domain: Domain) -> None:
    """Ghosts that have not come yet are NaN; own points and copies of them are not."""
    wrong = np.isnan(u)
    assert wrong.any() and not wrong[domain.own].any()
    assert np.array_equal(u[~wrong], exact[~wrong])


def array_of(device: str, host: np.ndarray[Any, Any]) -> Any:
    """A device's array of these values."""
    return to_library("cupy" if device == "cuda" else "numpy", device, host)


class Described:
    """An array that only describes itself."""

    def __init__(self, array: Any, read_only: bool = False) -> None:
        interface = dict(array.__cuda_array_interface__)
        interface["data"] = (interface["data"][0], read_only)
        self.__cuda_array_interface__ = interface
        self.kept = array


def require_refusal(words: str, act: Callable[[], Any]) -> None:
    """See that an error says so."""
    try:
        act()
    except InputError as error:
        assert words in str(error), (words, error)
    else:
        raise AssertionError(f"nobody noticed: {words}")
