"""Who has started this process, and as one of how many: launchers with and without MPI."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from types import SimpleNamespace

import pytest
from ranks import environment

from groundswell.errors import BackendError
from groundswell.exchange import mpi_communicator as module
from groundswell.exchange.communicator import SerialCommunicator
from groundswell.processes import (
    LAUNCHER_VARIABLES,
    RANK_VARIABLES,
    SIZE_VARIABLES,
    exclude_libfabric,
    started_ranks,
)


@pytest.fixture
def launched(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """A process without a communicator yet, which no launcher has started."""
    for name in (*SIZE_VARIABLES, *LAUNCHER_VARIABLES, "RANK", "WORLD_SIZE", "SLURM_PROCID"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.delitem(sys.modules, "mpi4py.MPI", raising=False)
    module.get_communicator.cache_clear()
    yield monkeypatch
    module.get_communicator.cache_clear()


def test_a_single_process_needs_no_mpi(launched: pytest.MonkeyPatch) -> None:
    launched.setitem(sys.modules, "mpi4py", None)  # importing it fails
    assert (
        isinstance(module.get_communicator(), SerialCommunicator)
        and module.get_communicator() is module.get_communicator()
    )


@pytest.mark.parametrize("name", SIZE_VARIABLES)
def test_several_processes_need_mpi(launched: pytest.MonkeyPatch, name: str) -> None:
    launched.setitem(sys.modules, "mpi4py", None)
    launched.setenv(name, "4")
    with pytest.raises(BackendError, match=r"4 processes were started.*'\.\[mpi\]'"):
        module.get_communicator()


@pytest.mark.parametrize("name", LAUNCHER_VARIABLES)
def test_a_launcher_that_sets_no_number_of_ranks_needs_mpi(
    launched: pytest.MonkeyPatch, name: str
) -> None:
    launched.setitem(sys.modules, "mpi4py", None)
    launched.setenv(name, "0")
    assert started_ranks() == 0
    with pytest.raises(BackendError, match=rf"several processes were started \({name}\)"):
        module.get_communicator()


@pytest.mark.parametrize(
    ("local", "given", "used"),
    [("4", None, "^ofi"), ("2", None, None), (None, None, None), ("4", "tcp", "tcp")],
)
def test_open_mpi_starts_without_a_network_on_one_machine(
    launched: pytest.MonkeyPatch, local: str | None, given: str | None, used: str | None
) -> None:
    values = {"OMPI_COMM_WORLD_SIZE": "4", "OMPI_COMM_WORLD_LOCAL_SIZE": local}
    for name, value in {**values, "OMPI_MCA_btl": given}.items():
        if value is None:
            launched.delenv(name, raising=False)
        else:
            launched.setenv(name, value)
    exclude_libfabric()
    assert dict(os.environ).get("OMPI_MCA_btl") == used


class FakeMpi:
    """mpi4py with an initialised library."""

    def __init__(self, size: int) -> None:
        self.MPI = self
        self.COMM_WORLD = SimpleNamespace(size=size)

    def Is_initialized(self) -> bool:
        return True

    def Is_finalized(self) -> bool:
        return False

    def Get_library_version(self) -> str:
        return "Some MPI 4.2, built today"


def with_mpi(launched: pytest.MonkeyPatch, size: int) -> None:
    for name in ("mpi4py", "mpi4py.MPI"):
        launched.setitem(sys.modules, name, FakeMpi(size))


def test_initialised_mpi_gives_the_number_of_ranks(launched: pytest.MonkeyPatch) -> None:
    """With any launcher; a program may have initialised MPI itself."""
    with_mpi(launched, 3)
    launched.setattr(module, "MpiCommunicator", lambda comm: comm.size)
    assert started_ranks() == module.get_communicator() == 3  # type: ignore[comparison-overlap]


def test_one_process_may_initialise_mpi(launched: pytest.MonkeyPatch) -> None:
    with_mpi(launched, 1)
    launched.setenv("PMIX_RANK", "0")
    assert isinstance(module.get_communicator(), SerialCommunicator)


def test_processes_of_another_mpi_are_refused(launched: pytest.MonkeyPatch) -> None:
    """Each would otherwise run the whole case as the only rank."""
    with_mpi(launched, 1)
    launched.setenv("PMI_SIZE", "4")
    with pytest.raises(BackendError, match=r"4 processes.*Some MPI 4.2\).*unset PMI_SIZE"):
        module.get_communicator()


@pytest.mark.parametrize("name", [*RANK_VARIABLES, "SLURM_PROCID"])
def test_a_rank_above_0_is_never_alone(launched: pytest.MonkeyPatch, name: str) -> None:
    """Of a launcher that sets no number of ranks, and that MPI does not know."""
    with_mpi(launched, 1)
    launched.setenv(name, "2")
    with pytest.raises(BackendError, match=f"at least 3 processes.*no-binary.*unset {name}"):
        module.get_communicator()


@pytest.mark.parametrize(
    "variables, alone",
    [
        ({"RANK": "0", "WORLD_SIZE": "2"}, False),  # torchrun
        ({"WORLD_SIZE": "2"}, True),
        ({"RANK": "0", "WORLD_SIZE": "1"}, True),
        ({"SLURM_PROCID": "0", "SLURM_NTASKS": "4"}, True),  # a script of a job, without srun
    ],
)
def test_scripts_of_jobs_are_alone_but_torchrun_is_not(
    launched: pytest.MonkeyPatch, variables: dict[str, str], alone: bool
) -> None:
    for name, value in variables.items():
        launched.setenv(name, value)
    assert (started_ranks() == 1) == alone


def test_a_mismatched_world_is_refused_when_it_is_given() -> None:
    """As the communicator of a domain, like the default one; the process itself may be alone.

    In a process of its own, because it starts MPI.
    """
    pytest.importorskip("mpi4py")
    program = (
        "from mpi4py.MPI import COMM_SELF, COMM_WORLD\n"
        "from groundswell.exchange.mpi_communicator import ranks_of\n"
        "print(ranks_of(COMM_SELF).size)\n"
        "ranks_of(COMM_WORLD)"
    )
    command = [sys.executable, "-c", program]
    variables = environment(PALS_RANKID="1")
    done = subprocess.run(command, env=variables, capture_output=True, text=True)
    assert done.returncode == 1 and done.stdout == "1\n", done.stderr
    assert "BackendError: at least 2 processes were started" in done.stderr


@pytest.mark.parametrize("variables", [{"PALS_RANKID": "1"}, {"RANK": "1", "WORLD_SIZE": "2"}])
def test_the_command_line_refuses_unknown_launchers(variables: dict[str, str]) -> None:
    pytest.importorskip("mpi4py")
    command = [sys.executable, "-m", "groundswell", "info"]
    done = subprocess.run(command, env=environment(**variables), capture_output=True, text=True)
    assert done.returncode == 2 and done.stderr.count("at least 2 processes") == 1, done.stderr
