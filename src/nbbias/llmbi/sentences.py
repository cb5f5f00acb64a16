"""What the estimates of the LLMBI study say; the words are in ``data/prose/llmbi.j2``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pandas as pd
from markupsafe import Markup

from nbbias import stats
from nbbias.params import Texts
from nbbias.reading import Lead, claims, names, phrases, prose, significance
from nbbias.reading.prose import count_range
from nbbias.tables.escape import markdown as escape

if TYPE_CHECKING:
    from nbbias.llmbi.measured import Results

#: What indices and means are compared with.
_PROSE = "reference prose of the same length"


# --- what leads -------------------------------------------------------------------------------


def lead(declared: pd.DataFrame, *, texts: Texts, results: Results | None = None) -> Lead:
    """Return what a run's page begins with: how models differ, from prose and from each other.

    Parameters
    ----------
    declared
        Declared rows, or all ESTIMATES where nothing was declared: then indices and their
        differences lead.
    texts
        Where the answers are from.
    results
        Of `llmbi.measure`, for what the second scorer says and how many answers were scored.

    Examples
    --------
    >>> from nbbias import tables
    >>> index = {"statistic": "index", "model": "a", "estimate": 0.5, "n": 18, "p_value": 0.2,
    ...          "p_adjusted": 0.2, "null": 0.44, "null_low": 0.37, "null_high": 0.5}
    >>> rows = tables.estimates([index], study="llmbi", measure="llmbi", confidence=0.95)
    >>> lead(rows, texts=Texts("own", "answers.csv")).plain[0].split(" (")[0]
    'Compared with reference prose of the same length, no significant difference in the model'
    """
    if claims.CLAIM not in declared:
        declared = declared[declared["statistic"].isin(["index", "difference"])]
    between = declared["statistic"].str.startswith("difference")
    pairs, others = declared[between], declared[~between]
    parts = [part for _, part in pd.concat([others, pairs]).groupby("statistic", sort=False)]
    measured = [part for part in parts if part["estimate"].notna().any()] or parts
    mde = significance.minimum_detectable_effect(declared)
    return Lead(
        plain=(
            *dict.fromkeys(_differences(part, mde) for part in measured),
            *(_other_scorer(results) if results else ()),
            prose.render("llmbi.what"),
        ),
        technical=phrases.technical(parts, unit="prompts"),
        figure="indices",
        numbers=_numbers(pairs, others.dropna(subset="estimate")),
        card=_card(declared, count_range(results.losses["scored"]) if results else ""),
        texts=texts,
    )


def _differences(rows: pd.DataFrame, mde: pd.Series) -> str:
    """Say which rows of a statistic are significant; of models, which two are furthest apart."""
    measured = rows[rows["estimate"].notna()]
    significant = significance.significant(measured)
    if measured.empty or not rows["statistic"].iloc[0].startswith("difference"):
        text = phrases.differences(rows, mde=mde, reference=f"in {_PROSE}", unit="prompts")
        if significant.empty:
            text = prose.render("llmbi.compared", prose=_PROSE, text=Markup(text))
        return text
    largest = (significant if len(significant) else measured)["estimate"].abs().idxmax()
    row = measured.loc[largest].to_dict()
    index = row | {"statistic": row["statistic"].replace("difference", "index")}
    sign = 1 if row["estimate"] > 0 else -1
    return prose.render(
        "llmbi.differences",
        k=len(significant),
        n=len(measured),
        row=row,
        index=names.measure(index),
        pair=(row["model"], row["group"])[::sign],
        numbers=Markup(phrases.numbers(row, unit="prompts", sign=sign)),
        mde=Markup(phrases.size_range(row, mde.reindex(measured.index))),
    )


def _numbers(pairs: pd.DataFrame, others: pd.DataFrame) -> pd.DataFrame:
    """Choose three differences at most: of the furthest indices from prose, and between models."""
    others = others.sort_values("estimate", ascending=False)
    furthest = others.drop(others.index[1:-1])
    chosen = phrases.leading([*(furthest.loc[[at]] for at in furthest.index), pairs])
    values = chosen.filter(regex="^(estimate|null(_low|_high)?|ci_(low|high)(_selected)?)$")
    minus = values.sub(chosen["null"].fillna(0), axis=0) if len(chosen) else values
    rows = chosen.to_dict("records")
    name = [prose.render_plain("llmbi.number_name", row=row) for row in rows]
    return chosen.assign(**minus, name=name)


def _other_scorer(results: Results) -> Iterator[str]:
    """Say by which scorer a model differs from reference prose and by which it does not."""
    first = results.estimates["instrument"].iloc[0]
    rows = _disagreements(results.estimates, results.second_scorer)
    if len(second := rows[rows["instrument"] != first]):
        yield prose.render("llmbi.other_scorer", rows=second.to_dict("records"), first=first)


def _card(rows: pd.DataFrame, answers: str) -> dict[str, str]:
    measured = rows[rows["estimate"].notna()]
    first = measured[measured["statistic"].isin(measured["statistic"].head(1))]
    return {
        "measures": prose.render("llmbi.card_measures"),
        "groups": prose.render("llmbi.card_groups"),
        "N": prose.render(
            "llmbi.card_n",
            prompts=measured["n"].max() if len(measured) else 0,
            answers=answers,
            models=pd.concat([rows["model"], rows["group"]]).nunique(),
            excluded=first["n_lost"].sum(),
        ),
        "instrument": ", ".join(map(escape, rows["instrument"].dropna().unique())),
        "not": prose.render("llmbi.card_not"),
    }


# --- headings ---------------------------------------------------------------------------------


def example(typical: pd.DataFrame) -> str:
    r"""Say the scores of two typical answers (`llmbi.tables.typical`).

    Examples
    --------
    >>> row = {"head": "a", "prompt": "Explain tides.", "score": 0.5}
    >>> example(pd.DataFrame([row]))
    'Asked “Explain tides\\.”, a scored 0.50'
    """
    return prose.render("llmbi.example", answers=typical.to_dict("records"))


def dimensions(estimates: pd.DataFrame) -> str:
    """Say in which models the index depends on the dimension: the heading of its section.

    Examples
    --------
    >>> row = {"model": "a", "statistic": "anova", "p_value": 0.7, "confidence": 0.95}
    >>> dimensions(pd.DataFrame([row]))
    'Mean LLMBI did not differ significantly between dimensions in a'
    """
    tested = estimates[(estimates["statistic"] == "anova") & estimates["p_value"].notna()]
    differ = tested[stats.is_significant(tested["p_value"], tested["confidence"])]["model"]
    return prose.render("llmbi.dimensions", models=list(tested["model"]), differ=list(differ))


def by_scorer(first: pd.DataFrame, second: pd.DataFrame) -> str:
    """Say which models differ from reference prose by one of two scorers only.

    Parameters
    ----------
    first, second
        The tables of `llmbi.estimates.estimates`, each by one scorer.

    Examples
    --------
    >>> row = {"model": "a", "statistic": "index", "p_value": 0.01, "confidence": 0.95}
    >>> row |= {"estimate": 0.9, "null": 0.4}
    >>> scorers = {"x": 0.4, "y": 0.02}.items()
    >>> by_scorer(*(pd.DataFrame([row | {"instrument": x, "p_adjusted": p}]) for x, p in scorers))
    'By y, but not by x, a scored higher than reference prose'
    """
    rows = _disagreements(first, second)
    other = rows[~rows["significant"]].set_index("model")["instrument"]
    rows = rows[rows["significant"]]
    rows = rows.assign(other=rows["model"].map(other)).to_dict("records")
    return prose.render("llmbi.by_scorer", rows=rows)


def _disagreements(first: pd.DataFrame, second: pd.DataFrame) -> pd.DataFrame:
    """Return both indices of the models that differ from prose by one of two scorers only."""
    rows = pd.concat([first, second])
    rows = rows[(rows["statistic"] == "index") & rows["p_adjusted"].notna()]
    rows = rows.assign(significant=significance.is_significant(rows))
    by_model = rows.groupby("model", sort=False)["significant"]
    return rows[by_model.transform("size").eq(2) & by_model.transform("sum").eq(1)]


def ranking(swaps: pd.DataFrame) -> str:
    """Say in a heading whether any dimensions differ, so that their ranking has support.

    Parameters
    ----------
    swaps
        Of `llmbi.ranking.ranking_swaps`.

    Examples
    --------
    >>> ranking(pd.DataFrame({"model": ["a", "b"], "pairs": 36, "significant": [0.0, 0.0]}))
    'The data support no ranking: no pair of dimensions differs significantly in a or b'
    """
    rows = swaps.dropna(subset="significant").drop_duplicates("model")
    return prose.render("llmbi.ranking", rows=rows.to_dict("records"))
