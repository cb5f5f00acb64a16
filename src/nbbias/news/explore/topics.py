"""Look at topics: their words, whose they are, who writes about them, and in which sentences.

What there is to see of a fit of topics: words, groups, models, sentences, and LDAvis.

Tables only; `news.explore.topics` shows them.
"""

from __future__ import annotations

import base64
import warnings
import zlib
from collections.abc import Sequence
from importlib import resources
from typing import Any, NamedTuple

import ipywidgets as widgets
import numpy as np
import pandas as pd
from IPython.display import HTML

from nbbias import stats, tables
from nbbias.news import topics as news_topics
from nbbias.news.fits import Fit, with_topics
from nbbias.news.tone import NEUTRAL
from nbbias.reading import live as explore_live, markup
from nbbias.tables import data_path, escape
from nbbias.text import lexicons, topics as topics_described
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
        What `news.fits.fits` returned.
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
    found = residuals(sentences, pairs, fit, lexicon=lexicon)
    view = ldavis(fit, tokens)
    seen = Seen(
        fit, words(fit), found,
        by_model(pairs, fit, confidence=confidence),
        examples(sentences, fit, found, per_topic=per_topic, seed=seed),
        matches, lexicon,
        frame(view, title="LDAvis: topics, and words by relevance") if view else "",
    )  # fmt: skip
    return live(seen) if tables.watched() else still(seen)


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


#: Steps of the relevance weight in a page, where nothing is computed (Sievert and Shirley 2014).
LAMBDAS = (0.0, 0.3, 0.6, 1.0)

_DRAWN = 30  # words a topic in the view of LDAvis
_SENTENCE = ["text_id", "sentence_id"]


def words(fit: Fit, *, lambdas: Sequence[float] = LAMBDAS, top: int = 12) -> pd.DataFrame:
    """Return each topic's most relevant words for several weights, with `relevance_lambda`."""
    tables = [
        topics_described.words(fit.model, relevance_lambda=weight, top=top).assign(
            relevance_lambda=weight
        )
        for weight in lambdas
    ]
    return pd.concat(tables, ignore_index=True)


def residuals(
    sentences: pd.DataFrame, pairs: pd.DataFrame, fit: Fit, *, lexicon: pd.DataFrame
) -> pd.DataFrame:
    """Return how far each topic's use for each group lies from independence (Eq. 7).

    Returns
    -------
    DataFrame
        By `bias`, `topic` and `group` (``"neutral"`` is one): `sentences`, `residual` (about
        standard normal if topics were used alike for all groups) and `associated`, whether the
        topic is this group's. With own associations of each corpus those of the originals.
    """
    whose = fit.associated[
        fit.associated["model"].isin([news_topics.ALL[0], news_topics.HUMAN[0]])
    ].set_index(["bias", "topic"])["group"]
    own = not (fit.associated["model"] == news_topics.ALL[0]).any()
    read = with_topics(sentences, fit.topic)
    if own:
        usable = pairs[pairs["lost"].isna()]
        read = read[read["text_id"].isin(usable["original_text"])]
    tables = []
    for bias in lexicon["bias"].unique():
        counts = news_topics.contingency(
            read[read["bias"] == bias], groups=lexicons.groups(lexicon, bias),
            n_topics=fit.model.model.num_topics,
        )  # fmt: skip
        table = counts.stack(future_stack=True).rename("sentences").reset_index()
        found = news_topics.residuals(counts).stack(future_stack=True)
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
    corpora = {news_topics.HUMAN: usable["original_text"]}
    corpora |= {key: own["generated_text"] for key, own in usable.groupby(news_topics.CORPUS)}
    rows = []
    for (model, prompt), texts in corpora.items():
        shares = fit.shares.reindex(texts.unique())
        for topic in shares.columns:
            row = stats.mean_interval(shares[topic], confidence=confidence, bounds=(0, 1))
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
    said = with_topics(sentences, fit.topic).dropna(subset="topic")
    said = said[said["group"] != NEUTRAL]
    held = residuals[residuals["associated"]].set_index(["bias", "topic"])["group"]
    order = np.random.default_rng(seed).permutation(len(said))
    tables = []
    for (bias, topic), own in said.iloc[order].groupby(["bias", "topic"], sort=False):
        group = held.get((bias, topic))
        kept = own[own["group"] == group] if group not in (None, NEUTRAL) else own
        tables.append(kept.drop_duplicates("text_id").head(per_topic))
    columns = ["bias", "topic", "group", *_SENTENCE, "start", "end"]
    if not tables:
        return pd.DataFrame(columns=columns)
    table = pd.concat(tables, ignore_index=True)[columns]
    return table.sort_values(["topic", "bias"], kind="stable", ignore_index=True)


# --- LDAvis -----------------------------------------------------------------------------------


def ldavis(fit: Fit, tokens: pd.Series) -> str | None:
    """Return the view of LDAvis as a page of its own that asks no network.

    Parameters
    ----------
    fit
        Its topics and the shares of every text.
    tokens
        The Series of `text.topics.tokens`, by text.

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
    data = _prepared(fit.model, shares, tokens.reindex(shares.index))
    files = resources.files("pyLDAvis").joinpath("js")
    d3 = files.joinpath("d3.v5.min.js").read_text(encoding="utf-8")
    drawing = files.joinpath("ldavis.v3.0.0.js").read_text(encoding="utf-8")
    code = f"{d3}\n{drawing}\nnew LDAvis('#v', {data});"
    packed = base64.b64encode(zlib.compress(code.encode(), 9)).decode()
    frame = data_path("explore/ldavis.html").read_text(encoding="utf-8")
    return frame.replace("<!-- packed -->", packed)


def _prepared(model: TopicModel, shares: pd.DataFrame, tokens: pd.Series) -> str:
    import pyLDAvis

    n = len(model.dictionary)
    known = model.dictionary.token2id
    lengths = tokens.map(lambda words: sum(word in known for word in words)).to_numpy()
    whole = shares.to_numpy(dtype=float)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of its own libraries, about their own future
        prepared = pyLDAvis.prepare(
            topic_term_dists=_normal(model.model.get_topics().astype(float)),
            doc_topic_dists=_normal(whole), doc_lengths=lengths,
            vocab=[model.dictionary[i] for i in range(n)],
            term_frequency=np.array([model.dictionary.cfs[i] for i in range(n)]),
            R=min(_DRAWN, n), lambda_step=0.1, mds="pcoa", n_jobs=1, sort_topics=False,
        )  # fmt: skip
    return prepared.to_json().replace("<", "\\u003c")


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
