"""Sentences with labels that words give away, and models small enough to be made by a test."""

from itertools import product
from pathlib import Path

import pandas as pd

from tests import tiny_bert

GROUPS = {
    "women": "gender",
    "older people": "age",
    "immigrants": "culture",
    "gay people": "orientation",
    "Muslims": "religion",
    "Black people": "race",
}
SAID = ("lazy", "stupid", "dangerous", "greedy", "weak", "dirty")
FRAMES = ("{} are {} again", "everyone knows that {} are {}", "in our town {} are always {}")
DONE = ("came late", "asked for tea", "sang two songs", "took the train", "won", "voted early")
STORIES = ("{} {} again", "the paper says that {} {}", "in our town {} {} on monday")


def labelled() -> pd.DataFrame:
    """Return 216 texts, half of them biased, each with its type and group."""
    rows = []
    for biased, frames, endings in ((True, FRAMES, SAID), (False, STORIES, DONE)):
        for (group, kind), ending, frame in product(GROUPS.items(), endings, frames):
            rows.append((frame.format(group, ending), biased, kind, group))
    table = pd.DataFrame(rows, columns=["text", "biased", "bias_type", "group"])
    return table.assign(text_id=[f"t{at}" for at in range(len(table))])


def words() -> list[str]:
    """Return every word of `labelled`, once."""
    return sorted({word.lower() for text in labelled()["text"] for word in text.split()})


def bag_of_words(folder: Path) -> str:
    """Save a sentence-transformers model whose vector counts words, and return its folder."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import BoW

    SentenceTransformer(modules=[BoW(vocab=words())], device="cpu").save(str(folder))
    return str(folder)


def transformer(folder: Path) -> str:
    """Save a tiny BERT with random weights and its tokenizer, and return the folder."""
    tiny_bert.save(folder, words(), labels=["no", "yes"], size=32)
    return str(folder)
