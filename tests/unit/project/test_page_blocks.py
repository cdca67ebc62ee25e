"""Every code block of the documentation is tested, or says why not."""

from __future__ import annotations

import pytest
import toml_blocks
from page_blocks import ROOT, UNTOUCHED, Block, all_blocks
from shell_blocks import Session, WrongCommand

BLOCKS = all_blocks()


def treated(way: str) -> list[Block]:
    return [block for block in BLOCKS if block.way == way]


def test_every_block_is_tested_or_says_why_not() -> None:
    places = [f"{block.place} {block.language}" for block in treated(UNTOUCHED)]
    assert places == [], "mark them as tests/support/page_blocks.py says"


@pytest.mark.parametrize("page", sorted({block.page for block in treated("parsed")}))
def test_the_commands_of_a_page_are_known(page: str) -> None:
    session = Session()
    for block in (b for b in treated("parsed") if b.page == page):
        session.check(block)


@pytest.mark.parametrize("block", treated("validated"), ids=lambda block: block.place)
def test_the_toml_of_a_page_is_a_part_of_a_file(block: Block) -> None:
    assert toml_blocks.problems(block) == []


@pytest.mark.parametrize("block", treated("from"), ids=lambda block: block.place)
def test_a_block_from_a_file_has_its_lines(block: Block) -> None:
    files = [ROOT / name for name in block.reason.split(", ")]
    lines = {without_comment(line) for file in files for line in file.read_text().splitlines()}
    shown = [without_comment(line) for line in block.text.splitlines()]
    assert [line for line in shown if line not in ("", "...") and line not in lines] == []


def without_comment(line: str) -> str:
    return line.partition("  #")[0].strip()


@pytest.mark.parametrize("block", treated("run in"), ids=lambda block: block.place)
def test_the_test_that_a_block_names_reads_its_page(block: Block) -> None:
    assert block.page.rpartition("/")[2] in (ROOT / block.reason).read_text()


def test_a_block_that_nothing_runs_has_a_reason() -> None:
    assert [block.place for block in treated("not run") if len(block.reason.split()) < 2] == []


# --- the checks can fail --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "command",
    [
        "groundswell rum case.toml",
        "groundswell run case.toml --resum",
        "groundswell run case.toml --backend gpu",
        "groundswell run case.toml --set time.durations=2",
        "groundswell new earthquakes",
        "mpiexec -n 4 groundswell check",
        "pip install '.[cuda11]'",
        "python examples/dgwave/compares.py",
        "cd examples/hazard && groundswell hazard hazards.toml",
        "kspaceFirstOrder-CUDA --input input.h5",
        "make install",
    ],
)
def test_a_wrong_command_is_found(command: str) -> None:
    with pytest.raises(WrongCommand, match="page"):
        Session().check(Block("page.md", 3, "sh", command))


def test_wrong_toml_is_found() -> None:
    for text in ('[grid]\nspaces = "1 m"', '[grid]\nspacing = "1 s"', '[[source]]\nkind = "blast"'):
        assert len(toml_blocks.problems(Block("docs/earthquake.md", 1, "toml", text))) == 1
