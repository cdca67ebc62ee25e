"""What the documentation says exists: links, files, code that runs."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import plugin
import pytest
from page_blocks import blocks_of, pages

from groundswell import backends, load_case

ROOT = Path(__file__).parents[3]
PAGES = pages()
MANUAL = [page for page in PAGES if page.relative_to(ROOT).parts[0] != "examples"]


def without_code(text: str) -> str:
    return re.sub(r"```.*?```", "", text, flags=re.DOTALL)


def anchors(text: str) -> set[str]:
    """Names that GitHub gives to the headings of a page."""
    headings = re.findall(r"^#+ (.*)$", without_code(text), re.MULTILINE)
    plain = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in headings)
    return {heading.strip().replace(" ", "-") for heading in plain}


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    text = without_code(page.read_text())
    targets = re.findall(r"\]\(([^)\s]+)\)", text)
    for target in (t for t in targets if not t.startswith(("http", "mailto:"))):
        name, _, anchor = target.partition("#")
        there = (page.parent / name).resolve() if name else page
        assert there.exists(), target
        if anchor:
            assert anchor in anchors(there.read_text()), target


@pytest.mark.parametrize("page", MANUAL, ids=lambda p: str(p.relative_to(ROOT)))
def test_files_that_are_named_exist(page: Path) -> None:
    roots = (ROOT, ROOT / "src" / "groundswell", page.parent)
    named = re.findall(r"`([\w./]+/[\w.]+\.(?:py|h|toml|csv|md))`", without_code(page.read_text()))
    for name in (n for n in named if "NAME" not in n):
        assert any((root / name).exists() for root in roots), name


# --- blocks that need something around them -------------------------------------------------------


def test_the_first_kernel_of_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel, program = blocks_of(ROOT / "docs" / "kernels.md")
    (tmp_path / "smooth.h").write_text(kernel.text)
    monkeypatch.chdir(tmp_path)
    machine = backends.open_backend("cpu")
    field = machine.to_device(np.random.default_rng(3).normal(size=(64, 64, 64)).astype("f4"))
    names = {**vars(backends), "Path": Path, "backend": machine, "field": field}
    names["out"] = out = machine.zeros(field.shape, np.float32)
    exec(compile(program.text, program.place, "exec"), names)
    wanted = field[..., 1:-1] / 2 + (field[..., :-2] + field[..., 2:]) / 4
    assert np.allclose(out[..., 1:-1], wanted, atol=1e-6)


def test_the_file_of_the_example_of_a_solver_can_be_read(tmp_path: Path) -> None:
    _, file = blocks_of(ROOT / "examples" / "plugin_solver" / "README.md")
    (tmp_path / "pulse.wave").write_text(file.text)
    with plugin.available(tmp_path):
        assert load_case(tmp_path / "pulse.wave").grid.cells == (48, 48, 48)


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_lines_of_prose_are_short(page: Path) -> None:
    """At most 120 characters; tables, pictures and marks of blocks may be longer."""
    lines = without_code(page.read_text()).splitlines()
    long = [line for line in lines if len(line) > 120 and not line.startswith(("|", "<", "!["))]
    assert not long
