"""Slip on a fault: the arrays of kernels/fault.h, and the launches that use them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from groundswell.arrays import DeviceArray
from groundswell.backends import Backend, Exact, Items, Launch, Source
from groundswell.backends.base import Event
from groundswell.backends.source import Parameter, precision
from groundswell.exchange.decomposition import Block
from groundswell.grids.cartesian import Layout, Part
from groundswell.solvers.earthquake.faults.model import KINDS, Fault
from groundswell.solvers.earthquake.faults.plane import FaultPlane
from groundswell.solvers.earthquake.faults.rock import ROWS
from groundswell.solvers.earthquake.faults.window import FaultWindow
from groundswell.solvers.earthquake.interpolation import SHEAR_REACH
from groundswell.solvers.earthquake.step_source import KERNELS

# Arrays (KINDS, rows, columns)
AT_POINTS = ("rate", "slip", "state", "speed", "work", "released", "onset", "past", "traction")
RECORDED = (
    *("rate_strike", "rate_updip", "shear_strike", "shear_updip", "normal_stress", "peak_rate"),
    *("slip_strike", "slip_updip", "state", "work", "released"),
)
JUMPS = 3  # of stresses
CENTRE = 1  # table beside those of KINDS
OF_STRESSES = ("moduli", "shares")  # tables for the stresses beside the fault


@dataclass(frozen=True)
class RankGrid:
    """The grid of a rank, and its time steps.

    Args:
        dtype: of the fields.
        dt: time step, s.
        begin: time at the start of the run, s.
    """

    part: Part
    dtype: str
    dt: float
    begin: float

    @property
    def layout(self) -> Layout:
        """Memory layout of a field."""
        return Layout(self.part.cells, np.dtype(self.dtype).itemsize)


class FaultSlip:
    """The jumps across a fault, friction and what is recorded, at the points of a rank.

    Components are along the axes of the grid, from the low side to the high side, but those of
    RECORDED along strike and up dip.

    Args:
        recorded: memory for RECORDED at the centres of cells, (11, points of the window), a part of
            an array for all faults.

    Attributes:
        arrays: by name, over the window: AT_POINTS; "jumps" of stress, (3, rows, columns);
            "recorded"; and "trial", tractions and the normal stress at the centres of cells, (3,
            rows, columns), which is not part of the state.
    """

    def __init__(
        self,
        backend: Backend,
        fault: Fault,
        window: FaultWindow,
        grid: RankGrid,
        recorded: DeviceArray,
    ) -> None:
        self._fault, self.window, self._backend = fault, window, backend
        self._tables = {
            name: backend.to_device(np.ascontiguousarray(table))
            for name, table in self._tables_of(grid).items()
        }
        shapes = {name: (len(KINDS), *window.shape) for name in AT_POINTS}
        shapes["jumps"] = (JUMPS, *window.shape)
        self.arrays = {name: backend.zeros(shape, "f8") for name, shape in shapes.items()}
        self.arrays["recorded"] = recorded.reshape(len(RECORDED), *window.shape)
        self.arrays["trial"] = backend.zeros((len(KINDS) + CENTRE, *window.shape), "f8")
        self._set_start()
        pitch = recorded.strides[0] // recorded.itemsize
        self._module = backend.compile(fault_source(fault, window, grid, pitch))

    @staticmethod
    def shapes(plane: FaultPlane) -> dict[str, tuple[int, ...]]:
        """The shape of each array of the state, for a whole fault."""
        sizes = {**dict.fromkeys(AT_POINTS, len(KINDS)), "jumps": JUMPS, "recorded": len(RECORDED)}
        return {name: (size, *plane.shape) for name, size in sizes.items()}

    def _tables_of(self, grid: RankGrid) -> dict[str, np.ndarray]:
        fault = self._fault
        whole = {
            "damping": fault.damping(grid.dt),
            "friction": fault.friction,
            "loads": fault.loads,
            "normal_loads": fault.normal_loads,
            "stiffness": fault.rock.stiffness,
            "moduli": fault.rock.shear_moduli,
            "shares": fault.rock.relaxed_shares(grid.dt),
        }
        tables = {name: self.window.cut(table) for name, table in whole.items()}
        return {**tables, "begin": np.array([grid.begin])}

    def _set_start(self) -> None:
        """Set slip rate and state before the run, and what is recorded of it."""
        fault, shape = self._fault, self.arrays["onset"].shape
        start = {name: self.window.cut(getattr(fault, name)) for name in ("rate", "state", "speed")}
        start |= {"onset": np.full(shape, np.inf), "recorded": self.window.cut(self._recorded)}
        for name, values in start.items():
            self._backend.assign(self.arrays[name], values)

    @property
    def _recorded(self) -> np.ndarray:
        """RECORDED before the run, at all cells."""
        found = self._fault.initial
        nothing = np.zeros(self._fault.plane.shape)
        return np.stack([found.get(name, nothing) for name in RECORDED])

    def released(self, after: Event | None = None) -> float:
        """Energy that the waves of the own cells have received; see `RankFaults.released`.

        Half of the density times the volume of a cell is its energy over the squared velocity.
        """
        values = self._backend.to_host(self.arrays["recorded"][RECORDED.index("released")], after)
        fault, (own, _) = self._fault, self.window.own_box
        across = fault.plane.spacing[0]  # volume over area
        return float(values[own].sum()) / (0.5 * float(fault.density.min()) * across)

    # --- launches ---------------------------------------------------------------------------------

    def launch(
        self, kernel: str, fields: Mapping[str, DeviceArray], clock: DeviceArray
    ) -> list[Launch]:
        """The launch of a kernel that takes FAULT_ARGUMENTS.

        Args:
            fields: the stresses of the grid.
        """
        rows, columns = self.window.own
        items = {
            "load_fault": (len(KINDS) + CENTRE) * rows * columns,
            "slide": len(KINDS) * rows * columns,
            "stretch_fault": self.window.points,
            "record_fault": rows * columns,
        }
        stresses = zip(("sna", "snz", "snn"), self._stresses(fields), strict=True)
        tables = {name: table for name, table in self._tables.items() if name not in OF_STRESSES}
        arrays = {**tables, **self.arrays, **dict(stresses), "clock": clock}
        return [self._module.launch(kernel, Items(items[kernel]), **arrays)]

    def release(self, fields: Mapping[str, DeviceArray], box: Block) -> list[Launch]:
        """The launch that corrects the stresses of a box which have been advanced by a step.

        Args:
            fields: stresses and memory variables.
        """
        names = ("first_k", "first_j", "first_i", "count_k", "count_j", "count_i")
        where = dict(zip(names, (*box.start, *box.shape), strict=True))
        along, down, _ = self._stresses(fields)
        kept = [fields.get(name, self.arrays["trial"]) for name in self._names("r")[:2]]
        moved = {"sna": along, "snz": down, "rna": kept[0], "rnz": kept[1]}
        jumps = {name: self._tables[name] for name in OF_STRESSES} | {"rate": self.arrays["rate"]}
        rows, columns = self.window.own
        items = Items(len(KINDS) * ROWS * rows * columns)
        return [self._module.launch("release", items, **moved, **jumps, **where)]

    def release_surface(self, fields: Mapping[str, DeviceArray]) -> list[Launch]:
        """The launch that corrects the velocities above a free surface, if the fault is there."""
        if self.window.top is None:
            return []
        normal = fields[("vx", "vy")[self._fault.plane.axis]]
        items, rate = Items(self.window.own[1]), self.arrays["rate"]
        return [self._module.launch("release_surface", items, vn=normal, rate=rate)]

    def _stresses(self, fields: Mapping[str, DeviceArray]) -> Sequence[DeviceArray]:
        """The shear stresses on the fault along strike and depth, and the normal stress."""
        return [fields[name] for name in self._names("s")]

    def _names(self, kind: str) -> list[str]:
        """The names of these, or of their memory variables, which begin with "r"."""
        axes = (("xy", "xz", "xx"), ("xy", "yz", "yy"))[self._fault.plane.axis]
        return [kind + each for each in axes]


def fault_source(fault: Fault, window: FaultWindow, grid: RankGrid, pitch: int) -> Source:
    """The kernels of a fault on the part of the grid of a rank.

    Args:
        pitch: of the rows of what is recorded, in values.
    """
    plane, layout = fault.plane, grid.layout
    strides = (1, layout.row, layout.plane)
    i, j, k = (c - start for c, start in zip(window.cell, grid.part.start, strict=True))
    normal, along, depth = plane.spacing
    constants = {
        **precision(grid.dtype),
        "FRICTION": fault.conditions.law.number,
        "ATTENUATION": fault.rock.relaxation is not None,
        "AT_SURFACE": window.top is not None,
        "SHEAR_REACH": SHEAR_REACH,
    }
    parameters: dict[str, Parameter] = {
        **{"ROWS": window.shape[0], "COLUMNS": window.shape[1]},
        **{"OWN_ROWS": window.own[0], "OWN_COLUMNS": window.own[1]},
        **{"MARGIN_ROWS": window.margin[0], "MARGIN_COLUMNS": window.margin[1]},
        "TOP": window.top or 0,
        "SIGN": plane.sign,
        "VISCOSITY": Exact(fault.viscosity),
        "PITCH": pitch,
        "ROW": layout.row,
        "STEP_N": strides[plane.axis],
        "STEP_A": strides[plane.along],
        "STEP_Z": layout.plane,
        "FIRST": k * layout.plane + j * layout.row + i,
        "H_N": Exact(normal),
        "H_A": Exact(along),
        "H_Z": Exact(depth),
        "DT_EXACT": Exact(grid.dt),
    }
    return Source(KERNELS / "fault.h", constants, parameters, generic=True)
