"""Transfer between polynomials of two degrees on the same elements.

Prolongation P evaluates a coarse function at the fine nodes: J u_c on each element, with J the
interpolation along its three axes. Elements agree at shared nodes, so each fine node takes its
value from one element, the first that has it on the rank that owns it; other ranks get a copy.
Restriction is the exact transpose P' r: each fine residual goes to that element, J' maps it to
coarse nodes, and the results are assembled.
"""

from __future__ import annotations

from copy import copy
from pathlib import Path

import numpy as np
from numpy.typing import DTypeLike

from groundswell.arrays import DeviceArray, Integers
from groundswell.backends import Backend, Constant, Launch, Source
from groundswell.backends.launch import KernelArgument, KernelArguments
from groundswell.backends.source import precision
from groundswell.linear.operators import pitches
from groundswell.meshes.gll import gll
from groundswell.meshes.hexahedra import Floats
from groundswell.spectral_elements.element_kernels import (
    elements_per_block,
    initializer,
    launch_on_elements,
)
from groundswell.spectral_elements.overlap import NodalExchange, split_elements
from groundswell.spectral_elements.space import FunctionSpace

KERNELS = Path(__file__).with_name("kernels")
NOWHERE = -1


class GridTransfer(NodalExchange):
    """Restriction and prolongation between two spaces. All ranks must make and run it together.

    Args:
        mask: 1 for free fine values, 0 for those that take no part, assembled.
        restricted: fine residual r, of which this rank's own values are read, and coarse b = P' r.
        prolonged: coarse e, with copies of other ranks' values, and fine x, to which P e is added;
            its copies are filled in.

    Attributes:
        down: launches of the restriction.
        up: launches of the prolongation.
        launches: both.
    """

    def __init__(
        self,
        backend: Backend,
        fine: FunctionSpace,
        coarse: FunctionSpace,
        mask: Floats,
        restricted: tuple[DeviceArray, DeviceArray],
        prolonged: tuple[DeviceArray, DeviceArray],
    ) -> None:
        self._backend, self._spaces = backend, (fine, coarse)
        self._fine_dofs = backend.to_device(choose_dofs(fine, mask))
        self._connect(restricted, prolonged)

    def between(
        self,
        restricted: tuple[DeviceArray, DeviceArray],
        prolonged: tuple[DeviceArray, DeviceArray],
    ) -> GridTransfer:
        """The same for other arrays, (values,) or (components, values), to be closed, too."""
        other = copy(self)
        other._connect(restricted, prolonged)
        return other

    def _connect(
        self,
        restricted: tuple[DeviceArray, DeviceArray],
        prolonged: tuple[DeviceArray, DeviceArray],
    ) -> None:
        backend, (fine, coarse) = self._backend, self._spaces
        (r, b), (e, x) = restricted, prolonged
        local = backend.zeros((*b.shape[:-1], coarse.dofs.size), b.dtype)
        gather = coarse.operation(backend, "gather", local, b)
        halo = fine.operation(backend, "halo", x, x)
        super().__init__(gather, halo)
        components, *of_fine, of_coarse, of_local = pitches(r, x, e, local)
        source = transfer_source(r.dtype, fine.degree, coarse.degree, components)
        module, dofs = backend.compile(source), coarse.dofs_on(backend)

        def launch(name: str, chosen: Integers, **arrays: KernelArgument) -> list[Launch]:
            return launch_on_elements(backend, module, name, fine.degree, chosen, **arrays)

        fine_dofs, (r_pitch, x_pitch) = self._fine_dofs, of_fine
        down: KernelArguments = {"r": r, "r_pitch": r_pitch, "fine_dofs": fine_dofs}
        down |= {"b": local, "b_pitch": of_local}
        up: KernelArguments = {"e": e, "e_pitch": of_coarse, "dofs": dofs, "fine_dofs": fine_dofs}
        up |= {"x": x, "x_pitch": x_pitch}
        shared, interior = split_elements(coarse)
        self.down = [
            *launch("restrict_elements", shared, **down),
            *gather.overlap_with(interior=launch("restrict_elements", interior, **down)),
        ]
        self.up = [
            *launch("prolong_elements", shared, **up),
            *halo.overlap_with(interior=launch("prolong_elements", interior, **up)),
        ]
        self.launches = [*self.down, *self.up]


def choose_dofs(space: FunctionSpace, mask: Floats) -> Integers:
    """Index of each element's nodes among the assembled values, (elements, (N + 1)^3).

    NOWHERE except in the first element of a node that is free and owned by this rank.
    """
    numbering, is_free = space.sharing.numbering, mask > 0
    is_free[space.own :] = False

    def choose(some: slice) -> Integers:
        dofs = numbering.indices_of(some)
        return np.where(is_free[dofs] & numbering.is_first(some), dofs, np.int32(NOWHERE))

    return numbering.tabulate(choose).reshape(space.dofs.shape)


def transfer_source(dtype: DTypeLike, fine: int, coarse: int, components: int = 1) -> Source:
    """The kernels for a type, between two degrees, for a number of components."""
    matrix = gll(coarse).interpolation(gll(fine).points)
    constants: dict[str, Constant] = {
        **precision(dtype),
        "FINE": fine + 1,
        "COARSE": coarse + 1,
        "COMPONENTS": components,
        "ELEMENTS": elements_per_block(fine),
        "INTERPOLATION": initializer(matrix),
        "TRANSPOSED": initializer(matrix.T),
    }
    return Source(KERNELS / "grid_transfer.h", constants)
