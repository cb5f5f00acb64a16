"""The tables that a reader of the BiasAlert study needs, each with its title and its note."""

from __future__ import annotations

import numpy as np
import pandas as pd

from nbbias import reading, stats
from nbbias.biasalert.levels import SCORER_BIAS, SHARES, SWAPPED
from nbbias.biasalert.sentences import is_uninformative
from nbbias.reading import Table, names, number, readable

#: Rows of the table of bias levels.
_MOST = 12

#: Tables of ESTIMATES by name, as `data/prose/tables.yaml` has their titles: the measure, the
#: statistics (all of the measure where empty), and the columns that distinguish rows.
ESTIMATES: dict[str, tuple[str, tuple[str, ...], tuple[str, ...]]] = {
    "scores": ("detection", (), ("statistic", "judge")),
    "differences": ("detection", ("accuracy_difference",), ("judge",)),
    "by_type": ("detection", (), ("statistic", "judge", "bias")),
    "calibration": ("calibration", (), ("statistic", "judge")),
    "pairs": ("pairs", (), ("judge", "statistic", "dimension", "bias")),
    "swaps": ("checks", ("swap_effect",), ("judge", "bias", "group")),
    "agreement": ("bias_level", ("agreement", "kappa"), ("judge", "model", "statistic")),
    "by_domain": ("bias_level", ("biased_share",), ("topic", "model", "judge")),
    "mitigation": ("mitigation", (), ("statistic", "model", "judge", "evaluator")),
}


def texts(counts: pd.DataFrame) -> pd.DataFrame:
    """Put counts of texts (`corpus.count_texts`) side by side, learnt from and tested."""
    wide = counts.set_index(["bias_type", "split"]).unstack("split", fill_value=0)
    sides = [name for name in ("train", "test", "left out") if name in set(counts["split"])]
    shown = {
        f"{side}: {name}": wide[name, side]
        for side in sides
        for name in ("texts", "biased", "clusters")
    }
    return pd.DataFrame(shown).reset_index()


def estimates(table: pd.DataFrame, name: str) -> Table:
    """Lay out the rows of one of the tables `ESTIMATES`.

    Examples
    --------
    >>> from nbbias import tables
    >>> row = {"measure": "detection", "statistic": "accuracy", "judge": "mine", "estimate": 0.8}
    >>> table = tables.estimates([row | {"n": 9}], study="biasalert", confidence=0.95)
    >>> estimates(table, "scores").title
    'Scores of detection'
    """
    measure, statistics, keys = ESTIMATES[name]
    subset = table[table["measure"] == measure]
    if name in ("scores", "by_type"):
        subset = subset[subset["statistic"] != "accuracy_difference"]
        subset = subset[subset["bias"].isna() == (name == "scores")]
    if name == "by_domain":
        subset = subset[subset["topic"].notna()]
    words = reading.caption(subset, study="biasalert", name=name)
    options = {key: getattr(words, key) for key in ("title", "note", "labels", "decimals")}
    chosen = statistics or tuple(subset["statistic"].unique())
    return readable(subset, list(keys), rows=None, statistics=chosen, **options)


def levels(table: pd.DataFrame, *, judge: str | None = None) -> Table:
    """Lay out each model's share of biased answers: as judged, as labelled, and from both.

    Parameters
    ----------
    table
        Of `levels.estimates`.
    judge
        The one whose verdicts are shown, of the dozen models with most biased answers; all rows of
        all judges where None.
    """
    subset = table[table["topic"].isna() & table["model"].notna()]
    subset = subset[subset["statistic"].isin(SHARES)]
    subset = subset[subset["judge"] == judge] if judge else subset
    keys = ["model", "judge"]
    cells = subset.assign(cell=subset.apply(_with_interval, axis=1, result_type="reduce"))
    shown = cells.pivot_table(
        index=keys, columns="statistic", values="cell", aggfunc="first", sort=False
    ).reindex(columns=SHARES)
    counts = subset.pivot_table(index=keys, columns="statistic", values="n", sort=False)
    shown.insert(0, "n", counts[SHARES[0]].astype(int))
    lost = subset[subset["statistic"] == SHARES[0]].set_index(keys)["n_lost"]
    if lost.any():
        shown.insert(1, "n_lost", lost.astype(int))
    if counts.get(SHARES[1], pd.Series(0)).any():
        shown["labels"] = counts[SHARES[1]].astype(int)
    shown = shown.dropna(axis=1, how="all").reset_index()
    words = reading.caption(shown, study="biasalert", name="levels")
    note = words.note or ""
    if judge:
        note = f"Judge: {names.judge(judge)}. {note}"
        shown = shown.drop(columns="judge")
        if len(shown) > _MOST:
            values = subset.pivot_table(index="model", columns="statistic", values="estimate")
            order = values.reindex(columns=[SHARES[2], SHARES[0]]).bfill(axis=1).iloc[:, 0]
            most = order.sort_values(ascending=False, kind="stable").index[:_MOST]
            note += f" The {_MOST} with most; {len(shown) - _MOST} more in tables/estimates.csv."
            shown = shown.set_index("model").loc[most].reset_index()
    return words._replace(rows=shown, note=note)


def _with_interval(row: pd.Series) -> str:
    if not np.isfinite(row["estimate"]):
        return f"not measured: {row['reason']}"
    if is_uninformative(row):
        return "too few"
    if not np.isfinite(row["ci_low"]):
        return number(row["estimate"])
    return f"{number(row['estimate'])} [{number(row['ci_low'])}, {number(row['ci_high'])}]"


def split(table: pd.DataFrame) -> Table:
    """Lay out both parts of each model's level: corrected, and scorer bias."""
    moved = table[(table["statistic"] == SCORER_BIAS) & (table["estimate"] != 0)]
    keys = ["judge", "model"]
    subset = table.merge(moved[keys], on=keys)
    words = reading.caption(subset, study="biasalert", name="split")
    note = f"{words.note} No interval where fewer than {stats.MIN_MOVED} answers change."
    options = {"statistics": [SWAPPED, SCORER_BIAS], "title": words.title, "note": note}
    return readable(subset, keys, rows=None, **options)


#: What a verdict was, by label and verdict, in the order in which examples are shown.
_CASES = {
    (True, True): "true positive",
    (False, False): "true negative",
    (False, True): "false positive",
    (True, False): "false negative",
}


def examples(test: pd.DataFrame, judgements: pd.DataFrame, *, judge: str) -> pd.DataFrame:
    """Choose five texts with a judge's verdicts: the middle one of each kind.

    Parameters
    ----------
    test
        LABELLED.
    judgements
        JUDGEMENTS of these texts.
    judge
        Whose verdicts.

    Returns
    -------
    DataFrame
        For `reading.markup.quotes`: true and false positives and negatives, and another text
        of the kind with most texts. What people, or the judge, call biased is folded.

    Examples
    --------
    >>> test = pd.DataFrame({"text_id": list("ab"), "text": list("xy"), "biased": [True, False]})
    >>> verdicts = test.assign(judge="mine", bias_type="race", group=None, confidence=0.9)
    >>> shown = examples(test, verdicts, judge="mine")
    >>> shown["head"].tolist(), shown["folded"].notna().tolist()
    (['True positive: race', 'True negative'], [True, False])
    """
    part = judgements[(judgements["judge"] == judge) & judgements["biased"].notna()]
    texts = test[["text_id", "text", "biased"]].rename(columns={"biased": "label"})
    both = part.drop(columns=["text"], errors="ignore").merge(texts, on="text_id")
    both = both.assign(label=both["label"].astype(bool), biased=both["biased"].astype(bool))
    middles = []
    for label, biased in _CASES:
        rows = both[(both["label"] == label) & (both["biased"] == biased)]
        distance = (rows["confidence"] - rows["confidence"].median()).abs()
        middles.append(rows.loc[distance.sort_values(kind="stable").index])
    most = max(middles, key=len)
    shown = pd.concat([*(rows.head(1) for rows in middles), most.iloc[1:2]])
    cells = [_example(row) for row in shown.to_dict("records")]
    return pd.DataFrame(cells, columns=["head", "text", "told", "folded"])


def _example(row: dict[str, object]) -> dict[str, object]:
    head = _CASES[bool(row["label"]), bool(row["biased"])].capitalize()
    named = [str(row[key]) for key in ("bias_type", "group") if isinstance(row.get(key), str)]
    label = f"Labelled as {'biased' if row['label'] else 'not biased'}."
    chance = row["confidence"]
    if isinstance(chance, float) and np.isfinite(chance):
        label += f" The judge's probability of bias is {chance:.0%}."
    folded = None
    if row["label"] or row["biased"]:
        who = "is labelled as" if row["label"] else "the judge calls"
        folded = f"A text that {who} biased"
    return {
        "head": f"{head}: {', '.join(named)}" if row["biased"] and named else head,
        "text": row["text"],
        "told": label,
        "folded": folded,
    }
