"""The units of a saved run: their mean is the estimate, whatever a study does to get there."""

import os
from itertools import chain
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from nbbias import news, studies, tables, text
from nbbias.pages import manifest
from nbbias.stats import InferenceSettings

INFERENCE = InferenceSettings(n_permutations=20)

#: What is a mean over units that a run saves; a study's other statistics are none.
MEANS = {
    "news_bias": {
        *("bias", "share_difference"),
        *("share_difference_passages", "omission_difference", "first_mention_difference"),
        *("prejudice_share", "mean_difference", "difference_beyond_neutral"),
        *("diversity", "diversity_difference", "diversity_difference_beyond_others"),
        *("word_rate_difference_beyond_others", "direction_difference_beyond_others"),
    },
    "biased_prompts": {
        *("refusal_rate", "refusal_rate_change", "prejudice_share"),
        *("prejudice_share_change_paired", "share_difference_change", "mean_difference_change"),
    },
    "cogs": {
        *("distance", "baseline", "difference", "share", "share_raw", "position_share"),
        *("diversity", "diversity_difference"),
    },
    "llmbi": {
        *("index", "dimension_mean", "difference", "index_corrected", "difference_corrected")
    },
    "counterfactual": {"between_distance", "within_distance", "excess_distance", "difference"},
    "biasalert": {"accuracy", "recall", "specificity", "accuracy_difference"},
    "calibration": set(),
}


def means_are_the_estimates(run: Path, stem: str) -> pd.DataFrame:
    """Hold a run's units to its estimates; return these with the mean and number of their units."""
    keys = list(tables.UNIT_KEYS)
    units, estimates = (tables.saved_table(run, name) for name in ("units", "estimates"))
    if (others := tables.saved_table(run, "second_scorer")) is not None:
        estimates = pd.concat([estimates, others[estimates.columns]], ignore_index=True)
    for table in (units, estimates):
        table[keys] = table[keys].astype(object).where(table[keys].notna(), "")
    assert not units.duplicated([*keys, "unit"]).any()
    means = units.groupby(keys, observed=True)["value"].agg(["mean", "size"]).reset_index()
    both = estimates.merge(means.astype(dict.fromkeys(keys, object)), on=keys, how="outer")
    assert len(both) == len(estimates)
    known = both.dropna(subset=["mean"])
    np.testing.assert_allclose(known["mean"], known["estimate"], atol=1e-9)
    assert (known["n"] == known["size"]).all()
    assert set(known["statistic"]) <= MEANS[stem]
    return both


def test_the_levels_of_news_are_means_over_articles(tmp_path: Path) -> None:
    originals, generations = news.sample.corpus({"even": {}}, seed=3)
    originals = originals.head(12)
    generations = generations[generations["article_id"].isin(originals["article_id"])]
    again = generations.assign(sample=2, text=generations["text"].iloc[::-1].to_numpy())
    pairs = news.pair(originals, pd.concat([generations, again], ignore_index=True))
    read = news.annotate(pairs, lexicon=text.lexicons.load("gender"))
    words = news.words.level(read, inference=INFERENCE)
    scored = news.scoring.score(read, scorers=["textblob"], toxicity_scorer="offline")
    tone = news.tone.level(read, scored, inference=INFERENCE)
    found = news.claims.combine_levels({"word": words, "sentence": tone})
    assert found["estimates"].index.is_unique and found["chance"].index.is_unique
    for name in ("units", "estimates"):
        tables.save_table(found[name], name, out=tmp_path)
    both = means_are_the_estimates(tmp_path, "news_bias")
    means = both[both["statistic"].isin(MEANS["news_bias"]) & both["estimate"].notna()]
    assert len(means) and means["mean"].notna().all()  # every mean has its units


def test_every_direction_is_of_a_mean() -> None:
    for stem, study in studies.STUDIES.items():
        worse = study.units.worse
        assert set(worse) <= MEANS[stem]
        assert set(worse.values()) <= {"apart", "higher", "lower"}
        assert MEANS[stem] <= {*chain.from_iterable(study.parameters.statistics.values())}


@pytest.mark.slow
@pytest.mark.ci
@pytest.mark.skipif("NBBIAS_PAGES" not in os.environ, reason="NBBIAS_PAGES names no runs")
def test_the_samples_units_are_those_of_their_estimates() -> None:
    found = sorted(Path(os.environ["NBBIAS_PAGES"]).glob(f"*/*/{manifest.NAME}"))
    assert found
    for path in found:
        described = manifest.read(path.parent)
        if described["status"] == "ok" and MEANS.get(described["study"]):
            means_are_the_estimates(path.parent, described["study"])
