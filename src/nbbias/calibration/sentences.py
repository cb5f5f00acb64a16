"""What a calibration says; the words are in ``data/prose/calibration.j2``."""

from __future__ import annotations

import pandas as pd

from nbbias import stats
from nbbias.calibration.estimates import (
    ADEQUATE,
    FAILS,
    POWER,
    SHIPPED_CONFIDENCE,
    STATISTIC,
    shipped_power,
)
from nbbias.calibration.params import TOLERANCE
from nbbias.calibration.trials import LISTED
from nbbias.params import Texts
from nbbias.reading import Lead, cards, names, prose

#: Below this power, errors of sign and magnitude are of too few significant estimates.
_LOW_POWER = 0.1
_POWER = ["power_largest", "studies"]
_WORST = ["worst", "worst_low", "worst_high"]


def name_statistics(rows: pd.DataFrame) -> pd.Series:
    """Return names of what is calibrated, after their study (`data/words/calibration.csv`).

    Examples
    --------
    >>> rows = pd.DataFrame({"study": ["cogs"], "measure": ["abs"], "statistic": ["abs_raw"]})
    >>> name_statistics(rows).tolist()
    ['CoGS: Affinity Bias Score of texts in one order']
    """
    labels = rows["study"].map(names.study) + ": " + _look_up(rows, "name")
    return labels.map(prose.capitalize).astype("str")


def label_statistics(rows: pd.DataFrame) -> pd.Series:
    """Return the short names of what is calibrated, for figures.

    Examples
    --------
    >>> rows = pd.DataFrame({"study": ["cogs"], "measure": ["abs"], "statistic": ["abs_raw"]})
    >>> label_statistics(rows).tolist()
    ['CoGS: ABS, one order']
    """
    labels = _look_up(rows, "label")
    return labels.where(labels != "", name_statistics(rows))


def _look_up(rows: pd.DataFrame, of: str) -> pd.Series:
    keys = rows[STATISTIC].itertuples(index=False, name=None)
    values = [names.calibrated(study, measure, name, of) for study, measure, name in keys]
    return pd.Series(values, rows.index, dtype="str")


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
    >>> result = lead(calibration.shipped(), texts=Texts("simulated", ""))
    >>> result.plain[0].partition(";")[0], result.numbers["n"].tolist()
    ('In simulated studies, 16 of 23 types of 95% confidence interval are adequate', [3000, 4000])
    """
    intervals, tests, families_ = summarize(rows)
    detected = f"{power(exclude_failing(shipped_power(), rows), name_undetected=False)}."
    parts = tuple(filter(None, (intervals, describe_worst(rows), tests, families_, detected)))
    tolerated = limit(rows) / 2 + TOLERANCE
    values = {"n": count_studies(rows), "tolerated": tolerated, "limit": limit(rows)}
    return Lead(
        plain=parts,
        technical=" ".join(parts),
        figure="intervals",
        numbers=_lowest_coverage(rows),
        card=_card(rows),
        texts=texts._replace(told=prose.render_plain("calibration.origin", **values)),
    )


def _lowest_coverage(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the lowest coverage in any scenario, of adequate intervals and of those that fail."""
    table = rows[rows["kind"] == "interval"]
    parts = (table[table["verdict"].isin(verdicts)] for verdicts in (ADEQUATE, FAILS))
    lowest = pd.concat([part.nsmallest(1, "worst") for part in parts])
    lowest = lowest.assign(short=_look_up(lowest, "name"), fails=lowest["verdict"].isin(FAILS))
    lowest["name"] = [
        prose.render_plain("calibration.lowest", row=row) for row in lowest.to_dict("records")
    ]
    ends = lowest[_WORST].set_axis(["estimate", "ci_low", "ci_high"], axis=1)
    key = {"study": "calibration", "measure": "interval", "statistic": "coverage"}
    return lowest.assign(
        **ends,
        **key,
        confidence=lowest["nominal"],
        n=lowest["worst_n"],
        counted=" simulated studies",
    )


def _failing(rows: pd.DataFrame) -> pd.DataFrame:
    """Return intervals and tests of the measures of which either fails."""
    table = rows[rows["kind"] != "family"]
    keys = pd.MultiIndex.from_frame(table[STATISTIC])
    return table[keys.isin(keys[table["verdict"].isin(FAILS)])]


def usable(rows: pd.DataFrame) -> str:
    """Return how many intervals and tests are adequate, and how many undecided."""
    counts = pd.crosstab(rows["kind"], rows["verdict"].replace(ADEQUATE[1], ADEQUATE[0]))
    return prose.render("calibration.usable", counts=counts.to_dict("index"))


def held_out(rows: pd.DataFrame) -> str:
    """Return a sentence: how many intervals are worst in the scenario that was held out.

    Examples
    --------
    >>> from nbbias import calibration
    >>> held_out(calibration.shipped())[:42]
    'For each of 16 intervals, whatever its ver'
    """
    keys = ["study", "measure"]
    expected = LISTED.groupby(keys)["held_out"].mean().rename("expected").reset_index()
    table = rows[rows["kind"] == "interval"].merge(expected.query("expected > 0"), on=keys)
    table["name"] = table["at"].str.rpartition(", ")[0]
    worst = table.merge(LISTED[LISTED["held_out"]], on=[*keys, "name"])
    values = {"k": len(worst), "of": len(table), "expected": table["expected"].sum()}
    return prose.render("calibration.held_out", **values, fail=worst["verdict"].isin(FAILS).sum())


def warning(rows: pd.DataFrame) -> str:
    """Return a sentence: how many intervals fail, and which has the lowest coverage.

    Examples
    --------
    >>> from nbbias import calibration
    >>> warning(calibration.shipped())
    'Five intervals fail, worst that of the share of group terms in short answers (17.2% coverage)'
    """
    fail = (rows["kind"] == "interval") & rows["verdict"].isin(FAILS)
    worst = _lowest_coverage(rows).query("fails").to_dict("records")
    return prose.render("calibration.warning", count=int(fail.sum()), worst=worst)


def describe_worst(rows: pd.DataFrame) -> str:
    """Return a sentence on the two intervals with the lowest coverage, and what to do instead.

    Examples
    --------
    >>> from nbbias import calibration
    >>> describe_worst(calibration.shipped()).partition(" (")[0]
    'Coverage in the worst scenario is lowest for the share of group terms in short answers'
    """
    worst = _failing(rows).query("kind == 'interval'").nsmallest(2, "worst")
    worst = worst.assign(short=_look_up(worst, "name"), instead=_look_up(worst, "instead"))
    return prose.render("calibration.worst", rows=worst.to_dict("records"))


def failing(rows: pd.DataFrame) -> pd.DataFrame:
    r"""Lay out measures that fail, in the worst scenario of each, with what to do instead.

    Parameters
    ----------
    rows
        Of `calibration.shipped`.

    Returns
    -------
    DataFrame
        `measure`; `at`, the worst scenario; the `interval`'s coverage and the `test`'s false
        positives there, with their intervals, in percent; what to do `instead`, and the coverage of
        that in its own worst scenario, where it is another measure (`remedy`).

    Examples
    --------
    >>> from nbbias import calibration
    >>> failing(calibration.shipped()).loc[1, ["measure", "interval"]].tolist()
    ['CoGS: Affinity Bias Score of texts in one order', '69.7 [64.7,\xa074.2]']
    """
    table = _failing(rows).sort_values(["kind", "worst"])  # intervals first
    table = table.assign(found=cards.in_percent(table[_WORST]))
    elsewhere = table["at"] != table.groupby(STATISTIC)["at"].transform("first")
    table["found"] += (" (" + table["at"] + ": " + table["verdict"] + ")").where(elsewhere, "")
    wide = table.pivot(index=STATISTIC, columns="kind", values=["found", "at"])
    wide = wide.reindex(pd.MultiIndex.from_frame(table[STATISTIC].drop_duplicates()))
    columns = {"at": wide["at"]["interval"], **wide["found"][["interval", "test"]]}
    result = pd.DataFrame(columns).reset_index()
    intervals = rows[rows["kind"] == "interval"]
    coverage = dict(
        zip(_look_up(intervals, "name"), cards.in_percent(intervals[_WORST]), strict=True)
    )
    result = result.assign(
        instead=_look_up(result, "instead"), remedy=_look_up(result, "remedy").map(coverage)
    )
    result.insert(0, "name", name_statistics(result))
    return result.drop(columns=STATISTIC).rename(columns={"name": "measure"})


def families(rows: pd.DataFrame) -> pd.DataFrame:
    r"""Return how many runs without an effect made a claim, by study, most first.

    Examples
    --------
    >>> from nbbias import calibration
    >>> families(calibration.shipped()).loc[0, ["measure", "found"]].tolist()
    ['LLMBI: claims about the LLM Bias Index', '3.8 [3.1,\xa04.6]']
    """
    table = rows[rows["kind"] == "family"].sort_values("share", ascending=False, ignore_index=True)
    table = table.assign(
        measure=name_statistics(table),
        found=cards.in_percent(table[["share", "low", "high"]]),
        worst=cards.in_percent(table[_WORST]),
        bound=(100 * table["bound"]).map("{:.1f}".format),
    )
    return table[["measure", "found", "n", "at", "worst", "worst_n", "bound"]]


def summarize(rows: pd.DataFrame) -> list[str]:
    """Count the verdicts on intervals and tests, and say where families err most.

    Parameters
    ----------
    rows
        Of `calibration.shipped`.

    Examples
    --------
    >>> from nbbias import calibration
    >>> summarize(calibration.shipped())[1]
    'Of 20 tests, 16 are adequate, 3 fail and 1 is undecided (too few simulated studies).'
    """
    sentences = []
    for what in ("interval", "test"):
        part = rows[rows["kind"] == what]
        if len(part):
            counts = {"adequate": ADEQUATE, "fail": FAILS}
            numbers = {name: int(part["verdict"].isin(of).sum()) for name, of in counts.items()}
            values = {"what": what, "n": len(part), "level": part["nominal"].iloc[0]}
            sentences.append(prose.render("calibration.verdicts", **values, **numbers))
    table = rows[rows["kind"] == "family"]
    if len(table):
        values = {"adequate": table["verdict"].isin(ADEQUATE).sum(), "of": len(table)}
        values["fail"] = table["verdict"].isin(FAILS).sum()
        values |= {"least": table["share"].min(), "most": table["share"].max()}
        values["worst"] = table["worst"].max()
        values["runs"] = prose.count_range(table["worst_n"])
        sentences.append(prose.render("calibration.families", **values))
    return sentences


def limit(rows: pd.DataFrame) -> float:
    """Return the limit of an adequate measure's error rate in each scenario: twice the nominal."""
    level = rows["nominal"].iloc[0]
    return float(2 * min(level, 1 - level))


def _card(table: pd.DataFrame) -> dict[str, str]:
    fixed = ("measures", "groups", "instrument", "not")
    card = {name: prose.render(f"calibration.card_{name}") for name in fixed}
    return card | {"N": prose.render("calibration.card_n", n=count_studies(table))}


def count_studies(table: pd.DataFrame) -> str:
    """Count simulated studies; one may have several statistics."""
    coverage = table[table["kind"] == "interval"]
    return f"{coverage.groupby(['study', 'measure'])['n'].max().sum():,.0f}"


def exclude_failing(power: pd.DataFrame, rows: pd.DataFrame) -> pd.DataFrame:
    """Exclude measures of which the interval or the test fails, and N that not all tests have.

    Parameters
    ----------
    power, rows
        Of `calibration.shipped_power` and `calibration.shipped`.

    Examples
    --------
    >>> from nbbias import calibration
    >>> power = exclude_failing(calibration.shipped_power(), calibration.shipped())
    >>> power["n"].unique().tolist()
    [30, 80, 400]
    """
    keys = pd.MultiIndex.from_frame(power[STATISTIC])
    sound = power[~keys.isin(pd.MultiIndex.from_frame(_failing(rows)[STATISTIC]))]
    sizes = sound.groupby("n")["n"].transform("size")
    return sound[sizes == sizes.max()]


def power(table: pd.DataFrame, *, name_undetected: bool = True) -> str:
    """Say how many tests detect the largest simulated effect, by N, and which never do.

    Of a table of `exclude_failing`; without `name_undetected`, the first alone.
    """
    by_n = (table["power_largest"] >= POWER).groupby(table["n"])
    values: dict[str, object] = {"of": int(by_n.size().max()), "found": [*by_n.sum().items()]}
    most = table.groupby(STATISTIC)[["power_largest", "largest"]].max().reset_index()
    most = most[most["power_largest"].lt(POWER) & name_undetected]
    values["never"] = [*zip(_look_up(most, "name"), most["largest"], strict=True)]
    return prose.render("calibration.power", **values)


def power_and_errors(table: pd.DataFrame, rows: pd.DataFrame) -> pd.DataFrame:
    r"""Return minimum detectable effects, power, and the errors of significant estimates, by N.

    A test whose false positives are not shown to be adequate is marked (†). Errors of sign and
    magnitude are left out below 10% power; CoGS scores have no sign.

    Parameters
    ----------
    table, rows
        Of `exclude_failing`, and as there.

    Examples
    --------
    >>> from nbbias import calibration
    >>> table = calibration.shipped_power().query("measure == 'rbs_refused'")
    >>> shown = power_and_errors(table, calibration.shipped())
    >>> shown.loc[1, ["scenarios", "effect", "power_largest", "exaggeration"]].tolist()
    ['2', '> 0.015', '41% [38,\xa044]', '1.1']
    """
    few, one = table["power_smallest"] < _LOW_POWER, table["smallest"] == table["largest"]
    of = LISTED.groupby(["study", "measure"])["name"].agg(list)
    averaged = [of[key] for key in table[["study", "measure"]].itertuples(index=False, name=None)]
    undecided = rows[(rows["kind"] == "test") & ~rows["verdict"].isin(ADEQUATE)]
    marked = name_statistics(table).isin(name_statistics(undecided)).map({True: " †", False: ""})
    text = {name: table[name].map("{:.3f}".format) for name in ("effect", "smallest", "largest")}
    effect = text["effect"].where(table["effect"].notna(), "> " + text["largest"])
    shown = {
        "test": name_statistics(table) + marked,
        "scenarios": [names[0] if len(names) == 1 else str(len(names)) for names in averaged],
        "n": table["n"],
        "effect": effect.mask(table["power_smallest"] >= POWER, "≤ " + text["smallest"]),
        "smallest": table["smallest"].mask(one),
        "power_smallest": _percent(table["power_smallest"].mask(one)),
        "largest": table["largest"],
        "power_largest": [_with_interval(*row) for row in table[_POWER].itertuples(index=False)],
        "studies": table["studies"],
        "wrong_sign": _percent(table["wrong_sign"].mask(few | (table["study"] == "cogs"))),
        "exaggeration": table["exaggeration"].mask(few).map("{:.1f}".format, na_action="ignore"),
    }
    return pd.DataFrame(shown).sort_values(["test", "n"], ignore_index=True)


def _with_interval(share: float, n: int) -> str:
    interval = stats.wilson(share, n, confidence=SHIPPED_CONFIDENCE)
    return f"{interval.estimate:.0%} [{100 * interval.ci_low:.0f},\xa0{100 * interval.ci_high:.0f}]"


def _percent(shares: pd.Series) -> pd.Series:
    return shares.map("{:.0%}".format, na_action="ignore")
