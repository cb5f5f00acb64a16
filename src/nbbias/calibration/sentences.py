"""What a calibration says; the words are in ``data/prose/calibration.j2``."""

from __future__ import annotations

import numpy as np
import pandas as pd
from markupsafe import Markup

from nbbias import stats
from nbbias.calibration.estimates import POWER
from nbbias.calibration.params import TOLERANCE
from nbbias.params import Texts
from nbbias.reading import Lead, names, phrases, prose

#: On which side of its level a statistic does harm: an interval that covers less, a test or a
#: family that errs more.
_HARM = {"coverage_error": -1, "false_positive_error": 1, "familywise_error": 1}

_PARTS = {"interval": "coverage_error", "test": "false_positive_error"}
TRUSTED = ["within", "conservative"]
FAILS = ["harmful", "scenario"]  # on average, in the worst scenario
_GROUPS = {"trusted": TRUSTED, "fail": FAILS, "undecided": ["undecided"]}
_STUDIES = {"cogs": "CoGS", "llmbi": "LLMBI", "biasalert": "BiasAlert"}


def name_statistics(rows: pd.DataFrame) -> pd.Series:
    """Return names of what is calibrated, after their study (`data/words/calibration.csv`).

    Examples
    --------
    >>> rows = pd.DataFrame({"source": ["cogs"], "dimension": ["abs"], "task": ["abs raw"]})
    >>> name_statistics(rows).tolist()
    ['CoGS: Affinity Bias Score of texts in one order']
    """
    words = rows["source"].astype("str").map(_study) + ": " + pd.Series(_names(rows), rows.index)
    return words.astype("str")


def overall(rows: pd.DataFrame) -> pd.DataFrame:
    """Return measured rows over all designs, with `name` and `kind`, their error's verdict.

    That of `calibration.shipped`; else ``within`` the tolerance, ``harmful`` or ``conservative``
    beyond it, or ``undecided``. Declared rows have the verdict that is corrected for all that was
    declared.

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
    kind = np.select(
        [beyond & harmful, beyond, within], ["harmful", "conservative", "within"], "undecided"
    )
    kind = rows.get("kind", pd.Series(kind, index=rows.index))
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
    >>> found.plain[0].partition(";")[0], found.numbers["n"].tolist()
    ('The 95% intervals of 16 of 23 measures can be trusted', [1488])
    """
    table = overall(rows)
    intervals = table[table["measure"] == "interval"]
    lists = {"named": _named(intervals, ["undecided"]), "advice": advice(intervals)}
    parts = ("headline", "trusted", "fail", "undecided")
    plain = [prose.render(f"calibration.{p}", **_count(intervals), **lists) for p in parts]
    _, tests, *_ = summary = summarize(rows)
    return Lead(
        plain=(*filter(None, plain), tests),
        technical=" ".join(summary),
        figure="errors",
        numbers=_families(table),
        card=_card(table),
        texts=texts,
    )


def _named(rows: pd.DataFrame, kinds: list[str]) -> list[tuple[str, list[str]]]:
    """Return studies with the names of their measures of some kinds."""
    rows = rows[rows["kind"].isin(kinds)]
    of_studies = rows.assign(name=_names(rows, "short")).groupby("source", sort=False)["name"]
    return [(_study(source), part.to_list()) for source, part in of_studies]


def _names(rows: pd.DataFrame, of: str = "name") -> list[str]:
    keys = rows[["source", "dimension", "task"]].astype(str).to_numpy()
    return [names.calibrated(study, measure, name, of) for study, measure, name in keys]


def _study(source: str) -> str:
    return _STUDIES.get(source, source.replace("_", " "))


def advice(rows: pd.DataFrame) -> list[str]:
    """Say of each interval of `calibration.shipped` that fails what to use instead.

    Examples
    --------
    >>> from nbbias import calibration
    >>> advice(calibration.shipped())[0]
    'share of group terms in short answers (use shares at equal length: 94.6%)'
    """
    table = overall(rows[rows["measure"] == "interval"])
    keys = table["dimension"] + "/" + table["task"]
    shares = dict(zip(keys, (table["estimate"] + table["confidence"]).map(_share), strict=True))
    failing = table[table["kind"].isin(FAILS)].sort_values(["kind", "worst"])
    sentences = []
    for row in failing.to_dict("records"):
        key = (row["source"], row["dimension"], row["task"])
        scenario = row["at"].split(", N")[0] if row["kind"] == "scenario" else ""
        instead = Markup(names.calibrated(*key, "instead").format_map(shares))
        values = {"name": names.calibrated(*key), "scenario": scenario, "instead": instead}
        sentences.append(prose.render("calibration.advice", **values))
    return sentences


#: Whether a measure may be used, by its kind (`overall`).
_USE = {
    "harmful": "fails",
    "scenario": "fails in one scenario",
    "conservative": "trusted (wide)",
    "within": "trusted",
    "undecided": "undecided",
}


def by_study(rows: pd.DataFrame, *, study: str) -> pd.DataFrame:
    r"""Lay out the coverage of each interval and the false positives of each test of a study.

    Parameters
    ----------
    rows
        Of `calibration.shipped`.
    study
        Its stem.

    Examples
    --------
    >>> from nbbias import calibration
    >>> table = by_study(calibration.shipped(), study="cogs").set_index("measure")
    >>> table.loc["Representative Bias Score with refused answers", ["interval", "lowest"]].tolist()
    ['fails: 89.7 [88.1, 91.1]', '35.5 [29.2] (refusals of unusual answers, N\xa0=\xa0400)']
    """
    source = study.replace("_", " ")
    table = overall(rows[(rows["source"] == source) & (rows["measure"] != "family")])
    table = table.set_index(["dimension", "task"])
    level = table["confidence"].where(table["measure"].eq("interval"), 1 - table["confidence"])
    shares = table[["estimate", "ci_low", "ci_high", "worst", "bound"]].add(level, axis=0)
    text = shares.mul(100).round(2).map("{:.1f}".format)
    estimates = text["estimate"] + " [" + text["ci_low"] + ", " + text["ci_high"] + "]"
    estimates = table["kind"].map(_USE) + ": " + estimates
    worst = text["worst"] + " [" + text["bound"] + "] (" + table["at"] + ")"
    parts = {"interval": estimates, "lowest": worst, "test": estimates, "highest": worst}
    result = pd.DataFrame(
        {
            name: part[table["measure"].eq("interval") == (name in ("interval", "lowest"))]
            for name, part in parts.items()
        },
        index=table.index.unique(),
    )
    result.insert(0, "measure", [names.calibrated(study, *key) for key in result.index])
    return result.fillna("").reset_index(drop=True)


def usable(table: pd.DataFrame, *, study: str) -> str:
    """Say how many intervals of a study (`by_study`) can be trusted, and which not: a heading."""
    measures = table[table["interval"] != ""]
    kind = measures["interval"].str.partition(" ")[0].str.strip(":").str.partition("(")[0]
    failing = measures.loc[kind == "fails", "measure"].to_list()
    counts = {"k": int((kind == "trusted").sum()), "n": len(measures)}
    return prose.render("calibration.usable", study=_study(study), failing=failing, **counts)


def families(rows: pd.DataFrame) -> pd.DataFrame:
    """Lay out how often whole runs without an effect made a false claim, by study.

    Examples
    --------
    >>> from nbbias import calibration
    >>> families(calibration.shipped())["n"].sum()
    np.int64(1488)
    """
    table = overall(rows[rows["measure"] == "family"])
    shares = table[["estimate", "ci_low", "ci_high", "worst"]].add(1 - table["confidence"], axis=0)
    text = shares.mul(100).round(2).map("{:.1f}".format)
    columns = {
        "study": table["source"].map(_study),
        "claims": _names(table),
        "n": table["n"].astype(int),
        "found": text["estimate"] + " [" + text["ci_low"] + ", " + text["ci_high"] + "]",
        "highest": text["worst"] + " (" + table["at"] + ")",
    }
    return pd.DataFrame(columns)


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
    ['The 95% intervals of 0 of 1 measure can be trusted: ... One fails (fewer than 93%).']
    """
    table = overall(rows)
    if table.empty:
        return [prose.render("claims.nothing", reason=phrases.commonest_reason(rows))]
    parts = {what: table[table["statistic"] == name] for what, name in _PARTS.items()}
    sentences = [_errors(part, what) for what, part in parts.items() if len(part)]
    whole = _families(table).to_dict("records")
    return [*sentences, *(prose.render("calibration.families", row=row) for row in whole)]


def _share(value: float) -> Markup:
    return Markup(f"{value:.1%}")


def _count(table: pd.DataFrame) -> dict[str, float]:
    counts = {name: int(table["kind"].isin(of).sum()) for name, of in _GROUPS.items()}
    level = float(table["confidence"].iloc[0])
    return {"n": len(table), "level": level, "tolerance": TOLERANCE, **counts}


def _errors(table: pd.DataFrame, what: str) -> str:
    by_scenario = "bound" in table
    return prose.render(f"calibration.{what}s", by_scenario=by_scenario, **_count(table))


def _families(table: pd.DataFrame) -> pd.DataFrame:
    """Return one row of ESTIMATES: the share of all runs that made a false claim."""
    of_runs = table[table["statistic"] == "familywise_error"]
    if of_runs.empty:
        return of_runs
    n, first = int(of_runs["n"].sum()), of_runs.iloc[:1]
    level = float(first["confidence"].iloc[0])
    share = float(np.average(of_runs["estimate"], weights=of_runs["n"])) + 1 - level
    interval = stats.wilson(share, n, confidence=level)
    values = {"estimate": share, "ci_low": interval.ci_low, "ci_high": interval.ci_high}
    name = prose.render_plain("calibration.number_name", level=level)
    return first.assign(**values, n=n, statistic="familywise", name=name)


def _count_studies(table: pd.DataFrame) -> str:
    """Count simulated studies, which may have several statistics."""
    return f"{table.groupby(['source', 'dimension'])['n'].max().sum():,.0f}"


def _card(table: pd.DataFrame) -> dict[str, str]:
    n = _count_studies(table[table["statistic"] == "coverage_error"])
    fixed = ("measures", "groups", "instrument", "not")
    card = {name: prose.render(f"calibration.card_{name}") for name in fixed}
    studies = [_study(str(name)) for name in table["source"].unique()]
    return card | {"N": prose.render("calibration.card_n", n=n, studies=studies)}


def exclude_failing(power: pd.DataFrame, rows: pd.DataFrame) -> pd.DataFrame:
    """Exclude tests that reject too often, whose power means nothing.

    Parameters
    ----------
    power, rows
        Of `calibration.shipped_power` and `calibration.shipped`.

    Examples
    --------
    >>> from nbbias import calibration
    >>> power = calibration.shipped_power()
    >>> len(exclude_failing(power, calibration.shipped())) < len(power)
    True
    """
    table = overall(rows[rows["measure"] == "test"])
    failing = table.loc[table["kind"].isin(FAILS), ["source", "dimension", "task"]]
    named = power[["study", "measure", "statistic"]].replace("_", " ", regex=True)
    keys = pd.MultiIndex.from_frame(named)
    return power[~keys.isin(pd.MultiIndex.from_frame(failing))]


def power(table: pd.DataFrame) -> str:
    """Say how many tests detect the largest effect, at the fewest and at the most units."""
    ordered = table.sort_values("n").groupby(["study", "measure", "statistic"], sort=False)
    few, many = (int((ordered["power_largest"].nth(at) >= POWER).sum()) for at in (0, -1))
    return prose.render("calibration.power", few=few, many=many, n=ordered.ngroups)


def power_by_n(table: pd.DataFrame) -> pd.DataFrame:
    """Lay out the power of each test against the largest simulated effect, by number of units.

    Examples
    --------
    >>> from nbbias import calibration
    >>> list(power_by_n(calibration.shipped_power()))
    ['test', 'largest', '10', '18', '30', '80', '400']
    """
    rows = named_tests(table)
    wide = rows.pivot(index="test", columns="n", values="power_largest").mul(100).round(0)
    wide = wide.reindex(rows["test"].unique()).astype("Int64").rename(columns=str)
    wide.insert(0, "largest", rows.groupby("test")["largest"].first())
    return wide.reset_index()


def named_tests(table: pd.DataFrame) -> pd.DataFrame:
    """Return `calibration.shipped_power`, or a run's, with names of its tests for its keys."""
    keys = {"study": "source", "measure": "dimension", "statistic": "task"}
    named = name_statistics(table.rename(columns=keys).replace("_", " ", regex=True))
    return table.drop(columns=[*keys]).assign(test=named)[["test", *table.columns.drop([*keys])]]
