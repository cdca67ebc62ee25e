"""The scripts for clusters, with stand-ins for the programs of Slurm and Apptainer."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

pytestmark = pytest.mark.timeout(120)

ROOT = Path(__file__).parents[2]
SCRIPTS = ROOT / "examples" / "clusters"
Write = Callable[..., Path]

RECORD = 'printf "%s\\n" "$(basename "$0") $*" >> calls\n'
STAND_INS = {
    "srun": 'exec "$@"',  # the real one forwards SIGUSR1 to its tasks
    "scontrol": RECORD,
    # Identifiers of jobs are 101, 102 and so on.
    "sbatch": RECORD + "echo $((100 + $(wc -l < calls)))",
    "apptainer": RECORD + 'while [ "$1" != groundswell.sif ]; do shift; done\n'
    'shift; exec groundswell "$@"',
    "groundswell": RECORD + "exit ${CODE:-0}",
    # A command that ends at SIGUSR1, as a run with a checkpoint does.
    "patient": "trap 'exit ${CODE:-130}' USR1\ntouch started\nwhile :; do sleep 0.02; done",
    # A process that the system kills before it can write a checkpoint.
    "fragile": 'trap "kill -9 $$" USR1\ntouch started\nwhile :; do sleep 0.02; done',
}


class Cluster:
    """A folder with the scripts, and stand-ins for programs on the search path."""

    def __init__(self, folder: Path) -> None:
        self.folder, self._programs = folder, folder / "programs"
        self._programs.mkdir()
        for script in SCRIPTS.iterdir():
            shutil.copy(script, folder)
        for name, body in STAND_INS.items():
            self.install(name, body)

    def install(self, name: str, body: str) -> None:
        (self._programs / name).write_text(f"#!/bin/bash\n{body}\n")
        (self._programs / name).chmod(0o755)

    @property
    def calls(self) -> list[str]:
        """What the stand-ins were asked to do."""
        record = self.folder / "calls"
        return record.read_text().splitlines() if record.exists() else []

    @contextmanager
    def start(self, *words: str, **variables: str) -> Iterator[subprocess.Popen[str]]:
        path = f"{self._programs}{os.pathsep}{os.environ['PATH']}"
        process = subprocess.Popen(
            ["bash", *words],
            cwd=self.folder,
            env={**os.environ, "PATH": path, "SLURM_JOB_ID": "7", **variables},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            yield process
        finally:
            process.kill()

    def run(self, *words: str, **variables: str) -> tuple[int, str]:
        """Exit code and output of a script that ends by itself."""
        with self.start(*words, **variables) as process:
            out, error = process.communicate(timeout=60)
        return process.returncode, out + error

    def interrupt(self, *words: str, number: int = signal.SIGUSR1, **variables: str) -> int:
        """Exit code of a script that gets a signal once its command has started."""
        with self.start(*words, **variables) as process:
            wait_until((self.folder / "started").exists)
            process.send_signal(number)
            process.communicate(timeout=60)
        return process.returncode


def wait_until(happened: Callable[[], bool]) -> None:
    until = time.monotonic() + 60
    while not happened():
        assert time.monotonic() < until, "it never happened"
        time.sleep(0.01)


@pytest.fixture
def cluster(tmp_path: Path) -> Cluster:
    return Cluster(tmp_path)


# --- jobs that continue ---------------------------------------------------------------------------


@pytest.mark.parametrize("code", [0, 1, 2, 130])
def test_a_job_ends_with_the_code_of_its_command(cluster: Cluster, code: int) -> None:
    words = ("requeue.sbatch", "groundswell", "run", "case.toml")
    assert cluster.run(*words, CODE=str(code)) == (code, "")
    assert cluster.calls == ["groundswell run case.toml"]


@pytest.mark.parametrize(
    ("command", "code"), [("patient", 130), ("fragile", 137)], ids=["stopped", "killed"]
)
def test_the_time_limit_requeues_the_job(cluster: Cluster, command: str, code: int) -> None:
    assert cluster.interrupt("requeue.sbatch", command) == code
    assert cluster.calls == ["scontrol requeue 7"]


def test_only_the_task_of_an_array_is_requeued(cluster: Cluster) -> None:
    """The identifier of one task of an array is that of the whole array."""
    array = {"SLURM_ARRAY_JOB_ID": "7", "SLURM_ARRAY_TASK_ID": "3"}
    assert cluster.interrupt("requeue.sbatch", "patient", **array) == 130
    assert cluster.calls == ["scontrol requeue 7_3"]


@pytest.mark.parametrize("code", [0, 1, 2])
def test_a_command_that_ends_by_itself_is_not_requeued(cluster: Cluster, code: int) -> None:
    assert cluster.interrupt("requeue.sbatch", "patient", CODE=str(code)) == code
    assert cluster.calls == []


def test_a_cancelled_job_stops_and_stays_away(cluster: Cluster) -> None:
    assert cluster.interrupt("requeue.sbatch", "patient", number=signal.SIGTERM) == 130
    assert cluster.calls == []


def test_a_job_does_not_restart_forever(cluster: Cluster) -> None:
    limits = {"SLURM_RESTART_COUNT": "3", "MOST_RESTARTS": "3"}
    assert cluster.interrupt("requeue.sbatch", "patient", **limits) == 130
    assert cluster.calls == []


def test_a_run_on_ranks_continues_in_the_same_job(
    cluster: Cluster, write_case: Write, tmp_path: Path
) -> None:
    """With Groundswell itself: stopped, continued on one rank, and nothing left to do."""
    pytest.importorskip("mpi4py")
    cluster.install("groundswell", f'exec {sys.executable} -m groundswell "$@"')
    case = write_case(tmp_path, time={"duration": "10 s"})  # 1000 steps
    options = ("--resume=auto", "--no-pictures", "--output", "results")
    words = ("requeue.sbatch", "groundswell", "run", case.name, *options)
    job = {"OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    one, two = {"LAUNCHER": "env"}, {"LAUNCHER": "mpiexec --allow-run-as-root --oversubscribe -n 2"}
    part = tmp_path / "results" / "seismograms.h5.part"
    with cluster.start(*words, **job, **two) as process:
        wait_until(lambda: part.exists() and part.stat().st_size > 0)
        time.sleep(0.2)
        process.send_signal(signal.SIGUSR1)
        _, error = process.communicate(timeout=60)
    assert process.returncode == 130, error
    assert "stopped by SIGUSR1" in error and cluster.calls == ["scontrol requeue 7"]
    assert cluster.run(*words, **job, **one)[0] == 0
    summary = tmp_path / "results" / "summary.json"
    assert 0 < json.loads(summary.read_text())["resumed_at"] < 1000
    before = summary.stat().st_mtime_ns
    code, text = cluster.run(*words, **job, **one)
    assert code == 0 and "holds the complete results" in text
    assert summary.stat().st_mtime_ns == before


# --- arrays, chains and containers ----------------------------------------------------------------


def test_each_task_of_an_array_runs_its_line(cluster: Cluster) -> None:
    for task in "13":
        assert cluster.run("variant.sh", SLURM_ARRAY_TASK_ID=task)[0] == 0
    assert cluster.calls == [
        "groundswell run case.toml --output results/strike-0 --resume=auto --set source.0.strike=0",
        "groundswell run case.toml --output results/deep --resume=auto "
        "--set source.0.depth=2000 --set source.0.strike=45",
    ]
    code, text = cluster.run("variant.sh", SLURM_ARRAY_TASK_ID="4")
    assert code == 2 and "has no line 4" in text


def test_variants_are_settings_of_the_template() -> None:
    from groundswell.case import parse_settings, read_case
    from groundswell.registry import find

    for line in (SCRIPTS / "variants.txt").read_text().splitlines():
        settings = parse_settings(line.split()[1:])
        assert read_case(find("earthquake").read_template(), settings=settings).settings


def test_each_task_of_an_array_is_a_worker(cluster: Cluster) -> None:
    task = {"SLURM_ARRAY_TASK_ID": "2", "SLURM_ARRAY_TASK_COUNT": "8"}
    assert cluster.run("worker.sh", "plan.toml", **task)[0] == 0
    assert cluster.calls == ["groundswell ensemble work plan.toml --worker 2 --workers 8"]


def test_a_chain_waits_for_success(cluster: Cluster) -> None:
    code, text = cluster.run("chain.sh", "case.toml", "results")
    assert (code, text) == (0, "check 101, run 102, report 103\n")
    check, run, report = cluster.calls
    assert "--wrap groundswell check 'case.toml'" in check.replace('"', "")
    assert "--dependency=afterok:101" in run
    assert run.endswith("requeue.sbatch groundswell run case.toml --output results --resume=auto")
    assert "--dependency=afterok:102" in report and "groundswell report 'results'" in report


def test_a_chain_that_cannot_be_submitted_stops(cluster: Cluster) -> None:
    cluster.install("sbatch", RECORD + "exit 1")
    assert cluster.run("chain.sh", "case.toml", "results")[0] == 1
    assert len(cluster.calls) == 1


def test_a_container_passes_on_arguments_signals_and_the_cache(cluster: Cluster) -> None:
    cache = str(cluster.folder / "cache")
    words = ("apptainer.sh", "run", "case.toml", "--resume=auto")
    assert cluster.run(*words, CODE="2", GROUNDSWELL_CACHE=cache)[0] == 2
    outside, inside = cluster.calls
    assert inside == "groundswell run case.toml --resume=auto"
    assert f"--bind {cluster.folder},{cache} --env GROUNDSWELL_CACHE={cache}" in outside
    cluster.install("groundswell", STAND_INS["patient"])
    assert cluster.interrupt("requeue.sbatch", *("bash", *words), HOME=str(cluster.folder)) == 130


@pytest.mark.parametrize("name", ["groundswell.def", "Containerfile"])
def test_recipes_of_containers_install_a_wheel_and_known_extras(name: str) -> None:
    recipe = (SCRIPTS / name).read_text()
    assert recipe.count("dist/groundswell-*.whl /opt/") == 1
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = re.search(r"/opt/groundswell-\*.whl\)\[(.*)\]\"", recipe)
    assert extras and set(extras[1].split(",")) <= set(project["optional-dependencies"])


@pytest.mark.parametrize("script", sorted(SCRIPTS.iterdir()), ids=lambda path: path.name)
def test_the_page_leads_to_each_script_and_has_its_command(script: Path) -> None:
    page, text = (ROOT / "docs" / "clusters.md").read_text(), script.read_text()
    assert f"](../examples/clusters/{script.name})" in page
    if script.suffix != ".txt":
        command = re.search(r"^#     (.+)$", text, re.MULTILINE)
        assert command and f"\n{command[1]} " in page
    if script.suffix in (".sh", ".sbatch"):
        subprocess.run(["bash", "-n", str(script)], check=True)
