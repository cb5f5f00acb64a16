"""The corpus of the benchmarks: the same every time, and one that the news study reads."""

import pandas as pd
import pytest
from benchmarks import corpus


@pytest.fixture
def shipped(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("NBBIAS_DATA", raising=False)
    corpus.bank.cache_clear()
    yield
    corpus.bank.cache_clear()


@pytest.mark.usefixtures("shipped")
def test_a_smaller_corpus_begins_a_larger_one_and_the_study_reads_it(tmp_path) -> None:
    from nbbias import news

    small, large = corpus.write(40, tmp_path / "a"), corpus.write(85, tmp_path / "b")
    for name in ("originals.parquet", "generations.parquet"):
        first, second = pd.read_parquet(small / name), pd.read_parquet(large / name)
        assert len(second) == 2 * len(first)
        pd.testing.assert_frame_equal(first, second.head(len(first)))
    paths = (str(large / name) for name in ("originals.parquet", "generations.parquet"))
    pairs = news.pair(*news.read(*paths))
    assert len(pairs) == 70 and pairs["lost"].isna().all()
