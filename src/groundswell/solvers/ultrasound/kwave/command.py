"""The commands kspaceFirstOrder-OMP (CPU) and kspaceFirstOrder-CUDA (GPU).

The exit code is 0 if the simulation is complete or ends with a checkpoint. It is 1 after any error,
with one message on standard error. The commands run on one process and refuse several.
"""

from __future__ import annotations

import resource
import socket
import sys
import time
import warnings
from collections.abc import Sequence

from groundswell.backends import Backend, open_backend
from groundswell.errors import (
    DeviceMissing,
    GroundswellError,
    InputError,
    Interrupted,
    RunFailed,
    known_to_all,
)
from groundswell.exchange.mpi_communicator import get_communicator
from groundswell.formats.atomic import resource_error
from groundswell.simulation.signals import StopRequest, stop_request
from groundswell.solvers.ultrasound.kwave.arguments import Options, parse
from groundswell.solvers.ultrasound.kwave.checkpoint import (
    Checkpoint,
    read_checkpoint,
    write_checkpoint,
)
from groundswell.solvers.ultrasound.kwave.datasets import LONG
from groundswell.solvers.ultrasound.kwave.input_file import KWaveInput, read_input
from groundswell.solvers.ultrasound.kwave.log import Log
from groundswell.solvers.ultrasound.kwave.output_file import OutputFile, run_attributes
from groundswell.solvers.ultrasound.kwave.simulation import KWaveSimulation
from groundswell.solvers.ultrasound.kwave.stability import stability_warnings
from groundswell.version import __version__

OMP, CUDA = "kspaceFirstOrder-OMP", "kspaceFirstOrder-CUDA"
BACKENDS = {OMP: "cpu", CUDA: "cuda"}


def main_omp(arguments: Sequence[str] | None = None) -> int:
    """Run kspaceFirstOrder-OMP, by default with the process's arguments; returns the exit code."""
    return main(OMP, arguments)


def main_cuda(arguments: Sequence[str] | None = None) -> int:
    """Run kspaceFirstOrder-CUDA, by default with the process's arguments; returns the exit code."""
    return main(CUDA, arguments)


def main(program: str, arguments: Sequence[str] | None = None) -> int:
    """Run one of the commands; returns the exit code."""
    try:
        _refuse_ranks()
        options = parse(program, f"{program} of Groundswell {__version__}", arguments)
        with stop_request() as stop, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about values that are not finite; `Run` reports them
            Run(program, options).run(stop)
    except SystemExit as end:  # --help, --version or invalid arguments
        return end.code if isinstance(end.code, int) else 1
    except KeyboardInterrupt:
        return _fail(program, "interrupted")
    except MemoryError as error:
        return _fail(program, f"out of memory ({error}); use a smaller grid")
    except (GroundswellError, OSError, RuntimeError) as error:  # HDF5 raises RuntimeError, too
        if known_to_all(error) and not get_communicator().first:
            return 1
        known = resource_error(error) if isinstance(error, OSError) else None
        return _fail(program, str(known or error))
    return 0


def _refuse_ranks() -> None:
    """Raise InputError on all ranks if there are several: each would run the whole simulation."""
    job = get_communicator()
    if job.size > 1:
        text = (
            f"this command runs on one process, but {job.size} were started; start it without "
            "mpiexec or srun, or describe the simulation in a case for `mpiexec groundswell run`"
        )
        job.fail_together(InputError(text))


def _open_backend(program: str, options: Options) -> Backend:
    try:
        return open_backend(BACKENDS[program], device=options.device, threads=options.threads)
    except DeviceMissing as error:
        raise DeviceMissing(error.reason, f"use {OMP}") from error


def _fail(program: str, message: str) -> int:
    print(f"{program}: error: {message}", file=sys.stderr)
    return 1


class Run:
    """A simulation, or a part of one that ends with a checkpoint: reads and writes the files."""

    def __init__(self, program: str, options: Options) -> None:
        self._program, self._options = program, options
        self._log = Log(options.verbose, options.progress)
        self._begun = time.monotonic()
        self._phases: dict[str, float] = {}

    def run(self, stop: StopRequest) -> None:
        """Read the input, simulate, write the output.

        Raises:
            InputError: the arguments or files cannot be used.
            RunFailed: the device or the disk is too small.
            Interrupted: a signal arrived.
        """
        options = self._options
        backend = _open_backend(self._program, options)
        data = read_input(options.input, options.benchmark)
        self._end_phase("data_loading_phase")
        self._log.describe(self._program, backend, data, options)
        for text in stability_warnings(data):
            self._log.warn(text)
        simulation = KWaveSimulation(backend, data, options.outputs, options.start)
        resume = self._restore(backend, data, simulation)
        layout = dict(simulation.layout())
        if options.copy_mask:
            layout[data.mask.name] = data.mask.dataset.shape, LONG
        with OutputFile(options.output, layout, data.scalars, resume=resume) as output:
            if options.copy_mask:
                output.write(data.mask.name, (), data.mask.dataset)
            self._end_phase("pre-processing_phase")
            self._simulate(simulation, data, output, stop)
            self._end_phase("simulation_phase")
            self._save(backend, simulation, data, output)
        if simulation.done < data.steps and stop:
            raise Interrupted(f"stopped by {stop} after step {simulation.done}; {self._advice}")

    def _restore(self, backend: Backend, data: KWaveInput, simulation: KWaveSimulation) -> bool:
        """Continue from the checkpoint file if there is one (returns True), otherwise begin."""
        path = self._options.checkpoint
        if path is None or not path.exists():
            simulation.begin()
            return False
        expected = self._checkpoint(simulation, data)
        found = read_checkpoint(path, expected)
        if not 0 < found.steps < data.steps:
            raise RunFailed(
                f"{path} continues after step {found.steps}, but the simulation has {data.steps}; "
                "delete it and start the simulation again"
            )
        simulation.restore(found.steps, found.arrays)
        self._log.say(f"Continuing after step {found.steps} of {path}")
        return True

    def _simulate(
        self, simulation: KWaveSimulation, data: KWaveInput, output: OutputFile, stop: StopRequest
    ) -> None:
        """Advance to the end or to a checkpoint, or until a signal arrives."""
        options, begun = self._options, time.monotonic()

        def ends() -> bool:
            late = options.interval is not None and time.monotonic() - begun >= options.interval
            return bool(stop) or late

        until = data.steps
        if options.timesteps is not None:
            until = min(until, simulation.first + options.timesteps)
        progress = self._log.progress(data.steps, simulation.first)
        simulation.advance(until, output.write, progress, ends)
        if simulation.done < data.steps and stop and options.checkpoint is None:
            raise Interrupted(f"stopped by {stop} after step {simulation.done}; {self._advice}")

    def _save(
        self,
        backend: Backend,
        simulation: KWaveSimulation,
        data: KWaveInput,
        output: OutputFile,
    ) -> None:
        """Write the results of a complete simulation, or a checkpoint."""
        options = self._options
        if simulation.done < data.steps:
            assert options.checkpoint is not None
            output.close(simulation.done, self._attributes())
            write_checkpoint(options.checkpoint, self._checkpoint(simulation, data), backend)
            output.rename()
            self._log.say(f"Checkpoint after step {simulation.done}: {options.checkpoint}")
            return
        simulation.write_results(output.write)
        if not simulation.is_finite():
            self._log.warn(
                "the pressure is not finite; the time step may be too long for the medium: use a "
                "shorter dt"
            )
        self._end_phase("post-processing_phase")
        output.finish(data.steps, self._attributes(), options.compression)
        if options.checkpoint is not None:
            options.checkpoint.unlink(missing_ok=True)
        self._log.say(f"Complete after {sum(self._phases.values()):.2f} s: {options.output}")

    def _checkpoint(self, simulation: KWaveSimulation, data: KWaveInput) -> Checkpoint:
        return Checkpoint(data.grid.cells, simulation.done, simulation.request, simulation.state())

    @property
    def _advice(self) -> str:
        if self._options.checkpoint is None:
            return "start it again"
        return "start it again to continue from the checkpoint"

    def _end_phase(self, name: str) -> None:
        now = time.monotonic()
        self._phases[name] = now - self._begun
        self._begun = now

    def _attributes(self) -> dict[str, str]:
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        phases = {"post-processing_phase": 0.0, **self._phases}
        return run_attributes(phases, socket.gethostname(), peak)


if __name__ == "__main__":
    sys.exit(main_omp())
