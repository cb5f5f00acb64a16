"""Each text stage by the libraries, by `nbbias.fast`, and by the peers: `python -m benchmarks`."""

from __future__ import annotations

import argparse
import re
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from benchmarks import corpus
from nbbias import text
from nbbias.fast import lda
from nbbias.text import pipeline


def recount(texts: list[str], lexicon: pd.DataFrame) -> np.ndarray:
    """Count group words beside targets: in every text for every target and group, one by one.

    So do HELM's stereotypical associations (Liang et al. 2022), and LangFair, which took them over.
    """
    targets = sorted(title.lower() for title in text.lexicons.occupations() if title.isalpha())[
        :400
    ]
    groups = [part["term"].tolist() for _, part in lexicon.groupby("group")]
    counts = np.zeros((len(targets), len(groups)), dtype=int)
    for document in texts:
        words = re.findall(r"\w+", document.lower())
        for i, target in enumerate(targets):
            for j, group in enumerate(groups):
                counts[i, j] += sum(words.count(word) for word in group) * words.count(target)
    return counts


def stages(texts: list[str]) -> list[tuple[str, float, Callable[[], Any]]]:
    """Return what is timed: its name, the share of the texts that it reads, and the function."""
    gender = text.lexicons.load("gender")
    lexicon = text.lexicons.expand(text.lexicons.load_all(["gender", "race"]))
    pipeline.load_matchers(lexicon)
    lower = [document.lower() for document in texts]
    words = pipeline.lemmatize(lower).rename(columns={"text": "text_id"})
    bags = text.topics.count_words(words)
    tables = pipeline.annotate(texts[: len(texts) // 8], lexicon)[0]
    lines = [
        texts[row.text][row.start : row.end] for row in tables.itertuples() if row.end > row.start
    ]
    settings = {"num_topics": 50, "id2word": dict(enumerate(bags.vocabulary.index))}
    gensim_corpus = text.topics.Sparse2Corpus(bags.counts, documents_columns=False)

    def fit(model: Any) -> Any:
        return lambda: model(gensim_corpus, passes=10, random_state=1, eval_every=None, **settings)

    return [
        ("sentences and group words: spaCy", 1, lambda: pipeline.annotate(texts, lexicon)),
        ("lemmas: spaCy", 1, lambda: pipeline.lemmatize(lower)),
        ("polarity: TextBlob", 1 / 8, lambda: text.sentiment.score(lines, scorer="textblob")),
        ("polarity: VADER", 1 / 8, lambda: text.sentiment.score(lines, scorer="vader")),
        ("topics, K = 50: gensim", 1, fit(text.topics.gensim.models.LdaModel)),
        ("topics, K = 50: fast", 1, fit(lda.LdaModel)),
        (
            "group words beside 400 targets: HELM, LangFair",
            1 / 40,
            lambda: recount(texts[: len(texts) // 40], gender),
        ),
    ]


def main() -> None:
    """Time every stage once, and print CPU seconds for all documents."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=corpus.PAPER // 16)
    documents = parser.parse_args().documents
    folder = corpus.at(documents)
    sides = [
        pd.read_parquet(folder / f"{side}.parquet")["text"] for side in ("originals", "generations")
    ]
    for name, share, function in stages(pd.concat(sides).tolist()):
        start = time.process_time()
        function()
        print(f"{name}: {(time.process_time() - start) / share:.1f} CPU s", flush=True)


if __name__ == "__main__":
    main()
