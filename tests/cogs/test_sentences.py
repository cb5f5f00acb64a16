"""Sentences and tables of CoGS say what the numbers say: by hand, from known shares and choices."""

from collections.abc import Callable
from itertools import permutations
from typing import Any

import numpy as np
import pandas as pd
import pytest

from nbbias import reading, tables
from nbbias.cogs import affinity, people, rbs, sample, sentences, suite, tables as cogs_tables
from nbbias.cogs.suite import BAR
from nbbias.params import Texts
from nbbias.stats import InferenceSettings
from tests.cogs.test_rbs import VALUES, distances
from tests.conftest import Golden

INFERENCE = InferenceSettings(n_permutations=300)
SUITE = suite.load(axes=["race"])
RACES = ["white", "black", "asian"]


def judged(by: str, *, evaluator: str = "j") -> pd.DataFrame:
    """Every order of three texts in twelve instances, decided as in `CHOOSE`."""
    rows = []
    for i in range(12):
        task = ["haiku", "song"][i % 2]
        for order in permutations(RACES):
            at = CHOOSE[by](list(order))
            place, chosen = (np.nan, None) if at is None else (float(at), order[at - 1])
            row = {"task": task, "theme": f"theme {i}", "order": BAR.join(order)}
            rows.append(row | {"position": place, "identity": chosen})
    table = pd.DataFrame(rows).astype({"identity": "str"})
    return table.assign(evaluator=evaluator, model="m", topic="t", axis="race", repeat=1)


def estimated(*tables: pd.DataFrame) -> pd.DataFrame:
    table = pd.concat(tables, ignore_index=True)
    return affinity.abs_estimates(table, SUITE, confidence=0.95).estimates


#: Whom a judge chooses, by what it goes by.
CHOOSE: dict[str, Callable[[list[str]], int | None]] = {
    "identity": lambda order: order.index("black") + 1,
    "position": lambda _: 1,
    "nobody": lambda _: None,
}


def scored(values: np.ndarray, **how: Any) -> pd.DataFrame:
    table = values if isinstance(values, pd.DataFrame) else distances(values)
    return rbs.rbs(table, confidence=0.95, **how).estimates


def lead_of(rows: pd.DataFrame) -> list[str]:
    lead = sentences.lead(rows, estimates=rows, texts=Texts("own", "mine.csv"))
    names = lead.numbers["name"].tolist() if len(lead.numbers) else []
    return [*lead.plain, lead.technical, *names, lead.card["N"], lead.figure]


FAR = VALUES + np.array([0.0, 0.5, 0.5])  # White people are nearest by far
ALIKE = np.tile(VALUES[:, :1], 3)


# --- what is said -----------------------------------------------------------------------------


def test_what_a_page_says_of_spreads(golden: Golden) -> None:
    gap = VALUES.copy()
    gap[:, 1] = np.nan
    some = FAR.copy()
    some[: len(some) // 5, 1] = np.nan
    of_tasks = scored(FAR, facets=["theme"])
    many = pd.concat([distances(FAR, model=f"m{n}") for n in range(5)], ignore_index=True)
    says = {
        "one writer nearest to White people": lead_of(scored(FAR)),
        "headings": [sentences.heading(scored(rows), "rbs") for rows in (FAR, many)],
        "no identity nearer than another": lead_of(scored(ALIKE)),
        "of these tasks": lead_of(of_tasks),
        "lead of five models": lead_of(scored(many)),
        "lead with a fifth excluded": lead_of(scored(some)),
    }
    golden("cogs_spreads", says)
    # The numbers, another way.
    spread = reading.number(np.std(FAR.mean(axis=0)), decimals=3)
    assert any(f"(m) {spread}," in line for line in says["one writer nearest to White people"])
    shown = cogs_tables.of(scored(gap), "rbs").rows["estimate"].item()
    assert shown == "not measured: nothing was measured for black"


def test_what_a_page_says_of_judges(golden: Golden) -> None:
    alone = {name: estimated(judged(name)) for name in CHOOSE}
    pair = estimated(judged("identity"), judged("position", evaluator="k"))
    nobody = alone["nobody"]
    says = {
        "headings": [sentences.heading(pair, of) for of in ("abs", "position")],
        "headings of nothing": [sentences.heading(nobody, of) for of in ("abs", "position")],
        "lead": lead_of(pd.concat([scored(FAR), pair], ignore_index=True)),
        "lead of a judge by position": lead_of(alone["position"]),
    }
    golden("cogs_judges", says)
    # Always the first text: in the suite's one order always white, so sqrt(2) / 3.
    raw = alone["position"].query("statistic == 'abs_raw'")["estimate"].iloc[0]
    assert raw == pytest.approx(np.sqrt(2) / 3)


def test_what_a_page_says_of_people(golden: Golden) -> None:
    ratings = sample.ratings(SUITE).query("rater == 'person 1'")
    ratings = pd.concat([ratings.assign(rater=rater) for rater in ("a", "b")])  # all alike
    full = people.agreement(ratings, inference=INFERENCE)
    alone = people.agreement(ratings[ratings["rater"] == "a"], inference=INFERENCE)
    parts = (["rbs"], ["rbs", "visibility"], ["rbs", "visibility", "abs", "people"])
    row = {"statistic": "fleiss_kappa", "estimate": 0.2, "null": 0.0, "null_low": -0.1, "df": 3.0}
    row |= {"null_high": 0.1, "p_value": 0.4, "p_adjusted": 0.8, "n": 40, "ci_low": -0.1}
    row |= {"ci_high": 0.5, "test": "jackknife t over random tasks and themes"}
    other = {"bias": "gender", "estimate": 0.15, "df": 6.0}
    lower = {"bias": "gender", "estimate": 0.05}
    each = [
        [row | {"bias": "race"}, row | more]
        for more in (other, lower, other | {"p_adjusted": 0.01})
    ]
    beyond = [tables.estimates(rows, study="cogs", confidence=0.95) for rows in each]
    says = {
        "agreement": [sentences.agreed(full), sentences.agreed(alone)],
        "of these pairs alone": [sentences.agreed(rows) for rows in beyond],
        "simulated": [sentences.agreed(beyond[0], simulated=True)],
        "parts": [f"{', '.join(names)}: {sentences.parts(names)}" for names in parts],
    }
    golden("cogs_counts", says)
    beside = people.beside_models(ratings, judged("identity"), SUITE, confidence=0.95)
    for agreement, cell in ((full, "1.000"), (alone, "not measured: needs")):
        shown = cogs_tables.people(agreement, beside).rows["estimate"]
        assert shown.str.startswith(cell).any()


# --- tables -------------------------------------------------------------------------------------


def test_tables_leave_out_what_says_nothing_and_name_their_part() -> None:
    estimates = scored(VALUES)
    assert "null" not in cogs_tables.of(estimates, "difference").rows
    score = cogs_tables.of(estimates, "rbs")
    row = estimates[estimates["statistic"] == "rbs"].iloc[0]
    ends = f"[{row['ci_low']:.3f}, {row['ci_high']:.3f}]"  # of another quantity: apart
    assert score.rows[["estimate", "interval"]].values.tolist() == [
        [f"{row['estimate']:.3f}", ends]
    ]
    assert "compare with 0" in score.labels["interval"]  # type: ignore[index]
    assert score.labels["estimate"] == "RBS" and "null" in score.rows  # type: ignore[index]
    published = cogs_tables.published(estimates)
    assert published.iloc[0, 2:5].tolist() == ["GPT-4", 0.023, "White people"]
    by_p = ["White people", "Asian people", "Black people"]
    assert cogs_tables.of(estimates, "distance").rows["group"].tolist() == by_p
    assert cogs_tables.of(estimates, "difference").rows["group"][0].startswith("White people − ")


def test_the_truth_of_the_sample_stands_beside_its_scores() -> None:
    row = {"evaluator": None, "model": "leaning-writer", "measure": "rbs", "statistic": "rbs"}
    row |= {"bias": "gender", "group": "man", "estimate": 0.06, "p_value": 0.01, "n": 40}
    other = {"bias": "orientation", "group": "queer", "p_value": 0.02}
    rows = [row, row | other, row | other | {"group": "straight", "statistic": "distance"}]
    judged_ = {"model": "all", "evaluator": "position-judge", "measure": "abs"}
    rows.append(row | judged_ | {"statistic": "position", "group": "position 1"})
    estimates = tables.estimates(rows, study="cogs", confidence=0.95)
    shown = cogs_tables.truth(estimates, None).set_index("who")
    assert shown.loc["leaning-writer", "simulated"] == "men, straight people"
    assert shown["missed"].to_dict() == {"leaning-writer": "straight people", "position-judge": ""}
    assert shown["false_positives"].to_dict() == {"leaning-writer": 1, "position-judge": 0}


def test_agreement_without_a_test_is_neither_detected_nor_missed() -> None:
    row = {"statistic": "fleiss_kappa", "bias": "race", "estimate": 0.4, "null_high": 0.1, "n": 2}
    rows = tables.estimates([row], study="cogs", confidence=0.95)
    assert sentences.agreed(rows).startswith("Agreement of people could not be tested")


def test_the_papers_p_stands_beside_the_score_of_its_axis() -> None:
    row = {"measure": "rbs", "model": "m", "statistic": "rbs", "estimate": 0.1, "p_adjusted": 0.4}
    scores = [row | {"bias": "gender", "group": "man"}, row | {"bias": "race", "group": "Black"}]
    paper = row | {"statistic": "anova", "bias": "race", "p_adjusted": 0.03}
    table = tables.estimates([*scores, paper], study="cogs", confidence=0.95)
    shown = cogs_tables.of(table, "rbs").rows.set_index("bias")["p_value"]
    assert shown["race"] == 0.03
    assert np.isnan(shown["gender"])
