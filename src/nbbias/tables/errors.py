"""The one family of errors that nbbias raises for a mistake in its input."""

from __future__ import annotations

from collections.abc import Sequence

from nbbias.tables.escape import visible

#: Characters of a breach, and breaches of a message, that a person reads: a file may hold any text.
_LONGEST, _MOST = 400, 20


def _shortened(breach: str) -> str:
    half = _LONGEST // 2
    return breach if len(breach) <= _LONGEST else f"{breach[:half]} … {breach[-half:]}"


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
        told = [breaches] if isinstance(breaches, str) else list(breaches)
        self.breaches = [_shortened(breach) for breach in told]
        super().__init__(str(self))

    def _render_traceback_(self) -> list[str]:
        """Tell IPython to show the message alone: a user's mistake needs no traceback."""
        return [visible(f"{type(self).__name__}: {self}")]

    def __str__(self) -> str:
        if len(self.breaches) == 1:
            return f"{self.where}: {self.breaches[0]}"
        lines = "\n".join(f"  - {breach}" for breach in self.breaches[:_MOST])
        if len(self.breaches) > _MOST:
            lines += f"\n  … and {len(self.breaches) - _MOST} more"
        return f"{self.where}: {len(self.breaches)} problems\n{lines}"


class ParameterError(NbbiasError):
    """A parameter is unknown, of the wrong type, out of range, or names no file."""


class ContractError(NbbiasError):
    """A table breaks its contract: a column is missing, or values are of the wrong kind."""


class DataError(NbbiasError):
    """A data file cannot be found, fetched or read."""
