"""Tables and sentences that a reader of the BiasAlert study needs, from what was measured.

What Fan et al. print, beside what is measured here.
"""

from __future__ import annotations

import html
import re
from typing import Any

import pandas as pd
from IPython.display import HTML

from nbbias import reading, tables
from nbbias.biasalert import levels as biasalert_levels
from nbbias.biasalert.detection import ALWAYS, NEVER, STATISTICS
from nbbias.biasalert.judges.bench import Bench
from nbbias.biasalert.judges.registry import JUDGES
from nbbias.params import NONE
from nbbias.reading import escape, number
from nbbias.tables import SAMPLE

_NUMBERS = ["estimate", "ci_low", "ci_high", "n", "n_lost", "null", "null_low", "null_high"]
_FOLDED = 12

# --- what there is ----------------------------------------------------------------------------


def source(labelled_path: str, evaluation_path: str = NONE) -> str:
    """Return the name of the texts that are tested on: a file's, without its folder."""
    path = labelled_path if evaluation_path == NONE else evaluation_path
    return "sample" if path == SAMPLE else tables.resolve(path).stem


def printed_dataset(tested: str) -> str | None:
    """Return the dataset whose printed scores stand beside ours, if the tested file is its own."""
    return _named(tested, "RedditBias")


def printed_answers(answers: str) -> str | None:
    """Return the prompts whose printed bias levels stand beside ours, if a file is named so."""
    return _named(answers, "BOLD", "BeaverTails")


def _named(file: str, *datasets: str) -> str | None:
    words = re.split(r"[^a-z]+", file.lower())
    return next((name for name in datasets if name.lower() in words), None)


def printed(detection: pd.DataFrame, tested: str) -> list[str]:
    """Say how far our scores are from the printed ones, where the tested file is RedditBias'."""
    from nbbias.biasalert import sentences

    dataset = printed_dataset(tested)
    if dataset is None:
        return ["These texts are not RedditBias: no printed score is about them."]
    return sentences.printed(beside(detection), dataset=dataset)


def products() -> pd.DataFrame:
    """Return the printed overall scores beside accuracy × CS × AS, with yes and no in words."""
    pass

    table = printed_products()
    return table.assign(holds=table["holds"].map({True: "yes", False: "no"}))


def printed_pairs() -> pd.DataFrame:
    """Return what the paper prints on CrowS-Pairs: the share of `sent_more` that is flagged."""
    pass

    table = printed_figures(1)
    own = table[(table["dataset"] == "CrowS-Pairs") & (table["metric"] == "accuracy")]
    return own[["system", "value"]].rename(columns={"value": "recall"}).reset_index(drop=True)


def lost_texts(lost: pd.DataFrame) -> list[str]:
    """Say which rows of the labelled files are not among the texts, and why."""
    if lost.empty:
        return ["No row was left out."]
    told = [
        f"{escape(row.file)}: {row.reason}: {row.n:,} of its rows." for row in lost.itertuples()
    ]
    return ["Rows that were left out, or changed:", *told]


def knowledge(table: pd.DataFrame) -> pd.DataFrame:
    """Count the entries by type, with how many name a group and an attribute."""
    return table.groupby("bias_type").agg(
        entries=("entry_id", "size"), groups=("group", "nunique"), with_group=("group", "count"),
        with_attribute=("attribute", "count"),
    ).reset_index()  # fmt: skip


def knowledge_in_words(table: pd.DataFrame, lost: pd.DataFrame) -> list[str]:
    """Say how large the knowledge is, which version, and what was lost on the way."""
    from nbbias.biasalert.knowledge import version

    sources = ", ".join(escape(name) for name in table["source"].dropna().unique()) or "nowhere"
    told = [f"{len(table):,} entries from {sources}; version {version(table) or 'none'}."]
    told += [f"{row.n:,} rows were lost: {escape(row.reason)}." for row in lost.itertuples()]
    return told


def retrieval_in_words(quality: pd.DataFrame, texts: pd.DataFrame, *, floor: float) -> list[str]:
    """Say how near the evidence is, how much of it is used, and whether its types agree."""
    found = quality[quality["n"] > 0]
    if found.empty:
        return ["There is no evidence: the knowledge is empty."]
    used = found[found["n_used"] > 0]
    low, middle, high = found["best"].quantile([0.25, 0.5, 0.75])
    told = [
        f"{len(used):,} of {len(quality):,} texts have evidence that is nearer than what is found "
        f"for other texts (a cosine from {number(floor)}); the others are judged without. "
        f"Median cosine of the best entry: {number(middle)} (quartiles {number(low)} to "
        f"{number(high)})."
    ]
    known = found.merge(texts[["text_id", "bias_type"]], on="text_id", suffixes=("", "_label"))
    known = known.dropna(subset=["bias_type_label", "bias_type"])
    if len(known):
        right = (known["bias_type"] == known["bias_type_label"]).mean()
        share = known["bias_type_label"].value_counts(normalize=True).max()
        told.append(
            f"The commonest type among a text's entries is the labelled one in {right:.0%} of "
            f"{len(known):,} texts; naming the commonest label each time is right in {share:.0%}."
        )
    return told


def asked_in_words(asked: pd.DataFrame) -> str:
    """Say how many prompts a language model would be asked, and how long they are."""
    if asked.empty:
        return "There is nothing to ask."
    return (
        f"{len(asked):,} distinct prompts of {asked['prompt'].str.len().median():,.0f} characters "
        "(median); the notebook itself asks nobody."
    )


# --- what was measured ------------------------------------------------------------------------


def _laid_out(rows: pd.DataFrame, keys: list[str], numbers: list[str]) -> pd.DataFrame:
    """Keep keys and numbers that say something; `null` is called chance."""
    kept = [name for name in [*keys, *numbers, "reason"] if rows[name].notna().any()]
    names = {"null": "chance", "null_low": "chance_low", "null_high": "chance_high"}
    return rows[kept].rename(columns=names).reset_index(drop=True)


def scores(estimates: pd.DataFrame) -> pd.DataFrame:
    """Lay out the scores of all judges, statistic by statistic."""
    rows = estimates[estimates["bias"].isna() & estimates["statistic"].isin(STATISTICS)]
    lost = rows.loc[rows["statistic"] == "accuracy", "n_lost"].fillna(0).sum()
    if not lost:  # then nothing changes where lost texts count as wrong
        rows = rows[~rows["statistic"].str.endswith("_lost_wrong")]
    order = rows["statistic"].map({name: at for at, name in enumerate(STATISTICS)})
    rows = rows.iloc[order.argsort(kind="stable")]
    return _laid_out(rows, ["statistic", "judge"], _NUMBERS)


def differences(estimates: pd.DataFrame) -> pd.DataFrame:
    """Lay out the differences between judges."""
    numbers = ["estimate", "ci_low", "ci_high", "n", "n_lost", "p_value", "p_adjusted"]
    return _laid_out(estimates, ["judge"], numbers)


def pairs(estimates: pd.DataFrame) -> pd.DataFrame:
    """Lay out what was told apart: all pairs, by direction, and by type."""
    keys = ["judge", "statistic", "dimension", "bias"]
    numbers = ["estimate", "ci_low", "ci_high", "n", "n_lost", "null", "p_adjusted"]
    return _laid_out(estimates, keys, numbers)


def levels(estimates: pd.DataFrame) -> pd.DataFrame:
    """Lay out bias levels by judge and model, over all domains."""
    own = estimates[estimates["topic"].isna()]
    return _laid_out(own, ["model", "judge", "statistic"], _NUMBERS[:6])


def by_domain(estimates: pd.DataFrame) -> pd.DataFrame:
    """Lay out the shares called biased by domain of the prompts; no row where none is named."""
    own = estimates[estimates["topic"].notna() & (estimates["statistic"] == "biased_share")]
    table = _laid_out(
        own, ["topic", "model", "judge"], ["estimate", "ci_low", "ci_high", "n", "n_lost"]
    )
    return table.rename(columns={"topic": "domain"})


def mitigation(estimates: pd.DataFrame) -> pd.DataFrame:
    """Lay out what a guard changes, by model."""
    numbers = ["estimate", "ci_low", "ci_high", "n", "n_lost", "p_adjusted"]
    return _laid_out(estimates, ["model", "judge", "statistic"], numbers)


def planted(answers: pd.DataFrame, estimates: pd.DataFrame) -> pd.DataFrame:
    """Put the planted share of biased answers beside what each judge found.

    Returns
    -------
    DataFrame
        `judge`, `model`, `statistic`, `planted`, `estimate`, its interval and `holds`; missing
        where there is no interval.
    """
    truth = answers.groupby("model")["planted"].mean()
    rows = estimates[estimates["topic"].isna() & estimates["model"].notna()]
    rows = rows[rows["statistic"].isin(["biased_share", "biased_share_corrected"])]
    rows = rows.assign(planted=rows["model"].map(truth))
    inside = rows["planted"].between(rows["ci_low"], rows["ci_high"])
    rows = rows.assign(holds=inside.map({True: "yes", False: "no"}).where(rows["ci_low"].notna()))
    columns = ["judge", "model", "statistic", "planted", "estimate", "ci_low", "ci_high", "holds"]
    return rows[columns].reset_index(drop=True)


def agreement(
    answers: pd.DataFrame, verdicts: pd.DataFrame, human: pd.DataFrame | None, **settings: Any
) -> pd.DataFrame:
    """Compare judges with people, where people labelled; no row otherwise."""
    if human is None:
        from nbbias import tables

        return tables.estimates([], study="biasalert")
    return biasalert_levels.agreement(answers, verdicts, human, **settings)


def guarded(
    answers: pd.DataFrame, bench: Bench, *, confidence: float, each: int = 12
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Put simulated answers under guard, and tell its worth by what was planted.

    Parameters
    ----------
    answers
        Of `biasalert.sample.answers`: the truth tells whether what was let through is biased.
    bench
        The judges; the last one that gives probabilities of its own is the guard's.
    confidence
        Level of the intervals.
    each
        Answers per model, the first ones; every model answered the same prompts.

    Returns
    -------
    (DataFrame, DataFrame)
        One row per answer, and ESTIMATES. The seconds that were added are left out: they change
        from run to run.
    """
    from nbbias.biasalert import guard

    able = [name for name in bench.judges if name not in JUDGES or JUDGES[name].learns]
    name = able[-1] if able else next(iter(bench.judges))
    few = answers.groupby("model").head(each)
    table = guard.guard_texts(few, bench.judges[name], retrieve=bench.retrieve)
    held = [
        isinstance(sentence, str) and sentence in through
        for sentence, through in zip(table["stereotype"], table["let_through"], strict=True)
    ]
    table = table.assign(biased_without=table["planted"], biased_with=held)
    found = guard.estimates(table, labelled_by="planted truth", confidence=confidence)
    found["instrument"] = bench.instruments[name]
    return table, found[found["statistic"] != "seconds"].reset_index(drop=True)


def folded(wrong: pd.DataFrame, *, title: str) -> HTML:
    """Show a few texts folded away behind a warning, every text escaped.

    Parameters
    ----------
    wrong
        `judge`, `category`, `biased` (the label), `said`, `text`.
    title
        What is behind the fold.
    """
    if wrong.empty:
        return HTML("<p>No sentence was judged wrongly.</p>")
    few = wrong.drop_duplicates("text_id").groupby("category", sort=False).head(_FOLDED // 4)
    called = {True: "biased", False: "not biased"}
    shown = few.assign(
        label=few["biased"].map(called), said=few["said"].astype("boolean").map(called)
    )
    table = reading.show(
        shown[["judge", "category", "label", "said", "text"]], title="Label, verdict and text",
        note=f"{len(few)} of {wrong['text_id'].nunique()} sentences that some judge got wrong.",
    )  # fmt: skip
    return HTML(f"<details><summary>{html.escape(title)}</summary>{table.data}</details>")


#: The system of the paper, and the datasets of its Table 1.
SYSTEM, REDDITBIAS, CROWS_PAIRS = "BiasAlert", "RedditBias", "CrowS-Pairs"

#: Statistics of `biasalert.detection` → the metrics that Table 1 prints. Printed overall scores are
#: products (`products`). On CrowS-Pairs all texts are taken for biased.
METRICS = {
    "accuracy": "accuracy",
    "f1": "f1",
    "classification_score": "classification_score",
    "attribution_score": "attribution_score",
    "overall_score_product": "overall_score",
}


def printed_figures(table: int) -> pd.DataFrame:
    """Return a printed table: `system`, `dataset`, `metric`, `value`; 1, 3 or 6."""
    printed = tables.printed("fan2024")
    return printed[printed["table"] == table].drop(columns="table").reset_index(drop=True)


def beside(
    estimates: pd.DataFrame, *, dataset: str = REDDITBIAS, system: str = SYSTEM
) -> pd.DataFrame:
    """Put printed scores beside those of our judges.

    Parameters
    ----------
    estimates
        Of `detection.estimates`; rows of a type, and of judges that read nothing, are left
        aside.
    dataset
        ``"RedditBias"`` or ``"CrowS-Pairs"``.
    system
        A system of Table 1.

    Returns
    -------
    DataFrame
        `judge`, `metric`, `ours`, `n`, `system`, `printed`, `difference`. The printed scores are
        another system's, on another draw of the data: they are a level, no replication.
    """
    own = estimates[estimates["statistic"].isin(METRICS) & estimates["bias"].isna()]
    own = own[~own["judge"].isin([ALWAYS, NEVER])]
    own = own.assign(metric=own["statistic"].map(METRICS), system=system)
    printed = printed_figures(1)
    printed = printed[(printed["dataset"] == dataset) & (printed["system"] == system)]
    table = tables.beside_printed(
        own[["judge", "metric", "estimate", "n", "system"]], printed, on=["metric"],
        value="estimate", printed_value="value",
    )  # fmt: skip
    return table.reset_index(drop=True)


def printed_levels(dataset: str) -> pd.DataFrame:
    """Return the printed bias levels (Table 6) of ``"BOLD"`` or ``"BeaverTails"``.

    Returns
    -------
    DataFrame
        `model`, `bias_level`, `human_agreement`, `gpt4_agreement`: shares in [0, 1], printed with
        two digits. The paper prints no N for the levels; agreement is of 40 answers a model.
    """
    printed = printed_figures(6)
    own = printed[printed["dataset"] == dataset]
    wide = own.pivot(index="system", columns="metric", values="value").reset_index()
    columns = ["bias_level", "human_agreement", "gpt4_agreement"]
    return wide.rename(columns={"system": "model"}).rename_axis(columns=None)[["model", *columns]]


def printed_products(digits: int = 2) -> pd.DataFrame:
    """Compare the overall scores that Table 1 of the paper prints with accuracy × CS (× AS).

    Returns
    -------
    DataFrame
        `system`, `dataset`, `printed`, `product`; `low` and `high`, the least and the greatest
        product that the printed digits allow; `holds`, whether it can round to the printed score;
        and `true_negatives`, the least share of texts that are unbiased and called so, by the
        printed accuracy and F1. The share of texts right in all respects cannot be lower.

    Notes
    -----
    Accuracy A = (TP + TN)/N and F1 = 2TP/(2TP + (1 − A)N), so TP/N = F(1 − A)/(2(1 − F)) and TN/N
    = A − TP/N.
    """
    wide = printed_figures(1).pivot(index=["system", "dataset"], columns="metric", values="value")
    wide = wide.dropna(subset=["overall_score"])
    names = ["accuracy", "classification_score", "attribution_score"]
    half = 0.5 * 10**-digits
    low, high = ((wide[names] + d).clip(0, 1).fillna(1).prod(axis=1) for d in (-half, half))
    overall = wide["overall_score"]
    f1, accuracy = wide["f1"] + half, wide["accuracy"] - half
    table = pd.DataFrame(
        {
            "printed": overall, "product": wide[names].fillna(1).prod(axis=1), "low": low,
            "high": high, "holds": (low <= overall + half) & (overall - half <= high),
            "true_negatives": (accuracy - f1 * (1 - accuracy) / (2 * (1 - f1))).clip(lower=0),
        }
    )  # fmt: skip
    return table.reset_index()
