"""Two sample kernels, their launches on any backend, and what NumPy says they must give."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groundswell.backends import Backend, Blocks, Cells, Items, Source
from groundswell.backends.source import INCLUDE

KERNELS = Path(__file__).parents[1] / "unit" / "backends" / "kernels"
WEIGHTS = {"WEIGHT_X": 0.7, "WEIGHT_Y": 1.3, "WEIGHT_Z": 0.4}
TOLERANCE = {"float32": 2e-6, "float64": 4e-15}  # a dozen roundings, relative to the largest value


def constants(dtype: str, **sizes: Any) -> dict[str, Any]:
    return {**sizes, **({"DOUBLE_PRECISION": 1} if dtype == "float64" else {})}


def stencil_source(dtype: str, cells: tuple[int, int, int]) -> Source:
    nx, ny, nz = cells
    return Source(KERNELS / "stencil.h", constants(dtype, NX=nx, NY=ny, NZ=nz, **WEIGHTS))


def contraction_source(dtype: str, points: int) -> Source:
    return Source(KERNELS / "contraction.h", constants(dtype, N=points))


def check_stencil(backend: Backend, dtype: str, cells: tuple[int, int, int], seed: int) -> None:
    """The Laplacian of a random field, in a poisoned array whose rim must stay as it is."""
    nx, ny, nz = cells
    f = np.random.default_rng(seed).normal(size=(nz + 2, ny + 2, nx + 2)).astype(dtype)
    ends_z, ends_y, ends_x = (slice(None, None, n + 1) for n in (nz, ny, nx))
    for edge in (np.s_[ends_z, ends_y], np.s_[ends_z, :, ends_x], np.s_[:, ends_y, ends_x]):
        f[edge] = np.nan  # seven points never touch the edges of the box
    out = backend.to_device(np.full_like(f, np.nan))
    module = backend.compile(stencil_source(dtype, cells))
    module.launch("laplacian", Cells(*cells), out, backend.to_device(f))()
    found = backend.to_host(out)
    inner = np.s_[1:-1, 1:-1, 1:-1]
    assert np.isfinite(found).sum() == nx * ny * nz
    check_close(found[inner], laplacian(f.astype(float)), dtype)


def laplacian(f: NDArray[np.float64]) -> NDArray[np.float64]:
    second = [np.diff(f, 2, axis) for axis in range(3)]
    z, y, x = second[0][:, 1:-1, 1:-1], second[1][1:-1, :, 1:-1], second[2][1:-1, 1:-1, :]
    return x * WEIGHTS["WEIGHT_X"] + y * WEIGHTS["WEIGHT_Y"] + z * WEIGHTS["WEIGHT_Z"]


def check_contraction(
    backend: Backend, dtype: str, points: int, elements: int, threads: int, seed: int
) -> None:
    """Two contractions of random tensors, by more, as many, or fewer threads than points."""
    rng = np.random.default_rng(seed)
    matrix = rng.normal(size=(points, points)).astype(dtype)
    u = rng.normal(size=(elements, points, points, points)).astype(dtype)
    out = backend.to_device(np.full_like(u, np.nan))
    module = backend.compile(contraction_source(dtype, points))
    on_device = (backend.to_device(a) for a in (matrix, u))
    module.launch("contract", Blocks(elements, threads), out, *on_device, elements)()
    wanted = np.einsum("ai,bj,eijk->eabk", *(a.astype(float) for a in (matrix, matrix, u)))
    check_close(backend.to_host(out), wanted, dtype)


def check_close(found: NDArray[Any], wanted: NDArray[np.float64], dtype: str) -> None:
    assert found.dtype == dtype
    error = np.abs(found - wanted).max() / np.abs(wanted).max()
    assert error < TOLERANCE[dtype], f"{error:.2e}"


def check_branches(backend: Backend, count: int, rounds: int) -> None:
    """Branches see what came before them, and what comes after sees all of them.

    b = c = a + 3, d = c + 3 and a = b + 3 d: a round takes a to 4 a + 21.
    """
    module = backend.compile(Source(INCLUDE / "triad.h", {}))
    a, b, c, d = (backend.zeros((count,), np.float32) for _ in range(4))
    one = backend.to_device(np.ones(count, np.float32))

    def triad(*arrays: Any) -> Any:
        return module.launch("triad", Items(count), *arrays, count)

    branches = backend.concurrently([triad(b, a, one)], [], [triad(c, a, one), triad(d, c, one)])
    launches = [*branches, triad(a, b, d)]
    backend.capture(lambda: [launch() for launch in launches]).replay(rounds)
    assert (backend.to_host(a) == 7 * (4.0**rounds - 1)).all()
