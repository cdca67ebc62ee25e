"""Commands on several ranks."""

from __future__ import annotations

from groundswell.cli import APART, _command, _shared


def test_commands_whose_help_starts_several_ranks_run_on_all() -> None:
    """Rank 0 runs any other command alone, while the other ranks end."""
    commands = _command().commands
    named = {name for name, command in commands.items() if "mpiexec" in (command.help or "")}
    assert {"run", "bench", "reproduce"} <= named
    assert {name for name in named - APART if not _shared([name])} == set()
