"""Autotuning of the halo exchange: times each variant with the two updates of a step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from groundswell.backends.base import in_order
from groundswell.exchange.tuning import Choice, Memory, Rehearsal, Tuning, candidates, tune
from groundswell.solvers.earthquake.halo import stress_halo

if TYPE_CHECKING:
    from groundswell.solvers.earthquake.solver import Earthquake


def autotune_exchange(solver: Earthquake) -> Tuning:
    """Time the variants that the case allows, or return the stored result of an earlier run."""
    run = solver.setup.case.run
    choices = candidates(
        solver.backend,
        solver.world,
        transport=run.transport,
        overlap=run.overlap,
        fused=True,
        codecs=run.codecs,
    )
    memory = Memory.of(solver.world, solver.backend, solver.world.tell(_problem(solver)))
    return tune(solver.world, choices, lambda choice: _rehearsal(solver, choice), memory)


def _problem(solver: Earthquake) -> tuple[Any, ...]:
    """Key of the stored result: all that it depends on, besides the machine."""
    setup, run = solver.setup, solver.setup.case.run
    layers = (solver.layers.constants(), solver.layers.parameters(), setup.dtype, solver.attenuated)
    options = (run.narrow, run.codecs, solver.world.same_host)
    messages = (stress_halo(setup, solver.decomposition), *options)
    return setup.grid.cells, solver.decomposition, run.transport, run.overlap, layers, messages


def _rehearsal(solver: Earthquake, choice: Choice) -> Rehearsal:
    solver.set_exchange(choice)
    launches = [*solver.update_velocities(ticks=0), *solver.update_stresses()]
    graph = solver.backend.capture(in_order(launches), in_graph=solver.in_graph)
    return lambda times: solver.backend.measure_seconds(lambda: graph.replay(times))
