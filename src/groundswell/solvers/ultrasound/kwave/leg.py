"""A run of a command: a simulation, or a leg of one that begins or ends with a checkpoint."""

from __future__ import annotations

import time
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

from groundswell.backends import Backend, open_backend
from groundswell.errors import DeviceMissing, Interrupted, RunFailed, now_known
from groundswell.exchange.communicator import Communicator
from groundswell.simulation.preparation import OpenSolver, check_of, open_solver, prepare
from groundswell.simulation.session import RunSession
from groundswell.simulation.signals import StopRequest
from groundswell.simulation.time_loop import TimeLoop
from groundswell.solvers.ultrasound.kwave.arguments import Options, in_options
from groundswell.solvers.ultrasound.kwave.case import KWaveCase
from groundswell.solvers.ultrasound.kwave.checkpoint import (
    Checkpoint,
    read_checkpoint,
    write_checkpoint,
)
from groundswell.solvers.ultrasound.kwave.log import Log
from groundswell.solvers.ultrasound.kwave.output_file import OutputFile
from groundswell.solvers.ultrasound.kwave.setup import KWaveSetup
from groundswell.solvers.ultrasound.kwave.solver import KWaveSolver

OMP, CUDA = "kspaceFirstOrder-OMP", "kspaceFirstOrder-CUDA"
BACKENDS = {OMP: "cpu", CUDA: "cuda"}


def run_leg(program: str, options: Options, job: Communicator, stop: StopRequest) -> None:
    """Read the input, simulate, write the output; all ranks must call it.

    Raises:
        InputError: the arguments or files cannot be used, or the device has too little memory.
        RunFailed: the disk is too small.
        Interrupted: a signal arrived.
    """
    log, phases = Log(options.verbose, options.progress), Phases()
    setup = cast(KWaveSetup, prepare(case_of(options, BACKENDS[program]), job))
    phases.end("data_loading_phase")
    opened = _open(setup, options, job)
    log.describe(program, opened.backend, setup.data, options)
    for text in [*check_of(setup).warnings(setup), *opened.solver.warnings]:
        log.warn(in_options(text))
    Leg(opened, options, log, phases).run(stop)


def case_of(options: Options, backend: str) -> KWaveCase:
    """The case that the options of a command describe.

    Raises:
        CaseError: a value is out of its range.
    """
    output = {
        "datasets": sorted(options.outputs),
        "start": options.start,
        "copy_mask": options.copy_mask,
    }
    content = {"file": options.input, "keep_going": True, "output": output}
    content |= {"run": {"backend": backend}}
    if options.benchmark is not None:
        content["steps"] = options.benchmark
    if options.accuracy is not None:
        content["overlap"] = {"accuracy": options.accuracy}
    return KWaveCase.from_dict(content, Path(), "the command line")


def _open(setup: KWaveSetup, options: Options, job: Communicator) -> OpenSolver:
    try:
        name, session = setup.case.run.backend, RunSession()
        requested = job.collective_try(lambda: _requested_device(name, options))
        if requested is not None:
            session.backend(name, lambda: requested)
        return open_solver(setup, job, measure="never", session=session)
    except DeviceMissing as error:
        raise now_known(DeviceMissing(error.reason, f"use {OMP}")) from error


def _requested_device(backend: str, options: Options) -> Backend | None:
    """The device of the options -g and -t; None without them."""
    if options.device is None and options.threads is None:
        return None
    return open_backend(backend, options.device, threads=options.threads)


@dataclass
class Phases:
    """Wall time of the phases of a run, s, by name."""

    seconds: dict[str, float] = field(default_factory=dict)
    _begun: float = field(default_factory=time.monotonic)

    def end(self, name: str) -> None:
        """End a phase; the next one begins."""
        now = time.monotonic()
        self.seconds[name] = now - self._begun
        self._begun = now


class Deadline(StopRequest):
    """Asks a run to stop after a signal, or after some seconds.

    Args:
        signals: the signals.
        seconds: time from now on; None for no limit.
    """

    def __init__(self, signals: StopRequest, seconds: int | None) -> None:
        self._signals, self._seconds, self._begun = signals, seconds, time.monotonic()

    def __bool__(self) -> bool:
        return bool(str(self))

    def __str__(self) -> str:
        late = self._seconds is not None and time.monotonic() - self._begun >= self._seconds
        return str(self._signals) or ("the interval" if late else "")


@dataclass
class Leg:
    """A simulation, or a leg of one, on one rank."""

    opened: OpenSolver
    options: Options
    log: Log
    phases: Phases

    @property
    def _job(self) -> Communicator:
        return self.opened.comm

    @property
    def _solver(self) -> KWaveSolver:
        return cast(KWaveSolver, self.opened.solver)

    @property
    def _setup(self) -> KWaveSetup:
        return cast(KWaveSetup, self.opened.setup)

    def run(self, stop: StopRequest) -> None:
        """Simulate, and write the output; all ranks must call it."""
        outputs, path = self._solver.outputs, self.options.output
        done = self._job.collective_try(self._restore)
        continued = path if done else None
        file = self._job.collective_try(lambda: outputs.open_file(path, continued))
        with file or nullcontext():
            self.phases.end("pre-processing_phase")
            after = self._advance(done, stop)
            self.phases.end("simulation_phase")
            self._write(after, file)
        self._solver.close()
        self._require_no_signal(stop, after)

    # --- checkpoints ------------------------------------------------------------------------------

    def _restore(self) -> int:
        """Continue from the checkpoint file if there is one; returns the steps made, or 0."""
        path, steps = self.options.checkpoint, self._setup.data.steps
        if path is None or not path.exists():
            return 0
        done = read_checkpoint(path, self._checkpoint, self.opened.backend)
        if not 0 < done < steps:
            raise RunFailed(
                f"{path} continues after step {done}, but the simulation has {steps}; delete it "
                "and start the simulation again"
            )
        self._solver.set_clock(done - self._setup.first_step)
        self.log.say(f"Continuing after step {done} of {path}")
        return done

    @property
    def _checkpoint(self) -> Checkpoint:
        output = self._setup.case.output
        request = f"-s {output.start} {' '.join(f'--{name}' for name in output.datasets)}"
        return Checkpoint(self._setup.grid.cells, request, self._solver.state())

    # --- the steps --------------------------------------------------------------------------------

    def _advance(self, done: int, stop: StopRequest) -> int:
        """Advance to the end or to a checkpoint, or until a signal; returns the steps made."""
        steps, before = self._setup.data.steps, self._setup.first_step
        outputs = self._solver.outputs.series(continued=bool(done))
        first = max(done - before, 0)
        loop = TimeLoop(self._solver, self.opened.backend, outputs, None, "", first, self._job)
        until = min(steps, done + (self.options.timesteps or steps))
        say, deadline = self.log.progress(steps, done), Deadline(stop, self.options.interval)
        with suppress(Interrupted):
            loop.run(until - before, lambda step, updates: say(step + before), deadline)
        after = loop.step + before
        if self.options.checkpoint is None:
            self._require_no_signal(stop, after)
        return after

    def _require_no_signal(self, stop: StopRequest, after: int) -> None:
        """Raise Interrupted on all ranks if a signal on any rank ended the simulation early."""
        signals = [name for name in self._job.allgather(str(stop)) if name]
        if not signals or after == self._setup.data.steps:
            return
        advice = "start it again"
        if self.options.checkpoint is not None:
            advice += " to continue from the checkpoint"
        text = f"stopped by {signals[0]} after step {after}; {advice}"
        self._job.fail_together(Interrupted(text))

    # --- the end ----------------------------------------------------------------------------------

    def _write(self, after: int, file: OutputFile | None) -> None:
        """Write the results of a complete simulation, or a checkpoint."""
        if after < self._setup.data.steps:
            self._write_checkpoint(after, file)
            return
        self._solver.outputs.write_results()
        if not self._solver.is_finite:
            self.log.warn(
                "the pressure is not finite; the time step may be too long for the medium: use a "
                "shorter dt"
            )
        self.phases.end("post-processing_phase")
        self._job.collective_try(lambda: self._end(file, after))
        self._job.collective_try(lambda: self._complete(file))
        seconds = sum(self.phases.seconds.values())
        self.log.say(f"Complete after {seconds:.2f} s: {self.options.output}")

    def _write_checkpoint(self, after: int, file: OutputFile | None) -> None:
        path = self.options.checkpoint
        assert path is not None
        self._job.collective_try(lambda: self._end(file, after))
        write_checkpoint(path, self._checkpoint, after, self.opened.backend, self._job)
        self._job.collective_try(lambda: file.finish() if file else None)
        self.log.say(f"Checkpoint after step {after}: {path}")

    def _end(self, file: OutputFile | None, after: int) -> None:
        if file is not None:
            seconds = {"post-processing_phase": 0.0, **self.phases.seconds}
            file.end(after, self._solver.outputs.attributes(seconds))

    def _complete(self, file: OutputFile | None) -> None:
        if file is not None:
            file.finish_compressed(self.options.compression)
            if self.options.checkpoint is not None:
                self.options.checkpoint.unlink(missing_ok=True)
