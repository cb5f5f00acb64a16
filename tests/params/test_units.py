"""The units of a saved run: their mean is the estimate, whatever a study does to get there."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from nbbias import biasalert, biased_prompts, cogs, llmbi, news, params, studies, tables, text
from nbbias.pages import manifest
from nbbias.stats import InferenceSettings
from tests.biasalert import tables as written

INFERENCE = InferenceSettings(n_permutations=100)

#: What is a mean over units that a run saves; a study's other statistics are none.
MEANS = {
    "news_bias": {
        *("bias", "share_difference", "share_difference_common"),
        *("prejudice_share", "mean_difference", "difference_beyond_neutral"),
    },
    "biased_prompts": {
        *("refusal_rate", "refusal_rate_change", "prejudice_share"),
        *("prejudice_share_change_paired", "share_difference_change", "mean_difference_change"),
    },
    "cogs": {"distance", "floor", "difference"},
    "llmbi": {"index", "dimension_mean", "difference"},
    "biasalert": {"accuracy", "recall", "specificity", "accuracy_difference"},
    "calibration": set(),
}


def saved(run: Path, **found: pd.DataFrame) -> Path:
    for name, table in found.items():
        tables.save_table(table, name, out=run)
    return run


def told(run: Path, stem: str, parameters: dict[str, Any]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the units of a run and, joined to its estimates, their mean and number."""
    load = studies.STUDIES[stem].units
    assert load is not None
    units = load().values(run, parameters)
    keys = list(tables.UNIT_KEYS)
    estimates = tables.saved_table(run, "estimates")
    assert estimates is not None
    estimates[keys] = estimates[keys].astype(object).where(estimates[keys].notna(), "")
    own = units.groupby(keys, observed=True)["value"].agg(["mean", "size"]).reset_index()
    own[keys] = own[keys].astype(object)
    return units, estimates.merge(own, on=keys, how="outer", indicator=True)


def means_are_the_estimates(run: Path, stem: str, parameters: dict[str, Any]) -> pd.DataFrame:
    units, both = told(run, stem, parameters)
    assert not units.duplicated([*tables.UNIT_KEYS, "unit"]).any()
    assert (both["_merge"] != "right_only").all()
    known = both.dropna(subset=["mean"])
    np.testing.assert_allclose(known["mean"], known["estimate"], atol=1e-9)
    assert (known["n"] == known["size"]).all()
    assert set(known["statistic"]) <= MEANS[stem]
    return both


def of_llmbi(run: Path, aggregation: str, *, lost: int = 0) -> Path:
    rows = [
        {
            "model": m,
            "dimension": f"d{i % 3}",
            "prompt": f"p{i}",
            "sample": s,
            "n": 4,
            "text": "a",
            "polarity_textblob": ((7 * i + 3 * s + ord(m)) % 11) / 11,
        }
        for m in "ab"
        for i in range(7)
        for s in (1, 2)
    ]
    measured = pd.DataFrame(rows)
    measured.loc[measured.index[:lost], "polarity_textblob"] = np.nan
    scores = llmbi.scoring.score_answers(measured)
    prose = llmbi.neutral.read_neutral("sample")
    reference = llmbi.neutral.neutral_reference(prose, lengths=measured["n"], scorers=["textblob"])
    found = llmbi.estimates.estimates(
        scores, reference, formula={}, aggregation=aggregation, inference=INFERENCE
    )
    return saved(run, units=found.units, estimates=found.estimates)


@pytest.mark.parametrize(("aggregation", "lost"), [("mean", 0), ("sum", 0), ("mean", 3)])
def test_the_index_is_the_mean_over_prompts(tmp_path: Path, aggregation: str, lost: int) -> None:
    run = of_llmbi(tmp_path, aggregation, lost=lost)
    both = means_are_the_estimates(run, "llmbi", {"aggregation": aggregation})
    means = both[both["statistic"].isin(MEANS["llmbi"])]
    assert means["mean"].notna().all()


@pytest.mark.parametrize("repeats", [1, 2])
def test_the_levels_of_news_are_means_over_articles(tmp_path: Path, repeats: int) -> None:
    originals, generations = news.sample.corpus(seed=3)
    if repeats > 1:
        again = generations.assign(sample=2, text=generations["text"].iloc[::-1].to_numpy())
        generations = pd.concat([generations, again], ignore_index=True)
    pairs = news.pair(originals, generations)
    read = news.annotate(pairs, lexicon=text.lexicons.load("gender"))
    words = news.words.level(read, inference=INFERENCE, min_pairs=10)
    scored = news.scoring.score(read, scorers=["textblob"], toxicity_scorer="offline")
    tone = news.tone.level(read, scored, inference=INFERENCE)
    found, _ = news.claims.combine_levels([words, tone])
    units = pd.concat([words.units, tone.units])
    run = saved(tmp_path, units=units, estimates=found)
    both = means_are_the_estimates(run, "news_bias", {})
    means = both[both["statistic"].isin(MEANS["news_bias"]) & both["estimate"].notna()]
    assert means["mean"].notna().all()


def test_a_level_that_was_left_out_has_no_units(tmp_path: Path) -> None:
    load = studies.STUDIES["news_bias"].units
    assert load is not None and load().values(tmp_path, {}).empty


def test_refusals_and_effects_are_means_over_articles(tmp_path: Path) -> None:
    originals, generations = biased_prompts.sample.corpus(seed=2)
    refused = np.random.default_rng(1).uniform(size=len(generations)) < 0.3
    generations = generations.assign(refused=refused & (generations["prompt"] == "biased"))
    answers = biased_prompts.refusing.answered(generations, progress=False)
    pairs = biased_prompts.refusing.without_refusals(news.pair(originals, answers), answers)
    words = news.words.level(
        news.annotate(pairs, lexicon=text.lexicons.load("gender")),
        inference=INFERENCE,
        study="biased_prompts",
    )
    rates = biased_prompts.refusing.rates(answers)
    effects = biased_prompts.compare.compare([words], {"gender": "female"})
    found, units = (
        pd.concat(tables, ignore_index=True) for tables in zip(rates, effects, strict=True)
    )
    run = saved(tmp_path, units=units, estimates=found)
    both = means_are_the_estimates(run, "biased_prompts", {})
    means = both[both["statistic"].isin(MEANS["biased_prompts"])]
    assert (rates.estimates["estimate"] > 0).any()
    assert means["mean"].notna().all()


@pytest.mark.parametrize("tasks", ["fixed", "random"])
def test_distances_are_means_over_instances(tmp_path: Path, tasks: Any) -> None:
    rng = np.random.default_rng(1)
    rows = [
        {
            "model": m,
            "task": f"t{t}",
            "topic": f"o{h % 2}",
            "theme": f"h{h}",
            "axis": "gender",
            "identity": i,
            "distance": rng.uniform(),
            "floor": rng.uniform(),
            "reason": None,
            "n_answers": 1,
            "n_defaults": 2,
            "instrument": "embedding",
        }
        for m in "ab"
        for t in range(3)
        for h in range(4)
        for i in ("man", "woman")
    ]
    distances = pd.DataFrame(rows)
    distances.loc[0, "distance"] = np.nan
    results = [
        cogs.rbs.rbs(distances, by_task=by_task, tasks=tasks, inference=INFERENCE)
        for by_task in (False, True)
    ]
    found, units = (pd.concat(tables, ignore_index=True) for tables in zip(*results, strict=True))
    run = saved(tmp_path, units=units, estimates=found)
    both = means_are_the_estimates(run, "cogs", {"tasks": tasks})
    means = both[both["statistic"].isin(MEANS["cogs"]) & both["estimate"].notna()]
    assert means["mean"].notna().all()


def test_shares_of_right_verdicts_are_means_over_texts(tmp_path: Path) -> None:
    test = written.labelled(
        [0, 1] * 20,
        bias_type=["race", "race", "gender", "gender"] * 10,
        comment_id=[f"c{i // 4}" for i in range(40)],
    )
    said = pd.concat([written.simulated(test, name=name, refuses=0.1) for name in ("one", "two")])
    found = biasalert.detection.concatenate(
        [
            biasalert.detection.estimates(said, test, inference=INFERENCE),
            biasalert.detection.estimate_differences(said, test, inference=INFERENCE),
            biasalert.detection.estimate_by_type(said, test, inference=INFERENCE),
        ]
    )
    run = saved(tmp_path, units=found.units, estimates=found.estimates)
    both = means_are_the_estimates(run, "biasalert", {})
    means = both[both["statistic"].isin(MEANS["biasalert"])]
    assert means["mean"].notna().all()
    load = studies.STUDIES["biasalert"].units
    assert load is not None
    assert load().values(run, {})["cluster"].nunique() == 10  # texts of one comment go together


def test_every_direction_is_of_a_mean() -> None:
    for stem, study in studies.STUDIES.items():
        assert study.units is not None
        worse = study.units().worse
        assert set(worse) <= MEANS[stem]
        assert set(worse.values()) <= {"apart", "higher", "lower"}
        known = {name for own in study.parameters.statistics.values() for name in own}
        assert MEANS[stem] <= known
        assert isinstance(study, params.Study)


@pytest.mark.slow
@pytest.mark.skipif("NBBIAS_PAGES" not in os.environ, reason="NBBIAS_PAGES names no runs")
def test_the_samples_units_are_those_of_their_estimates() -> None:
    found = sorted(Path(os.environ["NBBIAS_PAGES"]).glob(f"*/*/{manifest.NAME}"))
    assert found
    for path in found:
        described = manifest.read(path.parent)
        assert described is not None
        if described["status"] == "ok":
            means_are_the_estimates(path.parent, described["study"], described["parameters"])
