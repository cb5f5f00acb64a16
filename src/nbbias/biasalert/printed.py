"""What Fan et al. (2024) print, beside what is measured here."""

from __future__ import annotations

import re

import pandas as pd

from nbbias import tables
from nbbias.biasalert.detection import ALWAYS, NEVER

#: The system of the paper, and the datasets of its Tables 1 and 5.
SYSTEM, REDDITBIAS, CROWS_PAIRS, JIGSAW = "BiasAlert", "RedditBias", "CrowS-Pairs", "Jigsaw"

#: The datasets whose texts people judged, by which labelled files are known.
LABELLED = (REDDITBIAS, JIGSAW)

#: The prompts of its Table 6.
PROMPTS = ("BOLD", "BeaverTails")

#: Statistics of `biasalert.detection` → the metrics that Tables 1, 2 and 5 print. Printed overall
#: scores are products. On CrowS-Pairs all texts are taken for biased. The column OS of
#: Table 5, beside one called Overall, is taken for the share of usable replies (its section 4.1).
METRICS = {
    "accuracy": "accuracy",
    "usable_share": "usable_share",
    "f1": "f1",
    "classification_score": "classification_score",
    "attribution_score": "attribution_score",
    "overall_score_product": "overall_score",
}


def named(file: str, *datasets: str) -> str | None:
    """Return the dataset that a file is named after: printed figures are about no other texts.

    Examples
    --------
    >>> named("bold_prompts", *PROMPTS), named("leobold", *PROMPTS)
    ('BOLD', None)
    """
    words = re.split(r"[^a-z]+", file.lower())
    return next((name for name in datasets if name.lower() in words), None)


def figures(table: int) -> pd.DataFrame:
    """Return a printed table: `system`, `dataset`, `metric`, `value`; 1, 3, 5 or 6.

    Examples
    --------
    >>> figures(1).query("system == 'BiasAlert' and dataset == 'RedditBias'")["value"].tolist()[0]
    0.84
    """
    printed = tables.read_published("fan2024")
    own = printed[printed["table"] == table].reset_index(drop=True)
    return own.drop(columns=["table", "modules"])


def scores(dataset: str | None) -> pd.DataFrame:
    """Return the printed scores of detection on a dataset (none of None): Table 1, or 5 of Jigsaw.

    Examples
    --------
    >>> found = scores("Jigsaw").set_index(["system", "metric"])["value"]
    >>> found["BiasAlert", "accuracy"]
    np.float64(0.81)
    """
    table = figures(5 if dataset == JIGSAW else 1)
    return table[table["dataset"] == dataset].reset_index(drop=True)


def beside(
    estimates: pd.DataFrame, *, dataset: str | None = REDDITBIAS, system: str = SYSTEM
) -> pd.DataFrame:
    """Put printed scores beside those of our judges.

    Parameters
    ----------
    estimates
        Of `detection.estimates`; rows of a type, and of judges that read nothing, are left
        aside.
    dataset
        ``"RedditBias"``, ``"CrowS-Pairs"`` or ``"Jigsaw"``; None where the texts are another's.
    system
        A system of its table.

    Returns
    -------
    DataFrame
        `judge`, `metric`, `ours`, `n`, `system`, `printed`, `difference`. The printed scores are
        another system's, on another draw of the data: they are a level, no replication.
    """
    own = estimates[estimates["statistic"].isin(METRICS) & estimates["bias"].isna()]
    own = own[~own["judge"].isin([ALWAYS, NEVER])]
    own = own.assign(metric=own["statistic"].map(METRICS), system=system)
    usable = own[own["statistic"] == "accuracy"].copy()
    judged = usable["n"] + usable["n_lost"]
    usable = usable.assign(statistic="usable_share", estimate=usable["n"] / judged, n=judged)
    own = pd.concat([own, usable.assign(metric="usable_share")], ignore_index=True)
    printed = scores(dataset)
    printed = printed[printed["system"] == system]
    own = own[own["metric"].isin(printed["metric"]) | (own["metric"] != "usable_share")]
    table = tables.compare_with_published(
        own[["judge", "metric", "estimate", "n", "system"]],
        printed,
        on=["metric"],
        value="estimate",
        printed_value="value",
    )
    return table.reset_index(drop=True)


def levels(dataset: str) -> pd.DataFrame:
    """Return the printed bias levels (Table 6) of ``"BOLD"`` or ``"BeaverTails"``.

    Returns
    -------
    DataFrame
        `model`, `bias_level`, `human_agreement`, `gpt4_agreement`: shares in [0, 1], printed with
        two digits. The paper prints no N for the levels; agreement is of 40 answers a model.

    Examples
    --------
    >>> levels("BOLD").set_index("model").loc["OPT-6.7b", "bias_level"]
    np.float64(0.0)
    """
    printed = figures(6)
    own = printed[printed["dataset"] == dataset]
    wide = own.pivot(index="system", columns="metric", values="value").reset_index()
    columns = ["bias_level", "human_agreement", "gpt4_agreement"]
    return wide.rename(columns={"system": "model"}).rename_axis(columns=None)[["model", *columns]]
