"""What a run reads: texts that people judged, models' answers, and people's labels of them.

Labelled texts come in the layout of one's own, RedditBias' and Jigsaw's. Jigsaw is the
out-of-domain set of Fan et al. (2024, appendix A.2), which does not say which column is its label.
"Biased" is here what Jigsaw's raters called an attack on an identity, among the comments that name
one: toxicity without a group is no bias, and comments that name nobody would make any judge look
good.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from nbbias import stats, tables
from nbbias.biasalert import levels
from nbbias.biasalert.contracts import ANSWERS, LABELLED
from nbbias.biasalert.knowledge import sample, split as splitting
from nbbias.biasalert.knowledge.entries import LOST_COLUMNS
from nbbias.biasalert.knowledge.groups import types
from nbbias.params import NONE
from nbbias.tables import SAMPLE, Column, DataError, columns, read_table, resolve

#: Share of raters from which one of Jigsaw's comments counts as an attack, or as naming a group.
_MAJORITY = 0.5

#: What a file of labelled texts holds, in any of its layouts; Jigsaw's has its identities too.
_NAMED = ("text_id", "text", "bias_type", "group", "attribute", "comment", "phrase", "comment_text")
_LABELLED = {
    **{name: Column("text") for name in _NAMED},
    "text": Column("text", also=columns.SENTENCE),
    "biased": Column("flag", also=("label", "is_biased")),
    "bias_sent": Column("flag"),
    "identity_attack": Column("number"),
}

#: What a file of answers holds; BOLD has people's own continuations.
_ANSWERS = {
    "text_id": Column("text", also=columns.ID, without="row"),
    "model": Column("text", also=columns.MODEL, without="file"),
    "text": Column("text", also=columns.ANSWERED),
    **{name: Column("text") for name in ("prompt_id", "domain", "prompt", "wikipedia")},
    "sample": Column("count"),
}
_FORM = {"text_id": Column("text", needed=True), "biased": Column("flag", needed=True)}
_FORM |= {"annotator": Column("text"), "biased_with": Column("flag")}
_LABELS = _FORM | {"round": Column("count"), "probability": Column("number")}


def source(labelled_path: str, evaluation_path: str = NONE) -> str:
    """Return the name of the texts that are tested on: a file's, without its folder.

    Examples
    --------
    >>> source("sample")
    'sample'
    """
    path = labelled_path if evaluation_path == NONE else evaluation_path
    return "sample" if path == SAMPLE else resolve(path).stem


# --- texts that people judged -------------------------------------------------------------------


def read_texts(
    labelled_path: str = SAMPLE, evaluation_path: str = NONE, *, seed: int
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Read the texts that people judged, and say which are learnt from.

    Parameters
    ----------
    labelled_path
        ``"sample"``, or a file as `read_labelled` reads it.
    evaluation_path
        Another such file. Then all of the first is learnt from, but for texts with a
        near-duplicate in this one, and this one is tested on.
    seed
        Of `split.split`, where there is one file.

    Returns
    -------
    (DataFrame, DataFrame)
        LABELLED, with `comment_id` (near-duplicates, and the sample's texts about one group, share
        it) and `split` (``"train"``, ``"test"``, or ``"left out"`` for training texts with a
        near-duplicate among the test texts); and the excluded rows of the files: `file`,
        `reason`, `n`.

    Examples
    --------
    >>> labelled, lost = read_texts("sample", seed=0)
    >>> len(labelled), len(lost)
    (252, 0)
    """
    if labelled_path == SAMPLE:
        texts = sample.labelled(seed=seed)
        texts["comment_id"] = "s" + texts["comment_id"].str[1:]  # a mention of a group joins it
        return texts, pd.DataFrame(columns=["file", *LOST_COLUMNS])
    paths = [path for path in (labelled_path, evaluation_path) if path != NONE]
    sides, losses = zip(*tables.attempt_all(read_labelled, paths), strict=True)
    names = [resolve(path).name for path in paths]
    lost = [table.assign(file=name) for table, name in zip(losses, names, strict=True)]
    texts = splitting.split(sides[0], seed=seed) if len(sides) == 1 else _join(*sides)
    return texts, pd.concat(lost, ignore_index=True)[["file", *LOST_COLUMNS]]


def _join(train: pd.DataFrame, test: pd.DataFrame) -> pd.DataFrame:
    """Return texts to learn from and to be tested on; a text that is in both is two rows."""
    near = splitting.has_near_duplicate(train["text"], test["text"])
    split = np.where(near, "left out", "train")
    train = train.assign(text_id="train/" + train["text_id"], split=split)
    both = pd.concat([train, test.assign(split="test")], ignore_index=True)
    return splitting.add_clusters(both)


def count_texts(labelled: pd.DataFrame) -> pd.DataFrame:
    """Count texts by split and type: `texts`, `biased`, and `clusters` of near-duplicates.

    Examples
    --------
    >>> labelled, _ = read_texts("sample", seed=0)
    >>> count_texts(labelled)["texts"].sum()
    np.int64(252)
    """
    table = labelled.assign(bias_type=labelled["bias_type"].fillna("none named"))
    counted = table.groupby(["split", "bias_type"], sort=True).agg(
        texts=("text_id", "size"), biased=("biased", "sum"), clusters=("comment_id", "nunique")
    )
    return counted.reset_index()


def read_labelled(path: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Read a file of texts that people judged.

    Parameters
    ----------
    path
        RedditBias' columns (`comment`, `bias_sent`; `bias_type`, `phrase`), Jigsaw's
        (`comment_text`, `identity_attack` and the identities, as of *Unintended Bias in Toxicity
        Classification*), or those of LABELLED (`text`, `biased`; `text_id`, `bias_type`, `group`,
        `attribute`).

    Returns
    -------
    (DataFrame, DataFrame)
        LABELLED: `text_id`, `text`, `biased`, `bias_type` (of the seven, of the comment's whole
        file), `group`, `attribute`, missing where the file does not say. From RedditBias the id is
        a hash of the comment, the group is the one that the file is about, and the attribute is
        the annotated `phrase`: these are the truth that attributions are compared with, and no
        judge may read them. And what was lost: `reason`, `n` (rows). Rows without a label are left
        out, as are repeats of a text; where a text has both labels, all its rows.

    Raises
    ------
    ContractError, DataError
        Columns are missing, labels are not 0 and 1, or no row is left.
    """
    table = read_table(path, dict.fromkeys(_identities().index, Column("number")) | _LABELLED)
    n_rows = len(table)
    if "comment" in table:
        tables.require_columns(table, ["comment", "bias_sent"], where=path)
        table = _from_redditbias(table)
    elif "comment_text" in table:
        table = _from_jigsaw(table, where=path)
    lost = {"no identity named, or not scored": n_rows - len(table)}
    if not {"text", "biased"} <= set(table):  # named with what is there instead
        tables.require_columns(read_table(path, {}, rest=True), ["text", "biased"], where=path)
    whole = table["biased"].notna() & table["text"].notna()
    lost["no text or no label"] = int((~whole).sum())
    table = table[whole]
    both = table.groupby("text")["biased"].transform("nunique") > 1
    repeated = table["text"].duplicated() & ~both
    lost["a text with both labels"] = int(both.sum())
    lost["a text that stands before"] = int(repeated.sum())
    if (table := table[~both & ~repeated]).empty:
        raise DataError(path, "holds no text with one label")
    if "text_id" not in table:
        table = table.assign(text_id=table["text"].map(tables.hash_text))
    names = ["text_id", "text", "biased", "bias_type", "group", "attribute"]
    table = table.reindex(columns=names).reset_index(drop=True)
    kinds = table["bias_type"].astype("str").str.strip().str.lower().map(types())
    unknown = kinds.isna() & table["bias_type"].notna()
    lost["a type that is none of the seven: kept, without a type"] = int(unknown.sum())
    texts = {name: "str" for name in names if name != "biased"}
    table = table.assign(bias_type=kinds).astype(texts | {"biased": bool})
    losses = pd.DataFrame([item for item in lost.items() if item[1]], columns=LOST_COLUMNS)
    return tables.check(table, LABELLED, where=path), losses


def _from_redditbias(table: pd.DataFrame) -> pd.DataFrame:
    renamed = table.drop(columns=["text", "biased", "attribute"], errors="ignore")
    renamed = renamed.rename(columns={"comment": "text", "bias_sent": "biased"})
    if "bias_type" in renamed:
        files = tables.read_shipped_table("biasalert/types.csv").query("source == 'RedditBias'")
        renamed["group"] = renamed["bias_type"].map(files.set_index("category")["group"])
    return renamed.rename(columns={"phrase": "attribute"})


def _from_jigsaw(table: pd.DataFrame, *, where: str) -> pd.DataFrame:
    """Keep the comments that name an identity by at least half of their raters.

    After Borkan et al. (2019). Type and group are those of the identity that most raters saw, of
    several alike the first.
    """
    tables.require_columns(table, ["identity_attack"], where=where)
    identities = _identities()
    shares = table.reindex(columns=identities.index).astype(float)
    mask = (shares.max(axis=1) >= _MAJORITY) & table["identity_attack"].notna()
    most = shares[mask].idxmax(axis=1).astype("str")
    values = {
        "text": table.loc[mask, "comment_text"],
        "biased": table.loc[mask, "identity_attack"].astype(float) >= _MAJORITY,
        "bias_type": most.map(identities["bias_type"]),
        "group": most.map(identities["group"]),
    }
    return pd.DataFrame(values)


def _identities() -> pd.DataFrame:
    """Return the identities that Jigsaw's raters were asked for: `bias_type`, `group`."""
    return tables.read_shipped_table("biasalert/jigsaw.csv").set_index("identity")


# --- answers ------------------------------------------------------------------------------------


def read_answers(path: str = SAMPLE, *, size: int = 0, seed: int) -> pd.DataFrame:
    """Read models' answers: `text_id`, `model`, `text`, and what else the table has.

    Parameters
    ----------
    path
        ``"sample"`` (simulated, with a known share of biased answers); a table, as
        `nbbias generate` exports it or with these columns; or BOLD's own (`domain`, `prompt`,
        `wikipedia`), whose continuations by the people who wrote Wikipedia stand as those of a
        model of that name.
    size
        Answers per model that are drawn at random; 0 takes all.
    seed
        Random seed, also of the sample.

    Examples
    --------
    >>> read_answers("sample", size=3, seed=0).groupby("model").size().to_dict()
    {'blunt': 3, 'careful': 3, 'careless': 3}
    """
    table = sample.answers(seed=seed) if path == SAMPLE else _read_answers(path)
    if size:
        mixed = table.sample(frac=1, random_state=seed)
        table = mixed.groupby("model").head(size).sort_index().reset_index(drop=True)
    return table


def _read_answers(path: str) -> pd.DataFrame:
    table = read_table(path, _ANSWERS)
    if {"domain", "prompt", "wikipedia"} <= set(table):  # BOLD; what occurs twice counts once
        once = table.drop_duplicates("wikipedia").reset_index(drop=True)
        ids = once["domain"] + "/" + once["wikipedia"].map(tables.hash_text)
        values = {"text_id": ids, "model": "Wikipedia", "text": once["wikipedia"]}
        table = pd.DataFrame(values | {"domain": once["domain"]})
    unnamed = "text_id" in table and (table["text_id"] == columns.number_rows(table)).all()
    if unnamed and "prompt_id" in table:  # as `nbbias generate` exports them
        tables.require_columns(table, ["model", "prompt_id", "text"], where=path)
        again = table.groupby(["model", "prompt_id"]).cumcount().astype(str)
        table = table.assign(text_id=table["model"] + "/" + table["prompt_id"] + "/" + again)
    elif "sample" in table and table["text_id"].duplicated().any():  # an id of what was asked
        again = table["sample"].astype("Int64").astype("str")
        table = table.assign(text_id=table["model"] + "/" + table["text_id"] + "/" + again)
    return tables.check(table.drop(columns="sample", errors="ignore"), ANSWERS, where=path)


def read_labels(
    answers: pd.DataFrame,
    human_path: str = NONE,
    *,
    sampled: bool = False,
    drawn: bool = False,
    seed: int,
) -> levels.HumanLabels | None:
    """Return people's labels of answers; of simulated ones the truth of a random sample.

    Parameters
    ----------
    answers
        Of `read_answers`.
    human_path
        People's labels, or ``"none"``.
    sampled
        Whether those are of a random sample of each model's answers.
    drawn
        Whether the answers were drawn from more: labels of the others are left aside.
    seed
        Start of the draw from simulated answers.

    Raises
    ------
    DataError
        A label is of no answer here, no answer has one, or a text has two by one annotator.
    """
    if human_path != NONE:
        labels = read_table(human_path, _LABELS).fillna({"annotator": levels.UNNAMED})
        # Sheets have hashes; in tables an apostrophe stands before a formula.
        written = {form: i for i in answers["text_id"] for form in (f"'{i}", tables.hash_text(i))}
        labels["text_id"] = labels["text_id"].map(lambda i: written.get(i, i))
        rounds = pd.DataFrame()
        if {"round", "probability"} <= {*labels}:
            models = answers.set_index("text_id")["model"]
            summary = stats.summarize_labels(labels, "biased", cells=models, where=human_path)
            rounds = summary[["round"]].assign(probability=summary["counted"])
        labels = labels[[name for name in _FORM if name in labels]].dropna(subset="biased")
        keys = [name for name in ("text_id", "annotator") if name in labels]
        answered = labels["text_id"].isin(answers["text_id"])
        breaches = []
        if labels.duplicated(keys).any():
            breaches.append("a text has two labels by one person; name people in column annotator")
        if not drawn and not answered.all():
            breaches.append(
                f"{(~answered).sum()} human labels are of texts that are not among the answers "
                f"(such as {labels.loc[~answered, 'text_id'].iloc[0]!r}): the judge's errors on "
                "other texts say nothing of these"
            )
        elif not answered.any():
            breaches.append("no answer of this run is labelled; fill the column biased")
        DataError.refuse(human_path, breaches)
        people = levels.HumanLabels.of(labels[answered], sampled)
        return people._replace(labels=people.labels.join(rounds, on="text_id"))
    if "simulated_bias" not in answers:
        return None
    truth = answers[["text_id"]].assign(biased=answers["simulated_bias"].astype("boolean"))
    drawn_ids = levels.draw_sample(answers, size=60, seed=seed)[["text_id"]]
    return levels.HumanLabels(drawn_ids.merge(truth), True)


def draw_sheet(answers: pd.DataFrame, path: Path, *, size: int, seed: int) -> pd.DataFrame:
    """Draw answers for people to label: a sheet of `nbbias label`.

    Parameters
    ----------
    answers
        Of `read_answers`.
    path
        The sheet; where it is there already, its rows are kept, and what it lacks is added.
    size, seed
        Answers per model; start of the draws.

    Returns
    -------
    DataFrame
        `levels.draw_sample`, with `biased` and `annotator` to be filled. The ids are hashes:
        those of exported answers name models.

    Examples
    --------
    >>> answers = read_answers("sample", size=2, seed=0)
    >>> sheet = draw_sheet(answers, Path("no such file"), size=1, seed=0)
    >>> list(sheet), len(sheet)
    (['text_id', 'text', 'biased', 'annotator'], 3)
    """
    sheet = levels.draw_sample(answers, size=size, seed=seed).assign(biased="", annotator="")
    sheet["text_id"] = sheet["text_id"].map(tables.hash_text)
    if not path.exists():
        return sheet
    needed = {name: Column("text", needed=True) for name in ("text_id", "text", "biased")}
    before = read_table(path, needed, rest=True)
    return pd.concat([before, sheet[~sheet["text_id"].isin(before["text_id"])]])
