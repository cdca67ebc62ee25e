"""Who may import whom, what an import costs, how long files are: rules that machines keep."""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import subprocess
import sys
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
SOURCES = ROOT / "src" / "groundswell"
HEAVY = ("numpy", "scipy", "h5py", "xarray", "pydantic", "pint", "pyproj", "matplotlib", "obspy")
MOST_LINES, MOST_PARAMETERS = 350, 6


def run_python(code: str, source: Path = SOURCES.parent) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(source)}
    command = [sys.executable, "-c", code]
    return subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )


# --- imports between packages ---------------------------------------------------------------------

LINT = "from importlinter.cli import lint_imports; raise SystemExit(lint_imports(no_cache=True))"


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of the package that a test may break."""
    pytest.importorskip("importlinter")
    return shutil.copytree(SOURCES, tmp_path / "groundswell", ignore=shutil.ignore_patterns("*.gz"))


def test_contracts_are_kept() -> None:
    pytest.importorskip("importlinter")
    done = run_python(LINT)
    assert done.returncode == 0, done.stdout + done.stderr


# The file, the line that nobody may write there, and the import that is reported.
FORBIDDEN = [
    ("grids/cartesian.py", "from groundswell.simulation import time_loop", "simulation.time_loop"),
    (
        "backends/cpu.py",
        "from groundswell.solvers.earthquake import solver",
        "solvers.earthquake.solver",
    ),
    ("formats/text.py", "from groundswell.plotting import style", "plotting.style"),
    (
        "outputs/ring_buffer.py",
        "from groundswell.solvers.earthquake import setup",
        "solvers.earthquake.setup",
    ),
    ("solvers/other.py", "from groundswell.solvers.earthquake import setup", "earthquake.setup"),
    ("simulation/time_loop.py", "import cupy", "cupy"),
    ("simulation/time_loop.py", "import pynvml", "pynvml"),
    ("solvers/earthquake/solver.py", "from cuda.bindings import nvrtc", "cuda"),
    ("backends/cuda.py", "from mpi4py import MPI", "mpi4py"),
    (
        "exchange/transports/mpi.py",
        "from groundswell.exchange.ghost_field import Field",
        "exchange.ghost_field",
    ),
]


@pytest.fixture(scope="module")
def broken(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What is said of a package with all these lines."""
    pytest.importorskip("importlinter")
    package = tmp_path_factory.mktemp("broken") / "groundswell"
    shutil.copytree(SOURCES, package, ignore=shutil.ignore_patterns("*.gz"))
    for n, (file, line, _) in enumerate(FORBIDDEN):
        with (package / file).open("a") as source:
            source.write(f"\n\ndef _late_{n}() -> None:\n    {line}\n")
    done = run_python(LINT, package.parent)
    assert done.returncode == 1, done.stdout + done.stderr
    return " ".join(done.stdout.split())


@pytest.mark.parametrize(("file", "line", "imported"), FORBIDDEN)
def test_a_broken_contract_is_noticed(broken: str, file: str, line: str, imported: str) -> None:
    importer = file.removesuffix(".py").replace("/", ".")
    assert re.search(rf"groundswell\.{importer} -> (groundswell\.)?(\w+\.)*{imported} \(l", broken)


def test_a_package_in_no_layer_is_noticed(copy: Path) -> None:
    (copy / "newcomer").mkdir()
    (copy / "newcomer" / "__init__.py").touch()
    done = run_python(LINT, copy.parent)
    assert done.returncode != 0 and "newcomer" in done.stdout, done.stdout + done.stderr


def import_graph(source: Path) -> dict[str, set[str]]:
    """The modules that each module of a package imports, also for types alone."""
    code = """if True:
        import grimp, json
        g = grimp.build_graph("groundswell", cache_dir=None)
        imported = g.find_modules_directly_imported_by
        print(json.dumps({module: sorted(imported(module)) for module in g.modules}))
    """
    done = run_python(code, source)
    assert done.returncode == 0, done.stderr
    return {module: set(found) for module, found in json.loads(done.stdout).items()}


def test_no_modules_import_each_other_in_a_circle() -> None:
    pytest.importorskip("grimp")
    graph = import_graph(SOURCES.parent)
    assert len(graph) > 200
    TopologicalSorter(graph).prepare()  # raises CycleError, which names the modules


def test_a_circle_is_noticed(copy: Path) -> None:
    path = copy / "formats" / "text.py"
    path.write_text(
        f"{path.read_text()}\n\ndef _late() -> None:\n    import groundswell.formats.netcdf\n"
    )
    other = copy / "formats" / "netcdf.py"
    other.write_text(
        f"{other.read_text()}\n\ndef _late() -> None:\n    import groundswell.formats.text\n"
    )
    with pytest.raises(CycleError, match=r"formats\.(text|netcdf)"):
        TopologicalSorter(import_graph(copy.parent)).prepare()


def test_the_package_does_not_need_rivals() -> None:
    """They are not installed; one module looks for them."""
    named = {p.name for p in SOURCES.rglob("*.py") if "groundswell_rivals" in p.read_text()}
    assert named == {"rivals.py"}


# --- the cost of an import ------------------------------------------------------------------------


@pytest.mark.parametrize("module", ["groundswell", "groundswell.errors", "groundswell.registry"])
def test_importing_the_package_loads_no_library(module: str) -> None:
    done = run_python(f"import {module}, sys, json; print(json.dumps(list(sys.modules)))")
    assert done.returncode == 0, done.stderr
    assert not set(json.loads(done.stdout)) & set(HEAVY)


# --- size -----------------------------------------------------------------------------------------


ARRAY_TYPE = re.compile(
    r"^\w+ = NDArray\[(Any|np\.(float64|floating|int64|intp|bool_|complex128))\b"
)


def test_array_types_have_one_name() -> None:
    files = [*SOURCES.rglob("*.py"), *(ROOT / "tests").rglob("*.py")]
    paths = (path for path in files if path.name != "arrays.py")
    lines = ((path, line) for path in paths for line in path.read_text().splitlines())
    assert not [(path, line) for path, line in lines if ARRAY_TYPE.match(line)]


@pytest.mark.parametrize("folder", ["src/groundswell", "benchmarks", "tests"])
def test_files_can_be_read_in_one_sitting(folder: str) -> None:
    suffixes = {".py", ".h", ".cuh", ".cu"}
    files = [p for p in (ROOT / folder).rglob("*") if p.suffix in suffixes]
    assert len(files) > 20
    lengths = {str(p.relative_to(ROOT)): len(p.read_text().splitlines()) for p in files}
    assert not {name: n for name, n in lengths.items() if n > MOST_LINES}


def parameters(function: ast.FunctionDef) -> list[str]:
    """Those that callers give."""
    named = function.args.posonlyargs + function.args.args + function.args.kwonlyargs
    return [argument.arg for argument in named if argument.arg not in ("self", "cls")]


def functions(path: Path) -> list[tuple[str, int]]:
    """Names and numbers of parameters. Keeping all syntax trees would take half a million nodes."""
    nodes = ast.walk(ast.parse(path.read_text()))
    return [(n.name, len(parameters(n))) for n in nodes if isinstance(n, ast.FunctionDef)]


def test_functions_have_few_parameters() -> None:
    """The options of a command are its parameters, and are as many as it needs."""
    commands = [*(SOURCES / "cli").glob("*.py"), *SOURCES.glob("solvers/*/commands/*.py")]
    paths = (path for path in SOURCES.rglob("*.py") if path not in commands)
    found = [(path, *function) for path in paths for function in functions(path)]
    assert len(found) > 3000
    assert not [each for each in found if each[-1] > MOST_PARAMETERS]
