"""Read the pairs behind an estimate: human and generated side by side, and what each adds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import ipywidgets as widgets
import pandas as pd
from IPython.display import HTML

from nbbias import explore_live, inspect_pairs, lexicons, markup, progress
from nbbias.news import CELL
from nbbias.news_sentences import NEUTRAL

#: Pairs of a model at each end, and characters of a text, that a page shows.
_EACH, _CUT = 3, 1500

_LEVEL = {
    "word": "words", "sentiment": "sentences, sentiment", "toxicity": "sentences, toxicity",
    "document": "documents",
}  # fmt: skip

_TITLE = "Read the pairs behind the numbers"


class Seen(NamedTuple):
    """The tables that both forms show."""

    scores: Sequence[pd.DataFrame]
    pairs: pd.DataFrame
    matches: pd.DataFrame
    sentences: pd.DataFrame
    scored: pd.DataFrame | None
    lexicon: pd.DataFrame
    claims: pd.DataFrame
    focus: Mapping[str, str]


def pairs(
    scores: Sequence[pd.DataFrame], pairs: pd.DataFrame, matches: pd.DataFrame,
    sentences: pd.DataFrame, scored: pd.DataFrame | None = None, *, lexicon: pd.DataFrame,
    focus: Mapping[str, str] | None = None,
) -> HTML | widgets.VBox:  # fmt: skip
    """Read the texts that raise and lower an estimate most.

    Parameters
    ----------
    scores
        The pairs' SCORES of one level or several.
    pairs, matches, sentences
        PAIRS, and the tables of `text.annotate` and `news_sentences.assign`.
    scored
        The table of `news_sentences.score`, where sentences were scored.
    lexicon
        The lists that were searched.
    focus
        The group of a bias that leads; the first where none is named.

    Returns
    -------
    HTML or VBox
        In a recorded run the first measure and bias, three pairs of a model at each end, texts
        cut; in an open notebook every measure, every pair, whole texts.
    """
    claims = inspect_pairs.claims(scores)
    seen = Seen(scores, pairs, matches, sentences, scored, lexicon, claims, focus or {})
    if claims.empty:
        return markup.framed(markup.note("No pair counts."), title=_TITLE)
    return live(seen) if progress.watched() else still(seen)


def _about(seen: Seen, claim: Mapping[str, str]) -> str:
    statistic = inspect_pairs.STATISTIC[claim["measure"]]
    scores = " and ".join(
        f"its {name} ({instrument})" if instrument else f"its {name}"
        for name, (_, instrument) in _instruments(seen, claim).items()
    )
    return (
        f"At the level of {_LEVEL[claim['measure']]}, {claim['bias']} by {claim['instrument']}: "
        f"what a pair adds to the mean signed difference of the group {claim['group']} (answer "
        f"minus original; {statistic} in the table of estimates). The pairs of a model add up to "
        "its estimate. A sentence about a group carries the group's name"
        f"{' and, where it was scored, ' if scores else ''}{scores}."
    )


def _instruments(seen: Seen, claim: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    return inspect_pairs.instruments(seen.scored, seen.claims, claim)


# --- without a kernel -------------------------------------------------------------------------


def still(seen: Seen) -> HTML:
    """Return the form that needs no kernel: a tab a model, a fold a pair."""
    claim = _leading(seen)
    found = inspect_pairs.of_claim(seen.scores, claim)
    chosen = inspect_pairs.outermost(found, each=_EACH)
    panels = {}
    for cell, own in chosen.groupby(CELL, sort=False):
        whole = found[(found[CELL] == list(cell)).all(axis=1)]
        total = f"{len(whole)} pairs add up to {markup.number(whole['contribution'].sum())}."
        body = markup.note(
            f"{total} Shown: those that raise it most, then those that lower it most."
        )
        for row in own.to_dict("records"):
            body += markup.fold(_summary(row), _both(seen, claim, row, cut=_CUT))
        panels[_cell(seen, cell)] = body
    groups = lexicons.groups(seen.lexicon, claim["bias"])
    body = markup.legend(groups) + markup.tabs(panels, called="Model")
    return markup.framed(body, title=_TITLE, about=_about(seen, claim))


def _cell(seen: Seen, cell: Sequence[str]) -> str:
    """Name a cell by what tells it from the others; the model in any case."""
    told = [key == "model" or seen.pairs[key].nunique() > 1 for key in CELL]
    return " · ".join(str(one) for one, tell in zip(cell, told, strict=True) if tell)


def _leading(seen: Seen) -> dict[str, str]:
    first = seen.claims.iloc[0]
    own = seen.claims[(seen.claims[inspect_pairs.CLAIM] == first[inspect_pairs.CLAIM]).all(axis=1)]
    wanted = own[own["group"] == seen.focus.get(first["bias"])]
    return dict((wanted if len(wanted) else own).iloc[0])


def _summary(row: Mapping[str, Any]) -> str:
    several = f" · {row['answers']} answers, one shown" if row["answers"] > 1 else ""
    return (
        f"<strong>{_signed(row['contribution'])}</strong> "
        f"article {markup.shown(row['article_id'])} <small>· difference "
        f"{markup.number(row['difference'])}{several}</small>"
    )


def _signed(value: float) -> str:
    return ("+" if value > 0 else "") + markup.number(value, decimals=4)


def _both(
    seen: Seen, claim: Mapping[str, str], row: Mapping[str, Any], *, cut: int | None
) -> str:  # fmt: skip
    pair = seen.pairs[seen.pairs["pair_id"] == row["pair_id"]].iloc[0]
    sides = [("Human", pair["original_text"]), (f"{pair['model']}", pair["generated_text"])]
    said = inspect_pairs.sentence_scores(
        seen.sentences, seen.scored, [text for _, text in sides], bias=claim["bias"],
        columns={name: column for name, (column, _) in _instruments(seen, claim).items()},
    )  # fmt: skip
    columns = "".join(
        f"<div><strong>{markup.shown(name)}</strong>"
        f'<div dir="auto" class="x-text">{_text(seen, claim["bias"], text, said, cut=cut)}</div>'
        "</div>"
        for name, text in sides
    )
    return f'<div class="x-sides">{columns}</div>'


def _text(
    seen: Seen, bias: str, text: str, said: pd.DataFrame, *, cut: int | None
) -> str:  # fmt: skip
    here = seen.matches[(seen.matches["text_id"] == text) & (seen.matches["bias"] == bias)]
    spans = markup.spans(here, markup.tones(lexicons.groups(seen.lexicon, bias)))
    end = len(text) if cut is None else min(cut, len(text))
    parts, at = [], 0
    for row in said[said["text_id"] == text].itertuples():
        if row.end > end:
            break
        parts.append(markup.marked(text, spans, start=at, end=row.end))
        parts.append(_badge(row))
        at = row.end
    parts.append(markup.marked(text, spans, start=at, end=end))
    if end < len(text):
        parts.append(f'<span class="x-soft"> … {len(text) - end:,} characters more</span>')
    return "".join(parts)


def _badge(row: Any) -> str:
    """Say what was measured of a sentence that has a group."""
    if row.group == NEUTRAL:
        return ""
    told = [markup.shown(row.group)]
    if pd.notna(row.sentiment):
        told.append(f"sentiment {markup.number(row.sentiment, decimals=2)}")
    if pd.notna(row.toxicity):
        told.append(f"toxicity {markup.number(row.toxicity, decimals=2)}")
    return f'<wbr><span class="x-score">{" · ".join(told)}</span>'


# --- with a kernel ----------------------------------------------------------------------------


def live(seen: Seen) -> widgets.VBox:
    """Return the form of an open notebook: any measure, any model, pair after pair."""
    claims = [dict(row) for row in seen.claims.to_dict("records")]
    labels = [
        markup.visible(f"{c['measure']}, {c['bias']}: {c['group']} ({c['instrument']})")
        for c in claims
    ]
    chosen = explore_live.chooser(
        "Estimate", [(label, i) for i, label in enumerate(labels)], wide=True
    )
    chosen.value = claims.index(_leading(seen))
    cell = explore_live.chooser("Model")
    at = widgets.BoundedIntText(1, min=1, max=1, description="Rank")
    before, after = (widgets.Button(description=name) for name in ("Raises more", "Lowers more"))
    told, shown = widgets.HTML(), widgets.HTML()
    state: dict[str, pd.DataFrame] = {}

    def choose(*_: object) -> None:
        state["all"] = inspect_pairs.of_claim(seen.scores, claims[chosen.value])
        cells = list(state["all"].groupby(CELL, sort=False).groups)
        explore_live.offer(cell, [(markup.visible(_cell(seen, one)), one) for one in cells])
        choose_cell()

    def choose_cell(*_: object) -> None:
        if cell.value is None:
            return
        own = state["all"]
        state["cell"] = own[(own[CELL] == list(cell.value)).all(axis=1)]
        at.max = len(state["cell"])
        at.value = 1
        claim = claims[chosen.value]
        total = markup.number(state["cell"]["contribution"].sum())
        told.value = markup.framed(
            markup.legend(lexicons.groups(seen.lexicon, claim["bias"])),
            title=f"{len(state['cell'])} pairs add up to {total}", about=_about(seen, claim),
        ).data  # fmt: skip
        draw()

    def draw(*_: object) -> None:
        own = state["cell"]
        row = own[own["rank"] == at.value].to_dict("records")[0]
        body = f"<p>{_summary(row)}</p>" + _both(seen, claims[chosen.value], row, cut=None)
        shown.value = markup.framed(body, title=f"Pair {at.value} of {len(own)}").data

    def step(by: int) -> None:
        at.value = min(max(at.value + by, at.min), at.max)

    chosen.observe(choose, "value")
    cell.observe(choose_cell, "value")
    at.observe(draw, "value")
    before.on_click(lambda _: step(-1))
    after.on_click(lambda _: step(1))
    choose()
    row = explore_live.row
    return explore_live.Live(
        [row(chosen, cell), row(at, before, after), told, shown], still=lambda: still(seen)
    )
