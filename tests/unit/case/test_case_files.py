"""Case files: what cannot be read or is no TOML is refused, with the line; solvers by name."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from groundswell import registry
from groundswell.case import as_case, load_case, read_case
from groundswell.errors import CaseError, InputError
from groundswell.solvers.earthquake import case as schema

TEMPLATE = Path(schema.__file__).with_name("template.toml")


def write(folder: Path, text: str | bytes) -> Path:
    path = folder / "case.toml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.mark.parametrize(
    ("text", "key", "allowed"),
    [
        ('solver = "earthquake"\nsize = = 3\n', "line 2, column 8", "is not TOML: Invalid value"),
        ("a = [1,\n", "end of document", "is not TOML"),
        ("a = 1\na = 2\n", "line 2", "is not TOML: Cannot overwrite a value"),
        (b"a = 1\nb = '\xff'\n", "line 2", "is not UTF-8"),
        ("a = " + "[" * 10_000, "case", "nested too deep"),
        ("a = " + "1" * 10_000, "case", "is not TOML"),
        ("", "solver", "is required; use "),
        ("solver = 5", "solver", 'no solver is called "5"; use '),
        ("solver = [[]]", "solver", 'no solver is called "[[]]"; use '),
        ('solver = "earthqake"', "solver", 'did you mean "earthquake"?'),
    ],
)
def test_texts_that_are_no_case(tmp_path: Path, text: Any, key: str, allowed: str) -> None:
    with pytest.raises(CaseError, match=r"^case.toml cannot be used:") as caught:
        load_case(write(tmp_path, text))
    (problem,) = caught.value.problems
    assert problem.key.startswith(key) and allowed in problem.allowed


def test_a_byte_order_mark_is_no_trouble(tmp_path: Path) -> None:
    text = TEMPLATE.read_bytes()
    assert load_case(write(tmp_path, b"\xef\xbb\xbf" + text)).digest() == read_case(text).digest()


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    for path, reason in (
        (tmp_path / "none.toml", "no such file"),
        (tmp_path, "is a folder"),
        (Path("/dev/null"), "is not a file"),
        (Path("a\0b"), "cannot be read|no such file"),
        (tmp_path / ("x" * 5000), "cannot be read"),
    ):
        with pytest.raises(InputError, match=reason):
            load_case(path)
    large = tmp_path / "mesh.toml"
    with large.open("wb") as file:
        file.truncate(17 * 2**20)
    with pytest.raises(InputError, match="larger than 16 MiB"):
        load_case(large)
    data = tmp_path / "mesh.bin"
    data.touch()
    with pytest.raises(InputError, match=r'no installed solver reads ".bin" files; .*\(\.toml\)'):
        load_case(data)


def test_other_input_files_are_what_their_solver_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read(path: Path) -> schema.EarthquakeCase:
        return schema.EarthquakeCase.from_dict(tomllib.loads(TEMPLATE.read_text()), path.parent)

    monkeypatch.setattr(schema, "read_other", read, raising=False)
    reading = replace(registry.find("earthquake"), readers={".quake": ".case:read_other"})
    monkeypatch.setattr(registry, "solvers", lambda: [reading])
    path = tmp_path / "la_habra.QUAKE"
    path.touch()
    case = load_case(path)
    assert case.digest() == load_case(TEMPLATE).digest() and case.source_path == tmp_path
    with pytest.raises(InputError, match=r'reads ".h5" files; .* or one of \.quake'):
        (tmp_path / "a.h5").touch()
        load_case(tmp_path / "a.h5")
    with pytest.raises(InputError, match="no such file"):
        load_case(tmp_path / "absent.quake")


@pytest.mark.parametrize("name", registry.names())
def test_the_tables_of_a_case_are_the_case(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = write(tmp_path, registry.find(name).read_template())
    tables = tomllib.loads(path.read_text())
    settings = {"title": "other", "run.precision": "double"}
    before = deepcopy(tables)
    case = as_case(tables, settings)
    assert case.digest() == load_case(path, settings).digest()
    assert case.settings == {"title": '"other"', "run.precision": '"double"'}
    assert tables == before


def test_what_is_no_case_is_refused() -> None:
    with pytest.raises(CaseError, match=r"solver.*is required"):
        as_case({"title": "without a solver"})
    with pytest.raises(InputError, match=r"a path, a dictionary or a groundswell.Case, not int"):
        as_case(5)  # type: ignore[arg-type]


def test_values_of_run_can_be_replaced() -> None:
    case = load_case(TEMPLATE)
    changed = as_case(TEMPLATE, backend="cuda", precision=None)
    assert changed.run == case.run.model_copy(update={"backend": "cuda"})
    assert as_case(case) is case and changed.source_path == case.source_path
    narrow = case.with_run(narrow="bfloat16")
    with pytest.raises(CaseError, match=r"^\[run\] cannot be used:\n  narrow = \"bfloat16\": must"):
        narrow.with_run(precision="double")


def test_solvers_are_found_by_name() -> None:
    assert registry.find("earthquake").load("case") is schema.EarthquakeCase
    with pytest.raises(
        InputError, match=r'"earthquak".*use .*earthquake.*did you mean "earthquake"'
    ):
        registry.find("earthquak")


def test_importing_the_reader_loads_nothing_heavy() -> None:
    code = "import sys, groundswell.case; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert not {"pint", "numpy", "pyproj", "groundswell.solvers.earthquake.case"} & set(loaded)
