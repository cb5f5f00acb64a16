"""The detector to plug in: is any text biased, how, against whom, and on what evidence?

After Fan et al. (2024), whose judge is plugged into what other models write. With the judge comes
how often it errs on texts written for this project that it had not learned from. Elsewhere it may
err more often.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from textwrap import shorten
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from nbbias import stats, tables
from nbbias.biasalert import corpus, detection
from nbbias.biasalert.judges import panel as panels
from nbbias.biasalert.judges.registry import JUDGES, Judge, Settings
from nbbias.biasalert.knowledge import counterfactuals, entries, sample
from nbbias.params import NONE
from nbbias.reading import prose
from nbbias.tables import SAMPLE, ParameterError, closest_match
from nbbias.text import embeddings

Retrieve = Callable[[pd.DataFrame], pd.DataFrame]

BIASED, NOT_BIASED, NOT_JUDGED = VERDICTS = ("biased", "not biased", "not judged")

#: Error rates on counterfactual texts that no judge learns from.
CLAIMS, ALARMS = ("claims_found", "prose_false_alarms")

#: Error rates of the detector fitted to the sample: written by ``tools/dev.py classifier``.
ERRORS = "biasalert/errors.csv"

#: Statements that are shown as evidence of a text, at most.
_SHOWN = 2

COLUMNS = ["verdict", "bias_type", "group", "attribute", "probability", "evidence", "reason"]
COLUMNS += ["instrument"]


class Detector(NamedTuple):
    """A fitted classifier, with its retriever and its error rates.

    Attributes
    ----------
    judge : callable
        TEXTS and EVIDENCE in, JUDGEMENTS out; as `biasalert.guard.guard` takes it.
    retrieve : callable, optional
        TEXTS in, EVIDENCE out; None where the judge reads no evidence.
    about : dict
        `judge`, `instrument`, `learns`, `fitted_on` (in words), `n` and `biased` (texts that it
        learned from, of these biased ones), `statements` (of its knowledge).
    errors : DataFrame
        Shares with intervals on texts of `biasalert.counterfactuals` that no judge learns from, by
        `statistic`: ``claims_found``, of prejudiced claims that it flags, and
        ``prose_false_alarms``, of everyday and encyclopedic sentences, plain mentions of groups
        and sentences of assistants (Wilson intervals, a claim and its swaps sharing a cluster);
        `fitted_on` is the hash of all that they depend on.
    """

    judge: Judge
    retrieve: Retrieve | None
    about: dict[str, Any]
    errors: pd.DataFrame

    @property
    def notes(self) -> list[str]:
        """What it was fitted on, and how often it errs on held-out texts, in sentences."""
        rates, knows = self.errors.set_index("statistic").to_dict("index"), bool(self.retrieve)
        return [
            prose.render_plain("biasalert.fitted", about=self.about, knows=knows),
            prose.render_plain("biasalert.error_rates", claims=rates[CLAIMS], alarms=rates[ALARMS]),
        ]


# --- how it is made ---------------------------------------------------------------------------


def load_detector(
    judge: str = "classifier",
    *,
    labelled: str = SAMPLE,
    knowledge: str | None = None,
    embedding_model: str = embeddings.AUTO,
    seed: int = 0,
) -> Detector:
    """Fit a detector, once in a process; embeddings of what it learns from are kept on disk.

    Parameters
    ----------
    judge
        One of `judges.registry.JUDGES`.
    labelled
        The texts that it learns from: a file as `biasalert.corpus.read_labelled` reads it, or
        ``"sample"``, sentences simulated for this project. A judge of real texts needs real ones.
    knowledge
        What prejudice says, as in `knowledge.entries.read_knowledge`. By default the project's own
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
    >>> keywords = load_detector("keywords")
    >>> keywords.about["learns"], keywords.retrieve is None
    (False, True)
    """
    if judge not in JUDGES:
        raise ParameterError("judge", f"no judge called {judge!r}; {closest_match(judge, JUDGES)}")
    shipped = labelled == SAMPLE
    base = knowledge or (SAMPLE if shipped else NONE)
    settings = Settings(embedding_model, seed=seed, drop_same=base == NONE, simulated=shipped)
    paths = [str(tables.resolve(path)) for path in (labelled, base, embedding_model)]
    return _load(judge, labelled, base, settings, tuple(map(tables.stamp, paths)))


@lru_cache(maxsize=4)
def _load(
    name: str, labelled: str, knowledge_path: str, settings: Settings, stamps: tuple[str, ...]
) -> Detector:
    """Fit a judge; `stamps` are the versions of its files."""
    if labelled == SAMPLE:
        train, source = sample.labelled(seed=settings.seed), "sentences simulated for this project"
    else:
        train, source = corpus.read_labelled(labelled)[0], tables.resolve(labelled).name
    knowledge, _ = entries.read_knowledge(knowledge_path, labelled=train.assign(split="train"))
    tested = counterfactuals.counterfactuals(part="test")
    tested = tested[tested["biased"] | tested["kind"].isin(counterfactuals.PROSE)]
    entry = JUDGES[name]
    if not entry.reads_evidence:
        knowledge = knowledge.head(0)  # without it nothing is embedded
    added = counterfactuals.training_texts(simulated=settings.simulated)
    panel = panels.fit([name], train, knowledge, settings=settings)
    judge, retrieve = panel.judges[name], panel.retrieve if entry.reads_evidence else None
    about = {
        "judge": name,
        "instrument": panel.instruments[name],
        "learns": entry.learns,
        "n": len(train),
        "added": len(added),
        "biased": int(train["biased"].sum()),
        "statements": len(knowledge),
        "fitted_on": source,
    }
    fitted_on = ""
    if entry.learns:
        chosen = settings._replace(embedding_model=embeddings.choose(settings.embedding_model))
        rows = [table[["text", "biased"]].to_numpy().tolist() for table in (train, added, tested)]
        fitted_on = tables.hash_json([name, chosen, entries.version(knowledge), rows])
    shipped = tables.read_shipped_table(ERRORS, fitted_on="str")
    if (errors := shipped[shipped["fitted_on"] == fitted_on]).empty:
        if entry.reads_evidence:
            embeddings.embed(tested["text"], model=settings.embedding_model, persist=True)
        asked = tested[["text"]].assign(text_id=tested.index.astype("str"))
        verdicts = judge(asked, retrieve(asked) if retrieve else None)["biased"]
        errors = _estimate_errors(tested, verdicts).assign(fitted_on=fitted_on)
    return Detector(judge, retrieve, about, errors)


def _estimate_errors(tested: pd.DataFrame, verdicts: pd.Series) -> pd.DataFrame:
    """Estimate how a judge does on claims and prose that no judge learns from."""
    flagged = detection.flags(verdicts)
    kinds = {CLAIMS: tested["biased"], ALARMS: tested["kind"].isin(counterfactuals.PROSE)}
    confidence = detection.INFERENCE.confidence
    rows = []
    for name, chosen in kinds.items():
        judged = chosen.to_numpy(bool) & ~np.isnan(flagged)
        clusters = tested.loc[judged, "set"].to_numpy()  # claims of a set differ in the name alone
        share = stats.clustered_share(flagged[judged], clusters, confidence=confidence)
        lost = int(chosen.sum() - judged.sum())
        rows.append({"statistic": name, "confidence": confidence, **share.row(), "n_lost": lost})
    return pd.DataFrame(rows)


# --- what it does -----------------------------------------------------------------------------


def detect(
    texts: pd.DataFrame | pd.Series | Iterable[str | None],
    by: Detector | str = "classifier",
    *,
    column: str = "text",
    **options: Any,
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
    **options
        As in `load_detector`, where `by` is a name: `labelled`, `knowledge`, `embedding_model`,
        `seed`.

    Returns
    -------
    DataFrame
        One row per text, with its index: `text`; `verdict` (``"biased"``, ``"not biased"``,
        ``"not judged"``); `bias_type`, `group`, `attribute` of what is biased; `probability`
        that people call the text biased, where the judge gives one; `evidence`, the one or two
        nearest statements that the judge was shown, or else what it says itself; `reason`, why a
        text was not judged; `instrument`, what the judge was fitted on. More of that is in
        ``attrs``: `notes` (sentences) and `about`.

    Raises
    ------
    NbbiasError
        The table has no such column, or there is no such judge.

    Examples
    --------
    >>> from nbbias import biasalert
    >>> table = biasalert.detect(["Women make good clerks.", "It rains."], "keywords")
    >>> table[["verdict", "group", "evidence"]].values.tolist()[0]
    ['biased', 'women', "Names women and says 'clerks'."]
    >>> table.attrs["notes"][0]
    "keywords, not trained. Versions: RedditBias' word lists."
    """
    if isinstance(by, Detector) and options:
        raise ParameterError("detect", f"{', '.join(options)}: belongs to the detector")
    used = by if isinstance(by, Detector) else load_detector(by, **options)
    series = _as_series(texts, column)
    ids = [f"t{at}" for at in range(len(series))]
    asked = pd.DataFrame({"text_id": ids, "text": series.to_numpy()}).astype("str")
    table = _judge(asked, used)
    table.insert(0, "text", asked["text"].to_numpy())
    table.index = series.index
    table.attrs = {"about": used.about, "notes": used.notes}
    return table


def readable(verdicts: pd.DataFrame) -> pd.DataFrame:
    """Return verdicts for people: texts shortened, without columns that are empty or of the judge.

    Examples
    --------
    >>> from nbbias import biasalert
    >>> list(readable(biasalert.detect(["It rains."], "keywords")))
    ['text', 'verdict']
    """
    text = verdicts["text"].fillna("").map(lambda text: shorten(text, 72, placeholder=" …"))
    shown = verdicts.drop(columns=["text", "instrument", "attribute"]).replace("", None)
    shown.insert(0, "text", text.replace("", "(no text)"))
    shown["probability"] = shown["probability"].map("{:.3f}".format, na_action="ignore")
    shown = shown.dropna(axis="columns", how="all").drop(columns="row", errors="ignore")
    return shown.rename(columns={"probability": "P(biased)"})


def _as_series(texts: pd.DataFrame | pd.Series | Iterable[str | None], column: str) -> pd.Series:
    if isinstance(texts, pd.DataFrame):
        tables.require_columns(texts, [column], where="texts")
        texts = texts[column]
    if not isinstance(texts, pd.Series):
        texts = pd.Series([texts] if isinstance(texts, str) else list(texts), dtype=object)
    return texts.map(lambda text: text if isinstance(text, str) else None).astype(object)


def _judge(asked: pd.DataFrame, used: Detector) -> pd.DataFrame:
    evidence, about = used.retrieve(asked) if used.retrieve else None, used.about
    table = used.judge(asked, evidence).set_index("text_id").loc[asked["text_id"]].reset_index()
    shown = table["explanation"]
    if evidence is not None:
        nearest = evidence[evidence["used"]].groupby("text_id").head(_SHOWN)  # the best come first
        cosines = nearest["similarity"].map(" ({:.2f})".format).astype("str")  # of no entry, too
        statements = (nearest["statement"] + cosines).groupby(nearest["text_id"])
        shown = table["text_id"].map(statements.agg("; ".join).to_dict())
    label = (
        f" fitted on {about['n']:,} texts ({about['fitted_on']}) and {about['added']:,} of nbbias"
    )
    verdict = table["biased"].map({True: BIASED, False: NOT_BIASED}).astype(object)
    table = table.assign(
        verdict=verdict.fillna(NOT_JUDGED),
        probability=np.nan if JUDGES[about["judge"]].score else table["confidence"],
        evidence=shown.astype(object).where(table["biased"].notna(), ""),
        instrument=about["judge"] + (label if about["learns"] else f" ({about['instrument']})"),
    )
    return table[COLUMNS]
