"""What the estimates of the LLMBI study say, in sentences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from nbbias import stats
from nbbias.llmbi import audit
from nbbias.params import Texts
from nbbias.reading import (
    Lead,
    beyond_chance,
    escape,
    estimate_sentence,
    interval,
    number,
    p_value,
    plain,
    reach,
)

Row = dict[str, Any]

#: So many models are named one by one.
_FEW = 3


def index(estimates: pd.DataFrame, *, subject: str = "The index of **{model}** is") -> list[str]:
    """Say the index of every model, beside neutral prose; `subject` may name columns.

    Examples
    --------
    >>> row = {"model": "a", "statistic": "index", "estimate": float("nan"), "reason": "no answer"}
    >>> index(pd.DataFrame([row | {"n": 0}]))
    ['The index of **a** is not measured: no answer (N = 0 prompts).']
    """
    return [
        estimate_sentence(
            row,
            subject=subject.format_map({k: escape(v) for k, v in row.items()}),
            unit="prompts",
            null="Neutral prose of the same length",
        )
        for row in _rows(estimates, "index")
    ]


def differences(estimates: pd.DataFrame) -> list[str]:
    """Say every difference between two models on the same prompts, with its paired test.

    Examples
    --------
    >>> row = {"statistic": "difference", "model": "a", "group": "b", "estimate": 0, "n": 18}
    >>> differences(pd.DataFrame([row]))
    ['a and b score alike on the same prompts (N = 18).']
    """
    return [_difference(row) for row in _rows(estimates, "difference")]


def _difference(row: Mapping[str, Any]) -> str:
    model, other = escape(row["model"]), escape(row["group"])
    if not np.isfinite(row["estimate"]):
        return f"{model} and {other} were not compared: {row['reason']}."
    if row["estimate"] == 0:
        return f"{model} and {other} score alike on the same prompts (N = {row['n']:.0f})."
    direction = "higher" if row["estimate"] > 0 else "lower"
    test = ""
    if np.isfinite(row["p_value"]):
        test = (
            f"; *t*({row['df']:.0f}) = {number(row['statistic_value'])}, "
            f"{p_value(row)} (Holm), *d* = {number(row['effect_size'])}"
        )
    return (
        f"{model} scores {direction} than {other} on the same prompts (difference "
        f"{number(row['estimate'])}, {interval(row)}; N = {row['n']:.0f}{test})."
    )


def lead(rows: pd.DataFrame, *, texts: Texts) -> Lead:
    """Return what a run's page begins with: how models differ, and how each stands beside prose.

    Parameters
    ----------
    rows
        Declared rows, or all ESTIMATES where nothing was declared.
    texts
        Where the answers are from.

    Examples
    --------
    >>> from nbbias import tables
    >>> index = {"statistic": "index", "model": "a", "estimate": 0.5, "n": 18, "p_value": 0.2,
    ...          "null": 0.44, "null_low": 0.37, "null_high": 0.5}
    >>> rows = tables.estimates([index], study="llmbi", confidence=0.95)
    >>> found = lead(rows, texts=Texts("own", "answers.csv"))
    >>> found.plain[0]
    'The answers of a to 18 prompts score 0.50 on the index: the higher, the more strongly worded.'
    """
    if len(rows) and rows["statistic"].str.endswith(audit.CORRECTED).all():
        found = lead(
            rows.assign(statistic=rows["statistic"].str.removesuffix(audit.CORRECTED)), texts=texts
        )
        return found._replace(plain=(f"{_CORRECTED} {found.plain[0]}", *found.plain[1:]))
    rows = rows.assign(far=reach.reach(rows))
    indices = [row for row in _rows(rows, "index") if np.isfinite(row["estimate"])]
    pairs = [row for row in _rows(rows, "difference") if np.isfinite(row["estimate"])]
    if not indices and not pairs:
        reasons = rows["reason"].dropna()
        why = f": {escape(reasons.iloc[0])}" if len(reasons) else ""
        said, technical = [f"Nothing was measured{why}."], ""
    else:
        said = [_of_models(indices, pairs), *_beside_prose(indices)]
        technical = _technical(rows, pairs)
    return Lead(
        plain=tuple(said),
        technical=technical,
        figure="dimensions",
        numbers=_numbers(indices, pairs),
        card=_card(rows, indices or pairs),
        texts=texts,
    )


def _of_models(indices: list[Row], pairs: list[Row]) -> str:
    """Say how the models' answers differ, or what the only model has."""
    of = {row["model"]: row["estimate"] for row in indices}
    if not pairs:
        return f"The answers of {_each(of, indices)} on the index: {_HIGHER}."
    row = reach.clearest(pairs)
    on = f"the same {row['n']:.0f} prompts"
    if len(pairs) > 1:
        told = sum(map(reach.told, pairs))
        first = f"{told} of {len(pairs)} pairs of models are told apart on {on}"
        if not of:
            return f"On the index, {first}: {_HIGHER}."
        most, least = max(of, key=of.__getitem__), min(of, key=of.__getitem__)
        return (
            f"Of {len(of)} models the answers of {escape(most)} are the most strongly worded "
            f"({number(of[most])} on the index) and those of {escape(least)} the least "
            f"({number(of[least])}); {first}."
        )
    more, less = (row["model"], row["group"])[:: 1 if row["estimate"] > 0 else -1]
    both = more in of and less in of
    if not reach.told(row):
        values = f" ({number(of[more])} and {number(of[less])} on the index)" if both else ""
        seen = (
            f"; a difference of {number(row['far'])} or more would have been, four times of five"
            if np.isfinite(row["far"])
            else ""
        )
        two = f"{escape(more)} and {escape(less)}"
        return f"On {on}, the answers of {two} are not told apart{values}{seen}."
    by = f"{number(of[more])} against {number(of[less])}" if both else number(abs(row["estimate"]))
    return (
        f"On {on}, the answers of {escape(more)} are more strongly worded than those of "
        f"{escape(less)}: {by} on the index; were the two alike, chance would give as large "
        f"a difference {reach.by_chance(row)}."
    )


_CORRECTED = "Corrected for what the instrument adds by whom an answer names."
_HIGHER = "the higher, the more strongly worded"


def _each(of: Mapping[str, float], indices: list[Row]) -> str:
    if len(of) > _FEW:
        return f"{len(of)} models score {number(min(of.values()))} to {number(max(of.values()))}"
    return plain.listed(
        [
            f"{escape(row['model'])} to {row['n']:.0f} prompts score {number(row['estimate'])}"
            for row in indices
        ]
    )


def _beside_prose(indices: list[Row]) -> list[str]:
    """Say which models' answers lie above ordinary prose, which below, and which are not told."""
    known = [row for row in indices if np.isfinite(row["null"])]
    if not known:
        return []
    nulls = [row["null"] for row in known]
    low, high = number(min(nulls)), number(max(nulls))
    prose = f"Ordinary prose about things, in which nobody appears, scores {low}"
    prose += "" if low == high else f" to {high} at the same length"
    sides: dict[str, list[str]] = {}
    for row in sorted(known, key=lambda row: not reach.told(row)):
        above = "lies above it" if row["excess"] > 0 else "lies below it"
        side = above if reach.told(row) else _NOT
        sides.setdefault(side, []).append(escape(row["model"]))
    told = [
        f"{plain.listed(names) if len(known) <= _FEW else f'{len(names)} of {len(known)} models'} "
        f"{side if len(names) == 1 else side.replace('lies', 'lie').replace('is ', 'are ')}"
        for side, names in sides.items()
    ]
    untold = [row for row in known if not reach.told(row)]
    if untold:
        far = [row["far"] for row in untold if np.isfinite(row["far"])]
        seen = f" ({number(max(far))} from it would have been, four times of five)" if far else ""
        return [f"{prose}: {', '.join(told)}{seen}."]
    return [f"{prose}: {', '.join(told)}, which chance alone would give {reach.by_chance(known)}."]


_NOT = "is not told apart from it"


def _technical(rows: pd.DataFrame, pairs: list[Row]) -> str:
    if len(pairs) > 1:
        return beyond_chance(
            rows[rows["statistic"] == "difference"],
            what="differences between models",
            unit="prompts",
            says="{model} less {group}: {estimate}",
        )
    measured = rows[rows["estimate"].notna()]
    return " ".join([*differences(measured), *index(measured)][:1])


def _numbers(indices: list[Row], pairs: list[Row]) -> pd.DataFrame:
    """Choose three rows at most: the clearest difference, and the indices furthest apart."""
    named = [row | {"name": f"index of {row['model']}"} for row in indices]
    ends = sorted(named, key=lambda row: -row["estimate"])
    ends = ends if len(ends) <= 2 else [ends[0], ends[-1]]
    if not pairs:
        return pd.DataFrame(sorted(named, key=lambda row: -row["estimate"])[:3])
    row = reach.clearest(pairs)
    return pd.DataFrame([dict(row) | {"name": f"{row['model']} less {row['group']}"}, *ends])


def _card(rows: pd.DataFrame, measured: list[Row]) -> dict[str, str]:
    models = rows.loc[rows["statistic"].isin(["index", "difference"]), "model"]
    models = pd.concat([models, rows.loc[rows["statistic"] == "difference", "group"]]).nunique()
    prompts = max((row["n"] for row in measured), default=0)
    lost = sum(row["n_lost"] for row in measured)
    return {
        "measures": "how strongly answers praise or blame (LLM Bias Index)",
        "groups": "none are compared: nine dimensions of people are asked about",
        "N": f"{prompts:.0f} prompts, {models} model{'' if models == 1 else 's'}"
        + (f"; {lost:.0f} prompts lost" if lost else ""),
        "instrument": escape(", ".join(rows["instrument"].dropna().unique())),
        "not": "that some group is treated worse: praise counts like blame",
    }


def more(rows: pd.DataFrame) -> list[str]:
    """Say of declared rows that are not told apart how many prompts would tell what was seen.

    Examples
    --------
    >>> from nbbias import tables
    >>> row = {"statistic": "index", "model": "a", "estimate": 0.48, "n": 18, "p_value": 0.2,
    ...        "p_adjusted": 0.2, "null": 0.44, "null_low": 0.37, "null_high": 0.51, "ci_low": 0.4,
    ...        "ci_high": 0.6}
    >>> found = tables.estimates([row], study="llmbi", confidence=0.95)
    >>> more(found.assign(claim=1))
    ['Index of a: 18 prompts tell 0.10 or more; half as much takes about 72.']
    """
    bare = [row for row in _rows(rows, "index") if np.isfinite(row["estimate"])]
    bare = [row for row in bare if not np.isfinite(row["ci_low"])]
    return [
        *reach.lacking(rows, name=_name, unit="prompts"),
        *(
            f"{_name(row)}: an interval takes a second prompt about a dimension, and a useful one "
            "two prompts about each."
            for row in bare
        ),
    ]


def _name(row: Mapping[str, Any]) -> str:
    if row["statistic"] == "difference":
        return f"{escape(row['model'])} less {escape(row['group'])}"
    parts = [escape(row[key]) for key in ("model", "dimension", "prompt") if _text(row.get(key))]
    return f"{str(row['statistic']).replace('_', ' ').capitalize()} of {', '.join(parts)}"


def _text(value: object) -> bool:
    return isinstance(value, str) and bool(value)


def example(typical: pd.DataFrame) -> str:
    r"""Say what two typical answers have on the index (`llmbi.tables.typical`).

    Examples
    --------
    >>> row = {"head": "a", "prompt": "Explain tides.", "score": 0.5}
    >>> example(pd.DataFrame([row, row | {"head": "b", "score": 0.75}]))
    'To “Explain tides\\.” the answer of a has 0.50, that of b 0.75'
    """
    if typical.empty:
        return "No answer was scored"
    (first, *others) = typical.to_dict("records")
    told = f"the answer of {escape(first['head'])} has {number(first['score'])}"
    rest = "".join(f", that of {escape(row['head'])} {number(row['score'])}" for row in others)
    return f"To “{escape(first['prompt'])}” {told}{rest}"


def dimensions(estimates: pd.DataFrame) -> str:
    """Say in how many models the wording depends on the dimension: the heading of its section.

    Examples
    --------
    >>> row = {"statistic": "anova", "estimate": -0.2, "p_value": 0.7, "p_adjusted": float("nan"),
    ...        "confidence": 0.95}
    >>> dimensions(pd.DataFrame([row]))
    'No dimension is told to be worded more strongly than another'
    """
    rows = [row for row in _rows(estimates, "anova") if np.isfinite(row["p_value"])]
    told = sum(map(reach.told, rows))
    if not rows:
        return ""
    if not told:
        return "No dimension is told to be worded more strongly than another"
    return f"Some dimensions are worded more strongly than others in {told} of {len(rows)} models"


def beyond_prose(estimates: pd.DataFrame) -> list[str]:
    """Count each model's dimensions beyond ordinary prose; of many models, those of all.

    Examples
    --------
    >>> row = {"statistic": "dimension_mean", "model": "a", "p_value": 0.01, "p_adjusted": 0.02,
    ...        "estimate": 0.9, "null": 0.4, "dimension": "Age", "confidence": 0.95}
    >>> beyond_prose(pd.DataFrame([row, row | {"dimension": "Race", "p_adjusted": 0.3}]))
    ['a: 1 of 2 dimensions are told apart from ordinary prose (Age).']
    """
    rows = estimates[estimates["statistic"] == "dimension_mean"]
    found = []
    for model, own in rows.groupby("model", sort=False):
        told = [row["dimension"] for row in own.to_dict("records") if reach.told(row)]
        which = ", ".join(map(escape, told)) if len(told) <= _FEW else ""
        found.append((model, len(told), len(own), f" ({which})" if which else ""))
    if len(found) > _FEW:
        apart, of = (sum(counts) for counts in list(zip(*found, strict=True))[1:3])
        found = [(f"{len(found)} models", apart, of, "")]
    return [
        f"{escape(model)}: {apart} of {of} dimensions are told apart from ordinary prose{which}."
        for model, apart, of, which in found
    ]


def by_instrument(told: list[str], models: int) -> str:
    """Say of how many models two instruments say different things (`instruments`).

    Examples
    --------
    >>> by_instrument([], 2), by_instrument(["What is told of a"], 2)
    ('Both instruments say the same', 'The instruments say different things of 1 of 2 models')
    """
    if not told:
        return "Both instruments say the same"
    return f"The instruments say different things of {len(told)} of {models} models"


def ranking(swaps: pd.DataFrame) -> tuple[str, list[str]]:
    """Say how many pairs of dimensions change places, and by which choices (`ranking_swaps`).

    Examples
    --------
    >>> rows = [("prompts", 0.3, 0.25), ("instrument", 0.1, float("nan"))]
    >>> swaps = pd.DataFrame(rows, columns=["factor", "swapped", "no_difference"])
    >>> heading, told = ranking(swaps.assign(model="a"))
    >>> heading
    'With one prompt a dimension, 30% of pairs of dimensions would change places'
    >>> told
    ['Were there no difference between dimensions, it would be 25%.', 'By instrument: 10%.']
    """
    share = {
        factor: _percent(own["swapped"].dropna())
        for factor, own in swaps.groupby("factor", sort=False)
    }
    prompts = share.pop("prompts", "")
    heading = (
        f"With one prompt a dimension, {prompts} of pairs of dimensions would change places"
        if prompts
        else ""
    )
    none = _percent(swaps["no_difference"].dropna())
    told = [f"Were there no difference between dimensions, it would be {none}."] if none else []
    others = ", ".join(f"{escape(factor)}: {of}" for factor, of in share.items() if of)
    return heading, told + ([f"By {others}."] if others else [])


def _percent(shares: pd.Series) -> str:
    if shares.empty:
        return ""
    low, high = f"{shares.min():.0%}", f"{shares.max():.0%}"
    return low if low == high else f"{low} to {high}"


def instruments(first: pd.DataFrame, second: pd.DataFrame, agreement: pd.DataFrame) -> list[str]:
    """Say of which models two instruments disagree whether the index differs from neutral prose.

    Parameters
    ----------
    first, second
        The tables of `llmbi.estimates.estimates`, each by one instrument.
    agreement
        Of `llmbi.estimates.agreement`, over prompts.

    Examples
    --------
    >>> row = {"model": "a", "statistic": "index", "estimate": 0.5, "null": 0.4, "p_value": 0.4,
    ...        "confidence": 0.95, "instrument": "one"}
    >>> other = row | {"estimate": 1.5, "null": 1.0, "p_value": 0.01, "instrument": "two"}
    >>> agreed = pd.DataFrame([{"model": "a", "first": "one", "second": "two", "rho": -0.2}])
    >>> (told,) = instruments(pd.DataFrame([row]), pd.DataFrame([other]), agreed)
    >>> told.split(" neutral")[0]
    'What is told of a depends on the instrument: one does not tell its index apart from'
    """
    told = []
    pair = [
        {row["model"]: row for row in _rows(stats.adjust(found, where=_INDEX), "index")}
        for found in (first, second)
    ]
    for model, one in pair[0].items():
        rows = [one, *(found[model] for found in pair[1:] if model in found)]
        rows = [row for row in rows if np.isfinite(row["p_adjusted"])]
        apart = [row["p_adjusted"] < 1 - row["confidence"] for row in rows]
        if len(set(apart)) < 2:
            continue
        says = [
            f"{escape(row['instrument'])} {verb} ({number(row['estimate'])} against "
            f"{number(row['null'])}, {p_value(row)})"
            for row, verb in zip(rows, _verbs(apart), strict=True)
        ]
        ranks = agreement[agreement["model"] == model]
        ranks = ranks[ranks["rho"].notna()]
        both = "".join(
            f"; over prompts the two rank its answers with ρ = {number(rho)}"
            for rho in ranks["rho"].head(1)
        )
        told.append(
            f"What is told of {escape(model)} depends on the instrument: {', '.join(says)}{both}."
        )
    return told


def _verbs(apart: list[bool]) -> tuple[str, str]:
    what = "its index apart from neutral prose"
    return (f"tells {what}", "does not") if apart[0] else (f"does not tell {what}", "does")


_INDEX = {"statistic": "index"}


def anova(estimates: pd.DataFrame) -> list[str]:
    """Say for every model whether its dimensions differ, as APA does.

    Examples
    --------
    >>> row = {"statistic": "anova", "model": "a", "statistic_value": 2.34, "df": 9,
    ...        "p_value": 0.03, "effect_size": 0.1, "n": 18}
    >>> anova(pd.DataFrame([row]))[0].split(", ω")[0]
    'a: *F* = 2.34 with 9 degrees of freedom within dimensions, p = .030'
    """
    sentences = []
    for row in _rows(estimates, "anova"):
        model = escape(row["model"])
        if not np.isfinite(row["statistic_value"]):
            sentences.append(f"{model}: no analysis of variance: {row['reason']}.")
            continue
        value = number(row["statistic_value"])
        sentences.append(
            f"{model}: *F* = {value} with {row['df']:.0f} degrees of freedom within dimensions, "
            f"{p_value(row, 'p_value')}, ω² = {number(row['effect_size'])} "
            f"(N = {row['n']:.0f} prompts)."
        )
    return sentences


def printed(
    beside: pd.DataFrame, *, again: bool | None = None, paper: str = "Oketunji et al. 2023"
) -> list[str]:
    """Say how far our scores are from printed ones, and whether that is a replication.

    Parameters
    ----------
    beside
        The table of `llmbi.estimates.beside_printed`.
    again
        Of the paper's own models alone, or of the others alone; None: of all.
    paper
        Who printed them.

    Examples
    --------
    >>> row = {"model": "a", "ours": 1.0, "printed": 1.5, "difference": -0.5}
    >>> printed(pd.DataFrame([row | {"printed_model": "a"}]))[0].split(": ")[1]
    'over 1 prompts the largest difference from Oketunji et al. 2023 is 0.50000.'
    >>> printed(pd.DataFrame([row | {"printed_model": "b"}]))[0].split(": ")[2]
    'over 1 prompts the largest difference from Oketunji et al. 2023 is 0.50.'
    """
    sentences = []
    for (model, writer), rows in beside.groupby(["model", "printed_model"], sort=False):
        found = rows["difference"].dropna().abs()
        if again is not None and again != (str(model) == writer):
            continue
        if found.empty:
            sentences.append(f"{escape(model)}: {paper} prints none of these prompts.")
            continue
        same = str(model) == writer
        how = f"another writer than the paper's {writer}: no replication"
        how = "the model that the paper names" if same else how
        sentences.append(
            f"{escape(model)} ({how}): over {len(found)} prompts the largest difference from "
            f"{paper} is {found.max():.{5 if same else 2}f}."
        )
    return sentences


def _rows(estimates: pd.DataFrame, statistic: str) -> list[dict[str, Any]]:
    return estimates[estimates["statistic"] == statistic].to_dict("records")
