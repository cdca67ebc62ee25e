"""`groundswell new plugin NAME` writes a package, which is the example under another name."""

from __future__ import annotations

from pathlib import Path

import plugin
import pytest

from groundswell.cli import main, plugin_package
from groundswell.errors import InputError
from groundswell.version import __version__

pytestmark = pytest.mark.each_value


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def contents(folder: Path) -> dict[str, str]:
    files = (
        path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in str(path)
    )
    return {str(path.relative_to(folder)): path.read_text() for path in files}


def renamed(text: str) -> str:
    text = text.replace("groundswell-acoustics", "groundswell-deep-water")
    return text.replace("acoustics", "deep_water").replace("Acoustics", "DeepWater")


def test_the_package_is_the_example_under_another_name(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["new", "plugin", "deep_water"]) == 0
    assert "pip install -e ./groundswell-deep-water" in capsys.readouterr().out
    expected = {renamed(name): renamed(text) for name, text in contents(plugin.PACKAGE).items()}
    written = contents(here / "groundswell-deep-water")
    assert written == expected and "groundswell_deep_water/kernels/wave.h" in written
    assert all(name in written["pyproject.toml"] for name in ("deep_water =", "-deep-water"))


@pytest.mark.parametrize("name", ["Tides", "2d", "shallow-water", "class", "", "plugin", "../x"])
def test_a_name_that_no_package_can_have_is_an_error(here: Path, name: str) -> None:
    with pytest.raises(InputError, match="use lower-case letters, digits and _"):
        plugin_package.write_package(name)
    assert not [*here.iterdir()]


def test_a_solver_or_a_folder_of_that_name_is_an_error(here: Path) -> None:
    with pytest.raises(InputError, match='a solver is called "cavity" already'):
        plugin_package.write_package("cavity")
    (here / "groundswell-tides").mkdir()
    with pytest.raises(InputError, match="groundswell-tides exists already"):
        plugin_package.write_package("tides")


def test_the_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"groundswell {__version__}\n"


def test_a_shell_completes_names_of_solvers(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {
        "_GROUNDSWELL_COMPLETE": "complete_bash",
        "COMP_WORDS": "groundswell new p",
        "COMP_CWORD": "2",
    }.items():
        monkeypatch.setenv(name, value)
    main([])
    assert capsys.readouterr().out.split() == ["poisson", "plugin"]
