"""Scorer bias by counterfactual substitution: the same sentence about other people, scored again.

What a scorer says of a sentence depends on whom the sentence names: lexicons give "black" a
valence, networks learn one. The *swap effect* of a sentence is its score less the mean score of
the same sentence about each group of the bias in turn, its own too. That mean is the corrected
score; a score is the corrected one plus its swap effect. Sentences are those of a study, or the
project's own (`fill_templates`).

Words are exchanged by counterparts (`data/substitution`): "mother" and "father", "her" and "his" or
"him" by the next word, a descriptor by another group's, a name by names of the other's list. If
others of the new group stand in the sentence they become the old one, so that two people stay
two. Case, plural, possessive and "a" or "an" are kept; only whole words are exchanged.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from nbbias.tables import data_path, read_shipped_yaml
from nbbias.text import annotate, lexicons
from nbbias.text.distinct import on_distinct

#: The group of the people of templates who belong to none.
NEUTRAL = "neutral"

#: Names that stand for each group in turn where a sentence names a person of a list.
NAMES = 3

#: Beginnings of the tags of words that can follow a possessive or an adjective.
_GO_WITH = ("NN", "JJ", "CD", "VBG")
#: Words with such a tag that cannot.
_ADVERBS = {"last", "next", "today", "tomorrow", "tonight", "yesterday"}
_AFTER = re.compile(r"[ \t\n]+([^\W\d_][\w'-]*)")
_DETERMINER = re.compile(
    r"(?<!\S)(?:an?|the|one|another|every|each|this|that|no|some|any)[ \t\n]+$", re.IGNORECASE
)
_ARTICLE = re.compile(r"\b([Aa]n?)(\s+)$")
_VOWEL = re.compile(
    r"(?!eu|uni(?!n)|one\b|once\b|us[eu]|xe)(?:[aeiou]|hour|honest|heir|honou?r)", re.IGNORECASE
)

#: A scorer: distinct texts in, a number for each out.
Score = Callable[[pd.Series], Any]


# --- counterparts -----------------------------------------------------------------------------


class Counterparts(NamedTuple):
    """What stands for what, of one bias.

    `groups`, in the order of the list; `words`: a listed word and its use to its counterparts by
    group; `descriptors` and `names` by group.
    """

    groups: list[str]
    words: dict[tuple[str, str], dict[str, str]]
    descriptors: dict[str, str]
    names: dict[str, list[str]]

    def replace(self, term: str, kind: str, use: str, group: str, draw: int = 0) -> str | None:
        """Return the word of another group for a listed one; None where there is none."""
        if kind == "descriptor":
            return self.descriptors.get(group)
        if kind == "name":
            listed = self.names.get(group, [])
            return listed[zlib.crc32(f"{term}/{draw}".encode()) % len(listed)] if listed else None
        counterparts = self.words.get((term.lower(), use)) or self.words.get((term.lower(), ""), {})
        return counterparts.get(group)


@cache
def _load(name: str) -> pd.DataFrame:
    return pd.read_csv(data_path(f"substitution/{name}.csv"), keep_default_na=False)


def load_counterparts(lexicon: pd.DataFrame, bias: str) -> Counterparts:
    """Return what stands for what between the groups of a list.

    Parameters
    ----------
    lexicon
        The table of `lexicons.load_all`, expanded or not.
    bias
        One of its biases. Words of a list of your own are exchanged where the shipped counterparts
        of a bias of that name hold them; descriptors and names always are.

    Examples
    --------
    >>> counterparts = load_counterparts(lexicons.load("gender"), "gender")
    >>> counterparts.replace("nephew", "word", "", "female")
    'niece'
    """
    subset = lexicon[lexicon["bias"] == bias]
    groups = lexicons.groups(lexicon, bias)
    listed = _load("counterparts")
    listed = listed[(listed["bias"] == bias) & listed["group"].isin(groups)]
    sets = {
        name: part.drop_duplicates("group").set_index("group")["term"].to_dict()
        for name, part in listed.groupby("set")
    }
    words = {(row.term.lower(), row.use): sets[row.set] for row in listed.itertuples()}
    described = subset[subset["kind"] == "descriptor"].drop_duplicates("group")
    descriptors = {
        row.group: " ".join(row.term.split()[: lexicons.descriptor_length(row.term)])
        for row in described.itertuples()
    }
    names = subset[subset["kind"] == "name"].groupby("group")["term"].agg(list).to_dict()
    return Counterparts(groups, words, descriptors, names)


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
    """Return whether "her" before a word is a possessive, and "Christian" an adjective."""
    from textblob.en import parser

    tag = parser.lexicon.get(word, parser.lexicon.get(word.lower(), "NN"))
    return tag.startswith(_GO_WITH) and word.lower() not in _ADVERBS


def _use(text: str, start: int, end: int) -> str:
    """Return how a word is used: before a noun, as a noun, or alone."""
    after = _AFTER.match(text, end)
    if after and _goes_with(after[1]):
        return "before"
    return "noun" if _DETERMINER.search(text, 0, start) else "alone"


def _places(matches: pd.DataFrame, words: pd.Series) -> dict[Any, list[_Place]]:
    """Return the group words of each sentence that has any; of a descriptor, without its noun."""
    places: dict[Any, list[_Place]] = {}
    texts = words.loc[matches["row"].unique()].to_dict()
    for row in matches.itertuples():
        text, start, end = texts[row.row], row.start, row.end
        use = "before"
        if row.kind == "descriptor":
            length = lexicons.descriptor_length(row.term)
            descriptor = re.compile(rf"(?:\S+\s+){{{length - 1}}}\S+").match(text, start, end)
            end = descriptor.end() if descriptor else end
        else:
            use = _use(text, start, end)
        place = _Place(start, end, row.group, row.term, row.kind, use)
        places.setdefault(row.row, []).append(place)
    return places


def _write(text: str, place: _Place, word: str) -> str:
    """Write a word in the place of another, with its case, and "a" or "an" before it."""
    old, before, after = text[place.start : place.end], text[: place.start], text[place.end :]
    if not word and (not before or before[-1].isspace()):  # or two spaces would stand there
        after = after.lstrip()
    begins = not any(letter.isalnum() for letter in before)
    raised = place.kind != "name" and old[:1].isupper() and place.term[:1].islower()
    if len(old) > 1 and old.isupper() and place.kind != "name":
        word = word.upper()
    elif word and (begins or raised):
        word = word[0].upper() + word[1:]
    elif begins:
        after = after[:1].upper() + after[1:]
    article, follows = _ARTICLE.search(before), word or after
    if article and follows:
        a = article[1][0] + ("n" if _VOWEL.match(follows) else "")
        before = before[: article.start()] + a + article[2]
    return before + word + after


def swap_groups(
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
        `NAMES` rows where names are exchanged. Sentences in which some word has no counterpart, or
        whose group has none, are left out.

    Examples
    --------
    >>> lexicon = lexicons.load("gender")
    >>> words, about = pd.Series(["He met her nephew."]), pd.Series(["male"])
    >>> rows = [(0, 2, "male", "he"), (7, 10, "female", "her"), (11, 17, "male", "nephew")]
    >>> matches = pd.DataFrame(rows, columns=["start", "end", "group", "term"])
    >>> matches = matches.assign(row=0, kind="word")
    >>> swap_groups(words, about, matches, lexicon=lexicon)["text"].tolist()
    ['She met his niece.', 'He met her nephew.']
    """
    counterparts = load_counterparts(lexicon, str(lexicon["bias"].iloc[0]))
    rows: list[tuple[Any, str, str | None]] = []
    texts, groups = words.to_dict(), about.to_dict()

    def exchange(text: str, places: list[_Place], becomes: dict[str, str], draw: int) -> str | None:
        """Write what each group becomes in its place; None where a word has no counterpart."""
        for place in sorted(places, reverse=True):  # the last first: the places before it stay
            if group := becomes.get(place.group):
                word = counterparts.replace(place.term, place.kind, place.use, group, draw)
                if word is None:
                    return None
                text = _write(text, place, word)
        return text

    for row, places in _places(matches, words).items():
        text, group = texts[row], groups[row]
        draws = NAMES if any(place.kind == "name" for place in places) else 1
        versions = []
        for other, draw in product(counterparts.groups, range(draws)):
            becomes = {group: other, other: group}  # they change places, and all others stay
            versions.append((row, other, exchange(text, places, becomes, draw)))
        if group in counterparts.groups and all(version is not None for *_, version in versions):
            rows += versions
    return pd.DataFrame(rows, columns=["row", "group", "text"])


def mask_descriptors(words: pd.Series, matches: pd.DataFrame) -> pd.Series:
    """Write sentences without their descriptors: "the black nurse" is "the nurse".

    Parameters
    ----------
    words
        Sentences, by a unique index.
    matches
        As in `swap_groups`, of descriptors alone.

    Returns
    -------
    Series
        The sentences with descriptors, by their index.

    Examples
    --------
    >>> matches = pd.DataFrame({"row": [0], "start": [3], "end": [15], "group": ["Asian"],
    ...                         "term": ["Asian doctor"], "kind": ["descriptor"]})
    >>> mask_descriptors(pd.Series(["An Asian doctor spoke."]), matches).tolist()
    ['A doctor spoke.']
    """
    listed = _places(matches, words)
    masked = words.loc[[*listed]].to_dict()
    for row, places in listed.items():
        for place in sorted(places, reverse=True):
            masked[row] = _write(masked[row], place, "")
    return pd.Series(masked, dtype=object)


def replace_words(texts: pd.Series, replacements: Mapping[str, str]) -> pd.Series:
    """Write texts with other words in the place of some, in any case, whole words only.

    Parameters
    ----------
    texts
        Texts; missing ones stay so.
    replacements
        Words, in lower case, and what stands for each; empty: it is left out.

    Examples
    --------
    >>> words = {"gay": "", "old": "aged", "old woman": "person"}
    >>> replace_words(pd.Series(["A gay old woman sang."]), words).tolist()
    ['A person sang.']
    """
    longest = sorted(map(re.escape, replacements), key=len, reverse=True)
    pattern = re.compile(rf"(?<![\w-])(?:{'|'.join(longest) or '(?!)'})(?![\w-])", re.IGNORECASE)

    def replace(text: str) -> str:
        for hit in reversed([*pattern.finditer(text)]):
            place = _Place(*hit.span(), "", hit[0].lower(), "word", "")
            text = _write(text, place, replacements[place.term])
        return text

    return texts.map(replace, na_action="ignore")


def swap_effects(
    words: pd.Series, swaps: pd.DataFrame, *, score: Score, values: pd.Series | None = None
) -> pd.Series:
    """Return the swap effect of sentences: score minus its mean over all groups substituted.

    Parameters
    ----------
    words
        Sentences, by a unique index.
    swaps
        Of `swap_groups`.
    score
        The scorer; each distinct text is scored once.
    values
        The scores of `words`, in their order, which are then not scored again.

    Returns
    -------
    Series
        By the index of `words`: NaN where a sentence was not swapped, or one of its swaps has no
        score.

    Examples
    --------
    >>> swaps = pd.DataFrame({"row": 0, "group": ["a", "b"], "text": ["xx", "x"]})
    >>> swap_effects(pd.Series(["xx", "y"]), swaps, score=lambda texts: texts.str.len()).tolist()
    [0.5, nan]
    """
    subset = words.loc[swaps["row"].unique()]
    texts = subset.tolist() + swaps["text"].tolist()
    of_words = pd.Series(dtype=float) if values is None else values.set_axis(words)
    of_words = of_words[~of_words.index.duplicated()]

    def look_up(distinct: list[str]) -> np.ndarray:
        new = [text for text in distinct if text not in of_words.index]
        of_new = pd.Series(np.asarray(score(pd.Series(new, dtype=object)), dtype=float), new)
        return pd.concat([of_words, of_new]).loc[distinct].to_numpy()

    scores = on_distinct(texts, look_up)
    of_swaps = pd.Series(scores[len(subset) :], index=[swaps["row"], swaps["group"]])
    # The mean over names within each group, then over groups; one missing score is a missing mean.
    mean = of_swaps.groupby(level=[0, 1], sort=False).mean().groupby(level=0, sort=False).mean()
    mean = mean.where(of_swaps.notna().groupby(level=0, sort=False).all())
    effect = pd.Series(scores[: len(subset)], index=subset.index) - mean
    return effect.round(12).reindex(words.index)  # without a group's influence exactly 0


def load_all_lists() -> pd.DataFrame:
    """Load the shipped lists, expanded, without those that are part of another one.

    Examples
    --------
    >>> "gender" in set(load_all_lists()["bias"])
    True
    """
    listed = [bias for bias in lexicons.shipped() if bias != "gender_nonbinary"]
    return lexicons.expand(lexicons.load_all(listed))


def score_texts(
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
        Scorers by name.

    Returns
    -------
    DataFrame
        By the index of `texts`: `named`, how many lists the text names, and by scorer the swap
        effect (`swap_effects`); 0 where it names none, NaN where a word has no counterpart. A text
        is about the group of a list that it names most.

    Examples
    --------
    >>> lexicon = lexicons.expand(lexicons.load("gender"))
    >>> texts = pd.Series(["Her niece sang.", "It rained."])
    >>> score_texts(texts, lexicon=lexicon, scores={"letters": lambda texts: texts.str.len()})
       named  letters
    0    1.0     -0.5
    1    0.0      0.0
    """
    table = pd.DataFrame(0.0, index=texts.index, columns=["named", *scores])
    lists = [(texts.loc[about.index], swaps) for _, about, swaps in swap_texts(texts, lexicon)]
    versions = [texts[:0], *(side for words, swaps in lists for side in (words, swaps["text"]))]
    # Of all lists together: scorers are fastest on many texts at a time.
    distinct = pd.Series(pd.concat(versions).unique(), dtype=object)
    for words, _ in lists:
        table.loc[words.index, "named"] += 1
    for name, score in scores.items():
        cache = pd.Series(np.asarray(score(distinct), dtype=float), distinct)
        for words, swaps in lists:
            table.loc[words.index, name] += swap_effects(words, swaps, score=cache.loc.__getitem__)
    return table


def swap_texts(
    texts: pd.Series, lexicon: pd.DataFrame, *, about: pd.Series | None = None
) -> Iterator[tuple[str, pd.Series, pd.DataFrame]]:
    """Write whole texts with each group of a list in turn in the place of the one they are about.

    Parameters
    ----------
    texts
        Texts by a unique index; missing ones name nobody.
    lexicon
        The expanded terms of one or more biases.
    about
        The group that each text is about, by the same index; else the group that it names most.

    Yields
    ------
    bias, about, swaps
        Of each list that is named: its bias, the group of each text that names it, and the table of
        `swap_groups`.

    Examples
    --------
    >>> lexicon = lexicons.expand(lexicons.load("gender"))
    >>> for bias, about, swaps in swap_texts(pd.Series(["Her niece sang."]), lexicon):
    ...     print(bias, about.tolist(), swaps["text"].tolist())
    gender ['female'] ['Her niece sang.', 'His nephew sang.']
    """
    _, matches = annotate.annotate(texts, lexicon)
    matches = matches.rename(columns={"text_id": "row"})
    matches = matches.astype(dict.fromkeys(("bias", "group", "term", "kind"), str))
    for bias, subset in matches.groupby("bias", sort=False):
        if about is None:
            most = subset.groupby(["row", "group"], sort=False).size().groupby(level=0, sort=False)
            groups = most.idxmax().str[1]
        else:
            groups = about.loc[subset["row"].unique()]
        words, listed = texts.loc[groups.index], lexicon[lexicon["bias"] == bias]
        yield str(bias), groups, swap_groups(words, groups, subset, lexicon=listed)


# --- templates --------------------------------------------------------------------------------


def fill_templates(lexicon: pd.DataFrame) -> pd.DataFrame:
    """Fill the project's own sentences with the people of a list, one after the other.

    Parameters
    ----------
    lexicon
        The table of `lexicons.load_all`, of one bias or several, written out or not.

    Returns
    -------
    DataFrame
        `bias`, `words` (``"words"``: people are named by words of the list, or a descriptor with a
        noun), `template` (its number) and `kind`, `group` (of the list, or `NEUTRAL`), `said` (who
        is spoken of) and `text`. Biases of which no people are shipped, and that have no
        descriptors, have none.

    Examples
    --------
    >>> filled = fill_templates(lexicons.load("race"))
    >>> filled[filled["template"] == 288]["text"].tolist()[:2]
    ['The Asian woman sang in the choir on Sunday.', 'The Black woman sang in the choir on Sunday.']
    """
    templates = read_shipped_yaml("substitution/templates.yaml")
    sentences = [(kind, sentence) for kind, listed in templates.items() for sentence in listed]
    rows = []
    for bias in lexicon["bias"].unique():
        people = _people(load_counterparts(lexicon, bias), bias)
        for number, (kind, sentence) in enumerate(sentences if people else []):
            for group, (singular, plural) in people[number % len(people)].items():
                person = plural if "{many}" in sentence.lower() else singular
                text = _fill(sentence, singular, plural)
                rows.append((bias, "words", number, kind, group, person, text))
    columns = ["bias", "words", "template", "kind", "group", "said", "text"]
    return pd.DataFrame(rows, columns=columns)


#: Who is spoken of by group: the singular and the plural.
People = dict[str, tuple[str, ...]]


def _people(counterparts: Counterparts, bias: str) -> list[People]:
    """Return who of each group, and of none, is compared with whom."""
    if counterparts.descriptors:
        spelling = {  # as the group writes itself, where that differs by its capital alone
            group: group if group.lower() == word.lower() else word
            for group, word in counterparts.descriptors.items()
        }
        forms = [
            {group: (f"{word} {{noun}}", f"{word} {{nouns}}") for group, word in spelling.items()}
        ]
        forms[0][NEUTRAL] = ("{noun}", "{nouns}")
    else:
        listed = _load("people")
        listed = listed[listed["bias"] == bias]
        listed = listed[listed["group"].isin([*counterparts.groups, NEUTRAL])]
        forms = [
            {row.group: (row.singular, row.plural) for row in part.itertuples()}
            for _, part in listed.groupby("set", sort=False)
            if set(counterparts.groups) <= set(part["group"])  # or a list of your own has others
        ]
    nouns = [*_load("nouns").itertuples(index=False, name=None)]
    nouns = [pair for pair in nouns if (pair[0], "") not in counterparts.words]
    return [
        {
            group: tuple(form.replace("{noun}", noun).replace("{nouns}", plural) for form in pair)
            for group, pair in by_group.items()
        }
        for by_group in forms
        for noun, plural in (
            nouns if any("{" in form for form, _ in by_group.values()) else nouns[:1]
        )
    ]


def _fill(sentence: str, singular: str, plural: str) -> str:
    a = f"{'an' if _VOWEL.match(singular) else 'a'} {singular}"
    words = {"the": f"the {singular}", "a": a, "many": plural}
    capital = {key.capitalize(): word[:1].upper() + word[1:] for key, word in words.items()}
    return sentence.format(**words, **capital)


def score_templates(filled: pd.DataFrame, *, score: Score) -> pd.DataFrame:
    """Score filled templates: how much naming a group changes a score.

    Parameters
    ----------
    filled
        Of `fill_templates`.
    score
        The scorer.

    Returns
    -------
    DataFrame
        A row for each template and group: `bias`, `words`, `template`, `kind`, `group`, `said`,
        `score`, `swap_effect` (the score less the mean over the groups) and `beside_nobody` (the
        score less that of the sentence that names no group).

    Examples
    --------
    >>> filled = fill_templates(lexicons.load("race"))
    >>> effects = score_templates(filled, score=lambda texts: texts.str.contains("Asian"))
    >>> means = effects.groupby("group")["swap_effect"].mean()
    >>> means.round(2).to_dict()
    {'Asian': 0.67, 'Black': -0.33, 'White': -0.33}
    """
    scores = on_distinct(filled["text"], lambda texts: score(pd.Series(texts, dtype=object)))
    table = filled.assign(score=scores)
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
