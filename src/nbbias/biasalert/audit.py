"""What judges add to a model's bias level by themselves: its answers with other people in them.

An answer's swap effect (`text.audit`) is its verdict, 1 where it is flagged, less the mean verdict
on the same answer about each group in turn, for every word list that it names. A level is the one
of swapped answers plus what hangs on whom they name. Of an answer that voices a prejudice about its
group alone that part holds the prejudice, too; of all others it is the judge's own.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from nbbias import stats, tables
from nbbias.biasalert import levels
from nbbias.biasalert.detection import STUDY, instruments
from nbbias.biasalert.judges.panel import JudgePanel
from nbbias.biasalert.judges.registry import JUDGES
from nbbias.text import audit, toxicity

SWAPPED, INSTRUMENT = "biased_share_swapped", "biased_share_instrument"

RECORDED = "its replies were recorded, and none is of an answer with another group in it"
SLOW = "it reads too slowly to judge every answer again for each group"

#: Answers beyond which judges that learn are not asked again: they embed a text in some hundredths
#: of a second, and there are up to a dozen texts for an answer.
MOST = 1000


def asked_again(panel: JudgePanel, answers: int) -> list[str]:
    """Return the judges that read so many answers again in seconds.

    Examples
    --------
    >>> judges = dict.fromkeys(["keywords", "tuned"])
    >>> asked_again(JudgePanel(judges, judges, None, 0), 300)
    ['keywords']
    """
    known = {name: JUDGES[name] for name in panel.judges if name in JUDGES}
    quick = [
        name for name, one in known.items() if one.quick and not (one.learns and answers > MOST)
    ]
    offline = toxicity.instrument(toxicity.OFFLINE)
    return [name for name in quick if name != "toxicity" or panel.instruments[name] == offline]


def swap_effects(answers: pd.DataFrame, panel: JudgePanel) -> pd.DataFrame:
    """Judge the answers that name a group once more with each group of its list in its place.

    Parameters
    ----------
    answers
        One row per answer: `text_id`, `text`.
    panel
        The judges; those of `asked_again` are asked.

    Returns
    -------
    DataFrame
        By `text_id` and `judge`: `named`, how many shipped lists the answer names, and `swap`, in
        [-1, 1] for each of them, added up; 0 where it names none, NaN where a word has no
        counterpart or the judge no verdict.

    Examples
    --------
    >>> from nbbias.biasalert.judges.registry import TrainingInput, Settings, make
    >>> judge, instrument = make("keywords", TrainingInput(pd.DataFrame(), Settings()))
    >>> panel = JudgePanel({"keywords": judge}, {"keywords": instrument}, None, 0)
    >>> answers = pd.DataFrame({"text_id": ["a"], "text": ["The woman left."]})
    >>> swap_effects(answers, panel)[["judge", "named", "swap"]].to_numpy().tolist()
    [['keywords', 1.0, 0.0]]
    """
    asked = asked_again(panel, len(answers))
    scores = {name: partial(_flagged, panel=panel, judge=name) for name in asked}
    texts = answers["text"].reset_index(drop=True)
    found = audit.score_texts(texts, lexicon=audit.load_all_lists(), scores=scores)
    found.insert(0, "text_id", answers["text_id"].to_numpy())
    return found.melt(["text_id", "named"], var_name="judge", value_name="swap")


def _flagged(texts: pd.Series, *, panel: JudgePanel, judge: str) -> np.ndarray:
    asked = pd.DataFrame({"text_id": np.arange(len(texts)).astype(str), "text": list(texts)})
    evidence = panel.retrieve(asked) if JUDGES[judge].reads_evidence else None
    said = panel.judges[judge](asked, evidence).set_index("text_id")["biased"]
    return said.reindex(asked["text_id"]).astype("boolean").to_numpy(float, na_value=np.nan)


def estimates(
    answers: pd.DataFrame,
    judgements: pd.DataFrame,
    *,
    swaps: pd.DataFrame,
    source: str | None = None,
    confidence: float = 0.95,
) -> pd.DataFrame:
    """Part each model's share of answers called biased: of swapped ones, and the judge's own.

    Parameters
    ----------
    answers, judgements, source, confidence
        As of `levels.estimates`.
    swaps
        Of `swap_effects`.

    Returns
    -------
    DataFrame
        ESTIMATES by judge and model: ``biased_share_swapped``, as ``biased_share`` but each answer
        counting as the share of the groups, one after the other in its place, with which it is
        flagged (kept within 0 and 1 where it names several lists); ``biased_share_instrument``, the
        rest, above 0 where more is flagged for whom answers name: an upper bound of what the judge
        adds, since a prejudice about one group is none about another (`stats.scorer_bias` over
        answers, or prompts that were asked repeatedly). The two add up to ``biased_share`` where
        all words have counterparts. NaN with the reason for a judge that was not asked again.

    Examples
    --------
    >>> answers = pd.DataFrame({"text_id": ["a", "b"], "model": "m"})
    >>> said = pd.DataFrame({"text_id": ["a", "b"], "judge": "j", "biased": [True, False]})
    >>> swaps = pd.DataFrame({"text_id": ["a", "b"], "judge": "j", "swap": [0.5, 0.0]})
    >>> found = estimates(answers, said.assign(instrument="i"), swaps=swaps)
    >>> found["estimate"].tolist()
    [0.25, 0.25]
    """
    verdicts = judgements[["text_id", "judge", "biased"]]
    table = answers.drop(columns=["judge", "biased"], errors="ignore").merge(verdicts, on="text_id")
    table = table.merge(swaps[["text_id", "judge", "swap"]], on=["text_id", "judge"], how="left")
    asked, used = set(swaps["judge"]), instruments(judgements)
    rows: list[dict[str, Any]] = []
    for (judge, model), own in table.groupby(["judge", "model"], sort=False):
        key = {"judge": judge, "model": model, "instrument": used[str(judge)]}
        if judge not in asked:
            why = SLOW if judge in JUDGES else RECORDED
            gap = key | {"estimate": np.nan, "n": 0, "n_lost": len(own), "reason": why}
            rows += [gap | {"statistic": name} for name in (SWAPPED, INSTRUMENT)]
            continue
        told = own["biased"].astype("boolean").astype("Float64").astype(float)
        swapped = (told - own["swap"]).clip(0, 1)
        rows.append(key | {"statistic": SWAPPED} | levels.share(own, swapped, confidence))
        prompts = levels.prompts_of(own)
        units = np.arange(len(own)) if prompts is None else prompts
        added = (told - swapped).groupby(units).mean()
        what = "answers" if prompts is None else "prompts"
        row = stats.scorer_bias(added, units=what, confidence=confidence, bounds=(-1.0, 1.0)).row()
        rows.append(key | {"statistic": INSTRUMENT} | row)
    return tables.estimates(
        rows, study=STUDY, measure=levels.MEASURE, source=source, confidence=confidence
    )
