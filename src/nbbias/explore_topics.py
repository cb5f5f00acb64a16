"""Look at topics: their words, whose they are, who writes about them, and in which sentences."""

from __future__ import annotations

from typing import Any, NamedTuple

import ipywidgets as widgets
import pandas as pd
from IPython.display import HTML

from nbbias import explore_live, inspect_topics, lexicons, markup, progress, topics_described
from nbbias.news_fits import Fit
from nbbias.news_sentences import NEUTRAL

_TITLE = "Look into a topic"
_ABOUT = (
    "Words by relevance (Sievert and Shirley): at λ = 1 the topic's frequent words lead, at 0 "
    "those that are rare elsewhere; stop words are kept, so a small λ tells topics apart. "
    "Residual: of each bias the topic is at most one group's, that of the largest residual if it "
    "is above the threshold; neutral sentences count as a group. Shares: means over texts with "
    "their intervals. Sentences are drawn at random among the group's, one a text. Topics that no "
    "sentence has are left out."
)

#: The weight by which topics are named and first shown.
_LAMBDA = 0.3

_MAP = "All topics on a map: LDAvis"
_COUNTS = (
    "LDAvis counts topics from 1: its topic 1 is topic 0 above. In a narrow window the view is "
    "wider than the page: move it sideways."
)
_NO_FIT = "No topics could be fitted, so there is nothing to look into."


class Seen(NamedTuple):
    """The tables that both forms show, of one fit."""

    fit: Fit
    words: pd.DataFrame
    residuals: pd.DataFrame
    shares: pd.DataFrame
    examples: pd.DataFrame
    matches: pd.DataFrame
    lexicon: pd.DataFrame
    frame: str


def topics(
    fits: list[Fit], sentences: pd.DataFrame, matches: pd.DataFrame, pairs: pd.DataFrame,
    tokens: pd.Series, *, lexicon: pd.DataFrame, confidence: float = 0.95, per_topic: int = 2,
    seed: int = 0,
) -> HTML | widgets.VBox:  # fmt: skip
    """Look into the topics of the first fit.

    Parameters
    ----------
    fits
        What `news_fits.fits` returned.
    sentences, matches, pairs, tokens
        What they were fitted and associated from.
    lexicon
        The lists that gave the sentences their groups.
    confidence
        Level of the intervals of shares.
    per_topic, seed
        Example sentences a topic and bias, and the start of their draw.

    Returns
    -------
    HTML or VBox
        Folds and tabs in a recorded run; widgets where somebody has the notebook open.
    """
    if not fits:
        return markup.framed(markup.note(_NO_FIT), title=_TITLE)
    fit = fits[0]
    found = inspect_topics.residuals(sentences, pairs, fit, lexicon=lexicon)
    view = inspect_topics.ldavis(fit, tokens)
    seen = Seen(
        fit, inspect_topics.words(fit), found,
        inspect_topics.by_model(pairs, fit, confidence=confidence),
        inspect_topics.examples(sentences, fit, found, per_topic=per_topic, seed=seed),
        matches, lexicon,
        inspect_topics.frame(view, title="LDAvis: topics, and words by relevance") if view else "",
    )  # fmt: skip
    return live(seen) if progress.watched() else still(seen)


# --- without a kernel -------------------------------------------------------------------------


def still(seen: Seen) -> HTML:
    """Return the form that needs no kernel: a fold a topic, chosen by group."""
    order = _order(seen)
    labels = {"all": order} | {
        f"{bias}: {group}": [t for t in order if t in own] for (bias, group), own in _held(seen)
    }
    kinds = {label: f"f{i}" for i, label in enumerate(labels)}
    listed = "".join(
        _fold(seen, topic, kind=" ".join(kinds[k] for k, own in labels.items() if topic in own))
        for topic in order
    )
    body = _filter(kinds) + f'<div class="x-list">{listed}</div>'
    if seen.frame:
        body += markup.fold(_MAP, markup.note(_COUNTS) + seen.frame)
    return markup.framed(body, title=_TITLE, about=_ABOUT)


def _filter(kinds: dict[str, str]) -> str:
    """Radio buttons that leave only one group's topics in the list below them."""
    rules = "".join(
        f".nbx:has(#x-topics-{kind}:checked) .x-list > :not(.{kind}){{display:none}}"
        for kind in kinds.values()
    )
    buttons = "".join(
        f'<input type="radio" name="x-topics" id="x-topics-{kind}"{" checked" if not i else ""}>'
        f'<label for="x-topics-{kind}">{markup.shown(label)}</label>'
        for i, (label, kind) in enumerate(kinds.items())
    )
    return (
        f'<style>{rules}</style><div class="x-tabs" role="group" aria-label="Topics of a group">'
        f'<span class="x-called">Topics of</span>{buttons}</div>'
    )


def _fold(seen: Seen, topic: int, *, kind: str) -> str:
    by_weight = {
        f"λ = {weight:g}": _words(seen.words[seen.words["relevance_lambda"] == weight], topic)
        for weight in inspect_topics.LAMBDAS
    }
    chosen = inspect_topics.LAMBDAS.index(_LAMBDA)
    body = markup.tabs(by_weight, called="Words", chosen=chosen) + _rest(seen, topic)
    return markup.fold(_summary(seen, topic), body, kind=kind)


def _summary(seen: Seen, topic: int) -> str:
    whose = seen.residuals[(seen.residuals["topic"] == topic) & seen.residuals["associated"]]
    told = "; ".join(
        f"{markup.shown(row.bias)}: {markup.shown(row.group)}" for row in whose.itertuples()
    )
    lead = markup.shown(" ".join(_leading(seen, topic, 6)))
    return f"<strong>Topic {topic}</strong> {lead} <small>· {told or 'no group'}</small>"


def _leading(seen: Seen, topic: int, count: int) -> list[str]:
    words = seen.words[seen.words["relevance_lambda"] == _LAMBDA]
    return list(words.loc[words["topic"] == topic, "word"].head(count))


def _words(words: pd.DataFrame, topic: int) -> str:
    own = words[words["topic"] == topic]
    return f"<p>{', '.join(markup.shown(word) for word in own['word'])}</p>"


def _rest(seen: Seen, topic: int) -> str:
    tables = f"<div>{_residuals(seen, topic)}</div><div>{_shares(seen, topic)}</div>"
    return f'<div class="x-flow">{tables}</div>' + _examples(seen, topic)


def _residuals(seen: Seen, topic: int) -> str:
    own = seen.residuals[seen.residuals["topic"] == topic]
    rows = own[["bias", "group", "sentences", "residual"]].assign(
        associated=own["associated"].map({True: "yes", False: ""})
    )
    return markup.table(rows)


def _shares(seen: Seen, topic: int) -> str:
    own = seen.shares[seen.shares["topic"] == topic]
    widest = max(float(own["share"].max()), 1e-9)
    wide = (6 * own["share"].fillna(0) / widest).round(2)
    drawn = [
        f'{markup.number(share)} <span class="x-bar" style="width:{width}em"></span>'
        for share, width in zip(own["share"], wide, strict=True)
    ]
    rows = own[["model", "prompt", "ci_low", "ci_high", "n"]].rename(
        columns={"ci_low": "from", "ci_high": "to", "n": "texts"}
    )
    rows.insert(2, "share of text", drawn)
    return markup.table(rows, html_columns=["share of text"])


def _examples(seen: Seen, topic: int) -> str:
    own = seen.examples[seen.examples["topic"] == topic]
    items = []
    for row in own.itertuples():
        groups = lexicons.groups(seen.lexicon, row.bias)
        at = seen.matches[
            (seen.matches["text_id"] == row.text_id) & (seen.matches["bias"] == row.bias)
            & (seen.matches["sentence_id"] == row.sentence_id)
        ]  # fmt: skip
        said = markup.marked(
            row.text_id, markup.spans(at, markup.tones(groups)), start=row.start, end=row.end
        )
        named = f'<span class="x-score">{markup.shown(row.bias)}: {markup.shown(row.group)}</span>'
        items.append(f'<p dir="auto" class="x-text">{named} {said}</p>')
    return "".join(items) or markup.note("No sentence of a group has this topic.")


def _order(seen: Seen) -> list[int]:
    """Topics with most sentences first; those without any are left out."""
    first = seen.residuals[seen.residuals["bias"] == seen.residuals["bias"].iloc[0]]
    sizes = first.groupby("topic")["sentences"].sum()
    return [int(t) for t in sizes[sizes > 0].sort_values(ascending=False, kind="stable").index]


def _held(seen: Seen) -> list[tuple[tuple[str, str], set[int]]]:
    """Return the topics of every group that has any, neutral sentences apart."""
    own = seen.residuals[seen.residuals["associated"] & (seen.residuals["group"] != NEUTRAL)]
    return [(key, set(t["topic"])) for key, t in own.groupby(["bias", "group"], sort=False)]


# --- with a kernel ----------------------------------------------------------------------------


def live(seen: Seen) -> widgets.VBox:
    """Return the form of an open notebook: choose a group, a topic and any weight."""
    order = _order(seen)
    held: dict[Any, Any] = {"all topics": order} | {
        markup.visible(f"{bias}: {group}"): [t for t in order if t in own]
        for (bias, group), own in _held(seen)
    }
    whose = explore_live.chooser("Topics of", [(label, label) for label in held])
    topic = explore_live.chooser("Topic", wide=True)
    weight = widgets.FloatSlider(
        _LAMBDA, min=0, max=1, step=0.05, description="λ", readout_format=".2f"
    )
    shown = widgets.HTML()

    def list_topics(*_: object) -> None:
        explore_live.offer(topic, [(_label(seen, t), t) for t in held[whose.value]])

    def draw(*_: object) -> None:
        if topic.value is None:
            return
        words = topics_described.words(seen.fit.model, relevance_lambda=weight.value, top=12)
        shown.value = markup.framed(
            _words(words, topic.value) + _rest(seen, topic.value),
            title=f"Topic {topic.value}, words at λ = {weight.value:.2f}", about=_ABOUT,
        ).data  # fmt: skip

    whose.observe(list_topics, "value")
    topic.observe(draw, "value")
    weight.observe(draw, "value")
    list_topics()
    draw()
    parts = [explore_live.row(whose, topic, weight), shown]
    if seen.frame:
        parts.append(widgets.HTML(markup.framed(seen.frame, title=_MAP, about=_COUNTS).data))
    return explore_live.Live(parts, still=lambda: still(seen))


def _label(seen: Seen, topic: int) -> str:
    return markup.visible(f"{topic}: {' '.join(_leading(seen, topic, 4))}")
