"""Digests of all that short runs write, to see whether two versions compute the same bits.

    PYTHONPATH=old/src python digests.py run old.json
    PYTHONPATH=new/src python digests.py run new.json
    python digests.py compare old.json new.json
    python digests.py reference

`run` computes the cases of `digest_cases/` with the groundswell that Python finds, as `runs.toml`
says, and checks that neither ranks nor interruptions change a bit where none may change. It knows
nothing of the program but the command line, case files and output files.

`reference` stores new values for tests/equivalence/test_reference_values.py. Use it only after a
change that is meant to change results, and say in the commit which change that was.
"""

from __future__ import annotations

import argparse
import csv
import importlib.util
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b
from itertools import chain
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import xarray

CASES = Path(__file__).resolve().with_name("digest_cases")
EXAMPLES = CASES.parents[2] / "examples"
TIMEOUT = 300.0  # s, for one process
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
ROWS = "-rows"  # ends the name of the list of rows that a piece of a checkpoint has
# Residuals are sums over ranks, so another number of ranks changes them by rounding.
ROUNDED = r"residuals\.csv:|heat\.json:(residual|steady)$|checkpoint:state/history$"

Digests = dict[str, str]
Arrays = Iterator[tuple[str, Any]]


@dataclass(frozen=True)
class Run:
    """One run; the attributes are explained in `runs.toml`."""

    case: str
    ranks: int
    label: str = ""
    run: tuple[str, ...] = ()
    checkpoint: int = 0
    resume: int = 0
    like: str = ""

    @property
    def name(self) -> str:
        """Unique among all runs."""
        return f"{self.case}{self.label and '-' + self.label}@{self.ranks}"

    def text(self, checkpoint: int) -> str:
        """The content of its case file, with a checkpoint after so many steps if not 0."""
        saved = [f"checkpoint = {{ steps = {checkpoint} }}"] if checkpoint else []
        return "\n".join([(CASES / f"{self.case}.toml").read_text(), *self.run, *saved, ""])


def all_runs() -> Iterator[Run]:
    """Those of `runs.toml`, one for each number of ranks."""
    for entry in tomllib.loads((CASES / "runs.toml").read_text())["runs"]:
        ranks, like = entry.pop("ranks"), entry.pop("like", "")
        for count in ranks:
            run = Run(ranks=count, like=like, **entry)
            yield run
            like = like or ("" if run.case.startswith("poisson") else run.name)


def write_inputs(folder: Path) -> None:
    """The data files that cases name; plain arithmetic, so that they are the same everywhere."""
    (folder / "examples").symlink_to(EXAMPLES)
    for name in ("pulse.txt", "source.txt"):
        (folder / name).symlink_to(CASES / name)
    k, j, i = np.indices((12, 16, 18))
    vs = 1500.0 + 60 * k + 20 * ((7 * i + 5 * j + 3 * k) % 11)
    mesh = np.stack([1.8 * vs, vs, 1500 + vs / 3, vs / 10, vs / 20], axis=-1)
    mesh.astype("<f4").tofile(folder / "mesh.bin")
    z, y, x = np.indices((5, 5, 5)) / 4
    bubble = x * (1 - x) * y * (1 - y) * z * (1 - z)
    flow = {"u": bubble * z, "v": -bubble, "w": bubble * (1 - 2 * x), "p": bubble, "T": 296 - 2 * x}
    fields = {name: (("z", "y", "x"), values) for name, values in flow.items()}
    axes = {axis: np.arange(5) / 4 for axis in "zyx"}
    xarray.Dataset(fields, axes).to_netcdf(folder / "flow.nc", engine="h5netcdf")


def start(run: Run, ranks: int, folder: Path, *options: str) -> subprocess.Popen[str]:
    """`groundswell run` as one process, or under mpiexec."""
    among = ["mpiexec", "-n", str(ranks), "--oversubscribe"] if ranks > 1 else []
    command = [*among, sys.executable, "-m", "groundswell", "run", str(folder / f"{run.name}.toml")]
    return subprocess.Popen(
        [*command, "--output", str(folder / run.name), "--no-pictures", "-q", *options],
        env={**os.environ, **AS_ROOT, "OMP_NUM_THREADS": "2" if ranks == 1 else "1"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        # A shell's background jobs ignore SIGINT, and their children would.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )


def finish(process: subprocess.Popen[str], status: int = 0) -> None:
    """Wait for the end; raises `RuntimeError` unless it has this status."""
    try:
        _, told = process.communicate(timeout=TIMEOUT)
    finally:
        process.kill()
    if process.returncode != status:
        raise RuntimeError(f"ended with {process.returncode} instead of {status}: {told[-2000:]}")


def await_checkpoint(process: subprocess.Popen[str], output: Path) -> None:
    """Wait until the first checkpoint is complete: rank 0's file comes last."""
    until = time.monotonic() + TIMEOUT
    while not (output / "checkpoint.h5").exists():
        if process.poll() is not None or time.monotonic() > until:
            finish(process)
            raise RuntimeError("no checkpoint was seen")
        time.sleep(0.0005)


def compute(run: Run, folder: Path, backend: str) -> Digests:
    """Run it to its end; digests of what it leaves."""
    case, output, saved = folder / f"{run.name}.toml", folder / run.name, folder / "checkpoint"
    # A checkpoint after every step slows a run down enough for the signal to come in time.
    case.write_text(run.text(1 if run.resume else run.checkpoint))
    process = start(run, run.ranks, folder, "--backend", backend)
    if run.resume:
        await_checkpoint(process, output)
        process.send_signal(signal.SIGINT if run.ranks == 1 else signal.SIGUSR1)  # as mpiexec asks
        finish(process, 130)
        case.write_text(run.text(0))
        process = start(run, run.resume, folder, "--backend", backend, "--resume")
    if run.checkpoint:
        await_checkpoint(process, output)
        saved.mkdir()
        for path in output.glob("checkpoint*.h5"):
            os.link(path, saved / path.name)  # the run deletes its own at the end
    finish(process)
    arrays = chain(read_folder(output), read_checkpoint(saved) if run.checkpoint else ())
    found = [(name, digest(values)) for name, values in arrays]
    if len(dict(found)) < len(found):
        raise RuntimeError("two arrays have the same name")
    return dict(found)


def digest(values: Any) -> str:
    """Type, shape and a hash of the bytes."""
    array = np.asarray(values)
    if array.dtype.kind in "OU":
        texts = [v if isinstance(v, bytes) else str(v).encode() for v in array.flat]
        array = np.array(texts, "S").reshape(array.shape)
    hashed = blake2b(np.ascontiguousarray(array).tobytes(), digest_size=16).hexdigest()
    return f"{array.dtype.str} {array.shape} {hashed}"


def read_folder(folder: Path) -> Arrays:
    """Every array in every file; raises `RuntimeError` at a file of unknown kind."""
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        if path.suffix not in READERS:
            raise RuntimeError(f"{path.name} is of a kind that has no reader here")
        for name, values in READERS[path.suffix](path):
            yield f"{path.relative_to(folder).as_posix()}:{name}", values


def read_hdf5(path: Path) -> Arrays:
    """Every dataset."""
    with h5py.File(path) as file:
        names: list[str] = []
        file.visit(names.append)
        yield from ((name, file[name]) for name in names if isinstance(file[name], h5py.Dataset))


def read_csv(path: Path) -> Arrays:
    """Every column: as numbers if they all are."""
    for name, *column in zip(*csv.reader(path.read_text().splitlines()), strict=True):
        try:
            yield name, np.array(column, np.float64)
        except ValueError:
            yield name, np.array(column)


def read_json(path: Path) -> Arrays:
    """Every value; of a summary only the steps, as all else tells of time and place."""
    content = json.loads(path.read_text())
    names = ("steps",) if path.name == "summary.json" else content
    yield from ((name, json.dumps(content[name])) for name in names)


def read_waveforms(path: Path) -> Arrays:
    """Every trace."""
    import obspy

    yield from ((trace.id, trace.data) for trace in obspy.read(path))


def read_checkpoint(folder: Path) -> Arrays:
    """Every array of the state, whole, from the pieces of all ranks, of which some list rows."""
    whole: dict[str, Any] = {}
    for path in sorted(folder.iterdir()):
        for name, piece in read_hdf5(path):
            if name.endswith(ROWS):
                continue
            begin, group = piece.attrs["start"], piece.parent
            place: list[Any] = [*map(slice, begin, begin + piece.shape)]
            if (rows := group.get(name.rpartition("/")[2] + ROWS)) is not None:
                place[0] = rows[()]
            array = whole.setdefault(group.name, np.zeros(group.attrs["shape"], piece.dtype))
            array[tuple(place)] = piece[()]
    yield from ((f"checkpoint:{name[1:]}", array) for name, array in whole.items())


READERS = {
    **dict.fromkeys((".h5", ".nc", ".vtkhdf"), read_hdf5),
    **dict.fromkeys((".sac", ".mseed"), read_waveforms),
    ".csv": read_csv,
    ".json": read_json,
}


def differences(found: Digests, expected: Digests) -> Iterator[str]:
    """What is not as expected, a line each."""
    for name in sorted(found.keys() | expected.keys()):
        before, now = expected.get(name), found.get(name)
        if before != now:
            kind = "missing" if now is None else "new" if before is None else "differs"
            yield f"{kind:8} {name}: {before} before, {now} now"


def broken_promises(run: Run, found: dict[str, Digests]) -> list[str]:
    """What a run has otherwise than the one that it should be like."""
    without = re.compile(ROUNDED if run.checkpoint else f"{ROUNDED}|checkpoint:")
    ours, theirs = (
        {n: d for n, d in found.get(name, {}).items() if not without.match(n)}
        for name in (run.name, run.like or run.name)
    )
    return [f"unlike {run.like}: {line}" for line in differences(ours, theirs)]


def run_all(path: Path, backend: str, only: str) -> int:
    """Run what matches, and what that should be like; returns the number of failures."""
    runs = {run.name: run for run in all_runs()}
    chosen = {name for name in runs if re.search(only, name)}
    chosen |= {runs[name].like for name in chosen} - {""}
    found: dict[str, Digests] = {}
    failures = 0
    print(getattr(importlib.util.find_spec("groundswell"), "origin", "there is no groundswell"))
    for run in (run for name, run in runs.items() if name in chosen):
        begun, problems = time.monotonic(), []
        try:
            with tempfile.TemporaryDirectory() as folder:
                write_inputs(Path(folder))
                found[run.name] = compute(run, Path(folder), backend)
            problems = broken_promises(run, found)
        except (RuntimeError, subprocess.TimeoutExpired, OSError, LookupError, ValueError) as error:
            problems = [repr(error)]
        failures += bool(problems)
        heading = f"{run.name}: {len(found.get(run.name, ()))} digests"
        print(f"{heading}, {time.monotonic() - begun:.1f} s", *problems, sep="\n  ", flush=True)
    path.write_text(json.dumps(found, indent=1) + "\n")
    print(f"{path}: {len(found)} of {len(chosen)} runs, {failures} failed or broke a promise")
    return failures


def compare(first: Path, second: Path) -> int:
    """List what differs; returns how much is other or missing in the second."""
    files = [json.loads(path.read_text()) for path in (first, second)]
    old, new = ({f"{run}/{n}": d for run in f for n, d in f[run].items()} for f in files)
    lines = [*differences(new, old)]
    worse = sum(not line.startswith("new") for line in lines)
    print(*lines, f"{len(old)} and {len(new)} digests: {worse} differ or are missing", sep="\n")
    return worse


def main() -> int:
    """The exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    running = commands.add_parser("run")
    running.add_argument("output", type=Path)
    running.add_argument("--backend", choices=("cpu", "cuda"), default="cpu")
    running.add_argument("--only", default="", metavar="PATTERN", help="of names of runs")
    comparing = commands.add_parser("compare")
    comparing.add_argument("first", type=Path)
    comparing.add_argument("second", type=Path)
    commands.add_parser("reference")
    asked = parser.parse_args()
    if asked.command == "reference":
        import reference_values

        reference_values.write()
        return 0
    if asked.command == "compare":
        return int(compare(asked.first, asked.second) > 0)
    return int(run_all(asked.output, asked.backend, asked.only) > 0)


if __name__ == "__main__":
    sys.exit(main())
