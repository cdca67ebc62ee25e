"""Media with one value per cell of the region (arrays and AWP meshes), read plane by plane."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

import numpy as np

from groundswell.arrays import HostArray
from groundswell.errors import InputError
from groundswell.grids.axis import Axis, Spacings
from groundswell.seismology.case.medium_base import QRule
from groundswell.seismology.formats.awp import AwpMesh
from groundswell.seismology.media.material import (
    Counts,
    Material,
    Medium,
    uniform_values,
)
from groundswell.seismology.media.profile import Profile, step_profile
from groundswell.seismology.media.rules import Rules


class ArrayMedium:
    """A medium in arrays (nz, ny, nx), which may be memory maps: one plane is read at a time.

    Args:
        spacing: edges of the cells along x, y and z, m.
        vp, vs: wave speeds, m/s.
        rho: density, kg/m^3.
        qp, qs: quality factors; both, or neither if elastic.
    """

    def __init__(
        self,
        spacing: Spacings,
        vp: HostArray,
        vs: HostArray,
        rho: HostArray,
        qp: HostArray | None = None,
        qs: HostArray | None = None,
    ) -> None:
        arrays = {"vp": vp, "vs": vs, "rho": rho, "qp": qp, "qs": qs}
        self._arrays = {name: array for name, array in arrays.items() if array is not None}
        self.cells = vp.shape[::-1]
        self.spacing = spacing

    @cached_property
    def profile(self) -> Profile | None:
        """The medium as a function of depth; None if it varies along x or y."""
        return _profile(self)

    def plane(self, k: int) -> Material:
        """Cell values of depth row `k`: arrays (ny, nx), in their own floating-point type."""
        rows = {name: np.asarray(array[k]) for name, array in self._arrays.items()}
        return Material(
            **{name: row.astype(_real(row.dtype), copy=False) for name, row in rows.items()}
        )


def _real(dtype: np.dtype[np.generic]) -> np.dtype[np.generic]:
    """The type for computations: double for integers and for floats too short for moduli in Pa."""
    return dtype if dtype in (np.float32, np.float64) else np.dtype(np.float64)


class AwpMedium:
    """An AWP mesh file of the cells of the region, in single precision.

    Args:
        path: the mesh file.
        cells: cells of the region and of the mesh (nx, ny, nz).
        spacing: edges of the cells along x, y and z, m.
        variables: number of variables per cell: 3, 5 or 8.
        q_rule: rule for the quality factors of a mesh without them (3 variables); None if elastic.

    Raises:
        InputError: the file does not fit the cells, or the mesh has quality factors and a rule.
    """

    def __init__(
        self,
        path: str | Path,
        cells: Counts,
        spacing: Spacings,
        *,
        variables: int,
        q_rule: QRule | None = None,
    ) -> None:
        if q_rule is not None and variables > 3:
            raise InputError(f"medium.q_rule = {q_rule!r}: {path} contains Q; remove the rule")
        self.cells, self.spacing = cells, spacing
        self._mesh, self._q_rule = AwpMesh(path, cells, variables), q_rule

    @cached_property
    def profile(self) -> Profile | None:
        """The medium as a function of depth; None if it varies along x or y."""
        return _profile(self)

    def plane(self, k: int) -> Material:
        """Cell values of depth row `k`: arrays (ny, nx), float32."""
        return Rules(q=self._q_rule).complete(self._mesh.plane(k))


def _profile(medium: Medium) -> Profile | None:
    """The profile of a medium that is constant in each cell; None if it varies along x or y."""
    rows = []
    for k in range(medium.cells[2]):  # ends at the first plane that varies
        row = uniform_values(medium.plane(k).given())
        if row is None:
            return None
        rows.append(row)
    changes = [k for k in range(len(rows)) if k == 0 or rows[k] != rows[k - 1]]
    return step_profile(
        Axis(medium.spacing[2]).at(changes),
        {name: np.array([rows[k][name] for k in changes]) for name in rows[0]},
    )
