"""Drawings and the bibliography of the site show what there is."""

from __future__ import annotations

import re
import runpy
import tomllib
import unicodedata
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path

from page_blocks import pages

ROOT = Path(__file__).parents[3]
DOCS = ROOT / "docs"
BIBLIOGRAPHY = (DOCS / "references.bib").read_text(encoding="utf-8")
ENTRIES = re.findall(r"^@\w+\{(\w+),\n(.*?)^\}", BIBLIOGRAPHY, re.MULTILINE | re.DOTALL)


def names_in(drawing: str) -> list[str]:
    """The names in a drawing, from top to bottom."""
    texts = ET.parse(DOCS / "images" / drawing).iter("{http://www.w3.org/2000/svg}text")
    return [text.text or "" for text in texts if text.get("class") == "name"]


def test_the_house_has_the_layers_of_the_packages() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    layers = next(c for c in project["contracts"] if c.get("containers") == ["groundswell"])
    packages = [name for layer in layers["layers"] for name in layer.split(" | ")]
    assert names_in("house.svg") == [name for name in packages if name != "__main__"]


def test_drawings_are_legible_on_dark_pages() -> None:
    for name in ("house.svg", "way.svg"):
        assert "prefers-color-scheme: dark" in (DOCS / "images" / name).read_text()


# --- the bibliography -----------------------------------------------------------------------------


def plain(text: str) -> str:
    """Text without accents, also those of TeX."""
    text = re.sub(r"\\[`'\"^~v]\s?|\\c |[{}\\]", "", text)
    return unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()


def texts() -> Iterator[Path]:
    """Whatever may cite a paper."""
    yield from pages()
    yield from (path for path in (ROOT / "src").rglob("*.*") if path.suffix in (".py", ".h"))


def first_author_and_year(fields: str) -> tuple[str, str]:
    found = dict(re.findall(r"^  (\w+) = \{(.*)\},$", fields, re.MULTILINE))
    authors = plain(found.get("author") or found["editor"])
    return authors.split(" and ")[0].split(",")[0].split()[-1], found["year"]


def test_all_papers_of_the_bibliography_are_cited() -> None:
    citing = plain("\n".join(path.read_text(encoding="utf-8") for path in texts()))
    for key, fields in ENTRIES:
        author, year = first_author_and_year(fields)
        assert re.search(rf"{author}\b[^;]{{0,120}}?{year}", citing), f"nothing cites {key}"


def test_the_page_of_references_shows_every_group() -> None:
    shown = re.findall(r':filter: keywords % "(\w+)"', (DOCS / "references.md").read_text())
    groups = re.findall(r"^  keywords = \{(\w+)\},$", BIBLIOGRAPHY, re.MULTILINE)
    assert set(groups) == set(shown) and len(groups) == len(ENTRIES)


def test_every_page_of_the_repository_is_in_the_site() -> None:
    pages = runpy.run_path(str(DOCS / "_extensions" / "repository_pages.py"))["pages"]()
    tops = {page for page in ROOT.glob("*.md") if page.name != "README.md"}  # docs/index.md
    assert len(tops) == 3 and tops <= set(pages)


# --- pages that are generated ---------------------------------------------------------------------


def test_pages_of_what_is_gone_are_removed(tmp_path: Path) -> None:
    made = ("gallery/old.rst", "gallery/old.ipynb", "gallery/new.rst", "gallery/index.rst")
    for name in (*made, "gallery/gone/index.rst", "names/a.kept.rst", "names/a.gone.rst"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    source = tmp_path / "examples" / "gallery" / "new.py"
    source.parent.mkdir(parents=True)
    source.touch()
    stale = runpy.run_path(str(DOCS / "_extensions" / "stale_pages.py"))
    stale["remove_examples"](tmp_path, tmp_path / "examples")
    stale["remove_others"](tmp_path / "names", ["a.kept"])
    left = sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.*"))
    pages = ["gallery/index.rst", "gallery/new.rst", "names/a.kept.rst"]
    assert left == ["examples/gallery/new.py", *pages]
