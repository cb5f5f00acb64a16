"""Sentences about the news study, written from its tables.

>>> from nbbias import news, tables
>>> rows = [{"model": m, "measure": "word", "bias": "gender", "group": "female", "n": 9,
...          "statistic": "share_difference", "estimate": -0.1, "ci_low": -0.15, "ci_high": -0.05,
...          "p_adjusted": p} for m, p in (("a", 0.01), ("b", 0.2))]
>>> found = tables.estimates(rows, study="news_bias", confidence=0.95)
>>> news.sentences.differences(found, statistic="share_difference")[0].split(" (")[0]
'**Gender.** In 1 of 2 models'
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pandas as pd

from nbbias import reading
from nbbias.news import claims
from nbbias.news.claims import Level
from nbbias.news.fits import TEXTS_A_TOPIC, Number
from nbbias.news.sample import RECOVERED, SOURCE
from nbbias.params import Texts
from nbbias.reading import names, number, p_value, phrases, prose, significance
from nbbias.tables.escape import markdown as escape

#: The statistic of each measure that leads, in the order of what leads a page.
_LEADS = {
    "word": "share_difference_common",
    "document": "share_difference_common",
    "sentiment": "difference_beyond_neutral",
    "toxicity": "mean_difference",
}

#: What a run measures, by measure.
_MEASURES = {
    "word": "each group's share of the words for people",
    "sentiment": "the tone of the sentences about each group",
    "toxicity": "their toxicity",
    "document": "the room for topics that go with each group",
}

_ORIGINALS = "the human articles"
_REFERENCE = f"in {_ORIGINALS}"

_NOT = (
    "That a model is fair or unfair to people. Words are not people, the human articles are a "
    "reference and no ideal, and a difference that is not significant may still exist."
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
    found = _largest_first([part for part in parts if len(significance.significant(part))])
    parts = found + [part for part in parts if not len(significance.significant(part))]
    people = _people(estimates)
    summary = phrases.summarize(parts, reference=_REFERENCE)
    card = {
        "measures": _measured(estimates),
        "groups": "; ".join(people.values()),
        "N": _counted(pairs),
        "instrument": ", ".join(_instruments(estimates)),
        "not": _NOT,
    }
    technical, numbers = phrases.technical(parts), phrases.leading(found or parts)
    return reading.Lead(
        summary.sentences, technical, "finding", numbers, card, texts, claims=summary.claims
    )


def leading(declared: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of which `lead` speaks: the declared ones, or those of the first measure."""
    if reading.claims.CLAIM in declared:
        return declared
    for measure, statistic in _LEADS.items():
        own = declared[(declared["measure"] == measure) & (declared["statistic"] == statistic)]
        if len(own):
            return claims.unmirrored(own[own["instrument"] == own["instrument"].iloc[0]])
    return declared.iloc[:0]


def _largest_first(parts: Sequence[pd.DataFrame]) -> list[pd.DataFrame]:
    """Order what is shown: by measure, and within each, whose units are alike, by size."""
    order = {measure: at for at, measure in enumerate(_LEADS)}

    def place(own: pd.DataFrame) -> tuple[int, float]:
        far = (significance.significant(own)["estimate"]).abs().max()
        return order.get(str(own["measure"].iloc[0]), len(order)), -float(far)

    return sorted(parts, key=place)


def _people(estimates: pd.DataFrame) -> dict[str, str]:
    """Name the people of every bias: four groups, or how many there are."""
    found = estimates.dropna(subset="group").groupby("bias", sort=False)["group"].unique()
    return {
        str(bias): prose.listed([escape(names.people(one)) for one in groups], most=4)
        for bias, groups in found.items()
    }


def _measured(estimates: pd.DataFrame) -> str:
    what = [told for measure, told in _MEASURES.items() if (estimates["measure"] == measure).any()]
    return f"{prose.capitalize(prose.listed(what, most=4))}, against {_ORIGINALS}"


def _instruments(estimates: pd.DataFrame) -> list[str]:
    """Name the instruments, once each, by their first words."""
    named = estimates["instrument"].dropna().str.removesuffix(", descriptors masked")
    return [escape(one) for one in dict.fromkeys(named)]


def _counted(pairs: pd.DataFrame) -> str:
    known = pairs[pairs["lost"] != "no original"] if "lost" in pairs else pairs
    articles = len(known[["source", "article_id"]].drop_duplicates())
    models = pairs["model"].nunique()
    return (
        f"{articles:,} human articles and {len(pairs):,} texts that {models} "
        f"model{'' if models == 1 else 's'} wrote for them"
    )


def more(declared: pd.DataFrame) -> list[str]:
    """Say what these articles can show of what leads, and how many would show more.

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


def differences(
    estimates: pd.DataFrame, *, statistic: str = "share_difference_common"
) -> list[str]:
    """Say of each bias which signed differences are shown, and how large others had to be."""
    rows = claims.unmirrored(estimates[estimates["statistic"] == statistic])
    mde = significance.minimum_detectable_effect(rows)
    sentences = []
    for bias, own in _spoken(rows).groupby("bias", sort=False):
        told = phrases.differences(own, mde=mde, reference=_REFERENCE)
        text = f"**{prose.capitalize(escape(bias))}.** {told}"
        sentences.append(text)
    return sentences


def _spoken(rows: pd.DataFrame) -> pd.DataFrame:
    """Leave out biases of which no text says a word, which `coverage` tells, unless that is all."""
    spoken = rows.groupby("bias")["n"].transform("max") > 0
    return rows[spoken] if spoken.any() else rows


def result(estimates: pd.DataFrame, measure: str) -> str:
    """Say in a heading what one measure shows.

    Parameters
    ----------
    estimates
        ESTIMATES.
    measure
        ``"word"``, ``"sentiment"`` or ``"document"``.
    """
    rows = estimates[
        (estimates["measure"] == measure) & (estimates["statistic"] == _LEADS[measure])
    ]
    rows = rows[rows["instrument"] == rows["instrument"].iloc[0]] if len(rows) else rows
    if significance.valid_tests(rows).empty:
        return f"{_NOTHING[measure]} cannot be told from these texts"
    none = f"No difference in {_NOTHING[measure].lower()} could be shown"
    return phrases.heading(claims.unmirrored(rows), none=none)


def tells(estimates: pd.DataFrame, measure: str) -> bool:
    """Tell whether any row of a measure's leading statistic could be told: what a figure shows.

    Parameters
    ----------
    estimates
        ESTIMATES.
    measure
        As of `result`, or ``"distance"``.
    """
    statistic = _LEADS.get(measure, "bias")
    return len(significance.valid_tests(estimates[estimates["statistic"] == statistic])) > 0


def distances_result(estimates: pd.DataFrame) -> str:
    """Say in a heading whether answers lie further from originals than texts do anyway."""
    tested = estimates[(estimates["statistic"] == "bias") & estimates["p_adjusted"].notna()]
    if tested.empty:
        return "Whether the distance is beyond chance cannot be told from these texts"
    found, of = significance.significant(tested), f"of {len(tested)} mean distances"
    if found.empty:
        return f"None {of} exceeds its same-writer baseline"
    return (
        f"{len(found)} {of} {'exceeds' if len(found) == 1 else 'exceed'} the same-writer baseline"
    )


_NOTHING = {
    "word": "The shares of words",
    "sentiment": "The sentiment towards groups",
    "document": "The room for groups' topics",
}


def distances(estimates: pd.DataFrame, chance: pd.DataFrame) -> list[str]:
    """Say of each bias how large the mean distances and every reference are; then what exceeds.

    Beyond chance is only what exceeds replicates: two texts without any difference between writers.
    """
    sentences = []
    rows = estimates[(estimates["statistic"] == "bias") & estimates["estimate"].notna()]
    levels = chance[chance["statistic"] == "bias"]
    for bias, distances in rows.groupby("bias", sort=False):
        text = f"**{prose.capitalize(escape(bias))}.** Mean distances are "
        text += _ends(distances["estimate"])
        references = levels[levels["bias"] == bias]
        kind = references["test"].str.split(", ").str[0]
        for name, level in references.groupby(kind, sort=False):
            text += f"; {escape(str(name))}: {_ends(level['null'])}"
        sentences.append(f"{text}.")
    tested = rows[rows["p_adjusted"].notna()]
    if len(tested):
        sentences.append(_beyond(tested))
    untested = rows[rows["p_adjusted"].isna()]
    if len(untested):
        reasons = untested["reason"].where(untested["ci_low"].isna()).dropna().value_counts()
        why = escape(reasons.index[0]) if len(reasons) else _NO_REPLICATES
        sentences.append(
            f"{len(untested)} of {len(rows)} mean distances could not be tested: {why}."
        )
    return sentences


_NO_REPLICATES = (
    "that takes two human texts on a story, or a model asked twice, and enough articles that "
    "differ from these"
)


def _beyond(tested: pd.DataFrame) -> str:
    """Say which tested distances exceed their floor."""
    found = significance.significant(tested)
    what = f"of {len(tested)} mean distances"
    if found.empty:
        return f"None {what} exceeds its same-writer baseline."
    told = [
        f"{phrases.subject(row, tested)} ({number(row['estimate'], decimals=3)}; baseline "
        f"{number(row['null'], decimals=3)}; {p_value(row)})"
        for row in found.to_dict("records")
    ]
    verb = "exceeds" if len(found) == 1 else "exceed"
    return f"{len(found)} {what} {verb} the same-writer baseline: {prose.listed(told)}."


def _ends(values: pd.Series) -> str:
    low, high = (number(end, decimals=3) for end in (values.min(), values.max()))
    return low if low == high else f"{low} to {high}"


def tone(estimates: pd.DataFrame) -> list[str]:
    """Say of each bias which shifts of a group's tone are shown: by the instrument that leads.

    Then what other instruments say, and what of toxicity. Of sentiment beyond the shift of the
    sentences that name no group.
    """
    rows, first = _of_measure(estimates, "sentiment")
    mde = significance.minimum_detectable_effect(rows)
    lead, others = rows[rows["instrument"] == first], rows[rows["instrument"] != first]
    sentences = []
    for bias, own in _spoken(lead).groupby("bias", sort=False):
        told = phrases.differences(own, mde=mde, reference=_REFERENCE)
        sentences.append(f"**{prose.capitalize(escape(bias))}.** {told}")
    silent = []
    for instrument, own in others.groupby("instrument", sort=False):
        found = significance.significant(own)
        if len(found):
            told = phrases.differences(found, mde=mde, reference=_REFERENCE)
            sentences.append(f"**By {escape(instrument)}.** {told}")
        elif len(significance.valid_tests(own)):
            silent.append(escape(instrument))
    if silent:
        sentences.append(f"By {_all(silent)} no difference could be shown.")
    toxic, _ = _of_measure(estimates, "toxicity")
    if len(significance.valid_tests(toxic)):
        by = prose.listed([escape(one) for one in toxic["instrument"].unique()])
        told = phrases.differences(
            _spoken(toxic), mde=significance.minimum_detectable_effect(toxic), reference=_REFERENCE
        )
        sentences.append(f"**Toxicity** (by {by}). {told}")
    return sentences


def _of_measure(estimates: pd.DataFrame, measure: str) -> tuple[pd.DataFrame, str]:
    """Return the rows of a measure's leading statistic, and the instrument that comes first."""
    statistic = _LEADS[measure]
    of = (estimates["measure"] == measure) & (estimates["statistic"] == statistic)
    rows = estimates[of]
    return rows, "".join(rows["instrument"].head(1))


# --- topics -----------------------------------------------------------------------------------


def too_few(texts: int, number: Number) -> list[str]:
    """Say that texts are too few for topics; nothing where they are enough.

    Parameters
    ----------
    texts
        How many different texts there are.
    number
        Of `news.fits.number`.

    Examples
    --------
    >>> from nbbias.news.fits import Number
    >>> tried = pd.DataFrame({"n_topics": [10, 25]})
    >>> too_few(36, Number(0, tried, None))[0]
    'Topics are left out: 36 texts are too few for 10 topics, which take about 100.'
    >>> too_few(500, Number(10, tried, None))
    []
    """
    if number.n_topics:
        return []
    least = int(number.tried["n_topics"].min())
    told = f"{texts:,} texts are too few for {least} topics, which take about"
    return [f"Topics are left out: {told} {TEXTS_A_TOPIC * least:,}."]


# --- models -----------------------------------------------------------------------------------


def models(compared: pd.DataFrame, units: pd.DataFrame, *, confidence: float) -> list[str]:
    """Say which models differ from the reference model, by measure and bias.

    Parameters
    ----------
    compared
        Of `news.models.mixed_model`.
    units
        Of `news.models.units`: whose differences were compared.
    confidence
        1 less this is the level of the tests.
    """
    rows = compared[compared["statistic"] == "difference"]
    groups = units.drop_duplicates(["measure", "bias"]).set_index(["measure", "bias"])["group"]
    sentences, silent = [], []
    for (measure, bias), own in rows.groupby(["measure", "bias"], sort=False):
        kind = "share_difference" if measure == "word" else "mean_difference"
        key = {"study": "news_bias", "statistic": kind, "group": groups[measure, bias]}
        own = own.assign(**key, null=0.0, confidence=confidence, reason=own["reason"])
        found = significance.significant(own)
        name = phrases.measure(own.iloc[0].to_dict())
        if found.empty:
            silent.append(name)
            continue
        parts = [
            f"{phrases.subject(row, own)} lies {phrases.size(row, row['estimate'])} "
            f"{'below' if row['estimate'] < 0 else 'above'} {escape(row['reference'])} "
            f"({phrases.numbers(row, unit='articles')})"
            for row in found.to_dict("records")
        ]
        sentences.append(f"**{prose.capitalize(name)}:** {prose.listed(parts)}.")
    if silent:
        sentences.append(f"No model differs from the reference beyond chance in {_all(silent)}.")
    return sentences


def _all(names_of: Sequence[str]) -> str:
    return prose.listed(names_of, most=len(names_of))


def models_result(compared: pd.DataFrame, *, confidence: float) -> str:
    """Say in a heading how many differences between models are shown; nothing where none are."""
    rows = compared[compared["statistic"] == "difference"]
    if rows.empty:
        return ""
    found = int((rows["p_adjusted"] < 1 - confidence).sum())
    of = " and ".join(escape(one) for one in rows["reference"].dropna().unique()[:2])
    if not found:
        return f"No model differs from {of} beyond chance"
    return f"{found} of {len(rows)} differences from {of} are beyond chance"


# --- what was planted -------------------------------------------------------------------------


def planted(table: pd.DataFrame, estimates: pd.DataFrame) -> list[str]:
    """Say how many intervals hold the planted truth, and what was planted but not shown."""
    if table.empty:
        if (estimates["source"] == SOURCE).any():
            return ["Nothing was planted for these biases."]
        return ["This corpus was not simulated, so the truth is not known."]
    held, confidence = int((table["covered"] == "yes").sum()), estimates["confidence"].max()
    sentences = [
        f"{held} of {len(table)} intervals hold the planted difference; over many simulated "
        f"corpora about {number(confidence * len(table), decimals=1)} of {len(table)} would."
    ]
    keys = ["model", "measure", "bias", "group"]
    if not {*keys} <= {*table}:
        return sentences
    of = estimates["statistic"].isin(RECOVERED)
    first = estimates.groupby(["measure", "bias"])["instrument"].transform("first")
    rows = estimates[of & (estimates["instrument"] == first) & (estimates["source"] == SOURCE)]
    return sentences + came_back(rows.merge(table[[*keys, "planted"]], on=keys))


def came_back(rows: pd.DataFrame) -> list[str]:
    """Say of rows of ESTIMATES, each beside what was `planted`, which differences are shown."""
    there = claims.unmirrored(rows[rows["planted"].abs() > _NOTHING_PLANTED])
    found = there.index.isin(significance.significant(there).index)
    sentences = []
    for some, what in ((there[found], "Planted, and shown"), (there[~found], "Planted, not shown")):
        told = [
            f"{phrases.measure(row)} in {phrases.subject(row, rows)} "
            f"({phrases.size(row, row['planted'])} {'less' if row['planted'] < 0 else 'more'} "
            f"planted, {phrases.size(row, row['estimate'])} found)"
            for row in some.to_dict("records")
        ]
        if told:
            sentences.append(f"{what}: {_all(told)}.")
    if len(there[~found]):
        sentences[-1] += " These articles are too few for differences of that size."
    return sentences


def planted_result(table: pd.DataFrame) -> str:
    """Say in a heading how many intervals hold the planted truth; nothing without one."""
    if table.empty:
        return ""
    held = int((table["covered"] == "yes").sum())
    return f"{held} of {len(table)} intervals hold what was planted"


_NOTHING_PLANTED = 1e-9


# --- what counts ------------------------------------------------------------------------------


def corpus(originals: pd.DataFrame, generations: pd.DataFrame) -> str:
    """Say how many texts there are, of whom."""
    models, articles = (
        generations["model"].nunique(),
        len(originals[["source", "article_id"]].drop_duplicates()),
    )
    text = f"{articles:,} human articles and {len(generations):,} texts by {models} "
    text += f"model{'' if models == 1 else 's'}"
    prompts = generations["prompt"].nunique() if "prompt" in generations else 1
    return f"{text}{f' under {prompts} prompts' if prompts > 1 else ''}"


def coverage(found: pd.DataFrame) -> list[str]:
    """Say of each bias how much of its word list occurs, and in how many texts.

    Parameters
    ----------
    found
        Of `news.corpus.coverage`.
    """
    sentences = []
    for bias, own in found.groupby("bias", sort=False):
        total = own[own["group"] == "any"].iloc[0]
        name = prose.capitalize(escape(bias))
        if not total["terms_seen"]:
            none = f"None of {total['terms']:,} listed terms occurs, so nothing is told of it here."
            sentences.append(f"**{name}.** {none}")
            continue
        parts = [
            f"{escape(names.of_people(str(row['group'])))} in {row['text_share']:.0%}"
            for row in own[own["group"] != "any"].to_dict("records")
        ]
        sentences.append(
            f"**{name}.** {total['terms_seen']:,} of {total['terms']:,} listed "
            f" terms occur, {total['matches']:,} times, in {total['text_share']:.0%} of the "
            f"texts ({prose.listed(parts, most=6)})."
        )
    return sentences


def counted(levels: Iterable[Level], pairs: pd.DataFrame) -> list[str]:
    """Say for each level how many pairs count by bias, and how many answers fall silent.

    Raises
    ------
    ValueError
        The steps of a level's losses do not add up to the pairs that there are.
    """
    sentences = []
    silent = "no group words in the answer"
    for level in levels:
        steps = of_first_instrument(level.losses)
        measure = "".join(level.scores["measure"].head(1))
        told, dropped = [], []
        for bias, own in steps.groupby("bias", sort=False):
            parts = int(own.select_dtypes("number").drop(columns="pairs").to_numpy().sum())
            if parts != len(pairs):
                raise ValueError(f"{bias}: the steps add up to {parts}, not {len(pairs)}")
            kept = int(own["counted"].sum())
            told.append(f"{kept:,} for {escape(bias)} ({kept / len(pairs):.0%})")
            if silent in own and own[silent].sum():
                dropped.append(f"{int(own[silent].sum()):,} of {escape(bias)}")
        if not told:
            continue
        text = f"**{_LEVEL.get(measure, measure)}.** Of {len(pairs):,} pairs count {_all(told)}."
        if dropped:
            text += (
                f" The answer names nobody though its original does in {_all(dropped)}: what is "
                "left out altogether drops out of these measures."
            )
        sentences.append(text)
    return sentences


_LEVEL = {"word": "Words", "sentiment": "Tone", "toxicity": "Tone", "document": "Topics"}


def of_first_instrument(losses: pd.DataFrame) -> pd.DataFrame:
    """Return the losses of the instrument that leads: each counts the same pairs again."""
    if "instrument" not in losses:
        return losses
    return losses[losses["instrument"] == losses["instrument"].iloc[0]]


# --- labels -----------------------------------------------------------------------------------


def accuracy(rates: pd.DataFrame) -> list[str]:
    """Say how often the word lists are wrong.

    Parameters
    ----------
    rates
        Of `news.labels.accuracy`.
    """
    sentences = []
    words = rates[rates["of"] == "group words"]
    for (bias, group), rows in words.groupby(["bias", "group"], sort=False):
        name, people = prose.capitalize(escape(bias)), escape(names.people(group))
        at = rows.set_index(["statistic", "side"])
        precision, recall = (at.loc[(statistic, "both")] for statistic in ("precision", "recall"))
        if pd.isna(precision["estimate"]) and pd.isna(recall["estimate"]):
            sentences.append(f"**{name}.** No label tells of words for {people}.")
            continue
        human, answers = at["estimate"]["recall"][["human", "answers"]].map(number)
        sentences.append(
            f"**{name}.** Of the words listed for {people}, {_share(precision)} name them; of the "
            f"sentences about {people}, {_share(recall)} have such a word ({human} in human "
            f"articles, {answers} in answers)."
        )
    return sentences


def _share(row: pd.Series) -> str:
    if pd.isna(row["estimate"]):
        return "an unknown share"
    low, high = number(row["ci_low"]), number(row["ci_high"])
    return f"{number(row['estimate'])} ({low} to {high}; N = {row['n']:,} labels)"
