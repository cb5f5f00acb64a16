"""Look at topics: their words, whose they are, and who writes about them.

>>> from nbbias import news
>>> news.explore.topics.frame("<p>&</p>", title="A page")[:43]
'<div class="x-scroll" tabindex="0"><iframe '
"""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
from IPython.display import HTML
from scipy.spatial.distance import cdist

from nbbias import reading, text
from nbbias.news import fits
from nbbias.news.corpus import Read
from nbbias.reading import markup
from nbbias.tables import escape

_COUNTS = "LDAvis counts topics from 1: its topic 1 is topic 0 above."


def topics(fitted: fits.Fitted, read: Read) -> HTML:
    """Look into the topics of the first fit: a table, and LDAvis below it.

    Parameters
    ----------
    fitted, read
        What `news.fits.fit` returned, and what it was made from.
    """
    fit = fitted.fits[0]
    table = summarize(fitted, read)
    view = ldavis(fit, fitted.tokens)
    table = table[[name for name in table if not name.endswith("_residual")]]
    of_groups = table[[*fit.associated["bias"].unique()]].astype(object)
    table = table.assign(**of_groups.map(reading.names.people, na_action="ignore"))
    prompts = read.pairs["prompt"].unique()
    if len(prompts) == 1:  # which a heading need not name
        table = table.rename(columns=lambda name: name.removesuffix(f", {prompts[0]}"))
    body = markup.table(table)
    if view:
        frame_html = markup.note(_COUNTS) + frame(view, title="LDAvis: topics and their words")
        body += markup.fold("All topics on a map: LDAvis", frame_html)
    n = fit.shares.shape[1]
    about = reading.prose.render_plain("news.about_topics", left_out=n - len(table), n=n)
    return markup.framed(body, title="Look into a topic", about=about)


def summarize(fitted: fits.Fitted, read: Read) -> pd.DataFrame:
    """List the topics of the first fit that a sentence has, those with most sentences first.

    Returns
    -------
    DataFrame
        The columns of `news.fits.described`, and the mean share of the human
        articles and of each model's answers that is about the topic, in [0, 1].
    """
    fit = fitted.fits[0]
    table = fits.described(fitted)
    table = table[table["sentences"] > 0]
    texts = {"human": read.usable["original_id"]}
    by_corpus = read.usable.groupby(fits.CORPUS)["generated_id"]
    texts |= {", ".join(key): of for key, of in by_corpus}
    shares = {name: fit.shares.reindex(of.unique()).mean() for name, of in texts.items()}
    return table.join(pd.DataFrame(shares).add_prefix("share, "), on="topic")


# --- LDAvis -----------------------------------------------------------------------------------


def ldavis(fit: fits.Fit, tokens: pd.DataFrame) -> str | None:
    """Return the view of LDAvis at λ = 0.2, without stop words, as a page that asks no network.

    Parameters
    ----------
    fit
        Its topics and the shares of every text.
    tokens
        What `text.annotate.lemmatize` returned, by text.

    Returns
    -------
    str or None
        HTML for an ``<iframe srcdoc>``; None with fewer than three topics, which span no plane. Its
        topic numbers are ours plus 1. d3, LDAvis and the data are packed; the browser unpacks them.
    """
    import pyLDAvis

    shares = fit.shares.dropna()
    if shares.shape[1] < 3:
        return None
    vocabulary = fit.model.vocabulary
    shown = ~vocabulary.index.isin(fits.stop_words())
    counted = tokens[tokens["text_id"].isin(shares.index)]
    bags = text.topics.count_words(counted, shares.index, vocabulary=vocabulary)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of its own libraries, about their own future
        prepared = pyLDAvis.prepare(
            topic_term_dists=_normal(fit.model.model.get_topics().astype(float)[:, shown]),
            doc_topic_dists=_normal(shares.to_numpy(dtype=float)),
            doc_lengths=np.asarray(bags.counts.sum(axis=1)).ravel().astype(int),
            vocab=vocabulary.index[shown].tolist(),
            term_frequency=vocabulary.to_numpy()[shown],
            R=min(30, int(shown.sum())),
            lambda_step=0.1,
            mds=_map,
            n_jobs=1,
            sort_topics=False,
        )
    return reading.templates.ldavis(prepared.to_json())


def _map(distributions: np.ndarray) -> np.ndarray:
    """Place topics by principal coordinates; many alike ones give pyLDAvis complex eigenvalues."""
    from pyLDAvis._prepare import _pcoa

    rows = np.asarray(distributions)
    # Of equal rows rounding leaves a square root of less than 0.
    return np.real(_pcoa(np.nan_to_num(cdist(rows, rows, "jensenshannon")) ** 2))


def _normal(rows: np.ndarray) -> np.ndarray:
    return rows / rows.sum(axis=1, keepdims=True)


def frame(page: str, *, title: str) -> str:
    """Return a page in a frame, which reaches neither this page nor the network."""
    return (
        '<div class="x-scroll" tabindex="0">'
        f'<iframe title="{escape.attribute(title)}" sandbox="allow-scripts" loading="lazy" '
        f'srcdoc="{escape.attribute(page)}"></iframe></div>'
    )
