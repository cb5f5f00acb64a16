"""The quick offline judge: words, characters, embeddings and evidence, fitted in seconds.

A classifier of scikit-learn and a fine-tuned encoder read the text; a second, small classifier
weighs what they say about texts that they were not fitted on, and what the evidence says
(stacking). So its probabilities are calibrated. In a run the first two learn from
`biasalert.counterfactuals`, too, where the same name stands in what is biased and in what is not;
the last does not, so that a probability means what it means among the labelled texts.
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
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from nbbias import tables
from nbbias.biasalert.judges import finetuned
from nbbias.biasalert.judges.attribution import Verdicts, judgements
from nbbias.biasalert.judges.registry import Judge, Settings, TrainingInput
from nbbias.biasalert.knowledge.retrieval import summarize_evidence
from nbbias.biasalert.knowledge.split import add_clusters
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

#: Weight of an unbiased sentence of the sample in the final classifier.
_UNBIASED = 3.0

#: Folds of the texts that the final classifier is fitted to.
_FOLDS = 3

#: Parameters of the base model fitted to the sample: written by ``tools/dev.py classifier``.
SHIPPED = "biasalert/classifier.npz"

WORD = r"[\w']+|[?!.]"


class BaseModel(NamedTuple):
    """A fitted classifier, whose log-odds a final one weighs (stacking).

    Attributes
    ----------
    counts : FeatureUnion
        What counts words and pieces of words.
    linear : LogisticRegression
        The classifier of what is counted and of the embedding.
    """

    counts: FeatureUnion
    linear: LogisticRegression


class Fitted(NamedTuple):
    """A fitted judge: a base model, and the final one of its log-odds and any evidence."""

    base: BaseModel
    final: Pipeline
    settings: Settings


def make_with_evidence(training: TrainingInput) -> tuple[Judge, str]:
    """Return the judge `classifier` of a run, and its instrument."""
    assert training.retrieve is not None
    fitted = fit(training, training.retrieve(training.train))
    instrument = f"{_name_instrument(training)}, knowledge {training.knowledge}"
    return partial(judge, fitted=fitted, knowledge=training.knowledge), instrument


def make_alone(training: TrainingInput) -> tuple[Judge, str]:
    """Return the judge `classifier_alone` of a run, and its instrument."""
    alone = partial(judge, fitted=fit(training), name="classifier_alone")
    return lambda texts, _: alone(texts), _name_instrument(training)


def _name_instrument(training: TrainingInput) -> str:
    model = embeddings.instrument(training.settings.embedding_model)
    beside = "with counterfactual texts and an encoder fine-tuned on them"
    return f"scikit-learn {version('scikit-learn')} on {model}, {beside}"


def fit(training: TrainingInput, evidence: pd.DataFrame | None = None) -> Fitted:
    """Fit the quick judge.

    Parameters
    ----------
    training
        Of its texts `text`, `biased` and `comment_id` are read, the last so that near-duplicates
        are on one side when the final one is fitted. Judges of one input share a base model.
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
        training.shared["base"] = fitted or fit_base_model(table, texts, training.settings)
    base, held_out = training.shared["base"]
    # Without this penalty it overstates what it knows of sentences unlike the sample's, half of
    # which are biased; where people write, fewer are.
    final = make_pipeline(StandardScaler(), LogisticRegression(C=0.2, max_iter=500))
    weight = np.where(training.settings.simulated & ~table["biased"], _UNBIASED, 1.0)
    with threadpool_limits(1):
        features = _features(held_out, table, evidence, training.settings)
        final.fit(features, table["biased"], logisticregression__sample_weight=weight)
    return Fitted(base, final, training.settings)


def load_shipped(texts: pd.DataFrame, settings: Settings) -> tuple[BaseModel, np.ndarray] | None:
    """Load `fit_base_model` of the sample as shipped; return None for other texts."""
    base = BaseModel(_counter(), _classifier(settings.seed))
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


def steps(base: BaseModel) -> dict[str, Any]:
    """Return the estimators that a base model is made of, by name."""
    return {**dict(base.counts.transformer_list), "linear": base.linear}


def hash_training(texts: pd.DataFrame, settings: Settings) -> str:
    """Return the SHA-256 of all that a fitted base model depends on."""
    rows = texts[["text", "biased", "weight"]].to_numpy().tolist()
    encoder, _, _ = embeddings.instrument(settings.embedding_model).partition(",")
    return tables.hash_json([rows, settings.seed, encoder])


def fit_base_model(
    table: pd.DataFrame, both: pd.DataFrame, settings: Settings
) -> tuple[BaseModel, np.ndarray]:
    """Fit a base model; return with it the log-odds of each text where it was held out.

    Rows of `both` after those of `table` are trained on and never held out. The second column are
    the log-odds of the fine-tuned encoder.
    """
    texts = both["text"].str[:READ]
    model, device = settings.embedding_model, settings.device
    vectors = embeddings.embed(texts, model=model, device=device, persist=True)
    # Matrices this small keep threads waiting for each other longer than they compute.
    with threadpool_limits(1):
        # The words of texts held out are counted, too, but not their labels.
        counts = _counter()
        features = _join(counts.fit_transform(texts), vectors)
        held_out = np.zeros(len(table))
        truth, weights = both["biased"].to_numpy(bool), both["weight"].to_numpy()

        def learn(rows: np.ndarray) -> LogisticRegression:
            linear = _classifier(settings.seed)
            return linear.fit(features[rows], truth[rows], sample_weight=weights[rows])

        folds = GroupKFold(n_splits=_FOLDS, shuffle=True, random_state=settings.seed)
        for _, out in folds.split(table, groups=add_clusters(table)["comment_id"]):
            rest = np.delete(np.arange(len(both)), out)
            held_out[out] = learn(rest).decision_function(features[out])
        base = BaseModel(counts, learn(np.arange(len(both))))
    return base, np.column_stack([held_out, finetuned.log_odds(texts[: len(table)])])


def _counter() -> FeatureUnion:
    counted: dict[str, Any] = {"min_df": 2, "sublinear_tf": True}
    words = TfidfVectorizer(token_pattern=WORD, ngram_range=(1, 3), **counted)
    characters = TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 5), **counted)
    return FeatureUnion([("words", words), ("characters", characters)])


def _join(counted: sparse.csr_matrix, vectors: np.ndarray) -> sparse.csr_matrix:
    """Return texts as numbers: weighed words, weighed characters, and their embeddings."""
    return sparse.hstack([counted, sparse.csr_matrix(vectors)]).tocsr()


def _classifier(seed: int) -> LogisticRegression:
    # The dual has the same optimum in a quarter of the time that the primal takes.
    solver: dict[str, Any] = {"solver": "liblinear", "dual": True, "max_iter": 1000}
    return LogisticRegression(C=4.0, random_state=seed, **solver)


@lru_cache(maxsize=1)
def _read(base: BaseModel, texts: tuple[str, ...], model: str, device: str) -> np.ndarray:
    """Return the log-odds of texts by base model and encoder, cached for judges that share them."""
    vectors = embeddings.embed(texts, model=model, device=device)
    with threadpool_limits(1):
        odds = base.linear.decision_function(_join(base.counts.transform(texts), vectors))
    return np.column_stack([odds, finetuned.log_odds(texts, device=device)])


def require_trainable(labelled: pd.DataFrame) -> pd.DataFrame:
    """Return the rows that a judge can be fitted on: those with a text.

    Raises
    ------
    ParameterError
        Fewer than ten texts of either label.
    """
    table = labelled[~tables.is_blank(labelled["text"])].reset_index(drop=True)
    counts = {"biased": int(table["biased"].sum()), "not biased": int((~table["biased"]).sum())}
    short = [f"{name}: {count}" for name, count in counts.items() if count < FEWEST]
    if short:
        needed = "a judge needs ten texts of either label to learn from"
        raise tables.ParameterError("labelled texts", f"{needed} ({'; '.join(short)})")
    return table


def _features(
    odds: np.ndarray, texts: pd.DataFrame, evidence: pd.DataFrame | None, settings: Settings
) -> np.ndarray:
    """Return what the final classifier reads: log-odds, and numbers of any evidence.

    People's labels tell what base model and encoder are worth. Simulated sentences are too much
    alike for that: there the two weigh the same.
    """
    if settings.simulated:
        odds = odds.mean(axis=1, keepdims=True)
    if evidence is None:
        return odds
    summary = summarize_evidence(texts, evidence)[["best", "mean", "agreement", "n_used"]]
    return np.column_stack([odds, summary.fillna(0.0).to_numpy(float)])


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
        EVIDENCE of these texts, where the judge was fitted with evidence.
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
    texts = texts.reset_index(drop=True)
    settings = fitted.settings
    present = texts[~tables.is_blank(texts["text"])]
    chances = np.full(len(texts), np.nan)
    if len(present):
        read, model = tuple(present["text"].str[:READ]), settings.embedding_model
        odds = _read(fitted.base, read, model, settings.device)
        features = _features(odds, present, evidence, settings)
        with threadpool_limits(1):
            chances[present.index] = fitted.final.predict_proba(features)[:, 1]
    vocabulary = fitted.base.counts.named_transformers["words"].vocabulary_
    verdicts = Verdicts(chances >= 0.5, chances, lost=find_unreadable(present, vocabulary))
    return judgements(texts, verdicts, judge=name, evidence=evidence, knowledge=knowledge)


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
