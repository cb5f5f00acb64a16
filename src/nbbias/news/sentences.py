"""Sentences about the news study, written from its tables.

>>> from nbbias import news, tables
>>> rows = [{"model": m, "measure": "word", "bias": "gender", "group": "female", "n": 9,
...          "statistic": "share_difference", "estimate": -0.1, "ci_low": -0.15, "ci_high": -0.05,
...          "p_adjusted": p} for m, p in (("a", 0.01), ("b", 0.2))]
>>> found = tables.estimates(rows, study="news_bias", confidence=0.95)
>>> news.sentences.differences(found, statistic="share_difference")[0].split(" (")[0]
"**Gender.** Women's share of the words is smaller in a"
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

import pandas as pd

from nbbias import reading
from nbbias.news import claims, replicates
from nbbias.news.claims import Level
from nbbias.news.corpus import CELL, Read
from nbbias.news.sample import SOURCE
from nbbias.params import Texts
from nbbias.reading import escape, names, number, p_value, plain

#: What is dealt out anew, by reference.
_DEALT = {"words": "words", "sentences": "sentences", "topics": "words of a pair's texts"}

#: The statistic of each measure that leads, in the order of what leads a page.
_LEADS = {
    "word": "share_difference_common", "document": "share_difference_common",
    "sentiment": "difference_beyond_neutral", "toxicity": "mean_difference",
}  # fmt: skip

#: What a run measures, by measure.
_MEASURES = {
    "word": "each group's share of the words for people",
    "sentiment": "the tone of the sentences about each group",
    "toxicity": "their toxicity",
    "document": "the room for topics that go with each group",
}

_ORIGINALS = "the human articles"

_NOT = (
    "That a model is fair or unfair to people. Words are not people, the human articles are a "
    "reference and no ideal, and what could not be shown may be there all the same."
)

#: Texts a topic below which topics are no finding.
_TEXTS_A_TOPIC = 10


# --- the first screen -------------------------------------------------------------------------


def lead(
    declared: pd.DataFrame, *, estimates: pd.DataFrame, pairs: pd.DataFrame, texts: Texts
) -> reading.Lead:  # fmt: skip
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
    parts = plain.families(leading(declared))
    told = [own for own in parts if len(plain.shown(own))]
    rest = [own for own in parts if not len(plain.shown(own))]
    people = _people(estimates)
    said = _shown(told, rest, people) if told else plain.nothing(parts, reference=_ORIGINALS)
    if reading.claims.CLAIM not in declared:
        said[-1] = said[-1].removesuffix(".") + " (exploratory: nothing was declared)."
    card = {
        "measures": _measured(estimates), "groups": "; ".join(people.values()),
        "N": _counted(pairs), "instrument": ", ".join(_instruments(estimates)), "not": _NOT,
    }  # fmt: skip
    numbers = plain.leading([*told, *rest])
    return reading.Lead(tuple(said), plain.technical(parts), "finding", numbers, card, texts)


def leading(declared: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of which `lead` speaks: the declared ones, or those of the first measure."""
    if reading.claims.CLAIM in declared:
        return declared
    for measure, statistic in _LEADS.items():
        own = declared[(declared["measure"] == measure) & (declared["statistic"] == statistic)]
        if len(own):
            return claims.unmirrored(own[own["instrument"] == own["instrument"].iloc[0]])
    return declared.iloc[:0]


def _shown(
    told: Sequence[pd.DataFrame], rest: Sequence[pd.DataFrame], people: Mapping[str, str]
) -> list[str]:
    """Say what is shown in up to two parts, and how sure that is."""
    pairs = [(side, own) for own in told for side in plain.sides(own)][:2]
    ends = [f" than {_ORIGINALS} on the same stories", ""]
    clauses = [
        _clause(side, own, people, than) for (side, own), than in zip(pairs, ends, strict=False)
    ]
    sure = plain.chance(told, "If models wrote about people as the humans did")
    silent = [plain.called(own.iloc[0].to_dict()) for own in rest if len(plain.decided(own))]
    none = f"; no difference could be shown in {plain.listed(silent)}" if silent else ""
    return [f"{'; '.join(clauses)}.", f"{sure}{none}."]


def _clause(side: pd.DataFrame, own: pd.DataFrame, people: Mapping[str, str], than: str) -> str:
    """Say who does what to whom, and by how much."""
    row = side.iloc[0].to_dict()
    (subject, several), way = plain.subject(side, own), plain.direction(row)
    s, whom = "" if several else "s", escape(names.people(str(row["group"])))
    more = "more" if row["estimate"] > 0 else "less"
    if row["statistic"] not in _LEADS.values() and row["statistic"] != "share_difference":
        has = "have" if several else "has"
        return f"{subject} {has} {plain.called(row)}: {plain.far(side, '')}, {way} than reference"
    if row["measure"] == "word":
        of = f"a {way} share of the words for {people[row['bias']]}"
        return f"{subject} give{s} {whom} {of}{than}: {plain.far(side, more)}"
    if row["measure"] == "document":
        what = f"give{s} {more} room to topics that go with {whom}"
        return f"{subject} {what}{than}: {plain.far(side, more)}"
    how = f"in a {way} tone" if row["measure"] == "sentiment" else f"with {way} toxicity"
    scale = f"on a scale from {'−1' if row['measure'] == 'sentiment' else '0'} to 1"
    more = "higher" if row["estimate"] > 0 else "lower"
    return f"{subject} write{s} about {whom} {how}{than}: {plain.far(side, f'{more} {scale}')}"


def _people(estimates: pd.DataFrame) -> dict[str, str]:
    """Name the people of every bias: four groups, or how many there are."""
    found = estimates.dropna(subset="group").groupby("bias", sort=False)["group"].unique()
    return {
        str(bias): plain.listed([escape(names.people(one)) for one in groups], most=4)
        for bias, groups in found.items()
    }


def _measured(estimates: pd.DataFrame) -> str:
    what = [told for measure, told in _MEASURES.items() if (estimates["measure"] == measure).any()]
    return f"{plain.capital(plain.listed(what, most=4))}, against {_ORIGINALS}"


def _instruments(estimates: pd.DataFrame) -> list[str]:
    """Name the instruments, once each, by their first words."""
    named = estimates["instrument"].dropna().str.removesuffix(", descriptors masked")
    return [escape(one) for one in dict.fromkeys(named)]


def _counted(pairs: pd.DataFrame) -> str:
    articles = len(pairs[["source", "article_id"]].drop_duplicates())
    models = pairs["model"].nunique()
    return (
        f"{articles:,} human articles and {len(pairs):,} texts that {models} "
        f"model{'' if models == 1 else 's'} wrote for them"
    )


def reach(declared: pd.DataFrame) -> list[str]:
    """Say what these articles can show of what leads, and how many would show more.

    Examples
    --------
    >>> from nbbias import news, tables
    >>> row = {"measure": "word", "statistic": "share_difference_common", "group": "female",
    ...        "estimate": 0.0, "ci_low": -0.1, "ci_high": 0.1, "df": 70, "n": 71, "p_value": 1.0,
    ...        "p_adjusted": 1.0}
    >>> news.sentences.reach(tables.estimates([row], study="news_bias", confidence=0.95))[0][:56]
    "Women's share of the words: 71 articles show differences"
    """
    return plain.reaching(leading(declared))


# --- differences ------------------------------------------------------------------------------


def differences(
    estimates: pd.DataFrame, *, statistic: str = "share_difference_common"
) -> list[str]:  # fmt: skip
    """Say of each bias which signed differences are shown, and how large others had to be."""
    rows = claims.unmirrored(estimates[estimates["statistic"] == statistic])
    reaches = plain.reach(rows)
    sentences = []
    for bias, own in rows.groupby("bias", sort=False):
        text = f"**{plain.capital(escape(bias))}.** {plain.differences(own, reaches=reaches)}"
        found = plain.shown(own)
        if len(found) and (own["measure"] == "document").all():
            text += f" {_over_fits(found.iloc[0])}"
        sentences.append(text)
    return sentences


def _over_fits(row: pd.Series) -> str:
    """Say in how many fits of topics a difference stands, as `stats.pooled_mean` says it."""
    found = re.search(r"(\d+) of (\d+) fits pooled, same sign in (\d+)", str(row["test"]))
    if not found:
        return "This rests on one fit of topics, taken as given."
    measured, fits, alike = found.groups()
    return f"The topics were fitted {fits} times: {measured} can measure it, {alike} with this sign."


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
    ]  # fmt: skip
    rows = rows[rows["instrument"] == rows["instrument"].iloc[0]] if len(rows) else rows
    if plain.decided(rows).empty:
        return f"{_NOTHING[measure]} cannot be told from these texts"
    none = f"No difference in {_NOTHING[measure].lower()} could be shown"
    return plain.heading(claims.unmirrored(rows), none=none)


_NOTHING = {
    "word": "The shares of words", "sentiment": "The tone towards groups",
    "document": "The room for groups' topics",
}  # fmt: skip


def distances(estimates: pd.DataFrame, chance: pd.DataFrame) -> list[str]:
    """Say of each bias between what the mean distances and every reference lie; then what exceeds.

    Beyond chance is only what exceeds replicates: two texts without any difference between writers.
    Where a corpus has none, that is said in place of a count.
    """
    sentences = []
    own = estimates[(estimates["statistic"] == "bias") & estimates["estimate"].notna()]
    levels = chance[chance["statistic"] == "bias"]
    for bias, rows in own.groupby("bias", sort=False):
        told = [f"mean distances are {_ends(rows['estimate'])}"]
        of_bias = levels[levels["bias"] == bias]
        replicated = of_bias[of_bias["reference"] == "replicate"]
        for kind, some in replicated.groupby(replicated["test"].map(replicates.named), sort=False):
            told.append(f"{kind} give {_ends(some['null'])} at these lengths")
        dealt = [
            f"{what} dealt anew {_ends(some['null'])}" for name, what in _DEALT.items()
            if len(some := of_bias[of_bias["reference"] == name])
        ]  # fmt: skip
        told += [f"lower bounds: {', '.join(dealt)}"] if dealt else []
        sentences.append(f"{escape(bias)}: {'; '.join(told)}.")
    tested = own[own["p_adjusted"].notna()]
    if len(tested):
        alpha = 1 - tested["confidence"].iloc[0]
        found = tested[tested["p_adjusted"] < alpha]
        told_of = reading.beyond_chance(
            tested, what="mean distances", unit="pairs", reference="the floor is",
            says="in {which} it is {estimate}",
        )  # fmt: skip
        asked = "declared" if "claim" in tested else "exploratory"
        none = (
            f"0 of {len(tested)} mean distances are beyond chance: none exceeds its floor beyond "
            f"chance ({asked}; p below {number(alpha).removeprefix('0')} after Holm's correction)."
        )
        sentences.append(told_of if len(found) else none)
    why = _untested(own, levels)
    bare = int(why.isna().sum()) - len(tested)
    if bare:
        sentences.append(
            f"{bare} of {len(own)} mean distances have no floor that could show "
            "whether they are beyond chance: it takes two human texts on a story, or a model asked "
            "twice. Dealt words, dealt sentences and the halves of a text are lower bounds of what "
            "two texts differ by."
        )
    if why.notna().any():
        sentences.append(
            f"{why.notna().sum()} of {len(own)} mean distances could not be tested: "
            f"{escape(why.value_counts().index[0])}."
        )
    return sentences


def _untested(own: pd.DataFrame, levels: pd.DataFrame) -> pd.Series:
    """Say why a distance was not tested, where it is not that the corpus lacks replicates."""
    keys = ["measure", "bias", *CELL, "instrument"]
    halves = levels["test"].fillna("").str.startswith(replicates.HALVES)
    beside = levels[(levels["reference"] == "replicate") & ~halves]
    held = pd.MultiIndex.from_frame(own[keys]).isin(pd.MultiIndex.from_frame(beside[keys]))
    why = own["reason"].where(own["ci_low"].isna())
    why = why.mask(held & why.isna(), "too few articles differ from their replicates")
    return why.where(own["p_adjusted"].isna())


def _ends(values: pd.Series) -> str:
    low, high = (number(end, decimals=3) for end in (values.min(), values.max()))
    return low if low == high else f"{low} to {high}"


def tone(estimates: pd.DataFrame) -> list[str]:
    """Say of each measure how many shifts of a group's tone are beyond chance.

    Of sentiment beyond the shift of the sentences that name no group.
    """
    kinds = {
        "sentiment": (
            "difference_beyond_neutral", "shifts of sentiment beyond that of the sentences "
            "that name no group",
        ),
        "toxicity": ("mean_difference", "shifts of toxicity"),
    }  # fmt: skip
    sentences = []
    for measure, (statistic, what) in kinds.items():
        rows = estimates[(estimates["measure"] == measure) & (estimates["statistic"] == statistic)]
        if len(rows):
            told = reading.beyond_chance(
                rows,
                what=what,
                unit="articles",
                says="for the group {group} in {which} by {instrument} it is {estimate}",
            )
            sentences.append(f"{measure}: {told}")
    return sentences


def planted(table: pd.DataFrame, estimates: pd.DataFrame) -> str:
    """Say how many intervals hold the planted truth, or that there is none."""
    if table.empty:
        if (estimates["source"] == SOURCE).any():
            return "Nothing was planted for these biases."
        return "This corpus was not simulated, so the truth is not known."
    held, confidence = int((table["covered"] == "yes").sum()), estimates["confidence"].max()
    return (
        f"{held} of {len(table)} intervals hold the planted difference; over many simulated "
        f"corpora about {number(confidence * len(table), decimals=1)} of {len(table)} would."
    )


def finding(estimates: pd.DataFrame) -> tuple[str, str]:
    """Return the sentence that leads a run's page, and the name of the figure that shows it.

    From the first level that was measured: words, then topics, then sentences. Of declared claims
    (`reading.claims.declared`) it says no more than they do.
    """
    for measure, figure in {"word": "share_differences", "document": "document_shares"}.items():
        found = differences(estimates[estimates["measure"] == measure])
        if found:
            return found[0], figure
    found = tone(estimates)
    none = "No group's tone could be compared."
    return (found[0] if found else reading.claims.lead(estimates, none)), "tone"


def fits(tests: pd.DataFrame, replicated: pd.DataFrame) -> list[str]:
    """Say for each bias whether topics differ by group, and whether another seed agrees."""
    if tests.empty:
        return ["No topics were fitted: the texts have too few different words for so many topics."]
    sentences = []
    for row in tests.to_dict("records"):
        bias = escape(row["bias"])
        text = (
            f"{bias}: {number(row['group_topics'], decimals=1)} topics on average belong to a "
            "group. "
        )
        if pd.isna(row["p_adjusted"]):
            text += f"Not tested: {escape(row['reason'])}."
        else:
            text += (
                "Beside the words that name them, the groups' sentences differ in their topics by "
                f"a Cramér's V of {number(row['effect_size'])} (N = {row['n']:,} articles, "
                f"{row['fits']} fits at once; {p_value(row)})."
            )
        rates = replicated[replicated["bias"] == row["bias"]]
        if rates["replicated"].notna().any():
            text += (
                f" Of the first fit's associations, {rates['replicated'].mean():.0%} return with "
                f"another seed; matched at random, "
                f"{rates['replicated_by_chance'].mean():.0%} would."
            )
        sentences.append(text)
    return sentences


def models(compared: pd.DataFrame, *, confidence: float) -> list[str]:
    """Say how many differences between models the mixed model finds, by measure and bias."""
    sentences = []
    rows = compared[compared["statistic"] == "difference"]
    for (measure, bias), own in rows.groupby(["measure", "bias"], sort=False):
        tested = own[own["p_adjusted"].notna()]
        text = f"{escape(measure)}, {escape(bias)}: "
        if tested.empty:
            reasons = own["reason"].dropna().value_counts()
            why = escape(reasons.index[0]) if len(reasons) else "no values"
            sentences.append(f"{text}no model could be compared ({why}).")
            continue
        found = int((tested["p_adjusted"] < 1 - confidence).sum())
        left = f"; {len(own) - len(tested)} could not be fitted" if len(own) > len(tested) else ""
        sentences.append(
            f"{text}{found} of {len(tested)} differences from the reference model are below "
            f"p = {number(1 - confidence)} after Holm's correction{left}."
        )
    return sentences


def counted(levels: Iterable[Level], pairs: pd.DataFrame) -> list[str]:
    """Say for each level and bias how many pairs count, and how many answers fall silent.

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
        for bias, own in steps.groupby("bias", sort=False):
            parts = int(own.select_dtypes("number").drop(columns="pairs").to_numpy().sum())
            if parts != len(pairs):
                raise ValueError(f"{bias}: the steps add up to {parts}, not {len(pairs)}")
            kept = int(own["counted"].sum())
            text = (
                f"{escape(measure)}, {escape(bias)}: {kept:,} of {len(pairs):,} pairs count "
                f"({kept / len(pairs):.0%})."
            )
            if silent in own:
                text += (
                    f" In {int(own[silent].sum()):,} the answer holds no group word though its "
                    "original does: what is left out altogether drops out of these measures."
                )
            sentences.append(text)
    return sentences


def of_first_instrument(losses: pd.DataFrame) -> pd.DataFrame:
    """Return the losses of the instrument that leads: each counts the same pairs again."""
    if "instrument" not in losses:
        return losses
    return losses[losses["instrument"] == losses["instrument"].iloc[0]]


def terms(counts: pd.DataFrame, texts: pd.Series, *, own: Sequence[str]) -> list[str]:
    """Say which listed words were never seen; see `text.lexicons.messages`."""
    from nbbias.text import annotate, lexicons

    return lexicons.messages(counts, vocabulary=annotate.vocabulary(texts), own=own)
