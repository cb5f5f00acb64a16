"""The toy measure in the place of the package's own."""

import pytest

from nbbias.calibration import designs
from tests.calibration.toy import TOY


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(designs, "measures", lambda: {"toy/means": TOY})
    monkeypatch.setenv("NBBIAS_WORKERS", "1")
