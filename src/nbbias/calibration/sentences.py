"""What a calibration says; the words are in ``data/prose/calibration.j2``."""

from __future__ import annotations

import pandas as pd

from nbbias.calibration.estimates import ADEQUATE, FAILS, POWER, nominal, shipped_power
from nbbias.calibration.trials import LISTED
from nbbias.params import Texts
from nbbias.reading import Lead, cards, names, phrases, prose

_KEYS = ["source", "dimension", "task"]
_POWER_KEYS = dict(zip(["study", "measure", "statistic"], _KEYS, strict=True))
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
    return (studies + ": " + _named(rows)).astype("str")


def _named(rows: pd.DataFrame) -> pd.Series:
    named = [names.calibrated(*key) for key in rows[_KEYS].astype(str).to_numpy()]
    return pd.Series(named, rows.index, dtype="str")


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
    >>> found.plain[0].partition(" have")[0], found.numbers["n"].tolist()
    ('In simulated studies, 16 of 23 measures', [1500, 800])
    """
    intervals, tests, families_ = summarize(rows)
    tested = exclude_failing(shipped_power(), rows)
    return Lead(
        plain=(intervals, tests, f"{power(tested)}."),
        technical=" ".join([intervals, tests, families_, f"{power(tested)}."]),
        figure="intervals",
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
    lowest[["estimate", "ci_low", "ci_high"]] = ends
    lowest = lowest.assign(n=lowest["worst_n"], statistic="coverage", counted=" simulated studies")
    lowest = lowest.assign(short=_named(lowest), fails=lowest["verdict"].isin(FAILS))
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
    """Return how many intervals and tests are adequate, and how many undecided."""
    counts = pd.crosstab(rows["measure"], rows["verdict"].replace(ADEQUATE[1], ADEQUATE[0]))
    return prose.render("calibration.usable", counts=counts.to_dict("index"))


def held_out(rows: pd.DataFrame) -> str:
    """Return a sentence: how many intervals are worst in the scenario that was held out.

    Examples
    --------
    >>> from nbbias import calibration
    >>> held_out(calibration.shipped())[:42]
    '16 intervals have a held-out scenario: one'
    """
    listed = LISTED.rename(columns=_POWER_KEYS).replace(
        {key: {"_": " "} for key in _KEYS[:2]}, regex=True
    )
    keys = ["source", "dimension"]
    expected = listed.groupby(keys)["held_out"].mean().rename("expected").reset_index()
    table = rows[rows["measure"] == "interval"].merge(expected.query("expected > 0"), on=keys)
    table["name"] = table["at"].str.rpartition(", ")[0]
    worst = table.merge(listed[listed["held_out"]], on=[*keys, "name"])
    values = {"k": len(worst), "of": len(table), "expected": table["expected"].sum()}
    return prose.render("calibration.held_out", **values, fail=worst["verdict"].isin(FAILS).sum())


def warning(rows: pd.DataFrame) -> str:
    """Return a sentence: how many intervals fail, and which has the lowest coverage.

    Examples
    --------
    >>> from nbbias import calibration
    >>> warning(calibration.shipped())
    'Five intervals fail, worst that of the share of group terms in short answers (17.8% coverage)'
    """
    fail = (rows["measure"] == "interval") & rows["verdict"].isin(FAILS)
    worst = _lowest_coverage(rows).query("fails").to_dict("records")
    return prose.render("calibration.warning", count=int(fail.sum()), worst=worst)


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
    ['CoGS: Affinity Bias Score of texts in one order', '69.7 [64.7, 74.2]']
    """
    table = split(rows)[1].sort_values("worst")
    table = table.assign(found=_percent(table, "worst", "worst_low", "worst_high"))
    elsewhere = table["at"] != table.groupby(_KEYS)["at"].transform("first")  # intervals are first
    table["found"] += (" (" + table["at"] + ": " + table["verdict"] + ")").where(elsewhere, "")
    wide = table.pivot(index=_KEYS, columns="measure", values=["found", "at"])
    wide = wide.reindex(pd.MultiIndex.from_frame(table[_KEYS].drop_duplicates()))
    columns = {"at": wide["at"]["interval"], **wide["found"][["interval", "test"]]}
    result = pd.DataFrame(columns).reset_index()
    keys = result[_KEYS].to_numpy()
    result["instead"] = [names.calibrated(of, name, task, "instead") for of, name, task in keys]
    result.insert(0, "measure", name_statistics(result).map(prose.capitalize))
    return result.drop(columns=_KEYS)


def _percent(rows: pd.DataFrame, *columns: str) -> pd.Series:
    """Write shares with their intervals, in percent, of errors."""
    shares = rows[[*columns]].add(nominal(rows), axis=0).round(4)
    return pd.Series(cards.in_percent(shares), rows.index, dtype="str")


def families(rows: pd.DataFrame) -> pd.DataFrame:
    """Return how many runs without an effect made a claim, by study, most first.

    Examples
    --------
    >>> from nbbias import calibration
    >>> families(calibration.shipped()).loc[0, ["measure", "found"]].tolist()
    ['Biased prompts: claims about the effect of the prompt', '4.7 [2.9, 7.6]']
    """
    table = rows[rows["measure"] == "family"].sort_values("estimate", ascending=False)
    found = _percent(table, "estimate", "ci_low", "ci_high")
    worst = _percent(table, "worst", "worst_low", "worst_high")
    named = name_statistics(table).map(prose.capitalize)
    columns = {"measure": named, "found": found, "n": table["n"], "at": table["at"]}
    columns |= {"worst": worst, "worst_n": table["worst_n"].astype(int)}
    return pd.DataFrame(columns).reset_index(drop=True)


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
    'Of 20 tests, 9 are adequate (at most 10% false positives in every scenario), 3 fail and 8 ar...
    """
    sentences = []
    for what in ("interval", "test"):
        part = rows[rows["measure"] == what]
        counts = {"adequate": ADEQUATE, "wide": ADEQUATE[1:], "fail": FAILS}
        numbers = {name: int(part["verdict"].isin(of).sum()) for name, of in counts.items()}
        if len(part):
            values = {"n": len(part), "limit": 2 * (1 - part["confidence"].iloc[0]), **numbers}
            sentences.append(prose.render("calibration.verdicts", what=what, **values))
    table = rows[rows["measure"] == "family"]
    if len(table):
        shares = table["estimate"] + nominal(table)
        values = {"adequate": table["verdict"].isin(ADEQUATE).sum(), "of": len(table)}
        values |= {"least": shares.min(), "most": shares.max()}
        values["runs"] = prose.count_range(table["worst_n"])
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


def _common(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of the numbers of units with which all tests were simulated."""
    sizes = table.groupby("n")["n"].transform("size")
    return table[sizes == sizes.max()]


def power(table: pd.DataFrame) -> str:
    """Say how many tests detect the largest simulated effect, by the numbers of units of all."""
    by_n = (_common(table)["power_largest"] >= POWER).groupby(table["n"])
    values: dict[str, object] = {"of": int(by_n.size().max()), "found": [*by_n.sum().items()]}
    most = table.rename(columns=_POWER_KEYS).groupby(_KEYS)["power_largest"].max().reset_index()
    values["never"] = [*_named(most[most["power_largest"] < POWER])]
    return prose.render("calibration.power", **values)


def effects_by_n(table: pd.DataFrame, rows: pd.DataFrame) -> pd.DataFrame:
    """Return the minimum detectable effect of each test, a column for each N that all have.

    A test whose false positives are not shown to be adequate is marked (†).

    Parameters
    ----------
    table, rows
        As of `exclude_failing`.

    Examples
    --------
    >>> from nbbias import calibration
    >>> effects_by_n(calibration.shipped_power(), calibration.shipped()).iloc[0].tolist()[1:]
    ['> 0.100', '> 0.100', '≤ 0.100']
    """
    named = named_tests(_common(table)).sort_values("n", kind="stable")
    tests = rows[(rows["measure"] == "test") & ~rows["verdict"].isin(ADEQUATE)]
    marked = named["test"].isin(name_statistics(tests).map(prose.capitalize))
    named["test"] += marked.map({True: " †", False: ""})
    text = {name: named[name].map("{:.3f}".format) for name in ("effect", "smallest", "largest")}
    effect = text["effect"].where(named["effect"].notna(), "> " + text["largest"])
    effect = effect.mask(named["power_smallest"] >= POWER, "≤ " + text["smallest"])
    named = named.assign(effect=effect, column="N = " + named["n"].astype(str))
    wide = named.pivot(index="test", columns="column", values="effect")
    return wide[named["column"].unique()].rename_axis(columns=None).reset_index()


def power_and_errors(table: pd.DataFrame) -> pd.DataFrame:
    """Return the power of tests and the errors of significant estimates (`named_tests`) in order.

    Errors of sign and magnitude are left out below 10% power; CoGS scores have no sign.

    Examples
    --------
    >>> from nbbias import calibration
    >>> table = calibration.shipped_power().query("measure == 'rbs_refused'")
    >>> power_and_errors(table).loc[1, ["power_largest", "exaggeration"]].tolist()
    ['40%', '1.1']
    """
    table = _common(table)
    few = table["power_smallest"] < _LOW_POWER
    named = named_tests(table).assign(exaggeration=table["exaggeration"].mask(few))
    named["wrong_sign"] = named["wrong_sign"].mask(few | (table["study"] == "cogs"))
    shown = dict.fromkeys(("power_largest", "power_smallest", "wrong_sign"), "{:.0%}")
    for name, form in (shown | {"exaggeration": "{:.1f}"}).items():
        named[name] = [form.format(value) if value == value else "–" for value in named[name]]
    one = table["smallest"] == table["largest"]
    named.loc[one, ["smallest", "power_smallest"]] = [float("nan"), "–"]
    named = named.drop(columns=["unit", "effect"])
    return named.sort_values(["test", "n"], ignore_index=True)


def named_tests(table: pd.DataFrame) -> pd.DataFrame:
    """Return `calibration.shipped_power`, or a run's, with names of its tests for its keys."""
    named = name_statistics(table.rename(columns=_POWER_KEYS).replace("_", " ", regex=True))
    rest = table.columns.drop([*_POWER_KEYS])
    return table.assign(test=named.map(prose.capitalize))[["test", *rest]]
