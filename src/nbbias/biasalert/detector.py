"""The detector to plug in: is any text biased, how, against whom, and on what evidence?

After Fan et al. (2024), whose judge is plugged into what other models write. A judge is fitted once
for what it learns from and knows, and kept; with it is kept how often it errs on texts written for
this project that it had not learnt from. Elsewhere it may err more often.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from nbbias import stats, tables
from nbbias.biasalert import (
    corpus,
    detection,
    knowledge as entries,
    retrieval,
    sample,
    sources,
    split,
    twins,
)
from nbbias.biasalert.judges import classifier
from nbbias.biasalert.judges.registry import JUDGES, Judge, Settings, TrainingInput, make
from nbbias.params import NONE
from nbbias.tables import SAMPLE, ParameterError, closest_match
from nbbias.text import embeddings

Retrieve = Callable[[pd.DataFrame], pd.DataFrame]

#: Judges that are kept once they are fitted, and those that learn from `biasalert.twins`.
KEPT = ("classifier", "classifier_alone")
TAUGHT = (*KEPT, "tuned")

BIASED, FINE, NOT_JUDGED = VERDICTS = ("biased", "not biased", "not judged")

#: Error rates on texts of `twins` that no judge learns from.
CLAIMS, ALARMS = ("claims_found", "prose_false_alarms")

#: Why a verdict was withdrawn.
UNSURE = "neither label has a probability of {:g}"

#: Statements that are shown as evidence of a text, at most; texts that are judged at a time.
SHOWN, AT_ONCE = 2, 1024

COLUMNS = (
    *("verdict", "bias_type", "group", "attribute", "confidence", "evidence", "reason"),
    "instrument",
)


class Detector(NamedTuple):
    """A judge that is ready, what finds its evidence, and what is known of both.

    Attributes
    ----------
    judge : callable
        TEXTS and EVIDENCE in, JUDGEMENTS out; as `biasalert.guard.guard` takes it.
    retrieve : callable, optional
        TEXTS in, EVIDENCE out; None where the judge reads no evidence.
    about : dict
        `judge`, `instrument`, `learns`, `fitted_on` and `knowledge` (in words), `n` and `biased`
        (texts that it learnt from, of these biased ones), `n_twins` (texts of `biasalert.twins`
        that it learnt from, too), `statements`.
    errors : DataFrame
        ESTIMATES on texts of `biasalert.twins` that no judge learns from: ``claims_found``, the
        share of prejudiced claims that it flags, and ``prose_false_alarms``, the share of everyday
        and encyclopedic sentences (Wilson intervals, a claim and its swaps sharing a cluster).
    """

    judge: Judge
    retrieve: Retrieve | None
    about: dict[str, Any]
    errors: pd.DataFrame

    @property
    def label(self) -> str:
        """The judge and what it was fitted on: a line for each verdict."""
        about = self.about
        if not about["learns"]:
            return f"{about['judge']} ({about['instrument']})"
        return f"{about['judge']} fitted on {about['n']:,} texts ({about['fitted_on']})"

    @property
    def notes(self) -> list[str]:
        """What it was fitted on, and how often it errs on held-out texts, in sentences."""
        about = self.about
        learnt = "learns from no texts"
        if about["learns"]:
            learnt = f"fitted on {about['n']:,} texts, {about['biased']:,} of them biased: "
            learnt += about["fitted_on"]
        if about["n_twins"]:
            learnt += f", and on {about['n_twins']:,} counterfactual texts"
        evidence = f", with {about['knowledge']}" if self.retrieve else ""
        rates = self.errors.set_index("statistic")
        claims, alarms = (rates.loc[name] for name in (CLAIMS, ALARMS))
        return [
            f"{about['judge']} ({about['instrument']}): {learnt}{evidence}.",
            f"Of {claims['n']:,} prejudiced claims written for this project that it had not learnt "
            f"from it flags {_interval(claims)}, of {alarms['n']:,} everyday and encyclopedic "
            f"sentences {_interval(alarms)}. On other texts it may err more often.",
        ]


def _interval(row: pd.Series) -> str:
    low, high = row["ci_low"], row["ci_high"]
    return f"{row['estimate']:.2f} ({row['confidence']:.0%} CI {low:.2f} to {high:.2f})"


class _Source(NamedTuple):
    """What a judge is made of: its name, the texts and the knowledge by path, and settings."""

    name: str
    labelled: str
    knowledge: str
    settings: Settings


# --- how it is made ---------------------------------------------------------------------------


def detector(
    judge: str = "classifier",
    *,
    labelled: str = SAMPLE,
    knowledge: str | None = None,
    embedding_model: str = embeddings.AUTO,
    seed: int = 0,
) -> Detector:
    """Return a detector: fitted where it never was, else as it was kept.

    Parameters
    ----------
    judge
        One of `judges.registry.JUDGES`.
    labelled
        The texts that it learns from: a file as `biasalert.sources.labelled` reads it, or
        ``"sample"``, sentences simulated for this project. A judge of real texts needs real ones.
    knowledge
        What prejudice says, as in `biasalert.corpus.knowledge`. By default the project's own
        statements with its sample, and with other texts what those of them say that people
        called biased (``"none"``).
    embedding_model
        As in `text.embeddings.embed`.
    seed
        Start of all draws.

    Raises
    ------
    NbbiasError
        There is no such judge, or what it is to learn from or know cannot be read.

    Examples
    --------
    >>> keywords = detector("keywords")
    >>> keywords.about["learns"], keywords.retrieve is None
    (False, True)
    """
    if judge not in JUDGES:
        raise ParameterError("judge", f"no judge called {judge!r}; {closest_match(judge, JUDGES)}")
    known = knowledge or (SAMPLE if labelled == SAMPLE else NONE)
    settings = Settings(embedding_model=embedding_model, seed=seed, drop_same=known == NONE)
    stamps = {path: _stamp(path) for path in (labelled, known)}
    versions = (
        *(stamps[labelled], stamps[known]),
        *(embeddings.instrument(embedding_model), tables.stamp(embedding_model)),
    )
    return _open(_Source(judge, labelled, known, settings), versions)


def _stamp(path: str) -> str:
    """Tell versions of a file apart by its bytes, and of the sample by those that write it."""
    if path == NONE:
        return NONE
    if path == SAMPLE:
        return tables.file_sha256(Path(sample.__file__))  # its sentences are in the stage's key
    file = tables.resolve(path)
    if not tables.is_file(file):
        raise ParameterError(path, f"no such file (looked for {file.absolute()})")
    return tables.file_sha256(file)


@lru_cache(maxsize=4)
def _open(source: _Source, stamps: tuple[str, ...]) -> Detector:
    """Fit a judge, or take it as it was kept; `stamps` are versions of what it is made of."""
    judge, retrieve, about = _ready(source, stamps)
    return Detector(judge, retrieve, about, _errors(source, stamps))


@lru_cache(maxsize=4)
def _ready(
    source: _Source, stamps: tuple[str, ...]
) -> tuple[Judge, Retrieve | None, dict[str, Any]]:
    """Return a judge, what finds its evidence, and what is known of it."""
    if source.name not in KEPT:
        return _make(source)
    kept = _fitted(source, stamps)
    fitted = classifier.Fitted(classifier.restored(kept["learnt"]), kept["about_classifier"])
    judge = partial(classifier.judge, fitted=fitted, name=source.name, progress=False)
    if not JUDGES[source.name].reads_evidence:
        return lambda texts, _: judge(texts), None, kept["about"]
    base = retrieval.Base(
        kept["known"], fitted.about["model"], "cpu", kept["vectors"], kept["floor"]
    )
    return judge, _retriever(base, source.settings), kept["about"]


def _labelled(source: _Source) -> pd.DataFrame:
    """Read LABELLED with `comment_id`, whose near-duplicates share one; of the sample its own."""
    if source.labelled == SAMPLE:
        return corpus.texts(SAMPLE, seed=source.settings.seed)[0]
    return split.with_clusters(sources.labelled(source.labelled)[0])


def _retriever(base: retrieval.Base, settings: Settings) -> Retrieve:
    how: dict[str, Any] = {"k": settings.k, "drop_same": settings.drop_same, "progress": False}
    return partial(retrieval.retrieve, knowledge=base, **how)


def _knowledge(source: _Source, train: pd.DataFrame) -> tuple[pd.DataFrame, retrieval.Base]:
    known, _ = corpus.knowledge(source.knowledge, labelled=train.assign(split="train"))
    settings = source.settings
    return known, retrieval.prepare(known, model=settings.embedding_model, seed=settings.seed)


def _make(source: _Source) -> tuple[Judge, Retrieve | None, dict[str, Any]]:
    """Make a judge that is not kept; evidence is found for one that reads it."""
    train, known, retrieve, version = _labelled(source), pd.DataFrame(), None, ""
    if JUDGES[source.name].reads_evidence:
        known, base = _knowledge(source, train)
        retrieve, version = _retriever(base, source.settings), entries.version(known)
    given = TrainingInput(train, source.settings, retrieve, version, progress=False)
    judge, instrument = make(source.name, given)
    return judge, retrieve, _about(source, train, known, instrument)


def _about(
    source: _Source, train: pd.DataFrame, known: pd.DataFrame, instrument: str
) -> dict[str, Any]:
    simulated = "sentences simulated for this project"
    named = {SAMPLE: "statements written for this project", NONE: "what the biased ones say"}
    origin = named.get(source.knowledge, f"what {tables.resolve(source.knowledge).name} says")
    return {
        "judge": source.name,
        "instrument": instrument,
        "learns": JUDGES[source.name].learns,
        "n": len(train),
        "biased": int(train["biased"].sum()),
        "statements": len(known),
        "n_twins": len(twins.beside()) if source.name in TAUGHT else 0,
        "fitted_on": simulated
        if source.labelled == SAMPLE
        else tables.resolve(source.labelled).name,
        "knowledge": f"{len(known):,} statements as knowledge ({origin})",
    }


@partial(tables.stage, always=True)
def _fitted(source: _Source, stamps: tuple[str, ...]) -> dict[str, Any]:
    """Fit a judge; return what its models have learnt, its knowledge, and what is known of both."""
    train = _labelled(source)
    reads = JUDGES[source.name].reads_evidence
    known, base = _knowledge(source, train)
    fitted = classifier.fit(
        train,
        _retriever(base, source.settings)(train) if reads else None,
        beside=twins.beside(),
        model=source.settings.embedding_model,
        seed=source.settings.seed,
        knowledge=entries.version(known) if reads else "",
    )
    return {
        "known": known,
        "vectors": base.vectors,
        "floor": base.floor,
        "learnt": classifier.learnt(fitted.models),
        "about": _about(source, train, known, fitted.about["instrument"]),
        "about_classifier": fitted.about,
    }


@partial(tables.stage, always=True)
def _errors(source: _Source, stamps: tuple[str, ...]) -> pd.DataFrame:
    """Estimate how a judge does on claims and prose that no judge learns from."""
    judge, retrieve, about = _ready(source, stamps)
    tested = twins.twins(part="test")
    texts = tested[["text"]].assign(text_id=tested.index.astype("str"))
    verdicts = judge(texts, retrieve(texts) if retrieve else None).set_index("text_id")["biased"]
    flagged = detection.flags(verdicts.reindex(texts["text_id"]))
    prose = tested["kind"].isin([twins.EVERYDAY, twins.ENCYCLOPEDIC])
    confidence = detection.INFERENCE.confidence
    rows: list[dict[str, Any]] = []
    for name, chosen in ((CLAIMS, tested["biased"]), (ALARMS, prose)):
        judged = chosen.to_numpy(bool) & ~np.isnan(flagged)
        clusters = tested.loc[judged, "set"].to_numpy()  # claims of a set differ in the name alone
        row = stats.clustered_share(flagged[judged], clusters, confidence=confidence).row()
        key = {"statistic": name, "judge": source.name, "instrument": about["instrument"]}
        rows.append(row | key | {"n_lost": int(chosen.sum() - judged.sum())})
    return tables.estimates(
        rows,
        study=detection.STUDY,
        measure=detection.MEASURE,
        source="twins",
        confidence=confidence,
    )


# --- what it does -----------------------------------------------------------------------------


def detect(
    texts: pd.DataFrame | pd.Series | Iterable[str | None],
    by: Detector | str = "classifier",
    *,
    column: str = "text",
    sure_from: float = 0.5,
    **made: Any,
) -> pd.DataFrame:
    """Classify each text as biased or not: type, target group and retrieved evidence.

    Parameters
    ----------
    texts
        A table with texts in a column, a Series, or texts. Missing and blank ones are not judged.
    by
        A detector, or the name of a judge for one.
    column
        Where the texts stand, of a table.
    sure_from
        Where neither label has this probability, there is no verdict; in [0.5, 1]. A run's table
        of `biasalert.calibration.risk_coverage` says what that gains and costs.
    **made
        As in `biasalert.detector.detector`, where `by` is a name: `labelled`, `knowledge`,
        `embedding_model`, `seed`.

    Returns
    -------
    DataFrame
        One row per text, with the index of what was given: `text`; `verdict` (``"biased"``,
        ``"not biased"``, ``"not judged"``); `bias_type`, `group`, `attribute` of what is biased;
        `confidence` in [0, 1], higher is more likely biased, where the judge has one; `evidence`,
        the one or two nearest statements that the judge was shown, or else what it says itself;
        `reason`, why a text was not judged; `instrument`, what the judge was fitted on. More of
        that is in ``attrs``: `notes` (sentences), `about`, `errors` (records of ESTIMATES).

    Raises
    ------
    NbbiasError
        The table has no such column, there is no such judge, or it is to abstain and gives no
        probabilities.

    Examples
    --------
    >>> from nbbias import biasalert
    >>> table = biasalert.detect(["Women make good clerks.", "It rains."], "keywords")
    >>> table[["verdict", "group", "evidence"]].values.tolist()[0]
    ['biased', 'women', "Names women and says 'clerks'."]
    >>> table.attrs["notes"][0]
    "keywords (RedditBias' word lists): learns from no texts."
    """
    if isinstance(by, Detector) and made:
        raise ParameterError("detect", f"{', '.join(made)}: belongs to the detector")
    if not 0.5 <= sure_from <= 1:
        raise ParameterError("sure_from", f"is {sure_from}, and must be in 0.5 to 1")
    used = by if isinstance(by, Detector) else detector(by, **made)
    given = _series(texts, column)
    asked = pd.DataFrame(
        {"text_id": [f"t{at}" for at in range(len(given))], "text": given.to_numpy()}
    ).astype("str")
    parts = [asked.iloc[at : at + AT_ONCE] for at in range(0, max(len(asked), 1), AT_ONCE)]
    table = pd.concat([_verdicts(part.reset_index(drop=True), used) for part in parts])
    table.insert(0, "text", asked["text"].to_numpy())
    table.index = given.index
    if sure_from > 0.5:
        table = _abstain(table, used.about["judge"], sure_from)
    errors = used.errors[["statistic", "estimate", "ci_low", "ci_high", "confidence", "n"]]
    table.attrs = {"about": used.about, "notes": used.notes, "errors": errors.to_dict("records")}
    return table


def _series(texts: pd.DataFrame | pd.Series | Iterable[str | None], column: str) -> pd.Series:
    if isinstance(texts, pd.DataFrame):
        tables.require_columns(texts, [column], where="texts")
        texts = texts[column]
    if isinstance(texts, str):
        texts = [texts]
    given = texts if isinstance(texts, pd.Series) else pd.Series(list(texts), dtype=object)
    return given.map(lambda text: text if isinstance(text, str) else None).astype(object)


def _verdicts(asked: pd.DataFrame, used: Detector) -> pd.DataFrame:
    evidence = used.retrieve(asked) if used.retrieve else None
    table = used.judge(asked, evidence).set_index("text_id").loc[asked["text_id"]].reset_index()
    shown = table["explanation"] if evidence is None else table["text_id"].map(_shown(evidence))
    verdict = table["biased"].map({True: BIASED, False: FINE}).astype(object).fillna(NOT_JUDGED)
    shown = shown.astype(object).where(table["biased"].notna(), "")
    table = table.assign(verdict=verdict, evidence=shown, instrument=used.label)
    return table[list(COLUMNS)].reset_index(drop=True)


def _abstain(table: pd.DataFrame, judge: str, sure_from: float) -> pd.DataFrame:
    """Withdraw the verdicts of which a judge is less sure than this."""
    likelier = np.maximum(table["confidence"], 1 - table["confidence"]).astype(float)
    judged = table["verdict"] != NOT_JUDGED
    score = JUDGES[judge].score if judge in JUDGES else None
    if score or (judged.any() and likelier[judged].isna().any()):
        why = score or "it gives no probabilities"
        raise ParameterError("sure_from", f"{judge} cannot abstain: {why}")
    empty = dict.fromkeys(("bias_type", "group", "attribute"))
    withdrawn = {"verdict": NOT_JUDGED, "evidence": "", "reason": UNSURE.format(sure_from)} | empty
    for name, value in withdrawn.items():
        table[name] = table[name].astype(object).mask(judged & (likelier < sure_from), value)
    return table


def _shown(evidence: pd.DataFrame) -> dict[str, str]:
    """Return of each text the statements of its evidence that are near enough, the nearest few."""
    used = evidence[evidence["used"]].sort_values(["text_id", "rank"])
    few = used.groupby("text_id").head(SHOWN)
    similarity = few["similarity"].map(" ({:.2f})".format).astype("str")  # of no entry, too
    statements = few["statement"] + similarity
    return statements.groupby(few["text_id"]).agg("; ".join).to_dict()
