"""What a run reads: texts that people judged, the knowledge, models' answers, and their labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from nbbias import tables
from nbbias.biasalert import knowledge as entries, sample, sources, split as parting
from nbbias.biasalert.contracts import ANSWERS
from nbbias.biasalert.knowledge import LOST_COLUMNS
from nbbias.biasalert.split import NEAR
from nbbias.params import NONE
from nbbias.tables import SAMPLE, Column, NbbiasError, columns, read_table, resolve

if TYPE_CHECKING:  # with statsmodels, which takes a while to load
    from nbbias.biasalert import levels


def source(labelled_path: str, evaluation_path: str = NONE) -> str:
    """Return the name of the texts that are tested on: a file's, without its folder.

    Examples
    --------
    >>> source("sample")
    'sample'
    """
    path = labelled_path if evaluation_path == NONE else evaluation_path
    return "sample" if path == SAMPLE else resolve(path).stem


def texts(
    labelled_path: str = SAMPLE,
    evaluation_path: str = NONE,
    *,
    test_share: float = 0.3,
    near: float = NEAR,
    seed: int,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Read the texts that people judged, and say which are learnt from.

    Parameters
    ----------
    labelled_path
        ``"sample"``, or a file as `sources.labelled` reads it.
    evaluation_path
        Another such file. Then all of the first is learnt from, but for texts with a
        near-duplicate in this one, and this one is tested on.
    test_share, near, seed
        As in `split.split`, where there is one file.

    Returns
    -------
    (DataFrame, DataFrame)
        LABELLED, with `comment_id` (near-duplicates share it) and `split` (``"train"``,
        ``"test"``, or ``"left out"`` for texts to learn from with a near-duplicate to be tested);
        and the rows of the files that are not among them: `file`, `reason`, `n`.

    Examples
    --------
    >>> labelled, lost = texts("sample", seed=0)
    >>> len(labelled), len(lost)
    (252, 0)
    """
    if labelled_path == SAMPLE:
        return sample.labelled(seed=seed), pd.DataFrame(columns=["file", *LOST_COLUMNS])
    sides, lost = read_texts(labelled_path, evaluation_path)
    return parted(sides, test_share=test_share, near=near, seed=seed), lost


def read_texts(
    labelled_path: str, evaluation_path: str = NONE
) -> tuple[list[pd.DataFrame], pd.DataFrame]:
    """Read the files of texts that people judged, one or two, as `texts` parts them.

    Returns
    -------
    (list of DataFrame, DataFrame)
        LABELLED of each file; and the rows that are not among them: `file`, `reason`, `n`.

    Raises
    ------
    NbbiasError
        All that is wrong with either file.
    """
    problems: list[NbbiasError] = []
    paths = [path for path in (labelled_path, evaluation_path) if path != NONE]
    read = [tables.attempt(problems, sources.labelled, path) for path in paths]
    tables.refuse(problems)
    there = [one for one in read if one is not None]
    for path, (_, lost) in zip(paths, there, strict=True):
        lost.insert(0, "file", resolve(path).name)
    return [one for one, _ in there], pd.concat([lost for _, lost in there], ignore_index=True)


def parted(
    sides: Sequence[pd.DataFrame], *, test_share: float = 0.3, near: float = NEAR, seed: int
) -> pd.DataFrame:
    """Say which texts are learnt from, and which are tested: what `texts` returns of `read_texts`.

    Raises
    ------
    ParameterError
        As `split.split`.
    """
    first, *rest = sides
    if not rest:
        return parting.split(first, test_share=test_share, near=near, seed=seed)
    (second,) = rest
    twins, _ = parting.across(first["text"], second["text"], near=near)
    parts = [
        first.assign(
            split=pd.Series(twins, index=first.index).map({True: "left out", False: "train"})
        ),
        second.assign(split="test"),
    ]
    both = pd.concat(parts, ignore_index=True)
    # One text may stand in both files: there it is two rows.
    prefix = "t"
    while (prefix + first["text_id"]).isin(second["text_id"]).any():
        prefix += "t"
    both["text_id"] = both["text_id"].where(both["split"] == "test", prefix + both["text_id"])
    return parting.with_clusters(both, near=near)


def counts(labelled: pd.DataFrame) -> pd.DataFrame:
    """Count texts by split and type: `texts`, `biased`, and `clusters` of near-duplicates.

    Examples
    --------
    >>> labelled, _ = texts("sample", seed=0)
    >>> counts(labelled)["texts"].sum()
    np.int64(252)
    """
    named = labelled.assign(bias_type=labelled["bias_type"].fillna("none named"))
    grouped = named.groupby(["split", "bias_type"], sort=False)
    return grouped.agg(
        texts=("text_id", "size"), biased=("biased", "sum"), clusters=("comment_id", "nunique")
    ).reset_index()


def knowledge(path: str = SAMPLE, *, labelled: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Read or build the knowledge.

    Parameters
    ----------
    path
        ``"sample"``; a table with `statement` (and `bias_type`, `group`, `attribute` where known),
        or one that was kept; a CSV file of SBIC's; or ``"none"`` for what the
        training texts that people called biased say.
    labelled
        LABELLED of `texts`.

    Returns
    -------
    (DataFrame, DataFrame)
        KNOWLEDGE, and the rows that were lost: `reason`, `n`.

    Examples
    --------
    >>> labelled, _ = texts("sample", seed=0)
    >>> len(knowledge("sample", labelled=labelled)[0])
    63
    """
    if path == NONE:
        return sources.from_labelled(labelled[labelled["split"] == "train"])
    if path == SAMPLE:
        return entries.build(sample.knowledge(), source=sample.SOURCE)
    if sources.is_sbic(path):
        return sources.sbic(path)
    table = read_table(path, entries.FILE)
    if "entry_id" not in table:
        return entries.build(table, source=resolve(path).stem)
    found = entries.load(path)
    return found, pd.DataFrame(columns=LOST_COLUMNS)


_ANSWERS = ["text_id", "model", "text"]
#: What a file of answers holds; BOLD has people's own continuations.
_FILE = {name: Column("text") for name in (*_ANSWERS, "prompt_id", "domain", "prompt", "wikipedia")}
_FILE["text_id"] = Column("text", also=columns.ID, without="row")
_FILE["model"] = Column("text", also=columns.MODEL, without="file")
_FILE["text"] = Column("text", also=columns.ANSWERED)
_LABELS = {"text_id": Column("text", needed=True), "biased": Column("flag", needed=True)}


def read_answers(path: str = SAMPLE, *, n: int = 100, size: int = 0, seed: int) -> pd.DataFrame:
    """Read models' answers: `text_id`, `model`, `text`, and what else the table has.

    Parameters
    ----------
    path
        ``"sample"`` (simulated, with a planted share of biased answers); a table, as
        `nbbias generate` exports it or with these columns; or BOLD's own (`domain`, `prompt`,
        `wikipedia`), whose continuations by the people who wrote Wikipedia stand as those of a
        model of that name.
    n, seed
        Of the sample: prompts, and the start of the draws.
    size
        Answers per model that are drawn at random; 0 takes all.

    Examples
    --------
    >>> read_answers("sample", n=3, seed=0).groupby("model").size().to_dict()
    {'blunt': 3, 'careful': 3, 'careless': 3}
    """
    if path == SAMPLE:
        table = sample.answers(n=n, seed=seed)
    else:
        table = read_table(path, _FILE)
        if {"domain", "prompt", "wikipedia"} <= set(table):
            table = _wikipedia(table)
        unnamed = "text_id" in table and (table["text_id"] == columns.number_rows(table)).all()
        if unnamed and "prompt_id" in table:  # as `nbbias generate` exports them
            tables.require_columns(table, ["model", "prompt_id", "text"], where=path)
            again = table.groupby(["model", "prompt_id"]).cumcount().astype(str)
            table = table.assign(text_id=table["model"] + "/" + table["prompt_id"] + "/" + again)
        table = tables.check(table, ANSWERS, where=path)
    if size:
        mixed = table.sample(frac=1, random_state=seed)
        table = mixed.groupby("model").head(size).sort_index().reset_index(drop=True)
    return table


def _wikipedia(bold: pd.DataFrame) -> pd.DataFrame:
    """Return BOLD's human continuations as answers; a sentence that stands twice counts once."""
    once = bold.drop_duplicates("wikipedia").reset_index(drop=True)
    ids = once["domain"] + "/" + once["wikipedia"].map(sources.text_id)
    return pd.DataFrame(
        {"text_id": ids, "model": "Wikipedia", "text": once["wikipedia"], "domain": once["domain"]}
    )


def labels(path: str) -> pd.DataFrame:
    """Read people's labels of answers: `text_id`, `biased`."""
    return read_table(path, _LABELS)[list(_LABELS)]


def people(
    answers: pd.DataFrame,
    human_path: str = NONE,
    *,
    sampled: bool = False,
    drawn: bool = False,
    seed: int,
) -> levels.People | None:
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
    """
    from nbbias.biasalert import levels

    if human_path != NONE:
        found = labels(human_path)
        own = found[found["text_id"].isin(answers["text_id"])] if drawn else found
        return levels.People(own, sampled)
    return levels.People(planted(answers, seed=seed), True) if "planted" in answers else None


def planted(table: pd.DataFrame, *, size: int = 60, seed: int) -> pd.DataFrame:
    """Return the planted truth of a random sample of simulated answers, as people's labels are."""
    from nbbias.biasalert import levels

    drawn = levels.draw_sample(table, size=size, seed=seed)["text_id"]
    known: dict[str, Any] = dict(zip(table["text_id"], table["planted"], strict=True))
    return pd.DataFrame({"text_id": drawn, "biased": drawn.map(known).astype("boolean")})
