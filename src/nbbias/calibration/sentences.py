"""What a calibration says; the words are in ``data/prose/calibration.j2``."""

from __future__ import annotations

import pandas as pd

from nbbias.calibration.estimates import FAILS, POWER, TRUSTED
from nbbias.calibration.params import TOLERANCE
from nbbias.params import Texts
from nbbias.reading import Lead, names, phrases, prose

_RULE = ("fails", "trusted", "undecided")


def name_statistics(rows: pd.DataFrame) -> pd.Series:
    """Return names of what is calibrated, after their study (`data/words/calibration.csv`).

    Examples
    --------
    >>> rows = pd.DataFrame({"source": ["cogs"], "dimension": ["abs"], "task": ["abs raw"]})
    >>> name_statistics(rows).tolist()
    ['CoGS: Affinity Bias Score of texts in one order']
    """
    studies = rows["source"].astype("str").map(names.study)
    return (studies + ": " + pd.Series(_names(rows), rows.index)).astype("str")


def lead(rows: pd.DataFrame, *, texts: Texts) -> Lead:
    """Return what a page begins with: which measures keep their level, and which not to use.

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
    >>> found.plain[0].partition(";")[0], found.numbers["n"].tolist()
    ('The 95% intervals of 16 of 23 measures can be trusted', [320])
    """
    summary = summarize(rows)
    level = float(rows["confidence"].iloc[0])
    limits = {"level": level, "low": level - TOLERANCE, "lowest": 2 * level - 1}
    rule = [prose.render(f"calibration.{name}", **limits) for name in _RULE]
    return Lead(
        plain=(" ".join(summary[:2]), *rule),
        technical=" ".join([*summary, *rule]),
        figure="errors",
        numbers=_worst_family(rows),
        card=_card(rows),
        texts=texts,
    )


def _names(rows: pd.DataFrame) -> list[str]:
    keys = rows[["source", "dimension", "task"]].astype(str).to_numpy()
    return [names.calibrated(study, measure, name) for study, measure, name in keys]


def by_study(rows: pd.DataFrame, *, study: str) -> pd.DataFrame:
    """Lay out the coverage of each interval and the false positives of each test of a study.

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
    >>> table.loc["Representative Bias Score with refused answers", "interval"]
    'fails: 89.7 [88.1, 91.1]; report how many answers are excluded'
    """
    source = study.replace("_", " ")
    table = rows[(rows["source"] == source) & (rows["measure"] != "family")]
    table = table.set_index(["dimension", "task"])
    level = table["confidence"].where(table["measure"].eq("interval"), 1 - table["confidence"])
    shares = table[["estimate", "ci_low", "ci_high", "worst", "bound"]].add(level, axis=0)
    text = shares.round(4).mul(100).map("{:.1f}".format)
    estimates = text["estimate"] + " [" + text["ci_low"] + ", " + text["ci_high"] + "]"
    estimates = table["verdict"] + ": " + estimates
    worst = text["worst"] + " (" + table["at"] + ") [" + text["bound"] + "]"
    parts = {"interval": estimates, "lowest": worst, "test": estimates, "highest": worst}
    result = pd.DataFrame(
        {
            name: part[table["measure"].eq("interval") == (name in ("interval", "lowest"))]
            for name, part in parts.items()
        },
        index=table.index.unique(),
    )
    further = [names.calibrated(study, measure, name, "instead") for measure, name in result.index]
    result["interval"] += [f"; {text}" if text else "" for text in further]
    result.insert(0, "measure", [names.calibrated(study, *key) for key in result.index])
    return result.fillna("").reset_index(drop=True)


def usable(table: pd.DataFrame, *, study: str) -> str:
    """Say how many intervals of a study (`by_study`) can be trusted, and which not: a heading."""
    measures = table[table["interval"] != ""]
    verdicts = measures["interval"].str.partition(":")[0]
    failing = measures.loc[verdicts.isin(FAILS), "measure"].to_list()
    counts = {"k": int(verdicts.isin(TRUSTED).sum()), "n": len(measures)}
    return prose.render("calibration.usable", study=names.study(study), failing=failing, **counts)


def families(rows: pd.DataFrame) -> pd.DataFrame:
    """Lay out how often whole runs without an effect made a false claim, by study.

    Examples
    --------
    >>> from nbbias import calibration
    >>> families(calibration.shipped())["n"].sum()
    np.int64(1488)
    """
    table = rows[rows["measure"] == "family"].sort_values("estimate", ascending=False)
    shares = table[["estimate", "ci_low", "ci_high", "worst"]].add(1 - table["confidence"], axis=0)
    text = shares.round(4).mul(100).map("{:.1f}".format)
    columns = {
        "study": table["source"].map(names.study),
        "claims": _names(table),
        "n": table["n"].astype(int),
        "found": table["verdict"]
        + (": " + text["estimate"] + " [" + text["ci_low"] + ", " + text["ci_high"] + "]"),
        "highest": text["worst"] + " (" + table["at"] + ")",
    }
    return pd.DataFrame(columns)


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
    'The tests of 8 of 20 measures can be trusted; four fail, and eight are undecided.'
    """
    sentences = []
    for what in ("interval", "test"):
        part = rows[rows["measure"] == what]
        counts = {"trusted": TRUSTED, "fail": FAILS, "undecided": ["undecided"]}
        numbers = {name: int(part["verdict"].isin(of).sum()) for name, of in counts.items()}
        if len(part):
            level = float(part["confidence"].iloc[0])
            values = {"what": what, "level": level, "n": len(part), **numbers}
            sentences.append(prose.render("calibration.verdicts", **values))
    for row in _worst_family(rows).to_dict("records"):
        sentences.append(prose.render("calibration.families", row=row))
    return sentences or [prose.render("claims.nothing", reason=phrases.commonest_reason(rows))]


def _worst_family(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the row of the claims that err most often, with its share in place of its error."""
    families = rows[rows["measure"] == "family"]
    worst = families.nlargest(1, "estimate")
    shares = worst[["estimate", "ci_low", "ci_high"]].add(1 - worst["confidence"], axis=0)
    worst = worst.assign(
        **shares, statistic="familywise", study_name=worst["source"].map(names.study)
    )
    undecided = (families["verdict"] == "undecided").sum()
    worst = worst.assign(of=len(families), undecided=undecided)
    named = worst.to_dict("records")
    return worst.assign(name=[prose.render_plain("calibration.family", row=row) for row in named])


def _card(table: pd.DataFrame) -> dict[str, str]:
    coverage = table[table["statistic"] == "coverage_error"]
    # One simulated study may have several statistics.
    n = f"{coverage.groupby(['source', 'dimension'])['n'].max().sum():,.0f}"
    fixed = ("measures", "groups", "instrument", "not")
    card = {name: prose.render(f"calibration.card_{name}") for name in fixed}
    studies = [names.study(str(name)) for name in table["source"].unique()]
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
    table = rows[rows["measure"] == "test"]
    failing = table.loc[table["verdict"].isin(FAILS), ["source", "dimension", "task"]]
    named = power[["study", "measure", "statistic"]].replace("_", " ", regex=True)
    keys = pd.MultiIndex.from_frame(named)
    return power[~keys.isin(pd.MultiIndex.from_frame(failing))]


def power(table: pd.DataFrame, rows: pd.DataFrame | None = None) -> str:
    """Say how many tests detect the largest effect, at the fewest and at the most units.

    `rows` are all that were calibrated, of which `table` leaves some out (`exclude_failing`).
    """
    left_out = {"fail": 0, "of": 0}
    if rows is not None:
        tests = rows.loc[rows["measure"] == "test", "verdict"]
        left_out = {"fail": int(tests.isin(FAILS).sum()), "of": len(tests)}
    ordered = table.sort_values("n").groupby(["study", "measure", "statistic"], sort=False)
    few, many = (int((ordered["power_largest"].nth(at) >= POWER).sum()) for at in (0, -1))
    return prose.render("calibration.power", few=few, many=many, n=ordered.ngroups, **left_out)


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


def detectable(table: pd.DataFrame) -> pd.DataFrame:
    """Return `named_tests` with effects in words where no simulated one, or each, is detected.

    Examples
    --------
    >>> from nbbias import calibration
    >>> detectable(calibration.shipped_power().query("measure == 'rbs_refused'"))["effect"].tolist()
    ['not reached', 'not reached', '≤ 0.015', '≤ 0.015']
    """
    named = named_tests(table)
    effect = named["effect"].map("{:.3f}".format).where(named["effect"].notna(), "not reached")
    least = "≤ " + named["smallest"].map("{:.3f}".format)
    return named.assign(effect=effect.mask(named["power_smallest"] >= POWER, least))


def named_tests(table: pd.DataFrame) -> pd.DataFrame:
    """Return `calibration.shipped_power`, or a run's, with names of its tests for its keys."""
    keys = {"study": "source", "measure": "dimension", "statistic": "task"}
    named = name_statistics(table.rename(columns=keys).replace("_", " ", regex=True))
    return table.drop(columns=[*keys]).assign(test=named)[["test", *table.columns.drop([*keys])]]
