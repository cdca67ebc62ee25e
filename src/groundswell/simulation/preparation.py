"""Preparation of a run: read the case, open the device, build the solver, tune the exchange."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from hashlib import file_digest, sha256
from math import ceil
from pathlib import Path
from typing import Any, Literal

from groundswell import registry
from groundswell.backends import Backend
from groundswell.case import Case, CaseInput, Settings, as_case
from groundswell.case.quantities import Quantity, as_values
from groundswell.errors import InputError, counted, now_known
from groundswell.exchange.communicator import Communicator, SerialCommunicator
from groundswell.exchange.devices import open_device, sharers
from groundswell.exchange.tuning import Tuning
from groundswell.simulation.bandwidths import shared_bandwidth
from groundswell.simulation.kept_parts import kept
from groundswell.simulation.resources import SMALLER, estimate_resources, require_memory
from groundswell.simulation.results_folder import folder_of
from groundswell.simulation.session import RunSession
from groundswell.simulation.solver import CheckModule, Cost, CostModel, Setup, Solver, Tunable
from groundswell.version import __version__

PhaseTimer = Callable[[str], AbstractContextManager[None]]  # measures the wall time of a phase
Measure = Literal["once", "again", "never"]  # the bandwidth of a machine


def prepare(
    case: CaseInput,
    job: Communicator | None = None,
    *,
    backend: str | None = None,
    precision: str | None = None,
    settings: Settings | None = None,
) -> Setup:
    """Host-side preparation: read the input, choose the time step, estimate memory.

    Args:
        case: the path of an input file, the tables of a case as a dictionary, or a `Case`.
        job: the ranks that run the case together.
        backend, precision: replace those of the case.
        settings: other values of the case file to replace, by path; see `case.set_values`.

    Raises:
        InputError: the case or its data cannot be used, on any rank.
    """
    job = job or SerialCommunicator()
    loaded = job.collective_try(
        lambda: as_case(case, settings, backend=backend, precision=precision)
    )
    setup: Setup = job.collective_try(
        lambda: registry.find(loaded.solver).load("prepare")(loaded, job)
    )
    return setup


def check_of(setup: Setup) -> CheckModule:
    """The module `check` of the solver."""
    module: CheckModule = registry.find(setup.case.solver).load("check")
    return module


def quantities_of(setup: Setup, cost: Cost) -> list[Quantity]:
    """The quantities of a set-up, after the settings that replace values of the case file."""
    settings = setup.case.settings
    shown = "\n".join(f"{path} = {text}" for path, text in settings.items())
    replaced = [Quantity("settings", settings, "settings", text=shown)] if settings else []
    return [*replaced, *check_of(setup).quantities(setup, cost)]


def cost_of(setup: Setup) -> CostModel:
    """The module `cost` of the solver."""
    module: CostModel = registry.find(setup.case.solver).load("cost")
    return module


def check(
    case: CaseInput,
    ranks: int = 1,
    hosts: int = 1,
    *,
    backend: str | None = None,
    precision: str | None = None,
    settings: Settings | None = None,
) -> dict[str, Any]:
    """Estimate what a run needs and resolves, without running it.

    >>> import groundswell as gs
    >>> found = gs.check("case.toml", ranks=2)
    >>> found["memory"] > 0, found["problems"]  # bytes
    (True, [])

    Args:
        case: the path of an input file, the tables of a case as a dictionary, or a `Case`.
        ranks: number of ranks that would share the run.
        hosts: number of hosts like this one; the ranks are spread evenly over them.
        backend, precision: replace those of the case.
        settings: other values of the case file to replace, by path, such as {"source.0.x": "2 km"}.

    Returns:
        The quantities of the set-up by key (SI units) and, with labels, as a list `quantities`;
        `warnings`; and the resources of the device and the disk. `problems` lists the reasons why
        the run is impossible on such machines. For several ranks, `sharing` describes the
        decomposition, and the memory and traffic of the busiest rank.

    Raises:
        InputError: the case or its data cannot be used, or there are more hosts than ranks.
    """
    if hosts > ranks:
        raise InputError(
            f"{counted(hosts, 'host')} for {counted(ranks, 'rank')}; each host needs at least one"
        )
    setup = prepare(case, backend=backend, precision=precision, settings=settings)
    cost = cost_of(setup).estimate(setup)
    quantities = quantities_of(setup, cost)
    found = {
        "solver": setup.case.solver,
        "precision": setup.case.run.precision,
        "memory": cost.memory,
        **as_values(quantities),
        "quantities": [quantity.as_dict() for quantity in quantities],
        "warnings": [*check_of(setup).warnings(setup)],
    }
    sharing = _sharing(setup, ranks, hosts) if ranks > 1 else None
    if sharing:
        found["warnings"] += sharing.pop("warnings")
    return {**found, **estimate_resources(setup, cost, folder_of(setup.case, None), sharing)}


def _sharing(setup: Setup, ranks: int, hosts: int) -> dict[str, Any]:
    """Decomposition, and the memory and traffic per step of the busiest rank, bytes."""
    found = cost_of(setup).decompose(setup, ranks)
    return {
        "ranks": ranks,
        "processes": found.processes,
        "largest_block": found.largest_block,
        "updates_per_step": found.updates_per_step,
        "memory": max(found.memory),
        "bytes_sent": int(found.traffic.sum(axis=1).max()),
        "hosts": hosts,
        "ranks_per_host": ceil(ranks / hosts),
        "quantities": [quantity.as_dict() for quantity in found.quantities],
        "warnings": [*found.warnings],
    }


def case_digest(case: Case) -> str:
    """Digest of everything that determines a run's results and state."""
    run = case.run
    codec = run.codec if run.codec.startswith("zfp") else "auto"  # others lose nothing
    deciding = {name: getattr(run, name) for name in run.decisive}
    elsewhere = {
        "run": type(run)(**deciding, codec=codec),
        "output": case.output.model_copy(update={"directory": Path()}),
    }
    content = case.model_copy(update=elsewhere)
    versions = [__version__, *registry.versions_of(case.solver).values()]
    parts = [*versions, content.digest(), *map(_checksum, content.data_files())]
    return sha256(" ".join(parts).encode()).hexdigest()


def shared_digest(case: Case, job: Communicator) -> str:
    """The digest of the case that all ranks have read; all ranks must call it.

    Raises:
        InputError: the ranks have read different cases or data.
    """
    digest: str = job.collective_try(lambda: case_digest(case))
    digests = job.allgather(digest)
    others = [rank for rank, other in enumerate(digests) if other != digests[0]]
    if others:
        raise now_known(
            InputError(
                f"ranks {others} read a different case or different data than rank 0; make the "
                "same files visible on all hosts"
            )
        )
    return digest


def _checksum(path: Path) -> str:
    """The checksum of a file; runs that follow each other read it again only if it has changed."""

    def state() -> tuple[str, int, int, int]:
        found = path.stat()
        return str(path), found.st_mtime_ns, found.st_size, found.st_ino

    return kept("checksum", state, lambda: _read_checksum(path))


def _read_checksum(path: Path) -> str:
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


@dataclass(frozen=True)
class OpenSolver:
    """A solver on its device, ready for the first step.

    Args:
        comm: the ranks that share it.
        bandwidth: memory bandwidth of all ranks' devices together, bytes/s; None if not measured.
        in_cache: whether the data of the run fit in the caches of the devices.
        tuning: the measurements of `autotune`, if there were any.
    """

    setup: Setup
    comm: Communicator
    backend: Backend
    solver: Solver
    bandwidth: float | None
    in_cache: bool
    tuning: Tuning | None


def open_solver(
    setup: Setup,
    job: Communicator,
    phase: PhaseTimer | None = None,
    *,
    measure: Measure = "once",
    session: RunSession | None = None,
) -> OpenSolver:
    """Open the device, build the solver and choose its fastest exchange; all ranks must call it.

    Args:
        phase: measures the wall time of each phase.
        measure: whether to measure the bandwidth of the devices: "once" on a machine, "again" or
            "never". Runs whose data fit in the caches need none, and may take less time.
        session: what runs of this process share; by default nothing.

    Raises:
        InputError: the device is missing or has too little memory.
    """
    phase, session = phase or (lambda name: nullcontext()), session or RunSession()
    name = setup.case.run.backend
    with phase("read"):
        shares = job.collective_try(lambda: cost_of(setup).decompose(setup, job.size))
    with phase("open device"):
        sent = shares.traffic
        backend = session.backend(name, lambda: open_device(name, job, lambda r: sent[r][:, r]))
        in_cache = _fits_in_cache(shares.memory, backend, job)
    bandwidth = None
    if measure != "never" and session.measures and not in_cache:
        with phase("measure bandwidth"):
            rate = partial(shared_bandwidth, backend, job, again=measure == "again")
            bandwidth = session.bandwidth(name, rate)
    with phase("build"):
        # All ranks read the free memory before any of them allocates.
        if not all(job.allgather(_has_memory(shares.memory, backend, job))):
            session.kept.forget()
        job.collective_try(lambda: _require_memory(shares.memory, backend, job))
        solver = job.collective_try(lambda: _build(setup, backend, job))
        tuning = solver.autotune() if isinstance(solver, Tunable) else None
    return OpenSolver(setup, job, backend, solver, bandwidth, in_cache, tuning)


def _require_memory(needs: Sequence[int], backend: Backend, job: Communicator) -> None:
    ranks = sharers(backend, job)
    require_memory([needs[rank] for rank in ranks], backend.memory_info()[0])


def _has_memory(needs: Sequence[int], backend: Backend, job: Communicator) -> bool:
    ranks = sharers(backend, job)
    return sum(needs[rank] for rank in ranks) <= backend.memory_info()[0]


def _fits_in_cache(needs: Sequence[int], backend: Backend, job: Communicator) -> bool:
    ranks = sharers(backend, job)
    return all(job.allgather(sum(needs[rank] for rank in ranks) <= backend.cache_bytes))


def _build(setup: Setup, backend: Backend, job: Communicator) -> Solver:
    try:
        solver: Solver = registry.find(setup.case.solver).load("solver")(setup, backend, job)
    except MemoryError as error:
        raise InputError(f"the device ran out of memory ({error}); {SMALLER}") from error
    backend.finish_compiling()
    return solver
