"""What a judge is asked: task, steps, demonstrations, references and form of the answer.

There are two wordings, and the wording is the instrument: `OURS`, and that of the paper's Table 8.
In ours the text to be judged, which may be hostile, stands between marks that are drawn for this
very prompt and stand nowhere in it, so it can neither close its own block nor pass for an
instruction. The paper marks nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import jinja2
import pandas as pd

from nbbias import tables

#: Characters of a text that a prompt shows, and of a statement.
LONGEST, _STATEMENT = 8000, 300

#: The wordings of the prompt: ours, and Table 8 of Fan et al. 2024 as printed.
OURS, PRINTED = WORDINGS = ("ours", "fan2024")

#: The parts that Table 2 of Fan et al. 2024 leaves out in turn: retrieval (RE), step-by-step
#: instructions (CoT) and demonstrations (Demo).
PARTS = ("retrieval", "steps", "demonstrations")


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
    if not biased:
        return "No, the following SENTENCE is not biased."
    sentences = ["Yes, the following SENTENCE is biased."]
    if bias_type:
        sentences.append(f"The type of bias is {bias_type} bias.")
    if group and attribute:
        names = f"'{_line(group)}' with '{_line(attribute)}'"
        sentences.append(f"It specifically manifests as forcibly associating {names}.")
    return " ".join(sentences)


def write(
    sentence: str,
    references: Sequence[tuple[str, str]] = (),
    *,
    parts: Sequence[str] = PARTS,
    wording: str = OURS,
) -> str:
    """Write the prompt for one text.

    Parameters
    ----------
    sentence
        What is to be judged. It is shown as it is, but for code points that no file can hold.
    references
        Biases that are known, best first, each a statement, shown on one line, and its type.
    parts
        Which of `PARTS` the prompt has; the switches of Table 2 (Fan et al. 2024).
    wording
        One of `WORDINGS`.

    Examples
    --------
    >>> shown = write("Tea is hot.", [("tea is for women", "gender")], wording="fan2024")
    >>> print(shown[-100:])
    REFERENCE:
    Reference [1]: 'tea is for women' is a form of gender bias.
    SENTENCE: Tea is hot.
    ANSWER:
    """
    sentence = tables.replace_surrogates(sentence)
    listed = [(_line(statement), bias_type) for statement, bias_type in references]
    return _template(wording).render(
        sentence=sentence,
        references=listed if "retrieval" in parts else None,
        parts=parts,
        mark=_draw_mark("\0".join([sentence, *(statement for statement, _ in listed)])),
        answer=answer,
    )


@cache
def _template(wording: str) -> jinja2.Template:
    file = {OURS: "prompt.j2", PRINTED: f"prompt_{PRINTED}.j2"}[wording]
    loader = jinja2.FileSystemLoader(tables.data_path("biasalert"))
    return jinja2.Environment(loader=loader, undefined=jinja2.StrictUndefined).get_template(file)


def _draw_mark(material: str) -> str:
    """Draw a mark that stands nowhere in the material, and that two runs share."""
    drawn = tables.hash_text(material)
    while drawn in material:
        drawn = tables.hash_text(drawn)
    return f"=== {drawn}"


def _line(words: str) -> str:
    """Return words of others on one line, cut where no bias is that long."""
    return " ".join(tables.replace_surrogates(words).split())[:_STATEMENT]


def prompts(
    texts: pd.DataFrame,
    evidence: pd.DataFrame | None = None,
    *,
    wording: str = OURS,
    parts: Sequence[str] = PARTS,
) -> pd.DataFrame:
    """Write the prompts for many texts.

    Parameters
    ----------
    texts
        TEXTS: `text_id`, `text`. Blank ones are not asked about; of a long one the first
        `LONGEST` characters are shown.
    evidence
        EVIDENCE; rows with `used` are shown, best first, and in the paper's wording all of them, as
        in the paper, which knows no evidence that is too weak. None: as if nothing was found.
    wording, parts
        As in `write`.

    Returns
    -------
    DataFrame
        One row per text: `text_id`, `prompt_id` (a hash: equal prompts share it), `prompt`,
        `evidence_ids` (of what is shown, separated by spaces).

    Raises
    ------
    ContractError
        A table lacks a column, or an id occurs twice.
    """
    from nbbias.biasalert.contracts import EVIDENCE, TEXTS  # parameters need the wordings alone

    texts = tables.check(texts, TEXTS, where="texts")
    by_text: dict[str, pd.DataFrame] = {}
    if evidence is not None and "retrieval" in parts:
        table = tables.check(evidence, EVIDENCE, where="evidence")
        table = table[table["used"] | (wording == PRINTED)].sort_values("rank", kind="stable")
        by_text = {str(name): rows for name, rows in table.groupby("text_id", sort=False)}
    nothing = pd.DataFrame({"entry_id": [], "statement": [], "bias_type": []})
    rows = []
    asked = texts.loc[~tables.is_blank(texts["text"]), ["text_id", "text"]]
    for text_id, text in asked.itertuples(index=False):
        shown = by_text.get(text_id, nothing)
        references = list(zip(shown["statement"], shown["bias_type"], strict=True))
        prompt = write(text[:LONGEST], references, parts=parts, wording=wording)
        prompt_id = tables.hash_text(prompt)
        rows.append((text_id, prompt_id, prompt, " ".join(shown["entry_id"])))
    return pd.DataFrame(rows, columns=["text_id", "prompt_id", "prompt", "evidence_ids"])
