"""What benchmarks are made of: the corpus."""

import pandas as pd
import pytest
from benchmarks import corpus


@pytest.fixture
def shipped(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("NBBIAS_DATA", raising=False)
    corpus.bank.cache_clear()
    yield
    corpus.bank.cache_clear()


def _whole(documents: int) -> list[pd.DataFrame]:
    both = zip(*corpus.blocks(documents), strict=True)
    return [pd.concat(own, ignore_index=True) for own in both]


@pytest.mark.usefixtures("shipped")
def test_a_smaller_corpus_begins_a_larger_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corpus, "_BLOCK", 4)
    small, large = _whole(40), _whole(85)
    assert [len(own) for own in small] == [5, 35] and [len(own) for own in large] == [10, 70]
    for own, other in zip(small, large, strict=True):
        pd.testing.assert_frame_equal(own, other.head(len(own)))


@pytest.mark.usefixtures("shipped")
def test_the_corpus_is_one_that_the_study_reads(tmp_path) -> None:
    from nbbias import news

    paths = corpus.write(160, tmp_path)
    pairs = news.pair(*news.read(*map(str, paths)))
    assert len(pairs) == 140 and pairs["lost"].isna().all()
    assert pairs["generated_text"].nunique() == 140
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "generations.parquet", "originals.parquet",
    ]  # fmt: skip


def test_each_rank_is_another_word() -> None:
    words = [corpus.spelled(rank) for rank in range(5000)]
    assert len(set(words)) == len(words)
