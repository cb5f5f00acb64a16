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
import pandera.pandas as pa

from nbbias.tables import Contract

#: The seven types of bias of Fan et al. 2024, section 3.1.
TYPES = ("orientation", "gender", "social", "race", "religion", "disabled", "culture")

#: What became of a text: only ``judged`` has a verdict. A refusal is not a verdict.
OUTCOMES = ("judged", "refused", "unreadable", "failed", "empty")

_NOT_BLANK = pa.Check(lambda s: s.str.strip() != "", error="is blank")
_TYPE = pa.Check.isin(TYPES, error=f"is no type of bias; use {', '.join(TYPES)}")
_OUTCOME = pa.Check.isin(OUTCOMES, error=f"is no outcome; use {', '.join(OUTCOMES)}")
_UNIT = pa.Check.in_range(0, 1, error="lies outside 0 to 1")
_COSINE = pa.Check.in_range(-1.001, 1.001, error="is no cosine")


def _text(*checks: pa.Check, nullable: bool = False, unique: bool = False) -> pa.Column:
    return pa.Column(str, list(checks), nullable=nullable, unique=unique, coerce=True)


def _verdicts_are_judged(table: pd.DataFrame) -> pd.Series:
    return table["biased"].notna() == (table["outcome"] == "judged")


def _losses_have_a_reason(table: pd.DataFrame) -> pd.Series:
    return (table["outcome"] == "judged") | table["reason"].notna()


#: One bias as people hold it. `entry_id` is a hash of what the entry says.
KNOWLEDGE = Contract(
    {
        "entry_id": _text(_NOT_BLANK, unique=True),
        "statement": _text(_NOT_BLANK),
        "bias_type": _text(_TYPE),
        "group": _text(nullable=True),
        "attribute": _text(nullable=True),
        "source": _text(_NOT_BLANK),
    },
    name="KNOWLEDGE",
)

#: One text to judge.
TEXTS = Contract(
    {"text_id": _text(_NOT_BLANK, unique=True), "text": _text(nullable=True)},
    name="TEXTS",
)

#: One answer of a model, to be judged.
ANSWERS = Contract(
    {
        "text_id": _text(_NOT_BLANK),
        "model": _text(_NOT_BLANK),
        "text": _text(nullable=True),
    },
    name="ANSWERS",
)

#: One text that people judged; `bias_type`, `group` and `attribute` are optional columns.
LABELLED = Contract(
    {
        "text_id": _text(_NOT_BLANK, unique=True),
        "text": _text(nullable=True),
        "biased": pa.Column(bool, coerce=True),
        "bias_type": pa.Column(str, _TYPE, nullable=True, required=False),
    },
    name="LABELLED",
)

#: One entry found for one text, best first. `used`: near enough to be shown to a judge.
EVIDENCE = Contract(
    {
        "text_id": _text(_NOT_BLANK),
        "rank": pa.Column(int, pa.Check.ge(1), coerce=True),
        "entry_id": _text(_NOT_BLANK),
        "statement": _text(_NOT_BLANK),
        "bias_type": _text(_TYPE),
        "group": _text(nullable=True),
        "attribute": _text(nullable=True),
        "similarity": pa.Column(float, _COSINE, coerce=True),
        "used": pa.Column(bool, coerce=True),
    },
    checks=pa.Check(
        lambda d: ~d.duplicated(["text_id", "rank"]), error="a text has two entries of one rank"
    ),
    name="EVIDENCE",
)

#: One judge's word on one text. `biased` is missing where there is no verdict: `reason` says why.
#: A further column `instrument` names what the judge is, for the numbers made of its verdicts.
JUDGEMENTS = Contract(
    {
        "text_id": _text(_NOT_BLANK, unique=True),
        "judge": _text(_NOT_BLANK),
        "biased": pa.Column("boolean", nullable=True, coerce=True),
        "bias_type": _text(_TYPE, nullable=True),
        "group": _text(nullable=True),
        "attribute": _text(nullable=True),
        "confidence": pa.Column(float, _UNIT, nullable=True, coerce=True),
        "explanation": _text(nullable=True),
        "evidence_ids": _text(),
        "knowledge": _text(),
        "outcome": _text(_OUTCOME),
        "reason": _text(nullable=True),
        "raw": _text(nullable=True),
    },
    checks=[
        pa.Check(_verdicts_are_judged, error="a verdict and the outcome 'judged' go together"),
        pa.Check(_losses_have_a_reason, error="a text without a verdict has no reason"),
    ],
    name="JUDGEMENTS",
)
