"""Each solver names a group for each kernel that a step launches."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import plugin
import pytest
from small_cases import small_case
from toml_text import toml

import groundswell as gs
from groundswell import registry
from groundswell.backends import LaunchTime
from groundswell.case import read_case
from groundswell.simulation.kernel_groups import EXCHANGE, OTHER, SHARED, group_of, groups_of

ROOT = Path(gs.__file__).parent
BETWEEN_STEPS = {"tabulate_metric", "sum_rows"}  # or before the first one
TRANSFORMS = {"forward_transform", "inverse_transform"}  # calls of libraries


@pytest.fixture(scope="module", params=[*registry.names(), plugin.NAME])
def info(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[registry.SolverInfo]:
    """Each solver that is installed, and then the example of another package."""
    with plugin.available(tmp_path_factory.mktemp("metadata")):
        yield registry.find(request.param)


def kernels_in(*folders: Path) -> set[str]:
    """Names of the kernels that headers in these folders define."""
    headers = [path for folder in folders for path in folder.rglob("*.h")]
    used = [path for path in headers if "benchmarks" not in path.parts]
    return {
        name for path in used for name in re.findall(r"^KERNEL (\w+)\(", path.read_text(), re.M)
    }


def folder_of(info: registry.SolverInfo) -> Path:
    return Path(str(import_module(info.package).__file__)).parent


def test_each_kernel_of_a_solver_has_a_group(info: registry.SolverInfo) -> None:
    kernels = kernels_in(folder_of(info))
    assert kernels, "the search finds kernels"
    assert kernels - BETWEEN_STEPS - groups_of(info.name).keys() == set()


def test_each_name_with_a_group_is_that_of_a_launch(info: registry.SolverInfo) -> None:
    names = ("linear", "spectral_elements", "exchange", "seismology")
    shared = kernels_in(*(ROOT / name for name in names))
    assert groups_of(info.name).keys() <= kernels_in(folder_of(info)) | shared | TRANSFORMS


def test_no_solver_renames_what_all_share(info: registry.SolverInfo) -> None:
    assert groups_of(info.name).keys().isdisjoint(SHARED)


def test_each_launch_of_a_step_has_a_group(info: registry.SolverInfo, tmp_path: Path) -> None:
    if info.name == "ultrasound":
        text = info.read_template()
    else:
        text = "".join(f"{key} = {toml(x)}\n" for key, x in small_case(info.name).items())
    named = groups_of(info.name)
    with gs.Simulation(read_case(text, tmp_path)) as simulation:
        launches = {entry.name for entry in simulation.launches if entry.kind != "wait"}
    assert launches and launches <= named.keys() | SHARED.keys()
    updates = {name for name in launches if group_of(LaunchTime(name, "", 1.0), named) != OTHER}
    assert len(updates) > len(launches) / 2


def test_kernels_and_calls_of_the_exchange_form_one_group() -> None:
    assembly = {"assemble", "assemble_tiles"}  # also without ranks, so their users name the group
    for name in kernels_in(ROOT / "exchange", ROOT / "compression") - assembly:
        assert SHARED.get(name) == EXCHANGE, name
    for path in (ROOT / "exchange").rglob("*.py"):
        for name in re.findall(r'HostCall\(\s*"([^"]+)"', path.read_text()):
            assert SHARED.get(name) == EXCHANGE, name


def test_each_kernel_that_records_has_a_group() -> None:
    assert kernels_in(ROOT / "outputs") <= SHARED.keys()
