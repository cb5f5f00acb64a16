"""What tests of runs share."""

from pathlib import Path

import pytest


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of the user's own, outside of any checkout, in which the test is run."""
    monkeypatch.chdir(tmp_path)
    return tmp_path
