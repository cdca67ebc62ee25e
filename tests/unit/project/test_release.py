"""A release: what its files contain, and that its version is everywhere the same."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest

from groundswell.version import __version__

ROOT = Path(__file__).parents[3]
MOST_BYTES = 4e6  # of a wheel, which has 2.9e6
PARTS = {"backends", "cli", "examples", "exchange", "seismology", "solvers", "simulation"}


def tracked(folder: str) -> set[str]:
    """The files of a folder that belong to the repository, or all where there is none."""
    listed = subprocess.run(
        ["git", "ls-files", folder], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return set(listed.stdout.splitlines())


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    builder = pytest.importorskip("hatchling.builders.wheel").WheelBuilder(str(ROOT))
    return Path(next(builder.build(directory=str(tmp_path_factory.mktemp("wheel")))))


@pytest.fixture(scope="module")
def contents(wheel: Path) -> set[str]:
    return set(zipfile.ZipFile(wheel).namelist())


def test_a_wheel_has_the_package_and_nothing_else(wheel: Path, contents: set[str]) -> None:
    tops = {name.split("/")[0] for name in contents}
    assert tops == {"groundswell", f"groundswell-{__version__}.dist-info"}
    parts = {name.split("/")[1] for name in contents}
    assert parts >= PARTS and not parts & {"benchmarks", "groundswell_rivals", "tests", "docs"}
    assert wheel.stat().st_size < MOST_BYTES


def test_a_wheel_has_every_file_of_the_package(contents: set[str]) -> None:
    """Kernels, templates and reference data, too; and no file that git ignores."""
    files = tracked("src/groundswell")
    if not files:
        pytest.skip("this is no clone")
    installed = {name for name in contents if name.startswith("groundswell/")}
    others = {name for name in installed if not name.startswith("groundswell/examples/")}
    assert {f"src/{name}" for name in others} == files
    examples = {name for name in tracked("examples") if not name.startswith("examples/gallery")}
    assert {f"groundswell/{name}" for name in examples} == installed - others


def test_the_metadata_of_a_wheel(wheel: Path) -> None:
    name = f"groundswell-{__version__}.dist-info/METADATA"
    metadata = Parser().parsestr(zipfile.ZipFile(wheel).read(name).decode())
    assert metadata["Version"] == __version__ and metadata["License-Expression"] == "BSD-3-Clause"
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert set(metadata.get_all("Provides-Extra")) == set(project["optional-dependencies"])


def test_a_source_distribution_has_what_developers_need() -> None:
    """The files that would be in it; compressing them takes seconds."""
    builder = pytest.importorskip("hatchling.builders.sdist").SdistBuilder(str(ROOT))
    names = {file.distribution_path for file in builder.recurse_included_files()}
    folders = {name.split("/")[0] for name in names if "/" in name}
    assert folders >= {"src", "tests", "docs", "examples", "benchmarks", "scripts", "changes"}
    assert {"README.md", "LICENSE", "CHANGELOG.md", "CITATION.cff", "SECURITY.md"} <= names
    assert not [name for name in names if "__pycache__" in name or ".venv" in name]


@pytest.mark.parametrize(
    ("file", "pattern"),
    [
        ("CITATION.cff", r"^version: (.*)$"),
        ("README.md", r"Version ([\d.]+\d)"),
        ("CHANGELOG.md", r"^## ([\d.]+) \("),
    ],
)
def test_the_version_is_everywhere_the_same(file: str, pattern: str) -> None:
    found = re.findall(pattern, (ROOT / file).read_text(), re.MULTILINE)
    assert found[:1] == [__version__]


def test_the_paper_is_short_and_its_citations_exist() -> None:
    paper, known = ((ROOT / "paper" / f"paper.{suffix}").read_text() for suffix in ("md", "bib"))
    text = paper.split("---\n", 2)[2]
    assert 250 < len(text.split()) <= 1000
    keys = re.findall(r"^@\w+\{(\w+),", known, re.MULTILINE)
    assert set(re.findall(r"@(\w+)", text)) == set(keys) and len(keys) == len(set(keys))


# --- entries of the next changelog ----------------------------------------------------------------

CONFIGURED = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["towncrier"]
KINDS = {kind["directory"] for kind in CONFIGURED["type"]}


def test_entries_of_the_changelog_have_a_kind() -> None:
    files = {path.name for path in (ROOT / "changes").iterdir()} - {"README.md"}
    pattern = rf"\+[\w-]+\.({'|'.join(KINDS)})\.md"
    assert not [name for name in files if not re.fullmatch(pattern, name)]
    page = (ROOT / "changes" / "README.md").read_text()
    assert set(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)) == KINDS


def test_a_release_collects_them(tmp_path: Path) -> None:
    """Above older versions, with one heading for each kind."""
    pytest.importorskip("towncrier")
    (tmp_path / "changes").mkdir()
    (tmp_path / "changes" / "+sea_floor.added.md").write_text("`dgwave`: receivers on the floor.\n")
    for name in ("pyproject.toml", "CHANGELOG.md"):
        (tmp_path / name).write_text((ROOT / name).read_text())
    command = [sys.executable, "-m", "towncrier", "build", "--yes", "--version", "9.8.7"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "CHANGELOG.md").read_text()
    new, older = text.index("## 9.8.7 ("), text.index(f"## {__version__} (")
    assert 0 < new < text.index("### Added\n\n- `dgwave`: receivers on the floor.") < older
    assert not [*(tmp_path / "changes").iterdir()]
