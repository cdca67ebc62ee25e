"""From a case to a folder of results."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from hashlib import file_digest, sha256
from math import ceil
from pathlib import Path
from typing import Any

from groundswell import __version__
from groundswell.backends import Backend
from groundswell.case import Case, load_case
from groundswell.case.common import RunSection
from groundswell.errors import GroundswellError, InputError, RunFailed
from groundswell.exchange.devices import open_device, sharers
from groundswell.exchange.world import Alone, World, world
from groundswell.run import checkpoint
from groundswell.run.checkpoint import Progress
from groundswell.run.driver import Loop
from groundswell.run.folder import claimed, relative, remove_stale, require_writable
from groundswell.run.outlook import SMALLER, outlook, require_memory
from groundswell.run.progress import progress
from groundswell.run.ring import Output
from groundswell.run.signals import StopRequest, stop_request
from groundswell.run.summary import read_summary, throughput, versions, write_summary
from groundswell.solvers import load


@dataclass(frozen=True)
class Result:
    """A folder of results.

    Attributes:
        folder: where everything is.
    """

    folder: Path

    @cached_property
    def summary(self) -> dict[str, Any]:
        """The contents of summary.json."""
        return read_summary(self.folder)

    @cached_property
    def seismograms(self) -> Any:
        """Velocity at the receivers: xarray.DataArray (station, component, time), m/s."""
        from groundswell.io.seismograms import read_seismograms

        return read_seismograms(self.folder / "seismograms.h5")

    @cached_property
    def shaking_map(self) -> Any:
        """Peak ground velocity and acceleration: xarray.Dataset (y, x)."""
        from groundswell.io.maps import read_shaking_map

        return read_shaking_map(self.folder / "shaking_map.nc")

    @cached_property
    def stream(self) -> Any:
        """The seismograms as an obspy.Stream."""
        from groundswell.io.seismograms import to_obspy

        return to_obspy(self.seismograms)


@dataclass
class _Clock:
    """Wall time by phase."""

    started: datetime = field(default_factory=lambda: datetime.now(UTC))
    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def __call__(self, phase: str) -> Iterator[None]:
        begun = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[phase] = self.seconds.get(phase, 0.0) + time.perf_counter() - begun


def prepare(case: Case | str | Path, job: World | None = None) -> Any:
    """Everything that is decided before a device is touched: the solver's set-up.

    Args:
        job: the ranks that do this together.

    Raises:
        InputError: the case, or the data it names, cannot be used.
    """
    job = job or Alone()
    loaded = job.agree(lambda: case if isinstance(case, Case) else load_case(case))
    return load(loaded.solver, "solver").prepare(loaded, job)


def check(case: Case | str | Path, ranks: int = 1, hosts: int = 1) -> dict[str, Any]:
    """What a run would need and resolve, without running it.

    Args:
        ranks: that would share it.
        hosts: like this one, that the ranks would be spread over evenly.

    Returns what the solver says of the case (SI units), with `warnings`, and what its device and
    its disk have; `problems` lists what forbids the run on such machines, and `sharing` tells how
    several ranks would cut the grid and what the busiest of them takes and sends.

    Raises:
        InputError: the case, or the data it names, cannot be used; more hosts than ranks.
    """
    if hosts > ranks:
        raise InputError(f"{hosts} hosts for {ranks} ranks; each host needs at least one")
    setup = prepare(case)
    sharing = _sharing(setup, ranks, hosts) if ranks > 1 else None
    said = {"solver": setup.case.solver, **setup.describe()}
    return {**said, **outlook(setup, _target(setup.case, None), sharing)}


def _sharing(setup: Any, ranks: int, hosts: int) -> dict[str, Any]:
    """Blocks, and what the busiest rank takes, and sends in a step, bytes."""
    found = _outline(setup, ranks)
    sent = int(found.pop("traffic").sum(axis=1).max())
    busiest = {"memory": max(found["memory"]), "bytes_sent": sent}
    return {**found, **busiest, "hosts": hosts, "ranks_per_host": ceil(ranks / hosts)}


def _outline(setup: Any, ranks: int) -> dict[str, Any]:
    """How ranks would share the grid."""
    return dict(load(setup.case.solver, "solver").outline(setup, ranks))


def run(
    case: Case | str | Path,
    *,
    folder: str | Path | None = None,
    resume: bool = False,
    quiet: bool = True,
) -> Result:
    """Run a case to its end.

    Until the run has ended well, its files carry the names of parts, and those of an earlier run in
    the same folder stay as they are; then they are replaced.

    Args:
        case: a case, or the path of its file.
        folder: of the results; by default the one that the case names.
        resume: continue from the checkpoint in that folder.
        quiet: show no progress.

    Raises:
        InputError: the case cannot run as asked; nothing has been written.
        RunFailed: it started and could not go on.
        Interrupted: a signal asked it to stop; the checkpoint is written.
    """
    clock, job = _Clock(), world()
    with clock("read"):
        setup = job.agree(lambda: prepare(case, job))
        target = _target(setup.case, folder)
        digest = job.agree(lambda: identity(setup))
        job.agree(lambda: _require_alike(job.share(digest)))
        # What cannot go on is refused before the long part.
        job.agree(lambda: _require_possible(target, digest, resume))
        outline = job.agree(lambda: _outline(setup, job.size))
    with clock("measure bandwidth"):
        backend = open_device(setup.case.run.backend, job, outline["traffic"])
        job.share(None)  # ranks of one host share its bandwidth, so they measure together
        bandwidth = sum(job.share(backend.measure_bandwidth()))
    with clock("build"):
        # All look at what is free before any takes of it.
        job.agree(lambda: _require_memory(outline["memory"], backend, job))
        solver = job.agree(lambda: _build(setup, backend, job))
        tuning = solver.tune()
    with _claimed(target, job), stop_request() as stop:
        with clock("read"):
            # An earlier process may have ended just now, with a newer checkpoint.
            done = job.agree(lambda: _earlier(target, digest, resume))
            loop = job.agree(lambda: _loop(solver, backend, target, digest, done, job))
        with _closed_on_failure(loop.outputs), _told_of_checkpoint(target):
            with clock("time steps"):
                _advance(loop, quiet or not job.first, stop)
            with clock("write"):
                files = relative(target, job.agree(lambda: _finish(solver, loop.outputs, target)))
        found = {"tuning": tuning.as_dict()} if tuning else {}
        summary = {**_summary(loop, clock, bandwidth, files), **found}
        job.agree(lambda: _replace_earlier(target, summary) if job.first else None)
        solver.close()
    return Result(target)


def _require_memory(needs: Sequence[int], backend: Backend, job: World) -> None:
    mates = sharers(backend, job)
    require_memory([needs[rank] for rank in mates], backend.memory()[0])


def _require_alike(digests: list[str]) -> None:
    """See that all ranks read the same case and data."""
    others = [rank for rank, digest in enumerate(digests) if digest != digests[0]]
    if others:
        raise InputError(
            f"ranks {others} read another case or other data than rank 0; let all hosts see the "
            "same files"
        )


def _require_possible(target: Path, digest: str, resume: bool) -> None:
    require_writable(target)
    _earlier(target, digest, resume)


@contextmanager
def _claimed(target: Path, job: World) -> Iterator[None]:
    """Rank 0 holds the folder for all."""
    with ExitStack() as held:
        job.agree(lambda: held.enter_context(claimed(target)) if job.first else None)
        yield


def _summary(loop: Loop, clock: _Clock, bandwidth: float, files: list[str]) -> dict[str, Any]:
    setup, backend = loop.solver.setup, loop.backend
    return {
        "title": setup.case.title,
        "solver": setup.case.solver,
        "started": clock.started.isoformat(timespec="seconds"),
        "case": {"digest": loop.digest, **setup.describe()},
        "warnings": [*loop.solver.warnings],
        "device": backend.device,
        "backend": backend.name,
        "ranks": loop.solver.describe_ranks(),
        "steps": loop.step,
        "resumed_at": loop.first,
        **throughput(loop.solver, loop.updates, loop.seconds, bandwidth),
        "wall": clock.seconds,
        "files": files,
        "versions": versions(backend),
    }


def identity(setup: Any) -> str:
    """Digest of all that decides the numbers in a run's files and the state behind them."""
    case = setup.case
    run = case.run
    changed = {
        "backend": run.backend,
        "precision": run.precision,
        "narrow": run.narrow,
        "codec": run.codec if run.codec.startswith("zfp") else "auto",  # others lose nothing
        "lossy": run.lossy,
    }
    elsewhere = {
        "run": RunSection(**changed),
        "output": case.output.model_copy(update={"directory": Path()}),
    }
    content = case.model_copy(update=elsewhere)
    parts = [__version__, repr(setup.dt), content.digest(), *map(_sum, content.data_files())]
    return sha256(" ".join(parts).encode()).hexdigest()


def _sum(path: Path) -> str:
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


def _target(case: Case, folder: str | Path | None) -> Path:
    return Path(folder) if folder is not None else case.resolve(case.output.directory)


def _earlier(folder: Path, digest: str, resume: bool) -> Progress | None:
    """What the checkpoint to resume says of itself; without `resume` none may be lost."""
    path = folder / checkpoint.NAME
    if resume:
        return checkpoint.read_progress(path, digest)
    if checkpoint.belongs(path, digest):
        raise InputError(
            f"{path} is of an unfinished run of this case; continue it with --resume (in Python: "
            "resume=True), or delete it to start again"
        )
    return None


def _build(setup: Any, backend: Backend, job: World) -> Any:
    try:
        return load(setup.case.solver, "solver")(setup, backend, job)
    except MemoryError as error:
        raise InputError(f"the device ran out of memory ({error}); {SMALLER}") from error


def _loop(
    solver: Any,
    backend: Backend,
    folder: Path,
    digest: str,
    done: Progress | None,
    job: World,
) -> Loop:
    """A loop at step 0, or where the checkpoint left off."""
    lengths: Mapping[str, int] | None = None
    if done is not None:
        checkpoint.restore(folder / checkpoint.NAME, backend, solver.state(), done)
        lengths = done.lengths
    elif job.first:
        checkpoint.remove(folder)  # of another case, whose parts are about to be overwritten
    outputs = solver.recorders.outputs(folder, lengths)
    return Loop(solver, backend, outputs, folder, digest, done.step if done else 0, job)


def _advance(loop: Loop, quiet: bool, stop: StopRequest) -> None:
    solver, setup = loop.solver, loop.solver.setup
    shown = progress(
        setup.steps, solver.news, solver.unit, quiet=quiet, start=loop.step, ends=setup.ends
    )
    with shown as report:
        loop.run(setup.steps, report, stop)


@contextmanager
def _closed_on_failure(outputs: Mapping[str, Output]) -> Iterator[None]:
    """Close the files when the block fails, so that a later run can take them up."""
    try:
        yield
    except BaseException:
        for output in outputs.values():
            with suppress(GroundswellError):  # the first failure is the one to report
                if output.writer:
                    output.writer.close()
        raise


@contextmanager
def _told_of_checkpoint(folder: Path) -> Iterator[None]:
    """Say where a run that fails can be taken up."""
    try:
        yield
    except RunFailed as error:
        path = folder / checkpoint.NAME
        if path.exists():
            error.args = (f"{error}. Take the run up again with --resume, from {path}",)
        raise


def _finish(solver: Any, outputs: Mapping[str, Output], folder: Path) -> list[Path]:
    """Give the files their final names, and write those that are only known at the end."""
    files = [output.writer.finish() for output in outputs.values() if output.writer]
    return [*files, *solver.recorders.finish(folder)]


def _replace_earlier(folder: Path, content: Mapping[str, Any]) -> None:
    """Write the summary; remove the checkpoint and whatever only an earlier run had."""
    earlier: list[str] = []
    with suppress(InputError):
        earlier = read_summary(folder).get("files", [])
    write_summary(folder, content)
    remove_stale(folder, earlier, content["files"])
    checkpoint.remove(folder)
