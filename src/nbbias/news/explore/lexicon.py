"""Look into a word list: its words by side, their contexts, and what the estimate owes to each.

>>> import pandas as pd
>>> from nbbias import news
>>> texts = pd.Series(["A nurse met her."])
>>> found = news.explore.lexicon.scan(texts, "nurse", bias="gender", group="female")
>>> found[["term", "start", "end"]].to_numpy().tolist()
[['nurse', 2, 7]]
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, NamedTuple

import ipywidgets as widgets
import numpy as np
import pandas as pd
from IPython.display import HTML

from nbbias import reading, stats, tables
from nbbias.news import robustness, words
from nbbias.news.corpus import Read, coverage
from nbbias.news.fits import CORPUS, HUMAN
from nbbias.reading import markup
from nbbias.tables import DataError
from nbbias.text import annotate, lexicons

#: Words of a group shown in the page, and those of them shown in context.
_SHOWN, _IN_CONTEXT = 15, 6

_TITLE = "Look into a word list"
_ABOUT = (
    "Matches in human originals and in answers, and their shares of all group words of the bias on "
    "that side. Change: of the group's mean signed difference when the word is left out, in the "
    "model where that changes most. Contexts are drawn at random, one a text."
)


class Seen(NamedTuple):
    """The tables that both forms show."""

    read: Read
    coverage: pd.DataFrame
    terms: pd.DataFrame
    sided: pd.DataFrame
    inference: stats.InferenceSettings


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
        Folds and tabs in a recorded run. In an open notebook words can be left out and added, and
        the estimates are made again.
    """
    if changes is None:
        changes = robustness.without_each_term(scores, read)
    sided = by_side(read)
    seen = Seen(read, coverage(read), term_table(sided, changes), sided, inference)
    return interactive(seen) if tables.is_interactive() else static(seen)


# --- without a kernel -------------------------------------------------------------------------


def static(seen: Seen) -> HTML:
    """Return the form that needs no kernel: a tab a bias, a fold a group and a word."""
    top = seen.terms.groupby(["bias", "group"], sort=False).head(_IN_CONTEXT)
    rows = seen.sided.merge(top[["bias", "group", "term"]])
    around = contexts(rows, seen.read.texts, per_corpus=1, seed=seen.inference.seed)
    panels = {}
    for bias in seen.read.lexicon["bias"].unique():
        groups = lexicons.groups(seen.read.lexicon, bias)
        panels[bias] = "".join(_group(seen, around, bias, group) for group in groups)
    return markup.framed(markup.tabs(panels, called="Bias"), title=_TITLE, about=_ABOUT)


def _group(seen: Seen, around: pd.DataFrame, bias: str, group: str) -> str:
    own = _of(seen.terms, bias, group)
    body = markup.table(_printed(own.head(_SHOWN)))
    if len(own) > _SHOWN:
        body += markup.note(f"{len(own) - _SHOWN} rarer words are in tables/terms.csv.")
    tone = lexicons.groups(seen.read.lexicon, bias).index(group)
    for term in own["term"].head(_IN_CONTEXT):
        here = _of(around, bias, group)
        here = here[here["term"] == term]
        body += markup.fold(f"“{markup.shown(term)}” in context", _contexts(here, tone))
    covered = _of(seen.coverage, bias, group)
    told = "".join(
        f"{row.terms:,} terms, {row.terms_seen:,} seen, {row.matches:,} matches in "
        f"{row.text_share:.0%} of texts"
        for row in covered.itertuples()
    )
    return markup.fold(f"<strong>{markup.shown(group)}</strong> <small>· {told}</small>", body)


def _of(table: pd.DataFrame, bias: str, group: str) -> pd.DataFrame:
    return table[(table["bias"] == bias) & (table["group"] == group)]


def _printed(terms: pd.DataFrame) -> pd.DataFrame:
    return terms.drop(columns=["bias", "group"]).rename(
        columns={
            "share_originals": "share, originals",
            "share_answers": "share, answers",
            "change": "change without it",
            "changed_in": "changed most in",
        }
    )


def _contexts(around: pd.DataFrame, tone: int) -> str:
    human = around["model"] == HUMAN[0]
    rows = []
    answers = around[~human].sort_values(["model", "prompt"], kind="stable")
    for row in pd.concat([around[human], answers]).itertuples():
        whose = "human" if row.model == HUMAN[0] else f"{row.model}, {row.prompt}"
        rows.append(
            f'<tr><td class="x-soft">{markup.shown(whose)}</td>'
            f'<td class="x-left" dir="auto">{markup.shown(row.left)}</td>'
            f'<td dir="auto"><mark class="x-{tone % 5}">{markup.shown(row.match)}</mark></td>'
            f'<td dir="auto">{markup.shown(row.right)}</td></tr>'
        )
    head = "".join(
        f'<th scope="col">{name}</th>' for name in ("text of", "before", "word", "after")
    )
    return (
        '<div class="x-scroll" tabindex="0"><table class="x-context">'
        f"<thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
    )


# --- with a kernel ----------------------------------------------------------------------------


class _Form(NamedTuple):
    """The widgets of the live form, and what was done to the list in it."""

    bias: widgets.Dropdown
    group: widgets.Dropdown
    term: widgets.Dropdown
    out: widgets.SelectMultiple
    new: widgets.Text
    told: widgets.HTML
    words: widgets.HTML
    context: widgets.HTML
    moved: widgets.HTML
    added: list[pd.DataFrame]
    whole: dict[str, pd.DataFrame]  # estimates with the whole list, by bias


def interactive(seen: Seen) -> widgets.VBox:
    """Return the form of an open notebook: leave words out, add some, and see what moves."""
    form = _Form(
        bias=reading.interactive.chooser(
            "Bias", reading.interactive.options(seen.read.lexicon["bias"].unique())
        ),
        group=reading.interactive.chooser("Group"),
        term=reading.interactive.chooser("In context"),
        out=widgets.SelectMultiple(description="Leave out", rows=8),
        new=widgets.Text(description="Add", placeholder="a word or a phrase"),
        told=widgets.HTML(),
        words=widgets.HTML(),
        context=widgets.HTML(),
        moved=widgets.HTML(),
        added=[],
        whole={},
    )
    add, reset = (
        widgets.Button(description=name, layout={"width": "auto"})
        for name in ("Add to the group", "The whole list again")
    )

    def then(act: Callable[[Seen, _Form], None]) -> Callable[..., None]:
        return lambda *_: act(seen, form)

    form.bias.observe(then(_choose_bias), "value")
    form.group.observe(then(_choose_group), "value")
    form.term.observe(then(_show_context), "value")
    form.out.observe(then(_measure), "value")
    add.on_click(then(_add_word))
    reset.on_click(then(_start_again))
    _choose_bias(seen, form)
    row = reading.interactive.row
    return reading.interactive.Interactive(
        [
            row(form.bias, form.group),
            form.words,
            row(form.out, form.new, add, reset),
            form.told,
            form.moved,
            row(form.term),
            form.context,
        ],
        static=lambda: static(seen),
    )


def _choose_bias(seen: Seen, form: _Form) -> None:
    form.added.clear()
    bias = form.bias.value
    own = seen.terms[seen.terms["bias"] == bias]
    n_seen = own["in_originals"] + own["in_answers"]
    reading.interactive.offer(
        form.group, reading.interactive.options(lexicons.groups(seen.read.lexicon, bias))
    )
    form.out.options = [
        (markup.visible(f"{term} ({of_group}, {n})"), term)
        for term, of_group, n in zip(own["term"], own["group"], n_seen, strict=True)
    ]
    form.out.value = ()
    _choose_group(seen, form)
    _measure(seen, form)


def _choose_group(seen: Seen, form: _Form) -> None:
    if form.group.value is None:
        return
    own = _of(seen.terms, form.bias.value, form.group.value)
    form.words.value = markup.framed(
        markup.table(_printed(own.head(2 * _SHOWN))), title="Words", about=_ABOUT
    ).data
    reading.interactive.offer(form.term, reading.interactive.options(own["term"]))


def _show_context(seen: Seen, form: _Form) -> None:
    if form.term.value is None:
        form.context.value = ""
        return
    own = _of(seen.sided, form.bias.value, form.group.value)
    around = contexts(
        own[own["term"] == form.term.value], seen.read.texts, per_corpus=2, seed=seen.inference.seed
    )
    tone = lexicons.groups(seen.read.lexicon, form.bias.value).index(form.group.value)
    form.context.value = markup.framed(_contexts(around, tone), title="In context").data


def _measure(seen: Seen, form: _Form) -> None:
    """Make the estimates again with the edited list, and show them beside the whole one's."""
    bias, left_out = form.bias.value, form.out.value
    own = of_bias(seen.read, bias)
    if bias not in form.whole:
        form.whole[bias] = estimates(own, confidence=seen.inference.confidence)
    edited = form.whole[bias]
    if left_out or form.added:
        kept = edited_lexicon(own.matches, left_out=left_out, added=form.added)
        edited = estimates(own._replace(matches=kept), confidence=seen.inference.confidence)
    form.moved.value = markup.framed(
        markup.table(_beside(compared(form.whole[bias], edited))),
        title="Estimates with the whole list and with the edited one",
        about=_edits(left_out, form.added),
    ).data


def _add_word(seen: Seen, form: _Form) -> None:
    try:
        found = scan(seen.read.texts, form.new.value, bias=form.bias.value, group=form.group.value)
    except DataError as error:
        form.told.value = markup.framed(markup.note(str(error)), title="").data
        return
    form.added.append(found)
    where = f"“{form.new.value.strip()}” stands {len(found):,} times in the texts."
    form.told.value = markup.framed(markup.note(where), title="").data
    _measure(seen, form)


def _start_again(seen: Seen, form: _Form) -> None:
    form.added.clear()
    form.told.value = ""
    form.out.value = ()
    _measure(seen, form)


def _beside(table: pd.DataFrame) -> pd.DataFrame:
    """Return the comparison with each interval in one column."""
    keys = ["model", "prompt", "statistic", "group"]
    keys = [*(["source"] if table["source"].nunique() > 1 else []), *keys]
    shown = table[keys].assign(statistic=table["statistic"].str.replace("_", " "))
    shown["whole list"], shown["edited list"] = table["whole_list"], table["edited"]
    shown["moved"] = table["moved"]
    for side, n in (("whole", "n"), ("edited", "n_edited")):
        ends = zip(table[f"{side}_low"], table[f"{side}_high"], strict=True)
        shown[f"{side}, interval"] = [
            f"{markup.number(low)} to {markup.number(high)}" for low, high in ends
        ]
        shown[f"{side}, N"] = table[n].astype(int)
    return shown


def _edits(left_out: tuple[str, ...], added: list[pd.DataFrame]) -> str:
    new = [str(table["term"].iloc[0]) for table in added if len(table)]
    parts = [f"left out: {', '.join(left_out)}"] if left_out else []
    parts += [f"added: {', '.join(new)}"] if new else []
    return "; ".join(parts) or "Nothing is left out or added."


_TERM = ["bias", "group", "term"]

#: Permutations behind chance levels that are not shown: as few as a parameter may be.
_DRAWS = 100


def by_side(read: Read) -> pd.DataFrame:
    """Say of every match whose text it stands in.

    Returns
    -------
    DataFrame
        The matches with `model` and `prompt` (``"human"``, ``"-"`` for originals); a text that
        serves several models stands under each, once.
    """
    usable = read.pairs[read.pairs["lost"].isna()]
    human = dict(zip(CORPUS, HUMAN, strict=True))
    originals = pd.DataFrame({"text_id": usable["original_id"]}).assign(**human)
    answers = usable[["generated_id", *CORPUS]].rename(columns={"generated_id": "text_id"})
    whose = pd.concat([originals, answers]).drop_duplicates()
    # A name a match would be more than all else of the table.
    return read.matches.merge(whose.astype(dict.fromkeys(CORPUS, "category")), on="text_id")


def term_table(sided: pd.DataFrame, changes: pd.DataFrame) -> pd.DataFrame:
    """Count every term that was seen, on both sides, and say what it moves.

    Parameters
    ----------
    sided
        The table of `by_side`.
    changes
        The table of `news.robustness.without_each_term`.

    Returns
    -------
    DataFrame
        By `bias`, `group`, `term`: `in_originals`, `in_answers` (matches), their shares of all
        group words of the bias on that side, `share_originals` and `share_answers`; `change`: the
        largest change, over cells, of the group's mean signed difference when the term is left
        out, and `changed_in`, the cell. Most frequent first.
    """
    human = (sided["model"] == HUMAN[0]).rename("human")
    counts = sided.groupby([*_TERM, human], sort=False).size().unstack("human", fill_value=0)
    counts = counts.reindex(columns=[True, False], fill_value=0)
    counts.columns = pd.Index(["in_originals", "in_answers"])
    whole = counts.groupby("bias").transform("sum")
    shares = (counts / whole.where(whole > 0)).set_axis(
        ["share_originals", "share_answers"], axis=1
    )
    table = counts.join(shares).reset_index()
    own = changes[changes["statistic"] == "share_difference"].dropna(subset="change")
    largest = own.loc[own["change"].abs().groupby([own[key] for key in _TERM]).idxmax()]
    named = ["source", *CORPUS] if own["source"].nunique() > 1 else CORPUS
    told = [", ".join(map(str, row)) for row in largest[named].itertuples(index=False)]
    largest = largest.assign(changed_in=pd.Series(told, index=largest.index, dtype="str"))
    table = table.merge(largest[[*_TERM, "change", "changed_in"]], on=_TERM, how="left")
    order = (-(table["in_originals"] + table["in_answers"])).argsort(kind="stable")
    return table.iloc[order].reset_index(drop=True)


def contexts(
    sided: pd.DataFrame, texts: pd.Series, *, per_corpus: int, seed: int, width: int = 45
) -> pd.DataFrame:
    """Draw matches of every term from each corpus, one a text, with what stands around them.

    Returns
    -------
    DataFrame
        `bias`, `group`, `term`, `model`, `prompt`, `left`, `match`, `right`.
    """
    order = np.random.default_rng(seed).permutation(len(sided))
    drawn = sided.iloc[order].drop_duplicates([*_TERM, *CORPUS, "text_id"])
    drawn = drawn.groupby([*_TERM, *CORPUS], sort=False).head(per_corpus).reset_index(drop=True)
    around = annotate.context(texts, drawn, width=width)
    # Where the context was cut, so was a word.
    cut = drawn["start"] > width, drawn["end"] + width < drawn["text_id"].map(texts.str.len())
    sides = {
        "left": (r"^\S*\s?", "\N{HORIZONTAL ELLIPSIS} "),
        "right": (r"\s?\S*$", " \N{HORIZONTAL ELLIPSIS}"),
    }
    for (side, (word, mark)), where in zip(sides.items(), cut, strict=True):
        told = around[side].str.replace(word, mark, n=1, regex=True)
        around[side] = told.where(where, around[side])
    return pd.concat([drawn[[*_TERM, *CORPUS]], around[["left", "match", "right"]]], axis=1)


# --- another list -----------------------------------------------------------------------------


def scan(texts: pd.Series, term: str, *, bias: str, group: str) -> pd.DataFrame:
    """Search the texts for one new word or phrase, in any case.

    Raises
    ------
    DataError
        The word is blank.
    """
    if not term.strip():
        raise DataError("word", "type a word or a phrase to search for")
    row = {"bias": bias, "group": group, "term": term.strip(), "kind": "word", "case": "any"}
    return annotate.annotate(texts, pd.DataFrame([row]))[1]


def edited_lexicon(
    matches: pd.DataFrame, *, left_out: Collection[str], added: Sequence[pd.DataFrame]
) -> pd.DataFrame:
    """Return one bias's matches without some terms and with those of new ones.

    Where a new match overlaps others the longest counts, as in `text.annotate`. A word that a
    left-out phrase hid does not come up.
    """
    kept = matches[~matches["term"].isin(list(left_out))]
    if not any(len(table) for table in added):
        return kept
    new = pd.concat([table for table in added if len(table)])
    both = pd.concat([kept, new], ignore_index=True)
    # Only texts with a new match can hold an overlap.
    touched = both["text_id"].isin(new["text_id"])
    return pd.concat([both[~touched], _longest(both[touched])], ignore_index=True)


def _longest(matches: pd.DataFrame) -> pd.DataFrame:
    from nbbias.text.pipeline import load_pipeline  # loads spaCy

    lengths = {term: len(load_pipeline().make_doc(term)) for term in matches["term"].unique()}
    order = matches.assign(length=-matches["term"].map(lengths))
    order = order.sort_values(["length", "start"], kind="stable")
    taken: dict[Any, list[tuple[int, int]]] = {}
    kept = []
    for row in order.itertuples():
        spans = taken.setdefault(row.text_id, [])
        if all(row.end <= start or row.start >= end for start, end in spans):
            spans.append((row.start, row.end))
            kept.append(row.Index)
    return matches.loc[sorted(kept)]


def of_bias(read: Read, bias: str) -> Read:
    """Return what one bias needs to be estimated anew."""
    kept = {name: getattr(read, name) for name in ("matches", "lexicon")}
    return read._replace(**{name: own[own["bias"] == bias] for name, own in kept.items()})


def estimates(read: Read, *, confidence: float, seed: int = 0) -> pd.DataFrame:
    """Estimate one bias anew: the mean distance and the signed differences of `news.words`."""
    inference = stats.InferenceSettings(confidence, _DRAWS, seed)
    found = words.estimates(words.pair_scores(read), lexicon=read.lexicon, inference=inference)
    return found[found["statistic"].isin(["bias", "share_difference"])].reset_index(drop=True)


def compared(before: pd.DataFrame, after: pd.DataFrame) -> pd.DataFrame:
    """Put the estimates of an edited list beside those of the whole one.

    Returns
    -------
    DataFrame
        By `model`, `prompt`, `statistic` and `group`: `whole_list` and `edited` with their
        intervals (`whole_low`, …), `n` and `n_edited` pairs, `moved` (edited minus whole).
    """
    keys = ["source", "model", "prompt", "statistic", "group"]
    values = ["estimate", "ci_low", "ci_high", "n"]
    # A missing group is the same missing group on both sides.
    sides = [
        table.assign(group=table["group"].fillna(""))[keys + values] for table in (before, after)
    ]
    table = sides[0].merge(sides[1], on=keys, how="left", suffixes=("", "_edited"))
    table = table.rename(
        columns={
            "estimate": "whole_list",
            "ci_low": "whole_low",
            "ci_high": "whole_high",
            "estimate_edited": "edited",
            "ci_low_edited": "edited_low",
            "ci_high_edited": "edited_high",
        }
    )
    return table.assign(moved=table["edited"] - table["whole_list"])
