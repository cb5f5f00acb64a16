"""The RBS without the words that name an identity."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from nbbias import cogs


def table(distance: list[float], **more: object) -> pd.DataFrame:
    """Distances of two identities on as many themes as there are pairs of numbers."""
    themes = [f"theme {i // 2}" for i in range(len(distance))]
    rows = {
        "model": "m",
        "task": "t",
        "topic": "x",
        "theme": themes,
        "axis": "gender",
        "identity": ["man", "woman"] * (len(distance) // 2),
        "distance": distance,
    }
    fixed = {"baseline": np.nan, "n_answers": 1, "n_defaults": 1, "instrument": "i", "reason": None}
    return pd.DataFrame(rows | fixed | more)


def test_identity_words_are_masked_and_nothing_else() -> None:
    said = ["As an Asian man, I teach.", "Management of a German mangrove.", "Gay and proud.", None]
    found = cogs.masked.answers(pd.DataFrame({"text": said}))["text"]
    assert found.tolist()[:3] == ["As a person, I teach.", said[1], "And proud."]
    assert pd.isna(found[3])


def test_masked_scores_are_those_of_masked_answers() -> None:
    silent = [0.3, 0.4, 0.4, 0.5, 0.35, 0.55]
    found = cogs.masked.estimates(table(silent), confidence=0.95)
    masked = found[found["statistic"] == "distance_masked"].set_index("group")["estimate"]
    assert masked.to_dict() == pytest.approx({"man": 0.35, "woman": np.mean([0.4, 0.5, 0.55])})
    spread = found[found["statistic"] == "rbs_masked"]["estimate"].item()
    assert spread == pytest.approx(np.std([masked["man"], masked["woman"]]))
