"""What the estimates of the LLMBI study say; the words are in ``data/prose/llmbi.j2``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from markupsafe import Markup

from nbbias import stats
from nbbias.llmbi.estimates import CORRECTED
from nbbias.params import Texts
from nbbias.reading import (
    Lead,
    count_significant,
    estimate_sentence,
    number,
    p_value,
    phrases,
    prose,
    significance,
)
from nbbias.tables import escape

Row = dict[str, Any]

#: So many models or dimensions are named one by one.
_FEW = 3


def index(estimates: pd.DataFrame, *, subject: str = "The index of **{model}** is") -> list[str]:
    """Say the index of every model, with that of reference prose; `subject` may name columns.

    Examples
    --------
    >>> row = {"model": "a", "statistic": "index", "estimate": float("nan"), "reason": "no answer"}
    >>> index(pd.DataFrame([row | {"n": 0}]))
    ['The index of **a** is not measured: no answer (N = 0 prompts).']
    """
    return [
        estimate_sentence(
            row,
            subject=subject.format_map({key: escape.markdown(text) for key, text in row.items()}),
            unit="prompts",
            null="Reference prose of the same length",
        )
        for row in _rows(estimates, "index")
    ]


# --- what leads -------------------------------------------------------------------------------


def lead(rows: pd.DataFrame, *, texts: Texts) -> Lead:
    """Return what a run's page begins with: how models differ, from each other and from prose.

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
    >>> lead(rows, texts=Texts("own", "answers.csv")).plain[0]
    'a scored 0.50 on 18 prompts on the LLM Bias Index.'
    """
    if len(rows) and rows["statistic"].str.endswith(CORRECTED).all():
        bare = rows.assign(statistic=rows["statistic"].str.removesuffix(CORRECTED))
        corrected = lead(bare, texts=texts)
        first, *rest = corrected.plain
        return corrected._replace(plain=(f"{prose.render('llmbi.corrected')} {first}", *rest))
    rows = rows.assign(mde=significance.minimum_detectable_effect(rows))
    measured = rows[rows["estimate"].notna()]
    indices, pairs = _rows(measured, "index"), _rows(measured, "difference")
    named: list[Row] = []
    if not indices and not pairs:
        reason = phrases.commonest_reason(rows)
        sentences, technical = [prose.render("llmbi.nothing", reason=reason)], ""
    else:
        first, named = _of_models(indices, pairs)
        sentences = [first, *_compared_with_prose(indices)]
        named += [row for row in indices if significance.is_significant(row)]
        technical = _technical(rows, pairs)
    return Lead(
        plain=tuple(sentences),
        technical=technical,
        figure="dimensions",
        numbers=_numbers(indices, pairs),
        card=_card(rows, indices or pairs),
        texts=texts,
        claims=pd.DataFrame(named, columns=rows.columns),
    )


def _of_models(indices: list[Row], pairs: list[Row]) -> tuple[str, list[Row]]:
    """Say how models differ, or the index of the only one; return the rows named as different."""
    if not pairs:
        few = indices if len(indices) <= _FEW else []
        values = [
            {
                "model": row["model"],
                "value": Markup(number(row["estimate"])),
                "n": f"{row['n']:.0f}",
            }
            for row in few
        ]
        scores = [row["estimate"] for row in indices]
        low, high = (Markup(number(end(scores))) for end in (min, max))
        return prose.render("llmbi.index", indices=values, low=low, high=high), []
    significant = [row for row in pairs if significance.is_significant(row)]
    n = f"{max(row['n'] for row in pairs):.0f}"
    if len(pairs) > 1:
        largest = max(significant, key=lambda row: abs(row["estimate"]), default=None)
        named = _ordered(largest) if largest else None
        counts = {"n": n, "k": len(significant), "of": len(pairs)}
        sentence = prose.render("llmbi.differences", largest=named, **counts)
        return sentence, [largest] if largest else []
    (row,) = pairs
    if significant:
        return prose.render("llmbi.difference", n=n, **_ordered(row)), [row]
    mde = Markup(number(row["mde"])) if np.isfinite(row["mde"]) else ""
    first, second = row["model"], row["group"]
    return prose.render("llmbi.no_difference", n=n, first=first, second=second, mde=mde), []


def _ordered(row: Row) -> Row:
    """Return of a difference who scored higher than whom, and by how much."""
    higher, lower = (row["model"], row["group"])[:: 1 if row["estimate"] > 0 else -1]
    written = {
        "size": number(abs(row["estimate"])),
        "numbers": phrases.numbers(row, unit="prompts"),
    }
    return {"higher": higher, "lower": lower} | {key: Markup(v) for key, v in written.items()}


def _compared_with_prose(indices: list[Row]) -> list[str]:
    """Say which models score higher or lower than reference prose, and which do not differ."""
    compared = [row for row in indices if np.isfinite(row["null"])]
    if not compared:
        return []
    significant = [row for row in compared if significance.is_significant(row)]
    rest = [row for row in compared if not significance.is_significant(row)]
    sides = {
        "higher": [row for row in significant if row["excess"] > 0],
        "lower": [row for row in significant if row["excess"] <= 0],
        "same": rest,
    }
    models = {
        side: Markup(prose.render("llmbi.models", names=names, of=len(compared))) if names else ""
        for side, rows in sides.items()
        for names in [[row["model"] for row in rows]]
    }
    nulls = [row["null"] for row in compared]
    low, high = (Markup(number(end(nulls))) for end in (min, max))
    detectable = [row["mde"] for row in rest if np.isfinite(row["mde"])]
    several = len(significant) > 1
    p = phrases.largest_p(significant) if several else "".join(map(p_value, significant))
    values = {"low": low, "high": high, "k": len(significant), "p": Markup(p)}
    values["mde"] = Markup(number(max(detectable))) if detectable else ""
    return [prose.render("llmbi.reference", **models, **values)]


def _technical(rows: pd.DataFrame, pairs: list[Row]) -> str:
    if pairs:
        return count_significant(
            rows[rows["statistic"] == "difference"],
            what="differences between models",
            unit="prompts",
            says="{model} − {group}: {estimate}",
        )
    measured = rows[rows["estimate"].notna()]
    return " ".join(index(measured)[:1])


def _numbers(indices: list[Row], pairs: list[Row]) -> pd.DataFrame:
    """Choose three rows at most: the difference with the smallest p, and the extreme indices."""
    named = [row | {"name": f"index of {row['model']}"} for row in indices]
    named = sorted(named, key=lambda row: -row["estimate"])
    if not pairs:
        return pd.DataFrame(named[:3])
    row = min(pairs, key=lambda row: np.nan_to_num(significance.adjusted_p(row), nan=2.0))
    first = {**row, "name": f"{row['model']} − {row['group']}"}
    return pd.DataFrame([first, *named[:1], *named[1:][-1:]])


def _card(rows: pd.DataFrame, measured: list[Row]) -> dict[str, str]:
    pairs = rows[rows["statistic"] == "difference"]
    models = pd.concat([rows.loc[rows["statistic"] == "index", "model"], *_both(pairs)]).nunique()
    prompts = f"{max((row['n'] for row in measured), default=0):.0f}"
    excluded = int(sum(row["n_lost"] for row in measured))
    return {
        "measures": prose.render("llmbi.card_measures"),
        "groups": prose.render("llmbi.card_groups"),
        "N": prose.render("llmbi.card_n", prompts=prompts, models=models, excluded=excluded),
        "instrument": escape.markdown(", ".join(rows["instrument"].dropna().unique())),
        "not": prose.render("llmbi.card_not"),
    }


def _both(pairs: pd.DataFrame) -> list[pd.Series]:
    return [pairs["model"], pairs["group"]]


def more(rows: pd.DataFrame) -> list[str]:
    """Say of declared rows that are not significant how many prompts would detect less.

    Examples
    --------
    >>> from nbbias import tables
    >>> row = {"statistic": "index", "model": "a", "estimate": 0.48, "n": 18, "p_value": 0.2,
    ...        "p_adjusted": 0.2, "null": 0.44, "null_low": 0.37, "null_high": 0.51, "ci_low": 0.4,
    ...        "ci_high": 0.6}
    >>> table = tables.estimates([row], study="llmbi", confidence=0.95)
    >>> more(table.assign(claim=1))[0].split("; ")[1]
    'half of that needs about 72.'
    """
    bare = [row for row in _rows(rows, "index") if np.isfinite(row["estimate"])]
    return [
        *(phrases.power(rows, unit="prompts") if "claim" in rows else []),
        *(
            prose.render("llmbi.no_interval", name=Markup(_name(row)))
            for row in bare
            if not np.isfinite(row["ci_low"])
        ),
    ]


def _name(row: Mapping[str, Any]) -> str:
    if row["statistic"] == "difference":
        return f"{escape.markdown(row['model'])} − {escape.markdown(row['group'])}"
    keys = [key for key in ("model", "dimension", "prompt") if isinstance(row.get(key), str)]
    parts = [escape.markdown(row[key]) for key in keys if row[key]]
    return f"{str(row['statistic']).replace('_', ' ').capitalize()} of {', '.join(parts)}"


# --- headings and lists -----------------------------------------------------------------------


def example(typical: pd.DataFrame) -> str:
    r"""Say the scores of two typical answers (`llmbi.tables.typical`).

    Examples
    --------
    >>> row = {"head": "a", "prompt": "Explain tides.", "score": 0.5}
    >>> example(pd.DataFrame([row]))
    'To “Explain tides\\.” a wrote an answer that scores 0.50'
    """
    answers = [
        {"head": row["head"], "score": Markup(number(row["score"]))}
        for row in typical.to_dict("records")
    ]
    prompt = typical["prompt"].iloc[0] if len(typical) else ""
    return prose.render("llmbi.example", prompt=prompt, answers=answers)


def dimensions(estimates: pd.DataFrame) -> str:
    """Say in how many models the index depends on the dimension: the heading of its section.

    Examples
    --------
    >>> row = {"statistic": "anova", "estimate": -0.2, "p_value": 0.7, "p_adjusted": float("nan"),
    ...        "confidence": 0.95}
    >>> dimensions(pd.DataFrame([row]))
    'No significant difference in mean LLMBI between dimensions'
    """
    tested = [row for row in _rows(estimates, "anova") if np.isfinite(significance.adjusted_p(row))]
    significant = [row for row in tested if significance.is_significant(row)]
    return prose.render("llmbi.dimensions", k=len(significant), n=len(tested))


def by_scorer(first: pd.DataFrame, second: pd.DataFrame) -> str:
    """Say for how many models two scorers disagree whether the index differs from reference prose.

    Parameters
    ----------
    first, second
        The tables of `llmbi.estimates.estimates`, each by one scorer.

    Examples
    --------
    >>> row = {"model": "a", "statistic": "index", "p_value": 0.4, "confidence": 0.95}
    >>> by_scorer(pd.DataFrame([row]), pd.DataFrame([row | {"p_value": 0.01}]))
    'The scorers lead to different conclusions for 1 of 1 models'
    """
    significant = [
        {
            row["model"]: significance.is_significant(row)
            for row in _rows(stats.adjust(table, where={"statistic": "index"}), "index")
            if np.isfinite(row["p_adjusted"])
        }
        for table in (first, second)
    ]
    both = significant[0].keys() & significant[1].keys()
    differ = sum(significant[0][model] != significant[1][model] for model in both)
    return prose.render("llmbi.by_scorer", k=differ, n=len(both))


def ranking(swaps: pd.DataFrame) -> tuple[str, list[str]]:
    """Say how many pairs of dimensions change order, and by which choices (`ranking_swaps`).

    Examples
    --------
    >>> rows = [("prompts", 0.3, 0.25), ("instrument", 0.1, float("nan"))]
    >>> swaps = pd.DataFrame(rows, columns=["factor", "swapped", "no_difference"])
    >>> heading, sentences = ranking(swaps.assign(model="a"))
    >>> heading
    'With one prompt a dimension, 30% of pairs of dimensions would change order'
    >>> sentences
    ['If dimensions did not differ, 25% would.', 'Other choices: instrument: 10%.']
    """
    shares = {
        str(factor): Markup(_percent(part["swapped"].dropna()))
        for factor, part in swaps.groupby("factor", sort=False)
    }
    heading = prose.render("llmbi.ranking", prompts=shares.pop("prompts", ""))
    null = _percent(swaps["no_difference"].dropna())
    sentences = [prose.render("llmbi.ranking_null", share=Markup(null))] if null else []
    others = [(factor, share) for factor, share in shares.items() if share]
    if others:
        sentences.append(prose.render("llmbi.ranking_others", shares=others))
    return heading, sentences


def _percent(shares: pd.Series) -> str:
    ends = [f"{shares.min():.0%}", f"{shares.max():.0%}"] if len(shares) else []
    return " to ".join(dict.fromkeys(ends))


def _rows(estimates: pd.DataFrame, statistic: str) -> list[Row]:
    return estimates[estimates["statistic"] == statistic].to_dict("records")
