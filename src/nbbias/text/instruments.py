"""Scorers of sentiment and toxicity: the title of each, and the function that loads it.

A new scorer is one such function in `sentiment` or `toxicity` and one line in its `INSTRUMENTS`,
from which the values of parameters, and the names in tables and figures, are read. A
package that it needs is listed in `tables.provenance`. Another package adds a scorer by an entry
point of the group `nbbias.instruments`, called `sentiment.<name>` or `toxicity.<name>`.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from nbbias.tables import DataError, Registry

#: Set to anything, this environment variable rules the modules of `nbbias.fast` out.
PLAIN = "NBBIAS_PLAIN"


def has_fast(module: str, needs: str) -> bool:
    """Return whether a module of `nbbias.fast`, and the package that it needs, can be used."""
    names = ("nbbias.fast", f"nbbias.fast.{module}", needs)
    return not os.environ.get(PLAIN) and all(map(find_spec, names))


def are_cached(repository: str, *files: str) -> list[bool]:
    """Tell which files of a repository of models are on this disk."""
    from huggingface_hub.constants import HF_HUB_CACHE

    folder = Path(HF_HUB_CACHE, f"models--{repository.replace('/', '--')}", "snapshots")
    return [any(folder.glob(f"*/{file}")) for file in files]


@contextmanager
def loading(name: str, problem: str, *, advice: str) -> Iterator[None]:
    """Raise whatever a loader raises as a DataError about the file or folder of that name.

    No loader here runs what comes with weights: neither their folder's code nor a pickle's.

    Examples
    --------
    >>> with loading("my-model", "cannot be loaded", advice="use 'offline'"):
    ...     raise OSError("no config.json")
    Traceback (most recent call last):
    nbbias.tables.errors.DataError: my-model: cannot be loaded: no config.json; use 'offline'
    """
    try:
        yield
    except Exception as error:  # whatever damage does to a loader
        reason = (str(error) or type(error).__name__).splitlines()[0]
        if isinstance(error, pickle.UnpicklingError):
            reason = "its weights are damaged or hold more than numbers; use safetensors"
        raise DataError(name, f"{problem}: {reason}; {advice}") from None


class Instrument(NamedTuple):
    """A scorer.

    `title` names it in tables and figures, with ``{}`` for the version of `package`, an installed
    distribution; `load` loads it. A mean of other scorers is also named in `_COMBINED` of
    `news/tone.py`, which compares those that read texts by themselves.
    """

    title: str
    package: str
    load: Callable[..., Any]

    def full_title(self) -> str:
        """Return the title with the version that is installed.

        Examples
        --------
        >>> Instrument("TextBlob {}", "textblob", dict).full_title().split()[0]
        'TextBlob'
        """
        return self.title.replace("{}", version(self.package), 1)


def registry(shipped: Mapping[str, Instrument], *, family: str) -> Registry[Instrument]:
    """Return the shipped scorers of a family, and those that other packages add to it.

    Examples
    --------
    >>> list(registry({"vader": Instrument("VADER {}", "vaderSentiment", dict)}, family="none"))
    ['vader']
    """
    return Registry("nbbias.instruments", dict(shipped), Instrument, family=f"{family}.")
