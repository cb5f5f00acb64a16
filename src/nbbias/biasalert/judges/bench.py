"""Detecting social bias in open text: texts, knowledge and judges brought together.

After Fan et al. (2024), *BiasAlert: A Plug-and-play Tool for Social Bias Detection in LLMs*,
EMNLP: what prejudice says is looked up for every text, and a judge decides with it whether the
text is biased, how, and against whom. The paper's judge is a fine-tuned language model of seven
billion parameters; here any judge stands behind one protocol, and the offline ones need no GPU.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial

import pandas as pd

from nbbias import tables
from nbbias.biasalert import (
    corpus,
    knowledge as biasalert_knowledge,
    retrieval,
    sample,
    split,
    unseen,
)
from nbbias.biasalert.judges import (
    baselines,
    classifier,
    prompt,
    recorded,
    tuned as biasalert_tuned,
)
from nbbias.params import NONE
from nbbias.tables import SAMPLE, progress
from nbbias.text import embeddings, toxicity

_LOST = ["file", *biasalert_knowledge.LOST_COLUMNS]

#: A judge: texts and their evidence in, JUDGEMENTS out.
Judge = Callable[[pd.DataFrame, pd.DataFrame], pd.DataFrame]


def texts(
    labelled_path: str = SAMPLE, evaluation_path: str = NONE, *,
    test_share: float = 0.3, near: float = split.NEAR, seed: int,
) -> tuple[pd.DataFrame, pd.DataFrame]:  # fmt: skip
    """Read the texts that people judged, and say which are learnt from.

    Parameters
    ----------
    labelled_path
        ``"sample"``, or a file as `biasalert.corpus.labelled` reads it.
    evaluation_path
        Another such file. Then all of the first is learnt from, but for texts with a
        near-duplicate in this one, and this one is tested on.
    test_share, near, seed
        As in `biasalert.split.split`, where there is one file.

    Returns
    -------
    (DataFrame, DataFrame)
        LABELLED, with `comment_id` (near-duplicates share it) and `split` (``"train"``,
        ``"test"``, or ``"left out"`` for texts to learn from with a near-duplicate to be tested);
        and the rows of the files that are not among them: `file`, `reason`, `n`.
    """
    if labelled_path == SAMPLE:
        return sample.labelled(seed=seed), pd.DataFrame(columns=_LOST)
    first, lost = corpus.labelled(labelled_path)
    lost.insert(0, "file", tables.resolve(labelled_path).name)
    if evaluation_path == NONE:
        return split.split(first, test_share=test_share, near=near, seed=seed), lost
    second, more = corpus.labelled(evaluation_path)
    more.insert(0, "file", tables.resolve(evaluation_path).name)
    twins, _ = split.across(first["text"], second["text"], near=near)
    parts = [
        first.assign(
            split=pd.Series(twins, index=first.index).map({True: "left out", False: "train"})
        ),
        second.assign(split="test"),
    ]
    both = pd.concat(parts, ignore_index=True)
    # One text may stand in both files: there it is two rows.
    both["text_id"] = both["text_id"].where(both["split"] == "test", "t" + both["text_id"])
    parted = split.with_clusters(both, near=near)
    return parted, pd.concat([lost, more], ignore_index=True)


def counts(labelled: pd.DataFrame) -> pd.DataFrame:
    """Count texts by split and type: `texts`, `biased`, and `clusters` of near-duplicates."""
    named = labelled.assign(bias_type=labelled["bias_type"].fillna("none named"))
    grouped = named.groupby(["split", "bias_type"], sort=False)
    return grouped.agg(
        texts=("text_id", "size"), biased=("biased", "sum"), clusters=("comment_id", "nunique")
    ).reset_index()  # fmt: skip


def knowledge(path: str = SAMPLE, *, labelled: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Read or build the knowledge.

    Parameters
    ----------
    path
        ``"sample"``; a table with `statement` (and `bias_type`, `group`, `attribute` where known),
        or one that was kept; SBIC's archive or one of its files; or ``"none"`` for what the
        training texts that people called biased say.
    labelled
        LABELLED of `texts`.

    Returns
    -------
    (DataFrame, DataFrame)
        KNOWLEDGE, and the rows that were lost: `reason`, `n`.
    """
    if path == NONE:
        return corpus.from_labelled(labelled[labelled["split"] == "train"])
    if path == SAMPLE:
        return biasalert_knowledge.build(sample.knowledge(), source=sample.SOURCE)
    if corpus.is_sbic(path):
        return corpus.sbic(path)
    table = tables.read_table(path)
    if "entry_id" not in table:
        return biasalert_knowledge.build(table, source=tables.resolve(path).stem)
    found = biasalert_knowledge.load(path)
    return found, pd.DataFrame(columns=biasalert_knowledge.LOST_COLUMNS)


@dataclass(frozen=True)
class Bench:
    """The judges of a run, by name, and how evidence is found for them."""

    judges: Mapping[str, Judge]
    instruments: Mapping[str, str]
    retrieve: Callable[[pd.DataFrame], pd.DataFrame]
    floor: float
    #: Judges whose `confidence` is no probability that a text is biased, each with what it is.
    no_probabilities: Mapping[str, str] = field(default_factory=dict)

    def judge(
        self, table: pd.DataFrame, what: str, *, every: bool = False
    ) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Let every judge judge TEXTS; return JUDGEMENTS of all judges, and the EVIDENCE.

        A judge whose replies were recorded for other texts only is left out, unless `every` one
        is wanted, with what it failed at.
        """
        asked = table[["text_id", "text"]].reset_index(drop=True)
        evidence = self.retrieve(asked)
        found = [self.judges[name](asked, evidence) for name in progress(list(self.judges), what)]
        heard = [one for one in found if every or not (one["outcome"] == "failed").all()]
        return pd.concat(heard or found, ignore_index=True), evidence


def bench(
    names: Iterable[str], labelled: pd.DataFrame, known: pd.DataFrame, *, k: int = 5,
    embedding_model: str = embeddings.AUTO, toxicity_scorer: str = toxicity.AUTO,
    epochs: float = 2, copies: int = 2, drop_same: bool = True, device: str = "cpu", seed: int,
    replies_paths: Mapping[str, str] | None = None,
    moderation_paths: Mapping[str, str] | None = None,
) -> Bench:  # fmt: skip
    """Fit the judges of a run on the training texts.

    Parameters
    ----------
    names
        Some of ``majority``, ``keywords``, ``toxicity``, ``classifier``, ``classifier_alone`` (the
        same without evidence) and ``tuned``.
    labelled, known
        LABELLED with `split`; KNOWLEDGE.
    drop_same
        As in `biasalert.retrieval.retrieve`: True where the knowledge was made from the texts.
    k, embedding_model, device
        Entries per text and the model of the retrieval.
    toxicity_scorer, epochs, copies
        Settings of single judges.
    replies_paths, moderation_paths
        Judge → file of recorded replies, or of a moderation tool's outputs.
    seed
        Start of all draws.
    """
    train = labelled[labelled["split"] == "train"].reset_index(drop=True)
    version = biasalert_knowledge.version(known)
    base = retrieval.prepare(known, model=embedding_model, seed=seed, device=device)
    retrieve = partial(retrieval.retrieve, knowledge=base, k=k, drop_same=drop_same, progress=False)
    fit: dict[str, Callable[[], Judge]] = {
        "majority": lambda: lambda asked, _: baselines.majority(asked, train),
        "keywords": lambda: lambda asked, _: baselines.keywords(asked),
        "toxicity": lambda: (
            lambda asked, _: baselines.toxic(asked, scorer=toxicity_scorer, device=device)
        ),
        "classifier": lambda: _classifier(train, retrieve(train), embedding_model, seed, version),
        "classifier_alone": lambda: _alone(train, embedding_model, seed),
        "tuned": lambda: _tuned(train, epochs, copies, device, seed, version),
    }
    judges = {name: fit[name]() for name in progress(list(names), "judges")}
    quick = classifier.instrument(embedding_model)
    known_as = {
        "majority": "most frequent label of the training texts",
        "keywords": "RedditBias' word lists",
        "toxicity": toxicity.instrument(toxicity_scorer),
        "classifier": f"{quick}, knowledge {version}",
        "classifier_alone": quick,
        "tuned": biasalert_tuned.instrument(),
    }
    instruments = {name: known_as[name] for name in judges}
    for name, path in (replies_paths or {}).items():
        judges[name] = partial(_replies, path=path, judge=name, version=version)
        instruments[name] = f"recorded replies, knowledge {version}"
    for name, path in (moderation_paths or {}).items():
        judges[name] = partial(_moderation, path=path, name=name)
        instruments[name] = "recorded outputs"
    scores = dict.fromkeys(
        moderation_paths or {}, "its score is the tool's, no probability of bias"
    )
    if "toxicity" in judges:
        scores["toxicity"] = "its score is toxicity, no probability of bias"
    return Bench(judges, instruments, retrieve, base.floor, scores)


def _classifier(
    train: pd.DataFrame, evidence: pd.DataFrame, model: str, seed: int, version: str
) -> Judge:
    fitted = classifier.fit(train, evidence, model=model, seed=seed, knowledge=version)
    return partial(classifier.judge, fitted=fitted)


def _alone(train: pd.DataFrame, model: str, seed: int) -> Judge:
    fitted = classifier.fit(train, model=model, seed=seed)
    return lambda asked, _: classifier.judge(asked, fitted=fitted, name="classifier_alone")


def _tuned(
    train: pd.DataFrame, epochs: float, copies: int, device: str, seed: int, version: str
) -> Judge:
    tuned = biasalert_tuned.fit(train, seed=seed, copies=copies, epochs=epochs, device=device)
    return partial(biasalert_tuned.judge, tuned=tuned, knowledge=version, device=device)


def _replies(
    asked: pd.DataFrame, evidence: pd.DataFrame, *, path: str, judge: str, version: str
) -> pd.DataFrame:
    # One file holds the replies to all sets of a run: tests, checks, pairs, answers.
    return recorded.read_judgements(
        path, asked, evidence, judge=judge, knowledge=version, others=True
    )


def _moderation(asked: pd.DataFrame, _: pd.DataFrame, *, path: str, name: str) -> pd.DataFrame:
    return baselines.recorded(asked, path, name=name)


def named(estimates: pd.DataFrame, instruments: Mapping[str, str]) -> pd.DataFrame:
    """Name the instrument behind each judge's numbers, both where two are compared."""

    def known(judge: object) -> str | None:
        names = [one.removesuffix(unseen.UNSEEN) for one in str(judge).split(" − ")]
        found = dict.fromkeys(instruments.get(one, "") for one in names)
        return "; ".join(found) if all(found) else None

    own = estimates["judge"].map(known)
    return estimates.assign(instrument=own.where(own.notna(), estimates["instrument"]))


def prompts(tables: Mapping[str, tuple[pd.DataFrame, pd.DataFrame]]) -> pd.DataFrame:
    """Return what a language model would be asked, for `nbbias generate`.

    Parameters
    ----------
    tables
        Set → TEXTS and their EVIDENCE.

    Returns
    -------
    DataFrame
        `prompt_id`, `prompt` (each once), and `set`, the first set that holds it.
    """
    found = [
        prompt.prompts(asked, evidence).assign(set=name)
        for name, (asked, evidence) in tables.items()
    ]
    whole = pd.concat(found, ignore_index=True)
    return whole.drop_duplicates("prompt_id")[["prompt_id", "set", "prompt"]].reset_index(drop=True)
