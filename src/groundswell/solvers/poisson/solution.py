"""The solution of a problem from Python."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from groundswell.arrays import Integers
from groundswell.backends.array_interop import as_numpy
from groundswell.errors import counted
from groundswell.exchange.mpi_communicator import get_communicator
from groundswell.meshes.hexahedra import Floats, Hexahedra
from groundswell.solvers.poisson.nullspace import WARN_ABOVE
from groundswell.spectral_elements.fields import (
    ElementValues,
    as_dataset,
    gather_on_root,
    sample_on_axes,
)
from groundswell.spectral_elements.vtkhdf import LagrangeElements

if TYPE_CHECKING:
    import xarray


@dataclass(frozen=True, eq=False, repr=False)
class Solution:
    """u on elements; with several ranks, on those of this rank.

    >>> import groundswell as gs
    >>> sides = {"west": {"kind": "fixed"}, "east": {"kind": "fixed", "value": 1.0}}
    >>> u = gs.poisson.solve(gs.poisson.Box((2, 2, 2)), 4, boundaries=sides)
    >>> u.values.shape, u.converged
    ((8, 125), True)
    >>> u.at([0.25, 0.5], 0.5, 0.5).values.round(6)
    array([0.25, 0.5 ])

    Args:
        mesh, degree: of the problem.
        elements: numbers of this rank's elements in the mesh.
        positions: of their nodes, (elements, (N + 1)^3, 3), m.
        values: u at the nodes, (elements, (N + 1)^3), or (components, elements, (N + 1)^3): a NumPy
            array, or one on the device and of the library of the source.
        residuals: Euclidean norms before each iteration and after the last. Those of several
            components are relative to u = 0, and the root of the sum of their squares counts.
        converged: whether the last residual met the tolerance.
        unbalanced: if only the mean of u was given, the imbalance of source and fluxes, relative
            to their absolute values; a constant source compensated for it.
    """

    mesh: Hexahedra
    degree: int
    elements: Integers
    positions: Floats
    values: Any
    residuals: Floats
    converged: bool
    unbalanced: float = 0.0

    @property
    def iterations(self) -> int:
        """Number of iterations."""
        return len(self.residuals) - 1

    @property
    def fields(self) -> xarray.Dataset:
        """u on this rank's elements, (element, node), with the nodes' x, y and z, m.

        Several components are u1, u2 and so on.
        """
        return as_dataset(self.positions, self.named)

    def at(self, x: ArrayLike, y: ArrayLike, z: ArrayLike) -> xarray.DataArray | xarray.Dataset:
        """u at points of a line, a plane or a box: `u.at(np.linspace(0, 1, 101), 0.5, 0.5)`.

        Args:
            x, y, z: coordinates, m, each a number or a list of numbers, which is then a dimension.

        Returns:
            The polynomial's values, (z, y, x); NaN outside the mesh or, with several ranks, outside
            this rank's elements. Several components are a dataset of u1, u2 and so on.

        Raises:
            InputError: a coordinate is neither a number nor a list of numbers.
        """
        found = sample_on_axes(
            ElementValues(self.mesh, self.degree, self.elements, self.named), x, y, z
        )
        return found.get("u", found)

    @property
    def named(self) -> dict[str, Floats]:
        """The components by name, each (elements, (N + 1)^3), on the host."""
        values = as_numpy(self.values)
        if values.ndim < self.positions.ndim:
            return {"u": values}
        return {f"u{n}": of_one for n, of_one in enumerate(values, 1)}

    def write(self, path: str | Path) -> Path:
        """Write u for ParaView, like a run's `solution.vtkhdf`; all ranks must call it.

        Raises:
            InputError: the path cannot hold a file.
            RunFailed: the disk is full.
        """
        path, job = Path(path), get_communicator()

        def write_on_root() -> None:
            whole = {
                name: gather_on_root(job, self.mesh, self.elements, values)
                for name, values in self.named.items()
            }
            if job.first:
                attrs = {"degree": self.degree}
                LagrangeElements.of(self.mesh, self.degree, whole, attrs).write(path)

        job.collective_try(write_on_root)
        return path

    def __repr__(self) -> str:
        """A summary without the arrays."""
        state = "converged" if self.converged else "not converged"
        if self.unbalanced > WARN_ABOVE:
            state += f", source and fluxes unbalanced by {self.unbalanced:.1%}"
        elements = counted(len(self.elements), "element")
        return f"Solution({elements}, {counted(self.iterations, 'iteration')}, {state})"
