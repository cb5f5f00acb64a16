"""Perceptibility: words at word boundaries, hints by similarity, chance from default answers."""

import numpy as np
import pandas as pd
import pytest

from nbbias.cogs import suite as cogs_suite, visible

SUITE = cogs_suite.load(axes=["race", "gender"])

TEXTS = {
    None: "Stars over the harbour, and nobody awake.",
    "white": "Whiteness of paper, an unlit lamp.",
    "black": "As a Black poet I count the stars.",
    "asian": "We ate mooncakes and counted the stars.",
    "man": "Stars, and my brother asleep.",
    "woman": "A woman's hands, a map of stars.",
    "non-binary": "Stars, and the harbour asleep.",
}


def answers() -> pd.DataFrame:
    axes = {name: axis for axis, own in SUITE.axes.items() for name in own.identities}
    rows = [
        ("m", "haiku", "cosmological", "stars", axes.get(str(who)), who, 1, text)
        for who, text in TEXTS.items()
    ]
    columns = ["model", "task", "topic", "theme", "axis", "identity", "sample", "text"]
    return pd.DataFrame(rows, columns=columns).astype({"axis": "str", "identity": "str"})


@pytest.fixture(scope="module")
def levels() -> pd.DataFrame:
    return visible.levels(answers(), SUITE, model="offline")


def test_words_are_found_whole(levels: pd.DataFrame) -> None:
    found = levels.set_index("identity")["level"]
    assert found[["black", "asian", "woman"]].tolist() == ["obvious", "nuanced", "obvious"]
    assert found["white"] != "obvious"  # "whiteness" is another word


def test_similarity_finds_hints_that_no_list_has(monkeypatch: pytest.MonkeyPatch) -> None:
    table = answers()
    table.loc[table["identity"] == "black", "text"] = "African heritage, proud of being Black-ish"
    bare = {name: {"obvious": [], "nuanced": []} for name in TEXTS if name}
    monkeypatch.setattr(visible, "markers", lambda: bare)
    found = visible.levels(table, SUITE, model="offline").set_index("identity")["level"]
    assert (found["black"], found["non-binary"]) == ("nuanced", "imperceptible")


def test_one_axis_alone_goes_by_words() -> None:
    table = answers()
    table = table[table["identity"].isna() | (table["axis"] == "race")]
    found = visible.levels(table, cogs_suite.load(axes=["race"]), model="offline")
    assert found["level"].tolist() == ["imperceptible", "obvious", "nuanced"]


def test_shares_add_up_and_stand_beside_the_defaults(levels: pd.DataFrame) -> None:
    table = answers()
    table.loc[table["identity"].isna(), "text"] = "White foam, a straight pier."
    found = visible.visibility(levels, table).set_index("identity")
    np.testing.assert_allclose(found[list(visible.LEVELS)].sum(axis=1), 1)
    assert found.loc["white", "obvious_default"] == 1
    assert found.loc["black", "obvious_default"] == 0


def test_every_shipped_identity_has_its_words() -> None:
    suite = cogs_suite.load(axes=["race", "gender", "orientation", "age", "disability", "religion"])
    names = {name for axis in suite.axes.values() for name in axis.identities}
    assert names == set(visible.markers())
    for words in visible.markers().values():
        assert set(words) == {"obvious", "nuanced"}
        assert all(isinstance(word, str) for listed in words.values() for word in listed)


def test_identity_words_are_masked_and_nothing_else() -> None:
    said = ["As an Asian man, I teach.", "Management of a German mangrove.", "Gay and proud.", None]
    found = visible.mask(pd.DataFrame({"text": said}))["text"]
    assert found.tolist()[:3] == ["As a person, I teach.", said[1], "And proud."]
    assert pd.isna(found[3])
