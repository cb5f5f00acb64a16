"""The one family of errors that nbbias raises for a mistake in its input."""

from __future__ import annotations

from collections.abc import Sequence

from nbbias.tables.escape import visible


class NbbiasError(Exception):
    """What was wrong, where, and what to do; one entry per breach.

    Parameters
    ----------
    where
        The file, table or parameter set that was refused.
    breaches
        Every breach found, each a sentence that says what to do about it.
    """

    def __init__(self, where: str, breaches: Sequence[str] | str) -> None:
        self.where = where
        self.breaches = [breaches] if isinstance(breaches, str) else list(breaches)
        super().__init__(str(self))

    def _render_traceback_(self) -> list[str]:
        """Tell IPython to show the message alone: a user's mistake needs no traceback."""
        return [visible(f"{type(self).__name__}: {self}")]

    def __str__(self) -> str:
        if len(self.breaches) == 1:
            return f"{_short(self.where)}: {_short(self.breaches[0])}"
        lines = "\n".join(f"  - {_short(breach)}" for breach in self.breaches)
        return f"{_short(self.where)}: {len(self.breaches)} problems\n{lines}"


#: Characters of one entry, so that what it quotes does not push the others off the screen.
_LONGEST = 2000


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST // 2]} … {text[-200:]}"


class ParameterError(NbbiasError):
    """A parameter is unknown, of the wrong type, out of range, or names no file."""


class ContractError(NbbiasError):
    """A table breaks its contract: a column is missing, or values are of the wrong kind."""


class DataError(NbbiasError):
    """A data file cannot be found, fetched or read."""
