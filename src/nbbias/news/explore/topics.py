"""Look at topics: their words, whose they are, who writes about them, and in which sentences.

>>> from nbbias import news
>>> news.explore.topics.frame("<p>&</p>", title="A page")[:43]
'<div class="x-scroll" tabindex="0"><iframe '
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import ipywidgets as widgets
import numpy as np
import pandas as pd
from IPython.display import HTML

from nbbias import reading, stats, tables, text
from nbbias.news import fits
from nbbias.news.corpus import NEUTRAL, SENTENCE, Read
from nbbias.news.fits import Fit, Fitted
from nbbias.reading import markup
from nbbias.tables import escape
from nbbias.text import lexicons
from nbbias.text.topics import TopicModel

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

    read: Read
    fit: Fit
    words: pd.DataFrame
    residuals: pd.DataFrame
    shares: pd.DataFrame
    examples: pd.DataFrame
    frame: str


def topics(
    fitted: Fitted, read: Read, *, inference: stats.InferenceSettings, per_topic: int = 2
) -> HTML | widgets.VBox:
    """Look into the topics of the first fit.

    Parameters
    ----------
    fitted, read
        What `news.fits.fit` returned, and what it was made from.
    inference
        Level of the intervals of shares, and the start of the draw of sentences.
    per_topic
        Example sentences a topic and bias.

    Returns
    -------
    HTML or VBox
        Folds and tabs in a recorded run; widgets where somebody has the notebook open.
    """
    if not fitted.fits:
        return markup.framed(markup.note(_NO_FIT), title=_TITLE)
    fit = fitted.fits[0]
    found = residuals(read, fit)
    drawn = examples(read.sentences, fit, found, per_topic=per_topic, seed=inference.seed)
    shown = read.matches["text_id"].isin(drawn["text_id"])  # the others' words are not marked
    view = ldavis(fit, fitted.tokens)
    seen = Seen(
        read._replace(matches=read.matches[shown]),
        fit,
        words(fit),
        found,
        by_model(read.pairs, fit, confidence=inference.confidence),
        drawn,
        frame(view, title="LDAvis: topics, and words by relevance") if view else "",
    )
    return interactive(seen) if tables.is_interactive() else static(seen)


# --- without a kernel -------------------------------------------------------------------------


def static(seen: Seen) -> HTML:
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
        for weight in LAMBDAS
    }
    chosen = LAMBDAS.index(_LAMBDA)
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
        groups, matches = lexicons.groups(seen.read.lexicon, row.bias), seen.read.matches
        at = matches[
            (matches["text_id"] == row.text_id)
            & (matches["bias"] == row.bias)
            & (matches["sentence_id"] == row.sentence_id)
        ]
        spans = markup.spans(at, markup.tones(groups))
        whole = seen.read.texts[row.text_id]
        said = markup.marked(whole, spans, start=row.start, end=row.end)
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


def interactive(seen: Seen) -> widgets.VBox:
    """Return the form of an open notebook: choose a group, a topic and any weight."""
    order = _order(seen)
    held: dict[Any, Any] = {"all topics": order} | {
        markup.visible(f"{bias}: {group}"): [t for t in order if t in own]
        for (bias, group), own in _held(seen)
    }
    whose = reading.interactive.chooser("Topics of", [(label, label) for label in held])
    topic = reading.interactive.chooser("Topic", wide=True)
    weight = widgets.FloatSlider(
        _LAMBDA, min=0, max=1, step=0.05, description="λ", readout_format=".2f"
    )
    shown = widgets.HTML()

    def list_topics(*_: object) -> None:
        reading.interactive.offer(topic, [(_label(seen, t), t) for t in held[whose.value]])

    def draw(*_: object) -> None:
        if topic.value is None:
            return
        words = text.topics.describe(seen.fit.model, relevance_lambda=weight.value, top=12)
        shown.value = markup.framed(
            _words(words, topic.value) + _rest(seen, topic.value),
            title=f"Topic {topic.value}, words at λ = {weight.value:.2f}",
            about=_ABOUT,
        ).data

    whose.observe(list_topics, "value")
    topic.observe(draw, "value")
    weight.observe(draw, "value")
    list_topics()
    draw()
    parts = [reading.interactive.row(whose, topic, weight), shown]
    if seen.frame:
        parts.append(widgets.HTML(markup.framed(seen.frame, title=_MAP, about=_COUNTS).data))
    return reading.interactive.Interactive(parts, static=lambda: static(seen))


def _label(seen: Seen, topic: int) -> str:
    return markup.visible(f"{topic}: {' '.join(_leading(seen, topic, 4))}")


#: Steps of the relevance weight in a page, where nothing is computed (Sievert and Shirley 2014).
LAMBDAS = (0.0, 0.3, 0.6, 1.0)

_DRAWN = 30  # words a topic in the view of LDAvis


def words(fit: Fit, *, lambdas: Sequence[float] = LAMBDAS, top: int = 12) -> pd.DataFrame:
    """Return each topic's most relevant words for several weights, with `relevance_lambda`."""
    tables = [
        text.topics.describe(fit.model, relevance_lambda=weight, top=top).assign(
            relevance_lambda=weight
        )
        for weight in lambdas
    ]
    return pd.concat(tables, ignore_index=True)


def residuals(read: Read, fit: Fit) -> pd.DataFrame:
    """Return how far each topic's use for each group lies from independence (Eq. 7).

    Returns
    -------
    DataFrame
        By `bias`, `topic` and `group` (``"neutral"`` is one): `sentences`, `residual` (about
        standard normal if topics were used alike for all groups) and `associated`, whether the
        topic is this group's. With own associations of each corpus those of the originals.
    """
    whose = fits.of_originals(fit).set_index(["bias", "topic"])["group"]
    own = not (fit.associated["model"] == fits.ALL[0]).any()
    used = fits.with_topics(read.sentences, fit.topic)
    if own:
        usable = read.pairs[read.pairs["lost"].isna()]
        used = used[used["text_id"].isin(usable["original_id"])]
    tables = []
    for bias in read.lexicon["bias"].unique():
        counts = fits.contingency(
            used[used["bias"] == bias],
            groups=lexicons.groups(read.lexicon, bias),
            n_topics=fit.model.model.num_topics,
        )
        table = counts.stack(future_stack=True).rename("sentences").reset_index()
        found = fits.residuals(counts).stack(future_stack=True)
        table["residual"] = found.to_numpy()
        holds = [whose.get((bias, topic)) for topic in table["topic"]]
        table["associated"] = [a == b for a, b in zip(holds, table["group"], strict=True)]
        tables.append(table.assign(bias=bias))
    return pd.concat(tables, ignore_index=True)


def by_model(pairs: pd.DataFrame, fit: Fit, *, confidence: float) -> pd.DataFrame:
    """Say what share of the human articles and of each model's answers is about each topic.

    Returns
    -------
    DataFrame
        By `topic`, `model` and `prompt` (``"human"``, ``"-"``): `share` (mean over texts, each
        once, in [0, 1]), `ci_low`, `ci_high`, `n` texts.
    """
    usable = pairs[pairs["lost"].isna()]
    corpora = {fits.HUMAN: usable["original_id"]}
    corpora |= {key: own["generated_id"] for key, own in usable.groupby(fits.CORPUS)}
    rows = []
    for (model, prompt), texts in corpora.items():
        shares = fit.shares.reindex(texts.unique())
        for topic in shares.columns:
            row = stats.mean_interval(shares[topic], confidence=confidence, bounds=(0, 1)).row()
            rows.append({"topic": topic, "model": model, "prompt": prompt, **row})
    table = pd.DataFrame(rows).rename(columns={"estimate": "share"})
    return table[["topic", "model", "prompt", "share", "ci_low", "ci_high", "n"]]


def examples(
    sentences: pd.DataFrame, fit: Fit, residuals: pd.DataFrame, *, per_topic: int, seed: int
) -> pd.DataFrame:
    """Draw sentences of every topic, for every bias: of the topic's group where it has one.

    Returns
    -------
    DataFrame
        `bias`, `topic`, `group`, `text_id`, `sentence_id`, `start`, `end`; where the topic is no
        group's, or the neutral sentences', of any group. At most one sentence a text.
    """
    said = fits.with_topics(sentences, fit.topic).dropna(subset="topic")
    said = said[said["group"] != NEUTRAL]
    held = residuals[residuals["associated"]].set_index(["bias", "topic"])["group"]
    order = np.random.default_rng(seed).permutation(len(said))
    tables = []
    for (bias, topic), own in said.iloc[order].groupby(["bias", "topic"], sort=False):
        group = held.get((bias, topic))
        kept = own[own["group"] == group] if group not in (None, NEUTRAL) else own
        tables.append(kept.drop_duplicates("text_id").head(per_topic))
    columns = ["bias", "topic", "group", *SENTENCE, "start", "end"]
    if not tables:
        return pd.DataFrame(columns=columns)
    table = pd.concat(tables, ignore_index=True)[columns]
    return table.sort_values(["topic", "bias"], kind="stable", ignore_index=True)


# --- LDAvis -----------------------------------------------------------------------------------


def ldavis(fit: Fit, tokens: pd.DataFrame) -> str | None:
    """Return the view of LDAvis as a page of its own that asks no network.

    Parameters
    ----------
    fit
        Its topics and the shares of every text.
    tokens
        What `text.annotate.lemmatize` returned, by text.

    Returns
    -------
    str or None
        HTML for an ``<iframe srcdoc>``; None with fewer than three topics, which span no
        plane. Its topic numbers are ours plus 1, since 0 is none there. d3, LDAvis and the data
        are packed; the browser unpacks them.
    """
    shares = fit.shares.dropna()
    if shares.shape[1] < 3:
        return None
    own = tokens[tokens["text_id"].isin(shares.index)]
    bags = text.topics.count_words(own, shares.index, vocabulary=fit.model.vocabulary)
    data = _prepared(fit.model, shares, np.asarray(bags.counts.sum(axis=1)).ravel().astype(int))
    return reading.frames.ldavis(data)


def _prepared(model: TopicModel, shares: pd.DataFrame, lengths: np.ndarray) -> str:
    import pyLDAvis

    whole = shares.to_numpy(dtype=float)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of its own libraries, about their own future
        prepared = pyLDAvis.prepare(
            topic_term_dists=_normal(model.model.get_topics().astype(float)),
            doc_topic_dists=_normal(whole),
            doc_lengths=lengths,
            vocab=model.vocabulary.index.tolist(),
            term_frequency=model.vocabulary.to_numpy(),
            R=min(_DRAWN, len(model.vocabulary)),
            lambda_step=0.1,
            mds=_map,
            n_jobs=1,
            sort_topics=False,
        )
    return prepared.to_json()


def _map(distributions: np.ndarray) -> np.ndarray:
    """Place topics by principal coordinates; many alike ones give pyLDAvis complex eigenvalues."""
    from pyLDAvis._prepare import _pcoa

    rows = np.asarray(distributions)
    return np.real(_pcoa(text.topics.divergences(rows, rows)))


def _normal(rows: np.ndarray) -> np.ndarray:
    return rows / rows.sum(axis=1, keepdims=True)


def frame(page: str, *, title: str) -> str:
    """Return a page in a frame of its own, which reaches neither this page nor the network.

    In a narrow window it keeps its width and moves sideways.
    """
    return (
        '<div class="x-scroll" tabindex="0">'
        f'<iframe title="{escape.attribute(title)}" sandbox="allow-scripts" loading="lazy" '
        f'srcdoc="{escape.attribute(page)}"></iframe></div>'
    )
