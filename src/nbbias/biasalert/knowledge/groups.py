"""Which groups of people a text names, of which type of bias, and whether two names are one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
import pandas as pd

from nbbias.biasalert.contracts import TYPES
from nbbias.tables import read_shipped_table, read_shipped_yaml

#: Words with another plural than s or es, and those that are no noun.
_NO_PLURAL = re.compile(r"(s|men|people|folk|children|wives|she|he|her|his|sir|ism|black|white)$")


class Mention(NamedTuple):
    """A group as named in a text, with the place of its name."""

    group: str
    bias_type: str
    term: str
    start: int
    end: int


@cache
def groups() -> pd.DataFrame:
    """Return the words that name groups: `group`, `bias_type`, `term`, lower case.

    Examples
    --------
    >>> groups().query("term == 'nuns' or term == 'woman'")["bias_type"].tolist()
    ['gender']
    """
    listed = pd.DataFrame(read_shipped_yaml("biasalert/groups.yaml"))
    listed = listed.explode("terms", ignore_index=True)
    return listed.rename(columns={"terms": "term"})[["group", "bias_type", "term"]]


@cache
def _wider() -> dict[str, str]:
    """Return the group that each known one is compared as: most stand for themselves."""
    listed = read_shipped_yaml("biasalert/groups.yaml")
    return {entry["group"]: entry.get("part_of", entry["group"]) for entry in listed}


def canonical(name: str | None) -> str | None:
    """Return the name that a group is compared by, as far as RedditBias tells groups apart.

    Names are read as by `target`, so "Jews" and "Jewish people" are one; gay people are LGBTQ+
    people, whom it has one file for. None without a name.

    Examples
    --------
    >>> canonical("gay men"), canonical("Jews") == canonical("Jewish people")
    ('lgbtq+ people', True)
    """
    if not isinstance(name, str) or not name.strip():
        return None
    mention = None if name in _wider() else target(name)
    group = mention.group if mention else name.strip()
    return _wider().get(group, group).lower()


def attributes() -> dict[str, list[str]]:
    """Return the words that prejudice says of groups, by group (`RedditBias`); ``*`` is any end.

    Examples
    --------
    >>> sorted(attributes())[:2]
    ['Black people', 'Jewish people']
    """
    return dict(read_shipped_yaml("biasalert/attributes.yaml"))


def any_word(words: Iterable[str]) -> re.Pattern[str]:
    """Return the pattern of any of these words, of which ``*`` is any end.

    Examples
    --------
    >>> any_word(["thie*", "lazy"]).findall("Thieves! And lazily so.")
    ['Thieves']
    """
    listed = "|".join(re.escape(word).replace(r"\*", r"\w*") for word in words)
    return re.compile(rf"\b(?:{listed})\b", re.IGNORECASE)


@cache
def types() -> dict[str, str]:
    """Return the type of bias that each data set's category stands for, by folded category.

    The paper names seven types, to which age is added here, and SBIC has seven other categories.
    What has no type (body, victim, profession) stands under social. Categories that two data sets
    share agree.

    Examples
    --------
    >>> types()["disability"]
    'disabled'
    """
    table = read_shipped_table("biasalert/types.csv")
    return {name: name for name in TYPES} | table.set_index("category")["bias_type"].to_dict()


@cache
def _map_forms() -> dict[str, tuple[str, str]]:
    by_form: dict[str, tuple[str, str]] = {}
    for row in groups().itertuples():
        forms = [row.term]
        if not _NO_PLURAL.search(row.term):
            stem = row.term[:-1] + "ie" if re.search(r"[^aeiou]y$", row.term) else row.term
            forms.append(stem + "s")
        for form in forms:
            by_form.setdefault(form, (row.group, row.bias_type))
    return by_form


@cache
def _pattern() -> re.Pattern[str]:
    """Return the pattern of any name, the longest first."""
    longest = sorted(_map_forms(), key=len, reverse=True)
    listed = "|".join(re.escape(term).replace(r"\ ", r"\s+") for term in longest)
    return re.compile(rf"(?<![\w-])(?:{listed})(?!\w)", re.IGNORECASE)


def mentions(text: str) -> list[Mention]:
    """Return the groups that a text names, in order; of terms that overlap, the longest.

    "Black women" is one mention (race), not two. Pronouns count: they name a gender.

    Examples
    --------
    >>> [one.group for one in mentions("Black women and Muslims met.")]
    ['Black people', 'Muslims']
    """
    result = []
    for match in _pattern().finditer(text):
        group, bias_type = _map_forms()[" ".join(match[0].lower().split())]
        result.append(Mention(group, bias_type, match[0], match.start(), match.end()))
    return result


_PRONOUNS = {"she", "he", "her", "his"}


def target(text: str) -> Mention | None:
    """Return the group that a text is most likely about: a noun before a pronoun, the first one.

    A group of race, religion, orientation or disability goes before one of gender, age or wealth:
    who writes of "gay guys" or of "Muslims and their women" writes of the former.

    Examples
    --------
    >>> target("She says that Muslims are late.").group
    'Muslims'
    """
    return min(mentions(text), key=_weight, default=None)


def _weight(mention: Mention) -> tuple[int, int]:
    broad = {"gender": 2, "age": 1, "social": 1, "culture": 1}.get(mention.bias_type, 0)
    return (3 if mention.term.lower() in _PRONOUNS else broad, mention.start)


def targets(texts: Iterable[str]) -> pd.DataFrame:
    """Return `group` and `bias_type` of each text's `target`; missing where it names none.

    Examples
    --------
    >>> targets(["Women cannot park.", "It rains."])["bias_type"].tolist()
    ['gender', nan]
    """
    rows = [mention[:2] if mention else (None, None) for mention in map(target, texts)]
    return pd.DataFrame(rows, columns=["group", "bias_type"]).astype("str")


#: A name with more words than this many times the label's says too much to be right.
_TOO_LONG = 2

_PEOPLE = {"people", "person", "folk", "community", "all", "the", "a", "an", "is", "are", "be"}
_IRREGULAR = {"women": "woman", "men": "man", "children": "child", "wives": "wife"}
_LINKED = re.compile(r"\w+(?:'\w+)?")


def words(text: str) -> list[str]:
    """Return the content words by which groups and attributes are compared.

    Lower case, plural ``s`` taken off, without words such as "people", "the" and "are", so that
    "Black people" and "the Blacks" name one group. Other function words count only where there is
    nothing else.

    Examples
    --------
    >>> words("The Black people are loud")
    ['black', 'loud']
    """
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    linked = [_IRREGULAR.get(word, word) for word in _LINKED.findall(text.lower())]
    terms = [word for word in linked if word not in _PEOPLE]
    content = [word for word in terms if word not in ENGLISH_STOP_WORDS] or terms
    return [re.sub(r"(?<=..[^s])s$", "", word) for word in content]


def canonical_groups(names: pd.Series) -> pd.Series:
    """Return names of groups by their canonical names; names that say nobody stay.

    Examples
    --------
    >>> canonical_groups(pd.Series(["gay men", "nobody"])).tolist()
    ['lgbtq+ people', 'nobody']
    """
    forms = {name: canonical(str(name)) or name for name in names.dropna().unique()}
    return names.astype(object).where(names.notna(), None).map(lambda name: forms.get(name, name))


def match_names(labels: Sequence[str], names: Sequence[str]) -> np.ndarray:
    """Tell which names are a label's, shorter, or at most twice as long: more is no naming.

    Returns
    -------
    array of bool, labels by names

    Examples
    --------
    >>> match_names(["bad at maths"], ["maths", "cooking"]).tolist()
    [[True, False]]
    """
    from sklearn.feature_extraction.text import CountVectorizer

    if not any(spoken := [words(str(name)) for name in (*labels, *names)]):
        return np.zeros((len(labels), len(names)), dtype=bool)
    counts = CountVectorizer(analyzer=list, binary=True).fit_transform(spoken)
    sides = counts[: len(labels)], counts[len(labels) :]
    label, name = (side.getnnz(1) for side in sides)
    shared = (sides[0] @ sides[1].T).toarray()
    within = (name > 0) & (shared == name)
    around = (label[:, None] > 0) & (shared == label[:, None])
    return within | (around & (name <= _TOO_LONG * label[:, None]))
