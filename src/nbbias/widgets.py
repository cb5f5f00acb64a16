"""Views for a live notebook, by ipywidgets: they show tables and hand on clicks.

What a widget holds goes to the browser, so no name of an axis or an identity stands in it before
its part is over, and every text is escaped: it comes from a model, and may hold HTML.
"""

from __future__ import annotations

import html
import os
import unicodedata
from collections.abc import Iterable
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any

import ipywidgets as w
import matplotlib.pyplot as plt
import pandas as pd
from IPython.display import Markdown

from nbbias import cogs_blind, cogs_fingerprint, cogs_judge_figures, figures, outputs
from nbbias.cogs_suite import Suite
from nbbias.errors import NbbiasError

#: What stands in place of the picker where nobody can click: in runs, on pages, in saved notebooks.
AWAY = (
    "Picking needs a live kernel: open notebooks/cogs.ipynb in JupyterLab (make lab) and run it "
    "to this cell."
)

_TEXT = (
    "white-space:pre-wrap;overflow-wrap:anywhere;unicode-bidi:isolate;overflow:auto;"
    "max-height:24em;line-height:1.5;padding:.5em .75em;box-sizing:border-box;"
    "border:1px solid var(--jp-border-color2,#ccc);border-radius:4px"
)
_GRID = {"grid_template_columns": "repeat(auto-fit, minmax(17em, 1fr))", "grid_gap": "1em"}
_MUTED = "color:var(--jp-ui-font-color1,#404040);opacity:.85"


def plain(text: str) -> str:
    """Make any text show as itself in HTML: no markup, nothing invisible that moves other text.

    Control characters, lone surrogates and marks of direction are shown by their code point.
    """
    shown = "".join(
        f"⟨U+{ord(one):04X}⟩"
        if unicodedata.category(one) in {"Cc", "Cs", "Cf"} and one not in "\n\t\u200c\u200d\u00ad"
        else one
        for one in text.replace("\r\n", "\n")
    )
    return html.escape(shown, quote=True)


def blind_picks(
    rounds: pd.DataFrame, suite: Suite, *, path: str | Path, confidence: float = 0.95,
    draws: int = 2000, seed: int = 0,
) -> w.Widget | Markdown:  # fmt: skip
    """Let a person pick blind among texts, and show the fingerprint of the picks.

    Parameters
    ----------
    rounds
        The table of `cogs_blind.rounds`.
    suite
        Lists the identities.
    path
        Where the picks are saved when the person asks for it, and taken up from: a CSV file that
        `ratings_path` reads.
    confidence, draws, seed
        As in `cogs_fingerprint.fingerprint`.

    Returns
    -------
    Widget or Markdown
        In a run by `nbbias`, where nobody can click, a sentence that says where to pick.

    Raises
    ------
    DataError, ContractError
        The file is there and holds no ratings.
    """
    if os.environ.get("NBBIAS_OUT"):
        return Markdown(AWAY)
    return BlindPicks(rounds, suite, path=path, confidence=confidence, draws=draws, seed=seed)


class BlindPicks(w.VBox):
    """The picker of `blind_picks`; a notebook that is saved with it keeps one sentence."""

    def __init__(
        self, rounds: pd.DataFrame, suite: Suite, *, path: str | Path, **options: Any
    ) -> None:
        self._rounds, self._suite, self._path = rounds, suite, Path(path).absolute()
        self._options = options
        self._picks = cogs_blind.resume(rounds, path)
        self._skipped: set[int] = set()
        self._trail: list[int] = []
        self._parts = [int(part) for part in rounds["part"].unique()]
        self._over = cogs_blind.finished(rounds, self._picks)
        self._part: int | None = None
        self._now: int | None = None
        self._head, self._asked, self._saved = w.HTML(), w.HTML(), w.HTML()
        self._cards, self._result = w.GridBox(layout=w.Layout(**_GRID)), w.VBox()
        self._cannot = _button("Cannot decide", partial(self._pick, None))
        self._skip = _button("Skip", self._skip_round)
        self._back = _button("Back", self._take_back)
        self._end = _button("End this part and show my result", self._end_part, style="primary")
        self._next = _button("Next part", self._begin_part, style="primary")
        self._save = _button("Save my picks", self._save_picks)
        others = w.HBox([self._end, self._next, self._cannot, self._skip, self._back])
        super().__init__(
            [self._head, self._asked, self._cards, self._result, others,
             w.HBox([self._save, self._saved])],
            layout=w.Layout(max_width="72em"),
        )  # fmt: skip
        if self._picks:
            self._tell(f"Taken up: {len(self._picks)} picks from {self._path}.")
        self._show_results()
        self._begin_part() if not self._over else self._show()

    def __repr__(self) -> str:
        return AWAY

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any] | None:
        bundle = super()._repr_mimebundle_(**kwargs)
        return bundle and {**bundle, "text/plain": AWAY}

    # --- what is shown ------------------------------------------------------------------------

    def _show(self) -> None:
        """Show the next round of this part, that none is left, or what has been found so far."""
        numbers = [] if self._part is None else cogs_blind.of_part(self._rounds, self._part)
        waiting = [n for n in numbers if n not in self._picks and n not in self._skipped]
        self._now = waiting[0] if waiting else None
        between, at_end = self._part is None, self._part is not None and not waiting
        all_over = len(self._over) == len(self._parts)
        for view, there in {
            self._asked: waiting, self._cards: waiting, self._cannot: waiting, self._skip: waiting,
            self._end: at_end, self._back: not between, self._result: between,
            self._next: between and not all_over,
        }.items():  # fmt: skip
            view.layout.display = None if there else "none"
        self._back.disabled, self._save.disabled = not self._trail, not self._picks
        where = f"<b>Part {self._part} of {len(self._parts)}</b>"
        at = len(numbers) - len(waiting)
        if waiting:
            self._head.value = _line(f"{where}, round {at + 1} of {len(numbers)}") + _bar(
                at, len(numbers)
            )
            self._show_round(self._rounds.loc[waiting[0]])
        elif at_end:
            told = "No round is left. Your result comes next; this part cannot be changed then."
            self._head.value = _line(f"{where}. {told}") + _bar(at, len(numbers))
        else:
            told = "" if all_over else " The next one is about another axis."
            self._head.value = _line(
                f"<b>Parts over: {len(self._over)} of {len(self._parts)}.</b>{told}"
            )

    def _show_round(self, one: pd.Series) -> None:
        criteria = "; ".join(map(plain, one["criteria"]))
        self._asked.value = (
            "<p style='margin:.25em 0 0;line-height:1.5'>Which text is the best answer to "
            f"“{plain(one['asked'])}”?<br>"
            f"<span style='{_MUTED}'>Look at: {criteria}</span></p>"
        )
        texts = one["texts"]
        if len(self._cards.children) != len(texts):
            self._cards.children = [self._card(i) for i in range(1, len(texts) + 1)]
        for card, text in zip(self._cards.children, texts, strict=True):
            body = f'<div dir="auto" tabindex="0" style="{_TEXT}">{plain(text)}</div>'
            card.children[0].value = body

    def _card(self, position: int) -> w.VBox:
        choose = _button(f"Choice {position}", partial(self._pick, position), style="primary")
        choose.layout.width = "calc(100% - 4px)"  # its margin is 2px on either side
        return w.VBox([w.HTML(), choose], layout=w.Layout(justify_content="space-between"))

    def _show_results(self) -> None:
        """Show what the parts that are over came to; nothing of one that is not."""
        over = self._rounds.index[self._rounds["part"].isin(self._over)]
        picks = {number: at for number, at in self._picks.items() if number in over}
        if not picks:
            self._result.children = [w.HTML(_line("Nothing was picked."))] if self._over else []
            return
        found = cogs_fingerprint.fingerprint(
            cogs_blind.ratings(self._rounds, picks), self._suite, parts=len(self._parts),
            **self._options,
        )  # fmt: skip
        told = cogs_fingerprint.in_words(
            found, parts=len(self._parts), confidence=self._options.get("confidence", 0.95)
        )
        self._result.children = [w.HTML(_fingerprint(found)), w.HTML(_listed(told))]

    def _tell(self, text: str) -> None:
        self._saved.value = f"<span role='status' style='{_MUTED}'>{plain(text)}</span>"

    # --- what is clicked ----------------------------------------------------------------------

    def _pick(self, position: int | None) -> None:
        if self._now is not None:
            self._picks[self._now] = position
            self._trail.append(self._now)
        self._show()

    def _skip_round(self) -> None:
        if self._now is not None:
            self._skipped.add(self._now)
            self._trail.append(self._now)
        self._show()

    def _take_back(self) -> None:
        if self._trail:
            last = self._trail.pop()
            self._picks.pop(last, None)
            self._skipped.discard(last)
        self._show()

    def _end_part(self) -> None:
        if self._part is not None:
            self._over = [*self._over, self._part]
        self._part, self._trail = None, []  # what has been shown cannot be taken back
        self._show_results()
        self._show()

    def _begin_part(self) -> None:
        self._part = next((part for part in self._parts if part not in self._over), None)
        self._show()

    def _save_picks(self) -> None:
        try:
            cogs_blind.save(self._rounds, self._picks, self._path)
        except NbbiasError as error:
            return self._tell(f"Not saved. {error}")
        unseen = "" if len(self._over) == len(self._parts) else (
            " The file names identities: look into it when you are done."
        )  # fmt: skip
        self._tell(f"{len(self._picks)} picks saved to {self._path}.{unseen}")
        return None


def _button(label: str, act: Any, *, style: str = "") -> w.Button:
    button = w.Button(
        description=label, button_style=style, layout=w.Layout(width="auto", flex="0 0 auto")
    )
    button.on_click(lambda _: act())
    return button


def _bar(at: int, of: int) -> str:
    return (
        f"<progress value='{at}' max='{of}' aria-label='progress' "
        "style='width:100%;height:6px;accent-color:var(--jp-brand-color1,#1976d2)'></progress>"
    )


def _line(markup: str) -> str:
    return f"<div role='status' style='margin:.25em 0'>{markup}</div>"


def _listed(sentences: Iterable[str]) -> str:
    lines = "".join(f"<li>{plain(one)}</li>" for one in sentences)
    return f"<ul style='margin:.5em 0;line-height:1.5;max-width:52em'>{lines}</ul>"


def _fingerprint(estimates: pd.DataFrame) -> str:
    figures.use_style()
    figure = cogs_judge_figures.own_picks(estimates)
    buffer = BytesIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None})
    plt.close(figure)
    alt = (
        "Share of your picks by identity and by position, with intervals, and what chance gives; "
        "the same numbers stand below."
    )
    return outputs.inline(buffer.getvalue(), alt=alt)
