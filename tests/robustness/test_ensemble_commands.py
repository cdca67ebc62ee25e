"""The commands of `groundswell ensemble`, and tasks that a stand-in for srun has started."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import stat
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from ensemble_plans import COMMAND, contents, finish, groups, start, wait_for, write_plan
from here_executor import HereExecutor

from groundswell import ensembles
from groundswell.cli import main
from groundswell.ensembles import commands
from groundswell.ensembles.store import Store

pytestmark = pytest.mark.timeout(240)
RUNS = 4

# What srun does as far as workers are concerned: it starts tasks with their numbers, and passes
# signals on.
SRUN = """#!{python}
import os, signal, subprocess, sys
count, command = int(sys.argv[1]), sys.argv[2:]
tasks = [
    subprocess.Popen(
        [word.replace("%t", str(n)) for word in command],
        env=os.environ | {{"SLURM_PROCID": str(n), "SLURM_STEP_NUM_TASKS": str(count)}},
    )
    for n in range(count)
]
for number in (signal.SIGTERM, signal.SIGUSR1):
    signal.signal(number, lambda number, _: [task.send_signal(number) for task in tasks])
sys.exit(max(task.wait() for task in tasks))
"""

Captured = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def made_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands of this process make their runs in it."""
    monkeypatch.setattr(commands, "_local", lambda *_: nullcontext(HereExecutor))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A plan and its complete store."""
    folder = tmp_path_factory.mktemp("ensemble")
    ensembles.run(write_plan(folder, RUNS), executor=HereExecutor)
    return folder


def test_run_status_and_export(tmp_path: Path, folder: Path, capsys: Captured) -> None:
    plan, store = write_plan(tmp_path, RUNS), tmp_path / "plan.zarr"
    assert main(["ensemble", "run", str(plan), "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    counts = {"complete": RUNS, "failed": 0, "missing": 0}
    assert found == {"store": str(store), "runs": RUNS, **counts, "failures": {}}
    assert contents(store) == contents(folder / "plan.zarr")
    assert main(["ensemble", "status", str(store), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == found
    assert main(["ensemble", "export", str(store)]) == 0
    assert capsys.readouterr().out == f"wrote {tmp_path / 'plan.csv'}\n"
    assert len((tmp_path / "plan.csv").read_text().splitlines()) == RUNS + 1
    assert main(["ensemble", "run", str(plan)]) == 2
    assert "exists already; continue it with --resume" in capsys.readouterr().err
    assert main(["ensemble", "run", str(plan), "--resume", "-q"]) == 0
    assert capsys.readouterr() == ("", "")


def test_the_status_of_a_plan_knows_missing_runs(
    tmp_path: Path, folder: Path, capsys: Captured
) -> None:
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    shutil.rmtree(tmp_path / "plan.zarr" / "run-0003")
    assert main(["ensemble", "status", str(tmp_path / "plan.toml")]) == 0
    assert capsys.readouterr().out.endswith("plan.zarr: 4 runs, 3 complete, 1 missing\n")


def test_values_of_the_base_case_can_be_replaced(tmp_path: Path, capsys: Captured) -> None:
    """They are part of the stored case."""
    plan, options = write_plan(tmp_path, 1), ["-q", "--set", "source.0.magnitude=2.5"]
    assert main(["ensemble", "run", str(plan), *options]) == 0
    case = Store(tmp_path / "plan.zarr").attributes("run-0001")["case"]  # type: ignore[index]
    assert case["source"][0]["magnitude"] == 2.5 and case["source"][0]["depth"] == 400.0
    assert main(["ensemble", "run", str(plan), "--resume", *options]) == 0
    assert main(["ensemble", "run", str(plan), "--resume"]) == 2
    assert "source.0.magnitude was 2.5 and is 3" in capsys.readouterr().err
    assert main(["ensemble", "run", str(plan), "--resume", "--set", "source.7.x=1"]) == 2
    assert "source.7" in capsys.readouterr().err
    assert main(["ensemble", "run", str(plan), "--set", "source.0.depth=300"]) == 2
    assert "source.0.depth: is set by every row of the plan" in capsys.readouterr().err


def test_progress_counts_the_runs_of_the_plan(
    tmp_path: Path, folder: Path, capsys: Captured
) -> None:
    """Those that the store has already are included."""
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    for name in ("run-0002", "run-0003"):
        shutil.rmtree(tmp_path / "plan.zarr" / name)
    assert main(["ensemble", "run", str(tmp_path / "plan.toml"), "--resume"]) == 0
    first, second = (line for line in capsys.readouterr().err.splitlines() if "complete" in line)
    assert re.fullmatch(r"run-0002 complete in .* s \(3 of 4, .*s left\)", first)
    assert second.endswith(" s (4 of 4)")


def test_a_case_is_no_plan(tmp_path: Path, capsys: Captured) -> None:
    write_plan(tmp_path, 1)
    assert main(["ensemble", "run", str(tmp_path / "case.toml")]) == 2
    assert 'case.toml is a case, not a plan; write a plan with case = "case.toml"' in (
        capsys.readouterr().err
    )


def test_wrong_rows_end_with_2_before_anything_runs(tmp_path: Path, capsys: Captured) -> None:
    plan = write_plan(tmp_path, 0, columns={"source.0.depth": ["400 m", "4 kg"]})
    assert main(["ensemble", "run", str(plan)]) == 2
    error = capsys.readouterr().err
    assert error.startswith("groundswell: plan.toml has rows that cannot run:\n  run-0002:\n")
    assert {path.name for path in tmp_path.iterdir()} == {"case.toml", "plan.toml"}


def test_the_script_of_a_job_array(tmp_path: Path, capsys: Captured) -> None:
    """A shell accepts it; there are no more tasks than runs."""
    plan = write_plan(tmp_path, RUNS)
    assert main(["ensemble", "script", str(plan), "--tasks", "16"]) == 0
    script = capsys.readouterr().out
    assert "--array=0-3" in script and f"work {plan} --worker" in script
    subprocess.run(["bash", "-n"], input=script, text=True, check=True)


@pytest.fixture
def srun(tmp_path: Path) -> Path:
    path = tmp_path / "srun"
    path.write_text(SRUN.format(python=sys.executable))
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def start_tasks(srun: Path, plan: Path, tasks: int) -> subprocess.Popen[str]:
    """Start workers as tasks."""
    work = [sys.executable, COMMAND, "ensemble", "work", plan, "--worker", "%t"]
    words = [srun, tasks, *work, "--workers", tasks, "--processes", 1]
    return subprocess.Popen(
        [*map(str, words)],
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_tasks_share_a_plan(tmp_path: Path, folder: Path, srun: Path) -> None:
    """They stop at their time limit, and another task continues to the same bits."""
    plan, store = write_plan(tmp_path, RUNS), tmp_path / "plan.zarr"
    process = start_tasks(srun, plan, 2)
    wait_for(lambda: groups(store), process)
    process.send_signal(signal.SIGTERM)
    code, _, err = finish(process)
    assert code == 130 or groups(store) == groups(folder / "plan.zarr"), err
    code, _, err = finish(start_tasks(srun, plan, 1))
    assert code == 0, err
    assert contents(store) == contents(folder / "plan.zarr")


@pytest.mark.full
def test_a_command_of_its_own_processes(tmp_path: Path, folder: Path) -> None:
    plan = write_plan(tmp_path, RUNS)
    code, out, err = finish(start("run", plan, "--workers", "2", "--json"))
    assert code == 0 and json.loads(out)["complete"] == RUNS and err == ""
    assert contents(tmp_path / "plan.zarr") == contents(folder / "plan.zarr")
