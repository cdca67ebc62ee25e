"""Slip on a fault: the arrays of kernels/fault.h, and the launches that use them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import chain

import numpy as np

from groundswell.arrays import DeviceArray
from groundswell.backends import Backend, Exact, Items, Launch, Source
from groundswell.backends.source import Parameter, precision
from groundswell.exchange.decomposition import Block
from groundswell.grids.cartesian import Layout, Part
from groundswell.solvers.earthquake.faults.model import KINDS, Fault
from groundswell.solvers.earthquake.faults.plane import FaultPlane
from groundswell.solvers.earthquake.faults.ranks import has_fault
from groundswell.solvers.earthquake.faults.rock import ROWS
from groundswell.solvers.earthquake.interpolation import SHEAR_REACH
from groundswell.solvers.earthquake.setup import Setup
from groundswell.solvers.earthquake.step_source import KERNELS

AT_POINTS = ("rate", "slip", "state", "speed", "onset", "traction")  # arrays (KINDS, rows, columns)
RECORDED = (
    *("rate_along", "rate_down", "shear_along", "shear_down", "normal_stress", "peak_rate"),
)
JUMPS = 3  # of stresses
OF_STRESSES = ("moduli", "shares")  # tables for the stresses beside the fault


class FaultSlip:
    """The jumps across a fault, friction and what is recorded, on the rank that has the fault.

    Components are along the axes of the grid, from the low side to the high side.

    Attributes:
        arrays: by name: AT_POINTS; "jumps" of stress, (3, rows, columns); RECORDED at the centres
            of cells, (6, rows, columns).
    """

    def __init__(self, setup: Setup, fault: Fault, backend: Backend, part: Part) -> None:
        self._fault, self._backend = fault, backend
        self._layout = Layout(part.cells, np.dtype(setup.dtype).itemsize)
        self._tables = {
            name: backend.to_device(np.ascontiguousarray(table))
            for name, table in self._tables_of(setup).items()
        }
        shapes = self.shapes(fault.plane)
        self.arrays = {name: backend.zeros(shape, "f8") for name, shape in shapes.items()}
        self._trial = backend.zeros(shapes["traction"], "f8")
        self._set_start()
        self._module = backend.compile(fault_source(setup, fault, part, self._layout))

    @staticmethod
    def shapes(plane: FaultPlane) -> dict[str, tuple[int, ...]]:
        """The shape of each of the arrays."""
        sizes = {**dict.fromkeys(AT_POINTS, len(KINDS)), "jumps": JUMPS, "recorded": len(RECORDED)}
        return {name: (size, *plane.shape) for name, size in sizes.items()}

    def _tables_of(self, setup: Setup) -> dict[str, np.ndarray]:
        fault = self._fault
        return {
            "damping": fault.damping(setup.dt),
            "friction": fault.friction,
            "loads": fault.loads,
            "normal_loads": fault.normal_loads,
            "stiffness": fault.rock.stiffness,
            "moduli": fault.rock.shear_moduli,
            "shares": fault.rock.relaxed_shares(setup.dt),
            "begin": np.array([setup.time_axis.start]),
        }

    def _set_start(self) -> None:
        """Set slip rate and state before the run."""
        fault = self._fault
        for name in ("rate", "state", "speed"):
            self._backend.assign(self.arrays[name], getattr(fault, name))
        never = np.full(self.arrays["onset"].shape, np.inf)
        self._backend.assign(self.arrays["onset"], never)

    # --- launches ---------------------------------------------------------------------------------

    def advance(self, fields: Mapping[str, DeviceArray], clock: DeviceArray) -> list[Launch]:
        """The launches that advance slip by a step, before the velocities.

        Args:
            fields: the stresses of the grid.
        """
        points = self._points
        stresses = zip(("sna", "snz", "snn"), self._stresses(fields), strict=True)
        tables = {name: table for name, table in self._tables.items() if name not in OF_STRESSES}
        arrays = {**tables, **self.arrays, "trial": self._trial, **dict(stresses), "clock": clock}
        counts = {"load_fault": len(KINDS), "slide": len(KINDS), "stretch_fault": 1}
        return [
            self._module.launch(kernel, Items(kinds * points), **arrays)
            for kernel, kinds in counts.items()
        ]

    def release(self, fields: Mapping[str, DeviceArray], box: Block) -> list[Launch]:
        """The launch that corrects the stresses of a box which have been advanced by a step.

        Args:
            fields: stresses and memory variables.
        """
        names = ("first_k", "first_j", "first_i", "count_k", "count_j", "count_i")
        where = dict(zip(names, (*box.start, *box.shape), strict=True))
        along, down, _ = self._stresses(fields)
        kept = [fields.get(name, self._trial) for name in self._names("r")[:2]]
        moved = {"sna": along, "snz": down, "rna": kept[0], "rnz": kept[1]}
        jumps = {name: self._tables[name] for name in OF_STRESSES} | {"rate": self.arrays["rate"]}
        items = Items(len(KINDS) * ROWS * self._points)
        return [self._module.launch("release", items, **moved, **jumps, **where)]

    def release_surface(self, fields: Mapping[str, DeviceArray]) -> list[Launch]:
        """The launch that corrects the velocities above a free surface, if the fault is there."""
        if not self._plane.at_surface:
            return []
        normal = fields[("vx", "vy")[self._plane.axis]]
        items = Items(self._plane.shape[1])
        rate = self.arrays["rate"]
        return [self._module.launch("release_surface", items, vn=normal, rate=rate)]

    def _stresses(self, fields: Mapping[str, DeviceArray]) -> Sequence[DeviceArray]:
        """The shear stresses on the fault along strike and depth, and the normal stress."""
        return [fields[name] for name in self._names("s")]

    def _names(self, kind: str) -> list[str]:
        """The names of these, or of their memory variables, which begin with "r"."""
        return [kind + axes for axes in (("xy", "xz", "xx"), ("xy", "yz", "yy"))[self._plane.axis]]

    @property
    def _plane(self) -> FaultPlane:
        return self._fault.plane

    @cached_property
    def _points(self) -> int:
        rows, columns = self._plane.shape
        return rows * columns


class RankFaults:
    """The faults of a run on one rank.

    Attributes:
        slips: the jumps across each fault; None where another rank has it.
    """

    def __init__(self, setup: Setup, backend: Backend, part: Part) -> None:
        self.slips = [
            FaultSlip(setup, fault, backend, part) if has_fault(part, fault) else None
            for fault in setup.faults
        ]

    def advance(self, fields: Mapping[str, DeviceArray], clock: DeviceArray) -> list[Launch]:
        """See `FaultSlip.advance`."""
        return [*chain(*(slip.advance(fields, clock) for slip in self._own))]

    def release(self, fields: Mapping[str, DeviceArray], box: Block) -> list[Launch]:
        """See `FaultSlip.release`."""
        return [*chain(*(slip.release(fields, box) for slip in self._own))]

    def release_surface(self, fields: Mapping[str, DeviceArray]) -> list[Launch]:
        """See `FaultSlip.release_surface`."""
        return [*chain(*(slip.release_surface(fields) for slip in self._own))]

    @property
    def _own(self) -> list[FaultSlip]:
        return [slip for slip in self.slips if slip is not None]


def fault_source(setup: Setup, fault: Fault, part: Part, layout: Layout) -> Source:
    """The kernels of a fault on the part of the grid that contains it."""
    plane, strides = fault.plane, (1, layout.row, layout.plane)
    i, j, k = (c - start for c, start in zip(plane.first, part.start, strict=True))
    rows, columns = plane.shape
    normal, along, depth = plane.spacing
    constants = {
        **precision(setup.dtype),
        "FRICTION": fault.conditions.law.number,
        "ATTENUATION": setup.ground.relaxation is not None,
        "AT_SURFACE": plane.at_surface,
        "SHEAR_REACH": SHEAR_REACH,
    }
    parameters: dict[str, Parameter] = {
        "ROWS": rows,
        "COLUMNS": columns,
        "ROW": layout.row,
        "STEP_N": strides[plane.axis],
        "STEP_A": strides[plane.along],
        "STEP_Z": layout.plane,
        "FIRST": k * layout.plane + j * layout.row + i,
        "H_N": Exact(normal),
        "H_A": Exact(along),
        "H_Z": Exact(depth),
        "DT_EXACT": Exact(setup.dt),
    }
    return Source(KERNELS / "fault.h", constants, parameters, generic=True)
