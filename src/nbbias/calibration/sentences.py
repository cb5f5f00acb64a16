"""What a calibration says; the words are in ``data/prose/calibration.j2``."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from markupsafe import Markup

from nbbias.calibration.estimates import POWER
from nbbias.calibration.params import TOLERANCE
from nbbias.params import Texts
from nbbias.reading import Lead, names, phrases, prose

#: On which side of its level a statistic does harm: an interval that covers less, a test or a
#: family that errs more.
_HARM = {"coverage_error": -1, "false_positive_error": 1, "familywise_error": 1}

_KINDS = ("harmful", "scenario", "conservative", "within", "undecided")
_PARTS = {"interval": "coverage_error", "test": "false_positive_error"}
FAILS = ["harmful", "scenario"]  # on average, in the worst scenario
_POINTS = f"{100 * TOLERANCE:.0f}"


def name_statistics(rows: pd.DataFrame) -> pd.Series:
    """Return names of what is calibrated, after their study (`data/words/calibration.csv`).

    Examples
    --------
    >>> rows = pd.DataFrame({"source": ["cogs"], "dimension": ["abs"], "task": ["abs raw"]})
    >>> name_statistics(rows).tolist()
    ['cogs: Affinity Bias Score of texts in one order']
    """
    keys = rows[["source", "dimension", "task"]].astype("str").to_numpy().tolist()
    words = [f"{key[0].replace('_', ' ')}: {names.calibrated(*key)}" for key in keys]
    return pd.Series(words, index=rows.index, dtype="str")


def overall(rows: pd.DataFrame) -> pd.DataFrame:
    """Return measured rows over all designs, with `name` and `kind`, their error's verdict.

    ``within`` the tolerance, ``harmful`` or ``conservative`` beyond it, or ``undecided``; in the
    full run also ``scenario``, where the worst scenario alone is beyond it on the harmful side.
    Declared rows have the verdict that is corrected for all that was declared.

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
    side = rows["statistic"].map(_HARM).astype(float)
    harmful, ends = np.sign(rows["estimate"]) == side, ["worst_low", "worst_high"]
    worst = rows.reindex(columns=ends).mul(side, axis=0).min(axis=1) > TOLERANCE
    kind = np.select([beyond & harmful, worst, beyond, within], _KINDS[:-1], _KINDS[-1])
    return rows.assign(kind=kind, name=name_statistics(rows))


def lead(rows: pd.DataFrame, *, texts: Texts) -> Lead:
    """Return what a page begins with: which measures keep their level, and which not to use.

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
    >>> found.plain[0].partition(": ")[0], len(found.numbers)
    ('The 95% intervals of 17 of 23 measures can be trusted', 2)
    """
    table = overall(rows)
    intervals, tests, *families = summarize(rows)
    # A false-positive rate of the same measure is no second number: it is what coverage leaves out.
    worst = table[table["kind"].eq("harmful") & table["measure"].eq("interval")].head(2)
    return Lead(
        plain=(intervals, *advice(rows), tests),
        technical=" ".join([intervals, tests, *families]),
        figure="errors",
        numbers=_shares(worst),
        card=_card(table),
        texts=texts,
    )


def advice(rows: pd.DataFrame) -> list[str]:
    """Say of each interval of `calibration.shipped` that fails what to use instead.

    Examples
    --------
    >>> from nbbias import calibration
    >>> advice(calibration.shipped())[0].partition(": ")[2]
    '68.8% coverage; use shares at equal length (94.6%).'
    """
    table = overall(rows[rows["measure"] == "interval"])
    keys = table["dimension"] + "/" + table["task"]
    shares = dict(zip(keys, (table["estimate"] + table["confidence"]).map(_share), strict=True))
    failing = table[table["kind"].isin(FAILS)].sort_values(["kind", "worst"])
    sentences = []
    for row in failing.to_dict("records"):
        key, single = (row["source"], row["dimension"], row["task"]), row["kind"] == "scenario"
        values = {
            "scenario": row["at"].split(", n")[0] if single else "",
            "low": _share(row["worst" if single else "estimate"] + row["confidence"]),
            "instead": Markup(names.instead(*key).format_map(shares)),
        }
        sentences.append(prose.render("calibration.advice", name=names.calibrated(*key), **values))
    return sentences


#: Whether a measure may be used, by its kind (`overall`).
_ANSWERS = ("no", "not in one scenario", "yes, cautious", "yes", "undecided")
_USE = dict(zip(_KINDS, _ANSWERS, strict=True))


def by_study(rows: pd.DataFrame, power: pd.DataFrame, *, study: str) -> pd.DataFrame:
    """Lay out whether each interval and each test of a study keeps its level, and from which N.

    Parameters
    ----------
    rows, power
        Of `calibration.shipped` and `calibration.shipped_power`.
    study
        Its stem.

    Examples
    --------
    >>> from nbbias import calibration
    >>> full = calibration.shipped(), calibration.shipped_power()
    >>> by_study(*full, study="llmbi")[["interval", "test", "power"]].values.tolist()[0]
    ['yes: 94.7 [93.7, 95.5]', 'yes: 5.1 [3.8, 6.9]', '80 (0.15)']
    """
    source = study.replace("_", " ")
    table = overall(rows[rows["source"] == source]).set_index(["dimension", "task"])
    level = table["confidence"].where(table["measure"].eq("interval"), 1 - table["confidence"])
    shares = table[["estimate", "ci_low", "ci_high", "worst"]].add(level, axis=0).round(4)
    text = shares.map("{:.1%}".format).replace("%", "", regex=True)
    found = text["estimate"] + " [" + text["ci_low"] + ", " + text["ci_high"] + "]"
    table = table.assign(found=found, lowest=text["worst"] + " (" + table["at"] + ")")
    intervals, tests = (table[table["measure"].eq("interval") == side] for side in (True, False))
    scenario = "not with " + intervals["at"].str.split(", n").str[0]
    use = intervals["kind"].map(_USE).mask(intervals["kind"] == "scenario", scenario)
    keys = power[["study", "measure", "statistic"]].replace("_", " ", regex=True)
    reached = power.assign(**keys)[keys["study"] == source].groupby(["measure", "statistic"])
    columns = {
        "interval": use + ": " + intervals["found"],
        "lowest": intervals["lowest"],
        "test": tests["kind"].map(_USE) + ": " + tests["found"],
        "power": reached.apply(_reach),
    }
    result = pd.DataFrame(
        {name: one.reindex(table.index.unique()) for name, one in columns.items()}
    )
    result.insert(0, "measure", [names.calibrated(study, *key) for key in result.index])
    return result.fillna("").reset_index(drop=True)


def _reach(part: pd.DataFrame) -> str:
    enough = part.loc[part["power_largest"] >= POWER, "n"]
    least = f"{enough.min()}" if len(enough) else f"> {part['n'].max()}"
    return f"{least} ({part['largest'].iloc[0]:g})"


def usable(table: pd.DataFrame, *, study: str) -> str:
    """Say how many intervals of a study (`by_study`) can be trusted, and which not: a heading."""
    measures = table[table["interval"] != ""]
    failing = measures.loc[measures["interval"].str.startswith("no"), "measure"].to_list()
    counts = {"k": int(measures["interval"].str.startswith("yes").sum()), "n": len(measures)}
    return prose.render("calibration.usable", study=study, failing=failing, **counts)


def summarize(rows: pd.DataFrame) -> list[str]:
    """Say how many intervals and tests keep their nominal level, and of families.

    Parameters
    ----------
    rows
        Declared rows, or all ESTIMATES where nothing was declared.

    Examples
    --------
    >>> from nbbias import tables
    >>> row = {"measure": "interval", "statistic": "coverage_error", "source": "cogs",
    ...        "dimension": "rbs", "task": "rbs", "estimate": -0.1, "ci_low": -0.12,
    ...        "ci_high": -0.08, "n": 900, "null": 0.0}
    >>> rows = tables.estimates([row], study="calibration", confidence=0.95)
    >>> summarize(rows)
    ['The 95% intervals of 0 of 1 measure can be trusted. 1 fails.']
    """
    table = overall(rows)
    if table.empty:
        return [prose.render("claims.nothing", reason=phrases.commonest_reason(rows))]
    parts = {what: table[table["statistic"] == name] for what, name in _PARTS.items()}
    sentences = [_errors(part, what) for what, part in parts.items() if len(part)]
    families = table[table["statistic"] == "familywise_error"]
    return [*sentences, *([_families(families)] if len(families) else [])]


def _level(row: pd.Series | dict[str, Any]) -> float:
    covers = row["statistic"] == "coverage_error"
    return float(row["confidence"] if covers else 1 - row["confidence"])


def _share(value: float) -> Markup:
    return Markup(f"{value:.1%}")


def _errors(table: pd.DataFrame, what: str) -> str:
    level, kinds = _level(table.iloc[0]), table["kind"].value_counts()
    counts = {kind: int(kinds.get(kind, 0)) for kind in _KINDS}
    values = {"n": len(table), "level": f"{level:.0%}", "tolerance": _POINTS, "kinds": counts}
    return prose.render("calibration.errors", what=what, **values)


def _shares(errors: pd.DataFrame) -> pd.DataFrame:
    """Return errors of coverage as the coverages that they are of, with the name of each."""
    coverage = errors[["estimate", "ci_low", "ci_high"]].add(errors["confidence"], axis=0)
    rows = errors.to_dict("records")
    labels = [prose.render_plain("calibration.number_name", row=row) for row in rows]
    return errors.assign(**coverage, statistic="coverage", name=labels)


def _count_studies(table: pd.DataFrame) -> str:
    """Count simulated studies, which may have several statistics."""
    return f"{table.groupby(['source', 'dimension'])['n'].max().sum():,.0f}"


def _families(table: pd.DataFrame) -> str:
    level = _level(table.iloc[0])
    share = float(np.average(table["estimate"], weights=table["n"])) + level
    values = {"share": _share(share), "n": f"{table['n'].sum():,.0f}"}
    return prose.render("calibration.families", **values, nominal=f"{level:.0%}")


def _card(table: pd.DataFrame) -> dict[str, str]:
    n = _count_studies(table[table["statistic"] == "coverage_error"])
    fixed = ("measures", "groups", "instrument", "not")
    card = {name: prose.render(f"calibration.card_{name}") for name in fixed}
    studies = [str(name).replace("_", " ") for name in table["source"].unique()]
    return card | {"N": prose.render("calibration.card_n", n=n, studies=studies)}


def power(table: pd.DataFrame) -> str:
    """Say how many tests detect the largest effect, at the fewest and at the most units."""
    ordered = table.sort_values("n").groupby(["study", "measure", "statistic"], sort=False)
    few, many = (int((ordered["power_largest"].nth(at) >= POWER).sum()) for at in (0, -1))
    return prose.render("calibration.power", few=few, many=many, n=ordered.ngroups)


def named_tests(table: pd.DataFrame) -> pd.DataFrame:
    """Return `calibration.shipped_power`, or a run's, with names of its tests for its keys."""
    keys = {"study": "source", "measure": "dimension", "statistic": "task"}
    named = name_statistics(table.rename(columns=keys).replace("_", " ", regex=True))
    return table.drop(columns=[*keys]).assign(test=named)[["test", *table.columns.drop([*keys])]]
