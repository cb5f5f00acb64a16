"""What an instrument of sentiment or toxicity is: a name, and a function that opens it.

A new instrument is one such function in `sentiment` or `toxicity` (what it opens scores texts) and
one line in its `INSTRUMENTS`; the values and the help of parameters, and the names in tables and
figures, are read from there. A package that it brings stands in `tables.provenance`, too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.metadata import version
from typing import Any, NamedTuple


class Instrument(NamedTuple):
    """One line of a registry.

    `title` names it in tables and figures, with ``{}`` for the version of `package`; `load` opens
    it; `note` is what the help of a parameter adds to its short name.
    """

    title: str
    package: str
    load: Callable[..., Any]
    note: str = ""

    def named(self) -> str:
        """Return the title with the version that is installed.

        Examples
        --------
        >>> Instrument("TextBlob {}", "textblob", dict).named().split()[0]
        'TextBlob'
        """
        return self.title.replace("{}", version(self.package), 1)


def listed(instruments: Mapping[str, Instrument]) -> str:
    """Return the short names with their notes, for the help of a parameter.

    Examples
    --------
    >>> listed({"textblob": Instrument("TextBlob {}", "textblob", dict, "the papers'"),
    ...         "vader": Instrument("VADER {}", "vaderSentiment", dict)})
    "textblob (the papers'), vader"
    """
    return ", ".join(
        f"{name} ({one.note})" if one.note else name for name, one in instruments.items()
    )
