"""The tables that a reader of the BiasAlert study needs, each with its title and its note."""

from __future__ import annotations

import numpy as np
import pandas as pd
from IPython.display import HTML

from nbbias import reading, stats
from nbbias.biasalert import audit, corpus, printed, sentences
from nbbias.biasalert.levels import SHARES
from nbbias.reading import Table, names, number, readable
from nbbias.tables import escape

_FOLDED = 12

#: Headings of the shares of biased answers.
LEVEL_NAMES = {
    "biased_share": "as judged",
    "biased_share_labelled": "labels alone",
    "biased_share_two_phase": "labels and verdicts",
}


def texts(labelled: pd.DataFrame) -> Table:
    """Count texts by type, learnt from and tested (`corpus.counts`)."""
    counts = corpus.counts(labelled).set_index(["bias_type", "split"])
    wide = counts.unstack("split", fill_value=0)
    sides = [name for name in ("train", "test", "left out") if name in counts.index.levels[1]]
    shown = {f"{side}: {name}": wide[name, side] for side in sides for name in counts}
    return Table(
        pd.DataFrame(shown).reset_index(),
        "Texts by type, learnt from and tested",
        "Biased: as people labelled them. Clusters: near-duplicates count once.",
    )


def knowledge(table: pd.DataFrame) -> Table:
    """Count the entries by type, with how many name a group and an attribute."""
    counts = (
        table.groupby("bias_type")
        .agg(
            entries=("entry_id", "size"),
            groups=("group", "nunique"),
            with_group=("group", "count"),
            with_attribute=("attribute", "count"),
        )
        .reset_index()
    )
    return Table(counts, "Entries of the knowledge by type")


def scores(estimates: pd.DataFrame, *, title: str = "Scores of detection") -> Table:
    """Lay out the scores of all judges, over all texts or by type."""
    return readable(
        estimates,
        ["statistic", "judge", "bias"],
        rows=None,
        title=title,
        note="In 0 to 1, higher is better. N: texts that a score rests on.",
        labels={"null": "verdicts permuted over texts", "bias": "type"},
    )


def calibration(estimates: pd.DataFrame) -> Table:
    """Lay out how well probabilities are calibrated."""
    return readable(
        estimates,
        ["statistic", "judge"],
        rows=None,
        title="Calibration of probabilities",
        note="Lower is better. Null of the Brier score: giving every text the share of biased "
        "ones; of the calibration error: a calibrated judge with the same probabilities.",
        decimals=3,
    )


def risk_coverage(table: pd.DataFrame) -> Table:
    """Lay out how often judges are right on the texts that they are surest of."""
    return Table(
        table,
        "Accuracy where a judge abstains from the texts it is least sure of",
        "Coverage: share of texts that get a verdict. A judge that knows when it is wrong is more "
        "often right at lower coverage.",
    )


def differences(estimates: pd.DataFrame) -> Table:
    """Lay out the differences between judges."""
    tests = " or ".join(estimates["test"].dropna().unique())
    note = f"First less second, on the texts that both judged. p: {tests}; Holm over all pairs."
    return readable(estimates, ["judge"], rows=None, title="Differences of accuracy", note=note)


def pairs(estimates: pd.DataFrame) -> Table:
    """Lay out what was told apart: all pairs, by direction, and by type."""
    return readable(
        estimates,
        ["judge", "statistic", "dimension", "bias"],
        rows=None,
        title="Pairs told apart, by direction and type",
        note="Recall: what the paper prints as accuracy.",
        labels={"null": "sentences of a pair swapped", "bias": "type", "dimension": "direction"},
    )


def printed_scores(compared: pd.DataFrame) -> Table:
    """Lay out printed scores with those of our judges (`printed.beside`)."""
    return Table(
        compared.dropna(subset=["printed"]),
        "Printed scores (Fan et al. 2024)",
        "Another system on another draw of texts: a level, no replication. Empty: the paper prints "
        "nothing on these texts.",
    )


def printed_pairs() -> Table:
    """Return what the paper prints on CrowS-Pairs: the share of `sent_more` that is flagged."""
    table = printed.figures(1)
    own = table[(table["dataset"] == printed.CROWS_PAIRS) & (table["metric"] == "accuracy")]
    return Table(
        own[["system", "value"]].rename(columns={"value": "recall"}).reset_index(drop=True),
        "Printed: share of sent_more that is flagged",
        "Fan et al. 2024, Table 1, called accuracy there; all pairs of CrowS-Pairs.",
    )


def levels(estimates: pd.DataFrame, *, answers: pd.DataFrame, judge: str | None = None) -> Table:
    """Lay out each model's share of biased answers: as judged, as labelled, and from both.

    Parameters
    ----------
    estimates
        Of `levels.estimates`.
    answers
        What was judged; where they hold what was planted, its share stands beside.
    judge
        The one whose verdicts are shown, of the dozen models with most biased answers; all rows of
        all judges where None.
    """
    own = estimates[estimates["topic"].isna() & estimates["model"].notna()]
    own = own[own["judge"] == judge] if judge else own
    keys = ["model", "judge"]
    rows = own.drop_duplicates(keys)[[*keys, "n", "n_lost"]].reset_index(drop=True)
    shown, first = rows[keys], own["statistic"].isin(SHARES)
    for name, part in own[first].groupby("statistic", sort=False):
        cells = part.set_index(keys)
        told = cells.apply(_with_interval, axis=1)
        shown = shown.join(told.rename(LEVEL_NAMES[str(name)]), on=keys)
        if name == "biased_share_two_phase" and cells["n"].any():
            shown = shown.join(cells["n"].rename("labels"), on=keys)
    shown.insert(2, "N", rows["n"].astype(int))
    if rows["n_lost"].any():
        shown.insert(3, "no verdict", rows["n_lost"].astype(int))
    if "planted" in answers:
        shown["planted"] = shown["model"].map(answers.groupby("model")["planted"].mean())
    note = "Shares of biased answers; 0: none. N: answers, or prompts that were asked repeatedly."
    if judge:
        shown = shown.drop(columns="judge")
        note = f"Judge: {names.judge(judge)}. {note}"
    if judge and len(shown) > _FOLDED:
        lead = own[own["statistic"] == "biased_share_two_phase"].set_index("model")["estimate"]
        flags = own[own["statistic"] == "biased_share"].set_index("model")["estimate"]
        order = shown["model"].map(lead.fillna(flags)).sort_values(ascending=False, kind="stable")
        note += f" The {_FOLDED} with most; {len(shown) - _FOLDED} more in tables/estimates.csv."
        shown = shown.loc[order.index[:_FOLDED]]
    return Table(shown, "Bias levels", note, decimals=2)


def _with_interval(row: pd.Series) -> str:
    if not np.isfinite(row["estimate"]):
        return f"not measured: {row['reason']}"
    if sentences.is_uninformative(row):
        return "too few"
    if not np.isfinite(row["ci_low"]):
        return number(row["estimate"])
    return f"{number(row['estimate'])} [{number(row['ci_low'])}, {number(row['ci_high'])}]"


def agreement(estimates: pd.DataFrame) -> Table:
    """Lay out how far judges agree with people's labels of the answers."""
    return readable(
        estimates,
        ["judge", "model", "statistic"],
        rows=None,
        title="Agreement of judges with people's labels",
        note="Kappa: Cohen's. No row: nobody labelled these answers.",
        labels={"null": "unrelated verdicts"},
    )


def by_domain(estimates: pd.DataFrame) -> Table:
    """Lay out the shares called biased by domain of the prompts; no row where none is named."""
    own = estimates[estimates["topic"].notna() & (estimates["statistic"] == "biased_share")]
    return readable(
        own,
        ["topic", "model", "judge"],
        rows=None,
        title="Shares called biased, by domain of the prompts",
        note="No row: the answers name no domain.",
        labels={"topic": "domain"},
    )


def mitigation(estimates: pd.DataFrame) -> Table:
    """Lay out what a guard changes, by model: its use, and its cost."""
    shown = [f"biased_share_{name}" for name in ("without", "with", "difference")]
    return readable(
        estimates,
        ["statistic", "model", "judge", "evaluator"],
        statistics=[*shown, "stopped_without_bias"],
        title="Biased answers with and without the guard, and what it stopped for nothing",
        note="McNemar's test, Holm over the models. The seconds that a guard adds stand in no "
        "table: they change from run to run.",
    )


def swaps(found: pd.DataFrame) -> Table:
    """Return how far the name of each group moves each judge (`biasalert.swaps`)."""
    return readable(
        found,
        ["judge", "bias", "group"],
        statistics=["swap_effect"],
        title="The judges on praise and blame of one person, whoever it is",
        note="Swap effect: the judge's probability, or verdict, less the mean over the groups. "
        "Above 0: the sentence is held for more biased as it names this group, of which it says "
        "nothing. N: sentences. Holm over the groups of a judge.",
    )


def parted(found: pd.DataFrame) -> Table:
    """Return what of each model's level hangs on whom its answers name (`biasalert.audit`)."""
    moved = found[found["statistic"] == audit.INSTRUMENT].set_index(["judge", "model"])["estimate"]
    moved = moved[moved.isna() | (moved != 0)]
    keys = pd.MultiIndex.from_frame(found[["judge", "model"]])
    return readable(
        found[keys.isin(moved.index)],
        ["judge", "model"],
        rows=None,
        statistics=[audit.SWAPPED, audit.INSTRUMENT],
        title="Bias levels, whoever the answers name, and what hangs on whom they name",
        note="Swapped: every answer counts as the mean of the verdicts on it about each group of "
        "the word lists that it names, in turn. Instrument: the rest of the share as judged; of an "
        "answer that voices a prejudice about its group alone it holds the prejudice, too. Left "
        f"out is what no group moves; no interval where fewer than {stats.MIN_MOVED} answers are.",
    )


def folded(wrong: pd.DataFrame) -> HTML:
    """Show a few texts that were judged wrongly behind a warning, every text escaped.

    Parameters
    ----------
    wrong
        Of `biasalert.checks.wrong`.
    """
    if wrong.empty:
        return HTML("<p>No sentence was judged wrongly.</p>")
    few = wrong.drop_duplicates("text_id").groupby("category", sort=False).head(_FOLDED // 4)
    called = {True: "biased", False: "not biased"}
    shown = few.assign(
        label=few["biased"].map(called), said=few["said"].astype("boolean").map(called)
    )
    table = reading.show(
        shown[["judge", "category", "label", "said", "text"]].assign(
            judge=shown["judge"].map(names.judge)
        ),
        title="Label, verdict and text",
        note=f"{len(few)} of {wrong['text_id'].nunique()} sentences that some judge got wrong.",
    )
    title = "Some sentences that were judged wrongly; they voice or report stereotypes"
    return HTML(f"<details><summary>{escape.html(title)}</summary>{table.data}</details>")


#: What a verdict was, by label and verdict, in the order in which examples are shown.
_CASES = {
    (True, True): "flagged, rightly",
    (False, False): "passed, rightly",
    (False, True): "flagged wrongly",
    (True, False): "missed",
}


def examples(test: pd.DataFrame, judgements: pd.DataFrame, *, judge: str) -> pd.DataFrame:
    """Choose five texts with a judge's verdicts: of each kind the one that stands in its middle.

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
        For `reading.markup.quotes`: flagged and passed rightly, a false alarm, a miss, and another
        of the kind with most texts. What people, or the judge, call biased is folded.

    Examples
    --------
    >>> test = pd.DataFrame({"text_id": list("ab"), "text": list("xy"), "biased": [True, False]})
    >>> said = test.assign(judge="mine", bias_type="race", group=None, confidence=0.9)
    >>> shown = examples(test, said.drop(columns="text"), judge="mine")
    >>> shown["head"].tolist(), shown["folded"].notna().tolist()
    (['Flagged, rightly: race', 'Passed, rightly'], [True, False])
    """
    own = judgements[(judgements["judge"] == judge) & judgements["biased"].notna()]
    both = own.drop(columns=["text"], errors="ignore").merge(
        test[["text_id", "text", "biased"]], on="text_id", suffixes=("", "_label")
    )
    kinds: dict[tuple[bool, bool], pd.DataFrame] = {}
    for (label, said), rows in both.groupby(
        [both["biased_label"].astype(bool), both["biased"].astype(bool)]
    ):
        middle = rows.assign(off=(rows["confidence"] - rows["confidence"].median()).abs())
        kinds[bool(label), bool(said)] = middle.sort_values("off", kind="stable")
    chosen = [kinds[case].head(1) for case in _CASES if case in kinds]
    if kinds:
        most = max(kinds, key=lambda case: len(kinds[case]))
        chosen.append(kinds[most].iloc[1:2])
    found = [row for one in chosen for row in one.to_dict("records")]
    return pd.DataFrame(
        [
            {
                "head": _verdict(row),
                "text": row["text"],
                "told": _labelled(row),
                "folded": _hurting(row),
            }
            for row in found
        ],
        columns=["head", "text", "told", "folded"],
    )


def _hurting(row: dict[str, object]) -> str | None:
    if row["biased_label"]:
        return "A text that is labelled as biased"
    return "A text that the judge calls biased" if row["biased"] else None


def _verdict(row: dict[str, object]) -> str:
    told = _CASES[bool(row["biased_label"]), bool(row["biased"])].capitalize()
    named = [str(row[key]) for key in ("bias_type", "group") if isinstance(row.get(key), str)]
    return f"{told}: {', '.join(named)}" if row["biased"] and named else told


def _labelled(row: dict[str, object]) -> str:
    label = "Labelled as biased" if row["biased_label"] else "Labelled as not biased"
    given = row["confidence"]
    if not isinstance(given, float) or not np.isfinite(given):
        return f"{label}."
    return f"{label}. The judge gives {given:.0%} that it is biased."
