"""`groundswell example` lists the examples and copies one of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from groundswell.cli import examples, main
from groundswell.errors import InputError

EXAMPLES = Path(__file__).parents[3] / "examples"
DATA = ["case.toml", "case_fine.toml", "model.csv", "stations.csv"]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_list_has_every_folder_with_a_case(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["example"]) == 0
    lines = capsys.readouterr().out.splitlines()
    folders = {path.parent.name for path in EXAMPLES.glob("*/*.toml")} - {"plugin_solver"}
    assert folders <= set(lines) and "gallery" not in lines
    assert "  case.toml            La Habra, California, up to 0.8 Hz" in lines


def test_a_copy_has_the_case_and_its_data_and_passes_check(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["example", "la_habra"]) == 0
    assert capsys.readouterr().out.endswith("next: groundswell run la_habra/case.toml\n")
    source, copy = EXAMPLES / "la_habra", here / "la_habra"
    for name in [*DATA, "README.md"]:
        assert (copy / name).read_bytes() == (source / name).read_bytes()
    assert main(["check", "la_habra/case.toml", "--json"]) == 0


def test_results_that_lie_in_a_clone_are_left_out(
    here: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """This is also how a release finds its own copy of the examples."""
    release = tmp_path_factory.mktemp("release")
    (release / "tides" / "results_fine").mkdir(parents=True)
    (release / "tides" / "case.toml").write_text('title = "Tides"')
    monkeypatch.setattr(examples, "_INSTALLED", release)
    assert main(["example", "tides", "mine"]) == 0
    assert [path.name for path in (here / "mine").iterdir()] == ["case.toml"]


def test_an_example_without_a_case_names_no_next_step(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["example", "clusters", "a/b"]) == 0
    assert capsys.readouterr().out == "wrote a/b/\n"


@pytest.mark.parametrize("name", ["la_habr", "plugin_solver", "", "..", "README.md"])
def test_an_unknown_name_is_an_error(here: Path, name: str) -> None:
    with pytest.raises(InputError, match=r"no example is called .*`groundswell example` lists"):
        examples.copy(name, here / "mine")
    assert not [*here.iterdir()]


def test_no_folder_is_overwritten(here: Path) -> None:
    (here / "loh1").mkdir()
    with pytest.raises(InputError, match="loh1 exists already; give another folder"):
        examples.copy("loh1", here / "loh1")
    assert not [*(here / "loh1").iterdir()]
