"""Equal texts are read once, and all get their rows."""

import numpy as np
import pandas as pd
import psutil
import pytest
from hypothesis import given, strategies as st

from nbbias.text.distinct import on_distinct, read_distinct

TEXTS = st.lists(st.sampled_from(["a", "bb", "ccc", "", " \n", None]), max_size=12)


@given(TEXTS)
def test_every_text_has_the_row_of_its_words_and_each_is_read_once(texts) -> None:
    seen: list[str] = []

    def measure(distinct: list[str]) -> np.ndarray:
        seen.extend(distinct)
        return np.array([(len(text), ord(text[0])) for text in distinct], float).reshape(-1, 2)

    rows = on_distinct(texts, measure)
    expected = [(len(t), ord(t[0])) if t and t.strip() else (np.nan, np.nan) for t in texts]
    np.testing.assert_array_equal(rows, np.array(expected, float).reshape(-1, 2))
    assert sorted(seen) == sorted({text for text in texts if text and text.strip()})


def test_a_missing_row_is_what_is_asked_for_and_small_numbers_stay_small() -> None:
    rows = on_distinct(["a", None], lambda texts: np.ones(len(texts), np.float32), missing=-1)
    assert rows.tolist() == [1, -1]
    vectors = on_distinct(
        ["a", None], lambda texts: np.ones((len(texts), 3), np.float32), missing=np.float32(np.nan)
    )
    assert vectors.dtype == np.float32 and np.isnan(vectors[1]).all()


def split_letters(texts: list[str]) -> pd.DataFrame:
    rows = [(number, letter) for number, text in enumerate(texts) for letter in text]
    table = pd.DataFrame(rows, columns=["text", "letter"])
    return table.astype({"text": "int32", "letter": "category"})


@given(TEXTS)
def test_tables_hold_the_rows_of_every_text_in_order(texts) -> None:
    series = pd.Series(texts, index=[f"t{i}" for i in range(len(texts))], dtype=object)
    (table,) = read_distinct(series, f"{__name__}:split_letters")
    expected = [(name, letter) for name, text in series.dropna().items() for letter in text]
    assert list(table.itertuples(index=False, name=None)) == expected
    assert not expected or table["letter"].dtype == "category"


def measure_length(texts: list[str]) -> pd.DataFrame:
    return pd.DataFrame({"text": range(len(texts)), "letters": list(map(len, texts))})


@pytest.mark.slow
def test_workers_that_read_hold_no_memory_afterwards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NBBIAS_WORKERS", "2")
    texts = pd.Series([letter * 4_100_000 for letter in "ab"])  # two chunks
    (table,) = read_distinct(texts, f"{__name__}:measure_length")
    assert table["letters"].tolist() == [4_100_000] * 2
    started = [" ".join(child.cmdline()) for child in psutil.Process().children()]
    assert not [command for command in started if "popen_loky" in command]
