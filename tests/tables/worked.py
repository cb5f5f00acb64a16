"""What workers of the tests do: functions that they can import."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import pandas as pd

from nbbias.tables import DataError, map_chunks


def lengths(some: pd.Series | pd.DataFrame, *given: Any) -> pd.Series:
    """Return the texts' lengths by the index of the chunk."""
    texts = some if isinstance(some, pd.Series) else some["text"]
    return texts.str.len().rename("length")


def noted(some: pd.Series, folder: str) -> pd.Series:
    """Return the texts' lengths, and leave word of each chunk that is made, and by whom."""
    Path(folder, f"{some.index[0]}-{os.getpid()}-{time.monotonic_ns()}").touch()
    return some.str.len()


def slowly(some: pd.Series, folder: str) -> pd.Series:
    """Like `noted`, and take a while."""
    made = noted(some, folder)
    time.sleep(0.3)
    return made


def refused(some: pd.Series) -> pd.Series:
    """Refuse the chunk that holds a certain text."""
    if (some == "wrong").any():
        raise DataError("mine.csv", ["one", "two"])
    return some


def nested(some: pd.Series) -> list[int]:
    """Return the processes that make chunks of a chunk."""
    return sorted(set(map_chunks(process, some, size=300)))


def process(some: pd.Series) -> int:
    """Return the process that is asked."""
    return os.getpid()
