"""Compile-time constants of the kernels in `kernels/`, and launches on elements."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from groundswell.arrays import DeviceArray, Floats, Integers
from groundswell.backends import Backend, Blocks, Constant, Items, Launch, Module, Source
from groundswell.backends.launch import KernelArgument
from groundswell.backends.source import precision
from groundswell.meshes.gll import gll

KERNELS = Path(__file__).with_name("kernels")
MIN_THREADS = 128  # of a block on a GPU


def reference_element_constants(degree: int) -> dict[str, Constant]:
    """The constants of reference_element.h, differentiate.h and cpu_rows.h."""
    points = gll(degree)
    forward, backward = points.derivative, points.derivative[:, ::-1]
    half = (degree + 1) // 2
    upper = degree + 1 - half
    tables = {
        "DERIVATIVES": forward,
        "DERIVATIVES_TRANSPOSED": forward.T,
        "DERIVATIVES_OF_ODD": (forward - backward)[:upper, :half] / 2,
        "DERIVATIVES_OF_EVEN": (forward + backward)[:half, :upper] / 2,
        "POINTS": points.points,
        "WEIGHTS": points.weights,
    }
    return {"NODES": degree + 1, **{name: initializer(table) for name, table in tables.items()}}


def half_constants(degree: int) -> dict[str, Constant]:
    """Interpolation from a line of nodes to those of its halves, and the adjoint of that.

    Each matrix has its transpose beside it.
    """
    w, to = gll(degree).weights, to_halves(degree)
    back = [half.T * w / w[:, None] / 2 for half in to]
    tables = {"TO_HALVES": to, "FROM_HALVES": back}
    return {name: initializer([[m, m.T] for m in table]) for name, table in tables.items()}


def to_halves(degree: int) -> list[Floats]:
    """Interpolation from the nodes of a line to those of its lower and its upper half."""
    points = gll(degree)
    return [points.interpolation((points.points + shift) / 2) for shift in (-1, 1)]


def initializer(table: ArrayLike) -> str:
    """An array as a C++ initializer."""
    return repr(np.asarray(table, float).tolist()).replace("[", "{").replace("]", "}")


def multiply(
    backend: Backend, x: DeviceArray, factors: DeviceArray, y: DeviceArray, count: int
) -> list[Launch]:
    """Launches that set the first `count` values of y to x times factors; x and y may be equal."""
    module = backend.compile(multiply_source(x.dtype))
    launch = module.launch("multiply_values", Items(count), x, factors, y, count)
    return [launch] if count else []


def multiply_source(dtype: DTypeLike) -> Source:
    """The kernel of `multiply` for a type."""
    constants = precision(dtype)
    return Source(KERNELS / "multiply.h", constants)


def elements_per_block(degree: int) -> int:
    """Elements of a block with a thread for each line of nodes: several if they are small."""
    return max(1, MIN_THREADS // (degree + 1) ** 2)


def launch_on_elements(
    backend: Backend,
    module: Module,
    name: str,
    degree: int,
    chosen: Integers,
    **arrays: KernelArgument,
) -> list[Launch]:
    """Launch a kernel with a thread for each line of nodes of elements.

    Args:
        degree: of the larger space; blocks have `elements_per_block(degree)` elements.
        chosen: local numbers of the elements.
        arrays: the kernel's arguments, except for the numbers and their count.
    """
    if not len(chosen):
        return []
    together = elements_per_block(degree)
    extent = Blocks(-(-len(chosen) // together), together * (degree + 1) ** 2)
    numbers = backend.to_device(chosen.astype("i4"))
    return [module.launch(name, extent, **arrays, elements=numbers, count=len(chosen))]
