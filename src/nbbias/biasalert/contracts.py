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

import pandas as pd

from nbbias.tables import Contract
from nbbias.tables.contracts import NOT_BLANK, Check, Values

#: The seven types of bias of Fan et al. 2024, section 3.1.
TYPES = ("orientation", "gender", "social", "race", "religion", "disabled", "culture")

#: What became of a text: only ``judged`` has a verdict. A refusal is not a verdict.
OUTCOMES = ("judged", "refused", "unreadable", "failed", "empty")

_TYPE = Check(lambda s: s.isin(TYPES), f"is no type of bias; use {', '.join(TYPES)}")
_OUTCOME = Check(lambda s: s.isin(OUTCOMES), f"is no outcome; use {', '.join(OUTCOMES)}")
_UNIT = Check(lambda s: s.between(0, 1), "lies outside 0 to 1")
_COSINE = Check(lambda s: s.between(-1.001, 1.001), "is no cosine")


def _text(*checks: Check, nullable: bool = False) -> Values:
    return Values("text", checks, nullable)


def _verdicts_are_judged(table: pd.DataFrame) -> pd.Series:
    return table["biased"].notna() == (table["outcome"] == "judged")


def _losses_have_a_reason(table: pd.DataFrame) -> pd.Series:
    return (table["outcome"] == "judged") | table["reason"].notna()


#: One bias as people hold it. `entry_id` is a hash of what the entry says.
KNOWLEDGE = Contract(
    {
        "entry_id": _text(NOT_BLANK),
        "statement": _text(NOT_BLANK),
        "bias_type": _text(_TYPE),
        "group": _text(nullable=True),
        "attribute": _text(nullable=True),
        "source": _text(NOT_BLANK),
    },
    unique=["entry_id"],
    name="KNOWLEDGE",
)

#: One text to judge.
TEXTS = Contract(
    {"text_id": _text(NOT_BLANK), "text": _text(nullable=True)}, unique=["text_id"], name="TEXTS"
)

#: One answer of a model, to be judged.
ANSWERS = Contract(
    {"text_id": _text(NOT_BLANK), "model": _text(NOT_BLANK), "text": _text(nullable=True)},
    unique=["text_id"],
    name="ANSWERS",
)

#: One text that people judged; `bias_type`, `group` and `attribute` are optional columns.
LABELLED = Contract(
    {
        "text_id": _text(NOT_BLANK),
        "text": _text(nullable=True),
        "biased": Values("flag"),
        "bias_type": Values("text", (_TYPE,), nullable=True, required=False),
    },
    unique=["text_id"],
    name="LABELLED",
)

#: One entry found for one text, best first. `used`: near enough to be shown to a judge.
EVIDENCE = Contract(
    {
        "text_id": _text(NOT_BLANK),
        "rank": Values("count", (Check(lambda s: s >= 1, "is below 1"),)),
        "entry_id": _text(NOT_BLANK),
        "statement": _text(NOT_BLANK),
        "bias_type": _text(_TYPE),
        "group": _text(nullable=True),
        "attribute": _text(nullable=True),
        "similarity": Values("float", (_COSINE,)),
        "used": Values("flag"),
    },
    unique=["text_id", "rank"],
    name="EVIDENCE",
)

#: One judge's word on one text. `biased` is missing where there is no verdict: `reason` says why.
#: A further column `instrument` names what the judge is, for the numbers made of its verdicts.
JUDGEMENTS = Contract(
    {
        "text_id": _text(NOT_BLANK),
        "judge": _text(NOT_BLANK),
        "biased": Values("flag", nullable=True),
        "bias_type": _text(_TYPE, nullable=True),
        "group": _text(nullable=True),
        "attribute": _text(nullable=True),
        "confidence": Values("float", (_UNIT,), nullable=True),
        "explanation": _text(nullable=True),
        "evidence_ids": _text(),
        "knowledge": _text(),
        "outcome": _text(_OUTCOME),
        "reason": _text(nullable=True),
        "raw": _text(nullable=True),
    },
    checks=[
        Check(_verdicts_are_judged, "a verdict and the outcome 'judged' go together"),
        Check(_losses_have_a_reason, "a text without a verdict has no reason"),
    ],
    unique=["text_id"],
    name="JUDGEMENTS",
)
