"""A curve from a params file: what is declared, what is refused, and what is written."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from nbbias import studies
from nbbias.reading import curve as drawing
from nbbias.running import curve
from nbbias.stats import Sure
from nbbias.tables import ParameterError

SAMPLE = studies.place("news_bias") / "params/news_bias/sample.yaml"


def test_the_hash_is_of_what_is_declared_however_it_is_written(tmp_path: Path) -> None:
    over = ["words=all,no pronouns", "fewest=1,3"]
    one = curve.declare(SAMPLE, over=over)
    (tmp_path / "over.yaml").write_text("words: [all, no pronouns]\nfewest: [1, 3]\n")
    assert curve.declare(SAMPLE, over=[str(tmp_path / "over.yaml")]).sha256 == one.sha256
    assert len(one.sha256) == 64 and one.size == 4
    others = [curve.declare(SAMPLE, over=over[:1]), curve.declare(SAMPLE, over=over, claim=2),
              curve.declare(SAMPLE, over=[*over, "min_pairs=10,20"])]  # fmt: skip
    assert len({one.sha256, *(other.sha256 for other in others)}) == 4
    assert any(one.sha256 in line for line in curve.listed(one))


@pytest.mark.parametrize(
    ("over", "told"),
    [
        (["wrods=all"], "wrods is no choice of news_bias; did you mean words?"),
        (["words=all,al"], "words: no 'al'"),
        (["association=common,onw"], "association"),
        (["fewest=1,1"], ""),
        (["min_pairs=[1, 2]"], "min_pairs"),
        (["n_topics=5", "ties=neutral"], "ties: moves nothing of word"),
        ([f"fewest=[{','.join(map(str, range(1, 90)))}]"], "list"),
    ],
)
def test_what_cannot_be_a_choice_is_told_before_anything_is_read(
    over: list[str], told: str
) -> None:
    if not told:
        assert curve.declare(SAMPLE, over=over).size == 1  # one value, written twice
        return
    with pytest.raises(ParameterError) as error:
        curve.declare(SAMPLE, over=over)
    assert told in str(error.value) or told == "list"


def test_a_claim_and_a_study_that_cannot_be_asked() -> None:
    with pytest.raises(ParameterError, match="3 claims are declared"):
        curve.declare(SAMPLE, claim=9)
    other = studies.place("llmbi") / "params/llmbi/sample.yaml"
    with pytest.raises(ParameterError, match="names no choices"):
        curve.declare(other)
    distance = "claims=[{measure: word, statistic: bias, bias: gender, group: female}]"
    with pytest.raises(ParameterError, match="no side that swaps"):
        curve.declare(SAMPLE, overrides=[distance])


def test_a_curve_is_measured_sorted_and_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NBBIAS_WORKERS", "1")
    monkeypatch.setenv("NBBIAS_CACHE", "off")
    declared = curve.declare(
        SAMPLE, over=["statistic=share_difference", "fewest=1,3", "min_pairs=5,10"]
    )
    found = curve.measure(declared, draws=100)
    rows = found.rows
    assert len(rows) == 4 and rows["estimate"].is_monotonic_increasing
    assert rows["declared"].sum() == 1
    # The number of pairs a model needs moves nothing where all articles count.
    for _, own in rows.groupby("fewest"):
        assert own["estimate"].nunique() == 1
    folder = curve.save(declared, found, out=tmp_path)
    twin = pd.read_csv(folder / "figures" / "curve.csv")
    assert twin["estimate"].to_numpy() == pytest.approx(rows["estimate"].to_numpy(), rel=1e-5)
    assert {"curve.svg", "curve-narrow.svg", "curve.png"} <= {
        one.name for one in (folder / "figures").iterdir()
    }
    assert declared.sha256 in (folder / "declared.yaml").read_text()
    assert (folder / "tables" / "joint.csv").is_file()
    assert len(curve.told(declared, found)) >= 4


def rows_of(values: pd.DataFrame) -> curve.Curve:
    every = pd.DataFrame({"way": [f"way {i}" for i in range(values.shape[1])], "one": "same"})
    return curve.of_values(values, every, sure=Sure(draws=100))


def test_the_figure_shows_every_estimate_and_choice_once() -> None:
    rng = np.random.default_rng(1)
    found = rows_of(pd.DataFrame(rng.normal(0.2, 1, (40, 7))))
    claim = {"study": "news_bias", "measure": "sentiment", "statistic": "mean_difference",
             "group": "female"}  # fmt: skip
    drawn = drawing.drawn(found.rows, ["way", "one"], claim=claim, tests=found.joint.tests)
    above, below = drawn.figure.axes
    points = np.concatenate([line.get_xydata() for line in above.lines if line.get_marker() == "o"])
    at = dict(points.tolist())
    assert [at[i] for i in range(7)] == pytest.approx(found.rows["estimate"].tolist())
    marks = np.concatenate([line.get_xdata() for line in below.lines])
    assert sorted(marks) == list(range(7))  # a choice of one value is not drawn
    assert next(one.get_text() for one in below.get_yticklabels()) == "way"


@pytest.mark.parametrize("ways", [1, 3])
def test_gaps_and_nothing_are_told_and_drawn_at_no_place(ways: int) -> None:
    claim = {"study": "mine", "measure": "word", "statistic": "my_share", "group": "x"}
    empty = rows_of(pd.DataFrame(np.full((5, ways), np.nan)))
    told = drawing.sentences(empty.rows, claim=claim, tests=empty.joint.tests)
    assert told == [f"My share: none of {ways} specifications could be measured."]
    drawing.drawn(empty.rows, ["way"], claim=claim, tests=empty.joint.tests)
    values = pd.DataFrame(np.random.default_rng(2).normal(0, 1, (20, ways + 1)))
    values[0] = np.nan
    found = rows_of(values)
    told = drawing.sentences(found.rows, claim=claim, tests=found.joint.tests)
    assert told[-1] == f"1 of {ways + 1} specifications measure nothing here."
    assert found.rows["estimate"].isna().tolist()[-1]
