"""A judge on a type of bias that it has never learnt from.

Fan et al. (2024, appendix A.2) hold religion out and credit their knowledge with what the judge
still sees of it. Here each type is held out in turn, and the same judge, fitted on all types, is
the measure of what was lost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pandas as pd

from nbbias import stats, tables
from nbbias.biasalert import detection
from nbbias.biasalert.judges import attribution, classifier
from nbbias.biasalert.judges.registry import Settings, TrainingInput, make
from nbbias.tables import progress, require_columns

#: A judge without evidence, TEXTS → JUDGEMENTS; and what makes one of LABELLED and the type that
#: nothing is to be learnt of.
Asked = Callable[[pd.DataFrame], pd.DataFrame]
Fit = Callable[[pd.DataFrame, str], Asked]

#: What the name of a judge ends in where the type was held out.
UNSEEN = ", type unseen"


def judge(names: Iterable[str], labelled: pd.DataFrame, *, settings: Settings) -> pd.DataFrame:
    """Let judges judge each type of bias after learning from the other types only.

    Parameters
    ----------
    names
        Some of `judges.registry.HELD_OUT`: they read no evidence, so no knowledge of the type
        comes in by another way.
    labelled
        LABELLED with `split`.
    settings
        As in `judges.panel.fit`.

    Returns
    -------
    DataFrame
        As `leave_one_type_out`, for all judges, each called by its name and `UNSEEN`, with its
        `instrument`.
    """
    found = []
    for name in progress(list(names), "types held out"):
        used: list[str] = []

        def fit(
            train: pd.DataFrame, held_out: str, name: str = name, used: list[str] = used
        ) -> Asked:
            given = TrainingInput(train, settings, progress=False, without=held_out)
            made, instrument = make(name, given)
            used.append(instrument)
            return lambda texts: made(texts, None)

        own = leave_one_type_out(labelled, fit)
        found.append(own.assign(judge=name + UNSEEN, instrument=used[0] if used else name))
    return pd.concat(found, ignore_index=True) if found else pd.DataFrame()


def leave_one_type_out(
    labelled: pd.DataFrame, fit: Fit, *, cluster: str = "comment_id"
) -> pd.DataFrame:
    """Judge the texts of each bias type by a judge that was fitted on the others.

    Parameters
    ----------
    labelled
        LABELLED with `bias_type`. Where it has a column `split`, only rows of ``"train"`` are
        learnt from and only rows of ``"test"`` judged.
    fit
        Called with the LABELLED rows of the other types and the name of the type that is held out,
        of which nothing is to be learnt elsewhere; returns a judge, which is called with the TEXTS
        of that type (only `text_id` and `text`).
    cluster
        Rows whose cluster is among those to be judged are not learnt from.

    Returns
    -------
    DataFrame
        JUDGEMENTS of every judged text that names a type, with `held_out`, the type that was not
        learnt from, and `n_train`. Where the other types have fewer than ten texts of either
        label, the outcome is ``failed``, with that reason.

    References
    ----------
    Fan et al. 2024, appendix A.2, which holds religion out.

    Examples
    --------
    Whatever is fitted learns of race from texts about gender, and the other way round:

    >>> from nbbias.biasalert.detection import constants
    >>> labelled = pd.DataFrame({"text_id": [f"t{i}" for i in range(40)], "text": "a text",
    ...                          "biased": [True, False] * 20,
    ...                          "bias_type": ["race"] * 20 + ["gender"] * 20})
    >>> def fit(train, held_out):
    ...     print("learns from", set(train["bias_type"]))
    ...     return lambda texts: constants(texts).query("judge == 'always biased'")
    >>> found = leave_one_type_out(labelled, fit)
    learns from {'race'}
    learns from {'gender'}
    >>> found.groupby("held_out")["n_train"].agg(["size", "first"]).values.tolist()
    [[20, 20], [20, 20]]
    """
    require_columns(labelled, ["text_id", "text", "biased", "bias_type"], where="labelled")
    split = "split" in labelled
    learnt = labelled[labelled["split"] == "train"] if split else labelled
    judged = labelled[labelled["split"] == "test"] if split else labelled
    found = []
    for held_out in sorted(judged["bias_type"].dropna().unique()):
        asked = judged.loc[judged["bias_type"] == held_out, ["text_id", "text"]]
        asked = asked.reset_index(drop=True)
        rest = learnt[learnt["bias_type"].notna() & (learnt["bias_type"] != held_out)]
        if cluster in labelled:
            rest = rest[~rest[cluster].isin(judged.loc[judged["bias_type"] == held_out, cluster])]
        least = min((rest["biased"] == label).sum() for label in (True, False))
        said = (
            _none(asked, held_out)
            if least < classifier.FEWEST
            else fit(rest.reset_index(drop=True), str(held_out))(asked)
        )
        found.append(said.assign(held_out=held_out, n_train=len(rest)))
    return pd.concat(found, ignore_index=True) if found else pd.DataFrame()


def _none(asked: pd.DataFrame, held_out: str) -> pd.DataFrame:
    """Return JUDGEMENTS without a verdict."""
    reason = f"without {held_out} there are fewer than ten texts of either label to learn from"
    silent = np.full(len(asked), np.nan)
    lost = dict.fromkeys(asked["text_id"].astype(str), reason)
    said = attribution.Verdicts(silent >= 0, silent, lost=lost)
    return attribution.judgements(asked, said, judge="none")


def estimates(
    judgements: pd.DataFrame,
    unseen: pd.DataFrame,
    labelled: pd.DataFrame,
    *,
    correction: str = "holm",
    **settings: Any,
) -> pd.DataFrame:
    """Estimate how good judges are on types they never learnt from, and what that costs them.

    Parameters
    ----------
    judgements, labelled
        JUDGEMENTS of the same judges, fitted on all types; LABELLED that was judged.
    unseen
        Of `judge`.
    correction
        ``"holm"`` or ``"fdr_bh"``, over all judges and types.
    settings
        As in `biasalert.detection.by_type` and `biasalert.detection.differences` (`source`,
        `confidence`, `draws`, `seed`).

    Returns
    -------
    DataFrame
        ESTIMATES with the type in `bias`: accuracy, F1, recall and specificity of the judge whose
        name ends in `UNSEEN`, as `biasalert.detection.by_type`; and ``accuracy_difference``, unseen
        less seen, as `biasalert.detection.differences`: below 0 where not having learnt from the
        type costs accuracy.
    """
    if unseen.empty:
        return tables.estimates([], study=detection.STUDY)
    own = labelled[labelled["text_id"].isin(unseen["text_id"])]
    found = [detection.by_type(unseen, own, **settings)]
    changes = [
        detection.differences(
            pd.concat([said, judgements[judgements["judge"] == name.removesuffix(UNSEEN)]]),
            texts,
            correction=correction,
            **settings,
        ).assign(bias=str(held_out))
        for name, said in unseen.groupby("judge", sort=False)
        if name.removesuffix(UNSEEN) in set(judgements["judge"])
        for held_out, texts in own.groupby("bias_type", sort=True)
    ]
    if changes:
        change = pd.concat(changes, ignore_index=True)
        found.append(stats.adjust(change, method=correction))
    return pd.concat(found, ignore_index=True)
