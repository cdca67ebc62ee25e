"""From a case to a folder of results."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from groundswell.backends import Backend, open_backend
from groundswell.case import Case, load_case
from groundswell.io.atomic import disk_errors
from groundswell.run import checkpoint
from groundswell.run.driver import Loop
from groundswell.run.progress import progress
from groundswell.run.ring import Output
from groundswell.run.signals import stop_request
from groundswell.run.summary import NAME, throughput, versions, write_summary
from groundswell.solvers import load

UNHASHED = ("output", "run")  # sections that do not change what is computed


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
        return json.loads((self.folder / NAME).read_text(encoding="utf-8"))

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

    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def __call__(self, phase: str) -> Iterator[None]:
        begun = time.perf_counter()
        yield
        self.seconds[phase] = self.seconds.get(phase, 0.0) + time.perf_counter() - begun


def prepare(case: Case | str | Path) -> Any:
    """Everything that is decided before a device is touched: the solver's set-up.

    Raises:
        InputError: the case, or the data it names, cannot be used.
    """
    loaded = case if isinstance(case, Case) else load_case(case)
    return load(loaded.solver, "solver").prepare(loaded)


def check(case: Case | str | Path) -> dict[str, Any]:
    """What a run would need and resolve, without running it.

    Raises:
        InputError: the case, or the data it names, cannot be used.
    """
    return prepare(case).describe()


def run(
    case: Case | str | Path,
    *,
    folder: str | Path | None = None,
    resume: bool = False,
    quiet: bool = True,
) -> Result:
    """Run a case to its end.

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
    clock = _Clock()
    with clock("read"):
        setup = prepare(case)
        target = Path(folder) if folder is not None else setup.case.resolve(
            setup.case.output.directory
        )
        _make_folder(target)
    with clock("build"):
        backend = open_backend(setup.case.run.backend)
        solver = load(setup.case.solver, "solver")(setup, backend)
    with clock("measure bandwidth"):
        bandwidth = backend.measure_bandwidth()
    digest = setup.case.digest(without=UNHASHED)
    with clock("read"):
        loop = _loop(solver, backend, target, digest, resume)
    first = loop.step
    try:
        _advance(loop, setup, clock, quiet)
        with clock("write"):
            files = _finish(solver, loop.outputs, target)
    except BaseException:
        for output in loop.outputs.values():
            output.writer.close()
        raise
    write_summary(
        target,
        {
            "title": setup.case.title,
            "solver": setup.case.solver,
            "case": {"digest": digest, **setup.describe()},
            "device": backend.device,
            "backend": backend.name,
            "steps": setup.steps,
            "resumed_at": first,
            **throughput(solver, loop.step - first, loop.seconds, bandwidth),
            "wall": clock.seconds,
            "files": [path.name for path in files],
            "versions": versions(backend),
        },
    )
    (target / checkpoint.NAME).unlink(missing_ok=True)
    return Result(target)


def _make_folder(folder: Path) -> None:
    """Make the folder of the results, and see that files can be written there."""
    with disk_errors(folder / NAME):
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=folder):
            pass


def _loop(solver: Any, backend: Backend, folder: Path, digest: str, resume: bool) -> Loop:
    """A loop at step 0, or where the checkpoint left off."""
    lengths: Mapping[str, int] | None = None
    step = 0
    if resume:
        path = folder / checkpoint.NAME
        done = checkpoint.read_progress(path, digest)
        checkpoint.restore(path, backend, solver.state())
        lengths, step = done.lengths, done.step
    outputs = solver.recorders.outputs(folder, lengths)
    return Loop(solver, backend, outputs, folder, digest, step)


def _advance(loop: Loop, setup: Any, clock: _Clock, quiet: bool) -> None:
    solver = loop.solver
    shown = progress(
        setup.steps,
        setup.dt,
        solver.updates_per_step,
        solver.unit,
        quiet=quiet,
        start=loop.step,
    )
    with clock("time steps"), shown as report, stop_request() as stop:
        loop.run(setup.steps, report, stop)


def _finish(solver: Any, outputs: dict[str, Output], folder: Path) -> list[Path]:
    """Give the files their final names, and write those that are only known at the end."""
    files = [output.writer.finish() for output in outputs.values()]
    return [*files, *solver.recorders.finish(folder)]
