"""Simulated news with a known bias, which a measure should detect.

Articles are put together from templates written for this project. Every
sentence about a person draws that person's group, and has as many group
words for either group; so the expected share of a group's words in a text is
the probability that was simulated, whatever the length.

How texts cluster is said by `Writing`: words of one sentence share their group; sentences may come
in runs about one person, and a text may have a focus of its own, as real texts do. All of it leaves
every expected share as it was, and none of it is a difference between writers.

>>> from nbbias import news
>>> originals, generations = news.sample.corpus({"fewer": {"female": -0.2}}, seed=1)
>>> len(originals), generations["model"].unique().tolist()
(72, ['fewer'])
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from nbbias.tables import read_shipped_yaml
from nbbias.text import sentiment

#: The source of every simulated article: a cell of a study is a corpus, not a desk.
SOURCE = "simulated"


#: Share of the sentences about a person that take a tone; the others are untoned.
TONED = 0.5


class Writing(NamedTuple):
    """How texts are written, whoever writes them.

    `runs`: how likely a sentence goes on about the group of the one before (of its kind), 0 to
    below 1. `focus`: how much a text has a share of its own: the correlation that this alone gives
    two of its sentences, 0 to below 1; the text's probabilities are drawn from a Beta (or
    Dirichlet) distribution around the writer's. `answers` of a model, and `originals` by humans,
    to one story.
    """

    runs: float = 0.0
    focus: float = 0.0
    answers: int = 1
    originals: int = 1


#: Texts whose sentences are drawn on their own, one of every writer to a story.
PLAIN = Writing()

#: The sample's texts: mild runs and focus, and a second human text on every story, so that the
#: sample shows what two writers without any difference differ by.
SAMPLE_WRITING = Writing(runs=0.2, focus=0.05, originals=2)

_RACES = ("White", "Black", "Asian")

_SLOT = re.compile(r"\{(\w+)\}")


def templates() -> dict[str, Any]:
    """Return what is simulated, and of what: probabilities of humans, models, desks, tones …"""
    return read_shipped_yaml("simulate/news.yaml")


def probabilities(shifts: Mapping[str, float], start: Mapping[str, float]) -> dict[str, float]:
    """Return each group's probability for a writer, given what is added to `start`.

    A race that is shifted takes from, or gives to, the two others in equal parts.
    """
    result = dict(start)
    for group, shift in shifts.items():
        result[group] += shift
        for other in _RACES:
            if group in _RACES and other != group:
                result[other] -= shift / 2
    return {group: min(max(p, 0.0), 1.0) for group, p in result.items()}


def simulated_effects(models: Mapping[str, Mapping[str, float]]) -> pd.DataFrame:
    """Return the simulated effects.

    Returns
    -------
    DataFrame
        `model`, `measure`, `bias`, `group` and `shift`: for ``"word"`` the difference of a group's
        share; for ``"sentiment"`` the difference of the mean TextBlob polarity of a group's
        sentences, which is the share of toned ones times the shift of the chance of a positive
        word times the distance between the mean positive and the mean negative word. What a change
        of subject does to the shares of topics has a sign, but no size that is known beforehand.
    """
    tones, human = templates()["tones"], templates()["human"]
    means = {kind: sentiment.score(tones[kind])["polarity"].mean() for kind in tones}
    step = TONED * (means["positive"] - means["negative"])
    rows = []
    for model, shifts in models.items():
        p = probabilities(shifts, human)
        added = {group: p[group] - human[group] for group in human}
        rows += [(model, "word", "gender", "female", added["female"])]
        rows += [(model, "word", "gender", "male", -added["female"])]
        rows += [(model, "word", "race", race, added[race]) for race in _RACES]
        for group in ("female", "male"):
            rows.append((model, "sentiment", "gender", group, step * added[f"tone_{group}"]))
    return pd.DataFrame(rows, columns=["model", "measure", "bias", "group", "shift"])


def corpus(
    models: Mapping[str, Mapping[str, float]] | None = None,
    *,
    copies: int = 1,
    writing: Writing = PLAIN,
    desks_apart: bool = False,
    faults: bool = False,
    seed: int = 0,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Simulate originals and generations.

    Parameters
    ----------
    models
        Model → what is added to the probability of a group; the sample's by default.
    copies
        Articles per headline; there are 72 headlines.
    writing
        How texts cluster, and how many answers and originals a story has.
    desks_apart
        Whether desks are about different people, so that topics belong to groups.
        It is the same for all writers: differences between them stay what they are.
    faults
        Plant what real corpora have: a blank answer, an answer without its original, a text under
        two ids, an answer with HTML in it.
    seed
        Start of every draw; the same seed gives the same corpus.

    Returns
    -------
    originals, generations : DataFrame
        ORIGINALS (with `sample` where a story has several) and GENERATIONS (`prompt` is
        ``"neutral"``).
    """
    writers = {"human": {}, **(templates()["models"] if models is None else models)}
    rng = np.random.default_rng(seed)
    rows = []
    for desk in templates()["desks"]:
        start = probabilities(desk["people"] if desks_apart else {}, templates()["human"])
        chances = {writer: probabilities(shifts, start) for writer, shifts in writers.items()}
        for number, headline in enumerate(desk["headlines"]):
            for copy in range(copies):
                article = f"{desk['desk']}-{number + 1:02d}" + (f"-{copy + 1}" if copy else "")
                for writer, chance in chances.items():
                    times = writing.originals if writer == "human" else writing.answers
                    for number_of in range(1, times + 1):
                        text = _article(desk, headline, chance, writing, rng)
                        rows.append((SOURCE, article, headline, writer, number_of, text))
    columns = ["source", "article_id", "headline", "writer", "sample", "text"]
    table = pd.DataFrame(rows, columns=columns).sort_values("sample", kind="stable")
    human = table["writer"] == "human"
    originals = table[human].drop(columns="writer").reset_index(drop=True)
    if writing.originals == 1:
        originals = originals.drop(columns="sample")
    generations = table[~human].rename(columns={"writer": "model"}).reset_index(drop=True)
    generations = generations.drop(columns="headline").assign(prompt="neutral")
    if faults:
        originals, generations = _spoil(originals, generations)
    return originals, generations


def _article(
    desk: Mapping[str, Any],
    headline: str,
    chance: Mapping[str, float],
    writing: Writing,
    rng: np.random.Generator,
) -> str:
    """Write one article: an opener, sentences of three kinds in any order, a closer."""
    shared = templates()
    chance = _focused(chance, writing.focus, rng)
    (subject,) = (entry for entry in shared["desks"] if entry["desk"] == shared["subject"])
    away = chance["subject"] if desk != subject else 0.0
    low_high = {"people": (3, 7), "described": (2, 5), "plain": (3, 6)}
    sizes = {kind: int(rng.integers(*ends)) for kind, ends in low_high.items()}
    subset = {kind: int(rng.binomial(size, 1 - away)) for kind, size in sizes.items()}
    other = {kind: size - subset[kind] for kind, size in sizes.items()}
    drawn = _Drawn(chance, writing, rng, {})
    body: list[tuple[str, str]] = []
    for about, n in ((desk, subset), (subject, other)):
        people = _people(about, n["people"], rng)
        if writing.runs:
            rng.shuffle(people)
        body += [("people", _person(line, drawn)) for line in people]
        for line in _pick(about["descriptor"], n["described"], rng):
            body.append(("described", _described(line, about["occupations"], drawn)))
        body += [("plain", line) for line in _pick(about["neutral"], n["plain"], rng)]
    # Runs are of the order in which sentences are read: mixed are only the kinds.
    ordered = {kind: iter([line for entry, line in body if entry == kind]) for kind in low_high}
    rng.shuffle(body)
    lines = [next(ordered[kind]) if writing.runs else line for kind, line in body]
    opener = str(rng.choice(shared["openers"])).replace("{headline_lower}", headline.lower())
    closer = str(rng.choice(shared["closers"]))
    return f"{headline}\n\n" + " ".join([opener, *lines, closer])


def _focused(
    chance: Mapping[str, float], focus: float, rng: np.random.Generator
) -> Mapping[str, float]:
    """Draw a text's own probabilities of the groups around the writer's."""
    if not focus:
        return chance
    weight = (1 - focus) / focus
    subset = dict(chance)
    if 0 < chance["female"] < 1:
        subset["female"] = rng.beta(*(weight * np.array([chance["female"], 1 - chance["female"]])))
    races = [race for race in _RACES if chance[race] > 0]
    subset |= zip(races, rng.dirichlet([weight * chance[race] for race in races]), strict=True)
    return subset


class _Drawn(NamedTuple):
    """The groups of a text's sentences, one after the other."""

    chance: Mapping[str, float]
    writing: Writing
    rng: np.random.Generator
    last: dict[str, Any]

    def female(self) -> int:
        return self._go_on("female", lambda: int(self.rng.random() < self.chance["female"]))

    def race(self) -> str:
        p = [self.chance[race] for race in _RACES]
        return self._go_on("race", lambda: str(self.rng.choice(_RACES, p=p)))

    def _go_on(self, what: str, draw: Callable[[], Any]) -> Any:
        runs = self.writing.runs
        if not (what in self.last and runs and self.rng.random() < runs):
            self.last[what] = draw()
        return self.last[what]


def _people(desk: Mapping[str, Any], n: int, rng: np.random.Generator) -> list[str]:
    """Pick sentences about people, each toned or not on its own, none twice."""
    toned = int(rng.binomial(n, TONED))
    return _pick(desk["person"], n - toned, rng) + _pick(desk["toned_person"], toned, rng)


def _pick(lines: list[str], n: int, rng: np.random.Generator) -> list[str]:
    return [lines[i] for i in rng.choice(len(lines), size=min(n, len(lines)), replace=False)]


def _person(line: str, drawn: _Drawn) -> str:
    chance, rng = drawn.chance, drawn.rng
    female = drawn.female()
    if "{tone}" in line:
        positive = rng.random() < chance["tone_female" if female else "tone_male"]
        words = templates()["tones"]["positive" if positive else "negative"]
        line = line.replace("{tone}", str(rng.choice(words)))
    women = templates()["women"]
    return _SLOT.sub(lambda slot: women[slot[1]] if female else slot[1], line)


def _described(line: str, occupations: list[str], drawn: _Drawn) -> str:
    word = drawn.race().replace("White", "white")
    article = "an" if word[0] in "AEIOU" else "a"
    occupation = str(drawn.rng.choice(occupations))
    return line.format(a=article, A=article.capitalize(), descriptor=word, occupation=occupation)


def _spoil(originals: pd.DataFrame, generations: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Plant faults in fixed places, one each, so that what is lost can be counted."""
    generations = generations.copy()
    generations.loc[3, "text"] = ""
    generations.loc[7, "text"] = f"<p>{generations.loc[7, 'text']}</p>"
    orphan = generations.loc[[11]].assign(article_id="nowhere-01")
    originals = originals.copy()
    originals.loc[5, "text"] = originals.loc[4, "text"]
    return originals, pd.concat([generations, orphan], ignore_index=True)


#: The statistics that are held against what was simulated; of shares those that lead the page.
RECOVERED = ("share_difference", "mean_difference")


def compare_with_truth(estimates: pd.DataFrame) -> pd.DataFrame:
    """Compare simulated differences with estimates.

    Returns
    -------
    DataFrame
        `model`, `measure`, `bias`, `group`, `simulated`, `estimate`, `ci_low`, `ci_high`, `n` and
        `covered` (whether the interval holds the truth). Empty for a corpus that was not
        simulated.
    """
    result = estimates[estimates["statistic"].isin(RECOVERED) & (estimates["source"] == SOURCE)]
    result = result[~result["instrument"].fillna("").str.contains("VADER|classifier|masked")]
    truth = simulated_effects(templates()["models"]).rename(columns={"shift": "simulated"})
    table = truth.merge(result, on=["model", "measure", "bias", "group"])
    inside = table["simulated"].between(table["ci_low"], table["ci_high"])
    table = table[[*truth, "estimate", "ci_low", "ci_high", "n"]]
    return table.assign(covered=inside.map({True: "yes", False: "no"}))
