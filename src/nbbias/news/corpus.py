"""News corpora: what is read, the pairs it forms, and whom its sentences are about."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from nbbias import tables, text
from nbbias.news import sample
from nbbias.tables import Column, ContractError, DataError, NbbiasError, columns, read_table

SAMPLE_SEED = 2024

#: More prompts than these, with fewer than three answers each, are hardly conditions.
_PROMPTS = 5

#: What errors of both files together name.
_SIDES = "originals and generations"

#: What identifies an article, and what identifies a cell of the study.
ARTICLE = ["source", "article_id"]
CELL = ["source", "model", "prompt"]

#: What identifies a sentence.
SENTENCE = ["text_id", "sentence_id"]

#: The two sides of a pair, answer h and original o, and the columns that name their texts.
SIDES = {"h": "generated_id", "o": "original_id"}

#: The group of a sentence without group words, or with as many of one group as of another: those
#: that the paper assigns to no group. The baseline of tone is narrower: `n` = 0 in every bias.
NEUTRAL = "neutral"

#: Columns of files of articles, and of files of answers. `pair` keeps the keys and the text;
#: what else pairs need is added there.
_ORIGINALS = {
    "source": Column("text", also=("outlet",)),
    "article_id": Column("text", needed=True, also=columns.ID, without="row"),
    "headline": Column("text"),
    "sample": Column("count"),
    "text": Column("text", needed=True, also=(*columns.WRITTEN, "original", "human")),
}
_GENERATIONS = {
    "source": Column("text", also=("outlet",)),
    "article_id": Column("text", needed=True, also=columns.ID, without="row"),
    "model": Column("text", needed=True, also=columns.MODEL, without="file"),
    "prompt": Column("text", also=("method",)),
    "sample": Column("count"),
    "text": Column("text", needed=True, also=(*columns.ANSWERED, *columns.WRITTEN)),
    # What people say of it, where a file tells: whether it is a refusal.
    "refused": Column("flag"),
    # The same of a random sample, by one person or two, and the probability of being drawn.
    "refused_label": Column("flag"),
    "refused_label_2": Column("flag"),
    "label_probability": Column("number"),
}


def read_originals(path: str | Path) -> pd.DataFrame:
    """Read the human articles.

    Parameters
    ----------
    path
        A table with `article_id` and `text` (and `source`, `headline`, and `sample`, the number of
        the human text where a story has several), or one of the JSON layouts of
        `tables.read_table`. Without ids articles are known by their rows.

    Returns
    -------
    DataFrame
        ORIGINALS: `source` (`outlet`, or ``"all"``, where there is none), `article_id`, `headline`,
        `text`. Nothing is left out; an article that occurs twice occurs twice.
    """
    written = read_table(path, _ORIGINALS)
    table = tables.identify_articles(written)
    forms = written["article_id"].groupby([table[key] for key in ARTICLE])
    apart = forms.nunique() > 1
    if apart.any():
        alike = forms.unique()[apart].iloc[0]
        message = f"the article_ids {' and '.join(map(repr, alike[:3]))} are read as one article"
        raise ContractError(str(path), f"{message}; write each id in one way, and two apart")
    return tables.check(table, tables.ORIGINALS, where=str(path))


def read_generations(path: str | Path) -> pd.DataFrame:
    """Read what models wrote.

    Parameters
    ----------
    path
        A table with `article_id`, `model` and `text`; where there are any, `source`, `prompt`
        (or `method`: how the text was asked for) and `sample`. A file without `model` is one
        model's, named after the file; one without ids answers articles in their order.

    Returns
    -------
    DataFrame
        GENERATIONS: `source`, `article_id`, `model`, `prompt` (``"neutral"`` where the file
        names none), `sample` (repeats of one article, model and prompt are numbered), `text`.
    """
    table = read_table(path, _GENERATIONS)
    if "prompt" not in table:
        table = table.assign(prompt="neutral")
    if _in_order(table):
        cells = table.groupby([*CELL[1:], *(["source"] if "source" in table else [])], dropna=False)
        table["article_id"] = "row " + (cells.cumcount() + 1).astype("str")
    table = tables.identify_articles(table)
    if "sample" not in table:
        keys = [*ARTICLE, "model", "prompt"]
        table["sample"] = table.groupby(keys, dropna=False).cumcount() + 1
    return tables.check(table, tables.GENERATIONS, where=str(path))


# --- pairs ------------------------------------------------------------------------------------


def pair(originals: pd.DataFrame, generations: pd.DataFrame) -> pd.DataFrame:
    """Join every generated text with its original.

    Parameters
    ----------
    originals
        ORIGINALS, a human article a row.
    generations
        GENERATIONS, a generated text a row, by `article_id` of its original.

    Returns
    -------
    DataFrame
        PAIRS, one row per generated text, lost ones too: `pair_id`, the keys of the cell,
        `article_id`, `sample`, `original_text`, `generated_text`, and `lost`: why the pair cannot
        be measured (``"no original"``, ``"blank original"``, ``"blank answer"``,
        ``"repeated id"``, ``"repeated answer"``: the same words for the same article), or
        missing.

    Raises
    ------
    DataError
        Not one generated text has an original; the message shows ids of both sides.

    Examples
    --------
    >>> from nbbias import news
    >>> original = {"source": ["s"], "article_id": ["1"], "text": ["She met her son."]}
    >>> answer = original | {"text": [" "], "model": "m", "prompt": "p", "sample": 1}
    >>> news.pair(pd.DataFrame(original), pd.DataFrame(answer))["lost"].tolist()
    ['blank answer']
    """
    first = originals.drop_duplicates(ARTICLE)
    original = first[[*ARTICLE, "text"]].rename(columns={"text": "original_text"})
    keys = [*CELL, "article_id", "sample"]
    table = generations[[*keys, "text"]].rename(columns={"text": "generated_text"})
    # An answer that only repeats another of its article adds nothing: the article is the unit.
    repeated = table.duplicated(keys).to_numpy()
    again = table.duplicated([*keys[:-1], "generated_text"]).to_numpy() & ~repeated
    table = table.merge(original, on=ARTICLE, how="left", indicator=True)
    orphan = (table.pop("_merge") == "left_only").to_numpy()
    if len(table) and orphan.all():
        raise DataError(
            _SIDES,
            f"share no article: originals have {_examples(originals)}, generations have "
            f"{_examples(generations)} (source / article_id; {tables.ONE_SOURCE!r} where a file "
            "has no column source: give both that column, or neither)",
        )
    reasons = {
        "repeated answer": again,
        "repeated id": repeated,
        "blank answer": tables.is_blank(table["generated_text"]).to_numpy(),
        "blank original": tables.is_blank(table["original_text"]).to_numpy(),
        "no original": orphan,
    }
    lost = pd.Series(pd.NA, index=table.index, dtype="str")
    for reason, applies in reasons.items():
        lost[applies] = reason
    columns = ["pair_id", *keys, "original_text", "generated_text", "lost"]
    return table.assign(pair_id=range(len(table)), lost=lost)[columns]


def paired(
    problems: list[NbbiasError], originals: pd.DataFrame, generations: pd.DataFrame
) -> list[str]:
    """Pair the two sides of a corpus; add what forbids it to the problems, return what is lost."""
    pairs = tables.attempt(problems, pair, originals, generations)
    if pairs is None:
        return []
    models, usable = pairs["model"], pairs["lost"].isna()
    tables.attempt(problems, tables.require_measurable, models, usable, where="generations")
    orphans = int((pairs["lost"] == "no original").sum())
    warnings = [f"{orphans} of {len(pairs)} answers have no original"] if orphans else []
    prompts = pairs["prompt"].nunique()
    if prompts > max(_PROMPTS, len(pairs) / 3):
        warnings.append(
            f"{len(pairs)} answers stand under {prompts} prompts, each of which is measured alone; "
            "a column of whole prompts is left out by 'generations.csv?prompt='"
        )
    return warnings


def second_texts(originals: pd.DataFrame) -> pd.DataFrame:
    """Pair the further human texts on a story with its first one.

    Parameters
    ----------
    originals
        ORIGINALS; a story's human texts are numbered in the column `sample`. Without that column an
        article that occurs twice is a fault of the table.

    Returns
    -------
    DataFrame
        PAIRS as of `pair`, the further text as `generated_text` of the `model` ``"human"``; none
        without several texts. They are no answers: they say what two humans differ by.

    Examples
    --------
    >>> from nbbias import news
    >>> story = {"source": "s", "article_id": "1"}
    >>> written = pd.DataFrame([story | {"sample": i, "text": text} for i, text in enumerate("ab")])
    >>> news.second_texts(written)[["original_text", "generated_text"]].values.tolist()
    [['a', 'b']]
    """
    texts = originals if "sample" in originals else originals.head(0).assign(sample=1)
    return pair(originals, texts[texts.duplicated(ARTICLE)].assign(model="human", prompt="-"))


def _examples(table: pd.DataFrame) -> str:
    shown = table[ARTICLE].drop_duplicates().head(3)
    return ", ".join(f"{source} / {article!r}" for source, article in shown.to_numpy()) or "nothing"


def read(originals_path: str, generations_path: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Read both sides of a corpus; ``"sample"`` is the simulated one, with its faults.

    Parameters
    ----------
    originals_path, generations_path
        Files of ORIGINALS and GENERATIONS; ``"sample"`` for both is the simulated corpus.

    Raises
    ------
    NbbiasError
        All that is wrong with either file.

    Examples
    --------
    >>> from nbbias import news
    >>> originals, generations = news.read("sample", "sample")
    >>> len(originals), generations["model"].nunique()
    (144, 5)
    """
    if originals_path == "sample":
        return sample.corpus(
            writing=sample.SAMPLE_WRITING, desks_apart=True, faults=True, seed=SAMPLE_SEED
        )
    sides = (read_originals, originals_path), (read_generations, generations_path)
    originals, generations = tables.attempt_all(lambda side: side[0](side[1]), sides)
    unnamed = [_in_order(originals), generations["article_id"].str.startswith("row ").all()]
    if all(unnamed) and (generations.groupby(CELL[1:]).size() != len(originals)).any():
        needed = f"{len(originals)} originals need as many texts of a model"
        message = f"without article_id rows are paired in order, and {needed}"
        raise DataError(_SIDES, f"{message}; give both files that column")
    if unnamed[0] != unnamed[1]:  # named with what is there instead
        path = originals_path if unnamed[0] else generations_path
        tables.require_columns(read_table(path, {}, rest=True), ["article_id"], where=path)
    return originals, generations


def _in_order(table: pd.DataFrame) -> bool:
    """Tell whether a file had no ids, so that its texts are known by their rows."""
    return bool((table["article_id"] == columns.number_rows(table)).all())


def summary(originals: pd.DataFrame, generations: pd.DataFrame) -> pd.DataFrame:
    """Count texts of both sides by `source`, `model` (``"human"`` for originals) and `prompt`."""
    both = pd.concat([originals.assign(model="human", prompt="-"), generations])
    both = both.assign(words=both["text"].fillna("").str.split().str.len())
    counts = {"texts": ("text", "size"), "articles": ("article_id", "nunique")}
    return both.groupby(CELL, sort=False).agg(**counts, words=("words", "mean")).reset_index()


# --- what is read of the texts ----------------------------------------------------------------


class Read(NamedTuple):
    """A corpus with its sentences and group words, which every level measures.

    `pairs`: PAIRS, with the numbers `original_id` and `generated_id` of their texts (-1: a text of
    lost pairs alone) in place of the texts; `texts`: by `text_id`, each once; `sentences`: the
    table of `grouped`; `matches`: that of `text.annotate.annotate`; `lexicon`: what was searched.

    Examples
    --------
    >>> from nbbias import news
    >>> news.Read._fields
    ('pairs', 'texts', 'sentences', 'matches', 'lexicon')
    """

    pairs: pd.DataFrame
    texts: pd.Series
    sentences: pd.DataFrame
    matches: pd.DataFrame
    lexicon: pd.DataFrame

    @property
    def usable(self) -> pd.DataFrame:
        """The pairs that can be measured."""
        return self.pairs[self.pairs["lost"].isna()]


def lexicon(biases: Sequence[str], **lists: Any) -> pd.DataFrame:
    """Load the word lists of some biases, every term written out, as `annotate` takes them.

    Parameters
    ----------
    biases
        Names of lists.
    **lists
        Of `text.lexicons.load_all`: paths, names_path, language.

    Examples
    --------
    >>> from nbbias import news
    >>> news.lexicon(["gender"])["group"].unique().tolist()
    ['female', 'male']
    """
    return text.lexicons.expand(text.lexicons.load_all(biases, **lists))


def groups(chosen: Any) -> pd.DataFrame:
    """Return each bias with its groups."""
    lists = text.lexicons.load_all(chosen.biases, **chosen.lists())
    return lists[["bias", "group"]].drop_duplicates()


def annotate(pairs: pd.DataFrame, *, lexicon: pd.DataFrame) -> Read:
    """Split the texts of pairs into sentences, and find their group words.

    Parameters
    ----------
    pairs
        PAIRS of `pair`.
    lexicon
        The expanded terms of one or more biases (`text.lexicons.expand`).

    Returns
    -------
    Read
        A text that serves several pairs has one number and is read once.

    Examples
    --------
    >>> from nbbias import news, text
    >>> original = {"source": ["s"], "article_id": ["1"], "text": ["She met her son."]}
    >>> answer = original | {"text": ["He met him."], "model": "m", "prompt": "p", "sample": 1}
    >>> pairs = news.pair(pd.DataFrame(original), pd.DataFrame(answer))
    >>> read = news.annotate(pairs, lexicon=text.lexicons.load("gender"))
    >>> read.matches[["text_id", "group", "term"]].to_numpy().tolist()[:2]
    [[0, 'female', 'she'], [0, 'female', 'her']]
    """
    usable = pairs[pairs["lost"].isna()]
    both = pd.concat([usable["original_text"], usable["generated_text"]])
    distinct = pd.Index(both.drop_duplicates())
    ids = pd.Index(np.arange(len(distinct), dtype="int32"), name="text_id")
    texts = pd.Series(distinct.to_numpy(), index=ids, name="text")
    numbered = pairs.drop(columns=["original_text", "generated_text"])
    for side in ("original", "generated"):
        numbered[f"{side}_id"] = distinct.get_indexer(pairs[f"{side}_text"]).astype("int32")
    sentences, matches = text.annotate.annotate(texts, lexicon)
    by_group = grouped(sentences, matches, lexicon=lexicon)
    return Read(numbered, texts, by_group, matches, lexicon)


def grouped(
    sentences: pd.DataFrame, matches: pd.DataFrame, *, lexicon: pd.DataFrame
) -> pd.DataFrame:
    """Give every sentence its group, for every bias.

    Parameters
    ----------
    sentences, matches
        The tables of `text.annotate.annotate`.
    lexicon
        The lists that were searched.

    Returns
    -------
    DataFrame
        SENTENCES, one row per sentence and bias: `text_id`, `sentence_id`, `start`, `end`, `bias`,
        `group` (categories; the one with the most words; ``"neutral"`` where there are none or a
        tie, as the paper's topics have it) and `n` (group words: above 0 in a tie).
    """
    biases = pd.CategoricalDtype(sorted(lexicon["bias"].unique()))
    names = pd.CategoricalDtype(sorted({*lexicon["group"].unique(), NEUTRAL}))
    result = []
    for bias in lexicon["bias"].unique():
        groups = text.lexicons.groups(lexicon, bias)
        counts = text.annotate.count(matches[matches["bias"] == bias], by=SENTENCE, groups=groups)
        words = sentences[SENTENCE].merge(counts, on=SENTENCE, how="left")
        words = words.drop(columns=SENTENCE).fillna(0).to_numpy(np.int32)
        most = words.max(axis=1)
        alone = (words == most[:, None]).sum(axis=1) == 1
        codes = names.categories.get_indexer([*groups, NEUTRAL])
        code = codes[np.where((most > 0) & alone, words.argmax(axis=1), len(groups))]
        table = sentences.assign(
            group=pd.Categorical.from_codes(code, dtype=names),
            n=words.sum(axis=1, dtype=np.int32),
            bias=pd.Categorical([bias], dtype=biases).repeat(len(sentences)),
        )
        result.append(table)
    return pd.concat(result, ignore_index=True)


def coverage(read: Read) -> pd.DataFrame:
    """Say what share of texts and sentences the word lists touch: `text.lexicons.coverage`."""
    distinct = read.sentences.drop_duplicates(SENTENCE)
    return text.lexicons.coverage(read.lexicon, read.matches, distinct, texts=read.texts)


def distinct_sentences(read: Read) -> pd.Series:
    """Return every distinct sentence's words, by `text_id` and `sentence_id`."""
    distinct = read.sentences.drop_duplicates(SENTENCE)
    whole = read.texts.tolist()
    at = read.texts.index.get_indexer(distinct["text_id"]).tolist()
    places = zip(at, distinct["start"].tolist(), distinct["end"].tolist(), strict=True)
    words = [whole[text][start:end] for text, start, end in places]
    return pd.Series(words, pd.MultiIndex.from_frame(distinct[SENTENCE]), dtype=str)
