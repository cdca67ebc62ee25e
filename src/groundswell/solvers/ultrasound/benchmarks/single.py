"""Time of a step on one device."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Sequence
from math import prod

from groundswell.backends import Backend, Launch
from groundswell.backends.transforms import spectrum_dtype, spectrum_shape
from groundswell.bench.rig import alone
from groundswell.bench.tables import Row
from groundswell.solvers.ultrasound.benchmarks.blocks import (
    CUTS,
    EIGHT,
    LOSSY,
    PHYSICS,
    Blocks,
    blocks_of_eight,
    propagation_on,
    small_setup,
)
from groundswell.solvers.ultrasound.cost import estimate
from groundswell.solvers.ultrasound.propagation import Propagation, can_fuse
from groundswell.solvers.ultrasound.window import Window


def measure_single(backend: Backend, edges: Sequence[int]) -> Iterator[Row]:
    """Steps on cubes, including absorbing layers, in heterogeneous media.

    Yields:
        Rows: `cells`, `physics`, `seconds` per step, `MLUPS` (million points per second), `memory`
        in bytes (None on a host), `floor`, the time for the minimum traffic at the measured
        bandwidth, `share`, the floor divided by the time of the step, and `transforms`, the time
        of the `count` transforms of a step by the library.
    """
    for edge in edges:
        for physics in PHYSICS:
            yield _measure_cube(backend, edge, physics)


def _measure_cube(backend: Backend, edge: int, physics: str) -> Row:
    cells = (edge,) * 3
    gc.collect()
    bandwidth = backend.measure_bandwidth()  # it returns unused memory to the device
    free = backend.memory_info()[0]
    propagation = propagation_on(backend, physics, Window.whole_of(cells))
    seconds = alone(backend, propagation.launches)
    memory = None if backend.on_host else free - backend.memory_info()[0]
    traffic = estimate(small_setup(physics, varying=True)).bytes_per_update
    least = prod(cells) * traffic / bandwidth
    return {
        "cells": cells,
        "physics": physics,
        "seconds": seconds,
        "MLUPS": prod(cells) / seconds / 1e6,
        "memory": memory,
        "bandwidth": bandwidth,
        "floor": least,
        "share": least / seconds,
        "count": transform_count(propagation),
        "transforms": transform_seconds(propagation, alone(backend, transform_pair(propagation))),
    }


def speed_text(value: float) -> str:
    """A number of million points per second as text."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def measure_blocks(backend: Backend, edge: int, overlaps: Sequence[int]) -> Iterator[Row]:
    """Steps on the block of one of eight ranks that share a cube, without the exchange.

    Yields:
        Rows as from `ranks.measure_breakdown`.
    """
    for cut in CUTS:
        for overlap in overlaps:
            blocks = blocks_of_eight(edge, cut, overlap, EIGHT)
            about = {"cut": cut, "overlap": overlap, "processes": blocks.processes}
            about |= {"extended": blocks.extended, "factor": blocks.largest_factor}
            yield {**about, "transport": "none", **_measure_block(backend, blocks)}


def _measure_block(backend: Backend, blocks: Blocks) -> Row:
    propagation = propagation_on(backend, LOSSY, blocks.window(0))
    compute = alone(backend, propagation.launches)
    pair = alone(backend, transform_pair(propagation))
    parts = parts_of(compute, compute, transform_seconds(propagation, pair))
    return {"step": step_kind(propagation), **parts}


def parts_of(seconds: float, compute: float, transforms: float) -> Row:
    """Parts of a step's time.

    Args:
        seconds: a step.
        compute: a step without exchange.
        transforms: the transforms of a step by the library. The fused step has faster ones and can
            take less time in all; the whole step then counts as transforms.
    """
    compute = min(compute, seconds)
    transforms = min(transforms, compute)
    parts = {"transforms": transforms, "kernels": compute - transforms}
    return {"seconds": seconds, **parts, "exchange": seconds - compute}


# --- transforms -----------------------------------------------------------------------------------


def step_kind(propagation: Propagation) -> str:
    """Kind of the step: "fused", or "library" for one with transforms of a library."""
    shape, dtype = propagation.grid.shape, propagation.dtype
    return "fused" if can_fuse(propagation.backend, shape, dtype) else "library"


def transform_count(propagation: Propagation) -> int:
    """Number of transforms of a step."""
    return 1 + 3 * len(propagation.axes) + 2 * propagation.medium.fractional_laplacians


def transform_pair(propagation: Propagation) -> list[Launch]:
    """A transform of the pressure by the backend's library, and its inverse to another array."""
    backend, shape, dtype = propagation.backend, propagation.grid.shape, propagation.dtype
    transform = backend.real_transform(shape, dtype)
    spectrum = backend.zeros(spectrum_shape(shape), spectrum_dtype(dtype))
    result = backend.zeros(shape, dtype)
    return [transform.forward(propagation.p, spectrum), transform.inverse(spectrum, result)]


def transform_seconds(propagation: Propagation, pair: float) -> float:
    """Time of all transforms of a step, from the time of a pair."""
    return transform_count(propagation) / 2 * pair
