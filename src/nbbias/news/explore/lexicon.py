"""Look into a word list: its words by side, their contexts, and what the estimate owes to each.

>>> import pandas as pd
>>> from nbbias import news
>>> texts = pd.Series(["A nurse met her."])
>>> found = news.explore.lexicon.find_term(texts, "nurse", bias="gender", group="female")
>>> found[["term", "start", "end"]].to_numpy().tolist()
[['nurse', 2, 7]]
"""

from __future__ import annotations

from collections.abc import Collection

import ipywidgets as widgets
import pandas as pd
from IPython.display import HTML, display
from markupsafe import Markup

from nbbias import reading, stats, tables
from nbbias.news import robustness, words
from nbbias.news.corpus import Read
from nbbias.reading import markup
from nbbias.tables import escape
from nbbias.text import annotate, lexicons

#: Words of a group that a page shows.
_SHOWN = 15

_TITLE = "Look into a word list"
_ABOUT = (
    "Matches in human originals and in answers. Change: of the group's mean signed difference when "
    "the word is left out, in the model where that changes most. Contexts are drawn at random. A "
    "word that means something else in context does not belong on the list."
)
_KEYS = ["bias", "group", "term"]


def lexicon(
    scores: pd.DataFrame,
    read: Read,
    *,
    inference: stats.InferenceSettings,
    changes: pd.DataFrame | None = None,
) -> HTML | widgets.VBox:
    """Look into the word lists behind the word-level estimates.

    Parameters
    ----------
    scores, read
        The table of `news.words.pair_scores`, and what it was made from.
    inference
        Level of the intervals of estimates that are made anew; start of the draw of contexts.
    changes
        The table of `news.robustness.without_each_term`, where it is there already.

    Returns
    -------
    HTML or VBox
        A table a bias. In an open notebook words can be left out and added, and the estimates are
        made again.
    """
    changes = robustness.without_each_term(scores, read) if changes is None else changes
    terms = list_terms(read, changes)
    panels = {bias: _table(rows, read, inference.seed) for bias, rows in terms.groupby("bias")}
    static = markup.framed(markup.tabs(panels, called="Bias"), title=_TITLE, about=_ABOUT)
    if not tables.is_interactive():
        return static
    bias = reading.interactive.chooser(
        "Bias", reading.interactive.options(read.lexicon["bias"].unique())
    )
    left_out = widgets.SelectMultiple(description="Leave out", rows=8)
    added = widgets.Text(description="Add", placeholder="a word", continuous_update=False)
    group = reading.interactive.chooser("to")

    def offer(*_: object) -> None:
        rows = terms[terms["bias"] == bias.value]
        left_out.value = ()
        left_out.options = reading.interactive.options(rows["term"])
        groups = lexicons.groups(read.lexicon, bias.value)
        reading.interactive.offer(group, reading.interactive.options(groups))

    def show(bias: str, left_out: tuple[str, ...], added: str, group: str | None) -> None:
        subset = select_bias(read, bias)
        edited = edit_matches(subset, left_out=left_out, added=added, group=group)
        table = compare_estimates(subset, edited, inference=inference)
        title = "Estimates with the whole list and with the edited one"
        display(markup.framed(markup.table(table), title=title))

    bias.observe(offer, "value")
    offer()
    controls = {"bias": bias, "left_out": left_out, "added": added, "group": group}
    return reading.interactive.Interactive(
        [reading.interactive.row(*controls.values()), widgets.interactive_output(show, controls)],
        static=lambda: static,
    )


def list_terms(read: Read, changes: pd.DataFrame) -> pd.DataFrame:
    """Count every term that was seen, on both sides, and say what it moves.

    Parameters
    ----------
    read
        What `news.annotate` returned.
    changes
        The table of `news.robustness.without_each_term`.

    Returns
    -------
    DataFrame
        By `bias`, `group`, `term`, most frequent first: `originals` and `answers` (matches in
        distinct texts); `change`: the largest change, over cells, of the group's mean signed
        difference when the term is left out, and the model, `changed_in`.
    """
    usable = read.pairs[read.pairs["lost"].isna()]
    matches = read.matches.astype(dict.fromkeys(_KEYS, str))
    sides = {"originals": usable["original_id"], "answers": usable["generated_id"]}
    counts = pd.DataFrame(
        {
            side: matches[matches["text_id"].isin(texts)].groupby(_KEYS, sort=False).size()
            for side, texts in sides.items()
        }
    )
    counts = counts.fillna(0).astype(int).rename_axis(_KEYS).reset_index()
    known = changes.dropna(subset="change")
    largest = known.loc[known.groupby(_KEYS)["change"].agg(lambda change: change.abs().idxmax())]
    largest = largest[[*_KEYS, "change", "model"]].rename(columns={"model": "changed_in"})
    table = counts.merge(largest, on=_KEYS, how="left")
    order = (-table["originals"] - table["answers"]).argsort(kind="stable")
    return table.iloc[order].reset_index(drop=True)


def _table(terms: pd.DataFrame, read: Read, seed: int) -> str:
    """Return the words of each group that stand most often, each in one context."""
    top = terms.groupby("group", sort=False).head(_SHOWN)
    matches = read.matches.astype(dict.fromkeys(_KEYS, str)).merge(top[_KEYS], on=_KEYS)
    drawn = matches.sample(frac=1, random_state=seed).drop_duplicates(_KEYS).reset_index(drop=True)
    around = annotate.context(read.texts, drawn, width=45)
    context = [
        Markup(
            f"{escape.html(row.left)}<mark>{escape.html(row.match)}</mark>{escape.html(row.right)}"
        )
        for row in around.itertuples()
    ]
    context = pd.Series(context, drawn.index, dtype=object)
    table = top.merge(drawn[_KEYS].assign(context=context), on=_KEYS, how="left")
    table = table.drop(columns="bias").rename(
        columns={"change": "change without it", "changed_in": "changed most in"}
    )
    more = markup.note(f"{len(terms) - len(top)} rarer words are in tables/terms.csv.")
    table = table.sort_values("group", kind="stable", ignore_index=True)
    return markup.table(table) + more


# --- another list -----------------------------------------------------------------------------


def select_bias(read: Read, bias: str) -> Read:
    """Return what one bias needs to be estimated anew."""
    parts = {name: getattr(read, name) for name in ("matches", "lexicon")}
    return read._replace(**{name: part[part["bias"] == bias] for name, part in parts.items()})


def find_term(texts: pd.Series, term: str, *, bias: str, group: str) -> pd.DataFrame:
    """Search the texts for one word or phrase, in any case: its matches."""
    row = {"bias": bias, "group": group, "term": term.strip(), "kind": "word", "case": "any"}
    return annotate.annotate(texts, pd.DataFrame([row]))[1]


def edit_matches(
    read: Read, *, left_out: Collection[str] = (), added: str = "", group: str | None = None
) -> Read:
    """Return one bias' corpus without some terms, and with another: it replaces what it overlaps.

    A word that a left-out phrase hid does not come up.
    """
    matches = read.matches[~read.matches["term"].isin(list(left_out))]
    if added.strip() and group:
        bias = str(read.lexicon["bias"].iloc[0])
        new = find_term(read.texts, added, bias=bias, group=group)
        both = matches.reset_index().merge(new[["text_id", "start", "end"]], on="text_id")
        overlaps = (both["start_x"] < both["end_y"]) & (both["start_y"] < both["end_x"])
        matches = pd.concat([matches.drop(index=both.loc[overlaps, "index"]), new])
    return read._replace(matches=matches)


def compare_estimates(
    whole: Read, edited: Read, *, inference: stats.InferenceSettings
) -> pd.DataFrame:
    """Put the differences by an edited list beside those by the whole one.

    Returns
    -------
    DataFrame
        By `model`, `prompt` and `group`: `whole list` and `edited list` with their intervals, and
        `n` and `n edited` articles.
    """
    keys = ["source", "model", "prompt", "group"]
    sides = []
    for read in (whole, edited):
        scores = words.pair_scores(read)
        table = words.estimates(scores, lexicon=read.lexicon, inference=inference)
        sides.append(table[table["statistic"] == "share_difference"].set_index(keys))
    table = pd.DataFrame(index=sides[0].index)
    for name, side in zip(("whole list", "edited list"), sides, strict=True):
        table[name] = side["estimate"]
        table[f"{name}, from"], table[f"{name}, to"] = side["ci_low"], side["ci_high"]
        table[f"{name}, N"] = side["n"]
    return table.reset_index()
