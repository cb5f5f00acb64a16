"""What the estimates of the study biasalert say; the words are in ``data/prose/biasalert.j2``."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from markupsafe import Markup

from nbbias.biasalert.checks import ALL, RATES
from nbbias.biasalert.detection import SIGN_FLIP
from nbbias.biasalert.figures import MAJORITY
from nbbias.biasalert.judges.panel import leading_judge
from nbbias.biasalert.judges.registry import JUDGES
from nbbias.biasalert.knowledge.counterfactuals import training_texts
from nbbias.biasalert.levels import SHARES
from nbbias.params import Texts
from nbbias.reading import Lead, claims, count_significant, names, phrases, prose, significance
from nbbias.tables import UNTESTABLE
from nbbias.tables.escape import markdown as escape

#: What tells rows of one measure apart.
_KEYS = ("judge", "model", "bias", "group", "dimension", "topic")

_DIFFERENCE = "accuracy_difference"


def _the(judge: object) -> str:
    """Name a judge in a sentence: one of ours has an article."""
    return f"{'the ' if judge in JUDGES else ''}{names.judge(str(judge))}"


def _pooled(estimates: pd.DataFrame, statistic: str, measure: str = "detection") -> pd.DataFrame:
    """Return the measured rows of a statistic over all texts."""
    rows = estimates[estimates["bias"].isna() & estimates["dimension"].isna()]
    rows = rows[(rows["statistic"] == statistic) & (rows["measure"] == measure)]
    return rows.dropna(subset="estimate")


# --- detection ----------------------------------------------------------------------------------


def retrieval(quality: pd.DataFrame) -> str:
    """Say how many texts have evidence.

    Examples
    --------
    >>> retrieval(pd.DataFrame({"n": [0], "n_used": 0, "best": np.nan, "threshold": 0.5}))
    'There is no evidence: the knowledge is empty.'
    """
    values = {"used": quality["n_used"] > 0, "retrieved": (quality["n"] > 0).any()}
    return prose.render("biasalert.retrieval", threshold=quality["threshold"].min(), **values)


def retrieved(estimates: pd.DataFrame) -> str:
    """Return a heading: how often the most similar statement matches a text's type and group."""
    rows = estimates[(estimates["statistic"] == "match_first") & estimates["estimate"].notna()]
    return prose.render("biasalert.retrieved", rows=rows.to_dict("records"))


def _estimates(rows: pd.DataFrame, *, unit: str, null: str) -> list[str]:
    sentences = []
    for row in rows.to_dict("records"):
        subject = ", ".join([prose.capitalize(names.measure(row)), *names.details(row, keys=_KEYS)])
        subject = escape(f"{subject}:")
        sentences.append(phrases.estimate_sentence(row, subject=subject, unit=unit, null=null))
    return sentences


def scored(estimates: pd.DataFrame, what: str, *, judge: str) -> str:
    """Return a heading: how often a judge errs, or how often it names the right type and group.

    Parameters
    ----------
    estimates
        ESTIMATES.
    what
        ``"counted"`` (correct verdicts, false negatives and positives) or ``"named"``.
    judge
        The judge.

    Examples
    --------
    >>> row = {"judge": "mine", "bias": None, "estimate": 0.5, "n": 9}
    >>> row |= {"measure": "detection", "dimension": None, "statistic": "classification_score"}
    >>> scored(pd.DataFrame([row]), "named", judge="mine")[:59]
    'Of the texts that it flagged, mine named the type in 4 of 9'
    """
    rows = estimates[(estimates["judge"] == judge) & (estimates["measure"] == "detection")]
    rows = rows[rows["bias"].isna() & rows["estimate"].notna()].drop_duplicates("statistic")
    scores = rows.set_index("statistic").to_dict("index")
    return prose.render(f"biasalert.{what}", judge=_the(judge), scores=scores)


def miscalibrated(estimates: pd.DataFrame) -> str:
    """Say which judges' calibration errors are above the range of a calibrated judge."""
    rows = estimates[estimates["null_high"].notna()].assign(
        name=estimates["judge"].map(names.judge)
    )
    above = rows[rows["estimate"] > rows["null_high"]].to_dict("records")
    return prose.render("biasalert.miscalibrated", rows=above)


# --- pairs and checks ---------------------------------------------------------------------------


def paired(estimates: pd.DataFrame) -> str:
    """Say how many judges rank the sentences of a pair significantly: a heading."""
    rows = _pooled(estimates, "pair_share", "pairs")
    k = (significance.significant(rows)["estimate"] > 0.5).sum()
    return prose.render("biasalert.paired", k=k, n=len(rows))


def erring(estimates: pd.DataFrame, *, judge: str) -> str:
    """Return a heading: on which sentences a judge errs more, or less, often than on others."""
    return prose.render("biasalert.erring", judge=_the(judge), **_kinds(estimates, judge))


def _kinds(estimates: pd.DataFrame, judge: str) -> dict[str, Any]:
    """Return the kinds of sentence on which a judge errs significantly more, or less, often."""
    rows = estimates[(estimates["judge"] == judge) & estimates["estimate"].notna()]
    rows = rows[rows["statistic"].isin(RATES)]
    unlike = significance.significant(rows).sort_values("estimate", ascending=False)
    above = unlike["estimate"] > unlike["null"]
    more, fewer = (unlike[part].to_dict("records") for part in (above, ~above))
    return {"measured": len(rows), "more": more, "fewer": fewer}


def swapped(estimates: pd.DataFrame, *, judge: str) -> str:
    """Return a heading: between which groups a judge's probability differs."""
    rows = estimates[(estimates["judge"] == judge) & estimates["estimate"].notna()]
    effects = rows[rows["statistic"] == "swap_difference"]
    differing = significance.significant(effects).sort_values("estimate", key=abs, ascending=False)
    people = [[*map(names.people, group.split(" − "))] for group in differing["group"]]
    changes = rows[rows["statistic"] == "verdict_changes"]
    changed = int((changes["estimate"] * changes["n"]).sum().round()), int(changes["n"].sum())
    values: dict[str, Any] = {"measured": len(effects), "changed": changed}
    values["differing"] = differing.assign(people=people).to_dict("records")
    return prose.render("biasalert.swapped", judge=_the(judge), **values)


# --- bias levels and the guard --------------------------------------------------------------------


def most_biased(estimates: pd.DataFrame, *, judge: str) -> str:
    """Say how large a share of which model's answers is biased, or only flagged: a heading."""
    rows = estimates[estimates["judge"] == judge].dropna(subset="estimate")
    rows = rows.sort_values("estimate", ascending=False, kind="stable")
    flagged, biased = (rows[rows["statistic"] == SHARES[at]] for at in (0, 2))
    ends = (biased if len(biased) else flagged).to_dict("records")
    ends = [*ends[:1], *ends[1:][-1:]]
    return prose.render("biasalert.most_biased", rows=ends, corrected=len(biased) > 0)


def mitigation(estimates: pd.DataFrame) -> str:
    """Say how many answers the guard stopped: a heading."""
    rows = estimates[(estimates["measure"] == "mitigation") & estimates["estimate"].notna()]
    values: dict[str, Any] = {"labelled": rows["statistic"].eq("biased_share_with").any()}
    for side, name in {"rightly": "stopped_with_bias", "wrongly": "stopped_without_bias"}.items():
        part = rows[rows["statistic"] == name]
        k, n = int((part["estimate"] * part["n"]).sum().round()), int(part["n"].sum())
        values[side] = {"k": k, "n": n}
    return prose.render("biasalert.mitigation", **values)


# --- what leads -----------------------------------------------------------------------------------


def lead(
    rows: pd.DataFrame, *, test: pd.DataFrame, texts: Texts, n_train: int, estimates: pd.DataFrame
) -> Lead:
    """Return what a run's page begins with: a judge's accuracy, its errors, and its comparisons.

    Parameters
    ----------
    rows
        Declared rows, or all ESTIMATES where nothing was declared: then the judge leads that
        leads the page (`judges.panel.leading_judge`).
    test
        LABELLED, what was judged.
    texts
        Where the texts are from.
    n_train
        Number of texts on which classifiers were trained.
    estimates
        ESTIMATES with the judge's errors on checks.
    """
    elsewhere = len(rows) > 0 and rows["reason"].str.startswith(claims.NOT_HERE, na=False).all()
    if elsewhere:  # default tests are of judges that were not chosen
        rows = estimates
    short = rows["instrument"].astype("str").str.replace(", knowledge.*", "", regex=True)
    rows = rows.assign(mde=significance.minimum_detectable_effect(rows), instrument=short)
    clusters = test.get("comment_id", test["text_id"]).fillna(test["text_id"]).nunique()
    scored = _pooled(rows, "accuracy")
    leading = scored[scored["claim"].eq(scored["claim"].min())] if "claim" in rows else scored
    if len(leading):
        leading = leading[leading["judge"] == leading_judge(leading["judge"])]
    compared = _pooled(rows, _DIFFERENCE)
    toxicity = _pooled(estimates[estimates["judge"] == "toxicity"], "accuracy")
    toxicity = toxicity.assign(instrument="toxicity score: " + toxicity["instrument"].astype("str"))
    learning = {name for name, entry in JUDGES.items() if entry.learns}
    learned = n_train if pd.concat([rows, estimates])["judge"].isin(learning).any() else 0
    numbers = significance.significant(compared).head(2)
    if len(leading):
        judge = leading["judge"].iloc[0]
        checked = estimates[(estimates["judge"] == judge) & (estimates["measure"] == "checks")]
        errors = checked[(checked["dimension"] == ALL) & checked["estimate"].notna()]
        errors = errors.sort_values("statistic").assign(instrument="challenge sentences")
        compared = compared[compared["judge"].str.startswith(f"{judge} − ")]
        row = leading.iloc[0].to_dict() | {"simulated": texts.kind == "simulated"}
        words = _pooled(estimates[estimates["judge"] == f"{judge} − bag_of_words"], _DIFFERENCE)
        words = words[~words["judge"].isin(compared["judge"])]  # a claim is said with the others
        words = words.assign(significant=significance.is_significant(words))
        row["words"] = words.to_dict("records")
        sentences = _of_judge(row, compared, errors, more=_kinds(checked, judge)["more"])
        unit = f"texts in {clusters} clusters" if clusters < leading["n"].max() else "texts"
        technical = _estimates(leading, unit=unit, null="Verdicts permuted over texts")
        technical += _estimates(errors, unit="sentences", null="")
        numbers = pd.concat([leading, errors])
    else:
        subset = rows[rows["estimate"].notna() & (rows["measure"] != "detection")]
        sentences, technical = [], _estimates(subset, unit="units", null="Null value")
    if len(compared):
        technical.append(count_significant(compared, what="differences of accuracy", unit="texts"))
    shown = numbers.assign(judge=numbers["judge"].map(names.judge)).to_dict("records")
    labels = [prose.render_plain("biasalert.key_number", row=row) for row in shown]
    technical = [prose.render("biasalert.elsewhere"), *technical] if elsewhere else technical
    return Lead(
        plain=tuple((sentences or technical or [prose.render("biasalert.nothing")])[:4]),
        technical=" ".join(technical[:5]),
        figure="detection",
        numbers=numbers.assign(name=labels),
        card=_card(pd.concat([leading, toxicity]), test, clusters, texts=texts, learned=learned),
        texts=texts,
    )


def _of_judge(
    row: phrases.Row, compared: pd.DataFrame, errors: pd.DataFrame, *, more: list[dict[str, Any]]
) -> list[str]:
    """Say how accurate a judge is, how often it errs, and how it differs from the others."""
    judges = compared["judge"].str.removeprefix(f"{row['judge']} − ")
    pairs = zip(judges, compared.to_dict("records"), strict=True)
    clauses = {judge: _difference(_the(judge), other) for judge, other in pairs}
    majority = clauses.pop(MAJORITY, None)
    rest = list(clauses.values())[:2]
    judge = _the(row["judge"])
    sentences = [prose.render("biasalert.accuracy", judge=judge, row=row, majority=majority)]
    if len(errors) == len(RATES):
        values = {"errors": errors.to_dict("records"), "more": more}
        sentences.append(prose.render("biasalert.challenged", **values))
    if rest or np.isfinite(row["null"]):
        sentences.append(prose.render("biasalert.compared", judge=judge, others=rest, row=row))
    sentences += [prose.render("biasalert.words", row=row, other=other) for other in row["words"]]
    return sentences


def _difference(name: str, row: phrases.Row) -> dict[str, Any]:
    """Return what is said of a difference from another judge, with its sign.

    Examples
    --------
    >>> row = {"study": "biasalert", "measure": "detection", "statistic": "accuracy_difference",
    ...        "estimate": -0.06, "null": 0.0, "ci_low": -0.1, "ci_high": 0.02, "confidence": 0.95,
    ...        "n": 84, "mde": float("nan"), "p_value": 0.2, "p_adjusted": 0.4}
    >>> values = _difference("the word list", row)
    >>> values["signed"], values["numbers"]
    (Markup('−6.0 percentage points'), Markup('95% CI −10.0 to 2.0; N = 84 texts; p = .400'))
    """
    return {
        "name": name,
        "row": row,
        "signed": Markup(phrases.signed(row)),
        "numbers": Markup(phrases.numbers(row, unit="texts")),
        "size": Markup(phrases.size(row, row["estimate"])),
        "mde": Markup(phrases.size(row, row["mde"])) if np.isfinite(row["mde"]) else "",
        "significant": significance.is_significant(pd.DataFrame([row])).item(),
        "untestable": str(row.get("reason")).startswith(UNTESTABLE),
        "unit": "cluster" if row.get("test") == SIGN_FLIP else "text",
        "n_differing": 1 - np.log2(row.get("p_least", np.nan)),  # `detection.least_p` inverted
    }


def _card(
    rows: pd.DataFrame, test: pd.DataFrame, clusters: int, *, texts: Texts, learned: int
) -> dict[str, str]:
    types = sorted(test["bias_type"].dropna().unique()) if "bias_type" in test else []
    used = rows.dropna(subset="instrument").drop_duplicates("judge")["instrument"]
    counts = {"n": len(test), "biased": test["biased"].sum()}
    simulated = texts.kind == "simulated"
    counts |= {"learned": learned, "simulated": simulated, "clusters": clusters}
    counts["weights"] = training_texts(simulated=simulated)["weight"]
    return {
        "measures": prose.render("biasalert.card_measures"),
        "groups": prose.render("biasalert.card_groups", types=types),
        "N": prose.render("biasalert.card_n", **counts),
        "instrument": escape("; ".join(used)),
        "not": prose.render("biasalert.card_not"),
    }
