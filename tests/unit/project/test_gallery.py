"""The gallery: each program has a title, a sentence or two, a link to a guide, and one picture."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
GALLERY = ROOT / "examples" / "gallery"
PROGRAMS = sorted(GALLERY.glob("*/*.py"))
LONGEST = 75  # lines: a program fits on a page
programs = pytest.mark.parametrize(
    "path", PROGRAMS, ids=lambda path: f"{path.parent.name}-{path.stem}"
)


def test_every_section_has_a_title() -> None:
    """Each folder with programs is a section of the page, in the order of `docs/conf.py`."""
    sections = {path.parent.name for path in PROGRAMS}
    assert sections == {path.parent.name for path in GALLERY.glob("*/README.rst")}
    order = re.findall(r'"\.\./examples/gallery/(\w+)"', (ROOT / "docs" / "conf.py").read_text())
    assert sorted(order) == sorted(sections)


@programs
def test_a_program_is_short_and_leads_to_a_guide(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    text = ast.get_docstring(ast.parse(source)) or ""
    title, underline, blank, *_ = text.splitlines()
    assert title and underline == "=" * len(title) and not blank
    guides = re.findall(r":doc:`/([\w-]+)`", text)
    assert guides and all((ROOT / "docs" / f"{guide}.md").exists() for guide in guides)
    assert source.count("plt.show()") == 1 and source.endswith("plt.show()\n")
    assert len(source.splitlines()) <= LONGEST


@programs
def test_programs_for_a_gpu_show_their_stored_picture(path: Path) -> None:
    """The site does not run programs whose names begin with `gpu_`."""
    source = path.read_text(encoding="utf-8")
    needs_gpu = '"cuda"' in source
    assert path.stem.startswith("gpu_") == needs_gpu
    assert (f".. stored-picture:: {path.stem}\n" in source) == needs_gpu
