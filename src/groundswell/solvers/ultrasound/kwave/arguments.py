"""The command line of kspaceFirstOrder-OMP and kspaceFirstOrder-CUDA."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from groundswell.solvers.ultrasound.kwave.case import OUTPUTS

SHORT = {"p_raw": "-p", "u_raw": "-u"}
WORDS = {
    "overlap.accuracy = ": "--overlap_accuracy ",
    "divide other axes (run.processes), or ": "",
    "give overlap.points, or ": "",
}


@dataclass(frozen=True)
class Options:
    """A parsed command line.

    Args:
        input, output: the files.
        outputs: names of the requested outputs; see OUTPUTS.
        start: step of the first sample, from 1.
        device: index of the GPU; None for the current one.
        threads: number of CPU threads; None for the default.
        progress: interval between progress messages, percent of all steps.
        benchmark: number of steps, which replaces that of the file; None to keep it.
        verbose: verbosity of messages, 0 to 2.
        compression: level of deflate compression, 0 to 9.
        copy_mask: whether to copy the sensor mask to the output file.
        checkpoint: file with the state of an unfinished simulation.
        accuracy: largest difference that the overlaps of ranks may cause; None for the default.
        interval, timesteps: seconds or steps after which this part of the simulation writes a
            checkpoint and ends.
    """

    input: Path
    output: Path
    outputs: frozenset[str] = frozenset({"p_raw"})
    start: int = 1
    device: int | None = None
    threads: int | None = None
    progress: int = 5
    benchmark: int | None = None
    verbose: int = 0
    compression: int = 0
    copy_mask: bool = False
    accuracy: float | None = None
    checkpoint: Path | None = None
    interval: int | None = None
    timesteps: int | None = None


def in_options(message: str) -> str:
    """A message about the overlaps of ranks, with options of a command for keys of a case."""
    for key, option in WORDS.items():
        message = message.replace(key, option)
    return message


class _Parser(argparse.ArgumentParser):
    """A parser that exits with code 1 after an error, as k-Wave's commands do."""

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        self.exit(1, f"{self.prog}: error: {message}\n")


def parse(program: str, version: str, arguments: Sequence[str] | None = None) -> Options:
    """Parse a command line, by default that of this process.

    Raises:
        SystemExit: with code 1 for invalid arguments, 0 after --help and --version.
    """
    parser = _parser(program, version)
    found = vars(parser.parse_args(arguments))
    chosen = frozenset(name for name in OUTPUTS if found.pop(name))
    options = Options(outputs=chosen or frozenset({"p_raw"}), **found)
    _check(parser, options)
    return options


def _check(parser: argparse.ArgumentParser, options: Options) -> None:
    """Check options that depend on each other."""
    chosen = options.interval is not None or options.timesteps is not None
    if options.checkpoint is None and chosen:
        parser.error("--checkpoint_interval and --checkpoint_timesteps need --checkpoint_file")
    if options.checkpoint is not None and not chosen:
        parser.error(
            "--checkpoint_file needs --checkpoint_interval SECONDS or --checkpoint_timesteps STEPS"
        )
    files = [options.input, options.output, *filter(None, [options.checkpoint])]
    if len({path.absolute() for path in files}) < len(files):
        parser.error("the input, output and checkpoint files must be different files")


def _parser(program: str, version: str) -> _Parser:
    parser = _Parser(
        prog=program,
        description="Run an ultrasound simulation from an input file in k-Wave's HDF5 format. "
        "If the checkpoint file exists, the simulation continues from it.",
    )
    parser.add_argument("--version", action="version", version=version)
    _add_files(parser)
    _add_run(parser, with_gpu=program.endswith("CUDA"))
    sampled = parser.add_argument_group("outputs")
    for name, text in OUTPUTS.items():
        sampled.add_argument(*filter(None, [SHORT.get(name)]), f"--{name}", help=text, **FLAG)
    sampled.add_argument(
        "--copy_sensor_mask",
        dest="copy_mask",
        help="copy the sensor mask to the output file",
        **FLAG,
    )
    _add_number(sampled, "-s", 1, "step of the first sample, from 1", dest="start", default=1)
    return parser


FLAG: dict[str, Any] = {"action": "store_true"}


def _add_files(parser: argparse.ArgumentParser) -> None:
    files = parser.add_argument_group("files")
    file: dict[str, Any] = {"metavar": "FILE", "type": Path}
    files.add_argument("-i", dest="input", required=True, help="input file", **file)
    files.add_argument("-o", dest="output", required=True, help="output file", **file)
    files.add_argument("--checkpoint_file", dest="checkpoint", help="checkpoint file", **file)
    text = "write a checkpoint and exit after N seconds"
    _add_number(files, "--checkpoint_interval", 1, text, dest="interval")
    text = "write a checkpoint and exit after N steps"
    _add_number(files, "--checkpoint_timesteps", 1, text, dest="timesteps")
    text = "compression level of the output file, 0 to 9 (default: 0)"
    _add_choice(files, "-c", range(10), text, "compression")


def _add_run(parser: argparse.ArgumentParser, *, with_gpu: bool) -> None:
    run = parser.add_argument_group("run")
    _add_number(run, "-t", 1, "number of CPU threads", dest="threads")
    if with_gpu:
        _add_number(run, "-g", 0, "index of the GPU, from 0", dest="device")
    run.add_argument(
        "--overlap_accuracy",
        dest="accuracy",
        type=_share,
        metavar="X",
        help="largest difference of several processes from one, relative to the largest pressure "
        "(default: 1e-3); k-Wave's programs have no such option",
    )
    text = "report progress every N percent of the steps (default: 5)"
    _add_number(run, "-r", 1, text, dest="progress", default=5)
    _add_number(run, "--benchmark", 1, "run N steps instead of the number in the input file")
    _add_choice(run, "--verbose", range(3), "verbosity, 0 to 2 (default: 0)", "verbose")


def _share(value: str) -> float:
    """A number between 0 and 1."""
    found = float(value)
    if not 0 < found < 1:
        raise argparse.ArgumentTypeError(f"{value} must be above 0 and below 1")
    return found


_share.__name__ = "number"  # argparse names it in messages


def _add_choice(group: Any, name: str, allowed: range, text: str, dest: str) -> None:
    group.add_argument(
        name, dest=dest, type=int, choices=allowed, default=0, metavar="LEVEL", help=text
    )


def _add_number(group: Any, name: str, least: int, text: str, **more: Any) -> None:
    def number(value: str) -> int:
        found = int(value)
        if not least <= found < 2**31:
            raise argparse.ArgumentTypeError(f"{value} must be at least {least} and below 2^31")
        return found

    number.__name__ = "number"  # argparse names it in messages
    group.add_argument(name, type=number, metavar="N", help=text, **more)
