"""The figures of the LLMBI study."""

from __future__ import annotations

import pandas as pd

from nbbias.reading import Drawn, figures, prose, significance

_PROSE = "reference prose of the same length"
_BAND, _AS_BEFORE = f"no significant difference from {_PROSE}", "as in Figure 1"


def indices(*estimates: pd.DataFrame) -> Drawn:
    """Draw each model's index over the range of reference prose, a panel a scorer.

    Parameters
    ----------
    *estimates
        `estimates` of `llmbi.measure`, of claims with `reading.claims.with_claims`, and
        `second_scorer` to compare with.

    Examples
    --------
    >>> from nbbias import tables
    >>> row = {"model": "m", "statistic": "index", "estimate": 0.9, "ci_low": 0.7, "ci_high": 1.1,
    ...        "null": 0.4, "null_low": 0.3, "null_high": 0.5, "n": 18, "instrument": "TextBlob"}
    >>> indices(tables.estimates([row], study="llmbi", confidence=0.95)).title
    'By TextBlob, m scores higher than reference prose'
    >>> unknown = row | {"null": None, "null_low": None, "null_high": None}
    >>> indices(tables.estimates([unknown], study="llmbi", confidence=0.95)).title
    "No model's index could be compared with reference prose"
    """
    rows = pd.concat(table[table["statistic"] == "index"] for table in estimates)
    rows = significance.with_selection(rows)
    compared = rows.dropna(subset=["estimate", "null"])
    beyond = compared[figures.is_beyond_null(compared)]
    side = (beyond["estimate"] > beyond["null"]).map({True: "higher", False: "lower"})
    axis, shown = "LLM Bias Index (0.2: no sentiment)", rows.assign(cell=rows["model"])
    band = _BAND if len(estimates) == 1 else _AS_BEFORE
    return Drawn(
        figures.claims(shown, axis, by="instrument", words={"band": _PROSE}),
        rows,
        "LLM Bias Index of each model with its interval, and the range of reference prose as a "
        "grey band, for each scorer.",
        prose.render_plain(
            "llmbi.indices",
            rows=beyond.assign(side=side).to_dict("records"),
            compared=len(compared) > 0,
        ),
        figures.caption(rows, "LLM Bias Index", of="prompts", band=band),
    )


def dimensions(estimates: pd.DataFrame, units: pd.DataFrame) -> Drawn:
    """Draw each dimension's mean with its interval, its prompts, and reference prose.

    Parameters
    ----------
    estimates, units
        Of `llmbi.measure`.

    Examples
    --------
    >>> from nbbias import tables
    >>> row = {"model": "m", "statistic": "dimension_mean", "dimension": "Age", "estimate": 0.9}
    >>> rows = tables.estimates([row], study="llmbi", confidence=0.95)
    >>> dimensions(rows, rows.assign(value=0.9)).title
    'Score of each dimension, compared with reference prose'
    """
    of_dimension = estimates[estimates["statistic"] == "dimension_mean"]
    tested = of_dimension.dropna(subset="p_adjusted")
    differ = significance.is_significant(tested)
    of_prompt = units[units["statistic"] == "dimension_mean"]

    rings = of_prompt.assign(estimate=of_prompt["value"], side="printed")
    drawn = pd.concat([of_dimension.assign(side="ours"), rings], ignore_index=True)
    return Drawn(
        figures.claims(
            drawn.assign(cell=drawn["dimension"]),
            "LLMBI score (0.2: no sentiment)",
            by="model",
            words={"band": _PROSE},
        ),
        of_dimension,
        "Mean score of each dimension with its interval, single prompts as open circles, and the "
        "range of reference prose as a grey band, for each model.",
        prose.render_plain("llmbi.means", k=int(differ.sum()), n=len(tested)),
        figures.caption(of_dimension, "means", of="prompts a dimension", band=_AS_BEFORE)
        + " Rings: single prompts.",
    )
