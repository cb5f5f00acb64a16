"""A judge on a type of bias that it has never learnt from.

Fan et al. (2024, appendix A.2) hold religion out and credit their knowledge with what the judge
still sees of it. Here each type is held out in turn, and the same judge, fitted on all types, is
the measure of what was lost.

>>> from nbbias import biasalert
>>> f"classifier{biasalert.unseen.UNSEEN}"
'classifier, type unseen'
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pandas as pd

from nbbias import stats, tables
from nbbias.biasalert import detection
from nbbias.biasalert.judges import attribution, classifier
from nbbias.biasalert.judges.registry import Settings, TrainingInput, make
from nbbias.tables import progress, require_columns

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
        LABELLED with `split` and `bias_type`: rows of ``"train"`` are learnt from, but for those
        whose cluster (`comment_id`) is judged, and rows of ``"test"`` judged.
    settings
        As in `judges.panel.fit`.

    Returns
    -------
    DataFrame
        JUDGEMENTS of every tested text that names a type, each judge called by its name and
        `UNSEEN`, with its `instrument`, `held_out`, the type that was not learnt from, and
        `n_train`. Where the other types have fewer than ten texts of either label, the outcome is
        ``failed``, with that reason.

    References
    ----------
    Fan et al. 2024, appendix A.2, which holds religion out.
    """
    require_columns(labelled, ["text_id", "text", "biased", "bias_type", "split"], where="labelled")
    learnt = labelled[(labelled["split"] == "train") & labelled["bias_type"].notna()]
    test = labelled[labelled["split"] == "test"]
    parts = []
    for name in progress(list(names), "types held out"):
        for held_out, judged in test.groupby("bias_type", sort=True):
            train = learnt[learnt["bias_type"] != held_out]
            train = train[~train["comment_id"].isin(judged["comment_id"])].reset_index(drop=True)
            asked = judged[["text_id", "text"]].reset_index(drop=True)
            instrument = name
            if min((train["biased"] == label).sum() for label in (True, False)) < classifier.FEWEST:
                reason = f"without {held_out} there are fewer than ten texts of either label"
                lost = dict.fromkeys(asked["text_id"].astype(str), reason)
                nothing = attribution.Verdicts([None] * len(asked), lost=lost)
                judgements = attribution.judgements(asked, nothing, judge=name)
            else:
                given = TrainingInput(train, settings, progress=False, without=str(held_out))
                fitted, instrument = make(name, given)
                judgements = fitted(asked, None)
            described = {"judge": name + UNSEEN, "instrument": instrument, "held_out": held_out}
            parts.append(judgements.assign(**described, n_train=len(train)))
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()


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
