"""The DG wave solver on one rank: acoustic or elastic waves on the rank's elements."""

from __future__ import annotations

from functools import cached_property
from math import inf

import numpy as np

from groundswell.arrays import DeviceArray
from groundswell.backends import Backend, Launch, Listing, list_launches
from groundswell.backends.base import Event, in_order
from groundswell.exchange.communicator import Communicator, SerialCommunicator
from groundswell.exchange.tuning import Choice
from groundswell.grids.cartesian import Triple
from groundswell.meshes.gll import gll
from groundswell.outputs.distributed_array import DistributedArray
from groundswell.seismology.case.plasticity import STRAIN
from groundswell.seismology.recording.reports import Reports
from groundswell.seismology.sources.point_sources import end_of
from groundswell.seismology.time_steps import STABLER
from groundswell.simulation.exchanging import TimeSteppingSolver
from groundswell.simulation.finite_check import NonFiniteSearch, Weights
from groundswell.solvers.dgwave.discretisation import discretise
from groundswell.solvers.dgwave.faults.state_limit import require_stable_state
from groundswell.solvers.dgwave.outputs import Outputs
from groundswell.solvers.dgwave.propagation import VELOCITY, Propagation
from groundswell.solvers.dgwave.recording.rank import RankFields
from groundswell.solvers.dgwave.setup import Setup
from groundswell.time_integration.low_storage import CARPENTER_KENNEDY as SCHEME


class DgWave(Reports, TimeSteppingSolver):
    """One rank's part of a simulation; `step` advances it by `setup.dt`.

    >>> import groundswell as gs
    >>> with gs.Simulation("dgwave.toml") as simulation:
    ...     steps = simulation.advance(3)
    ...     type(simulation.solver).__name__, simulation.fields["vx"].shape  # elements, nodes
    ('DgWave', (1152, 125))

    Args:
        comm: the ranks among which the elements are divided.

    Attributes:
        elements: the elements of this rank.
        propagation: the scheme on these elements.
    """

    setup: Setup
    unit = "MDOF/s"  # million unknowns per second and stage
    remedy = STABLER
    aggregates = (True,)  # a message contains the traces of all faces

    def __init__(self, setup: Setup, backend: Backend, comm: Communicator | None = None) -> None:
        self.setup, self.backend, self.comm = setup, backend, comm or SerialCommunicator()
        self.elements = setup.partition.elements(self.comm.size, self.comm.rank)
        self._problem = problem = discretise(setup, self.elements)
        self.propagation = Propagation(backend, self.comm, problem, self.first_choice())
        self.outputs = Outputs(
            RankFields(setup, backend, self.comm, self.elements, self.propagation, problem.fault)
        )
        self.finite_check = NonFiniteSearch(
            backend,
            self.propagation.values,
            self.time,
            self._position,
            weights=self._quadrature,
        )
        self._compose(self.first_choice())

    @property
    def _quadrature(self) -> Weights:
        """Volumes of elements, and the shares of nodes in a brick."""
        geometry, nodes = self.setup.geometry, gll(self.setup.geometry.degree).cube_weights
        return Weights(geometry.volumes[self.elements.numbers], nodes / nodes.sum())

    def _position(self, index: Triple) -> str:
        """Position of an entry of `propagation.values`, for messages."""
        number = self.elements.numbers[index[1]]
        return f"the element around {self.setup.geometry.describe(number)}"

    # --- the exchange -----------------------------------------------------------------------------

    def set_exchange(self, choice: Choice) -> None:
        """Set how traces are exchanged; collective."""
        self.exchanges = ()
        self.propagation.set_exchange(choice)
        self._compose(choice)

    def _compose(self, choice: Choice) -> None:
        """Compose the launches of a step for the connected exchange."""
        self.choice, self.exchanges = choice, self.propagation.traces.exchanges
        records = self.backend.concurrently(*self.outputs.branches)
        *stages, count = self.timed_step()
        self._step = in_order([*records, *stages, *self.outputs.at_end, count])
        self._prepare = in_order(self.propagation.prepare)

    def timed_step(self) -> list[Launch]:
        """The launches of a step, without recorders."""
        return self.propagation.step

    def restart(self) -> None:
        """Return to rest at time 0; recorders have recorded nothing during tuning."""
        self.propagation.reset()

    @property
    def partition(self) -> list[int]:
        """The first element of each rank, and the number of elements."""
        return [int(start) for start in self.setup.partition.starts(self.comm.size)]

    @property
    def exchanged(self) -> tuple[object, ...]:
        """Properties on which the best exchange depends; part of the key of measured choices.

        Partitions do not identify meshes: the shape of a box decides how many faces ranks share.
        """
        problem = self._problem
        counts = {peer: faces.sends.count for peer, faces in self.elements.shared.items()}
        elements = (problem.has_mortars, problem.is_curved, problem.is_nodal)
        return (problem.trace, counts, *elements, problem.mechanisms)

    @property
    def bytes_sent(self) -> int:
        """Bytes that this rank sends per step."""
        return self.propagation.traces.bytes_sent * SCHEME.stages

    # --- the solver interface ---------------------------------------------------------------------

    def prepare(self) -> None:
        """Enqueue the traces of the current fields, which the first stage reads."""
        self._prepare()

    def list_step(self) -> Listing:
        """The launches of a step; arrays have the names of the checkpoint."""
        names = {name: distributed.array for name, distributed in self.state().items()}
        return list_launches(self._step, names, "1 step")

    def check_health(self, steps: int, after: Event | None = None) -> None:
        """See `TimeSteppingSolver`; also the state of friction, which may not be found otherwise.

        Raises:
            RunFailed: a value is not finite, the state of friction is unstable, or another rank did
                not respond.
        """
        faults, slip = self.setup.faults, self.propagation.fault
        if faults and slip and np.isfinite(faults.lengths).any():
            require_stable_state(faults, slip.peak_rates(after), self.setup.dt)
        super().check_health(steps, after)

    def energy(self, after: Event | None = None) -> float:
        """Squared velocity, integrated over the elements of this rank; see `check_health`."""
        return self.finite_check.sum_of_squares([VELOCITY], after)

    def supplied_energy(self, after: Event | None = None) -> float:
        """What faults have released, in the same unit."""
        faults, slip = self.setup.faults, self.propagation.fault
        return slip.released(faults.areas, after) / faults.least_inertia if faults and slip else 0.0

    @cached_property
    def sources_end(self) -> float:
        """Time at which the last source ends, s; infinite in rock that is sheared before."""
        if self.setup.rock and self.setup.rock.is_sheared:
            return inf
        return end_of(self.setup.survey.sources)

    @property
    def updates_per_step(self) -> int:
        """Unknowns that a step updates, in all stages."""
        return self.setup.unknowns * SCHEME.stages

    def time(self, step: int) -> float:
        """Simulated time after `step` steps, s."""
        return self.setup.time_axis.time(step)

    def distributed_fields(self) -> dict[str, DistributedArray]:
        """All fields on all elements, including layers, (elements, (N + 1)^3)."""
        return {name: self._distributed(array) for name, array in self.propagation.fields.items()}

    def state(self) -> dict[str, DistributedArray]:
        """The state between steps; it does not include the registers."""
        return {
            "fields": self._distributed(self.propagation.u),
            **self._memory(),
            **self._plastic_strain(),
            "clock": DistributedArray.replicated(self.propagation.clock, self.comm),
            **self.outputs.state(),
        }

    def _memory(self) -> dict[str, DistributedArray]:
        """The memory variables of attenuation and of matched layers."""
        memory = self.propagation.memory
        found = {"memory_variables": self._distributed(memory)} if memory.shape[1] else {}
        if (layers := self._problem.layers) is not None:
            values = self.propagation.layer_memory
            own = (((slice(None),), (layers.numbers,)),)
            shape = (layers.total, *values.shape[1:])
            found["layer_variables"] = DistributedArray(values, shape, own, own)
        return found

    def _plastic_strain(self) -> dict[str, DistributedArray]:
        yielding = self.propagation.yielding
        return {STRAIN: self._distributed(yielding.strain)} if yielding else {}

    def _distributed(self, array: DeviceArray) -> DistributedArray:
        shape = (self.setup.geometry.count, *array.shape[1:])
        own = (((slice(None),), (self.elements.numbers,)),)
        return DistributedArray(array, shape, own, own)

    def describe_ranks(self) -> dict[str, object]:
        """The division of elements among ranks, and the transport in use."""
        return {
            "count": self.comm.size,
            "processes": [self.comm.size],
            "transport": self.exchanges[0].path if self.exchanges else "none: one rank",
            "overlap": self.overlaps,
            "elements": [int(count) for count in np.diff(self.partition)],
            "bytes_sent_per_step": self.bytes_sent,
        }
