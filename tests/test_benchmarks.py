"""What benchmarks are made of: the corpus, the rows, how they are told."""

import pandas as pd
import pytest
from benchmarks import corpus, linear
from benchmarks.__main__ import median, printed, timed, with_sum


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
        "generations.parquet",
        "originals.parquet",
    ]


def test_each_rank_is_another_word() -> None:
    words = [corpus.spelled(rank) for rank in range(5000)]
    assert len(set(words)) == len(words)


def _row(stage: str, plain: float, ours: float, mb: float) -> dict[str, object]:
    row = {"stage": stage, "plain_seconds": plain, "ours_seconds": ours, "ratio": plain / ours}
    row |= {"threads": 1, "exactness": "equal", "peak_mb": mb, "plain_peak_mb": 2 * mb}
    return row | {"documents": 16, "plain_documents": 8}


def test_rounds_are_told_by_their_medians_and_stages_by_their_sum() -> None:
    rounds = [[_row("a", 4, one, 5), _row("b", 2, 1, 7), _row("c", 1, 1, 1)] for one in (1, 2, 9)]
    table = with_sum(median(rounds), ("a", "b"), "both")
    assert table["stage"].tolist() == ["a", "b", "both", "c"]
    assert table["ratio"].tolist() == [2, 2, 2, 1] and table["peak_mb"].tolist() == [5, 7, 7, 1]
    assert len(printed(table).splitlines()) == 6
    assert with_sum(table, ("a", "none"), "both").equals(table)


def test_time_and_memory_are_those_of_what_was_done() -> None:
    found, seconds, mb = timed(lambda: len(bytearray(64 << 20)))
    assert found == 64 << 20 and 0 < seconds < 60
    assert mb != mb or 32 < mb < 128  # NaN where the system does not tell


def test_growth_is_drawn_and_told_by_exponents(tmp_path) -> None:
    rows = pd.DataFrame(
        {
            "documents": [8, 8, 16, 16],
            "step": ["a", "b"] * 2,
            "seconds": [1.0, 1.0, 2.0, 4.0],
            "peak_mb": [10.0, 20.0, 30.0, 40.0],
        }
    )
    assert linear.grown(rows)["exponent"].tolist() == [1.0, 2.0, 1.58]
    linear.drawn(rows, tmp_path / "plot")
    assert {path.suffix for path in tmp_path.iterdir()} == {".svg", ".png"}
