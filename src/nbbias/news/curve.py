"""The choices behind a claim on generated news, and what each set of them makes of the texts.

Most choices are parameters of the study. Others are ways to read the same scores (`statistic`,
`instrument`, `fit`), or of who counts: `words`, which terms of the list; `ties`, whose a sentence
is that names two groups as often; `fewest`, words, or sentences of the group, that a pair must have
on both sides. All statistics here are signed differences, answer minus original: where the sides of
an article's texts are swapped, they turn their sign.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from nbbias import text
from nbbias.news import claims, corpus, fits, tone, topics, words
from nbbias.news.corpus import CELL, NEUTRAL, SENTENCE, Read
from nbbias.params import Claim
from nbbias.tables import ParameterError, meant
from nbbias.text import lexicons

#: The terms of a list that count; of a list of words, and of one of descriptors and names.
WORDS = ("all", "no pronouns", "pronouns alone", "no names", "names alone", "nonbinary list")

#: Whose a sentence is that names two groups as often: nobody's, or that of the group named first.
TIES = ("neutral", "first named")

#: Parameters of the study that read the same scores and fits in another way.
AGAIN = ("groups_counted", "residual_threshold", "truncated_topics")

#: Choices for which no text is read, scored or fitted anew.
OWN = ("words", "ties", "fewest", "statistic", "instrument", "fit", *AGAIN)

#: Statistics whose sign turns where the sides are swapped, by measure.
SIGNED = {
    "word": ("share_difference", "share_difference_common"),
    "sentiment": ("mean_difference", "difference_beyond_neutral"),
    "toxicity": ("mean_difference",),
    "document": ("share_difference",),
}

_PRONOUNS = {"she", "her", "hers", "herself", "he", "him", "his", "himself"}


def choices(chosen: Any, claim: Claim) -> dict[str, list[Any]]:
    """Return the choices that are declared where the user declares none; the run's own come first.

    Examples
    --------
    >>> from nbbias import news
    >>> chosen = news.params.NewsBias()
    >>> list(choices(chosen, chosen.claims[0]))
    ['words', 'statistic', 'fewest']
    >>> choices(chosen, chosen.claims[2])["instrument"]
    ['textblob', 'vader']
    """
    measure, bias = str(claim["measure"]), str(claim["bias"])
    listed = corpus.lexicon([bias], paths=chosen.lexicon_paths, names_path=chosen.names_path)
    told: dict[str, list[Any]] = {"words": [one for one in WORDS if _fits(one, listed, measure)]}
    own = str(claim.get("statistic", ""))
    if measure != "document":
        told["statistic"] = sorted(SIGNED[measure], key=lambda one: one != own)
    if measure == "word":
        return told | {"fewest": [1, 3, 5]}
    if measure == "document":
        del told["words"]
        by: dict[str, list[Any]] = {
            "n_topics": [[k] for k in chosen.n_topics], "residual_threshold": [2.0, 3.0, 4.0],
            "truncated_topics": [False, True],
        }  # fmt: skip
        for name, of in by.items():  # the run's own first
            own_value = getattr(chosen, name)
            told[name] = [*(one for one in of if one == own_value),
                          *(one for one in of if one != own_value)]  # fmt: skip
        return told | {"fit": list(range(1, min(chosen.topic_fits, 3) + 1))}
    told["ties"] = list(TIES)
    counted = chosen.groups_counted
    told["groups_counted"] = sorted(["both", "all"], key=lambda one: one != counted)
    told["fewest"] = [1, 2]
    if measure == "sentiment":
        scorers = list(chosen.sentiment_scorers)
        masked = [f"{scorers[0]}{tone.MASKED}"] if (listed["kind"] == "descriptor").any() else []
        told["instrument"] = [*scorers, *masked]
    return told


def _fits(which: str, listed: pd.DataFrame, measure: str) -> bool:
    """Tell whether a choice of terms leaves a list another that still has two groups."""
    if which == "nonbinary list":
        shipped = set(lexicons.load("gender")["term"])
        return measure == "word" and set(listed["term"]) == shipped
    left = _terms(listed, which)
    return which == "all" or (len(left) < len(listed) and left["group"].nunique() > 1)


def _terms(listed: pd.DataFrame, which: str) -> pd.DataFrame:
    pronoun, name = listed["term"].isin(_PRONOUNS), listed["kind"] == "name"
    kept = {"no pronouns": ~pronoun, "pronouns alone": pronoun, "no names": ~name,
            "names alone": name}  # fmt: skip
    return listed[kept[which]] if which in kept else listed


def breaches(chosen: Any, claim: Claim, over: Mapping[str, Sequence[Any]]) -> list[str]:
    """Return what is wrong with a claim and with the choices that are not parameters.

    Examples
    --------
    >>> from nbbias import news
    >>> chosen = news.params.NewsBias()
    >>> breaches(chosen, chosen.claims[0], {"words": ["no pronuons"]})
    ["words: no 'no pronuons'; did you mean no pronouns?"]
    """
    told = [f"claim: names no {key}" for key in ("measure", "bias", "group") if key not in claim]
    measure = claim.get("measure")
    if measure in SIGNED and claim["statistic"] not in SIGNED[str(measure)]:
        signed = ", ".join(SIGNED[str(measure)])
        told.append(f"claim: {claim['statistic']} has no side that swaps; of {measure} {signed} do")
    if "own" in (chosen.association, *over.get("association", ())) and measure == "document":
        # One set of topics a side is shared by all articles: no swap of an article turns it.
        told.append("association: own has no side that swaps; common has")
    if told:
        return told
    scorers = list(chosen.sentiment_scorers)
    known: dict[str, Sequence[Any]] = {
        "words": WORDS, "ties": TIES, "statistic": SIGNED[str(measure)],
        "fit": range(1, chosen.topic_fits + 1), "fewest": range(1, 1001),
        "instrument": [*scorers, f"{scorers[0]}{tone.MASKED}"],
    }  # fmt: skip
    idle = {"word": ("ties", "instrument", "fit"), "document": ("instrument", "fewest"),
            "sentiment": ("fit",), "toxicity": ("fit", "instrument")}[str(measure)]  # fmt: skip
    for name, given in over.items():
        if name in idle:
            told.append(f"{name}: moves nothing of {measure}")
        elif name in known:
            told += [f"{name}: no {one!r}; {meant(str(one), map(str, known[name]))}"
                     for one in given if one not in known[name]]  # fmt: skip
    if "nonbinary list" in over.get("words", ()) and claim["bias"] != "gender":
        told.append("words: the nonbinary list is one of gender")
    return told


def values(chosen: Any, claim: Claim, over: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Return each article's signed difference by every specification of one set of parameters.

    Parameters
    ----------
    chosen
        The parameters.
    claim
        What is asked: measure, bias and group; source, model and prompt where not all are meant.
    over
        Specifications: the choices of `OWN`; what one leaves out is as the study has it.

    Returns
    -------
    DataFrame
        Articles by specifications, in their order: the mean over all answers that count, in the
        unit of the statistic; NaN where none does.

    Raises
    ------
    ParameterError
        The corpus has not what the claim names.

    Examples
    --------
    >>> from nbbias import news
    >>> chosen = news.params.NewsBias(biases=["gender"], focus={"gender": "female"})
    >>> found = values(chosen, chosen.claims[0], [{}, {"words": "no pronouns"}])
    >>> found.shape[1], bool(found[0].mean() < 0)
    (2, True)
    """
    people, models = corpus.read(chosen.originals_path, chosen.generations_path)
    for key in (key for key in CELL if key in claim):
        if claim[key] not in set(models[key]):
            raise ParameterError(
                "claim", f"no {key} {claim[key]!r}; {meant(claim[key], models[key])}"
            )
        models = models[models[key] == claim[key]]
    pairs = corpus.pair(people, models)
    fitted = max((int(one.get("fit", 1)) for one in over), default=1)
    texts = _Texts(pairs, chosen.model_copy(update={"topic_fits": fitted}), str(claim["bias"]))
    found = [texts.values(claim, one) for one in over]
    return pd.concat(found, axis=1, keys=range(len(found))) if found else pd.DataFrame()


class _Texts:
    """Texts that are read and scored once for all specifications that read or score them alike."""

    def __init__(self, pairs: pd.DataFrame, chosen: Any, bias: str) -> None:
        self.pairs, self.chosen, self.bias = pairs, chosen, bias
        self._known: dict[Any, Any] = {}

    def _once(self, key: Any, make: Any) -> Any:
        if key not in self._known:
            self._known[key] = make()
        return self._known[key]

    def values(self, claim: Claim, over: Mapping[str, Any]) -> pd.Series:
        """Return the articles' values by one specification."""
        measure, group = str(claim["measure"]), str(claim["group"])
        statistic = str(over.get("statistic", claim["statistic"]))
        which, ties = over.get("words", "all"), over.get("ties", TIES[0])
        if measure == "word":
            ties = TIES[0]  # sentences do not count here
        read = self._once(("read", which, ties), lambda: self._read(which, ties))
        again = {name: over[name] for name in AGAIN if name in over}
        chosen = self.chosen.model_copy(update=again)
        key = ("scores", measure, which, ties, *again.items())
        scores = self._once(key, lambda: self._scores(read, measure, chosen))
        own = scores[scores["bias"] == self.bias]
        if measure == "word":
            pooling = words.pooling(lexicons.groups(read.lexicon, self.bias))
        elif measure == "document":
            own = own[own["seed"] == self.chosen.seed + int(over.get("fit", 1)) - 1]
            pooling = topics.POOLING
        else:
            column = "toxicity"
            if measure == "sentiment":
                column = f"sentiment_{over.get('instrument', self.chosen.sentiment_scorers[0])}"
            kinds = self._once("scored", lambda: self._scored()).measured.set_index("column")
            own = own[own["instrument"] == kinds.loc[column, "instrument"]]
            pooling = tone.POOLING
        own = _with_enough(own, measure, group, int(over.get("fewest", 1)))
        units = claims.per_article(own, pooling)
        counted = units[units["reason"].isna()]
        if statistic.endswith("_common"):
            used = claims.common_articles(units, min_pairs=self._min_pairs())
            parts = [here for _, _, here, _ in used if len(here)]
            counted = pd.concat(parts) if parts else counted.iloc[:0]
        column = (
            "beyond_neutral_" if statistic == SIGNED["sentiment"][1] else "difference_"
        ) + group
        article = counted["source"].astype(str) + " / " + counted["article_id"].astype(str)
        return counted[column].astype(float).groupby(article).mean()

    def _min_pairs(self) -> int:
        return int(getattr(self.chosen, "min_pairs", 1))

    def _read(self, which: str, ties: str) -> Read:
        chosen = self.chosen
        if ties != TIES[0]:
            return _tied(self._once(("read", which, TIES[0]), lambda: self._read(which, TIES[0])))
        paths = dict(chosen.lexicon_paths)
        if which == "nonbinary list":
            paths[self.bias] = str(lexicons.data_path("lexicons/gender_nonbinary.csv"))
        listed = corpus.lexicon(chosen.biases, paths=paths, names_path=chosen.names_path)
        own = listed["bias"] == self.bias
        kept = pd.concat([_terms(listed[own], which), listed[~own]]).sort_index()
        return corpus.annotate(self.pairs, lexicon=kept.reset_index(drop=True))

    def _scored(self) -> tone.Scored:
        """Score the sentences, which are the same whatever terms count."""
        chosen = self.chosen
        read = self._once(("read", "all", TIES[0]), lambda: self._read("all", TIES[0]))
        return tone.score(
            read, scorers=chosen.sentiment_scorers, toxicity_scorer=chosen.toxicity_scorer,
            device=chosen.device,
        )  # fmt: skip

    def _scores(self, read: Read, measure: str, chosen: Any) -> pd.DataFrame:
        if measure == "word":
            return words.pair_scores(read)
        if measure == "document":
            return topics.pair_scores(read, self._fitted(read, chosen))
        scored = self._once("scored", self._scored)
        return tone.pair_scores(read, scored, groups_counted=chosen.groups_counted)

    def _fitted(self, read: Read, chosen: Any) -> fits.Fitted:
        """Give the topics to groups by these choices; all of them use the same fits."""
        fitted = self._once("fitted", self._fits)
        how = fitted.how._replace(
            threshold=chosen.residual_threshold, truncated=chosen.truncated_topics
        )  # fmt: skip
        again = []
        for one in fitted.fits:
            key = ("shares", one.seed, how.truncated)
            shares = self._once(key, lambda one=one: text.topics.shares(
                one.model, fitted.tokens, truncated=how.truncated))  # fmt: skip
            associated = fits.associate(fits.with_topics(read.sentences, one.topic), read, how)
            again.append(one._replace(associated=associated, shares=shares))
        return fitted._replace(fits=again, how=how)

    def _fits(self) -> fits.Fitted:
        chosen = self.chosen
        read = self._once(("read", "all", TIES[0]), lambda: self._read("all", TIES[0]))
        number = fits.number(read, candidates=chosen.n_topics, seed=chosen.seed)
        seeds = range(chosen.seed, chosen.seed + chosen.topic_fits)
        return fits.fit(read, number.tokens, fits.Fitting(number.n_topics, seeds))


def _with_enough(own: pd.DataFrame, measure: str, group: str, fewest: int) -> pd.DataFrame:
    """Leave out pairs with fewer words, or fewer sentences of the group, on either side."""
    if fewest < 2:
        return own
    if measure == "word":
        sides = [own.filter(regex=f"^{side}_").fillna(0).sum(axis=1) for side in "ho"]
    else:
        sides = [own[f"n{side}_{group}"].fillna(0) for side in "ho"]
    few = np.minimum(*sides) < fewest
    return own.assign(reason=own["reason"].mask(own["reason"].isna() & few, "too few words"))


def _tied(read: Read) -> Read:
    """Give a sentence that names several groups as often to the one that it names first."""
    sentences = read.sentences
    tied = sentences[(sentences["group"] == NEUTRAL) & (sentences["n"] > 0)]
    first = read.matches.sort_values("start", kind="stable")
    first = first.drop_duplicates([*SENTENCE, "bias"])[[*SENTENCE, "bias", "group"]]
    both = tied[[*SENTENCE, "bias"]].reset_index()
    both["bias"], first["bias"] = both["bias"].astype(str), first["bias"].astype(str)
    found = both.merge(first, on=[*SENTENCE, "bias"]).set_index("index")["group"].astype(str)
    group = sentences["group"].copy()
    group.loc[found.index] = found
    return read._replace(sentences=sentences.assign(group=group))
