"""The detector to plug in: is any text biased, how, against whom, and on what evidence?

After Fan et al. (2024), whose judge is plugged into what other models write. A judge is fitted once
for what it learns from and knows, and kept; with it is kept how often it was wrong on such texts
when it had not learnt from them. Elsewhere it may be wrong more often: nothing here can tell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from nbbias import tables
from nbbias.biasalert import corpus, knowledge as entries, retrieval, sample, sources, split, twins
from nbbias.biasalert.judges import classifier
from nbbias.biasalert.judges.registry import JUDGES, Given, Judge, Settings, make
from nbbias.biasalert.retrieval import Base
from nbbias.params import NONE
from nbbias.stats import InferenceSettings
from nbbias.tables import SAMPLE, ParameterError, closest_match
from nbbias.text import embeddings

Retrieve = Callable[[pd.DataFrame], pd.DataFrame]

#: Judges that are kept once they are fitted; those that take minutes to fit are not measured here.
KEPT, SLOW = ("classifier", "classifier_alone"), ("tuned",)

#: Judges that learn from `biasalert.twins` beside the labelled texts.
TAUGHT = ("classifier", "classifier_alone", "tuned")

BIASED, FINE, NOT_JUDGED = VERDICTS = ("biased", "not biased", "not judged")

#: Of texts of `twins` that no judge learns from: claims that are flagged, and prose that is.
FOUND, ALARMS = ELSEWHERE = ("claims_found", "prose_false_alarms")

#: Why a verdict was taken back.
UNSURE = "neither label has a probability of {:g}"

#: Statements that are shown as evidence of a text, at most.
SHOWN = 2

#: Parts that labelled texts are dealt into, each judged by what was fitted on the others.
FOLDS = 3

#: Texts that are judged at a time.
AT_ONCE = 1024

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
        (texts that it learnt from or was tried on, of these biased ones), `n_twins` (texts of
        `biasalert.twins` that it learnt from beside them), `statements`.
    errors : DataFrame
        ESTIMATES `accuracy` and `f1` on those texts, each judged by what was fitted on others; no
        rows where that was not measured. On texts of `biasalert.twins` that no judge learns from:
        ``claims_found``, the share of prejudiced claims that it flags, and
        ``prose_false_alarms``, the share of everyday and encyclopedic sentences
        (Wilson intervals, a claim and its swaps sharing a cluster).
    """

    judge: Judge
    retrieve: Retrieve | None
    about: dict[str, Any]
    errors: pd.DataFrame

    @property
    def label(self) -> str:
        """What it is, was fitted on, and is worth there: a line for each verdict."""
        about = self.about
        named = f"{about['judge']} fitted on" if about["learns"] else f"{about['judge']} tried on"
        rows = self.errors[self.errors["statistic"] == "accuracy"]
        right = [f"right on {one:.2f} of such texts" for one in rows["estimate"]]
        fitted = f"{named} {about['n']:,} texts ({about['fitted_on']})"
        return ", ".join([fitted, *(right or ["not measured there"])])

    @property
    def told(self) -> list[str]:
        """What it was fitted on, and how often it is wrong there, in sentences."""
        about = self.about
        known = f", with {about['knowledge']}" if self.retrieve else ""
        texts = f"{about['n']:,} texts, {about['biased']:,} of them biased: {about['fitted_on']}"
        if about["n_twins"]:
            texts += f"; beside them {about['n_twins']:,} twins, which differ in claim or in name"
        does = "fitted on" if about["learns"] else "it learns from no texts; tried on"
        told = [f"{about['judge']} ({about['instrument']}): {does} {texts}{known}."]
        rows = self.errors.set_index("statistic")
        found, alarms = (rows.loc[name] for name in (FOUND, ALARMS))
        elsewhere = (
            f"Of {found['n']:,} prejudiced claims written for this project that it had not learnt "
            f"from it flags {_interval(found)}, of {alarms['n']:,} everyday and encyclopedic "
            f"sentences {_interval(alarms)}. On other texts it may be wrong more often."
        )
        if "accuracy" not in rows.index:
            gap = f"How often it is wrong there was not measured: {about['unmeasured']}."
            return [*told, gap, elsewhere]
        accuracy, f1 = (_interval(rows.loc[name]) for name in ("accuracy", "f1"))
        n, lost = (int(rows.loc["accuracy", name]) for name in ("n", "n_lost"))
        most = max(about["biased"], about["n"] - about["biased"]) / max(about["n"], 1)
        unseen = " that it had not learnt from" if about["learns"] else ""
        return [
            *told,
            f"Of {n:,} such texts{unseen} it is right on {accuracy}; F1 {f1}"
            f"{f'; {lost:,} more it did not judge' if lost else ''}. "
            f"Who always says what most of them are is right on {most:.2f}.",
            elsewhere,
        ]


def _interval(row: pd.Series) -> str:
    return (
        f"{row['estimate']:.2f} ({row['confidence']:.0%} CI {row['ci_low']:.2f} to "
        f"{row['ci_high']:.2f})"
    )


class _Of(NamedTuple):
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
        statements beside its sample, and beside other texts what those of them say that people
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
    >>> keywords.about["n"], keywords.retrieve is None
    (252, True)
    """
    if judge not in JUDGES:
        raise ParameterError("judge", f"no judge called {judge!r}; {closest_match(judge, JUDGES)}")
    known = knowledge or (SAMPLE if labelled == SAMPLE else NONE)
    settings = Settings(embedding_model=embedding_model, seed=seed, drop_same=known == NONE)
    stamp = {path: _stamp(path) for path in (labelled, known)}
    stamps: tuple[str, ...] = (stamp[labelled], stamp[known])
    if JUDGES[judge].learns or JUDGES[judge].reads_evidence:
        stamps = (*stamps, embeddings.instrument(embedding_model), tables.stamp(embedding_model))
    return _open(_Of(judge, labelled, known, settings), stamps)


def _stamp(path: str) -> str:
    """Tell versions of a file apart by its bytes, and of the sample by those that write it."""
    if path == NONE:
        return NONE
    if path == SAMPLE:
        return tables.file_sha256(Path(sample.__file__))  # its sentences are in the stage's key
    found = tables.resolve(path)
    if not tables.is_file(found):
        raise ParameterError(path, f"no such file (looked for {found.absolute()})")
    return tables.file_sha256(found)


@lru_cache(maxsize=4)
def _open(of: _Of, stamps: tuple[str, ...]) -> Detector:
    """Fit a judge, or take it as it was kept; `stamps` tells versions of what it is made of."""
    errors = _errors(of, stamps)
    judge, retrieve, about = _ready(of, stamps)
    about = about | ({"unmeasured": _TOO_FEW} if errors.empty and of.name not in SLOW else {})
    return Detector(judge, retrieve, about, pd.concat([errors, _elsewhere(of, stamps)]))


@lru_cache(maxsize=4)
def _ready(of: _Of, stamps: tuple[str, ...]) -> tuple[Judge, Retrieve | None, dict[str, Any]]:
    """Return a judge, what finds its evidence, and what is told of it."""
    if of.name not in KEPT:
        return _make(of, _labelled(of))
    stored = _fitted(of, stamps)
    fitted = classifier.Fitted(stored["learnt"], stored["about_classifier"])
    judge = partial(classifier.judge, fitted=fitted, name=of.name, progress=False)
    if not JUDGES[of.name].reads_evidence:
        return lambda texts, _: judge(texts), None, stored["about"]
    base = Base(stored["known"], fitted.about["model"], "cpu", stored["vectors"], stored["floor"])
    return judge, _retriever(base, of.settings), stored["about"]


_TOO_FEW = "there are too few texts to hold some out"
_SLOW = "each fit takes minutes; `nbbias run biasalert` measures it"


def _labelled(of: _Of) -> pd.DataFrame:
    """Read LABELLED with `comment_id`, whose near-duplicates share one; of the sample its own."""
    if of.labelled == SAMPLE:
        return corpus.texts(SAMPLE, seed=of.settings.seed)[0]
    return split.with_clusters(sources.labelled(of.labelled)[0])


def _retriever(base: Base, settings: Settings) -> Retrieve:
    return partial(
        retrieval.retrieve,
        knowledge=base,
        k=settings.k,
        drop_same=settings.drop_same,
        progress=False,
    )


def _known(of: _Of, train: pd.DataFrame) -> tuple[pd.DataFrame, Base]:
    known, _ = corpus.knowledge(of.knowledge, labelled=train.assign(split="train"))
    base = retrieval.prepare(known, model=of.settings.embedding_model, seed=of.settings.seed)
    return known, base


def _make(of: _Of, train: pd.DataFrame) -> tuple[Judge, Retrieve | None, dict[str, Any]]:
    """Make a judge of LABELLED; evidence is found for one that reads it."""
    reads = JUDGES[of.name].reads_evidence
    known, base = _known(of, train) if reads else (pd.DataFrame(), None)
    retrieve = _retriever(base, of.settings) if base else None
    version = entries.version(known) if reads else ""
    judge, instrument = make(of.name, Given(train, of.settings, retrieve, version, progress=False))
    return judge, retrieve, _about(of, train, known, instrument)


def _about(of: _Of, train: pd.DataFrame, known: pd.DataFrame, instrument: str) -> dict[str, Any]:
    simulated = "sentences simulated for this project"
    named = {SAMPLE: "statements written for this project", NONE: "what the biased ones say"}
    of_what = named.get(of.knowledge, f"what {tables.resolve(of.knowledge).name} says")
    return {
        "judge": of.name,
        "instrument": instrument,
        "learns": JUDGES[of.name].learns,
        "n": len(train),
        "biased": int(train["biased"].sum()),
        "statements": len(known),
        "n_twins": len(twins.beside()) if of.name in TAUGHT else 0,
        "fitted_on": simulated if of.labelled == SAMPLE else tables.resolve(of.labelled).name,
        "knowledge": f"{len(known):,} statements as knowledge ({of_what})",
        "unmeasured": _SLOW if of.name in SLOW else _TOO_FEW,
    }


@tables.stage(always=True)
def _fitted(of: _Of, stamps: tuple[str, ...]) -> dict[str, Any]:
    """Fit a judge; return what its parts have learnt, its knowledge, and about both.

    `stamps` tells versions of what it is made of apart.
    """
    train = _labelled(of)
    settings, reads = of.settings, JUDGES[of.name].reads_evidence
    known, base = _known(of, train)
    evidence = _retriever(base, settings)(train) if reads else None
    fitted = classifier.fit(
        train,
        evidence,
        beside=twins.beside(),
        model=settings.embedding_model,
        seed=settings.seed,
        knowledge=entries.version(known) if reads else "",
    )
    about = _about(of, train, known, fitted.about["instrument"])
    return {
        "known": known,
        "vectors": base.vectors,
        "floor": base.floor,
        "learnt": fitted.learnt,
        "about": about,
        "about_classifier": fitted.about,
    }


@tables.stage(always=True)
def _errors(of: _Of, stamps: tuple[str, ...]) -> pd.DataFrame:
    """Estimate how good a judge is on texts like those that it learns from, by cross-validation.

    The sample's two sides, which share no stereotype and no template, judge each other; other texts
    are dealt into parts that share no near-duplicate.
    """
    from nbbias.biasalert import detection  # with statsmodels: not to judge by what is kept

    if of.name in SLOW:
        return tables.estimates([], study=detection.STUDY)
    labelled = classifier.with_texts(_labelled(of))
    seed = of.settings.seed
    parts = labelled["split"] if "split" in labelled else split.folds(labelled, n=FOLDS, seed=seed)
    found = []
    try:
        for part in pd.unique(parts):
            train, test = (labelled[rows].reset_index(drop=True) for rows in _sides(parts, part))
            judge, retrieve, about = _make(of, train)
            asked = test[["text_id", "text"]]
            said = judge(asked, retrieve(asked) if retrieve else None)
            found.append(said.assign(instrument=about["instrument"]))
    except (ParameterError, ValueError):  # a part has no text of one label
        return tables.estimates([], study=detection.STUDY)
    told = detection.estimates(
        pd.concat(found, ignore_index=True),
        labelled,
        inference=InferenceSettings(n_permutations=100, seed=seed),
        permutations=20,
    )
    return told[told["statistic"].isin(["accuracy", "f1"])].reset_index(drop=True)


@tables.stage(always=True)
def _elsewhere(of: _Of, stamps: tuple[str, ...]) -> pd.DataFrame:
    """Estimate how a judge does on texts of another kind, which no judge learns from."""
    from nbbias import stats
    from nbbias.biasalert import detection  # with statsmodels: not to judge by what is kept

    judge, retrieve, about = _ready(of, stamps)
    tested = twins.twins(part="test")
    tested["text_id"] = tested.index.astype("str")
    asked = tested[["text_id", "text"]]
    said = judge(asked, retrieve(asked) if retrieve else None).set_index("text_id")["biased"]
    flagged = said.reindex(tested["text_id"]).astype("boolean").to_numpy(float, na_value=np.nan)
    prose = tested["kind"].isin([twins.EVERYDAY, twins.ENCYCLOPEDIC])
    rows = []
    for name, which in ((FOUND, tested["biased"]), (ALARMS, prose)):
        own = which.to_numpy(bool) & ~np.isnan(flagged)
        # Claims of a set differ in the name alone.
        share = stats.clustered_share(
            flagged[own],
            tested.loc[own, "set"].to_numpy(),
            confidence=detection.INFERENCE.confidence,
        ).row()
        lost = int(which.sum() - own.sum())
        rows.append({"statistic": name, "judge": of.name, "n_lost": lost} | share)
    found = tables.estimates(
        rows,
        study=detection.STUDY,
        measure=detection.MEASURE,
        source="twins",
        confidence=detection.INFERENCE.confidence,
    )
    return found.assign(instrument=about["instrument"])


def _sides(parts: pd.Series, part: Any) -> tuple[pd.Series, pd.Series]:
    return parts != part, parts == part


# --- what it does -----------------------------------------------------------------------------


def detect(
    texts: pd.DataFrame | pd.Series | Iterable[str | None],
    by: Detector | str = "classifier",
    *,
    column: str = "text",
    sure_from: float = 0.5,
    **made: Any,
) -> pd.DataFrame:
    """Tell of each text whether it is biased, how, against whom, and on what evidence.

    Parameters
    ----------
    texts
        A table with texts in a column, a Series, or texts. Missing and blank ones are not judged.
    by
        A detector, or the name of a judge for one.
    column
        Where the texts stand, of a table.
    sure_from
        Where neither label has this probability, there is no verdict; in [0.5, 1]. What that gains
        and costs is what `biasalert.calibration.risk_coverage` tells.
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
        `reason`, why a text was not judged; `instrument`, what the judge was fitted on and how
        often it is right there. More of that is in ``attrs``: `told` (sentences), `about`, `errors`
        (records of ESTIMATES).

    Raises
    ------
    NbbiasError
        The table has no such column, there is no such judge, or it is to abstain and gives no
        probabilities.

    Examples
    --------
    >>> from nbbias import biasalert
    >>> found = biasalert.detect(["Women make good clerks.", "It rains."], "keywords")
    >>> found[["verdict", "group", "evidence"]].values.tolist()[0]
    ['biased', 'women', "Names women and says 'clerks'."]
    >>> print(found.attrs["told"][0])
    keywords (RedditBias' word lists): it learns from no texts; tried on 252 texts, 126 of them...
    """
    if isinstance(by, Detector) and made:
        raise ParameterError("detect", f"{', '.join(made)}: belongs to the detector")
    if not 0.5 <= sure_from <= 1:
        raise ParameterError("sure_from", f"is {sure_from}, and must be in 0.5 to 1")
    used = by if isinstance(by, Detector) else detector(by, **made)
    given = _texts(texts, column)
    asked = pd.DataFrame(
        {"text_id": [f"t{at}" for at in range(len(given))], "text": given.to_numpy()}
    ).astype("str")
    parts = [asked.iloc[at : at + AT_ONCE] for at in range(0, max(len(asked), 1), AT_ONCE)]
    found = pd.concat([_verdicts(part.reset_index(drop=True), used) for part in parts])
    found.insert(0, "text", asked["text"].to_numpy())
    found.index = given.index
    if sure_from > 0.5:
        found = _abstaining(found, used.about["judge"], sure_from)
    errors = used.errors[["statistic", "estimate", "ci_low", "ci_high", "confidence", "n"]]
    found.attrs = {"about": used.about, "told": used.told, "errors": errors.to_dict("records")}
    return found


def _texts(texts: pd.DataFrame | pd.Series | Iterable[str | None], column: str) -> pd.Series:
    if isinstance(texts, pd.DataFrame):
        tables.require_columns(texts, [column], where="texts")
        texts = texts[column]
    if isinstance(texts, str):
        texts = [texts]
    given = texts if isinstance(texts, pd.Series) else pd.Series(list(texts), dtype=object)
    return given.map(lambda one: one if isinstance(one, str) else None).astype(object)


def _verdicts(asked: pd.DataFrame, used: Detector) -> pd.DataFrame:
    evidence = used.retrieve(asked) if used.retrieve else None
    said = used.judge(asked, evidence).set_index("text_id").loc[asked["text_id"]].reset_index()
    shown = said["explanation"] if evidence is None else said["text_id"].map(_shown(evidence))
    names = {True: BIASED, False: FINE}
    verdict = [NOT_JUDGED if pd.isna(one) else names[bool(one)] for one in said["biased"]]
    shown = shown.astype(object).where(said["biased"].notna(), "")
    told = said.assign(verdict=verdict, evidence=shown, instrument=used.label)
    return told[list(COLUMNS)].reset_index(drop=True)


def _abstaining(found: pd.DataFrame, judge: str, sure_from: float) -> pd.DataFrame:
    """Take back the verdicts of which a judge is less sure than this."""
    likelier = np.maximum(found["confidence"], 1 - found["confidence"]).astype(float)
    said = found["verdict"] != NOT_JUDGED
    score = JUDGES[judge].score if judge in JUDGES else None
    if score or (said.any() and likelier[said].isna().any()):
        why = score or "it gives no probabilities"
        raise ParameterError("sure_from", f"{judge} cannot abstain: {why}")
    unsure = said & (likelier < sure_from)
    empty = dict.fromkeys(("bias_type", "group", "attribute"), None)
    told = {"verdict": NOT_JUDGED, "evidence": "", "reason": UNSURE.format(sure_from)} | empty
    for name, value in told.items():
        found[name] = found[name].astype(object).mask(unsure, value)
    return found


def _shown(evidence: pd.DataFrame) -> dict[str, str]:
    """Return of each text the statements of its evidence that are near enough, the nearest few."""
    used = evidence[evidence["used"]].sort_values(["text_id", "rank"])
    few = used.groupby("text_id").head(SHOWN)
    near = few["similarity"].map("{:.2f}".format).astype("str")
    said = few["statement"] + " (" + near + ")"
    return said.groupby(few["text_id"]).agg("; ".join).to_dict()
