"""Sentences and tables of CoGS say what the numbers say: by hand, from known shares and choices."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import f_oneway

from nbbias import reading, stats, tables
from nbbias.cogs import (
    affinity,
    people,
    rbs,
    sample,
    sentences,
    suite as cogs_suite,
    tables as cogs_tables,
)
from nbbias.cogs.suite import BAR
from nbbias.params import Texts
from nbbias.reading import names
from nbbias.stats import InferenceSettings
from tests.cogs import planted
from tests.cogs.test_rbs_estimates import VALUES, distances

SUITE = cogs_suite.load(axes=["race"])
RACES = ["white", "black", "asian"]


def judged(choose: object, *, evaluator: str = "j", model: str = "m", n: int = 12) -> pd.DataFrame:
    """Every order of three texts in n instances, decided by `choose(order) -> position`."""
    rows = []
    for i in range(n):
        for order in permutations(RACES):
            at = choose(list(order))  # type: ignore[operator]
            who = None if at is None else order[at - 1]
            rows.append(
                (
                    evaluator,
                    model,
                    ["haiku", "song"][i % 2],
                    "t",
                    f"theme {i}",
                    "race",
                    BAR.join(order),
                    1,
                    np.nan if at is None else float(at),
                    who,
                )
            )
    columns = [
        "evaluator",
        "model",
        "task",
        "topic",
        "theme",
        "axis",
        "order",
        "repeat",
        "position",
        "identity",
    ]
    return pd.DataFrame(rows, columns=columns).astype({"identity": "str"})


def estimated(*tables: pd.DataFrame) -> pd.DataFrame:
    return affinity.abs_estimates(
        pd.concat(tables, ignore_index=True), SUITE, inference=InferenceSettings(n_permutations=300)
    )


def by_identity(order: list[str]) -> int:
    return order.index("black") + 1


def by_position(order: list[str]) -> int:
    return 1


def refuse(order: list[str]) -> None:
    return None


# --- what is said -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("choose", "told"),
    [
        (by_identity, "prefers the texts of the identity **black**, wherever they stand"),
        (by_position, "prefers **position 1**, and no identity beyond chance"),
        (refuse, "not measured"),
    ],
)
def test_a_judge_is_told_by_identity_or_by_position(choose: object, told: str) -> None:
    (sentence,) = sentences.identity_or_position(estimated(judged(choose)))
    assert sentence.startswith("j, race: ")
    assert told in sentence


def test_a_judge_by_position_has_an_abs_as_published_and_none_when_balanced() -> None:
    (sentence,) = sentences.identity_or_position(estimated(judged(by_position)))
    # Always the first text: in the suite's one order always white, so sqrt(2) / 3.
    assert "ABS **0.000**" in sentence
    assert "in one order, 0.471" in sentence


def test_both_preferences_are_told_and_none_too() -> None:
    table = estimated(judged(by_identity))
    family = {"abs": 0.01, "position": 0.01}
    both = table.assign(p_adjusted=table["statistic"].map(family).fillna(table["p_adjusted"]))
    (sentence,) = sentences.identity_or_position(both)
    assert "whoever stands there" in sentence
    (sentence,) = sentences.identity_or_position(both.assign(p_adjusted=0.9))
    assert "no identity and no position beyond chance" in sentence


def test_names_from_files_cannot_break_the_markdown() -> None:
    table = estimated(judged(by_identity, evaluator="*x*|<b>"))
    (sentence,) = sentences.identity_or_position(table)
    assert sentence.startswith(r"\*x\*\|\<b\>")


def test_rbs_names_the_nearest_or_says_that_chance_may_have() -> None:
    far = VALUES + np.array([0.0, 0.5, 0.5])
    sentence = sentences.rbs(
        rbs.rbs(distances(far), inference=InferenceSettings(n_permutations=300))
    )
    assert sentence.startswith("1 of 1 representative bias scores on these tasks are beyond chance")
    assert "nearest to the default: **White people**" in sentence
    score = reading.number(np.std(far.mean(axis=0)), decimals=3)
    assert f"m: RBS {score}," in sentence
    assert "N = 24 task × theme" in sentence
    alike = np.tile(VALUES[:, :1], 3)
    sentence = sentences.rbs(
        rbs.rbs(distances(alike), inference=InferenceSettings(n_permutations=300))
    )
    assert "which chance may have put there" in sentence


def test_a_score_is_of_the_tasks_that_were_asked_or_of_tasks_in_general() -> None:
    values = planted.distances(np.random.default_rng(0), 60, tasks=6, means=(0.3, 0.4, 0.4))
    table = distances(values.to_numpy()).assign(
        task=np.repeat(values.index.get_level_values("task"), 3)
    )
    found = rbs.rbs(table, tasks="random", inference=InferenceSettings(n_permutations=100))
    sentence = sentences.rbs(found)
    assert sentence.startswith("1 of 1 representative bias scores for tasks in general are beyond")
    assert "N = 6 tasks;" in sentence
    labels = cogs_tables.rbs(found).labels
    assert labels and labels["n"] == "tasks"
    by_task = rbs.rbs(
        table, by="task", tasks="random", inference=InferenceSettings(n_permutations=100)
    )
    assert set(by_task.loc[by_task["statistic"] == "rbs", "n"]) == {
        10
    }  # a task is no sample of tasks


def test_an_identity_without_answers_is_not_measured() -> None:
    gap = VALUES.copy()
    gap[:, 1] = np.nan
    estimates = rbs.rbs(distances(gap), inference=InferenceSettings(n_permutations=100))
    why = "nothing was measured for black"
    told = f"No representative bias scores on these tasks could be tested ({why})."
    assert sentences.rbs(estimates) == told
    assert cogs_tables.rbs(estimates).rows["estimate"].item() == f"not measured: {why}"
    assert led(estimates).plain == (f"Nothing was measured: {why}.",)


def test_the_floor_is_told_or_said_to_be_unknown() -> None:
    one = rbs.rbs(distances(VALUES), inference=InferenceSettings(n_permutations=100))
    assert "asked once" in sentences.floors(one)[0]
    two = rbs.rbs(
        distances(VALUES).assign(floor=0.11), inference=InferenceSettings(n_permutations=100)
    )
    assert "lie 0.11 apart" in sentences.floors(two)[0]


def test_parts_are_counted_against_chance() -> None:
    far = VALUES + np.array([0.0, 0.5, 0.5])
    by_task = rbs.rbs(distances(far), by="task", inference=InferenceSettings(n_permutations=300))
    sentence = sentences.rbs(by_task)
    assert sentence.startswith("2 of 2 representative bias scores by task are beyond chance")
    assert "The furthest of these: m, " in sentence
    judged_by_task = affinity.abs_estimates(
        judged(by_identity), SUITE, by="task", inference=InferenceSettings(n_permutations=300)
    )
    told = sentences.abs_scores(judged_by_task)
    assert told.startswith("2 of 2 affinity bias scores by task, orders balanced, are beyond")
    assert "most preferred: Black people" in told


def test_temperatures_are_compared_where_there_are_several() -> None:
    tables = [distances(VALUES).assign(temperature=t) for t in (0.2, 1.0)]
    estimates = rbs.rbs(
        pd.concat(tables, ignore_index=True), inference=InferenceSettings(n_permutations=100)
    )
    (sentence,) = sentences.temperatures(rbs.temperatures(estimates))
    assert "over 2 temperatures" in sentence
    assert "the same at all of them" in sentence
    one = rbs.temperatures(rbs.rbs(tables[0], inference=InferenceSettings(n_permutations=100)))
    assert sentences.temperatures(one) == []


def test_own_texts_are_told_where_a_judge_wrote_some() -> None:
    table = estimated(judged(by_identity, model="j"), judged(by_position, model="m"))
    (sentence,) = sentences.own_texts(table)
    assert "on its own texts" in sentence
    alone = estimated(judged(by_identity))
    assert sentences.own_texts(alone) == []


def test_visibility_is_the_share_over_all_answers() -> None:
    table = pd.DataFrame(
        {
            "model": "m",
            "axis": "race",
            "identity": ["white", "black"],
            "n": [10, 30],
            "obvious": [0.5, 0.1],
            "nuanced": [0.0, 0.4],
            "imperceptible": [0.5, 0.5],
            "obvious_default": [0.2, 0.0],
        }
    )
    (sentence,) = sentences.visibility(table)
    # (0.5 * 10 + 0.1 * 30) / 40 and (0.4 * 30) / 40
    assert "of 40 answers with an identity 20% say it and 30% hint at it" in sentence
    assert "white (50%; 20% of the defaults" in sentence


def test_cells_off_the_equal_share_are_counted_by_what_can_be_seen() -> None:
    table = pd.DataFrame(
        {
            "evaluator": "j",
            "level": ["obvious", "nuanced", "imperceptible", "imperceptible"],
            "ci_low": [0.5, 0.2, 0.3, np.nan],
            "ci_high": [0.7, 0.4, 0.4, np.nan],
            "null": 1 / 3,
        }
    )
    (sentence,) = sentences.by_visibility(table)
    assert "in 1 of 2 cells where the identity can be seen, and in 0 of 1" in sentence


def test_agreement_and_its_absence_are_told() -> None:
    ratings = sample.ratings(SUITE, raters={"a": {}, "b": {}}, content=1e6)
    beside = people.beside_models(
        ratings, judged(by_identity), SUITE, inference=InferenceSettings(n_permutations=20)
    )
    # Texts that differ this much leave nothing to taste: full agreement.
    full = people.agreement(ratings, inference=InferenceSettings(n_permutations=100))
    told = cogs_tables.people(full, beside).rows.iloc[0]
    assert (told["statistic"], told["estimate"][:5]) == ("Fleiss' κ", "1.000")
    alone = people.agreement(
        ratings[ratings["rater"] == "a"], inference=InferenceSettings(n_permutations=100)
    )
    assert cogs_tables.people(alone, beside).rows["estimate"][0].startswith("not measured: needs")


def led(rows: pd.DataFrame) -> reading.Lead:
    return sentences.lead(rows, texts=Texts("own", "mine.csv"))


def test_a_page_leads_with_both_halves() -> None:
    scores = rbs.rbs(
        distances(VALUES + np.array([0.0, 0.5, 0.5])),
        inference=InferenceSettings(n_permutations=300),
    )
    judgements = estimated(judged(by_identity), judged(by_position, evaluator="k"))
    writers, judges = led(pd.concat([scores, judgements])).plain
    assert writers == (
        "On these tasks, told to write as somebody, m stays nearest to what it writes otherwise as "
        "White people "
        "(chance alone would give each in fewer than 1 of 1,000 such runs)."
    )
    assert judges.startswith(
        "On these tasks, shown texts without a word of who wrote as whom, j prefers those written "
        "as Black people "
        "(chance alone would give each in at most "
    )
    assert judges.endswith("; of k nothing is told apart from chance.")
    lead = led(pd.concat([scores, judgements]))
    assert lead.figure == "both"
    assert "representative bias scores" in lead.technical
    assert "affinity bias scores" in lead.technical
    assert lead.numbers["name"].tolist() == [
        "m: spread of distances, White people nearest",
        "j: spread of choices, Black people preferred",
        f"k: spread of choices, {names.people(lead.numbers['group'].iloc[2])} preferred",
    ]
    assert lead.card["N"] == "24 task × theme, 1 model, 2 judges"


def test_a_page_with_one_half_leads_with_that_and_what_could_have_been_seen() -> None:
    judges, chance = led(estimated(judged(by_position))).plain
    assert chance.startswith("Were all identities alike, chance would give spreads of 0.")
    assert chance.endswith(" on average on 12 task × theme (0: none).")
    # These judges choose alike in every deal, so that no size can be told from its range.
    assert judges.endswith("no judge is told to prefer those of some identity.")


def test_of_many_models_some_are_counted() -> None:
    far = VALUES + np.array([0.0, 0.5, 0.5])
    many = pd.concat([distances(far, model=f"m{n}") for n in range(5)], ignore_index=True)
    writers, _ = led(rbs.rbs(many, inference=InferenceSettings(n_permutations=100))).plain
    assert "5 of 5 models stay nearest to what they write otherwise as one identity" in writers
    assert "most often as White people (chance alone" in writers
    assert sentences.nearest(
        rbs.rbs(many, inference=InferenceSettings(n_permutations=100))
    ).startswith("5 of 5 models stay")


def test_headings_name_whom_and_where() -> None:
    scores = rbs.rbs(
        distances(VALUES + np.array([0.0, 0.5, 0.5])),
        inference=InferenceSettings(n_permutations=300),
    )
    assert sentences.nearest(scores) == "Nearest to what m writes otherwise: White people"
    found = estimated(judged(by_identity), judged(by_position, evaluator="k"))
    assert sentences.preferred(found) == "j prefers the texts of Black people"
    assert sentences.each_judge(found) == [
        "**j** prefers Black people on 1 of 1 axes, and no position.",
        "**k** prefers no identity, and position 1 on 1 of 1 axes.",
    ]
    # In one order, always the first text is always the one of White people.
    assert sentences.orders(found) == (
        "In the paper's one order 2, balanced 1 of 2 scores are beyond chance; the place alone "
        "decides in 1"
    )
    none = estimated(judged(refuse))
    assert sentences.preferred(none) == "No judge is told to prefer the texts of some identity"
    assert sentences.orders(none) == ""


def test_people_s_agreement_is_a_heading() -> None:
    ratings = sample.ratings(SUITE, raters={"a": {}, "b": {}}, content=1e6)
    full = people.agreement(ratings, inference=InferenceSettings(n_permutations=100))
    assert sentences.agreed(full) == (
        "People agree beyond chance on 1 of 1 axes (Fleiss' κ 1.00; 1 is full)"
    )
    alone = people.agreement(
        ratings[ratings["rater"] == "a"], inference=InferenceSettings(n_permutations=100)
    )
    assert sentences.agreed(alone) == "How far people agree was not measured"


def test_without_a_default_the_spread_is_to_the_centroid() -> None:
    spread = {
        "bias": "race_gender",
        "model": "m",
        "n": 9,
        "instrument": "e; reference: centroid of groups",
    }
    rows = [
        {
            **spread,
            "statistic": "rbs",
            "group": "Black woman",
            "estimate": 0.1,
            "p_value": 0.01,
            "p_adjusted": 0.01,
            "confidence": 0.95,
        },
        {**spread, "statistic": "distance", "group": "Black woman", "estimate": 0.2},
        {**spread, "statistic": "distance", "group": "White man", "estimate": 0.4},
    ]
    table = tables.estimates(rows, study="cogs", confidence=0.95, measure="rbs")
    lead = led(table)
    assert lead.technical.startswith("1 of 1 spreads of groups' distances to the centroid of all")
    assert "This one: m: spread 0.100, nearest to all others: Black woman (" in lead.technical
    assert lead.plain == (
        "Not all groups are written about alike: in 1 of 1 comparisons of groups, by what the "
        "prompts name, some lie nearer to everyone's texts than others (chance alone would give "
        "each in at most 1 of 100 such runs).",
        "Nearest, and so least set apart, are texts about Black women.",
    )
    assert lead.figure == "references"
    assert sentences.set_apart(table) == (
        "Some groups lie nearer to everyone's texts in 1 of 1 comparisons"
    )


# --- what is counted ----------------------------------------------------------------------------


def test_parts_that_are_not_there_are_named() -> None:
    assert "reads no judgements" in sentences.parts(["rbs"])
    assert "visible" not in sentences.parts(["rbs", "visibility"])
    assert "neither RBS nor ABS" in sentences.parts(["reference"])
    assert sentences.parts(["rbs", "visibility", "abs", "people"]) == ""


def test_the_suite_is_counted() -> None:
    suite = cogs_suite.load()
    sentence = sentences.suite(cogs_suite.prompts(suite), suite)
    for number in ("**360**", "**2,880**", "**3,240**"):
        assert number in sentence


def test_answers_blank_ones_and_repeats_are_counted() -> None:
    asked = cogs_suite.prompts(SUITE)
    answers = asked.head(3).assign(model="m", sample=1, text=["x", " ", "y"])
    again = answers.head(1).assign(sample=2)
    (sentence,) = sentences.answered(pd.concat([answers, again]), asked)
    assert sentence == "m answered 2 of the 1,440 prompts (4 answers; 1 blank ones are lost)."


def test_distances_that_were_not_measured_are_told_with_their_reason() -> None:
    table = distances(VALUES)
    table.loc[:1, ["distance", "reason"]] = [np.nan, rbs.NO_DEFAULT]
    told = sentences.measured(table)
    assert told[0] == "m: 70 of 72 distances measured; 2 not: no default answer."
    assert sentences.measured(table.head(0)) == []


def test_undecided_replies_are_counted_with_their_reasons() -> None:
    losses = pd.DataFrame(
        {
            "evaluator": "j",
            "axis": ["race", "race", "gender"],
            "n": [5, 2, 3],
            "outcome": ["decided", "the judge refuses", "the judge refuses"],
        }
    )
    assert sentences.undecided(losses) == [
        "j: 10 replies, 5 without a decision (the judge refuses 5)."
    ]
    assert sentences.undecided(losses.head(1)) == ["j: 5 replies, 0 without a decision."]


# --- tables -------------------------------------------------------------------------------------


def test_worked_examples_are_those_of_the_paper() -> None:
    table = cogs_tables.worked_examples().rows
    # By hand: sd(.1, .2, .15), sd(.05, .07, .06), sd(.7, .2, .1), sd(.4, .3, .3).
    expected = [0.0408248, 0.0081650, 0.2624669, 0.0471405]
    assert table["ours"].tolist() == pytest.approx(expected, abs=1e-7)
    assert (table["difference"].abs() < 0.002).all()
    assert table["identity"].tolist() == table["printed_identity"].tolist() == ["man"] * 4


def test_all_writers_stand_for_a_judge_where_there_are_several() -> None:
    one, two = judged(by_identity), judged(by_identity, model="n")
    several = cogs_tables.together(estimated(one, two))
    assert set(several["model"]) == {"all"}
    assert set(cogs_tables.together(estimated(one))["model"]) == {"m"}


def test_ways_are_one_row_a_judge_and_axis() -> None:
    table = cogs_tables.ways(estimated(judged(by_position), judged(refuse, evaluator="k"))).rows
    assert table["evaluator"].tolist() == ["j", "k"]
    own = table.iloc[0]
    assert own["raw"] == pytest.approx(np.sqrt(2) / 3)
    assert own["balanced"] == pytest.approx(0)
    assert own["position"] == pytest.approx(np.sqrt(2) / 3)
    assert (own["most_raw"], own["most_position"]) == ("white", "position 1")
    assert table.iloc[1][["raw", "balanced", "position"]].isna().all()


def test_shares_of_identities_and_positions_add_up_to_one() -> None:
    table = cogs_tables.shares(estimated(judged(by_identity))).rows
    sums = table.groupby("share_of")["share"].sum()
    assert sums.to_numpy() == pytest.approx(1)


def test_tests_stand_one_above_the_other() -> None:
    estimates = rbs.rbs(distances(VALUES), inference=InferenceSettings(n_permutations=100))
    table = cogs_tables.tests(estimates).rows
    assert table["test"].tolist()[1].startswith("repeated measures")
    assert table["f"].tolist() == pytest.approx(
        [
            f_oneway(*VALUES.T).statistic,
            stats.repeated_measures_anova(pd.DataFrame(VALUES))["statistic_value"],
        ]
    )
    assert "setting" not in table


def test_tables_leave_out_what_says_nothing() -> None:
    estimates = rbs.rbs(distances(VALUES), inference=InferenceSettings(n_permutations=100))
    assert "null" not in cogs_tables.differences(estimates).rows
    assert "null" in cogs_tables.rbs(estimates).rows
    assert cogs_tables.rbs(estimates).title == "Representative Bias Score"
    assert cogs_tables.distances(estimates).rows["group"].tolist() == [
        "White people",
        "Black people",
        "Asian people",
    ]
    by_task = rbs.rbs(distances(VALUES), by="task", inference=InferenceSettings(n_permutations=100))
    by_topic = rbs.rbs(
        distances(VALUES), by="topic", inference=InferenceSettings(n_permutations=100)
    )
    both = cogs_tables.rbs(pd.concat([by_task, by_topic]), rows=None)
    assert both.title == "Representative Bias Score by task and topic"
    assert len(both.rows) == 5


def test_the_body_shows_people_as_a_whole_and_the_appendix_each() -> None:
    ratings = sample.ratings(SUITE)
    decided = judged(by_identity)
    agreement = people.agreement(ratings, inference=InferenceSettings(n_permutations=50))
    beside = people.beside_models(
        ratings, decided, SUITE, inference=InferenceSettings(n_permutations=50)
    )
    short = cogs_tables.people(agreement, beside).rows
    assert short["statistic"].tolist() == ["Fleiss' κ", "ABS"]
    assert "p_adjusted" in short and "p_value" not in short
    everyone = cogs_tables.people(agreement, beside, rows=None).rows
    assert len(everyone) == 2 + 3 + 1 + 1  # two coefficients; three people, all of them, a judge


def test_chance_is_told_by_every_reference() -> None:
    distances_of = [distances(VALUES, model=m).assign(floor=f) for m, f in (("m", 0.1), ("n", 0.2))]
    scores = rbs.rbs(
        pd.concat(distances_of, ignore_index=True), inference=InferenceSettings(n_permutations=50)
    )
    agreed = people.agreement(sample.ratings(SUITE), inference=InferenceSettings(n_permutations=50))
    estimates = pd.concat([scores, agreed], ignore_index=True)
    found = cogs_tables.chance(estimates)
    tables.check(found, tables.CHANCE)
    counts = found.groupby(["reference", "statistic"]).size().to_dict()
    assert counts == {
        ("identities", "rbs"): 2,
        ("identities", "distance"): 6,
        ("replicate", "distance"): 6,
        ("verdicts", "fleiss_kappa"): 1,
        ("verdicts", "krippendorff_alpha"): 1,
    }
    floors = found[found["reference"] == "replicate"].groupby("model")["null"].unique()
    assert floors.map(list).to_dict() == {"m": [pytest.approx(0.1)], "n": [pytest.approx(0.2)]}
    # What leads is what ESTIMATES shows already.
    told = tables.with_chance(estimates, found, lead=["identities", "verdicts"])
    pd.testing.assert_frame_equal(told, estimates)


def test_printed_rows_are_of_our_axes_and_marked() -> None:
    table = cogs_tables.printed_rows(
        rbs.rbs(distances(VALUES), inference=InferenceSettings(n_permutations=100)), score="RBS"
    )
    assert table["side"].tolist() == ["ours", "printed", "printed", "printed"]
    assert set(table["axis"]) == {"race"}
    assert table.loc[1:, "estimate"].tolist() == [0.023, 0.0413, 0.014]
    assert table.loc[1:, ["ci_low", "null"]].isna().all(axis=None)


def test_every_task_is_listed_with_its_rubric() -> None:
    table = cogs_tables.tasks(cogs_suite.load()).rows
    assert len(table) == 12
    assert (table["rubric"] == "paper").sum() == 5
    assert table.set_index("task").loc["song", "criteria"].startswith("Rhythm; Message")


# --- what was planted -----------------------------------------------------------------------------


def test_planted_writers_are_found_and_false_alarms_counted() -> None:
    leaning = distances(VALUES + np.array([0.0, 0.5, 0.5]), model="leaning-writer")
    even = distances(np.tile(VALUES[:, :1], 3), model="even-writer")
    estimates = rbs.rbs(
        pd.concat([leaning, even], ignore_index=True),
        inference=InferenceSettings(n_permutations=300),
    )
    table = cogs_tables.writers(estimates).rows
    assert table["planted"].tolist() == ["white", "none"]
    assert table["nearest"].tolist() == ["white", "–"]  # where nothing is told apart none is named
    told = sentences.writers(estimates)
    assert "in 1 of 2 cells and found beyond chance in 1" in told
    assert "0 of 1 are beyond chance" in told
    assert cogs_tables.writers(estimates.assign(model="gpt-4")).rows.empty


def test_judges_are_counted_by_what_was_planted() -> None:
    one, two = (
        judged(choose, evaluator=name)
        for choose, name in [(by_identity, "identity-judge"), (by_position, "position-judge")]
    )
    raw, balanced, position = sentences.judges(estimated(one, two))
    assert "in 1 of 1 cells" in raw
    assert "in 1 of 1 where none was" in raw  # the one by position, taken for biased
    assert "in 1 of 1 cells" in balanced
    assert "in 0 of 1 where none was" in balanced
    assert "in 1 of 1 cells" in position
