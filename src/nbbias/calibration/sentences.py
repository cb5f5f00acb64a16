"""What a calibration says; the words are in ``data/prose/calibration.j2``."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from markupsafe import Markup

from nbbias.calibration.params import TOLERANCE
from nbbias.params import Texts
from nbbias.reading import Lead, names, number, phrases, prose

#: On which side of its level a statistic does harm: an interval that covers less, a test or a
#: family that errs more.
_HARM = {"coverage_error": -1, "false_positive_error": 1, "familywise_error": 1}

_KINDS = ("harmful", "within", "conservative", "undecided")
_PARTS = {"interval": "coverage_error", "test": "false_positive_error"}
_LOW = 0.85  # coverage in the scenario where it is lowest
_POINTS = f"{100 * TOLERANCE:.0f}"


def name_statistics(rows: pd.DataFrame) -> pd.Series:
    """Return names of what is calibrated, after their study (`data/words/calibration.csv`).

    Examples
    --------
    >>> rows = pd.DataFrame({"source": ["cogs"], "dimension": ["abs"], "task": ["abs raw"]})
    >>> name_statistics(rows).tolist()
    ['cogs, Affinity Bias Score, texts in one order']
    """
    keys = rows[["source", "dimension", "task"]].astype("str").to_numpy().tolist()
    words = [f"{key[0].replace('_', ' ')}, {names.calibrated(*key)}" for key in keys]
    return pd.Series(words, index=rows.index, dtype="str")


def overall(rows: pd.DataFrame) -> pd.DataFrame:
    """Return measured rows over all designs, with `name` and `kind`, their error's verdict.

    ``within`` the tolerance, ``harmful`` or ``conservative`` beyond it, or ``undecided``. Declared
    rows have the verdict that is corrected for all that was declared.

    Examples
    --------
    >>> row = {"source": "s", "dimension": "m", "task": "d", "topic": None, "prompt": None,
    ...        "statistic": "coverage_error", "estimate": -0.1, "ci_low": -0.12, "ci_high": -0.08}
    >>> overall(pd.DataFrame([row, row | {"ci_high": 0.01}]))["kind"].tolist()
    ['harmful', 'undecided']
    """
    rows = rows[rows["topic"].isna() & rows["prompt"].isna() & rows["estimate"].notna()]
    within = np.maximum(-rows["ci_low"], rows["ci_high"]) < TOLERANCE
    beyond = (rows["ci_low"] > TOLERANCE) | (rows["ci_high"] < -TOLERANCE)
    if "verdict" in rows and rows["smallest_effect"].notna().any():
        within, beyond = (rows["verdict"].str.startswith(word) for word in ("equiv", "beyond"))
    harmful = np.sign(rows["estimate"]) == rows["statistic"].map(_HARM).astype(float)
    kind = np.select([within, beyond & harmful, beyond], ["within", *_KINDS[::2]], _KINDS[-1])
    return rows.assign(kind=kind, name=name_statistics(rows))


def lead(rows: pd.DataFrame, *, texts: Texts) -> Lead:
    """Return what a page begins with: which intervals and tests keep their nominal level.

    Parameters
    ----------
    rows
        ESTIMATES of the full run (`calibration.shipped`).
    texts
        Where the texts are from.

    Examples
    --------
    >>> from nbbias import calibration
    >>> found = lead(calibration.shipped(), texts=Texts("simulated", ""))
    >>> found.plain[0].partition(" (")[0], len(found.numbers)
    ('In the full simulation', 2)
    """
    table = overall(rows)
    harm = table["estimate"] * table["statistic"].map(_HARM).astype(float)
    worst = table.loc[harm[harm > 0].groupby(table["statistic"], sort=False).idxmax()]
    return Lead(
        plain=tuple(summarize(rows, of="the full simulation")),
        technical=" ".join(_technical(row) for row in worst.head(1).to_dict("records")),
        figure="errors",
        numbers=_shares(worst),
        card=_card(table),
        texts=texts,
    )


def summarize(rows: pd.DataFrame, *, of: str) -> list[str]:
    """Say how many intervals and tests keep their nominal level, which do not, and of families.

    Parameters
    ----------
    rows
        Declared rows, or all ESTIMATES where nothing was declared.
    of
        What they are of, such as ``"this run"``.

    Examples
    --------
    >>> from nbbias import tables
    >>> row = {"measure": "interval", "statistic": "coverage_error", "source": "cogs",
    ...        "dimension": "rbs", "task": "rbs", "estimate": -0.1, "ci_low": -0.12,
    ...        "ci_high": -0.08, "n": 900, "null": 0.0}
    >>> rows = tables.estimates([row], study="calibration", confidence=0.95)
    >>> summarize(rows, of="this run")[0].partition(" points), ")[2]
    '1 in too few. Too few: Representative Bias Score (85.0%).'
    """
    table = overall(rows)
    parts = {what: table[table["statistic"] == name] for what, name in _PARTS.items()}
    parts = {what: part for what, part in parts.items() if len(part)}
    if table.empty:
        sentences = [prose.render("claims.nothing", reason=phrases.commonest_reason(rows))]
    elif parts and all(part["kind"].eq("undecided").all() for part in parts.values()):
        counts = [f"{len(part)} {what}s" for what, part in parts.items()]
        sentences = [prose.render("calibration.undecided", counts=counts, tolerance=_POINTS)]
    else:
        sentences = [_errors(part, what, of) for what, part in parts.items()]
    families = table[table["statistic"] == "familywise_error"]
    return [*sentences, *([_families(families)] if len(families) else [])]


def decided(rows: pd.DataFrame) -> str:
    """Say in a heading of how many intervals and tests a run decides whether they keep their level.

    Examples
    --------
    >>> from nbbias import calibration
    >>> decided(calibration.shipped())
    'This run decides 32 of 43 intervals and tests; the others need more simulated studies'
    """
    kinds = overall(rows[rows["measure"] != "family"])["kind"]
    return prose.render("calibration.decided", k=int(kinds.ne("undecided").sum()), n=len(kinds))


def _level(row: pd.Series | dict[str, Any]) -> float:
    covers = row["statistic"] == "coverage_error"
    return float(row["confidence"] if covers else 1 - row["confidence"])


def _errors(table: pd.DataFrame, what: str, of: str) -> str:
    level, kinds = _level(table.iloc[0]), table["kind"].value_counts()
    harmful = table[table["kind"] == "harmful"].sort_values("estimate", key=abs, ascending=False)
    return prose.render(
        "calibration.errors",
        of=of,
        what=what,
        n=len(table),
        studies=_count_studies(table),
        level=f"{level:.0%}",
        tolerance=_POINTS,
        kinds={kind: int(kinds.get(kind, 0)) for kind in _KINDS},
        harmful=[
            (name.partition(", ")[2], Markup(f"{level + error:.1%}"))  # without the study's
            for name, error in zip(harmful["name"], harmful["estimate"], strict=True)
        ],
    )


def _shares(errors: pd.DataFrame) -> pd.DataFrame:
    """Return errors as the shares that they are errors of, with the name of each."""
    level = errors.apply(_level, axis=1)
    shares = errors.assign(
        **{end: errors[end] + level for end in ("estimate", "ci_low", "ci_high")}
    )
    rows = errors.assign(level=level).to_dict("records")
    labels = [prose.render_plain("calibration.number_name", row=row) for row in rows]
    return shares.assign(statistic=errors["statistic"].str.replace("_error", ""), name=labels)


def _count_studies(table: pd.DataFrame) -> str:
    """Count simulated studies, which may have several statistics."""
    return f"{table.groupby(['source', 'dimension'])['n'].max().sum():,.0f}"


def _families(table: pd.DataFrame) -> str:
    level = _level(table.iloc[0])
    share = float(np.average(table["estimate"], weights=table["n"])) + level
    values = {"share": Markup(f"{share:.1%}"), "n": f"{table['n'].sum():,.0f}"}
    return prose.render("calibration.families", **values, nominal=f"{level:.0%}")


def _technical(row: dict[str, Any]) -> str:
    level = _level(row)
    ends = {"share": "estimate", "low": "ci_low", "high": "ci_high"}
    shares = {k: Markup(number(100 * (level + row[v]), decimals=1)) for k, v in ends.items()}
    return prose.render(
        "calibration.technical",
        covers=row["statistic"] == "coverage_error",
        name=row["name"],
        nominal=f"{level:.0%}",
        level=f"{row['confidence']:.0%}",
        n=f"{row['n']:,.0f}",
        **shares,
    )


def _card(table: pd.DataFrame) -> dict[str, str]:
    n = _count_studies(table[table["statistic"] == "coverage_error"])
    fixed = ("measures", "groups", "instrument", "not")
    card = {name: prose.render(f"calibration.card_{name}") for name in fixed}
    studies = [str(name).replace("_", " ") for name in table["source"].unique()]
    return card | {"N": prose.render("calibration.card_n", n=n, studies=studies)}


def lowest(rows: pd.DataFrame) -> str:
    """Say how many intervals have low coverage in any scenario, of `calibration.shipped`."""
    worst = rows.loc[rows["measure"] == "interval", "worst"] + rows["confidence"]
    low = int((worst < _LOW).sum())
    return prose.render("calibration.lowest", k=low, n=int(worst.count()), low=f"{_LOW:.0%}")


def held_out(outcomes: pd.DataFrame) -> str:
    """Compare the coverage in held-out scenarios with that in the others."""
    rows = outcomes[outcomes["n_covered"] > 0]
    hits = (rows["coverage"] * rows["n_covered"]).groupby(rows["held_out"].astype(bool)).sum()
    shares = hits / rows["n_covered"].groupby(rows["held_out"].astype(bool)).sum()
    if len(shares) < 2:
        return ""
    inside, others = (Markup(f"{shares[key]:.1%}") for key in (True, False))
    return prose.render("calibration.held_out", held_out=inside, others=others)


def power(table: pd.DataFrame) -> str:
    """Say how many tests detect the largest effect, at the fewest and at the most units."""
    ordered = table.sort_values("n").groupby(["study", "measure", "statistic"], sort=False)
    few, many = (int(ordered["effect"].nth(at).notna().sum()) for at in (0, -1))
    return prose.render("calibration.power", few=few, many=many, n=ordered.ngroups)
