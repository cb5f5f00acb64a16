"""Labels are taken in an open notebook: a sentence at a time, each label written at once.

Where the cursor stands in the field, the number of a choice is its label, and ``b`` goes back one.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import ipywidgets as widgets
import pandas as pd
from filelock import FileLock
from IPython.display import HTML

from nbbias import reading, tables
from nbbias.news.labels import MARKS, WORD, read_sheet
from nbbias.reading import markup, names
from nbbias.tables import escape

_TITLE = "Label"
_BACK = "b"


def write(path: str | Path, item: str, label: str | None) -> pd.DataFrame:
    """Write one label into a sheet, whole or not at all; return the sheet.

    The sheet is read anew: what somebody else wrote into it meanwhile stays.

    Examples
    --------
    >>> import tempfile
    >>> row = {"drawn": "a", "item": "1", "ask": WORD, "choices": "she | he", "label": ""}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "labels.csv"
    ...     pd.DataFrame([row]).to_csv(path, index=False)
    ...     write(path, "1", "she")["label"].tolist()
    ['she']
    """
    path = Path(path).absolute()
    with FileLock(path.with_name(f".{path.name}.lock")):
        sheet = read_sheet(path)
        sheet.loc[sheet["item"] == item, "label"] = pd.NA if label is None else label
        tables.write(path, tables.csv(sheet))
    return sheet


def ask(path: str | Path) -> widgets.VBox:
    """Ask for the labels of a sheet, those first that have none.

    Parameters
    ----------
    path
        The sheet that `nbbias label` wrote.

    Returns
    -------
    VBox
        A sentence, its choices as buttons, and a field that takes their numbers. The texts are
        shown as text, whatever they hold.

    Raises
    ------
    NbbiasError
        The sheet cannot be read.

    Examples
    --------
    >>> import tempfile
    >>> row = {"drawn": "a", "item": "1", "ask": WORD, "bias": "gender", "text": "A ⟦nun⟧ left.",
    ...        "choices": "female | male | nobody | unsure", "label": ""}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "labels.csv"
    ...     pd.DataFrame([row]).to_csv(path, index=False)
    ...     asked = ask(path)
    ...     asked.children[2].value = "1"  # typed
    ...     read_sheet(path)["label"].tolist()
    ['female']
    """
    sheet = read_sheet(path)
    own = sheet[sheet["drawn"].fillna("") != ""]
    order = own.sort_values("label", key=lambda one: one.isna(), ascending=False, kind="stable")
    rows = order.astype(object).where(order.notna(), "").to_dict("records")
    given = dict(zip(own["item"], own["label"], strict=True))
    at = [0]
    shown, told = widgets.HTML(), widgets.HTML()
    field = widgets.Text(description="Number", placeholder="1, 2, … or b for back")
    buttons = widgets.HBox(layout={"flex_flow": "row wrap"})

    def draw() -> None:
        done = sum(isinstance(given[row["item"]], str) for row in rows)
        told.value = markup.framed(
            markup.note(f"{done:,} of {len(rows):,} are labelled; each label is in the file."),
            title="",
        ).data
        if at[0] == len(rows):
            shown.value = markup.framed(markup.note("That was the last one."), title=_TITLE).data
            buttons.children = (_button("b  back", back),)
            return
        row = rows[at[0]]
        field.continuous_update = len(_choices(row)) < 10  # else a number ends with Enter
        shown.value = _asked(row, given[row["item"]]).data
        buttons.children = (
            *(
                _button(f"{i}  {choice}", lambda _, one=choice: take(one))
                for i, choice in enumerate(_choices(row), start=1)
            ),
            _button("b  back", back),
        )

    def take(label: str) -> None:
        item = rows[at[0]]["item"]
        write(path, item, label)
        given[item] = label
        at[0] += 1
        draw()

    def back(*_: object) -> None:
        at[0] = max(0, at[0] - 1)
        draw()

    def typed(change: dict[str, str]) -> None:
        said = change["new"].strip().lower()
        if not said:
            return
        choices = _choices(rows[at[0]]) if at[0] < len(rows) else []
        field.value = ""
        if said == _BACK:
            back()
        elif said.isdecimal() and 1 <= int(said) <= len(choices):
            take(choices[int(said) - 1])

    field.observe(typed, "value")
    draw()
    return reading.interactive.Interactive(
        [shown, buttons, field, told], static=lambda: _still(len(rows), list(given.values()))
    )


def _button(named: str, act: object) -> widgets.Button:
    button = widgets.Button(description=escape.visible(named), layout={"width": "auto"})
    button.on_click(act)
    return button


def _choices(row: dict[str, str]) -> list[str]:
    return row["choices"].split(" | ")


def _asked(row: dict[str, str], label: object) -> HTML:
    """Return the question: a sentence with what stands before it, its word marked."""
    said = row["text"]
    start, end = (said.find(one) for one in MARKS)
    plain = said
    spans = []
    if row["ask"] == WORD and 0 <= start < end:
        plain = said[:start] + said[start + 1 : end] + said[end + 1 :]
        spans = [markup.Span(start, end - 1, 0, "the word in question")]
    people = " or ".join(
        names.people(one) for one in _choices(row) if one not in {"nobody", "several", "unsure"}
    )
    question = (
        f"Whom does the marked word name here: {people}?"
        if row["ask"] == WORD
        else f"Whom is the last sentence mostly about: {people}?"
    )
    before = f'<p class="x-soft" dir="auto">{escape.html(row["before"])}</p>'
    body = f'{before}<p dir="auto"><strong>{markup.marked(plain, spans)}</strong></p>'
    now = f"Labelled {label}." if isinstance(label, str) else ""
    return markup.framed(body + markup.note(now), title=f"{row['bias']}: {question}")


def _still(count: int, given: Sequence[object]) -> HTML:
    done = sum(isinstance(label, str) for label in given)
    told = f"{done:,} of {count:,} were labelled when this was saved."
    return markup.framed(markup.note(told), title=_TITLE)
