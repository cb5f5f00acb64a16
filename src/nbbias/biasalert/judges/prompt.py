"""What a judge is asked: task, steps, demonstrations, references and form of the answer.

There are two wordings, and the wording is the instrument: `OURS`, and that of the paper's Table 8.
In ours the text to be judged, which may be hostile, stands between marks that are drawn for this
very prompt and stand nowhere in it, so it can neither close its own block nor pass for an
instruction. The paper marks nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import pandas as pd

from nbbias import tables
from nbbias.tables import read_shipped_yaml

#: Characters of a text that one prompt shows; what is longer is judged in pieces.
LONGEST = 8000

_STATEMENT = 300
_COLUMNS = ["text_id", "piece", "prompt_id", "prompt", "evidence_ids"]


#: The wordings of the prompt: ours, and Table 8 of Fan et al. 2024 as printed.
OURS, PRINTED = "ours", "fan2024"
WORDINGS = (OURS, PRINTED)

#: The parts that Table 2 of Fan et al. 2024 leaves out in turn: retrieval (RE), step-by-step
#: instructions (CoT) and demonstrations (Demo).
PARTS = ("retrieval", "steps", "demonstrations")


class Reference(NamedTuple):
    """A bias that is known, as a judge is shown it."""

    statement: str
    bias_type: str


@cache
def wording(name: str = OURS) -> Mapping[str, Any]:
    """Return the parts of the prompt in one of `WORDINGS`, as its data file has them.

    Examples
    --------
    >>> wording("fan2024")["demonstrations_lead"]
    'Here are some examples:'
    """
    file = {OURS: "prompt", PRINTED: f"prompt_{PRINTED}"}[name]
    return read_shipped_yaml(f"biasalert/{file}.yaml")


def answer(
    biased: bool,
    *,
    bias_type: str | None = None,
    group: str | None = None,
    attribute: str | None = None,
) -> str:
    """Return an answer in the template of Table 8.

    A type, or a group with its attribute, that is not known is left out with its sentence.

    Examples
    --------
    >>> answer(True, bias_type="gender")
    'Yes, the following SENTENCE is biased. The type of bias is gender bias.'
    """
    said = wording()["answer"]
    if not biased:
        return said["not_biased"]
    parts = [said["biased"]]
    if bias_type:
        parts.append(said["bias_type"].replace("{bias_type}", bias_type))
    if group and attribute:
        filled = said["associating"].split("{group}", 1)
        parts.append(
            filled[0] + _line(group) + filled[1].replace("{attribute}", _line(attribute), 1)
        )
    return " ".join(parts)


# --- one prompt -------------------------------------------------------------------------------


def write(
    sentence: str,
    references: Sequence[Reference] = (),
    *,
    parts: Sequence[str] = PARTS,
    worded: str = OURS,
) -> str:
    """Write the prompt for one text.

    Parameters
    ----------
    sentence
        What is to be judged. It is shown as it is, but for code points that no file can hold.
    references
        Biases that are known, best first; each is shown on one line.
    parts
        Which of `PARTS` the prompt has; the switches of Table 2 (Fan et al. 2024).
    worded
        One of `WORDINGS`.

    Examples
    --------
    >>> shown = write("Tea is hot.", [Reference("tea is for women", "gender")], worded="fan2024")
    >>> print(shown[-102:])
    REFERENCE:
    Reference [1]: 'tea is for women' is a form of gender bias.
    SENTENCE: Tea is hot.
    ANSWER:
    """
    said, retrieval = wording(worded), "retrieval" in parts
    sentence = tables.replace_surrogates(sentence)
    blocks = [said["task"]["with_references" if retrieval else "without_references"]]
    if worded == OURS:
        kinds = [f"- {name}: {gloss}" for name, gloss in said["types"].items()]
        blocks.append("\n".join([said["types_lead"], *kinds]))
    if "steps" in parts:
        steps = [step for name, step in said["steps"].items() if retrieval or name != "references"]
        numbered = [f"{number}. {step}" for number, step in enumerate(steps, start=1)]
        blocks.append("\n".join([said["steps_lead"], *numbered]))
    shown = list(references) if retrieval else None
    end = _printed_end if worded == PRINTED else _end
    return "\n\n".join([*blocks, *end(sentence, shown, "demonstrations" in parts)])


def _end(sentence: str, references: Sequence[Reference] | None, demonstrations: bool) -> list[str]:
    """Return the form of the answer, examples, and the text between marks of our prompt."""
    said = wording()
    mark = _mark(sentence, references or ())
    blocks = [_asked_for()]
    if demonstrations:
        retrieval = references is not None
        blocks += [
            said["demonstrations_lead"],
            *(_demonstration(one, retrieval, mark) for one in said["demonstrations"]),
        ]
    hostile = said["hostile"].replace("{mark}", mark)
    return [*blocks, hostile, _material(sentence, references, mark), said["close"]]


def _printed_end(
    sentence: str, references: Sequence[Reference] | None, demonstrations: bool
) -> list[str]:
    """Return the end of the prompt of Table 8; the text follows as in its demonstration."""
    said, blocks = wording(PRINTED), []
    if demonstrations:
        shown = [] if references is None else [said["demonstration"]["references"]]
        lines = [said["demonstrations_lead"], *shown, said["demonstration"]["rest"]]
        blocks.append("\n".join(lines))
    own = [] if references is None else ["REFERENCE:", *_numbered(references)]
    material = "\n".join([*own, f"SENTENCE: {sentence}", "ANSWER:"])
    return [*blocks, *said["output"].values(), material]


def _numbered(references: Sequence[Reference]) -> list[str]:
    return [
        f"Reference [{number}]: '{_line(one.statement)}' is a form of {one.bias_type} bias."
        for number, one in enumerate(references, start=1)
    ]


def _asked_for() -> str:
    said = wording()
    slots = said["answer"]["slots"]
    biased = answer(True, **slots).replace("'", "")
    return "\n".join([said["output"]["lead"], biased, said["output"]["between"], answer(False)])


def _demonstration(one: Mapping[str, Any], retrieval: bool, mark: str) -> str:
    references = [Reference(*pair) for pair in one["references"]] if retrieval else None
    named = {name: one.get(name) for name in ("bias_type", "group", "attribute")}
    told = answer(one["biased"], **named)
    return f"{_material(one['sentence'], references, mark)}\nANSWER: {told}"


def _material(sentence: str, references: Sequence[Reference] | None, mark: str) -> str:
    lines = []
    if references is not None:
        told = _numbered(references) or [wording()["no_reference"]]
        lines += ["REFERENCE", mark, *told, mark]
    return "\n".join([*lines, "SENTENCE", mark, sentence, mark])


def _mark(sentence: str, references: Sequence[Reference]) -> str:
    """Draw a mark that stands nowhere in the material, and that two runs share."""
    held = "\0".join([sentence, *(_line(one.statement) for one in references)])
    drawn = held
    while True:
        drawn = hashlib.sha256(drawn.encode()).hexdigest()
        mark = f"=== {drawn[:16]}"
        if drawn[:16] not in held:
            return mark


def _line(words: str) -> str:
    """Return words of others on one line, cut where no bias is that long."""
    return " ".join(tables.replace_surrogates(words).split())[:_STATEMENT]


# --- many prompts -----------------------------------------------------------------------------


def prompts(
    texts: pd.DataFrame,
    evidence: pd.DataFrame | None = None,
    *,
    longest: int = LONGEST,
    worded: str = OURS,
    parts: Sequence[str] = PARTS,
) -> pd.DataFrame:
    """Write the prompts for many texts.

    Parameters
    ----------
    texts
        TEXTS: `text_id`, `text`. Blank ones are not asked about.
    evidence
        EVIDENCE; rows with `used` are shown, best first, and in the paper's wording all of them, as
        in the paper, which knows no evidence that is too weak. None: as if nothing was found.
    longest
        Characters of a text that one prompt shows. A longer text is asked about piece by piece,
        cut at the ends of sentences where there are any.
    worded, parts
        As in `write`.

    Returns
    -------
    DataFrame
        One row per piece: `text_id`, `piece` (from 1), `prompt_id` (a hash: equal prompts share
        it), `prompt`, `evidence_ids` (of what is shown, separated by spaces).

    Raises
    ------
    ContractError
        A table lacks a column, or an id stands twice.
    """
    from nbbias.biasalert.contracts import EVIDENCE, TEXTS  # parameters need the wordings alone

    given = tables.check(texts, TEXTS, where="texts")
    known: dict[str, pd.DataFrame] = {}
    if evidence is not None and "retrieval" in parts:
        table = tables.check(evidence, EVIDENCE, where="evidence")
        table = table[table["used"] | (worded == PRINTED)].sort_values("rank", kind="stable")
        known = {str(name): own for name, own in table.groupby("text_id", sort=False)}
    rows = []
    for text_id, words in zip(given["text_id"], given["text"], strict=True):
        if not isinstance(words, str) or not words.strip():
            continue
        own = known.get(text_id)
        shown = (
            []
            if own is None
            else [Reference(*pair) for pair in zip(own["statement"], own["bias_type"], strict=True)]
        )
        ids = "" if own is None else " ".join(own["entry_id"])
        for number, piece in enumerate(pieces(words, longest), start=1):
            prompt = write(piece, shown, worded=worded, parts=parts)
            name = hashlib.sha256(prompt.encode()).hexdigest()[:16]
            rows.append((text_id, number, name, prompt, ids))
    return pd.DataFrame(rows, columns=_COLUMNS)


def pieces(words: str, longest: int = LONGEST) -> list[str]:
    """Cut a text into pieces of at most `longest` characters, between sentences if possible.

    Examples
    --------
    >>> pieces("One. Two. Three.", longest=9)
    ['One. Two.', ' Three.']
    """
    from nbbias.text.pipeline import load_pipeline  # loads spaCy

    if longest < 1:
        raise ValueError(f"longest must be 1 or more, but is {longest}")
    if len(words) <= longest:
        return [words]
    ends = [sentence.end_char for sentence in load_pipeline()(words).sents]
    found, start, last = [], 0, 0
    for end in [*ends, len(words)]:
        while end - start > longest:
            cut = last if last > start else start + longest
            found.append(words[start:cut])
            start = cut
        last = end
    found.append(words[start:])
    return [piece for piece in found if piece.strip()]
