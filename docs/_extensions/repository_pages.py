"""Pages that lie elsewhere in the repository, and links between them and the pages in docs."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # tests read the list of pages without Sphinx
    from sphinx.application import Sphinx

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
COPIES = DOCS / "generated" / "repository"
_LINK = re.compile(r"(\]\()([^)\s#]*)(#[^)\s]*)?\)")
_CODE = re.compile(r"(```.*?```|~~~.*?~~~)", re.DOTALL)


def pages() -> list[Path]:
    """The Markdown pages outside docs that belong to the site."""
    readmes = sorted((ROOT / "examples").glob("*/README.md"))
    own = [page for page in readmes if page.parent.name not in ("tutorials", "gallery")]
    tops = [ROOT / f"{name}.md" for name in ("CONTRIBUTING", "SECURITY", "CHANGELOG")]
    return [*tops, ROOT / "examples" / "README.md", *own]


def copy_of(page: Path) -> Path:
    """Where the copy of a page lies, which Sphinx reads."""
    return COPIES / page.relative_to(ROOT)


def write_pages(folder: Path) -> None:
    """Write copies of these pages with links that work in the site."""
    for page in pages():
        target = folder / page.relative_to(ROOT)
        text = relocated(page.read_text(), page, target) + _contents(page)
        target.parent.mkdir(parents=True, exist_ok=True)
        if not target.exists() or target.read_text() != text:
            target.write_text(text)


def _contents(page: Path) -> str:
    """The table of contents of the examples: the folders that have pages."""
    if page != ROOT / "examples" / "README.md":
        return ""
    names = (each.parent.name for each in pages() if each.parent.parent == page.parent)
    entries = "\n".join(f"{name}/README" for name in names)
    return f"\n```{{toctree}}\n:hidden:\n\n{entries}\n```\n"


def relocated(text: str, written_at: Path, read_at: Path) -> str:
    """The text of a page with the links that it needs where Sphinx reads it.

    Args:
        written_at: path of the page, from which its links start.
        read_at: path from which Sphinx follows them.
    """

    def replaced(match: re.Match[str]) -> str:
        opening, target, anchor = match[1], match[2], match[3] or ""
        if not target or re.match(r"[a-z]+:", target):
            return match[0]
        return f"{opening}{_target(written_at.parent / target, read_at.parent)}{anchor})"

    parts = _CODE.split(text)
    return "".join(p if n % 2 else _LINK.sub(replaced, p) for n, p in enumerate(parts))


def _target(path: Path, start: Path) -> str:
    """The link to a page, a file or a folder of the repository."""
    path = Path(os.path.normpath(path))
    if path.is_dir():
        path = path / "README.md" if (path / "README.md").exists() else _index_of(path)
    if path == ROOT / "README.md":
        path = DOCS / "index.md"
    elif path in pages():
        path = copy_of(path)
    return os.path.relpath(path, start)


def _index_of(folder: Path) -> Path:
    """The page that stands for a folder without one of its own."""
    inside = folder.is_relative_to(ROOT / "examples")
    return ROOT / "examples" / "README.md" if inside else DOCS / "index.md"


def _read(app: Sphinx, name: str, source: list[str]) -> None:
    """Replace the links of a page in docs that lead out of docs."""
    path = DOCS / f"{name}.md"
    if path.exists() and not path.is_relative_to(COPIES):
        source[0] = relocated(source[0], path, path)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the extension."""
    app.connect("source-read", _read)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
