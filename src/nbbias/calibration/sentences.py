"""What a calibration says; the words are in ``data/prose/calibration.j2``."""

from __future__ import annotations

import pandas as pd

from nbbias.calibration.estimates import ADEQUATE, FAILS, POWER, nominal, shipped_power
from nbbias.params import Texts
from nbbias.reading import Lead, names, phrases, prose

_KEYS = ["source", "dimension", "task"]
_LOW_POWER = 0.1  # below it, errors of sign and magnitude are of too few significant estimates


def name_statistics(rows: pd.DataFrame) -> pd.Series:
    """Return names of what is calibrated, after their study (`data/words/calibration.csv`).

    Examples
    --------
    >>> rows = pd.DataFrame({"source": ["cogs"], "dimension": ["abs"], "task": ["abs raw"]})
    >>> name_statistics(rows).tolist()
    ['CoGS: Affinity Bias Score of texts in one order']
    """
    studies = rows["source"].astype("str").map(names.study)
    named = [names.calibrated(*key) for key in rows[_KEYS].astype(str).to_numpy()]
    return (studies + ": " + pd.Series(named, rows.index)).astype("str")


def lead(rows: pd.DataFrame, *, texts: Texts) -> Lead:
    """Return the lead of a page: which measures are adequate, and which effects are detected.

    Parameters
    ----------
    rows
        Of the full run (`calibration.shipped`).
    texts
        Where the texts are from.

    Examples
    --------
    >>> from nbbias import calibration
    >>> found = lead(calibration.shipped(), texts=Texts("simulated", ""))
    >>> found.plain[0].partition(",")[0], found.numbers["n"].tolist()
    ('Of 23 intervals', [1500, 800])
    """
    summary = summarize(rows)
    detected = f"{power(exclude_failing(shipped_power(), rows))}."
    return Lead(
        plain=(" ".join(summary[:2]), detected),
        technical=" ".join([*summary, detected]),
        figure="errors",
        numbers=_lowest_coverage(rows),
        card=_card(rows),
        texts=texts,
    )


def _lowest_coverage(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the lowest coverage in any scenario, of adequate intervals and of those that fail."""
    table = rows[rows["measure"] == "interval"]
    parts = (table[table["verdict"].isin(verdicts)] for verdicts in (ADEQUATE, FAILS))
    lowest = pd.concat([part.nsmallest(1, "worst") for part in parts])
    ends = lowest[["worst", "worst_low", "worst_high"]].add(lowest["confidence"], axis=0)
    lowest = lowest.assign(estimate=ends["worst"], ci_low=ends["worst_low"])
    lowest = lowest.assign(ci_high=ends["worst_high"], n=lowest["worst_n"], statistic="coverage")
    lowest = lowest.assign(named=name_statistics(lowest), fails=lowest["verdict"].isin(FAILS))
    named = lowest.to_dict("records")
    return lowest.assign(name=[prose.render_plain("calibration.lowest", row=row) for row in named])


def split(rows: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Split intervals and tests: those that do not fail, and all of measures of which one does.

    Examples
    --------
    >>> from nbbias import calibration
    >>> sound, failing = split(calibration.shipped())
    >>> int(failing["dimension"].nunique())
    5
    """
    table = rows[rows["measure"] != "family"]
    keys = pd.MultiIndex.from_frame(table[_KEYS])
    fails = keys.isin(keys[table["verdict"].isin(FAILS)])
    return table[~table["verdict"].isin(FAILS)], table[fails]


def usable(rows: pd.DataFrame) -> str:
    """Return how many of the intervals and tests that do not fail are adequate (`split`)."""
    adequate = rows["verdict"].isin(ADEQUATE).groupby(rows["measure"])
    counts = {what: (int(part.sum()), len(part)) for what, part in adequate}
    return prose.render("calibration.usable", **counts)


def warning(rows: pd.DataFrame) -> str:
    """Return a sentence: how many intervals fail, and which has the lowest coverage.

    Examples
    --------
    >>> from nbbias import calibration
    >>> warning(calibration.shipped()).partition(";")[0]
    'Five intervals fail: one over all scenarios, four in one scenario'
    """
    verdicts = rows.loc[rows["measure"] == "interval", "verdict"]
    counts = [int((verdicts == verdict).sum()) for verdict in FAILS]
    worst = _lowest_coverage(rows).query("fails").to_dict("records")
    return prose.render("calibration.warning", counts=counts, worst=worst)


def failing(rows: pd.DataFrame) -> pd.DataFrame:
    """Lay out measures that fail, in the worst scenario of each, with what to do instead.

    Parameters
    ----------
    rows
        Of `calibration.shipped`.

    Examples
    --------
    >>> from nbbias import calibration
    >>> failing(calibration.shipped()).loc[1, ["measure", "interval"]].tolist()
    ['CoGS: Affinity Bias Score of texts in one order', 'fails: 69.7 [64.7, 74.2]']
    """
    table = split(rows)[1].sort_values("worst")
    shares = table[["worst", "worst_low", "worst_high"]].add(nominal(table), axis=0)
    text = shares.round(4).mul(100).map("{:.1f}".format)
    found = text["worst"] + " [" + text["worst_low"] + ", " + text["worst_high"] + "]"
    verdict = table["verdict"].where(~table["verdict"].isin(FAILS), "fails")
    table = table.assign(found=verdict + ": " + found)
    wide = table.pivot(index=_KEYS, columns="measure", values=["found", "at"])
    wide = wide.reindex(pd.MultiIndex.from_frame(table[_KEYS].drop_duplicates()))
    at = wide["at"]["interval"]
    elsewhere = wide["at"]["test"].notna() & wide["at"]["test"].ne(at)
    test = wide["found"]["test"] + (" (" + wide["at"]["test"] + ")").where(elsewhere, "")
    columns = {"at": at, "interval": wide["found"]["interval"], "test": test}
    result = pd.DataFrame(columns).reset_index()
    keys = result[_KEYS].to_numpy()
    result["instead"] = [names.calibrated(of, name, task, "instead") for of, name, task in keys]
    result.insert(0, "measure", name_statistics(result).map(prose.capitalize))
    return result.drop(columns=_KEYS)


def summarize(rows: pd.DataFrame) -> list[str]:
    """Count the verdicts on intervals and tests, and say where families err most.

    Parameters
    ----------
    rows
        Of `calibration.errors`.

    Examples
    --------
    >>> from nbbias import calibration
    >>> summarize(calibration.shipped())[1]
    'Of 20 tests, 9 are adequate, 3 fail and 8 are undecided.'
    """
    sentences = []
    for what in ("interval", "test"):
        part = rows[rows["measure"] == what]
        counts = {"adequate": ADEQUATE, "wide": ADEQUATE[1:]}
        counts |= {"fail": FAILS, "undecided": ["undecided"]}
        numbers = {name: int(part["verdict"].isin(of).sum()) for name, of in counts.items()}
        if len(part):
            values = {"n": len(part), "lowest": 2 * part["confidence"].iloc[0] - 1, **numbers}
            sentences.append(prose.render("calibration.verdicts", what=what, **values))
    families = rows[rows["measure"] == "family"]
    for row in families.nlargest(1, "worst").to_dict("records"):
        largest, level = families["estimate"].max(), 1 - row["confidence"]
        values = {"share": largest + level, "worst": row["worst"] + level, "n": row["worst_n"]}
        values |= {"of": len(families), "adequate": families["verdict"].isin(ADEQUATE).sum()}
        sentences.append(prose.render("calibration.families", **values))
    return sentences or [prose.render("claims.nothing", reason=phrases.commonest_reason(rows))]


def _card(table: pd.DataFrame) -> dict[str, str]:
    coverage = table[table["statistic"] == "coverage_error"]
    # One simulated study may have several statistics.
    n = f"{coverage.groupby(['source', 'dimension'])['n'].max().sum():,.0f}"
    fixed = ("measures", "groups", "instrument", "not")
    card = {name: prose.render(f"calibration.card_{name}") for name in fixed}
    return card | {"N": prose.render("calibration.card_n", n=n)}


def exclude_failing(power: pd.DataFrame, rows: pd.DataFrame) -> pd.DataFrame:
    """Exclude measures of which the interval or the test fails.

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
    named = power[["study", "measure", "statistic"]].replace("_", " ", regex=True)
    keys = pd.MultiIndex.from_frame(named)
    return power[~keys.isin(pd.MultiIndex.from_frame(split(rows)[1][_KEYS]))]


def power(table: pd.DataFrame) -> str:
    """Say how many tests detect the largest simulated effect, by the numbers of units of all."""
    sizes = table["n"].value_counts()
    table = table[table["n"].isin(sizes[sizes == sizes.max()].index)]
    counts = (table["power_largest"] >= POWER).groupby(table["n"]).sum()
    values = {"of": int(sizes.max()), "effects": table["largest"].agg(["min", "max"]).to_list()}
    return prose.render("calibration.power", found=[*counts.items()], **values)


def power_by_n(table: pd.DataFrame) -> pd.DataFrame:
    """Return each test's power against its largest simulated effect (%), a column for each N.

    Examples
    --------
    >>> from nbbias import calibration
    >>> power_by_n(calibration.shipped_power()).iloc[0].tolist()[1:]
    ['0.200', '11', '–', '30', '73', '99']
    """
    named = named_tests(table).sort_values("n", kind="stable")
    power = named["power_largest"].mul(100).map("{:.0f}".format)
    effect = named["largest"].map("{:.3f}".format)
    named = named.assign(power=power, effect=effect, column="N = " + named["n"].astype(str))
    wide = named.pivot(index=["test", "effect"], columns="column", values="power").fillna("–")
    wide = wide.reindex(columns=named["column"].unique()).rename_axis(columns=None)
    return wide.reset_index()


def detectable(table: pd.DataFrame) -> pd.DataFrame:
    """Return `named_tests` in order, with words where no simulated effect, or each, is detected.

    Errors of sign and magnitude are left out below 10% power; CoGS scores have no sign.

    Examples
    --------
    >>> from nbbias import calibration
    >>> detectable(calibration.shipped_power().query("measure == 'rbs_refused'"))["effect"].tolist()
    ['not reached', 'not reached', '≤ 0.015', '≤ 0.015']
    """
    few = table["power_smallest"] < _LOW_POWER
    named = named_tests(table).assign(exaggeration=table["exaggeration"].mask(few))
    named["wrong_sign"] = named["wrong_sign"].mask(few | (table["study"] == "cogs"))
    effect = named["effect"].map("{:.3f}".format).where(named["effect"].notna(), "not reached")
    least = "≤ " + named["smallest"].map("{:.3f}".format)
    named = named.assign(effect=effect.mask(named["power_smallest"] >= POWER, least))
    return named.sort_values(["test", "n"], ignore_index=True)


def named_tests(table: pd.DataFrame) -> pd.DataFrame:
    """Return `calibration.shipped_power`, or a run's, with names of its tests for its keys."""
    keys = {"study": "source", "measure": "dimension", "statistic": "task"}
    named = name_statistics(table.rename(columns=keys).replace("_", " ", regex=True))
    return table.drop(columns=[*keys]).assign(test=named)[["test", *table.columns.drop([*keys])]]
