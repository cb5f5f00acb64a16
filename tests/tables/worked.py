"""What workers of the tests do: functions that they can import."""

import os
import time
from pathlib import Path

import pandas as pd

from nbbias.tables import DataError, map_chunks


def lengths(texts: pd.Series) -> pd.Series:
    """Return the texts' lengths by the index of the chunk."""
    return texts.str.len().rename("length")


def logged(texts: pd.Series, folder: str, seconds: float = 0.0) -> pd.Series:
    """Return the texts' lengths, and leave a file that names the chunk and its process."""
    Path(folder, f"{texts.index[0]}-{os.getpid()}-{time.monotonic_ns()}").touch()
    time.sleep(seconds)
    return lengths(texts)


def refused(texts: pd.Series) -> pd.Series:
    """Refuse the chunk that holds a certain text."""
    if (texts == "wrong").any():
        raise DataError("mine.csv", ["one", "two"])
    return texts


def nested(texts: pd.Series) -> list[int]:
    """Return the processes that make chunks of a chunk."""
    return sorted(set(map_chunks(process, texts, chunk_bytes=300)))


def process(texts: pd.Series) -> int:
    """Return the process that is asked."""
    return os.getpid()
