"""Read the pairs behind an estimate: human and generated side by side, and what each adds.

>>> import pandas as pd
>>> from nbbias import news
>>> key = {"source": "s", "model": "m", "prompt": "p", "measure": "sentiment", "reason": None}
>>> rows = [key | {"article_id": str(i), "pair_id": i, "difference_female": d}
...         for i, d in enumerate([0.1, -0.3])]
>>> found = news.explore.pairs.contributions(pd.DataFrame(rows), group="female")
>>> found[["article_id", "contribution"]].to_numpy().tolist()
[['0', 0.05], ['1', -0.15]]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import ipywidgets as widgets
import pandas as pd
from IPython.display import HTML

from nbbias import reading, tables
from nbbias.news import claims, tone, topics, words
from nbbias.news.corpus import CELL, NEUTRAL, SENTENCE, Read
from nbbias.news.tone import Scored
from nbbias.reading import markup
from nbbias.text import lexicons

#: Pairs of a model at each end, and characters of a text, that a page shows.
_EACH, _CUT = 3, 1500

_LEVEL = {
    "word": "words",
    "sentiment": "sentences, sentiment",
    "toxicity": "sentences, toxicity",
    "document": "documents",
}

_TITLE = "Read the pairs behind the numbers"


class Seen(NamedTuple):
    """The tables that both forms show."""

    scores: Sequence[pd.DataFrame]
    read: Read
    scored: Scored | None
    claims: pd.DataFrame
    focus: Mapping[str, str]


def pairs(
    scores: Sequence[pd.DataFrame],
    read: Read,
    scored: Scored | None = None,
    *,
    focus: Mapping[str, str] | None = None,
) -> HTML | widgets.VBox:
    """Read the texts that raise and lower an estimate most.

    Parameters
    ----------
    scores
        The pairs' SCORES of one level or several.
    read, scored
        What `news.annotate` and, where sentences were scored, `news.tone.score` returned.
    focus
        The group of a bias that leads; the first where none is named.

    Returns
    -------
    HTML or VBox
        In a recorded run the first measure and bias, three pairs of a model at each end, texts
        cut; in an open notebook every measure, every pair, whole texts.
    """
    claims = claim_table(scores)
    seen = Seen(scores, read, scored, claims, focus or {})
    if claims.empty:
        return markup.framed(markup.note("No pair counts."), title=_TITLE)
    return interactive(seen) if tables.is_interactive() else static(seen)


def _about(seen: Seen, claim: Mapping[str, str]) -> str:
    statistic = STATISTIC[claim["measure"]]
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
    return instruments(seen.scored, claim)


# --- without a kernel -------------------------------------------------------------------------


def static(seen: Seen) -> HTML:
    """Return the form that needs no kernel: a tab a model, a fold a pair."""
    claim = leading(seen)
    found = of_claim(seen.scores, claim)
    chosen = outermost(found, each=_EACH)
    seen = _cut_to(seen, chosen["pair_id"])
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
    groups = lexicons.groups(seen.read.lexicon, claim["bias"])
    body = markup.legend(groups) + markup.tabs(panels, called="Model")
    return markup.framed(body, title=_TITLE, about=_about(seen, claim))


def _cut_to(seen: Seen, pair_ids: pd.Series) -> Seen:
    """Leave out the sentences and words of all but some pairs: a corpus is gone through once."""
    read = seen.read
    shown = read.pairs.loc[read.pairs["pair_id"].isin(pair_ids), ["original_id", "generated_id"]]
    texts = shown.to_numpy().ravel()
    kept = {
        name: table[table["text_id"].isin(texts)]
        for name, table in (("sentences", read.sentences), ("matches", read.matches))
    }
    scored = seen.scored
    if scored is not None:
        own = scored.sentences[scored.sentences["text_id"].isin(texts)]
        scored = scored._replace(sentences=own)
    return seen._replace(read=read._replace(**kept), scored=scored)


def _cell(seen: Seen, cell: Sequence[str]) -> str:
    """Name a cell by what tells it from the others; the model in any case."""
    told = [key == "model" or seen.read.pairs[key].nunique() > 1 for key in CELL]
    return " · ".join(str(one) for one, tell in zip(cell, told, strict=True) if tell)


def leading(seen: Seen) -> dict[str, str]:
    """Return the claim of the first measure and bias, about the group in focus."""
    first = seen.claims.iloc[0]
    own = seen.claims[(seen.claims[CLAIM] == first[CLAIM]).all(axis=1)]
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


def _both(seen: Seen, claim: Mapping[str, str], row: Mapping[str, Any], *, cut: int | None) -> str:
    pair = seen.read.pairs[seen.read.pairs["pair_id"] == row["pair_id"]].iloc[0]
    texts = [("Human", int(pair["original_id"])), (f"{pair['model']}", int(pair["generated_id"]))]
    return sides(seen, claim, texts, cut=cut)


def sides(
    seen: Seen,
    claim: Mapping[str, str],
    texts: Sequence[tuple[str, int]],
    *,
    cut: int | None,
    badges: bool = True,
) -> str:
    """Return texts beside each other as HTML, each below its name, with the groups' words marked.

    Parameters
    ----------
    seen, claim
        What is shown, and which bias and instrument are meant.
    texts
        Name and number of each text.
    cut
        Characters of a text; all where None.
    badges
        Whether what was measured of a sentence stands behind it.
    """
    said = sentence_scores(
        seen.read,
        seen.scored,
        [text for _, text in texts],
        bias=claim["bias"],
        columns={name: column for name, (column, _) in _instruments(seen, claim).items()},
    )
    said = said if badges else said.iloc[:0]
    columns = "".join(
        f"<div><strong>{markup.shown(name)}</strong>"
        f'<div dir="auto" class="x-text">{_text(seen, claim["bias"], text, said, cut=cut)}</div>'
        "</div>"
        for name, text in texts
    )
    return f'<div class="x-sides">{columns}</div>'


def _text(seen: Seen, bias: str, text_id: int, said: pd.DataFrame, *, cut: int | None) -> str:
    text, matches = seen.read.texts[text_id], seen.read.matches
    here = matches[(matches["text_id"] == text_id) & (matches["bias"] == bias)]
    spans = markup.spans(here, markup.tones(lexicons.groups(seen.read.lexicon, bias)))
    end = len(text) if cut is None else min(cut, len(text))
    parts, at = [], 0
    for row in said[said["text_id"] == text_id].itertuples():
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


def interactive(seen: Seen) -> widgets.VBox:
    """Return the form of an open notebook: any measure, any model, pair after pair."""
    claims = [dict(row) for row in seen.claims.to_dict("records")]
    labels = [
        markup.visible(f"{c['measure']}, {c['bias']}: {c['group']} ({c['instrument']})")
        for c in claims
    ]
    chosen = reading.interactive.chooser(
        "Estimate", [(label, i) for i, label in enumerate(labels)], wide=True
    )
    chosen.value = claims.index(leading(seen))
    cell = reading.interactive.chooser("Model")
    at = widgets.BoundedIntText(1, min=1, max=1, description="Rank")
    before, after = (widgets.Button(description=name) for name in ("Raises more", "Lowers more"))
    told, shown = widgets.HTML(), widgets.HTML()
    state: dict[str, pd.DataFrame] = {}

    def choose(*_: object) -> None:
        state["all"] = of_claim(seen.scores, claims[chosen.value])
        cells = list(state["all"].groupby(CELL, sort=False).groups)
        reading.interactive.offer(cell, [(markup.visible(_cell(seen, one)), one) for one in cells])
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
            markup.legend(lexicons.groups(seen.read.lexicon, claim["bias"])),
            title=f"{len(state['cell'])} pairs add up to {total}",
            about=_about(seen, claim),
        ).data
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
    row = reading.interactive.row
    return reading.interactive.Interactive(
        [row(chosen, cell), row(at, before, after), told, shown], static=lambda: static(seen)
    )


#: What a table of scores is of; of several instruments each has its own estimate.
CLAIM = ["measure", "bias", "instrument"]

#: The estimate that the contributions of a measure add up to.
STATISTIC = {
    "word": "share_difference",
    "sentiment": "mean_difference",
    "toxicity": "mean_difference",
    "document": "share_difference",
}


def contributions(scores: pd.DataFrame, *, group: str) -> pd.DataFrame:
    """Say what each pair adds to the mean signed difference of a group.

    Parameters
    ----------
    scores
        SCORES of one measure, bias and instrument: of `news.words.pair_scores`,
        `news.tone.pair_scores` or `news.topics.pair_scores`.
    group
        The group whose difference is meant.

    Returns
    -------
    DataFrame
        By cell and `article_id`: `pair_id`, `answers` (repeated answers that are one unit),
        `difference` (answer minus original; with several fits of topics their mean), `contribution`
        and `rank` within the cell, 1 for what raises the mean most. The contributions of a
        cell add up to its estimate. Pairs that do not count have no row.
    """
    column = f"difference_{group}"
    scores = scores if "seed" in scores else scores.assign(seed=0)
    unit = [*CELL, "article_id"]
    answers = scores.groupby(unit)["pair_id"].nunique().rename("answers").reset_index()
    units = _units(scores)
    counted = units[units[column].notna() & units["reason"].isna()]
    n = counted.groupby([*CELL, "seed"])[column].transform("size")
    fits = counted.groupby(CELL)["seed"].transform("nunique")
    weighed = counted.assign(contribution=counted[column] / n / fits)
    grouped = weighed.groupby(unit, sort=False)
    table = grouped.agg(difference=(column, "mean"), contribution=("contribution", "sum"))
    first = weighed.drop_duplicates(unit)[[*CELL, "article_id", "pair_id"]]
    keys = [key for key in first if key in unit]
    table = table.reset_index().merge(first, on=keys).merge(answers, on=unit)
    table["rank"] = table.groupby(CELL)["contribution"].rank(method="first", ascending=False)
    table["rank"] = table["rank"].astype(int)
    return table.sort_values([*CELL, "rank"], kind="stable", ignore_index=True)


def _units(scores: pd.DataFrame) -> pd.DataFrame:
    """Return one row a unit of the estimate: repeats are pooled as its own module pools them."""
    groups = [c.removeprefix("difference_") for c in scores if c.startswith("difference_")]
    own = [g for g in groups if scores[f"difference_{g}"].notna().any()]
    pooling = {"word": words.pooling(own), "document": topics.POOLING}
    measure = scores["measure"].iloc[0] if len(scores) else ""
    return claims.per_article(scores, pooling.get(measure, tone.POOLING))


def outermost(contributions: pd.DataFrame, *, each: int) -> pd.DataFrame:
    """Return the pairs of every cell that raise its mean most, and those that lower it most.

    Returns
    -------
    DataFrame
        The rows, with `side` (``"raises"`` or ``"lowers"``); a pair that adds nothing is neither.
    """
    up = contributions[contributions["contribution"] > 0].groupby(CELL, sort=False).head(each)
    down = contributions[contributions["contribution"] < 0]
    down = down.iloc[::-1].groupby(CELL, sort=False).head(each)
    return pd.concat([up.assign(side="raises"), down.assign(side="lowers")], ignore_index=True)


def claim_table(scores: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """List what can be traced to pairs: `measure`, `bias`, `instrument`, `group`."""
    rows = []
    for table in scores:
        for key, own in table.groupby(CLAIM, sort=False):
            columns = [c for c in own if c.startswith("difference_") and own[c].notna().any()]
            rows += [(*key, c.removeprefix("difference_")) for c in columns]
    return pd.DataFrame(rows, columns=[*CLAIM, "group"])


def of_claim(scores: Sequence[pd.DataFrame], claim: dict[str, str]) -> pd.DataFrame:
    """Return the contributions behind one row of `claims`."""
    for table in scores:
        chosen = (table[CLAIM] == [claim[key] for key in CLAIM]).all(axis=1)
        if chosen.any():
            return contributions(table[chosen], group=claim["group"])
    return contributions(scores[0].iloc[:0], group=claim["group"])


def instruments(scored: Scored | None, claim: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """Say which scores of sentences belong to a claim.

    Returns
    -------
    dict
        Of ``"sentiment"`` and ``"toxicity"`` those that there are: the column of `scored` and its
        instrument. With a claim about sentiment it is the claim's own instrument, or none;
        else the first, which leads.
    """
    if scored is None:
        return {}
    listed = scored.measured
    if claim["measure"] == "sentiment":
        own = (listed["measure"] == "toxicity") | (listed["instrument"] == claim["instrument"])
        listed = listed[own]
    first = listed.drop_duplicates("measure").set_index("measure")[["column", "instrument"]]
    return {
        str(kind): (str(row[0]), str(row[1]))
        for kind, row in zip(first.index, first.to_numpy(), strict=True)
    }


def sentence_scores(
    read: Read,
    scored: Scored | None,
    texts: Sequence[int],
    *,
    bias: str,
    columns: Mapping[str, str],
) -> pd.DataFrame:
    """Return the sentences of some texts for one bias, with their group and scores.

    Parameters
    ----------
    read, scored
        What `news.annotate` and `news.tone.score` returned.
    texts, bias
        Whose sentences.
    columns
        Which columns of `scored` are the `sentiment` and the `toxicity`, as `instruments` says.

    Returns
    -------
    DataFrame
        `text_id`, `start`, `end`, `group`, `sentiment` and `toxicity`; NaN where there is none.
    """
    of_texts = read.sentences["text_id"].isin(list(texts))
    own = read.sentences[(read.sentences["bias"] == bias) & of_texts]
    table = own[[*SENTENCE, "start", "end", "group"]].sort_values(
        ["text_id", "start"], kind="stable"
    )
    if scored is not None:
        here = scored.sentences[scored.sentences["text_id"].isin(list(texts))]
        values = {name: here[column] for name, column in columns.items()}
        table = table.merge(here[SENTENCE].assign(**values), on=SENTENCE, how="left")
    missing = {name: float("nan") for name in ("sentiment", "toxicity") if name not in table}
    return table.assign(**missing)
