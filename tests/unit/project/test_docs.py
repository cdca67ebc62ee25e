"""What the documentation says exists: links, files, code that runs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from groundswell import backends

ROOT = Path(__file__).parents[3]
PAGES_OF_DOCS = (p for p in (ROOT / "docs").rglob("*.md") if "generated" not in p.parts)
MANUAL = [*ROOT.glob("*.md"), *PAGES_OF_DOCS]
PAGES = [*MANUAL, *(ROOT / "examples").rglob("*.md")]


def without_code(text: str) -> str:
    return re.sub(r"```.*?```", "", text, flags=re.DOTALL)


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


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


# --- Python and kernels of the pages --------------------------------------------------------------


@pytest.mark.parametrize("page", ["README.md", "docs/earthquake.md", "docs/cavity.md"])
def test_the_python_of_a_page_runs(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("obspy")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    names: dict[str, Any] = {}
    for code in blocks((ROOT / page).read_text(), "python"):
        exec(compile(code.replace('"4 s"', '"1.5 s"'), page, "exec"), names)
    if page == "docs/cavity.md":
        assert 2 < names["finer"].heat["nusselt"] < 2.5
        return
    assert float(abs(names["result"].seismograms).max()) > 0
    if "vz" in names:
        assert names["vz"].shape == (40, 80, 80) and np.abs(names["vz"]).max() > 0


def test_the_first_kernel_of_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (ROOT / "docs" / "kernels.md").read_text()
    (tmp_path / "smooth.h").write_text(blocks(page, "cpp")[0])
    monkeypatch.chdir(tmp_path)
    machine = backends.open_backend("cpu")
    field = machine.to_device(np.random.default_rng(3).normal(size=(64, 64, 64)).astype("f4"))
    names = {**vars(backends), "Path": Path, "backend": machine, "field": field}
    names["out"] = out = machine.zeros(field.shape, np.float32)
    exec(compile(blocks(page, "python")[0], "docs/kernels.md", "exec"), names)
    wanted = field[..., 1:-1] / 2 + (field[..., :-2] + field[..., 2:]) / 4
    assert np.allclose(out[..., 1:-1], wanted, atol=1e-6)
