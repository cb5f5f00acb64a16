"""The quick offline judge: words, characters, embeddings and evidence, fitted in seconds.

Two classifiers of scikit-learn read the text; a third, small one weighs what they say about texts
they were not fitted on, and what the evidence says. So its probabilities are calibrated. In a run
the two learn from `biasalert.twins`, too, where the same name stands in what is biased and in what
is not; the third does not, so that a probability means what it means among the labelled texts. What
they have learnt is numbers and words, by which `judges.reading` judges: scikit-learn is loaded to
fit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from typing import Any

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from nbbias import tables
from nbbias.biasalert import grams, twins
from nbbias.biasalert.contracts import LABELLED, TEXTS
from nbbias.biasalert.judges import counting, reading
from nbbias.biasalert.judges.attribution import Said, judgements
from nbbias.biasalert.judges.registry import Given, Judge
from nbbias.biasalert.retrieval import quality
from nbbias.biasalert.split import folds
from nbbias.tables import ParameterError, check
from nbbias.text import embeddings

#: A judge is fitted on this many texts of either label at least.
FEWEST = 10

#: Of a text, this much is read; a probability for more would rest on its opening all the same.
READ = 10_000

#: A judge must know more than this share of a text's words: of the texts it was fitted on here.
KNOWN = 0.2
_CROSS = 3

#: Texts, at most, that the kernel classifier compares others with, and what is added to how near
#: each is to itself.
LANDMARKS, _JITTER = 1500, 1e-6

UNKNOWN = (
    "no more than a fifth of its words stand in the texts that the judge was fitted on; "
    "it may be in another language"
)


#: No texts beside the labelled ones.
NOTHING = pd.DataFrame({"text": [], "biased": [], "weight": []}).astype(
    {"text": "str", "biased": bool, "weight": float}
)


@dataclass(frozen=True)
class Fitted:
    """A fitted judge: what its parts have learnt, and `about`, what it was made from.

    The parts are the words counted, the linear and the kernel classifier and what weighs these two:
    numbers, words, and dicts of them.
    """

    learnt: list[dict[str, Any]]
    about: dict[str, Any]


def with_evidence(given: Given) -> tuple[Judge, str]:
    """Return the judge `classifier` of a run, and its instrument."""
    assert given.retrieve is not None
    fitted = fit(
        given.train,
        given.retrieve(given.train),
        beside=twins.beside(without=given.without),
        model=given.settings.embedding_model,
        device=given.settings.device,
        seed=given.settings.seed,
        knowledge=given.knowledge,
    )
    named = f"{fitted.about['instrument']}, knowledge {given.knowledge}"
    return partial(judge, fitted=fitted, progress=given.progress), named


def alone(given: Given) -> tuple[Judge, str]:
    """Return the judge `classifier_alone` of a run, and its instrument."""
    how = given.settings
    fitted = fit(
        given.train,
        beside=twins.beside(without=given.without),
        model=how.embedding_model,
        device=how.device,
        seed=how.seed,
    )
    own = partial(judge, fitted=fitted, name="classifier_alone", progress=given.progress)
    return lambda texts, _: own(texts), fitted.about["instrument"]


def fit(
    labelled: pd.DataFrame,
    evidence: pd.DataFrame | None = None,
    *,
    beside: pd.DataFrame | None = None,
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
    beside
        More texts for the parts that read: `text`, `biased` and `weight`, where a labelled text
        weighs 1, as of `twins.beside`. No part is weighed by what it says of them.
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
    table = trainable(labelled)
    more = NOTHING if beside is None else beside[list(NOTHING)].reset_index(drop=True)
    both = pd.concat([table["text"], more["text"]]).str[:READ]
    vectors = embeddings.embed(both, model=model, device=device)
    about = {
        "model": embeddings.choose(model),
        "device": device,
        "seed": seed,
        "knowledge": knowledge,
        "instrument": instrument(model, taught=len(more) > 0),
        "evidence": evidence is not None,
        "n": len(table),
        "biased": int(table["biased"].sum()),
        "n_beside": len(more),
    }
    kept = table[[name for name in ("text", "biased", "comment_id") if name in table]]
    parts, held_out = _once(kept, more, vectors, seed=seed)
    weighed = np.column_stack([held_out, _of_evidence(table, evidence)])
    with threadpool_limits(1):
        final = _final().fit(weighed, table["biased"].to_numpy())
    return Fitted([*parts, _learnt(final)], about)


#: What was fitted last, by the hash of what it was fitted on.
_last: dict[str, tuple[list[dict[str, Any]], np.ndarray]] = {}


def _once(
    table: pd.DataFrame, more: pd.DataFrame, vectors: np.ndarray, *, seed: int
) -> tuple[list[dict[str, Any]], np.ndarray]:
    """Fit the parts that read texts, unless they were the last to be fitted.

    With evidence and without it these are the same, and so is the first of repeated runs.
    """
    key = tables.digest([table, more, vectors, seed])
    if key not in _last:
        found = _fitted(table, more, vectors, seed=seed)
        _last.clear()
        _last[key] = found
    return _last[key]


@tables.stage
def _fitted(
    table: pd.DataFrame, more: pd.DataFrame, vectors: np.ndarray, *, seed: int
) -> tuple[list[dict[str, Any]], np.ndarray]:
    """Fit the parts that read texts; return what each has learnt, and said of texts held out.

    Texts of `more`, whose vectors are the last ones, are learnt from and never held out.
    """
    # Matrices this small keep threads waiting for each other longer than they compute.
    with threadpool_limits(1):
        return _fit(table, more, vectors, seed)


def _fit(
    table: pd.DataFrame, more: pd.DataFrame, vectors: np.ndarray, seed: int
) -> tuple[list[dict[str, Any]], np.ndarray]:
    both = pd.concat([table.assign(weight=1.0), more], ignore_index=True)
    truth, weights = both["biased"].to_numpy(bool), both["weight"].to_numpy()
    # Words seen once, rare pieces: of texts held out too, but not their labels.
    learnt, counted = counting.weighed(both["text"].str[:READ].tolist())
    held_out = np.zeros((len(table), 2))
    part = folds(table, n=_CROSS, seed=seed).to_numpy()
    for number in range(_CROSS):
        own = np.flatnonzero(part == number)
        rest = np.setdiff1d(np.arange(len(both)), own)
        fitted = _fit_parts(
            counted[rest], vectors[rest], truth[rest], weights[rest], len(table) - len(own), seed
        )
        held_out[own] = _read(*fitted, counted[own], vectors[own])
    return [learnt, *_fit_parts(counted, vectors, truth, weights, len(table), seed)], held_out


def _learnt(model: Any) -> dict[str, Any]:
    """Return what a model of scikit-learn has learnt, its steps' by their names."""
    if hasattr(model, "steps"):
        return {name: _learnt(one) for name, one in model.steps}
    return {name: value for name, value in vars(model).items() if name[0] != "_" == name[-1]}


def with_texts(labelled: pd.DataFrame) -> pd.DataFrame:
    """Return the rows that have a text."""
    table = check(labelled, LABELLED, where="labelled texts")
    return table[table["text"].fillna("").str.strip() != ""].reset_index(drop=True)


def trainable(labelled: pd.DataFrame) -> pd.DataFrame:
    """Return the rows that a judge can be fitted on: those with a text.

    Raises
    ------
    ParameterError
        Fewer than ten texts of either label.
    """
    table = with_texts(labelled)
    counts = table["biased"].value_counts()
    short = [
        f"{name}: {counts.get(label, 0)}"
        for label, name in ((True, "biased"), (False, "not biased"))
        if counts.get(label, 0) < FEWEST
    ]
    if short:
        raise ParameterError(
            "labelled texts",
            f"a judge needs ten texts of either label to learn from ({'; '.join(short)})",
        )
    return table


def _final() -> Any:
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), LogisticRegression(C=1.0, max_iter=500))


def _fit_parts(
    counted: Any, vectors: np.ndarray, truth: np.ndarray, weights: np.ndarray, n: int, seed: int
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what the linear and the kernel classifier have learnt, of `n` labelled texts."""
    from sklearn.linear_model import LogisticRegression

    # The same optimum in a quarter of the time that the primal takes.
    linear = LogisticRegression(
        C=2.0, solver="liblinear", dual=True, max_iter=1000, random_state=seed
    )
    linear.fit(_joined(counted, vectors), truth, sample_weight=weights)
    return _learnt(linear), _near(vectors, truth, weights, n, seed)


def _near(
    vectors: np.ndarray, truth: np.ndarray, weights: np.ndarray, n: int, seed: int
) -> dict[str, Any]:
    """Fit logistic regression on a kernel, of which some texts drawn are the landmarks.

    After Nyström, whose features are taken by Cholesky's factor in the place of the root of the
    landmarks' matrix: turned, which changes nothing of what a ridge fits, and in a tenth of the
    time.
    """
    from scipy.linalg import cholesky, solve_triangular
    from sklearn.linear_model import LogisticRegression

    # As many landmarks as labelled texts: a small file is learnt from in a second.
    most = min(LANDMARKS, n)
    drawn = np.random.RandomState(seed).permutation(len(vectors))[:most]
    near = reading.nearness(vectors, vectors[drawn])
    # A text that stands there twice is no reason to fail.
    factor = cholesky(near[drawn] + _JITTER * np.eye(most), lower=True)
    features = solve_triangular(factor, near.T, lower=True, overwrite_b=True).T
    last = LogisticRegression(C=8.0, max_iter=500)
    last.fit(features.astype(np.float32), truth, sample_weight=weights)
    coefficients = solve_triangular(factor, last.coef_[0], lower=True, trans="T")
    return {"landmarks": vectors[drawn], "coefficients": coefficients, "intercept": last.intercept_}


def _joined(counted: Any, vectors: np.ndarray) -> Any:
    from scipy import sparse

    return sparse.hstack([counted, sparse.csr_matrix(reading.VECTOR * vectors)]).tocsr()


def _read(
    linear: dict[str, Any], kernel: dict[str, Any], counted: Any, vectors: np.ndarray
) -> np.ndarray:
    own = _joined(counted, vectors) @ linear["coef_"][0] + linear["intercept_"][0]
    return np.column_stack([own, reading.near_odds(kernel, vectors)])


def _of_evidence(texts: pd.DataFrame, evidence: pd.DataFrame | None) -> np.ndarray:
    """Return what the evidence says of each text, as numbers; nothing where it is left out."""
    if evidence is None:
        return np.empty((len(texts), 0))
    own = quality(texts, evidence)
    return own[["best", "mean", "agreement", "n_used"]].fillna(0.0).to_numpy(float)


def probabilities(
    fitted: Fitted, texts: Sequence[str], evidence: np.ndarray, *, progress: bool = True
) -> np.ndarray:
    """Return the probability that each text is biased; `evidence` as numbers, as the fit had it."""
    read = [text[:READ] for text in texts]
    where = {"model": fitted.about["model"], "device": fitted.about["device"]}
    vectors = embeddings.embed(read, **where, progress=progress)
    with threadpool_limits(1):
        own = reading.scores(fitted.learnt, read, vectors)
        return reading.probability(fitted.learnt[3], np.column_stack([own, evidence]))


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
    if fitted.about["evidence"] and evidence is None:
        raise ParameterError(name, "was fitted with evidence and needs that of these texts, too")
    there = texts[texts["text"].fillna("").str.strip() != ""]
    chances = np.full(len(texts), np.nan)
    if len(there):
        features = _of_evidence(there, evidence if fitted.about["evidence"] else None)
        chances[there.index] = probabilities(
            fitted, there["text"].tolist(), features, progress=progress
        )
    return judgements(
        texts,
        Said(chances >= 0.5, chances, lost=strange(fitted, there)),
        judge=name,
        evidence=evidence,
        knowledge=fitted.about["knowledge"],
    )


def strange(fitted: Fitted, texts: pd.DataFrame) -> dict[str, str]:
    """Return the texts that a judge cannot read, by text_id, each with the reason.

    Examples
    --------
    >>> known = dict.fromkeys(["the", "women", "are", "weak"])
    >>> fitted = Fitted([{"words": {"vocabulary_": known}}], {})
    >>> said = ["The women drive.", "Die Frauen fahren."]
    >>> texts = pd.DataFrame({"text_id": ["english", "german"], "text": said})
    >>> strange(fitted, texts)
    {'german': 'no more than a fifth of its words stand in the texts that the judge was fitted...'}
    """
    known = fitted.learnt[0]["words"]["vocabulary_"]
    lost = {}
    for row in texts.itertuples():
        said = [one for one in grams.tokens(str(row.text)[:READ]) if one not in "?!."]
        # However short: of two or three English words one is known as a rule ("women are weak").
        if not said or np.mean([one in known for one in said]) <= KNOWN:
            lost[str(row.text_id)] = UNKNOWN
    return lost


def instrument(model: str = embeddings.AUTO, *, taught: bool = False) -> str:
    """Return the judge's name with its versions, as tables and figures show it.

    `taught` says whether it learnt from `biasalert.twins`, too.
    """
    named = f"scikit-learn {version('scikit-learn')} on {embeddings.instrument(model)}"
    return f"{named}, twins learnt" if taught else named
