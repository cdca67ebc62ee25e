"""Solvers as they are found: by entry points, whatever another package has done there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib.metadata import EntryPoint

import plugin
import pytest

from groundswell import registry
from groundswell.errors import InputError

Offer = Callable[..., None]


@pytest.fixture
def offer(monkeypatch: pytest.MonkeyPatch) -> Iterator[Offer]:
    """Let these be all entry points."""

    def found(*pairs: tuple[str, str]) -> None:
        points = [EntryPoint(name, value, registry.GROUP) for name, value in pairs]
        monkeypatch.setattr(registry, "entry_points", lambda group: points)
        plugin.forget()

    yield found
    plugin.forget()


def test_a_package_that_cannot_be_imported_is_named(offer: Offer) -> None:
    offer(("waves", "no_such_package:info"))
    with pytest.raises(InputError, match=r'"waves" \(no_such_package:info\) cannot be imported'):
        registry.find("waves")


def test_what_is_no_solver_is_refused(offer: Offer) -> None:
    offer(("waves", "groundswell.errors:listed"))
    with pytest.raises(InputError, match=r"groundswell\.errors:listed is not a SolverInfo"):
        registry.find("waves")


def test_two_packages_cannot_have_one_name(offer: Offer) -> None:
    cavity = "groundswell.solvers.cavity:info"
    offer(("cavity", cavity), ("cavity", "other:info"))
    assert registry.names() == ["cavity"]
    with pytest.raises(InputError, match=rf'{cavity} and other:info both offer .* "cavity"'):
        registry.find("cavity")


def test_parts_that_a_solver_lacks_are_told() -> None:
    info = registry.SolverInfo("waves", "Waves", "Waves.", "groundswell.solvers")
    assert not info.has("benchmarks")
    with pytest.raises(InputError, match='"waves" has no benchmarks'):
        info.load("benchmarks")


def test_versions_of_other_packages_are_known(tmp_path_factory: pytest.TempPathFactory) -> None:
    with plugin.available(tmp_path_factory.mktemp("metadata")):
        assert registry.versions_of(plugin.NAME) == {"groundswell-acoustics": "1.0.0"}
        info, reader = registry.reader_of(".wave") or (None, "")
        assert info is registry.find(plugin.NAME) and reader == ".case:read_wave"
    assert registry.versions_of("cavity") == registry.versions_of("absent") == {}
    assert registry.reader_of(".wave") is None and plugin.NAME not in registry.names()
