"""Repeats of the news studies against the studies themselves, told of the same corpora."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import pytest

from nbbias import stats
from nbbias.calibration import corpora, news as trials
from nbbias.calibration.corpora import GROUPS, Corpora
from nbbias.calibration.trials import Design
from nbbias.news import corpus, scoring, tone, topics, words
from nbbias.news.corpus import Read
from tests.build import topic_estimates

INFERENCE = stats.InferenceSettings(n_permutations=2, seed=3)
REPEATS = 5
LEXICON = pd.DataFrame(
    [(bias, group, group, "word") for bias, groups in GROUPS.items() for group in groups],
    columns=["bias", "group", "term", "kind"],
)


def read_alike(
    sample: Corpora, answers: int, models: Sequence[str] = ("m", "m")
) -> tuple[tuple[Read, scoring.Scored], ...]:
    """The same corpora as the study reads them, each a source: pairs, and twins by people."""
    r, n, texts, _ = sample.tone.shape
    number = np.arange(r * n * texts).reshape(r, n, texts)
    at = np.argwhere(~np.isnan(sample.tone))
    sentences = pd.DataFrame(
        {
            "text_id": number[tuple(at[:, :3].T)],
            "sentence_id": at[:, 3],
            "start": 0,
            "end": 1,
            "sentiment_textblob": sample.tone[tuple(at.T)],
        }
    )
    found = []
    for bias, groups in GROUPS.items():
        for i, group in enumerate(groups):
            times = sample.words[bias][(*at.T, i)]
            own = sentences.loc[np.repeat(sentences.index, times), ["text_id", "sentence_id"]]
            found.append(own.assign(bias=bias, group=group, term=group, kind="word", start=0))
    matches = pd.concat(found, ignore_index=True).sort_values(["text_id", "sentence_id"])
    matches = matches.reset_index(drop=True)
    both = []
    for chosen in (range(answers), range(answers + 1, texts)):
        whose = [*models, "human"]
        rows = [
            (f"{i}", whose[min(k, answers)], "p", f"{j}", k, *number[i, j, [answers, k]])
            for i in range(r)
            for j in range(n)
            for k in chosen
        ]
        names = ["source", "model", "prompt", "article_id", "sample", "original_id", "generated_id"]
        pairs = pd.DataFrame(rows, columns=names).assign(pair_id=range(len(rows)))
        pairs["lost"] = pd.Series(pd.NA, pairs.index, dtype="str")
        ids = pairs[["original_id", "generated_id"]].to_numpy().ravel()
        own, some = (table[table["text_id"].isin(ids)] for table in (sentences, matches))
        grouped = corpus.grouped(
            own[["text_id", "sentence_id", "start", "end"]].reset_index(drop=True),
            some,
            lexicon=LEXICON,
        )
        scored = own.drop(columns=["start", "end"]).reset_index(drop=True)
        read = Read(pairs, pd.Series(dtype=str), grouped, some, LEXICON)
        both.append((read, scoring.Scored(scored, scoring.measures(scored))))
    return tuple(both)


def sample_of(scenario: str, n: int, **effects: float) -> Corpora:
    """What a trial of that scenario draws in its one block."""
    own = corpora.SCENARIOS[scenario]
    shifts = {name: [effects.get(name, 0.0)] * own.answers for name in ("share", "tone")}
    return corpora.simulate(
        Design(scenario, n, 12, 0.0),
        REPEATS,
        **shifts,
        originals=own.originals,
        seed=[INFERENCE.seed, 0],
    )


def assert_alike(trial: pd.DataFrame, level: pd.DataFrame, *, measure: str) -> None:
    rows = level[level["measure"] == measure].assign(group=level["group"].fillna(""))
    compared = 0
    for (statistic, group), own in trial.fillna({"group": ""}).groupby(["statistic", "group"]):
        bias = next((bias for bias, names in GROUPS.items() if group in names), "gender")
        real = rows[
            (rows["statistic"] == statistic) & (rows["group"] == group) & (rows["bias"] == bias)
        ].set_index("source")
        for i, row in enumerate(own.to_dict("records")):
            for name in ("estimate", "ci_low", "ci_high"):
                assert row[name] == pytest.approx(real.loc[f"{i}", name], abs=1e-12, nan_ok=True)
            if np.isfinite(row["p_value"]):
                assert row["p_value"] == pytest.approx(real.loc[f"{i}", "p_value"], abs=1e-12)
                assert row["null"] == pytest.approx(real.loc[f"{i}", "null"], abs=1e-12)
                compared += 1
    assert compared


@pytest.mark.parametrize(("scenario", "n"), [("uneven", 30), ("runs", 10)])
def test_words_are_those_of_the_study(scenario: str, n: int) -> None:
    (read, _), (twins, _) = read_alike(
        sample_of(scenario, n, share=-0.1), corpora.SCENARIOS[scenario].answers
    )
    own = corpora.SCENARIOS[scenario]
    level = words.level(
        read, inference=INFERENCE, twins=twins if own.originals > 1 else None
    ).estimates
    design = Design(scenario, n, 12, -0.1)
    assert_alike(trials.words(design, REPEATS, INFERENCE), level, measure="word")
    assert_alike(trials.words_distance(design, REPEATS, INFERENCE), level, measure="word")


@pytest.mark.parametrize(("scenario", "n"), [("uneven", 30), ("runs", 10)])
def test_tone_is_that_of_the_study(scenario: str, n: int) -> None:
    own = corpora.SCENARIOS[scenario]
    read, beside = read_alike(sample_of(scenario, n, tone=-0.1), own.answers)
    twins = beside if own.originals > 1 else None
    level = tone.level(*read, inference=INFERENCE, twins=twins).estimates
    design = Design(scenario, n, 12, -0.1)
    assert_alike(trials.tone(design, REPEATS, INFERENCE), level, measure="sentiment")
    distance = trials.tone_distance(design, REPEATS, INFERENCE)
    if n > 10:
        assert_alike(distance, level, measure="sentiment")


# --- documents --------------------------------------------------------------------------------


def scores_of(shares: np.ndarray) -> pd.DataFrame:
    """SCORES of the document level, of two answers to each story of a corpus."""
    n, _, fits = shares.shape
    rows = [
        (f"{i}", 2 * i + k, f, shares[i, k, f], shares[i, 2, f])
        for i in range(n)
        for k in range(2)
        for f in range(fits)
    ]
    table = pd.DataFrame(rows, columns=["article_id", "pair_id", "seed", "h_female", "o_female"])
    for side in "ho":
        table[f"{side}_male"] = 1 - table[f"{side}_female"]
    d = table["h_female"] - table["o_female"]
    cell = {"source": "s", "model": "m", "prompt": "p", "bias": "gender", "measure": "document"}
    table = table.assign(**cell, instrument="LDA", sample=1, content_h=1.0, content_o=1.0)
    table = table.assign(score=d.abs(), difference_female=d, difference_male=-d)
    return table.assign(reason=pd.Series("none", table.index, dtype="str").where(d.isna()))


@pytest.mark.parametrize("scenario", ["gaps", "topics"])
def test_documents_are_those_of_the_study(scenario: str) -> None:
    design, lexicon = Design(scenario, 30, 12, -0.1), LEXICON[LEXICON["bias"] == "gender"]
    of = {"share_difference": trials.documents, "bias": trials.documents_distance}
    for biased, statistic in ((True, "share_difference"), (False, "bias")):
        shares = trials.fitted(design, 3, biased=biased, seed=[INFERENCE.seed, 0])
        trial = of[statistic](design, 3, INFERENCE)
        trial = trial[trial["statistic"] == statistic].reset_index(drop=True)
        for number, corpus_shares in enumerate(shares):
            scores = scores_of(corpus_shares)
            real = topic_estimates(scores, lexicon=lexicon, inference=INFERENCE).set_index(
                ["statistic", "group"]
            )
            group = "female" if biased else np.nan
            row, same = trial.loc[number], real.loc[(statistic, group)]
            for name in ("estimate", "ci_low", "ci_high"):
                assert row[name] == pytest.approx(same[name], abs=1e-12, nan_ok=True), name
            if biased:
                assert row["p_value"] == pytest.approx(same["p_value"], abs=1e-12, nan_ok=True)
                continue
            floor = topics.replicated(
                real.reset_index(), scores, None, lexicon=lexicon, confidence=0.95
            )
            expected = floor["p_value"].iloc[0] if len(floor) else np.nan
            assert row["p_value"] == pytest.approx(expected, abs=1e-12, nan_ok=True)
            if len(floor):
                assert row["null"] == pytest.approx(floor["null"].iloc[0], abs=1e-12)
