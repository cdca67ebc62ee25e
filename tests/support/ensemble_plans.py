"""Plans of small ensembles, their stores bit by bit, and the command in processes of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from small_cases import write_small_case
from toml_text import toml

COMMAND = Path(__file__).with_name("command_program.py")

# Few files, and no samples of fields: each run takes a fraction of a second.
FEW_OUTPUTS = {"surface": None, "volumes": None, "record": None}
DEPTH = "source.0.depth"


def write_plan(folder: Path, runs: int, **more: Any) -> Path:
    """A plan of so many runs of a small earthquake at different depths; returns its file."""
    seismograms = {"interval": "0.02 s", "formats": ["hdf5"]}
    output = FEW_OUTPUTS | {"seismograms": seismograms, "shaking_map": False}
    folder.mkdir(exist_ok=True)
    write_small_case(folder, "earthquake", output=output, run={"checkpoint": None})
    content = {"case": "case.toml", "columns": {DEPTH: depths(runs)}, **more}
    plan = folder / "plan.toml"
    plan.write_text("".join(f"{key} = {_table(value)}\n" for key, value in content.items()))
    return plan


def _table(value: Any) -> str:
    """A value as TOML, whose keys may have dots."""
    if isinstance(value, dict):
        entries = (f'"{key}" = {_table(entry)}' for key, entry in value.items())
        return "{ " + ", ".join(entries) + " }"
    return toml(value)


def depths(runs: int) -> list[str]:
    """Depths of the sources."""
    return [f"{400 + 5 * n} m" for n in range(runs)]


def contents(store: Path) -> dict[str, bytes]:
    """All files of a store but for its log, which differs between ensembles of the same plan."""
    files = (path for path in store.rglob("*") if path.is_file())
    names = {path.relative_to(store).as_posix(): path for path in files}
    return {name: path.read_bytes() for name, path in names.items() if not name.startswith("log/")}


def groups(store: Path) -> set[str]:
    """Names of the runs in a store."""
    return {path.parent.name for path in store.glob("*/zarr.json")} - {"log"}


def start(*words: str | Path, **variables: str) -> subprocess.Popen[str]:
    """Start `groundswell ensemble ...`; its workers run one thread each."""
    return subprocess.Popen(
        [sys.executable, str(COMMAND), "ensemble", *map(str, words)],
        env={**os.environ, "OMP_NUM_THREADS": "1", **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process: subprocess.Popen[str], timeout: float = 100) -> tuple[int, str, str]:
    """Exit code, output and errors of a command."""
    try:
        out, err = process.communicate(timeout=timeout)
    except BaseException:
        process.kill()
        raise
    return process.returncode, out, err


def command(*words: str | Path, **variables: str) -> tuple[int, str, str]:
    """The same of a command from its start."""
    return finish(start(*words, **variables))


def wait_for(condition: Callable[[], object], process: subprocess.Popen[str]) -> None:
    """Wait until a condition holds, while the process runs."""
    ends = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < ends and process.poll() is None
        time.sleep(0.01)


def children(process: subprocess.Popen[str]) -> list[int]:
    """Process IDs of the workers of a command, which are children of its fork server."""
    return [worker for server in _children(process.pid) for worker in _children(server)]


def fork_servers(process: subprocess.Popen[str]) -> list[int]:
    """The process ID of the fork server of a command."""
    return _children(process.pid)


def _children(number: int) -> list[int]:
    path = Path(f"/proc/{number}/task/{number}/children")
    return [int(child) for child in path.read_text().split()] if path.exists() else []


def kill_all(numbers: list[int]) -> None:
    """Kill processes, and wait until they have ended."""
    for number in numbers:
        os.kill(number, signal.SIGKILL)
    for number in numbers:
        while Path(f"/proc/{number}").exists() and _state(number) != "Z":
            time.sleep(0.01)


def _state(number: int) -> str:
    try:
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return "Z"
