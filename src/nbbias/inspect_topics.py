"""What there is to see of a fit of topics: words, groups, models, sentences, and LDAvis.

Tables only; `explore_topics` shows them.
"""

from __future__ import annotations

import base64
import html
import warnings
import zlib
from collections.abc import Sequence
from importlib import resources

import numpy as np
import pandas as pd

from nbbias import lexicons, news_topics, stats, topics_described
from nbbias.corpus import data_path
from nbbias.news_fits import Fit, with_topics
from nbbias.news_sentences import NEUTRAL
from nbbias.topics import TopicModel

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
        The Series of `topics.tokens`, by text.

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
    inside = html.escape(page, quote=True)
    return (
        '<div class="x-scroll" tabindex="0">'
        f'<iframe title="{html.escape(title, quote=True)}" sandbox="allow-scripts" loading="lazy" '
        f'srcdoc="{inside}"></iframe></div>'
    )
