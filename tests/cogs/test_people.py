"""People's agreement against published examples, and people beside models."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from nbbias import cogs
from nbbias.cogs import people, suite
from nbbias.cogs.sample import Judge
from nbbias.stats import InferenceSettings
from nbbias.tables import ContractError, NbbiasError
from tests.build import row_of
from tests.cogs.test_affinity import judged

RACES = ["white", "black", "asian"]
SUITE = suite.load()


def ratings(codes: list[list[str | None]]) -> pd.DataFrame:
    """One row per item, one column per rater."""
    rows = [
        (f"r{r}", "haiku", f"theme {i}", "race", who)
        for i, row in enumerate(codes)
        for r, who in enumerate(row)
    ]
    columns = ["rater", "task", "theme", "axis", "identity"]
    return pd.DataFrame(rows, columns=columns).astype("str")


def test_alpha_equals_krippendorffs_example() -> None:
    # Krippendorff 2011, section C: four observers, twelve units, gaps, nominal alpha .743.
    grid = [
        "1 2 3 3 2 1 4 1 2 . . .",
        "1 2 3 3 2 2 4 1 2 5 . 3",
        ". 3 3 3 2 3 4 2 2 5 1 .",
        "1 2 3 3 2 4 4 1 2 5 1 .",
    ]
    seen = np.array([row.split() for row in grid]).T
    counts = np.array([[(row == str(c)).sum() for c in range(1, 6)] for row in seen])
    assert people.krippendorff_alpha(counts) == pytest.approx(0.743, abs=5e-4)


def test_interval_and_test_say_the_same_of_the_chance_level_that_is_printed() -> None:
    # Two people choose evenly, the third leans: by chance they agree less than kappa takes for 0.
    rng = np.random.default_rng(4)
    told = []
    for seed in range(25):
        choices = rng.choice(RACES[:2], (30, 3))
        choices[:, 2] = rng.choice(RACES[:2], 30, p=[0.9, 0.1])
        same = rng.random(30) < 0.3
        choices[same] = choices[same, :1]
        table = people.agreement(
            ratings(choices.tolist()), inference=InferenceSettings(n_permutations=100, seed=seed)
        )
        for row in table.to_dict("records"):
            outside = not row["ci_low"] <= row["null"] <= row["ci_high"]
            assert outside == (row["p_value"] < 0.05)
            told.append(outside)
        assert table["null"].max() < 0
    assert 5 < sum(told) < len(told)


def test_people_with_preferences_by_task_do_not_agree_for_it() -> None:
    """Pairs of a task are not independent: three people who choose apart differ by task."""
    false = {("task", "theme"): 0, (): 0}
    for seed in range(40):
        rng = np.random.default_rng(seed)
        items = pd.MultiIndex.from_product([[f"r{r}" for r in range(3)], range(6), range(10)])
        table = items.to_frame(index=False).set_axis(["rater", "task", "theme"], axis=1)
        chances = rng.dirichlet([0.7] * 3, 18).repeat(10, axis=0)
        table["identity"] = [rng.choice(RACES, p=p) for p in chances]
        for facets in false:
            found = people.agreement(
                table.assign(axis="race"), inference=InferenceSettings(0.95, 10), facets=facets
            )
            false[facets] += row_of(found, "fleiss_kappa")["p_value"] < 0.05
    assert false["task", "theme"] <= 4 < false[()]


def test_agreement_and_scores_are_corrected_as_two_families() -> None:
    rng = np.random.default_rng(2)
    codes = rng.choice(RACES, (20, 3))
    codes[:9] = codes[:9, :1]
    told = people.agreement(ratings(codes.tolist()), inference=InferenceSettings(n_permutations=50))
    assert told["p_adjusted"].min() == pytest.approx(2 * told["p_value"].min())
    decided = judged(Judge(), n=20, evaluator="llm")
    beside = people.beside_models(ratings(codes.tolist()), decided, SUITE, confidence=0.95)
    scores = beside[beside["statistic"] == "abs"]
    assert len(scores) == 5  # three people, all of them, a judge
    assert scores["p_adjusted"].min() == pytest.approx(min(1, 5 * scores["p_value"].min()))


def test_gaps_are_lost_to_kappa_and_not_to_alpha() -> None:
    table = ratings([["white"] * 2 + [None], ["white", "black", "black"], ["asian"] * 3, ["white"]])
    found = people.agreement(table, inference=InferenceSettings(n_permutations=50))
    assert row_of(found, "fleiss_kappa")[["n", "n_lost"]].tolist() == [2, 2]
    assert row_of(found, "krippendorff_alpha")[["n", "n_lost"]].tolist() == [3, 1]


@pytest.mark.parametrize("codes", [[["white"] * 3] * 4, [["white"], ["black"]]])
def test_no_agreement_without_two_raters_and_two_choices(codes: list[list[str | None]]) -> None:
    found = people.agreement(ratings(codes), inference=InferenceSettings(n_permutations=20))
    assert found["estimate"].isna().all()
    assert found["reason"].str.contains("two").all()


def test_people_stand_beside_models_on_the_same_instances() -> None:
    table = ratings([["white", "white", "black"], ["white", "asian", None], ["black"] * 3])
    decided = judged(Judge(), n=4, evaluator="llm")  # of one theme more
    found = people.beside_models(table, decided, SUITE, confidence=0.95)
    assert found["kind"].drop_duplicates().tolist() == ["person", "people", "model"]
    shares = found[found["statistic"] == "share"].set_index(["evaluator", "group"])["estimate"]
    assert shares["r0"].to_dict() == pytest.approx({"white": 2 / 3, "black": 1 / 3, "asian": 0})
    # Theme by theme: (2, 1, 0)/3, (1, 0, 1)/2, (0, 1, 0).
    by_hand = {"white": (2 / 3 + 1 / 2) / 3, "black": (1 / 3 + 1) / 3, "asian": (1 / 2) / 3}
    assert shares["people"].to_dict() == pytest.approx(by_hand)
    same = decided[decided["theme"] != "theme 3"]["identity"].value_counts(normalize=True)
    assert shares["llm"].to_dict() == pytest.approx(same.reindex(RACES, fill_value=0).to_dict())
    gap = found[(found["evaluator"] == "r2") & (found["statistic"] == "abs")].iloc[0]
    assert (gap["n"], gap["n_lost"]) == (2, 1)


def test_ratings_are_read_and_faults_named_at_once(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    asked = {"task": "haiku", "theme": "stars"}  # what the suite has, as what was rated must be
    ratings([["white", "black"]]).assign(**asked).to_csv(path, index=False)
    assert len(people.read_ratings(path)) == 2
    bad = ratings([["white", "green"]]).assign(**asked)
    strange = [bad.assign(axis="colour"), bad.assign(theme="star"), bad.assign(identity="man")]
    pd.concat([bad, bad.head(1), *strange]).to_csv(path, index=False)
    with pytest.raises(ContractError) as error:
        people.read_ratings(path)
    told = str(error.value)
    assert "no identity 'green' in the suite" in told and "occur twice" in told
    assert "no axis 'colour' in the suite" in told
    assert "rows choose an identity of another axis" in told
    assert "no theme 'star' in the suite (row 6); did you mean stars?" in told


def test_texts_of_several_writers_on_a_theme_are_instances_of_their_own(tmp_path: Path) -> None:
    """The paper's people read 50 instances of one task, which has 30 themes."""
    themes = [one for themes in SUITE.topics.values() for one in themes][:25]
    raters, writers = (pd.DataFrame({"rater": [1, 2, 3]}), pd.DataFrame({"model": ["a", "b"]}))
    rows = raters.merge(writers, how="cross").merge(pd.DataFrame({"theme": themes}), how="cross")
    rows = rows.assign(task="very short story", axis="race", identity=RACES * 50)
    path = tmp_path / "ratings.csv"
    rows.to_csv(path, index=False)
    found = people.agreement(people.read_ratings(path), inference=InferenceSettings(0.95, 20))
    assert row_of(found, "fleiss_kappa")[["n", "n_lost"]].tolist() == [50, 0]
    rows.drop(columns="model").to_csv(path, index=False)
    with pytest.raises(ContractError, match="a column model says whose texts were read"):
        people.read_ratings(path)


def test_ratings_are_read_before_a_run_only_where_people_are_measured(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("rater\nr1\n")
    chosen = cogs.params.Cogs(parts=["rbs"]).model_copy(update={"ratings_path": str(path)})
    assert cogs.check(chosen) == []
    with pytest.raises(NbbiasError, match="theme"):
        cogs.check(chosen.model_copy(update={"parts": ["people"]}))
