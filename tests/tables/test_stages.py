"""Stages are kept by content: found again where all is alike, never where anything is not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, strategies as st

from nbbias import tables
from nbbias.news import tone
from nbbias.tables import stages
from nbbias.text import annotate, lexicons

TABLE = pd.DataFrame({"a": [1, 2], "b": ["x", None]})


@pytest.fixture
def counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[list[Any], Callable[..., Any]]:
    monkeypatch.setenv("NBBIAS_CACHE", str(tmp_path / "stages"))
    calls: list[Any] = []

    @tables.stage
    def measured(table: pd.DataFrame, *, by: str = "a") -> tuple[pd.DataFrame, str]:
        calls.append(by)
        return table.assign(c=1), by

    return calls, measured


def test_a_stage_is_computed_once_for_equal_tables(counted: Any) -> None:
    calls, measured = counted
    first = measured(TABLE, by="b")
    again = measured(pd.DataFrame({"a": [1, 2], "b": ["x", None]}), by="b")
    assert calls == ["b"] and again[1] == "b"
    pd.testing.assert_frame_equal(first[0], again[0])


@pytest.mark.parametrize(
    "changed",
    [
        TABLE.assign(a=[1, 3]),
        TABLE.assign(b=["x", "y"]),
        TABLE.rename(columns={"a": "z"}),
        TABLE.iloc[::-1],
        TABLE.set_axis([5, 6]),
        TABLE.astype({"a": float}),
        TABLE.head(1),
    ],
)
def test_any_change_of_a_table_is_another_stage(counted: Any, changed: pd.DataFrame) -> None:
    calls, measured = counted
    measured(TABLE)
    measured(changed)
    assert len(calls) == 2


def test_another_setting_is_another_stage(counted: Any) -> None:
    calls, measured = counted
    measured(TABLE, by="a")
    measured(TABLE, by="b")
    assert calls == ["a", "b"]


def test_without_a_folder_nothing_is_kept(counted: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    calls, measured = counted
    monkeypatch.setenv("NBBIAS_CACHE", "off")
    measured(TABLE)
    measured(TABLE)
    assert len(calls) == 2


@pytest.mark.parametrize("damage", [lambda b: b[:40], lambda b: b[:30] + b"\x00" * 20 + b[50:]])
def test_a_kept_file_that_is_damaged_is_computed_anew(
    counted: Any, tmp_path: Path, damage: Callable[[bytes], bytes]
) -> None:
    calls, measured = counted
    measured(TABLE)
    (kept,) = (tmp_path / "stages").rglob("measured-*.joblib")
    kept.write_bytes(damage(kept.read_bytes()))
    measured(TABLE)
    assert len(calls) == 2
    measured(TABLE)
    assert len(calls) == 2


def test_a_folder_that_cannot_be_written_costs_time_only(
    counted: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls, measured = counted
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("NBBIAS_CACHE", str(tmp_path / "file"))
    assert measured(TABLE)[1] == "a"
    assert len(calls) == 1


def test_another_source_or_version_is_another_stage(
    counted: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls, measured = counted
    measured(TABLE)
    monkeypatch.setattr(stages, "_version", lambda: "another")
    measured(TABLE)
    assert len(calls) == 2


@given(st.lists(st.lists(st.text(max_size=3), max_size=3), max_size=4))
def test_lists_of_words_are_told_apart(words: list[list[str]]) -> None:
    series = pd.Series(words, dtype=object)
    assert tables.digest(series) == tables.digest(pd.Series([list(w) for w in words], dtype=object))
    longer = pd.Series([*words, ["more"]], dtype=object)
    assert tables.digest(series) != tables.digest(longer)


def test_a_checkpoint_that_changes_has_another_stamp(tmp_path: Path) -> None:
    assert tables.stamp("textblob") == "textblob"
    path = tmp_path / "model"
    path.mkdir()
    (path / "weights").write_text("1")
    before = tables.stamp(str(path))
    (path / "weights").write_text("12")
    assert tables.stamp(str(path)) != before


def test_another_instrument_is_scored_anew_and_the_same_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NBBIAS_CACHE", str(tmp_path))
    lexicon = lexicons.load("gender")
    texts = pd.Series(["She is good.", "He is bad."])
    texts.index = pd.Index(texts)
    found, matches = annotate.annotate(texts, lexicons.expand(lexicon))
    sentences = tone.assign(found, matches, lexicon=lexicon)
    settings: dict[str, Any] = {"toxicity_scorer": "offline"}
    for scorers in (["textblob"], ["vader"], ["textblob"]):
        scored = tone.score(sentences, matches, scorers=scorers, **settings)
        assert f"sentiment_{scorers[0]}" in scored
    assert len(list(tmp_path.rglob("_score-*.joblib"))) == 2
    assert len(list(tmp_path.rglob("annotate-*.joblib"))) == 1
