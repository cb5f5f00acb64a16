"""What each part of the prompt does: Table 2 of Fan et al. 2024, with the judges that there are.

Retrieval (RE), step-by-step instructions (CoT) and demonstrations (Demo) are parts of what a
language model is asked; its recorded replies are read under each choice of them. Of judges that
read no prompt only the evidence can be left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from nbbias import tables
from nbbias.biasalert import detection
from nbbias.biasalert.judges import recorded
from nbbias.biasalert.judges.prompt import OURS, VARIANTS
from nbbias.biasalert.judges.registry import JUDGES

MEASURE = "ablation"

#: What is employed where a judge that reads no prompt is shown the evidence, or is not.
WITH, WITHOUT = "RE", "none"


def judge(
    judgements: pd.DataFrame,
    texts: pd.DataFrame,
    evidence: pd.DataFrame,
    *,
    replies_paths: Mapping[str, str | Path],
    worded: str = OURS,
) -> pd.DataFrame:
    """Collect judges' verdicts with and without parts of what they are shown.

    Parameters
    ----------
    judgements
        JUDGEMENTS of the run's judges on these texts.
    texts, evidence
        TEXTS and the EVIDENCE that was found for them.
    replies_paths
        Language model → its recorded replies to `judges.bench.prompts` with `ablation`.
    worded
        The wording that they were asked in.

    Returns
    -------
    DataFrame
        JUDGEMENTS with `system`, the judge, and `modules`, a key of `judges.prompt.VARIANTS`, or
        ``"RE"`` and ``"none"`` of judges that read no prompt; `judge` names both. What no reply was
        recorded for is left out.

    Examples
    --------
    >>> said = detection.constants(pd.DataFrame({"text_id": ["a"]}))
    >>> said = said.assign(judge=["classifier", "classifier_alone"])
    >>> texts = pd.DataFrame({"text_id": ["a"], "text": ["Tea."]})
    >>> judge(said, texts, pd.DataFrame(), replies_paths={})["judge"].tolist()
    ['classifier: RE', 'classifier: none']
    """
    found = []
    for name, entry in JUDGES.items():
        twin = f"{name}_alone"
        if entry.reads_evidence and {name, twin} <= set(judgements["judge"]):
            for own, modules in ((name, WITH), (twin, WITHOUT)):
                part = judgements[judgements["judge"] == own]
                found.append(part.assign(system=name, modules=modules))
    asked = texts[["text_id", "text"]].reset_index(drop=True)
    for name, path in replies_paths.items():
        for modules, form in VARIANTS.items():
            said = recorded.read_judgements(
                path, asked, evidence, judge=name, others=True, worded=worded, **form
            )
            if not (said["outcome"] == "failed").all():
                instrument = f"recorded replies, prompt {worded}"
                found.append(said.assign(system=name, modules=modules, instrument=instrument))
    if not found:
        return pd.DataFrame()
    whole = pd.concat(found, ignore_index=True)
    return whole.assign(judge=whole["system"] + ": " + whole["modules"])


def estimates(judged: pd.DataFrame, labelled: pd.DataFrame, **how: Any) -> pd.DataFrame:
    """Estimate how good each judge is with each choice of parts.

    Parameters
    ----------
    judged, labelled
        Of `judge`; LABELLED.
    **how
        As in `biasalert.detection.estimates`.

    Returns
    -------
    DataFrame
        ESTIMATES as of `biasalert.detection.estimates`, `measure` ablation, with the judge in
        `judge` and what was employed in `dimension`.
    """
    if judged.empty:
        return tables.estimates([], study=detection.STUDY)
    found = detection.estimates(judged, labelled, **how)
    found = found[found["statistic"] != "accuracy_selected"]
    names = judged.drop_duplicates("judge").set_index("judge")
    return found.assign(
        measure=MEASURE,
        dimension=found["judge"].map(names["modules"]),
        judge=found["judge"].map(names["system"]),
    ).reset_index(drop=True)
