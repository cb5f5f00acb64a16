"""Is it the text, or the instrument? The same sentence with other people in it, scored again.

What an instrument says of a sentence hangs on whom the sentence names: lexicons give "black" a
valence, networks learn one. The *swap effect* of a sentence is its score less the mean score of
the same sentence about each group of the bias in turn, its own too. That mean is the corrected
score, which no swap can change; a score is the corrected one plus its swap effect, the part that
the instrument adds. Sentences are those of a study, or the project's own (`templates`).

Words are exchanged by counterparts (`data/audit`): "mother" and "father", "her" and "his" or
"him" by what follows, a descriptor by another group's, a name by names of the other's list. If
others of the new group stand in the sentence they become the old one, so that two people stay
two. Case, plural, possessive and "a" or "an" are kept; only whole words are exchanged.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from nbbias.tables import data_path, read_shipped_yaml
from nbbias.text import annotate, lexicons

#: Who is named where nobody's group is: counterparts under this name mask a word.
NEUTRAL = "neutral"

#: Names that stand for each group in turn where a sentence names a person of a list.
NAMES = 3

#: Shipped lists whose words another list holds, too.
_WITHIN = frozenset(["gender_nonbinary"])

#: Nouns that follow a descriptor in templates; the lists of occupations and of gender hold them.
NOUNS = (
    "woman",
    "man",
    "mother",
    "father",
    "teacher",
    "nurse",
    "lawyer",
    "doctor",
    "driver",
    "engineer",
    "student",
    "farmer",
)

#: Beginnings of the tags of words that a possessive or an adjective goes with.
_GO_WITH = ("NN", "JJ", "CD", "VBG")
#: What they do not go with, though these are called nouns and adjectives.
_APART = frozenset(["last", "next", "today", "tomorrow", "tonight", "yesterday"])
_DETERMINERS = frozenset(
    ["a", "an", "the", "one", "another", "every", "each", "this", "that", "no", "some", "any"]
)
_AFTER, _BEFORE = re.compile(r"[ \t\n]+([^\W\d_][\w'-]*)"), re.compile(r"(\S+)[ \t\n]+$")
_ARTICLE = re.compile(r"\b([Aa]n?)(\s+)$")
_VOWEL = re.compile(
    r"(?!eu|uni(?!n)|one\b|once\b|us[eu]|xe)(?:[aeiou]|hour|honest|heir|honou?r)", re.IGNORECASE
)

#: How an instrument scores texts: a number for each.
Score = Callable[[pd.Series], Any]


# --- counterparts -----------------------------------------------------------------------------


class Exchange(NamedTuple):
    """What stands for what, of one bias.

    `groups`, in the order of the list; `sets`: a listed word and its use to the set of its
    counterparts; `words`: a set and a group (or `NEUTRAL`) to the word; `descriptors` and `names`
    by group.
    """

    groups: list[str]
    sets: dict[tuple[str, str], str]
    words: dict[tuple[str, str], str]
    descriptors: dict[str, str]
    names: dict[str, list[str]]


@cache
def _shipped(name: str) -> pd.DataFrame:
    return pd.read_csv(data_path(f"audit/{name}.csv"), keep_default_na=False)


def exchange(lexicon: pd.DataFrame, bias: str) -> Exchange:
    """Return what stands for what between the groups of a list.

    Parameters
    ----------
    lexicon
        The table of `lexicons.load_all`, written out or not.
    bias
        One of its biases. Words of a list of your own are exchanged where the shipped counterparts
        of a bias of that name hold them; descriptors and names always are.

    Examples
    --------
    >>> found = exchange(lexicons.load("gender"), "gender")
    >>> found.words[found.sets["nephew", ""], "female"]
    'niece'
    """
    own = lexicon[lexicon["bias"] == bias]
    groups = lexicons.groups(lexicon, bias)
    listed = _shipped("counterparts")
    listed = listed[(listed["bias"] == bias) & listed["group"].isin([*groups, NEUTRAL])]
    sets = {
        (term.lower(), use): name
        for name, term, use in zip(listed["set"], listed["term"], listed["use"], strict=True)
    }
    first = listed.drop_duplicates(["set", "group"])
    words = dict(zip(zip(first["set"], first["group"], strict=True), first["term"], strict=True))
    described = own[own["kind"] == "descriptor"].drop_duplicates("group")
    descriptors = {
        group: " ".join(term.split()[: lexicons.descriptor_length(term)])
        for group, term in zip(described["group"], described["term"], strict=True)
    }
    named = own[own["kind"] == "name"]
    names = {group: named.loc[named["group"] == group, "term"].tolist() for group in groups}
    return Exchange(groups, sets, words, descriptors, {g: n for g, n in names.items() if n})


def _instead(known: Exchange, term: str, kind: str, use: str, group: str, draw: int) -> str | None:
    """Return what stands for a match when it is of another group; None where nothing does."""
    if kind == "descriptor":
        return "" if group == NEUTRAL else known.descriptors.get(group)
    if kind == "name":
        if group == NEUTRAL:
            return "this person"
        listed = known.names.get(group, [])
        return listed[zlib.crc32(f"{term}/{draw}".encode()) % len(listed)] if listed else None
    found = known.sets.get((term.lower(), use)) or known.sets.get((term.lower(), ""))
    return known.words.get((found, group)) if found else None


# --- writing ----------------------------------------------------------------------------------


class _Place(NamedTuple):
    """A group word in a sentence: its place, what it is, and how it is used."""

    start: int
    end: int
    group: str
    term: str
    kind: str
    use: str


@cache
def _goes_with(word: str) -> bool:
    """Tell whether "her" before a word is a possessive, and "Christian" an adjective."""
    from textblob.en import parser

    tag = parser.lexicon.get(word, parser.lexicon.get(word.lower(), "NN"))
    return tag.startswith(_GO_WITH) and word.lower() not in _APART


def _place(text: str, start: int, end: int, group: str, term: str, kind: str) -> _Place:
    if kind == "descriptor":  # the noun that follows stays
        words = re.compile(rf"(?:\S+\s+){{{lexicons.descriptor_length(term) - 1}}}[^\s]+")
        found = words.match(text, start, end)
        return _Place(start, found.end() if found else end, group, term, kind, "before")
    after, before = _AFTER.match(text, end), _BEFORE.search(text, 0, start)
    if after and _goes_with(after[1]):
        return _Place(start, end, group, term, kind, "before")
    noun = before and before[1].lower() in _DETERMINERS
    return _Place(start, end, group, term, kind, "noun" if noun else "alone")


def _written(text: str, places: Sequence[_Place], instead: Sequence[str]) -> str:
    """Write words in the place of others, from the last to the first."""
    for place, word in sorted(zip(places, instead, strict=True), reverse=True):
        old, before, after = text[place.start : place.end], text[: place.start], text[place.end :]
        if not word:  # with the space that would be left
            after = after.lstrip() if not before or before[-1].isspace() else after
        first = not any(one.isalnum() for one in before)
        raised = place.kind != "name" and old[:1].isupper() and place.term[:1].islower()
        if len(old) > 1 and old.isupper() and place.kind != "name":
            word = word.upper()
        elif word and (first or raised):
            word = word[0].upper() + word[1:]
        elif not word and first and after:
            after = after[0].upper() + after[1:]
        article = _ARTICLE.search(before)
        follows = word or after
        if article and follows:
            a = article[1][0] + ("n" if _VOWEL.match(follows) else "")
            before = before[: article.start()] + a + article[2]
        text = before + word + after
    return text


def _places(matches: pd.DataFrame, words: pd.Series) -> dict[Any, list[_Place]]:
    found: dict[Any, list[_Place]] = {}
    columns = (matches[name] for name in ("row", "start", "end", "group", "term", "kind"))
    texts = words.loc[pd.Index(matches["row"].unique())].to_dict()
    for row, start, end, group, term, kind in zip(*columns, strict=True):
        place = _place(texts[row], int(start), int(end), group, term, kind)
        found.setdefault(row, []).append(place)
    return found


def swapped(
    words: pd.Series, about: pd.Series, matches: pd.DataFrame, *, lexicon: pd.DataFrame
) -> pd.DataFrame:
    """Write sentences with each group of a bias in turn in the place of the one they are about.

    Parameters
    ----------
    words
        Sentences, by a unique index.
    about
        The group that each is about, by the same index.
    matches
        Group words of this bias: `row` (the sentence), `start`, `end` (in it), `group`, `term`,
        `kind`.
    lexicon
        The list of this one bias that was searched.

    Returns
    -------
    DataFrame
        `row`, `group` (who stands there now) and `text`: one row for each group, its own too, and
        `NAMES` where names are exchanged. Sentences in which some word has no counterpart, or
        whose group has none, are left out.

    Examples
    --------
    >>> lexicon = lexicons.load("gender")
    >>> words, about = pd.Series(["He met her nephew."]), pd.Series(["male"])
    >>> found = [(0, 2, "male", "he"), (7, 10, "female", "her"), (11, 17, "male", "nephew")]
    >>> matches = pd.DataFrame(found, columns=["start", "end", "group", "term"])
    >>> swapped(words, about, matches.assign(row=0, kind="word"), lexicon=lexicon)["text"].tolist()
    ['She met his niece.', 'He met her nephew.']
    """
    rows: list[tuple[Any, str, str]] = []
    known = exchange(lexicon, str(lexicon["bias"].iloc[0]))
    places, texts, of = _places(matches, words), words.to_dict(), about.to_dict()
    for row, own in places.items():
        group = of[row]
        if group not in known.groups:
            continue
        named = any(place.kind == "name" for place in own)
        written = []
        for other in known.groups:
            # Who becomes whom: the two groups change places, and all others stay.
            turned = {group: other, other: group}
            moved = [place for place in own if place.group in turned]
            for draw in range(NAMES if named else 1):
                instead = [
                    _instead(known, place.term, place.kind, place.use, turned[place.group], draw)
                    for place in moved
                ]
                whole = [word for word in instead if word is not None]
                if len(whole) == len(instead):
                    written.append((row, other, _written(texts[row], moved, whole)))
        if len(written) == len(known.groups) * (NAMES if named else 1):
            rows += written
    return pd.DataFrame(rows, columns=["row", "group", "text"])


def masked(
    words: pd.Series, matches: pd.DataFrame, *, lexicon: pd.DataFrame | None = None
) -> pd.Series:
    """Write sentences that say no group: "the black nurse" is "the nurse", "she" "the person".

    Parameters
    ----------
    words, matches, lexicon
        As in `swapped`; only what stands in `matches` is masked. Descriptors need no list.

    Returns
    -------
    Series
        The sentences with matches, by their index; missing where a word has no counterpart.

    Examples
    --------
    >>> matches = pd.DataFrame({"row": [0], "start": [3], "end": [15], "group": ["Asian"],
    ...                         "term": ["Asian doctor"], "kind": ["descriptor"]})
    >>> lexicon = lexicons.expand(lexicons.load("race"))
    >>> masked(pd.Series(["An Asian doctor spoke."]), matches, lexicon=lexicon).tolist()
    ['A doctor spoke.']
    """
    known = Exchange([], {}, {}, {}, {})
    if lexicon is not None and len(lexicon):
        known = exchange(lexicon, str(lexicon["bias"].iloc[0]))
    found = {}
    for row, own in _places(matches, words).items():
        instead = [_instead(known, p.term, p.kind, p.use, NEUTRAL, 0) for p in own]
        whole = [word for word in instead if word is not None]
        found[row] = _written(words[row], own, whole) if len(whole) == len(own) else None
    return pd.Series(found, dtype=object)


def without(texts: pd.Series, instead: Mapping[str, str]) -> pd.Series:
    """Write texts with other words in the place of some, in any case, whole words only.

    Parameters
    ----------
    texts
        Texts; missing ones stay so.
    instead
        Words, in lower case, and what stands for each; empty: it is left out.

    Examples
    --------
    >>> without(pd.Series(["A gay woman sang."]), {"gay": "", "woman": "person"}).tolist()
    ['A person sang.']
    """
    longest = sorted(map(re.escape, instead), key=len, reverse=True)
    pattern = re.compile(rf"(?<![\w-])(?:{'|'.join(longest) or '(?!)'})(?![\w-])", re.IGNORECASE)

    def one(text: object) -> object:
        if not isinstance(text, str):
            return text
        places = [
            _Place(hit.start(), hit.end(), "", hit[0].lower(), "word", "")
            for hit in pattern.finditer(text)
        ]
        return _written(text, places, [instead[place.term] for place in places])

    return texts.map(one)


def effects(words: pd.Series, swaps: pd.DataFrame, *, score: Score) -> pd.Series:
    """Return the swap effect of sentences: their score less the mean over all groups in turn.

    Parameters
    ----------
    words
        Sentences, by a unique index.
    swaps
        Of `swapped`.
    score
        The instrument; a text that stands twice is scored once.

    Returns
    -------
    Series
        By the index of `words`: NaN where a sentence was not swapped, or one of its swaps has no
        score.

    Examples
    --------
    >>> swaps = pd.DataFrame({"row": 0, "group": ["a", "b"], "text": ["xx", "x"]})
    >>> effects(pd.Series(["xx", "y"]), swaps, score=lambda texts: texts.str.len()).tolist()
    [0.5, nan]
    """
    own = words.loc[swaps["row"].unique()]
    every = pd.Series([*own, *swaps["text"]], dtype=object)
    at, distinct = pd.factorize(every)
    scored = np.asarray(score(pd.Series(distinct, dtype=object)), dtype=float)[at]
    of_swaps = pd.Series(scored[len(own) :], index=[swaps["row"], swaps["group"]])
    # The mean over names within each group, then over groups; one gap is a gap.
    mean = of_swaps.groupby(level=[0, 1], sort=False).agg(lambda part: part.mean(skipna=False))
    mean = mean.groupby(level=0, sort=False).agg(lambda part: part.mean(skipna=False))
    found = pd.Series(scored[: len(own)], index=own.index) - mean
    return found.round(12).reindex(words.index)  # what no group moves is exactly 0


def every_list() -> pd.DataFrame:
    """Load the shipped lists, every term written out, without those that lie in another one.

    Examples
    --------
    >>> "gender" in set(every_list()["bias"])
    True
    """
    listed = [bias for bias in lexicons.shipped() if bias not in _WITHIN]
    return lexicons.expand(lexicons.load_all(listed))


def of_texts(
    texts: pd.Series, *, lexicon: pd.DataFrame, scores: Mapping[str, Score]
) -> pd.DataFrame:
    """Return the swap effects of whole texts, added up over the lists that they name.

    Parameters
    ----------
    texts
        Texts by a unique index; missing ones name nobody.
    lexicon
        The expanded terms of one or more biases.
    scores
        Instruments by name; an effect is of what each of them returns.

    Returns
    -------
    DataFrame
        By the index of `texts`: `named`, how many lists the text names, and by instrument its score
        less the mean over the groups (`effects`); 0 where it names none, NaN where a word has no
        counterpart. A text is about the group of a list that it names most.

    Examples
    --------
    >>> lexicon = lexicons.expand(lexicons.load("gender"))
    >>> texts = pd.Series(["Her niece sang.", "It rained."])
    >>> of_texts(texts, lexicon=lexicon, scores={"letters": lambda texts: texts.str.len()})
       named  letters
    0    1.0     -0.5
    1    0.0      0.0
    """
    found = pd.DataFrame(0.0, index=texts.index, columns=["named", *scores])
    for about, swaps in _by_list(texts, lexicon):
        words = texts.loc[about.index]
        found.loc[about.index, "named"] += 1
        for name, score in scores.items():
            found.loc[about.index, name] += effects(words, swaps, score=score)
    return found


def versions(texts: pd.Series, *, lexicon: pd.DataFrame) -> pd.DataFrame:
    """Return texts with other groups in them, one list at a time.

    Parameters
    ----------
    texts, lexicon
        As in `of_texts`.

    Returns
    -------
    DataFrame
        `set` and `text`: the texts of a set, two or more, differ in nothing but which group of one
        list stands where. A text that names several lists has a set for each; one that names none,
        or a word without a counterpart, has none.

    Examples
    --------
    >>> lexicon = lexicons.expand(lexicons.load("gender"))
    >>> versions(pd.Series(["Her niece sang.", "It rained."]), lexicon=lexicon)["text"].tolist()
    ['Her niece sang.', 'His nephew sang.']
    """
    parts, begun = [], 0
    for _, swaps in _by_list(texts, lexicon):
        parts.append(
            pd.DataFrame(
                {
                    "set": swaps["row"].astype("category").cat.codes.to_numpy(int) + begun,
                    "text": swaps["text"],
                }
            )
        )
        begun += swaps["row"].nunique()
    found = pd.concat(parts) if parts else pd.DataFrame({"set": [], "text": []})
    found = found.drop_duplicates(ignore_index=True).astype({"set": int, "text": "str"})
    return found[found["set"].duplicated(keep=False)].reset_index(drop=True)


def _by_list(texts: pd.Series, lexicon: pd.DataFrame) -> Iterator[tuple[pd.Series, pd.DataFrame]]:
    """Yield, for each list that is named, the group that texts are about, and their swaps.

    A text is about the group of a list that it names most.
    """
    _, matches = annotate.annotate(texts, lexicon)
    matches = matches.rename(columns={"text_id": "row"})
    matches = matches.astype(dict.fromkeys(("bias", "group", "term", "kind"), str))
    for bias, own in matches.groupby("bias", sort=False):
        most = own.groupby(["row", "group"], sort=False).size().groupby(level=0, sort=False)
        about = most.idxmax().str[1]
        words, listed = texts.loc[about.index], lexicon[lexicon["bias"] == bias]
        yield about, swapped(words, about, own, lexicon=listed)


# --- templates --------------------------------------------------------------------------------


def templates(lexicon: pd.DataFrame) -> pd.DataFrame:
    """Fill the project's own sentences with the people of a list, one after the other.

    Parameters
    ----------
    lexicon
        The table of `lexicons.load_all`, of one bias or several, written out or not.

    Returns
    -------
    DataFrame
        `bias`, `words` (``"words"``: of the list or a descriptor with a noun; ``"names"``),
        `template` (its number) and `kind`, `group` (of the list, and of words `NEUTRAL`), `said`
        (who is spoken of) and `text`. Biases of which no people are shipped, and that have neither
        descriptors nor names, have none.

    Examples
    --------
    >>> found = templates(lexicons.load("race"))
    >>> found[(found["template"] == 288) & (found["words"] == "words")]["text"].tolist()[:2]
    ['The Asian woman sang in the choir on Sunday.', 'The Black woman sang in the choir on Sunday.']
    """
    written = read_shipped_yaml("audit/templates.yaml")
    sentences = [(kind, one) for kind, listed in written.items() for one in listed]
    rows = []
    for bias in lexicon["bias"].unique():
        known = exchange(lexicon, bias)
        for words, people in {"words": _people(known, bias), "names": _named(known)}.items():
            for number, (kind, sentence) in enumerate(sentences):
                if not people or (words == "names" and "{Many}" in sentence.title()):
                    continue
                chosen = people[number % len(people)]
                for group, who in chosen.items():
                    said = who.plural if "{many}" in sentence.lower() else who.singular
                    rows.append((bias, words, number, kind, group, said, _filled(sentence, who)))
    columns = ["bias", "words", "template", "kind", "group", "said", "text"]
    return pd.DataFrame(rows, columns=columns)


class _Who(NamedTuple):
    """People whom a template may speak of; a name has no plural."""

    singular: str
    plural: str = ""


def _people(known: Exchange, bias: str) -> list[dict[str, _Who]]:
    """Return who of each group, and of none, is compared with whom."""
    plural = {noun: f"{noun}s" for noun in NOUNS} | {"woman": "women", "man": "men"}
    both = [(one, many) for one, many in plural.items() if (one, "") not in known.sets]
    if known.descriptors:
        named = {  # as the group writes itself, where that differs by its capital alone
            group: group if group.lower() == word.lower() else word
            for group, word in known.descriptors.items()
        }
        return [
            {g: _Who(f"{word} {one}", f"{word} {many}") for g, word in named.items()}
            | {NEUTRAL: _Who(one, many)}
            for one, many in both
        ]
    listed = _shipped("people")
    found = []
    for _, own in listed[listed["bias"] == bias].groupby("set", sort=False):
        own = own[own["group"].isin([*known.groups, NEUTRAL])]
        if set(known.groups) - set(own["group"]):
            continue  # a list of your own, with a group that is not among the shipped
        crossed = own["singular"].str.contains("{noun}", regex=False).any()
        for one, many in both if crossed else both[:1]:
            found.append(
                {
                    group: _Who(a.format(noun=one, nouns=many), b.format(noun=one, nouns=many))
                    for group, a, b in zip(
                        own["group"], own["singular"], own["plural"], strict=True
                    )
                }
            )
    return found


def _named(known: Exchange) -> list[dict[str, _Who]]:
    """Return names of each group, evenly spaced over the lists, as many as there are templates."""
    if len(known.names) < len(known.groups):
        return []
    size = min(map(len, known.names.values()))
    return [
        {group: _Who(listed[at * len(listed) // size]) for group, listed in known.names.items()}
        for at in range(size)
    ]


def _filled(sentence: str, who: _Who) -> str:
    one = who.singular
    name = not who.plural
    a = one if name else f"{'an' if _VOWEL.match(one) else 'a'} {one}"
    given = {"the": one if name else f"the {one}", "a": a, "many": who.plural}
    raised = {key.capitalize(): value[:1].upper() + value[1:] for key, value in given.items()}
    return sentence.format(**given, **raised)


def template_effects(filled: pd.DataFrame, *, score: Score) -> pd.DataFrame:
    """Score filled templates: how far naming a group moves an instrument.

    Parameters
    ----------
    filled
        Of `templates`.
    score
        The instrument.

    Returns
    -------
    DataFrame
        A row for each template and group: `bias`, `words`, `template`, `kind`, `group`, `said`,
        `score`, `swap_effect` (the score less the mean over the groups) and `beside_nobody` (the
        score less that of the sentence that names no group; NaN for names).

    Examples
    --------
    >>> filled = templates(lexicons.load("race"))
    >>> found = template_effects(filled, score=lambda texts: texts.str.contains("Asian"))
    >>> of = found[found["words"] == "words"].groupby("group")["swap_effect"].mean()
    >>> of.round(2).to_dict()
    {'Asian': 0.67, 'Black': -0.33, 'White': -0.33}
    """
    at, distinct = pd.factorize(filled["text"])
    scored = np.asarray(score(pd.Series(distinct, dtype=object)), dtype=float)
    table = filled.assign(score=scored[at] if len(filled) else np.array([], dtype=float))
    keys = ["bias", "words", "template"]
    nobody = table[table["group"] == NEUTRAL].set_index(keys)["score"].rename("nobody")
    table = table[table["group"] != NEUTRAL].join(nobody, on=keys)
    means = table.groupby(keys, sort=False)["score"].transform("mean")
    # Rounded, so that what no group moves is exactly 0.
    table = table.assign(
        swap_effect=(table["score"] - means).round(12),
        beside_nobody=(table["score"] - table["nobody"]).round(12),
    )
    columns = [*keys, "kind", "group", "said", "score", "swap_effect", "beside_nobody"]
    return table[columns].reset_index(drop=True)


def valences(lexicon: pd.DataFrame, *, score: Score, least: float = 0.0) -> pd.DataFrame:
    """List the identity words that an instrument scores though nothing is said of anybody.

    Parameters
    ----------
    lexicon
        The table of `lexicons.load_all`, not written out.
    score
        The instrument, 0 for what says nothing.
    least
        Only words whose score is further from 0 are listed.

    Returns
    -------
    DataFrame
        `bias`, `group`, `kind`, `term` and `score`, the furthest from 0 first.

    Examples
    --------
    >>> from nbbias.text import sentiment
    >>> lexicon = lexicons.load("race")
    >>> words = lexicon[lexicon["kind"] == "descriptor"]
    >>> found = valences(words, score=lambda texts: sentiment.score(texts)["polarity"])
    >>> found[["term", "score"]].round(3).to_numpy().tolist()
    [['black', -0.167]]
    """
    columns = ["bias", "group", "kind", "term"]
    table = lexicon[columns].assign(score=np.asarray(score(lexicon["term"]), dtype=float))
    table = table[table["score"].abs() > least]
    order = table["score"].abs().sort_values(ascending=False, kind="stable").index
    return table.loc[order].reset_index(drop=True)
