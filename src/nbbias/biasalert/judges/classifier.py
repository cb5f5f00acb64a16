"""The quick offline judge: words, characters, embeddings and evidence, fitted in seconds.

Two classifiers of scikit-learn read the text; a third, small one weighs what they say about texts
they were not fitted on, and what the evidence says (stacking). So its probabilities are calibrated.
In a run the two learn from `biasalert.counterfactuals`, too, where the same name stands in what is
biased and in what is not; the third does not, so that a probability means what it means among the
labelled texts.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from importlib.metadata import version
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from nbbias import tables
from nbbias.biasalert.contracts import LABELLED, TEXTS
from nbbias.biasalert.judges.attribution import Verdicts, judgements
from nbbias.biasalert.judges.registry import Judge, TrainingInput
from nbbias.biasalert.knowledge.counterfactuals import training_texts
from nbbias.biasalert.knowledge.retrieval import summarize_evidence
from nbbias.biasalert.knowledge.split import assign_folds
from nbbias.tables import ParameterError, check
from nbbias.text import embeddings

#: A judge is fitted on this many texts of either label at least.
FEWEST = 10

#: Of a text, this much is read; a probability for more would rest on its opening all the same.
READ = 10_000

#: A judge must know more than this share of a text's words: of the texts it was fitted on here.
KNOWN = 0.2

UNKNOWN = (
    "no more than a fifth of its words stand in the texts that the judge was fitted on; "
    "it may be in another language"
)

#: Folds of the texts that the parts are weighed by.
_FOLDS = 3

#: Texts, at most, that the kernel classifier compares others with (Nyström's landmarks).
_LANDMARKS = 1500

#: What a vector counts beside the words and characters of a text, in the linear classifier.
_VECTOR = 1.5

_WORD = r"[\w']+|[?!.]"

#: No texts beside the labelled ones.
NOTHING = pd.DataFrame({"text": [], "biased": [], "weight": []}).astype(
    {"text": "str", "biased": bool, "weight": float}
)

#: What models have learned: by the name of each its fitted attributes, numbers and words.
Learned = dict[str, dict[str, Any]]


class Fitted(NamedTuple):
    """A fitted judge: its models by name (`_models`), and `about`, what it was made from."""

    models: Mapping[str, Any]
    about: dict[str, Any]


def _models(*, seed: int = 0, landmarks: int = _LANDMARKS) -> dict[str, Any]:
    """Return the models that a judge is made of, not fitted."""
    counted: dict[str, Any] = {"min_df": 2, "sublinear_tf": True}
    return {
        "words": TfidfVectorizer(token_pattern=_WORD, ngram_range=(1, 3), **counted),
        "characters": TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 5), **counted),
        # The same optimum in a quarter of the time that the primal takes.
        "linear": LogisticRegression(
            C=2.0, solver="liblinear", dual=True, max_iter=1000, random_state=seed
        ),
        "landmarks": Nystroem(gamma=1.5, n_components=landmarks, random_state=seed),
        "kernel": LogisticRegression(C=8.0, max_iter=500),
        "scale": StandardScaler(),
        "final": LogisticRegression(max_iter=500),
    }


def export_learned(models: Mapping[str, Any]) -> Learned:
    """Return what models have learned, as numbers and words that can be kept without pickles."""
    return {
        name: {
            key: getattr(model, key)
            for key in [*vars(model), "idf_"]
            if key[0] != "_" == key[-1] and hasattr(model, key)
        }
        for name, model in models.items()
    }


def restore(learned: Learned) -> dict[str, Any]:
    """Return fitted models from what they had learned.

    Examples
    --------
    >>> scale = StandardScaler().fit([[1.0], [3.0]])
    >>> restore(export_learned({"scale": scale}))["scale"].transform([[5.0]]).tolist()
    [[3.0]]
    """
    models = {name: model for name, model in _models().items() if name in learned}
    for name, attributes in learned.items():
        for key, value in attributes.items():
            setattr(models[name], key, value)
    return models


def make_with_evidence(training: TrainingInput) -> tuple[Judge, str]:
    """Return the judge `classifier` of a run, and its instrument."""
    assert training.retrieve is not None
    fitted = _fit_for_run(training, training.retrieve(training.train))
    instrument = f"{fitted.about['instrument']}, knowledge {training.knowledge}"
    return partial(judge, fitted=fitted, progress=training.progress), instrument


def make_alone(training: TrainingInput) -> tuple[Judge, str]:
    """Return the judge `classifier_alone` of a run, and its instrument."""
    fitted = _fit_for_run(training, None)
    own = partial(judge, fitted=fitted, name="classifier_alone", progress=training.progress)
    return lambda texts, _: own(texts), fitted.about["instrument"]


def _fit_for_run(training: TrainingInput, evidence: pd.DataFrame | None) -> Fitted:
    settings = training.settings
    return fit(
        training.train,
        evidence,
        further=training_texts(),
        model=settings.embedding_model,
        device=settings.device,
        seed=settings.seed,
        knowledge="" if evidence is None else training.knowledge,
    )


def fit(
    labelled: pd.DataFrame,
    evidence: pd.DataFrame | None = None,
    *,
    further: pd.DataFrame = NOTHING,
    model: str = embeddings.AUTO,
    device: str = "cpu",
    seed: int,
    knowledge: str = "",
) -> Fitted:
    """Fit the quick judge.

    Parameters
    ----------
    labelled
        LABELLED; only `text` and `biased` are read (and `comment_id`, where it is there, so that
        near-duplicates are on one side when the parts are weighed).
    evidence
        EVIDENCE of these texts, whose own entries `retrieve` has dropped; None leaves it out.
    further
        More texts for the parts that read: `text`, `biased` and `weight`, where a labelled text
        weighs 1, as of `counterfactuals`. No part is weighed by what it says of them.
    model, device
        As in `text.embeddings.embed`.
    seed
        Start of all draws: the same table and seed give the same judge.
    knowledge
        The version of the knowledge that the evidence came from.

    Raises
    ------
    ParameterError
        Fewer than ten texts of either label.
    """
    table = require_trainable(labelled)
    further = further[list(NOTHING)].reset_index(drop=True)
    texts = pd.concat([table["text"], further["text"]]).str[:READ]
    vectors = embeddings.embed(texts, model=model, device=device)
    columns = [name for name in ("text", "biased", "comment_id") if name in table]
    learned, held_out = _fit_parts(table[columns], further, vectors, seed=seed)
    features = np.column_stack([held_out, _evidence_features(table, evidence)])
    last = {name: part for name, part in _models().items() if name in ("scale", "final")}
    with threadpool_limits(1):
        last["final"].fit(last["scale"].fit_transform(features), table["biased"].to_numpy())
    about = {
        "model": embeddings.choose(model),
        "device": device,
        "knowledge": knowledge,
        "evidence": evidence is not None,
        "instrument": name_instrument(model, taught=len(further) > 0),
    }
    return Fitted(restore(learned) | last, about)


@tables.stage
def _fit_parts(
    table: pd.DataFrame, further: pd.DataFrame, vectors: np.ndarray, *, seed: int
) -> tuple[Learned, np.ndarray]:
    """Fit the parts that read texts; return what each has learned, and its held-out log-odds.

    Texts of `further`, whose vectors are the last ones, are learned from and never held out.
    """
    both = pd.concat([table.assign(weight=1.0), further], ignore_index=True)
    truth, weights = both["biased"].to_numpy(bool), both["weight"].to_numpy()
    models = _models(seed=seed)
    # Matrices this small keep threads waiting for each other longer than they compute.
    with threadpool_limits(1):
        # The words of texts held out are counted, too, but not their labels.
        for name in ("words", "characters"):
            models[name].fit(both["text"].str[:READ])
        features = _features(models, both["text"].str[:READ], vectors)
        held_out = np.zeros((len(table), 2))
        fold = assign_folds(table, n=_FOLDS, seed=seed).to_numpy()
        for number in range(_FOLDS):
            own = np.flatnonzero(fold == number)
            rest = np.setdiff1d(np.arange(len(both)), own)
            n = len(table) - len(own)
            fitted = _fit_two(features[rest], vectors[rest], truth[rest], weights[rest], n, seed)
            held_out[own] = _log_odds(fitted, features[own], vectors[own])
        models |= _fit_two(features, vectors, truth, weights, len(table), seed)
    return export_learned({name: models[name] for name in [*models][:5]}), held_out


def _fit_two(
    features: Any, vectors: np.ndarray, truth: np.ndarray, weights: np.ndarray, n: int, seed: int
) -> dict[str, Any]:
    """Fit the linear classifier, and one on the kernel of embeddings; `n` texts are labelled."""
    # As many landmarks as labelled texts: a small file is learned from in a second.
    models = _models(seed=seed, landmarks=min(_LANDMARKS, n))
    models["linear"].fit(features, truth, sample_weight=weights)
    near = models["landmarks"].fit_transform(vectors)
    models["kernel"].fit(near, truth, sample_weight=weights)
    return {name: models[name] for name in ("linear", "landmarks", "kernel")}


def _features(models: Mapping[str, Any], texts: pd.Series, vectors: np.ndarray) -> Any:
    """Return texts as numbers: weighed words, weighed characters, and their embeddings."""
    counted = [models[name].transform(texts) for name in ("words", "characters")]
    return sparse.hstack([*counted, sparse.csr_matrix(_VECTOR * vectors)]).tocsr()


def _log_odds(models: Mapping[str, Any], features: Any, vectors: np.ndarray) -> np.ndarray:
    linear = models["linear"].decision_function(features)
    kernel = models["kernel"].decision_function(models["landmarks"].transform(vectors))
    return np.column_stack([linear, kernel])


def require_trainable(labelled: pd.DataFrame) -> pd.DataFrame:
    """Return the rows that a judge can be fitted on: those with a text.

    Raises
    ------
    ParameterError
        Fewer than ten texts of either label.
    """
    table = check(labelled, LABELLED, where="labelled texts")
    table = table[~tables.is_blank(table["text"])].reset_index(drop=True)
    counts = {"biased": int(table["biased"].sum()), "not biased": int((~table["biased"]).sum())}
    short = [f"{name}: {count}" for name, count in counts.items() if count < FEWEST]
    if short:
        raise ParameterError(
            "labelled texts",
            f"a judge needs ten texts of either label to learn from ({'; '.join(short)})",
        )
    return table


def _evidence_features(texts: pd.DataFrame, evidence: pd.DataFrame | None) -> np.ndarray:
    """Return what the evidence says of each text, as numbers; nothing where it is left out."""
    if evidence is None:
        return np.empty((len(texts), 0))
    own = summarize_evidence(texts, evidence)
    return own[["best", "mean", "agreement", "n_used"]].fillna(0.0).to_numpy(float)


def judge(
    texts: pd.DataFrame,
    evidence: pd.DataFrame | None = None,
    *,
    fitted: Fitted,
    name: str = "classifier",
    progress: bool = True,
) -> pd.DataFrame:
    """Judge texts.

    Parameters
    ----------
    texts
        TEXTS.
    evidence
        EVIDENCE of these texts. A judge fitted with evidence needs it.
    fitted
        A judge, from `fit`.
    name
        What the judge is called in the table.
    progress
        Show a bar while texts are embedded.

    Returns
    -------
    DataFrame
        JUDGEMENTS. `confidence` is the calibrated probability that people call the text biased;
        `biased` from 0.5. No verdict on a blank text, nor (outcome ``failed``) on one most of
        whose words the judge has never read.

    Raises
    ------
    ParameterError
        The judge was fitted with evidence and none is given.
    """
    texts = check(texts, TEXTS, where="texts").reset_index(drop=True)
    about, models = fitted.about, fitted.models
    if about["evidence"] and evidence is None:
        raise ParameterError(name, "was fitted with evidence and needs that of these texts, too")
    present = texts[~tables.is_blank(texts["text"])]
    chances = np.full(len(texts), np.nan)
    if len(present):
        read = present["text"].str[:READ]
        options = {"model": about["model"], "device": about["device"]}
        vectors = embeddings.embed(read.tolist(), **options, progress=progress)
        with threadpool_limits(1):
            odds = _log_odds(models, _features(models, read, vectors), vectors)
            shown = evidence if about["evidence"] else None
            features = np.column_stack([odds, _evidence_features(present, shown)])
            final = models["final"].predict_proba(models["scale"].transform(features))
        chances[present.index] = final[:, 1]
    return judgements(
        texts,
        Verdicts(chances >= 0.5, chances, lost=find_unreadable(fitted, present)),
        judge=name,
        evidence=evidence,
        knowledge=about["knowledge"],
    )


def find_unreadable(fitted: Fitted, texts: pd.DataFrame) -> dict[str, str]:
    """Return the texts that a judge cannot read, by text_id, each with the reason.

    Examples
    --------
    >>> words = TfidfVectorizer().fit(["the women are weak"])
    >>> texts = pd.DataFrame({"text_id": ["english", "german"],
    ...                       "text": ["The women drive.", "Die Frauen fahren."]})
    >>> find_unreadable(Fitted({"words": words}, {}), texts)
    {'german': 'no more than a fifth of its words stand in the texts that the judge was fitted...'}
    """
    known = fitted.models["words"].vocabulary_
    lost = {}
    for text_id, text in texts[["text_id", "text"]].itertuples(index=False):
        words = re.findall(r"[\w']+", str(text)[:READ].lower())
        # However short: of two or three English words one is known as a rule ("women are weak").
        if not words or np.mean([word in known for word in words]) <= KNOWN:
            lost[str(text_id)] = UNKNOWN
    return lost


def name_instrument(model: str = embeddings.AUTO, *, taught: bool = False) -> str:
    """Return the judge's name with its versions, as tables and figures show it.

    `taught` says whether it learned from `biasalert.counterfactuals`, too.
    """
    named = f"scikit-learn {version('scikit-learn')} on {embeddings.instrument(model)}"
    return f"{named}, with counterfactual texts" if taught else named
