"""Word lists: which words name which group.

A lexicon is a table of terms: `bias`, `group`, `term`, `kind` (word, phrase, descriptor or name),
`case` (any or exact) and `language`. A descriptor ("white") counts only before an occupation or a
gender word ("white teacher"), as in Fang et al. 2024; `expand` writes these phrases out. `coverage`
and `term_counts` show what share of a corpus the lists match, and how often each word occurs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

from nbbias.tables import SAMPLE, Column, ContractError, data_path, read_shipped_table, read_table

#: The biases of the papers; all other lists were compiled for this project.
PAPERS = ("gender", "race")

#: Languages with a shipped list of gender words; all other lists are English.
LANGUAGES = {"en": "English", "de": "German", "fr": "French", "es": "Spanish"}

_KINDS = {"word", "phrase", "descriptor", "name"}
_CASES = {"any", "exact"}
#: Names that no group of a list can have: tables use them.
_RESERVED = {"any": "all groups together", "neutral": "texts without a group"}
_COLUMNS = ["bias", "group", "term", "kind", "case", "language"]
#: What a file of words holds.
_FILE = {
    "group": Column("text", needed=True),
    "term": Column("text", needed=True),
    "kind": Column("text"),
    "case": Column("text"),
}


@cache
def shipped(language: str = "en") -> tuple[str, ...]:
    """Return the biases with a shipped list, the papers' first; a new list is one more file.

    A list is a file in ``data/lexicons`` with a column `group`, or in the folder of another
    language there. ``race_names.csv`` holds names of people for ``race``.

    Examples
    --------
    >>> from nbbias.text import lexicons
    >>> lexicons.shipped()[:2]
    ('gender', 'race')
    """
    biases = [
        path.stem
        for path in sorted(_folder(language).glob("*.csv"))
        if not path.stem.endswith("_names") and "group" in pd.read_csv(path, nrows=0)
    ]
    return tuple(sorted(biases, key=lambda bias: bias not in PAPERS))


def _folder(language: str) -> Path:
    return data_path("lexicons" if language == "en" else f"lexicons/{language}")


def choices(papers: Iterable[str] = PAPERS) -> str:
    """Return the names of the shipped lists for the help of a parameter, a paper's own first.

    Examples
    --------
    >>> choices(["gender"]).split(", ")[:2]
    ["gender (the paper's)", 'race']
    """
    first = list(papers)
    rest = [bias for bias in shipped() if bias not in first]
    return f"{', '.join(first)} (the paper's), {', '.join(rest)}, or a name in lexicon_paths"


def load(
    bias: str, *, path: str | None = None, names_path: str | None = None, language: str = "en"
) -> pd.DataFrame:
    """Load the lexicon of one bias.

    Parameters
    ----------
    bias
        One of `shipped`, or a name of your own with `path`.
    path
        Your own list: columns `group` and `term`, and where they matter `kind` (word by default)
        and `case` (any by default). Without it the shipped list is taken.
    names_path
        For race: your own list of names of people (`group`, `term`) in place of the shipped one.
    language
        One of `LANGUAGES`: that of the texts, by whose rules spaCy tokenizes them.

    Returns
    -------
    DataFrame
        `bias`, `group`, `term`, `kind`, `case`, `language`.

    Raises
    ------
    ContractError
        Every fault of the list at once: a missing column, a term in two groups or twice, an
        unknown kind or case, fewer than two groups, a group that looks like a misspelt one.

    Examples
    --------
    >>> load("gender").groupby("group").size().to_dict()
    {'female': 20, 'male': 20}
    """
    ours = path in (None, SAMPLE)
    source = str(_folder(language) / f"{bias}.csv" if ours else path)
    tables = {source: read_table(source, _FILE)}
    if bias == "race" and ours:
        shipped_names = names_path in (None, SAMPLE)
        names = str(data_path("lexicons/race_names.csv") if shipped_names else names_path)
        tables[names] = read_table(names, _FILE).assign(kind="name", case="exact")
    whole = pd.concat(tables.values(), ignore_index=True)
    for column, default in {"kind": "word", "case": "any"}.items():
        whole[column] = whole[column].fillna(default) if column in whole else default
    whole = whole.assign(bias=bias, language=language)[_COLUMNS]
    whole[["group", "term"]] = whole[["group", "term"]].apply(lambda column: column.str.strip())
    ContractError.refuse(" and ".join(tables), _faults(whole))
    return whole


def _faults(table: pd.DataFrame) -> list[str]:
    lacking = (table[["group", "term"]].fillna("") == "").any(axis=1)
    faults = [f"rows without a group or term: {lacking.sum()}"] if lacking.any() else []
    table = table[~lacking]
    faults += [
        f"no group can be called {name!r}: it is {meaning}"
        for name, meaning in _RESERVED.items()
        if name in set(table["group"])
    ]
    # "Asian" and "asian" are one term; exact terms may differ by case alone.
    term = table["term"].where(table["case"] == "exact", table["term"].str.lower())
    repeated = term[term.duplicated(keep=False)]
    for name, subset in table.loc[repeated.index].groupby(repeated)["group"]:
        if subset.nunique() > 1:
            both = " and ".join(subset.unique())
            faults.append(f"{name!r} stands in the groups {both}; keep one")
        for group in subset[subset.duplicated()].unique():
            faults.append(f"{name!r} occurs twice in {group}; keep one")
    for column, allowed in {"kind": _KINDS, "case": _CASES}.items():
        for value in sorted(set(table[column].astype(str)) - allowed):
            faults.append(f"{column} {value!r} is unknown; use {', '.join(sorted(allowed))}")
    sizes = table["group"].value_counts()
    if len(sizes) < 2:
        faults.append(f"holds {len(sizes)} group; a bias needs two or more")
    return faults


def occupations() -> pd.Series:
    """Return the occupations that may follow a descriptor, singular and plural (O*NET).

    Examples
    --------
    >>> "teachers" in set(occupations())
    True
    """
    table = read_shipped_table("lexicons/occupations.csv")
    both = pd.concat([table["singular"], table["plural"]]).dropna()
    return both.drop_duplicates().sort_values(ignore_index=True)


def expand(lexicon: pd.DataFrame) -> pd.DataFrame:
    """Write out what is searched for: a descriptor becomes descriptor + noun.

    Parameters
    ----------
    lexicon
        The table of `load`, of one bias or several.

    Returns
    -------
    DataFrame
        The same columns. "white" becomes "white teacher", "white teachers", "white woman", …:
        the occupations of `occupations` and the gender words that name a person.

    Examples
    --------
    >>> lexicon = pd.DataFrame({"bias": "race", "group": "White", "term": ["White"],
    ...                         "kind": "descriptor", "case": "any"})
    >>> {"White teacher", "White woman"} <= set(expand(lexicon)["term"])
    True
    """
    of_kind = lexicon["kind"] == "descriptor"
    if not of_kind.any():
        return lexicon
    nouns = pd.DataFrame({"noun": pd.concat([occupations(), gender_nouns()]).unique()})
    written = lexicon[of_kind].merge(nouns, how="cross")
    written = written.assign(term=written["term"] + " " + written["noun"])
    return pd.concat([lexicon[~of_kind], written[lexicon.columns]], ignore_index=True)


@cache
def _nouns() -> frozenset[str]:
    return frozenset(pd.concat([occupations(), gender_nouns()]))


def descriptor_length(term: str) -> int:
    """Return how many words of a written-out term are its descriptor: 1 in "white teacher".

    Examples
    --------
    >>> descriptor_length("white teacher")
    1
    """
    words = term.split()
    lengths = (n for n in range(1, len(words)) if " ".join(words[n:]) in _nouns())
    return next(lengths, len(words))


def gender_nouns() -> pd.Series:
    """Return the gender words that can follow a descriptor: all but the pronouns.

    Examples
    --------
    >>> {"woman", "she"} & set(gender_nouns())
    {'woman'}
    """
    pronouns = {"she", "her", "hers", "herself", "he", "him", "his", "himself"}
    words = read_shipped_table("lexicons/gender.csv")["term"]
    return words[~words.isin(pronouns)]


def groups(lexicon: pd.DataFrame, bias: str) -> list[str]:
    """Return a bias's groups in the order of its list.

    Parameters
    ----------
    lexicon
        A word list, as `text.lexicons.load` returns it.
    bias
        A bias of the list, such as ``"gender"``.

    Examples
    --------
    >>> groups(load("gender"), "gender")
    ['female', 'male']
    """
    return list(lexicon.loc[lexicon["bias"] == bias, "group"].unique())


def load_all(
    biases: Iterable[str],
    *,
    paths: Mapping[str, str] | None = None,
    names_path: str | None = None,
    language: str = "en",
) -> pd.DataFrame:
    """Load several biases, with a user's own list where `paths` names one.

    Parameters
    ----------
    biases
        Names of lists, as in `load`.
    paths
        A bias → your own list of it.
    names_path, language
        As in `load`.

    Examples
    --------
    >>> load_all(["gender", "religion"])["bias"].unique().tolist()
    ['gender', 'religion']
    """
    files = paths or {}
    read = (load(b, path=files.get(b), names_path=names_path, language=language) for b in biases)
    return pd.concat(read, ignore_index=True)


def coverage(
    lexicon: pd.DataFrame, matches: pd.DataFrame, sentences: pd.DataFrame, *, texts: pd.Series
) -> pd.DataFrame:
    """Compute the share of texts and sentences with a word of a lexicon, by bias and group.

    Parameters
    ----------
    lexicon
        The expanded terms that were searched for.
    matches, sentences
        The tables of `text.annotate.annotate`.
    texts
        All texts that were searched, touched or not.

    Returns
    -------
    DataFrame
        By `bias` and `group`, and by bias over all groups (`group` is ``"any"``): `terms` in the
        list, `terms_seen`, `matches`, `texts` and `sentences` with at least one match,
        `text_share` and `sentence_share` in [0, 1] of all there are (NaN where there are none).

    Examples
    --------
    >>> from nbbias.text import annotate
    >>> texts, lexicon = pd.Series(["She spoke.", "It rained."]), load("gender")
    >>> sentences, matches = annotate.annotate(texts, lexicon)
    >>> table = coverage(lexicon, matches, sentences, texts=texts)
    >>> table[["group", "texts", "text_share"]].to_dict("records")[0]
    {'group': 'any', 'texts': 1, 'text_share': 0.5}
    """
    keys = ["bias", "group"]
    by_bias = [terms for _, terms in lexicon.groupby("bias", sort=False)]
    listed = pd.concat([part for terms in by_bias for part in (terms.assign(group="any"), terms)])
    rows = pd.concat([matches.assign(group="any"), matches]).astype(dict.fromkeys(keys, str))
    of_group = rows.groupby(keys)
    distinct = rows.drop_duplicates([*keys, "text_id", "sentence_id"])
    table = pd.DataFrame({"terms": listed.groupby(keys, sort=False).size()})
    table["terms_seen"], table["matches"] = of_group["term"].nunique(), of_group.size()
    table["texts"] = of_group["text_id"].nunique()
    table["sentences"] = distinct.groupby(keys).size()
    table = table.fillna(0).astype(int)
    table["text_share"] = table["texts"] / (len(texts) or np.nan)
    table["sentence_share"] = table["sentences"] / (len(sentences) or np.nan)
    return table.reset_index()


def term_counts(lexicon: pd.DataFrame, matches: pd.DataFrame) -> pd.DataFrame:
    """Count every term: `bias`, `group`, `term`, `kind`, `matches`; 0 for those never seen.

    Parameters
    ----------
    lexicon
        A word list, as `text.lexicons.load` returns it.
    matches
        Matches, as `text.annotate.annotate` returns them.

    Examples
    --------
    >>> matches = pd.DataFrame({"bias": "gender", "group": "female", "term": ["she", "she"]})
    >>> term_counts(load("gender"), matches)[["term", "matches"]].to_dict("records")[0]
    {'term': 'she', 'matches': 2}
    """
    keys = ["bias", "group", "term"]
    seen = matches.groupby(keys).size().rename("matches").reset_index()
    table = lexicon[[*keys, "kind"]].merge(seen, on=keys, how="left")
    table["matches"] = table["matches"].fillna(0).astype(int)
    by = ["matches", "term"]
    return table.sort_values(by, ascending=[False, True], kind="stable", ignore_index=True)
