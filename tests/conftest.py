"""What all tests share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

# What a test measures is measured then and there.
os.environ["NBBIAS_CACHE"] = "off"


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test may write where a run writes, or depend on where it was started."""
    monkeypatch.delenv("NBBIAS_OUT", raising=False)
    monkeypatch.chdir(ROOT)


@pytest.fixture
def data_folder() -> Path:
    """The shared research data; a test that needs it is skipped without it, but fails in CI."""
    named = os.environ.get("NBBIAS_DATA")
    if named and Path(named).is_dir():
        return Path(named)
    message = "set NBBIAS_DATA to the folder of the research data"
    if os.environ.get("CI"):
        pytest.fail(message)
    pytest.skip(message)
