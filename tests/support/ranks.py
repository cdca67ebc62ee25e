"""Programs on several ranks, more of them than the machine has cores."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from gpu import turn_on_gpus

ROOT = Path(__file__).parents[2]
SOURCE, BENCHMARKS = ROOT / "src", ROOT / "benchmarks"
CASES_PROGRAM = Path(__file__).with_name("cases_program.py")
COMMAND = Path(__file__).with_name("command_program.py")  # `groundswell`

# Containers run as root, which Open MPI otherwise refuses; its ranks must not spin for each other.
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}

# A killed mpiexec leaves its folder, named after its process ID. A later mpiexec with the same ID
# and the same parent folder would fail to start its PMIx server.
SESSION_FOLDERS = tempfile.TemporaryDirectory(prefix="mpiexec-", ignore_cleanup_errors=True)


def launcher() -> str:
    """The mpiexec that belongs to this Python, or the system's; skips the test without one."""
    pytest.importorskip("mpi4py")
    beside = Path(sys.executable).with_name("mpiexec")
    if beside.exists():
        return str(beside)
    import shutil

    return shutil.which("mpiexec") or pytest.skip("needs mpiexec")


def environment(**given: str) -> dict[str, str]:
    """Variables of one mpiexec, whose ranks find the package and run one thread each."""
    given_paths = filter(None, [os.environ.get("PYTHONPATH")])
    searched = os.pathsep.join([str(SOURCE), *given_paths, str(BENCHMARKS)])
    own = {
        "PYTHONPATH": searched,
        "OMP_NUM_THREADS": "1",
        "PRTE_MCA_prte_tmpdir_base": tempfile.mkdtemp(dir=SESSION_FOLDERS.name),
    }
    return {**os.environ, **AS_ROOT, **own, **given}


def start_on_ranks(
    ranks: int, *arguments: str | Path, errors: Any = subprocess.PIPE, **variables: str
) -> subprocess.Popen[str]:
    """Start `python arguments...` on so many ranks, one thread each; the process is mpiexec's."""
    return subprocess.Popen(
        [
            launcher(),
            "-n",
            str(ranks),
            "--oversubscribe",
            *("--bind-to", "none"),  # several jobs would bind their ranks to the same cores
            sys.executable,
            *map(str, arguments),
        ],
        env=environment(**variables),
        stdout=subprocess.PIPE,
        stderr=errors,
        text=True,
    )


def run_on_ranks(
    ranks: int, *arguments: str | Path, timeout: float = 240, **variables: str
) -> subprocess.CompletedProcess[str]:
    """The same, to their end."""
    with (
        turn_on_gpus(*arguments),
        start_on_ranks(ranks, *arguments, **variables) as process,
    ):
        try:
            out, err = process.communicate(timeout=timeout)
        except BaseException:
            process.kill()
            raise
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


def run_cases(
    on_ranks: Callable[..., str], ranks: int, cases: Mapping[str, Any], folder: Path
) -> Path:
    """Run cases by name on so many ranks; the results of each are in a folder of its name.

    Those for GPUs have processes of their own, which give all memory of the GPUs back.
    """
    path = folder / "cases.json"
    path.write_text(json.dumps(cases))
    if '"cuda"' not in path.read_text():
        on_ranks(ranks, CASES_PROGRAM, path, folder, timeout=500)
        return folder
    with turn_on_gpus("cuda"):
        done = run_on_ranks(ranks, CASES_PROGRAM, path, folder, timeout=500)
    assert done.returncode == 0, done.stderr[-4000:]
    return folder


def run_to_json(on_ranks: Callable[..., str], ranks: int, program: str, folder: Path) -> Any:
    """The content of the JSON file that a program (text) writes when it runs on several ranks."""
    path, script = folder / "found.json", folder / "program.py"
    script.write_text(program)
    on_ranks(ranks, script, path)
    return json.loads(path.read_text())
