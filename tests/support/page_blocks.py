"""Code blocks of the documentation, and what tests do with them.

Tests parse the commands of shell blocks, validate those in TOML, and run those in Python. Any other
block has a comment in the line before it, which readers of the page do not see:

    <!-- not run: needs a GPU -->
    <!-- run in tests/robustness/test_cluster_scripts.py -->
    <!-- from examples/plugin_solver/pyproject.toml -->

The second names a test that reads the page, the third files that have every line of the block.
`python tests/support/page_blocks.py` counts the blocks of each page.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
_BLOCK = re.compile(
    r"^(?:<!-- (?P<mark>[^\n]*) -->\n)?"
    r"(?P<indent> *)(?P<fence>```+|~~~+)(?P<language>[^\n]*)\n(?P<text>.*?)^(?P=indent)(?P=fence)$",
    re.DOTALL | re.MULTILINE,
)
# What tests do with blocks that have no mark.
TREATED = {"sh": "parsed", "toml": "validated", "python": "run", "py": "run"}
MARKS = ("not run", "run in", "from")
# Pages whose Python a test of their subject runs, with what it must yield.
RUN_IN = {
    "docs/exchange.md": "tests/unit/exchange/test_api_examples.py",
    "docs/poisson.md": "tests/physics/test_poisson_problems.py",
}
UNTOUCHED = "untouched"


@dataclass(frozen=True)
class Block:
    """A code block.

    Args:
        page: path of its page in the repository.
        line: number of its first line.
        language: word after the fence; "" if there is none.
        text: what stands between the fences.
        mark: the comment before the block; "" if there is none.
    """

    page: str
    line: int
    language: str
    text: str
    mark: str = ""

    @property
    def place(self) -> str:
        """Page and line, for messages."""
        return f"{self.page}:{self.line}"

    @property
    def way(self) -> str:
        """What tests do with the block."""
        if self.mark:
            return next((w for w in MARKS if self.mark.startswith(w)), UNTOUCHED)
        if TREATED.get(self.language) == "run" and self.page in RUN_IN:
            return "run in"
        return TREATED.get(self.language, UNTOUCHED)

    @property
    def reason(self) -> str:
        """What the mark says: a reason, a test, or files."""
        return self.mark.removeprefix(self.way).lstrip(": ") or RUN_IN[self.page]


def pages() -> list[Path]:
    """The pages that people read: docs, those at the top of the repository, and of examples.

    Not those that a build of the site or an example has written.
    """
    found = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").rglob("*.md")]
    inside = [(page, page.relative_to(ROOT).parts) for page in found]
    written = re.compile("generated|results.*")
    return sorted(page for page, parts in inside if not any(map(written.fullmatch, parts)))


def blocks_of(page: Path) -> Iterator[Block]:
    """The code blocks of a page; directives, which the build of the site runs, are none."""
    text = page.read_text(encoding="utf-8")
    name = page.relative_to(ROOT).as_posix()
    for found in _BLOCK.finditer(text):
        language = found["language"].strip()
        if not language.startswith("{"):
            line = text.count("\n", 0, found.start("fence")) + 1
            yield Block(name, line, language, found["text"], found["mark"] or "")


def all_blocks() -> list[Block]:
    """The code blocks of all pages."""
    return [block for page in pages() for block in blocks_of(page)]


def table() -> str:
    """How many blocks of each page tests treat in which way."""
    ways = (*dict.fromkeys(TREATED.values()), *reversed(MARKS), UNTOUCHED)
    counts: dict[str, Counter[str]] = {}
    for block in all_blocks():
        counts.setdefault(block.page, Counter())[block.way] += 1
    total: Counter[str] = sum(counts.values(), Counter())
    shown = [way for way in ways if total[way]]
    width = max(map(len, counts))
    lines = [f"{'':{width}}" + "".join(f"{way:>11}" for way in shown)]
    for page, found in [*counts.items(), ("all pages", total)]:
        lines.append(f"{page:{width}}" + "".join(f"{found[way] or '':>11}" for way in shown))
    return "\n".join(lines)


if __name__ == "__main__":
    print(table())
