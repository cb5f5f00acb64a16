"""How often models refuse, before any content: by prompt, outlet, and who the headline names.

>>> import pandas as pd
>>> from nbbias import biased_prompts
>>> answers = pd.DataFrame({"source": "s", "article_id": ["1", "2"], "model": "m",
...                         "prompt": "biased", "refused": [True, False]})
>>> rates = biased_prompts.refusing.rates(answers).estimates
>>> rates.loc[rates["statistic"] == "refusal_rate", "estimate"].tolist()
[0.5]
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import hypergeom

from nbbias import news, refusals, stats, tables
from nbbias.biased_prompts.corpus import EVERY, NOBODY
from nbbias.tables import Column, DataError
from nbbias.text import annotate

Row = dict[str, Any]

ARTICLE = news.corpus.ARTICLE

STUDY = "biased_prompts"

#: What `news.corpus.pair` and the measures say of an answer that was refused.
REFUSED = "refused"

#: The instrument of refusals that came with the corpus.
RECORDED = "recorded"

#: Columns of answers: people's labels of some, by one person or two, and the probability with which
#: each of these was drawn.
_LABELS, _PROBABILITY = ["refused_label", "refused_label_2"], "label_probability"

#: The round in which a text was drawn, where labels are from `nbbias label --until`.
_ROUND = "label_round"

#: A sheet of it.
_SHEET = {"text_id": Column("text", needed=True), "refused": Column("flag", needed=True)}
_SHEET |= {"round": Column("count", needed=True), "probability": Column("number", needed=True)}
_SHEET |= {"annotator": Column("text")}

#: Ends the name of a rate, or its change, from labels of some answers and verdicts on all; and of
#: its interval where either of two people may be wrong.
TWO_PHASE, DISPUTED = "_two_phase", "_two_phase_disputed"

#: Statistics that are tested. Each is a family of its own.
TESTED = ("refusal_rate_change", "refusal_difference")


def answered(generations: pd.DataFrame) -> pd.DataFrame:
    """Return GENERATIONS with the verdict on each answer, unless refusals are recorded already.

    Returns
    -------
    DataFrame
        The table with `refused` (nullable bool), `score` and `reason` of `refusals.detect`; a
        column `refused` that is there stays, and is called recorded.
    """
    if "refused" in generations:
        return generations.assign(refused=generations["refused"].astype("boolean"), reason=RECORDED)
    verdicts = refusals.detect(generations["text"])
    return generations.assign(**verdicts.filter(["refused", "score", "reason"]).to_dict("series"))


def to_label(answers: pd.DataFrame) -> pd.DataFrame:
    """Return answers as people label them in rounds.

    Returns
    -------
    DataFrame
        By the index of `answers`, the table of `answered`: `text_id` (a hash), `text`, `cell` (the
        model and prompt), `unit` (the article) and `score`, the detector's.
    """
    written = answers[[*ARTICLE, "model", "prompt", "sample"]].astype(str).agg("|".join, axis=1)
    table = answers[["text"]].assign(text_id=[tables.hash_json(name)[:16] for name in written])
    table["cell"] = answers["model"] + ", " + answers["prompt"]
    table["unit"] = answers.groupby(ARTICLE, sort=False).ngroup()
    return table.assign(score=_scores(answers))


def add_labels(answers: pd.DataFrame, path: str) -> pd.DataFrame:
    """Return the table of `answered` with people's labels: a sheet of `nbbias label --until`.

    Raises
    ------
    DataError
        No answer is labelled.
    """
    asked, sheet = to_label(answers), tables.read_table(path, _SHEET)
    cells = asked.set_index("text_id")["cell"]
    labels = stats.summarize_labels(sheet, "refused", cells=cells, where=path)
    if not labels["raters"].any():
        raise DataError(path, "no answer of this run is labelled; fill the column refused")
    table = asked[["text_id"]].join(labels, on="text_id")
    second = table["high"].where(table["raters"] > 1)
    marks = dict(zip(_LABELS, (table["low"], second), strict=True))
    return answers.assign(**marks, **{_PROBABILITY: table["counted"], _ROUND: table["round"]})


def _scores(answers: pd.DataFrame) -> pd.Series:
    """Return the detector's scores of answers; where it gave none, the verdicts as 1 and 0."""
    verdicts = answers["refused"].astype("Float64").astype(float)
    return answers["score"].fillna(verdicts) if "score" in answers else verdicts


def without_refusals(pairs: pd.DataFrame, answers: pd.DataFrame) -> pd.DataFrame:
    """Return PAIRS in which refused answers are lost, with the reason ``"refused"``.

    Parameters
    ----------
    pairs
        PAIRS of `news.corpus.pair`.
    answers
        The table of `answered`, of the same answers in the same order.
    """
    refused = answers["refused"].fillna(False).to_numpy(bool)
    return pairs.assign(lost=pairs["lost"].mask(pairs["lost"].isna() & refused, REFUSED))


def headline_groups(originals: pd.DataFrame, lexicon: pd.DataFrame) -> pd.DataFrame:
    """Return whom the headlines name: `source`, `article_id`, `bias`, `group`, one row each.

    A headline that names several groups has a row for each; one that names none has a row
    with the group ``"nobody named"``. A corpus without headlines gives no rows.
    """
    if "headline" not in originals:
        return pd.DataFrame(columns=[*ARTICLE, "bias", "group"], dtype="str")
    headlines = originals.drop_duplicates(ARTICLE).reset_index(drop=True)
    _, matches = annotate.annotate(headlines["headline"], lexicon)
    keys = ["text_id", "bias"]
    mentions = matches[[*keys, "group"]].astype({"bias": "str", "group": "str"}).drop_duplicates()
    whole = pd.MultiIndex.from_product([headlines.index, lexicon["bias"].unique()], names=keys)
    table = whole.to_frame(index=False).merge(mentions, how="left").fillna({"group": NOBODY})
    return headlines[ARTICLE].join(table.set_index("text_id")).sort_values(ARTICLE, kind="stable")


def rates(
    answers: pd.DataFrame,
    *,
    headlines: pd.DataFrame | None = None,
    neutral: str = "neutral",
    biased: str = "biased",
    confidence: float = stats.CONFIDENCE,
) -> tables.Estimated:
    """Estimate how often models refuse.

    Parameters
    ----------
    answers
        The table of `answered`, of one or more prompts.
    headlines
        The table of `headline_groups`, for the rates by whom a headline names.
    neutral, biased
        The two values of `prompt` that are compared.
    confidence
        Level of the intervals.

    Returns
    -------
    tables.Estimated
        ESTIMATES, and the articles' values behind their means. By `statistic`; N counts articles,
        `n_lost` those without an answer:

        - ``refusal_rate``: share of full refusals, by model and prompt, over all outlets; and by
          the group that the headline names. Wilson interval; where articles were asked about
          repeatedly, the t interval over their rates.
        - ``refusal_rate_change``: biased minus neutral, over the articles answered (or refused)
          under both (`stats.paired_shares`; of repeated answers a paired t-test).
        - ``refusal_difference``: the biased prompt's rate for headlines that name a group, less
          that for those that name nobody; Newcombe's interval, Fisher's exact test; one family.
          N counts the headlines of both.

        Where people labelled some of the answers (`refused_label`), rates have a row
        ``…_two_phase`` (`stats.two_phase`; of labels in rounds `stats.active_share`), whose N
        counts labels, and ``…_two_phase_disputed``: where two people did (`refused_label_2`), the
        same with an interval that holds whoever of them is right. So has the change, with prompts
        as independent. Else, where refusals were detected, rates and changes have a row
        ``…_corrected``, which is exploratory: corrected for the detector's errors on models that
        it had not seen (`stats.correct_share`,
        `stats.correct_difference`); the interval of a rate holds the worst case, too
        (`stats.worst_case`). If the detector's errors are the same under both prompts, a test of
        the uncorrected rates also tests the corrected ones.
    """
    recorded = "reason" in answers and (answers["reason"] == RECORDED).all() and len(answers)
    instrument = RECORDED if recorded else refusals.instrument()
    how = _How(confidence, None if recorded else stats.estimate_error_rates(refusals.unseen()))
    units = _by_article(answers)
    rows: list[Row] = []
    by_prompt: dict[tuple[str, str], dict[str, stats.Estimate]] = {}
    for (model, prompt), subset in units.groupby(["model", "prompt"], sort=False):
        of_prompt = answers[answers["model"].eq(model) & answers["prompt"].eq(prompt)]
        labelled = by_prompt[model, prompt] = _labelled(of_prompt, confidence)
        key = {"model": model, "prompt": prompt, "source": EVERY}
        rows += [key | row for row in _rate(subset, how, labelled)]
    for model, subset in units.groupby("model", sort=False):
        key = {"model": model, "prompt": f"{biased} − {neutral}", "source": EVERY}
        sides = [by_prompt.get((model, side), {}) for side in (biased, neutral)]
        options = how._replace(errors=None) if all(sides) else how
        rows += [key | row for row in _changes(subset, [biased, neutral], options)]
        rows += [key | row for row in _labelled_change(*sides)]
    if headlines is not None:
        rows += _by_group(units, headlines, biased, how)
    result = tables.estimates_and_units(
        rows, study=STUDY, measure="refusal", instrument=instrument, confidence=confidence
    )
    table = stats.adjust(result.estimates, family=["statistic"], where={"statistic": TESTED})
    return result._replace(estimates=table)


class _How(NamedTuple):
    """How rates are estimated: the level, and the detector's errors."""

    confidence: float
    errors: stats.ErrorRates | None


def _by_article(answers: pd.DataFrame) -> pd.DataFrame:
    """Average each article's verdicts."""
    keys = [*ARTICLE, "model", "prompt"]
    table = answers[keys].assign(rate=_scores(answers[["refused"]]))
    table = table.groupby(keys, sort=False)["rate"].mean().reset_index()
    unit = table["source"].astype(str) + " / " + table["article_id"].astype(str)
    return table.set_index(unit.rename("unit"))


def _share(values: pd.Series, confidence: float) -> stats.Estimate:
    """Return the mean of articles' rates: a share where each is 0 or 1."""
    if values.dropna().isin([0.0, 1.0]).all():
        return stats.share_interval(values, confidence=confidence)
    return stats.mean_interval(values, confidence=confidence, bounds=(0, 1))


def _labelled(answers: pd.DataFrame, confidence: float) -> dict[str, stats.Estimate]:
    """Estimate a rate from people's labels of some answers and the verdicts on all, by its ending.

    Where two people disagree an answer counts as half a refusal, or as whoever of them says it.
    """
    labels = answers.reindex(columns=_LABELS).astype("Float64").astype(float)
    if labels.isna().all(axis=None):
        return {}
    articles = answers.groupby(ARTICLE, sort=False).ngroup().to_numpy()
    how: Row = {"probability": answers.get(_PROBABILITY), "in_rounds": _ROUND in answers}
    how["prompts"] = articles if len(np.unique(articles)) < len(articles) else None
    judge = _scores(answers if how["in_rounds"] else answers[["refused"]])
    of_two = {"label": "mean", "low": "min", "high": "max", "raters": "count"}
    sides = pd.DataFrame({name: labels.agg(by, axis=1) for name, by in of_two.items()})
    shares = stats.labelled_shares(judge, sides, confidence=confidence, **how)
    return dict(zip((TWO_PHASE, DISPUTED), shares, strict=True))


def _labelled_change(
    biased: dict[str, stats.Estimate], neutral: dict[str, stats.Estimate]
) -> list[Row]:
    """Subtract two prompts' rates of `_labelled`, as of independent answers."""
    rows = []
    for end in biased if neutral else ():
        sides = biased[end], neutral[end]
        n, reasons = min(side.n or 0 for side in sides), [side.reason for side in sides]
        result = stats.Estimate(*stats.subtract_rates(*sides), n=n, null=0.0)
        result = result.replace(reason=next(filter(None, reasons), None))
        rows.append({"statistic": f"refusal_rate_change{end}"} | result.row())
    return rows


def _rate(
    subset: pd.DataFrame, how: _How, labelled: dict[str, stats.Estimate] | None = None
) -> list[Row]:
    """Return the share of articles refused, and the same by labels or else corrected for errors."""
    rate = _share(subset["rate"], how.confidence)
    rows = [{"statistic": "refusal_rate", **rate.row(), "values": subset["rate"]}]
    for end, result in (labelled or {}).items():
        rows.append({"statistic": f"refusal_rate{end}"} | result.row())
    if how.errors is not None and not labelled:
        # Repeated answers to an article count as one, which is conservative.
        options: Row = {"rates": how.errors, "confidence": how.confidence}
        result = stats.correct_share(rate.estimate, rate.n or 0, **options)
        result = stats.worst_case(result, rate, rates=how.errors)
        row = result.replace(n=rate.n, n_lost=rate.n_lost).row()
        rows.append({"statistic": "refusal_rate_corrected"} | row)
    return rows


def _changes(subset: pd.DataFrame, prompts: list[str], how: _How) -> list[Row]:
    """Return the change of a model's rate from the second prompt to the first, and corrected."""
    wide = subset.pivot(columns="prompt", values="rate").reindex(columns=prompts)
    sides = [wide[prompt] for prompt in prompts]
    change, both = sides[0] - sides[1], wide.dropna()
    result = stats.one_sample(change, confidence=how.confidence).replace(test="paired t", null=0.0)
    if len(both) and both.isin([0, 1]).all(axis=None):
        result = stats.paired_shares(*sides, confidence=how.confidence).replace(null=0.0)
    rows = [{"statistic": "refusal_rate_change", "values": change} | result.row()]
    if how.errors is not None:
        shares = [(float(both[side].mean()), float(len(both))) for side in prompts]
        options: Row = {"rates": how.errors, "confidence": how.confidence}
        corrected = stats.correct_difference(result, shares=shares, **options)
        corrected = corrected.replace(n=result.n, n_lost=result.n_lost, null=0.0)
        rows.append({"statistic": "refusal_rate_change_corrected"} | corrected.row())
    return rows


def _by_group(units: pd.DataFrame, headlines: pd.DataFrame, biased: str, how: _How) -> list[Row]:
    rows: list[Row] = []
    joined = units.reset_index().merge(headlines, on=ARTICLE, how="inner").set_index("unit")
    for (model, prompt, bias), subset in joined.groupby(["model", "prompt", "bias"], sort=False):
        key: Row = {"model": model, "prompt": prompt, "bias": bias, "source": EVERY}
        rest = subset.loc[subset["group"] == NOBODY, "rate"].dropna()
        for group, part in subset.groupby("group"):
            estimates = _rate(part, how)
            if prompt == biased and group != NOBODY:
                row = _difference(part["rate"], rest, how.confidence)
                estimates.append({"statistic": "refusal_difference"} | row)
            rows += [key | {"group": group} | row for row in estimates]
    return rows


def _difference(group: pd.Series, rest: pd.Series, confidence: float) -> Row:
    """Return the difference of two rates by Fisher's exact test, and the least p it could give."""
    observed = group.dropna()
    result = stats.two_shares(observed, rest, confidence=confidence)
    lost, n = len(group) - len(observed), len(observed) + len(rest)
    result = result.replace(n=n, n_lost=lost, null=0.0, test="Fisher's exact")
    if observed.empty or rest.empty:
        side = "name the group" if observed.empty else "name nobody"
        return result.without_test(f"no answers to headlines that {side}").row()
    if not (observed.isin([0, 1]).all() and rest.isin([0, 1]).all()):
        return result.without_test("repeated answers: no exact test").row()
    if not observed.any() and not rest.any():
        return result.without_test("no headline was refused").row()
    refused = int(observed.sum() + rest.sum())
    probabilities = hypergeom(n, refused, len(observed)).pmf(np.arange(len(observed) + 1))
    p = stats.exact_p(probabilities, int(observed.sum()))
    return result.replace(statistic_value=np.nan, reason=None).row() | p
