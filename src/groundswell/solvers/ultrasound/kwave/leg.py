"""A run of a command: a simulation, or a leg of one that begins or ends with a checkpoint."""

from __future__ import annotations

import time
from contextlib import nullcontext
from pathlib import Path

from groundswell.backends import Backend, open_backend
from groundswell.errors import DeviceMissing, Interrupted, RunFailed
from groundswell.exchange.communicator import Communicator
from groundswell.simulation.preparation import OpenSolver, check_of, open_solver, prepare
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

OMP = "kspaceFirstOrder-OMP"


class Deadline(StopRequest):
    """Asks a run to stop after a signal, or after some seconds.

    Args:
        signals: the signals.
        seconds: time from now on; None for no limit.
    """

    def __init__(self, signals: StopRequest, seconds: int | None) -> None:
        self.signals, self._seconds, self._begun = signals, seconds, time.monotonic()

    def __bool__(self) -> bool:
        return bool(str(self))

    def __str__(self) -> str:
        late = self._seconds is not None and time.monotonic() - self._begun >= self._seconds
        return str(self.signals) or ("the interval" if late else "")


class Leg:
    """A simulation, or a leg of one, on all ranks of a job.

    Args:
        program: name of the command.
        backend: name of the backend.
    """

    def __init__(self, program: str, backend: str, options: Options, job: Communicator) -> None:
        self._program, self._options, self._job = program, options, job
        self._case = case_of(options, backend)
        self._log = Log(options.verbose, options.progress, talks=job.first)
        self._begun = time.monotonic()
        self._phases: dict[str, float] = {}

    def run(self, stop: StopRequest) -> None:
        """Read the input, simulate, write the output; all ranks must call it.

        Raises:
            InputError: the arguments or files cannot be used, or the device has too little memory.
            RunFailed: the disk is too small.
            Interrupted: a signal arrived.
        """
        job, options = self._job, self._options
        setup = prepare(self._case, job)
        assert isinstance(setup, KWaveSetup)
        self._end_phase("data_loading_phase")
        opened = self._open(setup)
        self._log.describe(self._program, opened.backend, setup, options)
        for text in [*check_of(setup).warnings(setup), *opened.solver.warnings]:
            self._log.warn(in_options(text))
        solver = opened.solver
        assert isinstance(solver, KWaveSolver)
        done = job.collective_try(lambda: self._restore(opened, solver))
        first = options.output if done else None
        file = job.collective_try(lambda: solver.outputs.open_file(options.output, first))
        with file or nullcontext():
            self._end_phase("pre-processing_phase")
            loop = self._advance(opened, solver, done, stop)
            self._end_phase("simulation_phase")
            self._finish(opened, solver, loop.step, file)
        solver.close()
        self._require_end(loop.step < setup.steps, loop.step + setup.first_step, stop)

    # --- the beginning ----------------------------------------------------------------------------

    def _open(self, setup: KWaveSetup) -> OpenSolver:
        try:
            backend = self._job.collective_try(self._requested_device)
            return open_solver(setup, self._job, quiet=True, measure=False, backend=backend)
        except DeviceMissing as error:
            raise DeviceMissing(error.reason, f"use {OMP}") from error

    def _requested_device(self) -> Backend | None:
        """The device of the options -g and -t; None without them."""
        device, threads = self._options.device, self._options.threads
        if device is None and threads is None:
            return None
        return open_backend(self._case.run.backend, device, threads=threads)

    def _restore(self, opened: OpenSolver, solver: KWaveSolver) -> int:
        """Continue from the checkpoint file if there is one; returns the steps made, or 0."""
        path, setup = self._options.checkpoint, solver.setup
        if path is None or not path.exists():
            return 0
        done = read_checkpoint(path, self._checkpoint(solver), opened.backend)
        if not 0 < done < setup.data.steps:
            raise RunFailed(
                f"{path} continues after step {done}, but the simulation has {setup.data.steps}; "
                "delete it and start the simulation again"
            )
        solver.set_clock(done - setup.first_step)
        self._log.say(f"Continuing after step {done} of {path}")
        return done

    def _checkpoint(self, solver: KWaveSolver) -> Checkpoint:
        output = solver.setup.case.output
        request = f"-s {output.start} {' '.join(f'--{name}' for name in output.datasets)}"
        return Checkpoint(solver.setup.grid.cells, request, solver.state())

    # --- the steps --------------------------------------------------------------------------------

    def _advance(
        self, opened: OpenSolver, solver: KWaveSolver, done: int, stop: StopRequest
    ) -> TimeLoop:
        """Advance to the end or to a checkpoint, or until a signal arrives."""
        setup, options, before = solver.setup, self._options, solver.setup.first_step
        outputs = solver.outputs.series(continued=bool(done))
        first = max(done - before, 0)
        loop = TimeLoop(solver, opened.backend, outputs, None, "", first, self._job)
        until = setup.data.steps
        if options.timesteps is not None:
            until = min(until, done + options.timesteps)
        say = self._log.progress(setup.data.steps, done)
        try:
            deadline = Deadline(stop, options.interval)
            loop.run(until - before, lambda step, updates: say(step + before), deadline)
        except Interrupted:
            if loop.step < setup.steps and options.checkpoint is None:
                raise Interrupted(self._stopped(stop, loop.step + before)) from None
        return loop

    def _stopped(self, stop: StopRequest, done: int) -> str:
        """The message about a signal, which may have reached another rank."""
        resumes = self._options.checkpoint is not None
        advice = "start it again" + " to continue from the checkpoint" * resumes
        return f"stopped by {stop or 'a signal'} after step {done}; {advice}"

    def _require_end(self, unfinished: bool, done: int, stop: StopRequest) -> None:
        """Raise Interrupted on all ranks if a signal ended the simulation on any."""
        signalled = any(self._job.allgather(bool(stop)))
        if unfinished and signalled:
            self._job.fail_together(Interrupted(self._stopped(stop, done)))

    # --- the end ----------------------------------------------------------------------------------

    def _finish(
        self, opened: OpenSolver, solver: KWaveSolver, step: int, file: OutputFile | None
    ) -> None:
        """Write the results of a complete simulation, or a checkpoint."""
        job, done = self._job, step + solver.setup.first_step
        if step < solver.setup.steps:
            assert self._options.checkpoint is not None
            path = self._options.checkpoint
            job.collective_try(lambda: self._end_file(solver, file, done))
            write_checkpoint(path, self._checkpoint(solver), done, opened.backend, job)
            job.collective_try(lambda: file.finish() if file else None)
            self._log.say(f"Checkpoint after step {done}: {path}")
            return
        solver.outputs.write_results()
        if not solver.is_finite:
            self._log.warn(
                "the pressure is not finite; the time step may be too long for the medium: use a "
                "shorter dt"
            )
        self._end_phase("post-processing_phase")
        job.collective_try(lambda: self._end_file(solver, file, done))
        job.collective_try(lambda: self._complete(file))
        self._log.say(f"Complete after {sum(self._phases.values()):.2f} s: {self._options.output}")

    def _end_file(self, solver: KWaveSolver, file: OutputFile | None, done: int) -> None:
        if file is not None:
            file.end(
                done, solver.outputs.attributes({"post-processing_phase": 0.0, **self._phases})
            )

    def _complete(self, file: OutputFile | None) -> None:
        if file is not None:
            file.finish_compressed(self._options.compression)
            if self._options.checkpoint is not None:
                self._options.checkpoint.unlink(missing_ok=True)

    def _end_phase(self, name: str) -> None:
        now = time.monotonic()
        self._phases[name] = now - self._begun
        self._begun = now


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
