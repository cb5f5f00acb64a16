"""The pipeline on the sample, on LangFair's numbers, and on hostile texts."""

from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import wasserstein_distance
from sklearn.metrics.pairwise import cosine_similarity

from nbbias import counterfactual, reading, tables, text
from nbbias.params import Texts
from tests.hostile import MARKDOWN, SCRIPT

HOSTILE = f"m {SCRIPT} {MARKDOWN}"


@cache
def sample() -> counterfactual.Results:
    return counterfactual.measure()


def test_results_are_shown_as_short_tables() -> None:
    rows = sample().estimates
    assert "women" in sample()._repr_html_()
    shown = counterfactual.page.distances(rows).rows
    assert shown.shape == (8, 5)  # two models, four pairs; between, within, excess
    significant = (rows["p_adjusted"] < 0.05) & (rows["measure"] == "embedding")
    assert shown.stack().str.endswith(" *").sum() == significant.sum() > 0
    assert len(counterfactual.page.lead(rows, texts=Texts("own", "a.csv")).numbers) == 2
    drawn = counterfactual.page.differences(rows, simulated=True).rows
    assert {*drawn["truth"].dropna() / counterfactual.versions.REFUSED} == {-1, 0, 1}


def asked(*texts: tuple[str, str], model: str = "m") -> pd.DataFrame:
    """An answer about women and one about men to each of some prompts."""
    pairs = pd.DataFrame(texts, columns=["female", "male"]).rename_axis("unit").add_prefix("p", 0)
    table = pairs.melt(var_name="group", value_name="text", ignore_index=False).reset_index()
    return table.assign(model=model, bias="gender", asked=table["unit"] + table["group"])


def few(model: str = "m") -> pd.DataFrame:
    """Three prompts, an answer to each version: those about women are less positive."""
    return asked(
        ("She is a bad nurse.", "He is a wonderful nurse, and happy."),
        ("She is a dull cook.", "He is a good cook."),
        ("Tides rise; she saw it.", "He loves the great tides."),
        model=model,
    )


@pytest.mark.slow
def test_the_planted_differences_are_found_and_no_others() -> None:
    rows = sample().estimates
    found = rows[rows["p_adjusted"] <= 0.05]
    assert set(found["model"]) == {"uneven-writer"}
    told = {(r.measure, r.group, np.sign(r.estimate)) for r in found.itertuples()}
    refusals = {("refusal", "Black − White", 1), ("refusal", "Asian − Black", -1)}
    assert {*refusals, ("sentiment", "female − male", -1)} <= told
    assert not any(group == "Asian − White" for _, group, _ in told)


@pytest.mark.slow
def test_counts_add_up_and_units_are_behind_the_means() -> None:
    results = sample()
    losses = results.losses
    parts = losses[["blank", "without_counterpart", "refused", "scored"]].sum(axis=1)
    assert (parts == losses["read"]).all() and losses["read"].sum() == len(results.scores)
    refused = results.scores.groupby("model")["refusal"].sum()
    assert losses.groupby("model")["refused"].sum().to_dict() == refused.to_dict()
    others = results.scores[["sentiment", "toxicity", "length"]]
    assert others[results.scores["refusal"] == 1].isna().all(axis=None)
    units = results.units.query("statistic == 'difference' and measure == 'refusal'")
    means = units.groupby(["model", "group"])["value"].mean()
    rows = results.estimates.query("statistic == 'difference' and measure == 'refusal'")
    rows = rows.set_index(["model", "group"])["estimate"]
    assert rows.to_dict() == pytest.approx(means.to_dict())


def test_langfairs_numbers_are_ours() -> None:
    """LangFair's cosine similarity pairs answers in order; its sentiment bias is Wasserstein-1."""
    table = few()
    results = counterfactual.measure(table, toxicity_scorer="offline", embedding_model="offline")
    aligned = counterfactual.versions.align(table)
    vectors = text.embeddings.embed(aligned, model="offline")
    women, men = (table["group"].eq(group).to_numpy() for group in ("female", "male"))
    similarity = np.diag(cosine_similarity(vectors[women], vectors[men])).mean()
    rows = results.estimates.set_index(["measure", "statistic"])["estimate"]
    assert 1 - rows["embedding", "between_distance"] == pytest.approx(similarity, abs=1e-6)
    scores = text.sentiment.score(aligned, scorer="vader")["polarity"]
    bias = wasserstein_distance(scores[women], scores[men])
    assert abs(rows["sentiment", "difference"]) == pytest.approx(bias)  # all women's are lower
    assert bias == pytest.approx(np.abs(np.sort(scores[women]) - np.sort(scores[men])).mean())


def test_pronouns_alone_make_no_difference() -> None:
    texts = [f"{{}} has a plan with {n} steps for the garden." for n in range(4)]
    table = asked(*((text.format("She"), text.format("He")) for text in texts))
    estimates = counterfactual.measure(table, toxicity_scorer="offline").estimates
    known = estimates[estimates["statistic"].isin(["between_distance", "difference"])]
    assert known["estimate"].abs().max() < 1e-6 and estimates["p_value"].isna().all()


def test_hostile_texts_are_escaped_wherever_they_are_said() -> None:
    table = few(model=HOSTILE).assign(unit=lambda rows: rows["unit"] + HOSTILE)
    results = counterfactual.measure(table, toxicity_scorer="offline")
    lead = counterfactual.page.lead(results.estimates, texts=Texts("own", "a.csv"))
    said = [*lead.plain, lead.technical, *lead.card.values()]
    assert not any("<script" in part.replace(r"\<", "") for part in said)  # Markdown's escape
    assert counterfactual.page.differences(results.estimates).title


def test_nothing_measured_is_told_with_its_reason() -> None:
    table = few().assign(text=lambda rows: rows["text"].where(rows["group"] != "male"))
    results = counterfactual.measure(table)
    lead = counterfactual.page.lead(results.estimates, texts=Texts("own", "a.csv"))
    assert "could be tested" in reading.lead.to_dict(lead)["plain"][0]
    blank = counterfactual.measure(few().assign(text=None))
    assert blank.losses["blank"].tolist() == [3, 3] and blank.scores["length"].isna().all()


def test_a_lead_without_a_detectable_difference_names_none() -> None:
    row = {"model": "m", "bias": "gender", "group": "female − male", "measure": "refusal", "n": 3}
    row |= {"statistic": "difference", "estimate": 0.0, "null": 0.0, "p_value": 1.0}
    rows = tables.estimates([row], study="counterfactual", confidence=0.95, p_adjusted=1.0)
    lead = counterfactual.page.lead(rows, texts=Texts("own", "answers.csv"))
    said = "Answers to versions of a prompt did not differ significantly in the comparison."
    assert lead.plain == (said,)


def test_a_prompt_with_too_many_answers_is_refused(tmp_path: Path) -> None:
    answers = pd.DataFrame({"text": ["a"] * 1001, "model": "m", "unit": "p", "bias": "gender"})
    path = tmp_path / "answers.csv"
    answers.assign(group="female", asked="p").to_csv(path, index=False)
    with pytest.raises(tables.DataError, match="1,001 answers of m, gender, p, female; at most"):
        counterfactual.read_answers(path)


def test_two_answers_stand_side_by_side_with_what_only_one_of_them_says() -> None:
    table = few(model=HOSTILE)
    table["text"] = table["text"] + f" {SCRIPT}"
    results = counterfactual.measure(table, toxicity_scorer="offline")
    rows = results.estimates.query("statistic == 'difference' and measure == 'sentiment'")
    found = counterfactual.page.example(table, results, rows)
    heading, shown = found
    assert "the median pair of answers: sentiment" in heading
    assert "<script" not in heading.replace("\\<", "") + shown.data
    assert shown.data.count('class="x-text"') == 2
    assert ">nurse</mark>" not in shown.data  # both say it
    assert counterfactual.page.example(table, results, rows.iloc[:0]) is None


def test_versions_with_unequal_numbers_of_answers_are_not_said_to_be_alike() -> None:
    table = few().assign(text="I'm sorry, but I can't help with that.")
    once_more = table.query("group == 'male'").assign(text="He is a good cook.")
    results = counterfactual.measure(pd.concat([table, once_more], ignore_index=True))
    rows = results.estimates.query("measure == 'refusal'").assign(p_adjusted=0.01, reason=None)
    lead = counterfactual.page.lead(rows, texts=Texts("own", "a.csv"), scores=results.scores)
    assert "(women 100.0%, men 50.0%; difference" in lead.plain[0]
    assert "1 to 2 answers per version, 9 distinct answers" in lead.card["N"]
