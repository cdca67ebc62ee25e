"""The discontinuous Galerkin scheme on a rank's elements: fields, and the launches of a step.

Nodal collocation on Gauss-Legendre-Lobatto points, with the Riemann flux or the central flux, for
velocity and stress (or pressure): Wilcox, Stadler, Burstedde & Ghattas, J. Comput.
Phys. 229:9373, 2010; Hanindhito et al., GAPS, ICS 2022, doi:10.1145/3524059.3532373.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import numpy as np

from groundswell.arrays import DeviceArray, Reals
from groundswell.backends import Backend, Blocks, Launch, Module
from groundswell.exchange.communicator import Communicator
from groundswell.exchange.tuning import Choice
from groundswell.meshes.hexahedra import AXES
from groundswell.seismology.case.plasticity import STRAIN
from groundswell.solvers.dgwave import element_tables
from groundswell.solvers.dgwave.discretisation import Discretisation
from groundswell.solvers.dgwave.fault_slip import FaultSlip
from groundswell.solvers.dgwave.kernel_shapes import (
    KernelShape,
    kernel_shape,
    mortar_shape,
    pitch,
)
from groundswell.solvers.dgwave.kernel_source import kernel_source
from groundswell.solvers.dgwave.traces import Traces
from groundswell.solvers.dgwave.yielding import Yielding
from groundswell.time_integration.low_storage import CARPENTER_KENNEDY as SCHEME

START = -1  # instead of a stage: before the first one
VELOCITY = "velocity"


class Propagation:
    """Fields on a rank's elements, and the launches that advance them.

    Args:
        choice: how ranks exchange traces; by default, by the default transport.
        shape: shape of the thread blocks; by default, the fastest one that was measured.

    Attributes:
        u: the fields, (elements, fields, nodes).
        r: the register of the Runge-Kutta scheme, (elements, fields, nodes). After the first stage
            of a step, it contains the time derivatives of the fields.
        memory: the memory variables of attenuation, (elements, mechanisms, strains, nodes).
        layer_memory: the memory variables of matched layers, (sets, derivatives, nodes).
        clock: number of completed steps, on the device, (1,).
        traces: the face traces and their exchange.
        fault: slip on the faults; None if no rank has any.
        yielding: yielding of the rock; None if it is linear.
    """

    def __init__(
        self,
        backend: Backend,
        comm: Communicator,
        problem: Discretisation,
        choice: Choice | None = None,
        shape: KernelShape | None = None,
    ) -> None:
        self._backend, self._problem = backend, problem
        equations, degree, dtype = problem.equations, problem.degree, problem.dtype
        self.shape = shape or kernel_shape(backend, problem.variant)
        self._shared_bytes = self.shape.shared_bytes(problem.variant)
        count, fields = problem.elements.count, len(equations.fields)
        self._u, self._r = (backend.zeros((count, pitch(degree, fields)), dtype) for _ in range(2))
        self.u, self.r = (
            array[:, : fields * problem.nodes].reshape(count, fields, problem.nodes)
            for array in (self._u, self._r)
        )
        variables = (count, problem.mechanisms, equations.strains, problem.nodes)
        self.memory, self._memory_register = (backend.zeros(variables, dtype) for _ in range(2))
        sets = problem.layers.sets.max(initial=-1) + 1 if problem.layers else 0
        in_layers = (int(sets), equations.stretched, problem.nodes)
        self.layer_memory, self._layer_register = (
            backend.zeros(in_layers, dtype) for _ in range(2)
        )
        self.clock = backend.zeros((1,), np.int64)
        self.traces = Traces(backend, comm, problem.elements, problem.trace, problem.fault)
        self.traces.connect(choice or Choice())
        self.fault = (
            FaultSlip(backend, problem, problem.fault, self.traces) if problem.fault else None
        )
        self.yielding = Yielding(backend, problem, problem.rock) if problem.rock else None
        self._modules = {
            absorbing: backend.compile(kernel_source("advance.h", problem, self.shape, absorbing))
            for absorbing in {absorbs for absorbs, _ in self._kinds(range(problem.elements.count))}
        }

    def set_exchange(self, choice: Choice) -> None:
        """Set how ranks exchange traces; collective. Earlier launches must no longer be used."""
        self.traces.connect(choice)

    def reset(self) -> None:
        """Return to rest at time 0."""
        for array in (self._u, self.memory, self.layer_memory, self.clock):
            self._backend.assign(array, np.zeros(array.shape, str(array.dtype)))
        for part in (self.fault, self.yielding):
            if part is not None:
                part.reset()

    @property
    def values(self) -> dict[str, DeviceArray]:
        """The stress, or pressure, and the velocity, (1, elements, values)."""
        equations, nodes = self._problem.equations, self._problem.nodes
        end = len(equations.fields) * nodes
        first = end - AXES * nodes
        rows = self._u.reshape(1, *self._u.shape)
        stress = "stress" if equations.elastic else "pressure"
        return {stress: rows[:, :, :first], VELOCITY: rows[:, :, first:end]}

    @property
    def fields(self) -> dict[str, DeviceArray]:
        """Views of the fields by name, (elements, nodes)."""
        found = {name: self.u[:, n] for n, name in enumerate(self._problem.equations.fields)}
        return found | ({STRAIN: self.yielding.strain} if self.yielding else {})

    # --- launches ---------------------------------------------------------------------------------

    @property
    def step(self) -> list[Launch]:
        """The launches of a step."""
        stages = [launch for stage in range(SCHEME.stages) for launch in self.stage(stage)]
        module = next(iter(self._modules.values()))
        return [*stages, module.launch("count_step", Blocks(1, 1), self.clock)]

    def stage(self, stage: int) -> list[Launch]:
        """The launches of a stage of a step."""
        outer, everyone = self._problem.elements.outer, self._problem.elements.count
        few, all_mortars = self._mortar_counts
        overlapped = self.traces.overlap(
            stage,
            SCHEME.stages,
            outer=self._update(stage, range(outer), range(few)),
            inner=self._update(stage, range(outer, everyone), range(few, all_mortars)),
        )
        return [*self._project(stage), *self._slide(stage), *overlapped]

    def _update(self, stage: int, elements: range, mortars: range) -> list[Launch]:
        """Launches that update elements, and store their traces and those of their mortars."""
        advance = self.advance(stage, elements.start, len(elements))
        interpolate = self._interpolate(stage, mortars.start, len(mortars))
        return [*advance, *self._yield(stage, elements), *interpolate]

    def advance(self, stage: int, first: int, count: int) -> list[Launch]:
        """Launches that advance `count` elements from element `first` on by one stage."""
        kinds = self._kinds(range(first, first + count))
        return [self._advance(stage, part, absorbing) for absorbing, part in kinds]

    def _advance(self, stage: int, part: range, absorbing: bool) -> Launch:
        blocks = -(-len(part) // self.shape.elements)
        extent = Blocks(blocks, self.shape.threads(self._problem.degree), self._shared_bytes)
        given = {**self._elements(absorbing), **self._terms}
        where = {"stage": stage, "first": part.start, "count": len(part)}
        return self._modules[absorbing].launch(
            "advance", extent, **given, stages=self._stages, step=self._dt, **where
        )

    def _kinds(self, elements: range) -> list[tuple[bool, range]]:
        """Parts of a range of elements that have kernels of their own: whether they absorb waves.

        The kernel of the others is shorter. This makes no difference on CPUs, where one kernel
        advances all elements. The choice must not depend on the rank: the kernels add the terms of
        a divergence in different orders.
        """
        first, end, inside = elements.start, elements.stop, self._problem.absorbing
        if self._backend.on_host:
            return [(self._problem.has_absorption, elements)] if elements else []
        parts = [
            (False, range(first, min(end, inside.start))),
            (True, range(max(first, inside.start), min(end, inside.stop))),
            (False, range(max(first, inside.stop), end)),
        ]
        return [(absorbs, part) for absorbs, part in parts if part]

    def _slide(self, stage: int) -> list[Launch]:
        """Launches that compute the flux at faults."""
        if self.fault is None:
            return []
        stages = {"stages": self._stages, "step": self._dt}
        return self.fault.launches({**self._elements(), **stages, "stage": stage})

    def _yield(self, stage: int, part: range) -> list[Launch]:
        """Launches after the last stage of a step that relax the stress in some elements."""
        yielding = self.yielding if stage == SCHEME.stages - 1 else None
        return yielding.launches(self._elements(), stage, part) if yielding else []

    @property
    def prepare(self) -> list[Launch]:
        """Launches that store traces before the first step, and after a change of the fields."""
        outer, everyone = self._problem.elements.outer, self._problem.elements.count
        few, all_mortars = self._mortar_counts
        return self.traces.overlap(
            SCHEME.stages - 1,
            SCHEME.stages,
            outer=[*self._store_traces(0, outer), *self._interpolate(START, 0, few)],
            inner=[
                *self._store_traces(outer, everyone - outer),
                *self._interpolate(START, few, all_mortars - few),
            ],
        )

    def _store_traces(self, first: int, count: int) -> list[Launch]:
        extent = Blocks(count, self.shape.threads(self._problem.degree))
        absorbing, module = next(iter(self._modules.items()))
        given = {**self._elements(absorbing), "first": first, "count": count}
        return [module.launch("store_traces", extent, **given)] if count else []

    # --- mortars ----------------------------------------------------------------------------------

    @property
    def _mortar_counts(self) -> tuple[int, int]:
        """Number of mortars of outer elements, which are the first ones, and of all mortars."""
        elements = self._problem.elements
        return int((elements.mortars[:, 0] < elements.outer).sum()), len(elements.mortars)

    def _interpolate(self, stage: int, first: int, count: int) -> list[Launch]:
        """Launches that store the traces of quarters."""
        if not count:
            return []
        extent = Blocks(count, self._mortar_shape.threads(self._problem.degree))
        where = {"stage": stage, "first": first, "count": count}
        given = {**self._elements(), **self._mortars, **where}
        return [self._mortar_module.launch("interpolate_traces", extent, **given)]

    def _project(self, stage: int) -> list[Launch]:
        """Launches that compute the jumps at mortars."""
        count = len(self._problem.elements.mortars)
        if not count:
            return []
        extent = Blocks(count, self._mortar_shape.threads(self._problem.degree))
        given = {**self._elements(), **self._mortars, "stage": stage}
        return [self._mortar_module.launch("project_jumps", extent, **given)]

    @cached_property
    def _mortar_module(self) -> Module:
        return self._backend.compile(kernel_source("mortars.h", self._problem, self._mortar_shape))

    @property
    def _mortar_shape(self) -> KernelShape:
        return mortar_shape(self._problem.variant)

    @cached_property
    def _mortars(self) -> dict[str, DeviceArray | int]:
        """MORTAR_ARGUMENTS in kernels/mortars.h."""
        problem, traces = self._problem, self.traces
        mortars = problem.elements.mortars
        return {
            "mortar_faces": self._backend.to_device(mortars.astype(np.int32)),
            "quarters": traces.quarters,
            "fine": traces.fine,
            "jumps": traces.jumps,
            "mortars": len(mortars),
            **self._as_real(element_tables.of_mortars(problem)),
        }

    # --- tables -----------------------------------------------------------------------------------

    def _elements(self, absorbing: bool = False) -> dict[str, DeviceArray | int]:
        """ELEMENT_ARGUMENTS in kernels/elements.h."""
        return {**self._tables, **self._layers} if absorbing else self._tables

    @cached_property
    def _tables(self) -> dict[str, DeviceArray | int]:
        problem, traces = self._problem, self.traces
        variants = {**self._memory, **self._nodal, **self._geometry}
        return {
            "u": self._u,
            "r": self._r,
            **self._as_real(element_tables.of_elements(problem)),
            "neighbours": traces.neighbours,
            "targets": traces.targets,
            "elements": problem.elements.count,
            "slots": traces.slots,
            "clock": self.clock,
            **variants,
        }

    @cached_property
    def _memory(self) -> dict[str, DeviceArray]:
        """MEMORY_ARGUMENTS in kernels/attenuation.h."""
        problem = self._problem
        if problem.bodies is None:
            return {}
        of_bodies = self._as_real(element_tables.of_bodies(problem, problem.bodies))
        return {"theta": self.memory, "memory_register": self._memory_register, **of_bodies}

    @cached_property
    def _layers(self) -> dict[str, DeviceArray]:
        """LAYER_ARGUMENTS in kernels/matched_layers.h."""
        layers = self._problem.layers
        if layers is None:
            return {}
        return {
            "layer_sets": self._backend.to_device(layers.sets),
            "layer_rows": self._backend.to_device(np.append(layers.rows, np.int32(0))),
            **self._as_real({"layer_profiles": np.append(layers.profiles.ravel(), 0.0)}),
            "layer_memory": self.layer_memory,
            "layer_register": self._layer_register,
        }

    @cached_property
    def _nodal(self) -> dict[str, DeviceArray]:
        """NODAL_ARGUMENTS in kernels/elements.h."""
        nodal = self._problem.nodal
        if nodal is None:
            return {}
        moduli, impedances = nodal.tables(self._backend, self._problem.dtype)
        return {"moduli": moduli, "impedances": impedances}

    @cached_property
    def _geometry(self) -> dict[str, DeviceArray]:
        """GEOMETRY_ARGUMENTS in kernels/elements.h."""
        problem = self._problem
        if problem.metrics is None:
            return {}
        turns = problem.elements.turns.astype(np.int32)
        if problem.fault is not None:
            turns[tuple(problem.fault.sides.T)] = 0  # jumps have the order of their own face
        return {
            **self._as_real({"metrics": problem.metrics}),
            "turns": self._backend.to_device(turns),
        }

    @cached_property
    def _terms(self) -> dict[str, DeviceArray]:
        """TERM_ARGUMENTS in kernels/terms.h."""
        found = self._problem.terms.tables(self._problem.dtype)
        return {name: self._backend.to_device(table) for name, table in found.items()}

    @cached_property
    def _stages(self) -> DeviceArray:
        """Coefficients of the stages, see kernels/scheme.h."""
        dt = self._problem.dt
        rows = [(a, b * dt, c * dt) for a, b, c in zip(SCHEME.a, SCHEME.b, SCHEME.c, strict=True)]
        return self._backend.to_device(np.array(rows))

    @cached_property
    def _dt(self) -> DeviceArray:
        return self._backend.to_device(np.array([self._problem.dt]))

    def _as_real(self, found: Mapping[str, Reals]) -> dict[str, DeviceArray]:
        """Tables in device memory, with the type of the fields."""
        dtype, to_device = self._problem.dtype, self._backend.to_device
        return {name: to_device(table.astype(dtype, copy=False)) for name, table in found.items()}
