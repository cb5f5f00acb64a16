"""RBS: the paper's example, geometry, groupby and scipy; gaps have a reason."""

from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.stats
from statsmodels.stats.anova import AnovaRM

from nbbias import tables
from nbbias.cogs import rbs, suite
from nbbias.text import embeddings
from tests.build import row_of

SUITE = suite.load()

#: Texts that a test embeds where it likes.
PLACES: dict[str, list[float]] = {
    "east": [1.0, 0.0],
    "north": [0.0, 1.0],
    "west": [-1.0, 0.0],
    "ne": [0.6, 0.8],
}


@pytest.fixture
def flat(monkeypatch: pytest.MonkeyPatch) -> None:
    """Embed texts at `PLACES`, so that every cosine is known."""

    def embed(texts: pd.Series, **_: object) -> np.ndarray:
        nowhere = [np.nan, np.nan]
        return np.array([PLACES.get(t, nowhere) if isinstance(t, str) else nowhere for t in texts])

    monkeypatch.setattr(embeddings, "embed", embed)


def answers(**themes: dict[str | None, str | list[str] | None]) -> pd.DataFrame:
    """Make COGS_ANSWERS of one model on race: by theme and identity the text, or its repeats."""
    rows = [
        (theme, who, text, sample)
        for theme, said in themes.items()
        for who, texts in said.items()
        for sample, text in enumerate(texts if isinstance(texts, list) else [texts], start=1)
    ]
    table = pd.DataFrame(rows, columns=["theme", "identity", "text", "sample"])
    table = table.assign(model="m", task="haiku", topic="t")
    table["axis"] = np.where(table["identity"].isna(), None, "race")
    return table.astype({"identity": "str", "axis": "str", "text": "str"})


# --- distances --------------------------------------------------------------------------------


@pytest.mark.usefixtures("flat")
def test_distances_are_one_minus_the_cosine() -> None:
    said = {None: "east", "white": "east", "black": "ne", "asian": "west"}
    table = rbs.distances(answers(sun=said))
    found = table.set_index("identity")["distance"]
    assert found.to_dict() == pytest.approx({"white": 0, "black": 0.4, "asian": 2})
    assert table["reason"].isna().all()
    assert table["baseline"].isna().all()


@pytest.mark.usefixtures("flat")
def test_repeats_are_paired_each_with_each_and_defaults_give_the_floor() -> None:
    said = {None: ["east", "north", "ne"], "white": ["ne", "east"]}
    (row,) = rbs.distances(answers(sun=said)).to_dict("records")
    at = {t: np.array(v) for t, v in PLACES.items()}
    pairs = [1 - at[a] @ at[b] for a, b in product(["ne", "east"], ["east", "north", "ne"])]
    baseline = [1 - at[a] @ at[b] for a, b in [("east", "north"), ("east", "ne"), ("north", "ne")]]
    assert row["distance"] == pytest.approx(np.mean(pairs))
    assert row["baseline"] == pytest.approx(np.mean(baseline))
    assert (row["n_answers"], row["n_defaults"]) == (2, 3)


@pytest.mark.usefixtures("flat")
def test_gaps_have_a_reason_and_no_distance() -> None:
    both = {"white": "ne", "black": "ne"}
    sun = {None: "east", "white": "ne", "black": None}
    table = rbs.distances(answers(sun=sun, rain=both, soul={None: "east"} | both))
    table = table.set_index(["theme", "identity"])
    assert table["distance"].isna().sum() == 3
    assert table.loc[("sun", "black"), "reason"] == rbs.NO_ANSWER
    assert (table.loc["rain", "reason"] == rbs.NO_DEFAULT).all()
    assert table.loc["soul", "reason"].isna().all()


# --- reading ----------------------------------------------------------------------------------


def written(folder: Path, rows: list[dict[str, object]]) -> Path:
    path = folder / "answers.jsonl"
    pd.DataFrame(rows).to_json(path, orient="records", lines=True)
    return path


def test_answers_are_read_by_task_and_theme_or_by_prompt(tmp_path: Path) -> None:
    prompts = suite.prompts(SUITE)
    asked = prompts[(prompts["task"] == "haiku") & (prompts["theme"] == "rain")]
    base = asked.assign(model="m", text="Rain.")
    shapes = [
        base[["model", "text", "task", "theme", "identity"]],
        base[["model", "text", "prompt_id"]],
        base[["model", "text", "prompt"]].rename(columns={"text": "response"}),
        base.rename(columns={"prompt_id": "article_id"})[["model", "text", "article_id"]],
    ]
    read = []
    for shape in shapes:
        path = tmp_path / "answers.csv"
        shape.to_csv(path, index=False)
        read.append(rbs.read_answers(path))
    for one in read[1:]:
        pd.testing.assert_frame_equal(one, read[0])
    assert len(read[0]) == 9
    assert read[0]["identity"].isna().sum() == 1
    assert set(read[0]["topic"]) == {"ecological"}
    tables.check(read[0], tables.COGS_ANSWERS)


def test_repeats_are_numbered_where_the_file_does_not(tmp_path: Path) -> None:
    row = {"model": "m", "task": "haiku", "theme": "rain", "identity": None, "text": "Rain."}
    assert rbs.read_answers(written(tmp_path, [row, row]))["sample"].tolist() == [1, 2]


# --- from distances to claims -----------------------------------------------------------------


IDENTITIES = ["white", "black", "asian"]


def distances(
    values: np.ndarray, *, model: str = "m", names: list[str] | None = None
) -> pd.DataFrame:
    """Lay out instances by identities as the table of `cogs.distances`; two tasks in turn."""
    names = names or IDENTITIES
    rows = [
        (model, ["haiku", "song"][i % 2], f"topic {i % 3}", f"theme {i // 2}", "race", name, value)
        for i, row in enumerate(values)
        for name, value in zip(names, row, strict=True)
    ]
    columns = ["model", "task", "topic", "theme", "axis", "identity", "distance"]
    table = pd.DataFrame(rows, columns=columns)
    return table.assign(baseline=np.nan, instrument="by hand", reason=None)


RNG = np.random.default_rng(1)
VALUES = RNG.uniform(0.2, 0.6, (24, 3)) + np.array([0.0, 0.1, 0.05])


def estimated(values: np.ndarray = VALUES, **options: object) -> pd.DataFrame:
    return rbs.rbs(distances(values), confidence=0.95, **options).estimates  # type: ignore[arg-type]


def test_distances_of_identities_are_their_means() -> None:
    rows = estimated(facets=()).query("statistic == 'distance'").set_index("group")
    assert rows["estimate"].to_dict() == pytest.approx(
        dict(zip(IDENTITIES, VALUES.mean(0), strict=True))
    )
    low, high = scipy.stats.t.interval(
        0.95, 23, loc=VALUES[:, 0].mean(), scale=scipy.stats.sem(VALUES[:, 0])
    )
    assert rows.loc["white", ["ci_low", "ci_high"]].tolist() == pytest.approx([low, high])


def test_the_papers_tests_are_those_of_scipy() -> None:
    anova = row_of(estimated(), "anova")
    expected = scipy.stats.f_oneway(*VALUES.T)
    assert anova["statistic_value"] == pytest.approx(expected.statistic)
    assert anova["p_value"] == pytest.approx(expected.pvalue)
    two = rbs.rbs(distances(VALUES[:, :2], names=["straight", "queer"]), confidence=0.95).estimates
    t = scipy.stats.ttest_ind(VALUES[:, 0], VALUES[:, 1])
    assert row_of(two, "anova")["statistic_value"] == pytest.approx(t.statistic**2)
    assert row_of(two, "anova")["p_value"] == pytest.approx(t.pvalue)
    assert "t-test" in row_of(two, "anova")["test"]


def test_the_test_of_one_task_is_that_of_statsmodels() -> None:
    long = pd.DataFrame(VALUES[::2]).melt(ignore_index=False).reset_index()
    expected = AnovaRM(long, "value", "index", within=["variable"]).fit().anova_table.iloc[0]
    rows = estimated(by_task=True)
    row = rows[rows["statistic"] == "rbs"].iloc[0]
    assert row["statistic_value"] == pytest.approx(expected["F Value"])
    assert row["df"] <= expected["Den DF"]
    assert np.isnan(row["p_least"])  # a p of an F has no baseline


def test_identities_that_differ_alike_everywhere_have_no_interval_and_no_test() -> None:
    values = np.tile(VALUES[:, :1], 3) + np.array([0.0, 0.1, 0.2])
    row = row_of(estimated(values), "rbs")
    assert np.isnan([row["ci_low"], row["p_value"]]).all() and "differ alike" in row["reason"]


def test_differences_are_paired_and_corrected() -> None:
    rows = estimated(facets=()).query("statistic == 'difference'").set_index("group")
    expected = scipy.stats.ttest_rel(VALUES[:, 0], VALUES[:, 1])
    assert rows.loc["white - black", "statistic_value"] == pytest.approx(expected.statistic)
    assert len(rows) == 3
    ranked = rows["p_value"].sort_values()
    holm = (ranked * [3, 2, 1]).cummax().clip(upper=1)
    assert rows["p_adjusted"][holm.index].tolist() == pytest.approx(holm.tolist())


def test_a_difference_holds_whatever_missing_answers_would_have_been() -> None:
    values = VALUES - [0.2, 0.0, 0.0]
    values[:4, 0] = np.nan
    rows = estimated(values, facets=()).query("statistic == 'difference'").set_index("group")
    off = values - np.nanmean(values, axis=1, keepdims=True)
    filled = values.copy()
    filled[:4, 0] = values[:4, 1:].mean(axis=1) + np.nanmax(off)
    expected = scipy.stats.ttest_rel(filled[:, 0], filled[:, 1])
    row = rows.loc["white - black"]
    assert row["p_value"] == pytest.approx(expected.pvalue) and row["p_value"] < 0.05
    assert row["ci_high"] == pytest.approx(expected.confidence_interval().high)
    assert row["estimate"] == pytest.approx(np.mean(values[4:, 0] - values[4:, 1]))
    # The interval holds 0 where the test does not reject.
    values[:12, 0] = np.nan
    row = estimated(values, facets=()).query("group == 'white - black'").iloc[0]
    assert row["p_value"] > 0.05 and row["ci_low"] < 0 < row["ci_high"]


def test_tasks_are_the_whole_of_their_rows() -> None:
    table = estimated(by_task=True)
    rows = table[table["statistic"] == "rbs"]
    assert (rows["task"].tolist(), rows["n"].tolist()) == (["haiku", "song"], [12, 12])
    assert rows["estimate"].iloc[0] == pytest.approx(np.std(VALUES[::2].mean(axis=0)))
