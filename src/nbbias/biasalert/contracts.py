"""The columns and kinds of the tables of the study biasalert.

A refusal is no verdict: where `outcome` is not ``judged``, `biased` is missing.

>>> import pandas as pd
>>> from nbbias import biasalert, tables
>>> row = dict.fromkeys(biasalert.contracts.JUDGEMENTS.columns, "") | {
...     "text_id": "t1", "judge": "mine", "biased": False, "bias_type": None, "confidence": None,
...     "outcome": "refused", "reason": "the provider refused"}
>>> tables.check(pd.DataFrame([row]), biasalert.contracts.JUDGEMENTS, where="mine")
Traceback (most recent call last):
    ...
nbbias.tables.errors.ContractError: mine: the table: a verdict and the outcome 'judged'...
>>> right = pd.DataFrame([row | {"biased": None}])
>>> tables.check(right, biasalert.contracts.JUDGEMENTS)["outcome"].tolist()
['refused']
"""

from __future__ import annotations

from nbbias.tables.contracts import Check, Contract, Values, fields

#: The seven types of bias of Fan et al. 2024, section 3.1, and age.
TYPES = ("orientation", "gender", "social", "race", "religion", "disabled", "culture", "age")

#: What became of a text: only ``judged`` has a verdict. A refusal is not a verdict.
OUTCOMES = ("judged", "refused", "unreadable", "failed", "empty")

_TYPE = Check(lambda s: s.isin(TYPES), f"is not a type of bias; use {', '.join(TYPES)}")
_OUTCOME = Check(lambda s: s.isin(OUTCOMES), f"is not an outcome; use {', '.join(OUTCOMES)}")
_NAMED_TYPE = Values("text", (_TYPE,))
_COSINE = Check(lambda s: s.between(-1.001, 1.001), "is not a cosine")


_VERDICTS_ARE_JUDGED = Check(
    lambda d: d["biased"].notna() == (d["outcome"] == "judged"),
    "a verdict and the outcome 'judged' go together",
)
_LOSSES_HAVE_A_REASON = Check(
    lambda d: (d["outcome"] == "judged") | d["reason"].notna(),
    "a text without a verdict has no reason",
)

#: One bias as people hold it. `entry_id` is a hash of what the entry says.
KNOWLEDGE = Contract(
    fields(name="entry_id statement source", optional="group attribute")
    | {"bias_type": _NAMED_TYPE},
    unique=["entry_id"],
    name="KNOWLEDGE",
)

#: One text to judge.
TEXTS = Contract(fields(name="text_id", optional="text"), unique=["text_id"], name="TEXTS")

#: One answer of a model, to be judged.
ANSWERS = Contract(
    fields(name="text_id model", optional="text"), unique=["text_id"], name="ANSWERS"
)

#: One text that people judged; `bias_type`, `group` and `attribute` are optional columns.
LABELLED = Contract(
    fields(name="text_id", optional="text")
    | {"biased": Values("flag")}
    | {"bias_type": _NAMED_TYPE._replace(nullable=True, required=False)},
    unique=["text_id"],
    name="LABELLED",
)

#: One entry found for one text, best first. `used`: near enough to be shown to a judge.
EVIDENCE = Contract(
    fields(name="text_id")
    | {"rank": Values("count", (Check(lambda s: s >= 1, "is below 1"),))}
    | fields(name="entry_id statement")
    | {"bias_type": _NAMED_TYPE}
    | fields(optional="group attribute")
    | {"similarity": Values("float", (_COSINE,)), "used": Values("flag")},
    unique=["text_id", "rank"],
    name="EVIDENCE",
)

#: One judge's word on one text. `biased` is missing where there is no verdict: `reason` says why.
#: A further column `instrument` names what the judge is, for the numbers made of its verdicts.
JUDGEMENTS = Contract(
    fields(name="text_id judge")
    | {"biased": Values("flag", nullable=True)}
    | {"bias_type": _NAMED_TYPE._replace(nullable=True)}
    | fields(optional="group attribute", share="confidence")
    | fields(optional="explanation", text="evidence_ids knowledge")
    | {"outcome": Values("text", (_OUTCOME,))}
    | fields(optional="reason raw"),
    checks=[_VERDICTS_ARE_JUDGED, _LOSSES_HAVE_A_REASON],
    unique=["text_id"],
    name="JUDGEMENTS",
)
