"""The quick offline judge: words, characters, embeddings and evidence, fitted in seconds.

Two classifiers of scikit-learn read the text; a third, small one weighs what they say about texts
they were not fitted on, and what the evidence says (stacking). So its probabilities are calibrated.
In a run the two learn from `biasalert.counterfactuals`, too, where the same name stands in what is
biased and in what is not; the third does not, so that a probability means what it means among the
labelled texts.
"""

from __future__ import annotations

import re
from collections.abc import Container
from functools import lru_cache, partial
from importlib.metadata import version
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from nbbias import tables
from nbbias.biasalert.contracts import LABELLED, TEXTS
from nbbias.biasalert.judges.attribution import Verdicts, judgements
from nbbias.biasalert.judges.registry import Judge, Settings, TrainingInput
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

#: Parameters of the base models fitted to the sample: written by ``tools/dev.py classifier``.
SHIPPED = "biasalert/classifier.npz"

WORD = r"[\w']+|[?!.]"


class BaseModels(NamedTuple):
    """Fitted classifiers whose log-odds a final one combines (stacking).

    Attributes
    ----------
    counts : FeatureUnion
        What counts words and pieces of words.
    linear : LogisticRegression
        The classifier of what is counted and of the embedding.
    kernel : Pipeline
        The classifier of the embedding alone.
    """

    counts: FeatureUnion
    linear: LogisticRegression
    kernel: Pipeline


class Fitted(NamedTuple):
    """A fitted judge: base models, and the final one of their log-odds and any evidence."""

    base: BaseModels
    final: Pipeline
    settings: Settings
    reads_evidence: bool


def make_with_evidence(training: TrainingInput) -> tuple[Judge, str]:
    """Return the judge `classifier` of a run, and its instrument."""
    assert training.retrieve is not None
    fitted = fit(training, training.retrieve(training.train))
    named = f"{_name_instrument(training)}, knowledge {training.knowledge}"
    return partial(judge, fitted=fitted, knowledge=training.knowledge), named


def make_alone(training: TrainingInput) -> tuple[Judge, str]:
    """Return the judge `classifier_alone` of a run, and its instrument."""
    fitted = fit(training)
    alone = partial(judge, fitted=fitted, name="classifier_alone")
    return lambda texts, _: alone(texts), _name_instrument(training)


def _name_instrument(training: TrainingInput) -> str:
    model = embeddings.instrument(training.settings.embedding_model)
    more = ", with counterfactual texts" if len(training.further) else ""
    return f"scikit-learn {version('scikit-learn')} on {model}{more}"


def fit(training: TrainingInput, evidence: pd.DataFrame | None = None) -> Fitted:
    """Fit the quick judge.

    Parameters
    ----------
    training
        Of its texts `text`, `biased` and `comment_id` are read, the last so that near-duplicates
        are on one side when the final one is fitted. Judges of one input share base models.
    evidence
        EVIDENCE of these texts, whose own entries `retrieve` has dropped; None leaves it out.

    Raises
    ------
    ParameterError
        Fewer than ten texts of either label.
    """
    table = require_trainable(training.train)
    if "base" not in training.shared:
        texts = pd.concat([table.assign(weight=1.0), training.further], ignore_index=True)
        fitted = load_shipped(texts, training.settings)
        training.shared["base"] = fitted or fit_base_models(table, texts, training.settings)
    base, held_out = training.shared["base"]
    final = make_pipeline(StandardScaler(), LogisticRegression(max_iter=500))
    with threadpool_limits(1):
        final.fit(np.column_stack([held_out, _evidence_features(table, evidence)]), table["biased"])
    return Fitted(base, final, training.settings, evidence is not None)


def load_shipped(texts: pd.DataFrame, settings: Settings) -> tuple[BaseModels, np.ndarray] | None:
    """Load `fit_base_models` of the sample as shipped; return None for other texts."""
    base = BaseModels(_counter(), *_make_two(len(texts), settings.seed))
    with np.load(tables.data_path(SHIPPED), allow_pickle=False) as saved:
        if str(saved["fitted_on"]) != hash_training(texts, settings):
            return None
        for name in saved.files[2:]:
            step, attribute = name.split(".")
            value = saved[name]
            if attribute == "vocabulary_":
                value = {word: at for at, word in enumerate(str(value).split("\n"))}
            setattr(steps(base)[step], attribute, value)
        return base, saved["held_out"]


def steps(base: BaseModels) -> dict[str, Any]:
    """Return the estimators that base models are made of, by name."""
    counters, kernel = base.counts.transformer_list, base.kernel.steps
    return {**dict(counters), "linear": base.linear, **dict(kernel)}


def hash_training(texts: pd.DataFrame, settings: Settings) -> str:
    """Return the SHA-256 of all that fitted base models depend on."""
    rows = texts[["text", "biased", "weight"]].to_numpy().tolist()
    encoder, _, _ = embeddings.instrument(settings.embedding_model).partition(",")
    return tables.hash_json([rows, settings.seed, encoder])


def fit_base_models(
    table: pd.DataFrame, both: pd.DataFrame, settings: Settings
) -> tuple[BaseModels, np.ndarray]:
    """Fit base models; return with them the log-odds of each text where it was held out.

    Rows of `both` after those of `table` are trained on and never held out.
    """
    texts = both["text"].str[:READ]
    vectors = embeddings.embed(texts, model=settings.embedding_model, device=settings.device)
    # Matrices this small keep threads waiting for each other longer than they compute.
    with threadpool_limits(1):
        # The words of texts held out are counted, too, but not their labels.
        counts = _counter()
        features = _join(counts.fit_transform(texts), vectors)
        held_out = np.zeros((len(table), 2))
        fold = assign_folds(table, n=_FOLDS, seed=settings.seed).to_numpy()
        for number in range(_FOLDS):
            out = np.flatnonzero(fold == number)
            rest = np.setdiff1d(np.arange(len(both)), out)
            n = len(table) - len(out)
            two = _fit_two(both.iloc[rest], features[rest], vectors[rest], n=n, seed=settings.seed)
            held_out[out] = _log_odds(BaseModels(counts, *two), features[out], vectors[out])
        two = _fit_two(both, features, vectors, n=len(table), seed=settings.seed)
    return BaseModels(counts, *two), held_out


def _counter() -> FeatureUnion:
    counted: dict[str, Any] = {"min_df": 2, "sublinear_tf": True}
    words = TfidfVectorizer(token_pattern=WORD, ngram_range=(1, 3), **counted)
    characters = TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 5), **counted)
    return FeatureUnion([("words", words), ("characters", characters)])


def _join(counted: sparse.csr_matrix, vectors: np.ndarray) -> sparse.csr_matrix:
    """Return texts as numbers: weighed words, weighed characters, and their embeddings."""
    return sparse.hstack([counted, sparse.csr_matrix(_VECTOR * vectors)]).tocsr()


def _fit_two(
    texts: pd.DataFrame, features: sparse.csr_matrix, vectors: np.ndarray, *, n: int, seed: int
) -> tuple[LogisticRegression, Pipeline]:
    """Fit the linear classifier, and one on the kernel of embeddings; `n` texts are labelled."""
    truth, weights = texts["biased"].to_numpy(bool), texts["weight"].to_numpy()
    linear, kernel = _make_two(n, seed)
    linear.fit(features, truth, sample_weight=weights)
    kernel.fit(vectors, truth, logisticregression__sample_weight=weights)
    return linear, kernel


def _make_two(n: int, seed: int) -> tuple[LogisticRegression, Pipeline]:
    # The same optimum in a quarter of the time that the primal takes.
    solver: dict[str, Any] = {"solver": "liblinear", "dual": True, "max_iter": 1000}
    # As many landmarks as labelled texts: a small file is learned from in a second.
    landmarks = Nystroem(gamma=1.5, n_components=min(_LANDMARKS, n), random_state=seed)
    kernel = make_pipeline(landmarks, LogisticRegression(C=8.0, max_iter=500))
    return LogisticRegression(C=2.0, random_state=seed, **solver), kernel


@lru_cache(maxsize=1)
def _read(base: BaseModels, texts: tuple[str, ...], model: str, device: str) -> np.ndarray:
    """Return the base models' log-odds of texts, cached for judges that share them."""
    vectors = embeddings.embed(texts, model=model, device=device)
    with threadpool_limits(1):
        return _log_odds(base, _join(base.counts.transform(texts), vectors), vectors)


def _log_odds(base: BaseModels, features: sparse.csr_matrix, vectors: np.ndarray) -> np.ndarray:
    odds = base.linear.decision_function(features), base.kernel.decision_function(vectors)
    return np.column_stack(odds)


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
    summary = summarize_evidence(texts, evidence)
    return summary[["best", "mean", "agreement", "n_used"]].fillna(0.0).to_numpy(float)


def judge(
    texts: pd.DataFrame,
    evidence: pd.DataFrame | None = None,
    *,
    fitted: Fitted,
    name: str = "classifier",
    knowledge: str = "",
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
    name, knowledge
        What the judge is called in the table; the version of the knowledge behind the evidence.

    Returns
    -------
    DataFrame
        JUDGEMENTS. `confidence` is the calibrated probability that people call the text biased;
        `biased` from 0.5. No verdict on a blank text, nor (outcome ``failed``) on one most of
        whose words the judge has never read.
    """
    texts = check(texts, TEXTS, where="texts").reset_index(drop=True)
    settings = fitted.settings
    present = texts[~tables.is_blank(texts["text"])]
    chances = np.full(len(texts), np.nan)
    if len(present):
        read, model = tuple(present["text"].str[:READ]), settings.embedding_model
        odds = _read(fitted.base, read, model, settings.device)
        shown = evidence if fitted.reads_evidence else None
        features = np.column_stack([odds, _evidence_features(present, shown)])
        with threadpool_limits(1):
            chances[present.index] = fitted.final.predict_proba(features)[:, 1]
    vocabulary = fitted.base.counts.named_transformers["words"].vocabulary_
    return judgements(
        texts,
        Verdicts(chances >= 0.5, chances, lost=find_unreadable(present, vocabulary)),
        judge=name,
        evidence=evidence,
        knowledge=knowledge,
    )


def find_unreadable(texts: pd.DataFrame, vocabulary: Container[str]) -> dict[str, str]:
    """Return the texts that a judge cannot read, by text_id, each with the reason.

    Examples
    --------
    >>> texts = pd.DataFrame({"text_id": ["english", "german"],
    ...                       "text": ["The women drive.", "Die Frauen fahren."]})
    >>> find_unreadable(texts, {"the", "women", "are", "weak"})
    {'german': 'no more than a fifth of its words stand in the texts that the judge was fitted...'}
    """
    lost = {}
    for text_id, text in texts[["text_id", "text"]].itertuples(index=False):
        words = re.findall(r"[\w']+", str(text)[:READ].lower())
        # However short: of two or three English words one is known as a rule ("women are weak").
        if not words or np.mean([word in vocabulary for word in words]) <= KNOWN:
            lost[str(text_id)] = UNKNOWN
    return lost
