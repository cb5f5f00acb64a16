"""Word lists that tell which group a text speaks of.

A lexicon is a table of terms: `bias`, `group`, `term`, `kind` (word, phrase,
descriptor or name) and `case` (any or exact). A descriptor ("white") counts
only where an occupation or a gender word follows ("white teacher"), as in
Fang et al. 2024; `expand` writes these phrases out.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from functools import cache

import pandas as pd

from nbbias import contracts
from nbbias.corpus import SAMPLE, data_path, read_table
from nbbias.errors import ContractError

_KINDS = {"word", "phrase", "descriptor", "name"}
_CASES = {"any", "exact"}
_COLUMNS = ["bias", "group", "term", "kind", "case"]


def load(bias: str, *, path: str | None = None, names_path: str | None = None) -> pd.DataFrame:
    """Load the lexicon of one bias.

    Parameters
    ----------
    bias
        One of `studies_news.BIASES`, or a name of your own with `path`.
    path
        Your own list: columns `group` and `term`, and where they matter `kind` (word by default)
        and `case` (any by default). Without it the shipped list is taken.
    names_path
        For race: your own list of names of people (`group`, `term`) in place of the shipped one.

    Returns
    -------
    DataFrame
        `bias`, `group`, `term`, `kind`, `case`.

    Raises
    ------
    ContractError
        Every fault of the list at once: a missing column, a term in two groups or twice, an
        unknown kind or case, fewer than two groups, a group that looks like a misspelt one.
    """
    shipped = path in (None, SAMPLE)
    source = str(data_path(f"lexicons/{bias}.csv") if shipped else path)
    tables = [(source, read_table(source))]
    if bias == "race" and shipped:
        own = names_path not in (None, SAMPLE)
        names = str(names_path if own else data_path("lexicons/race_names.csv"))
        table = read_table(names)
        contracts.need(table, ["group", "term"], where=names)
        tables.append((names, table.assign(kind="name", case="exact")))
    for where, table in tables:
        contracts.need(table, ["group", "term"], where=where)
    whole = pd.concat([table for _, table in tables], ignore_index=True)
    for column, default in {"kind": "word", "case": "any"}.items():
        whole[column] = whole[column].fillna(default) if column in whole else default
    for column in ("group", "term"):  # a list of numbers is a list of words, too
        whole[column] = whole[column].astype("str").where(whole[column].notna())
    whole = whole.assign(bias=bias)[_COLUMNS]
    faults = _faults(whole)
    if faults:
        raise ContractError(" and ".join(where for where, _ in tables), faults)
    return whole


def _faults(table: pd.DataFrame) -> list[str]:
    faults = []
    blank = table["term"].isna() | (table["term"].fillna("").str.strip() == "")
    lacking = blank | table["group"].isna()
    if lacking.any():
        rows = "row lacks" if lacking.sum() == 1 else "rows lack"
        faults.append(f"{lacking.sum()} {rows} a group or term")
    table = table[~lacking]
    spaced = table.loc[table["term"] != table["term"].str.strip(), "term"]
    faults += [f"{term!r} has spaces around it; take them away" for term in spaced]
    # Case-folded, so that "Asian" and "asian" are one term; exact ones may differ by case alone.
    folded = table["term"].where(table["case"] == "exact", table["term"].str.lower())
    groups = table.assign(folded=folded).groupby("folded")["group"].unique()
    for term, own in groups[groups.str.len() > 1].items():
        faults.append(f"{term!r} stands in the groups {' and '.join(own)}; keep one")
    counted = table.assign(folded=folded).groupby(["group", "folded"]).size()
    for group, term in counted[counted > 1].index:
        faults.append(f"{term!r} stands twice in {group}; keep one")
    for column, allowed in {"kind": _KINDS, "case": _CASES}.items():
        for value in sorted(set(table[column].astype(str)) - allowed):
            faults.append(f"{column} {value!r} is unknown; use {', '.join(sorted(allowed))}")
    sizes = table["group"].value_counts()
    if len(sizes) < 2:
        faults.append(f"holds {len(sizes)} group; a bias needs two or more")
    for group in sizes.index[sizes == 1]:
        others = [name for name in sizes.index if name != group and sizes[name] > 1]
        near = difflib.get_close_matches(group, others, n=1, cutoff=0.8)
        if near:
            faults.append(f"group {group!r} has one term; did you mean {near[0]}?")
    return faults


def occupations() -> pd.Series:
    """Return the occupations that may follow a descriptor, singular and plural (O*NET)."""
    table = read_table(data_path("lexicons/occupations.csv"))
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
    """
    of_kind = lexicon["kind"] == "descriptor"
    if not of_kind.any():
        return lexicon
    nouns = pd.DataFrame({"noun": pd.concat([occupations(), gender_nouns()]).unique()})
    written = lexicon[of_kind].merge(nouns, how="cross")
    written = written.assign(term=written["term"] + " " + written["noun"])
    return pd.concat([lexicon[~of_kind], written[_COLUMNS]], ignore_index=True)


@cache
def _shipped_descriptors() -> frozenset[str]:
    return frozenset(read_table(data_path("lexicons/race.csv"))["term"].str.lower())


@cache
def _nouns() -> frozenset[str]:
    return frozenset(pd.concat([occupations(), gender_nouns()]))


def descriptor_length(term: str) -> int:
    """Return how many words of a written-out term are its descriptor: 1 in "white teacher"."""
    words = term.split()
    if words[0].lower() in _shipped_descriptors():
        return 1
    for length in range(1, len(words)):
        if " ".join(words[length:]) in _nouns():
            return length
    return 1


def gender_nouns() -> pd.Series:
    """Return the gender words that can follow a descriptor: all but the pronouns."""
    pronouns = {"she", "her", "hers", "herself", "he", "him", "his", "himself"}
    words = read_table(data_path("lexicons/gender.csv"))["term"]
    return words[~words.isin(pronouns)]


def groups(lexicon: pd.DataFrame, bias: str) -> list[str]:
    """Return a bias's groups in the order of its list."""
    return list(lexicon.loc[lexicon["bias"] == bias, "group"].unique())


def load_all(
    biases: Iterable[str],
    *,
    paths: Mapping[str, str] | None = None,
    names_path: str | None = None,
) -> pd.DataFrame:
    """Load several biases, with a user's own list where `paths` names one."""
    own = dict(paths or {})
    tables = [load(b, path=own.get(b), names_path=names_path) for b in biases]
    return pd.concat(tables, ignore_index=True)


def spoken(lexicon: pd.DataFrame, *, nouns: int = 20) -> pd.DataFrame:
    """Return who may be said to have spoken, by group, for an audit of an instrument.

    Parameters
    ----------
    lexicon
        The table of `load_all`, not written out.
    nouns
        Occupations joined to each descriptor, evenly spaced over the list.

    Returns
    -------
    DataFrame
        `bias`, `group`, `said`: "the white teacher", "the woman", a name. Pronouns are left out,
        and so are phrases and adjectives of the further axes: only what fits one frame is compared.
    """
    listed = occupations()
    chosen = listed.iloc[:: max(1, len(listed) // nouns)].head(nouns)
    rows = []
    for term in lexicon.itertuples():
        if term.kind == "descriptor":
            rows += [(term.bias, term.group, f"the {term.term} {noun}") for noun in chosen]
        elif term.kind == "word" and term.term in set(gender_nouns()):
            rows.append((term.bias, term.group, f"the {term.term}"))
    return pd.DataFrame(rows, columns=["bias", "group", "said"])
