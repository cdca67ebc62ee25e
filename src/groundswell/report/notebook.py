"""Results in notebooks: pictures, and key numbers with the first picture and the files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from html import escape
from pathlib import Path

from groundswell.errors import InputError, did_you_mean, listed, quoted
from groundswell.report.html import Row, embedded, findings_in, subtitle_of
from groundswell.report.pictures import draw_and_list, pictures_of
from groundswell.simulation.summary import Summary, read_summary


@dataclass(frozen=True)
class Pictures:
    """Pictures and films of a run, which a notebook shows.

    Args:
        paths: their files.
        captions: of each.
    """

    paths: tuple[Path, ...]
    captions: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.paths)

    def __iter__(self) -> Iterator[Path]:
        return iter(self.paths)

    def _repr_html_(self) -> str:
        return "".join(map(_figure, self.paths, self.captions))


def plot(folder: str | Path, *names: str) -> Pictures:
    """Draw the pictures of a run into its results folder.

    Args:
        folder: results folder of a run.
        names: of the pictures to return, such as "solution"; by default all.

    Raises:
        InputError: the folder has no readable summary, or the run has no such picture.
    """
    folder, problems = Path(folder), list[str]()
    drawn = {path.stem: path for path in draw_and_list(folder, problems.append)}
    captions = _captions(str(read_summary(folder).get("solver")))
    for name in names:
        if name not in drawn:
            known = f"it has {listed(drawn)}" if drawn else "it has none"
            why = "; ".join([known, *problems])
            raise InputError(f"no picture is {quoted(name)}: {why}{did_you_mean(name, drawn)}")
    chosen = names or tuple(drawn)
    return Pictures(
        tuple(drawn[name] for name in chosen), tuple(captions.get(name, "") for name in chosen)
    )


def show_run(folder: Path) -> str:
    """HTML of a run: title, key numbers, the first picture and the names of files.

    Without any picture in the folder, it draws them.

    Raises:
        InputError: the folder has no readable summary.
    """
    summary = read_summary(folder)
    title = str(summary.get("title") or folder.absolute().name)
    parts = [f"<h4>{escape(title)}</h4><p>{escape(', '.join(subtitle_of(summary)))}</p>"]
    parts += [_table(findings_in(summary))]
    if first := _first_picture(folder, summary):
        parts += [_figure(first, _captions(str(summary["solver"])).get(first.stem, ""))]
    return f"<div>{''.join([*parts, _files(folder, summary)])}</div>"


def _first_picture(folder: Path, summary: Summary) -> Path | None:
    """The first picture that the folder has, or that can be drawn."""
    names = _captions(str(summary.get("solver")))
    listed_files = [Path(str(name)) for name in summary.get("files", [])]
    has = {path.stem: folder / path for path in listed_files if path.suffix == ".png"}
    if not has.keys() & names.keys():
        has = {path.stem: path for path in draw_and_list(folder, lambda text: None)}
    return next((has[name] for name in names if name in has and has[name].exists()), None)


def _captions(solver: str) -> dict[str, str]:
    """Captions of a solver's pictures by the name of their file without suffix, in their order."""
    try:
        return {Path(each.file).stem: each.caption for each in pictures_of(solver)}
    except InputError:  # the solver is not installed here
        return {}


def _figure(path: Path, caption: str) -> str:
    kind, data = embedded(path)
    source = f"data:{kind};base64,{data}"
    tag = "video controls loop" if kind.startswith("video") else f'img alt="{escape(caption)}"'
    end = "</video>" if kind.startswith("video") else ""
    style = "max-width:100%;background:white"
    shown = f'<{tag} style="{style}" src="{source}">{end}'
    return f"<figure>{shown}<figcaption>{escape(caption)}</figcaption></figure>"


def _table(rows: Iterable[Row]) -> str:
    cells = (
        f"<tr><td>{escape(label)}</td><td><b>{escape(text)}</b></td></tr>" for label, text in rows
    )
    return f"<table>{''.join(cells)}</table>"


def _files(folder: Path, summary: Summary) -> str:
    names = "".join(f"<li>{escape(str(name))}</li>" for name in summary.get("files", []))
    return f"<details><summary>{escape(str(folder))}/</summary><ul>{names}</ul></details>"
