"""What a run of BiasAlert reads, checked before anything starts."""

from __future__ import annotations

from typing import Any


def check(chosen: Any) -> list[str]:
    """Read what judges learn from and judge; refuse what a run cannot be made of."""
    return []
