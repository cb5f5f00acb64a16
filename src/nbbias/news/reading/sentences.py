"""Sentences about the news study, written from its tables.

>>> from nbbias import news, tables
>>> rows = [{"model": m, "measure": "word", "bias": "gender", "group": "female", "n": 9,
...          "statistic": "share_difference_common", "estimate": -0.1, "ci_low": -0.15,
...          "ci_high": -0.05, "p_adjusted": p} for m, p in (("a", 0.01), ("b", 0.2))]
>>> table = tables.estimates(rows, study="news_bias", confidence=0.95)
>>> news.sentences.differences(table, "word")[0].split(" (")[0]
'**Gender.** In 1 of 2 models'
"""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from nbbias import reading
from nbbias.news import claims
from nbbias.news.fits import TEXTS_A_TOPIC, Number
from nbbias.news.sample import RECOVERED, SOURCE
from nbbias.params import Texts
from nbbias.reading import names, number, p_value, phrases, prose, significance
from nbbias.tables.escape import markdown as escape

#: The statistic of each measure that leads, in the order of what leads a page.
LEADS = {
    "word": "share_difference_common",
    "document": "share_difference_common",
    "sentiment": "difference_beyond_neutral",
    "toxicity": "mean_difference",
}

#: What a run measures, by measure.
_MEASURES = {
    "word": "each group's share of group words",
    "sentiment": "the tone of the sentences about each group",
    "toxicity": "their toxicity",
    "document": "each group's share of content on group topics",
}

_ORIGINALS = "the human articles"
_REFERENCE = f"in {_ORIGINALS}"

_NOT = (
    "That a model is fair or unfair to people. Words are not people, the human articles are a "
    "reference, not an ideal, and a difference that is not significant may still exist."
)

# --- the first screen -------------------------------------------------------------------------


def lead(
    declared: pd.DataFrame, *, estimates: pd.DataFrame, pairs: pd.DataFrame, texts: Texts
) -> reading.Lead:
    """Say what a run found: what leads its page.

    Parameters
    ----------
    declared
        The declared rows (`reading.claims.declared`), or all estimates where there are none: then
        the first level that was measured leads, and is called exploratory.
    estimates
        ESTIMATES of all levels.
    pairs
        What `news.pair` returned.
    texts
        Where the texts are from.
    """
    parts = phrases.families(leading(declared))
    significant = _largest_first([part for part in parts if len(significance.significant(part))])
    parts = significant + [part for part in parts if significance.significant(part).empty]
    summary = phrases.summarize(parts, reference=_REFERENCE)
    measured = [text for name, text in _MEASURES.items() if name in set(estimates["measure"])]
    groups = estimates.dropna(subset="group").groupby("bias", sort=False)["group"].unique()
    people = [prose.listed([escape(names.people(g)) for g in named], most=4) for named in groups]
    instruments = estimates["instrument"].dropna().str.removesuffix(", descriptors masked")
    articles = pairs[pairs["lost"] != "no original"] if "lost" in pairs else pairs
    n = len(articles[["source", "article_id"]].drop_duplicates())
    card = {
        "measures": f"{prose.capitalize(prose.listed(measured, most=4))}, against {_ORIGINALS}",
        "groups": "; ".join(people),
        "N": f"{n:,} human articles and {_texts(pairs)}",
        "instrument": ", ".join(escape(one) for one in dict.fromkeys(instruments)),
        "not": _NOT,
    }
    return reading.Lead(
        summary.sentences,
        phrases.technical(parts),
        "finding",
        phrases.leading(significant or parts),
        card,
        texts,
        claims=summary.claims,
    )


def leading(declared: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of which `lead` speaks: the declared ones, or those of the first measure."""
    if reading.claims.CLAIM in declared:
        return declared
    for measure in LEADS:
        rows = _rows(declared, measure)
        if len(rows):
            return claims.unmirrored(_first_instrument(rows))
    return declared.iloc[:0]


def _largest_first(parts: Sequence[pd.DataFrame]) -> list[pd.DataFrame]:
    """Order what is significant: by measure, and within each, whose units are alike, by size."""
    order = {measure: at for at, measure in enumerate(LEADS)}

    def place(part: pd.DataFrame) -> tuple[int, float]:
        largest = significance.significant(part)["estimate"].abs().max()
        return order.get(str(part["measure"].iloc[0]), len(order)), -float(largest)

    return sorted(parts, key=place)


def more(declared: pd.DataFrame) -> list[str]:
    """Say which differences N can detect, and how many articles would detect smaller ones.

    Examples
    --------
    >>> from nbbias import news, tables
    >>> row = {"measure": "word", "statistic": "share_difference_common", "group": "female",
    ...        "estimate": 0.0, "ci_low": -0.1, "ci_high": 0.1, "df": 70, "n": 71, "p_value": 1.0,
    ...        "p_adjusted": 1.0, "instrument": "word list"}
    >>> news.sentences.more(tables.estimates([row], study="news_bias", confidence=0.95))[0][:56]
    "Women's share of group terms: with 71 articles the minim"
    """
    return phrases.power(leading(declared))


# --- differences ------------------------------------------------------------------------------

_NOTHING = {
    "word": "the shares of words",
    "sentiment": "the sentiment towards groups",
    "document": "the shares of content on group topics",
}


def _rows(estimates: pd.DataFrame, measure: str) -> pd.DataFrame:
    """Return the rows of a measure's leading statistic."""
    rows = estimates[estimates["measure"] == measure]
    return rows[rows["statistic"] == LEADS[measure]]


def _first_instrument(rows: pd.DataFrame) -> pd.DataFrame:
    return rows[rows["instrument"].isin(rows["instrument"].head(1))]


def result(estimates: pd.DataFrame, measure: str) -> str:
    """Say in a heading which differences of a measure are significant.

    Parameters
    ----------
    estimates
        ESTIMATES.
    measure
        ``"word"``, ``"sentiment"`` or ``"document"``.
    """
    rows = _first_instrument(_rows(estimates, measure))
    if significance.valid_tests(rows).empty:
        return f"{prose.capitalize(_NOTHING[measure])} could not be tested"
    none = f"No significant difference in {_NOTHING[measure]}"
    return phrases.heading(claims.unmirrored(rows), none=none)


def is_tested(estimates: pd.DataFrame, measure: str) -> bool:
    """Return whether any row of a measure's leading statistic was tested: what a figure shows."""
    return len(significance.valid_tests(_rows(estimates, measure))) > 0


def differences(estimates: pd.DataFrame, measure: str) -> list[str]:
    """Say of each bias which differences are significant; then of other instruments, of toxicity.

    Parameters
    ----------
    estimates
        ESTIMATES.
    measure
        As of `result`; toxicity goes with sentiment.
    """
    rows = _rows(estimates, measure)
    if measure != "sentiment":
        rows = claims.unmirrored(rows)
    mde = significance.minimum_detectable_effect(rows)
    first = _first_instrument(rows)
    sentences = [
        f"**{prose.capitalize(escape(bias))}.** {_differences(part, mde)}"
        for bias, part in _named(first).groupby("bias", sort=False)
    ]
    for instrument, part in rows.drop(first.index).groupby("instrument", sort=False):
        significant = significance.significant(part)
        none = "No significant difference." if len(significance.valid_tests(part)) else ""
        text = _differences(significant, mde) if len(significant) else none
        sentences += [f"**By {escape(instrument)}.** {text}"] if text else []
    toxic = _rows(estimates, "toxicity") if measure == "sentiment" else rows.iloc[:0]
    if len(significance.valid_tests(toxic)):
        text = _differences(_named(toxic), significance.minimum_detectable_effect(toxic))
        sentences.append(f"**Toxicity.** {text}")
    return sentences


def _differences(rows: pd.DataFrame, mde: pd.Series) -> str:
    return phrases.differences(rows, mde=mde, reference=_REFERENCE)


def _named(rows: pd.DataFrame) -> pd.DataFrame:
    """Leave out biases of which no text has a word, unless that is all."""
    named = rows.groupby("bias")["n"].transform("max") > 0
    return rows[named] if named.any() else rows


def distances(estimates: pd.DataFrame) -> tuple[str, list[str]]:
    """Say in a heading, and with numbers, which distances exceed the same-writer baseline."""
    rows = estimates[(estimates["statistic"] == "bias") & estimates["estimate"].notna()]
    tested = rows[rows["p_adjusted"].notna()]
    untested = rows[rows["p_adjusted"].isna()]
    details = []
    if len(untested):
        why = phrases.commonest_reason(untested[untested["ci_low"].isna()]) or _NO_REPLICATES
        text = f"{len(untested)} of {_distances(len(rows))} could not be tested: {escape(why)}."
        details.append(text)
    if tested.empty:
        return "", details
    significant = significance.significant(tested)
    what = f"of {_distances(len(tested))}"
    if significant.empty:
        return f"None {what} significantly exceeds its same-writer baseline", details
    verb = "exceeds" if len(significant) == 1 else "exceed"
    rows_by_model = [
        f"{phrases.subject(row, tested)} ({number(row['estimate'], decimals=3)}; baseline "
        f"{number(row['null'], decimals=3)}; {p_value(row)})"
        for row in significant.to_dict("records")
    ]
    heading = f"{len(significant)} {what} significantly {verb} the same-writer baseline"
    return heading, [f"Significantly above the baseline: {prose.listed(rows_by_model)}.", *details]


def _distances(n: int) -> str:
    return f"{n} mean distance{'' if n == 1 else 's'}"


_NO_REPLICATES = (
    "a test needs two human texts on a story, or two answers of a model, and enough articles that "
    "differ from these"
)


def too_few(texts: int, number: Number | None) -> list[str]:
    """Say that texts are too few for topics; nothing where they are enough.

    Parameters
    ----------
    texts
        How many different texts there are.
    number
        Of `news.fits.number`; None where topics are not in the run.

    Examples
    --------
    >>> from nbbias.news.fits import Number
    >>> tried = pd.DataFrame({"n_topics": [10, 25]})
    >>> too_few(36, Number(0, tried, None))[0]
    'Topics are left out: 36 texts are too few for 10 topics, which take about 100.'
    >>> too_few(500, Number(10, tried, None))
    []
    """
    if number is None or number.n_topics:
        return []
    least = int(number.tried["n_topics"].min())
    what = f"{texts:,} texts are too few for {least} topics, which take about"
    return [f"Topics are left out: {what} {TEXTS_A_TOPIC * least:,}."]


def models(compared: pd.DataFrame) -> str:
    """Say in a heading how many differences between models are significant; none without any."""
    rows = compared[compared["statistic"] == "difference"]
    if rows.empty:
        return ""
    k = int(significance.has_significant_p(rows).sum())
    reference = prose.listed([escape(one) for one in rows["reference"].dropna().unique()[:2]])
    if not k:
        return f"No model differed significantly from {reference}"
    return f"{k} of {len(rows)} differences from {reference} were significant"


# --- what was simulated -----------------------------------------------------------------------


def planted(table: pd.DataFrame, estimates: pd.DataFrame) -> list[str]:
    """Say how many intervals contain the true difference, and which differences are significant."""
    if table.empty:
        if (estimates["source"] == SOURCE).any():
            return ["No difference was simulated for these biases."]
        return ["This corpus was not simulated, so the truth is not known."]
    held, confidence = int((table["covered"] == "yes").sum()), estimates["confidence"].max()
    sentences = [
        f"{held} of {len(table)} intervals contain the simulated difference (expected at "
        f"{confidence:.0%} confidence: {number(confidence * len(table), decimals=1)})."
    ]
    keys = ["model", "measure", "bias", "group"]
    if not {*keys} <= {*table}:
        return sentences
    of = estimates["statistic"].isin(RECOVERED)
    first = estimates.groupby(["measure", "bias"])["instrument"].transform("first")
    rows = estimates[of & (estimates["instrument"] == first) & (estimates["source"] == SOURCE)]
    return sentences + detected_effects(rows.merge(table[[*keys, "planted"]], on=keys))


def detected_effects(rows: pd.DataFrame) -> list[str]:
    """Say of rows of ESTIMATES with what was `planted` which differences are significant."""
    nonzero = claims.unmirrored(rows[rows["planted"].abs() > _NEGLIGIBLE])
    significant = nonzero.index.isin(significance.significant(nonzero).index)
    sentences = []
    for subset, what in (
        (nonzero[significant], "Simulated, and significant"),
        (nonzero[~significant], "Simulated, but not significant"),
    ):
        parts = [
            f"{phrases.measure(row)} in {phrases.subject(row, rows)} "
            f"({phrases.size(row, row['planted'])} {'less' if row['planted'] < 0 else 'more'} "
            f"simulated, {phrases.size(row, row['estimate'])} estimated)"
            for row in subset.to_dict("records")
        ]
        if parts:
            sentences.append(f"{what}: {prose.listed(parts, most=len(parts))}.")
    if len(nonzero[~significant]):
        sentences[-1] += " N is too small to detect differences of that size."
    return sentences


def recovery_heading(table: pd.DataFrame) -> str:
    """Say in a heading how many intervals contain the true difference; nothing without one."""
    if table.empty:
        return ""
    held = int((table["covered"] == "yes").sum())
    return f"{held} of {len(table)} intervals contain the simulated difference"


_NEGLIGIBLE = 1e-9


# --- what counts ------------------------------------------------------------------------------


def _texts(table: pd.DataFrame) -> str:
    models = table["model"].nunique()
    return f"{len(table):,} texts by {models} model{'' if models == 1 else 's'}"


def corpus(originals: pd.DataFrame, generations: pd.DataFrame) -> str:
    """Say how many texts there are, of whom."""
    articles = len(originals[["source", "article_id"]].drop_duplicates())
    text = f"{articles:,} human articles and {_texts(generations)}"
    prompts = generations["prompt"].nunique() if "prompt" in generations else 1
    return f"{text}{f' under {prompts} prompts' if prompts > 1 else ''}"


def coverage(table: pd.DataFrame) -> list[str]:
    """Say of each bias how many listed terms occur, and in how many texts.

    Parameters
    ----------
    table
        Of `news.corpus.coverage`.
    """
    sentences = []
    for row in table[table["group"] == "any"].to_dict("records"):
        terms = f"{row['terms_seen']:,} of {row['terms']:,} listed terms occur"
        where = f", in {row['text_share']:.0%} of the texts" if row["terms_seen"] else ""
        sentences.append(f"**{prose.capitalize(escape(row['bias']))}.** {terms}{where}.")
    return sentences
