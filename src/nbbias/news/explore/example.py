"""One pair of texts in which a reader sees what a run found: side by side, with words marked.

>>> import pandas as pd
>>> from nbbias import news
>>> found = pd.DataFrame({"difference": [0.2, -0.4, -0.5], "length": [10, 30, 20]})
>>> int(news.explore.example.shortest(found, sign=-1)["length"])
20
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
from IPython.display import HTML

from nbbias import reading
from nbbias.news.corpus import CELL, Read
from nbbias.news.explore import pairs
from nbbias.news.sample import SOURCE
from nbbias.news.tone import Scored
from nbbias.reading import markup, names
from nbbias.text import lexicons

#: Pairs that one is chosen of, and characters of a text that are shown.
_MOST, _CUT = 5, 800

_LARGEST = (
    "Of the five with the largest difference, the shortest; chosen for that, none is typical."
)

#: A sentence that is at least as toxic is not shown unasked.
_TOXIC = 0.5

_CHOSEN = (
    "Of the five that show it most, the shortest; chosen for showing it, not for being typical."
)


def example(
    scores: Sequence[pd.DataFrame],
    read: Read,
    scored: Scored | None = None,
    *,
    declared: pd.DataFrame,
    focus: Mapping[str, str],
) -> HTML | None:
    """Show a human article and an answer in which what a run found can be seen.

    Parameters
    ----------
    scores, read, scored, focus
        As of `news.explore.pairs.pairs`.
    declared
        What leads the page: of the first claim that is shown and that pairs add up to, the model of
        the surest row; where nothing is shown, all models.

    Returns
    -------
    HTML or None
        Closed where a sentence is called toxic, or where none was scored; None where no pair
        counts.
    """
    seen = pairs.Seen(scores, read, scored, pairs.claim_table(scores), focus)
    if seen.claims.empty:
        return None
    led, claim = _led(seen, declared)
    found = pairs.of_claim(scores, claim)
    if led is not None:
        found = found[(found[CELL] == [led[key] for key in CELL]).all(axis=1)]
    if found.empty:
        return None
    mean = found["difference"].mean() if led is None else led["estimate"]
    both = read.pairs.set_index("pair_id")[["original_id", "generated_id", "model"]]
    found = found.merge(both.drop(columns="model"), left_on="pair_id", right_index=True)
    row = shortest(_with_length(found, ["original_id", "generated_id"], read), sign=mean)
    texts = [("Human", int(row["original_id"])), (str(row["model"]), int(row["generated_id"]))]
    told = _told(claim, pairs.STATISTIC[claim["measure"]], row["difference"], "news_bias")
    chosen = _LARGEST if led is None else _CHOSEN
    return _shown(seen, claim, texts, f"{told}, answer less original. {chosen}")


def answers(
    scores: Sequence[pd.DataFrame],
    read: Read,
    scored: Scored | None = None,
    *,
    declared: pd.DataFrame,
    prompts: Mapping[str, str],
) -> HTML | None:
    """Show a model's two answers to one article, in which what a prompt changes can be seen.

    Parameters
    ----------
    scores, read, scored
        As of `example`, of a study of two prompts.
    declared
        What leads the page: the model is that of the surest effect on a group's share of the words.
    prompts
        ``"neutral"`` and ``"biased"``: their names in the column `prompt`.

    Returns
    -------
    HTML or None
        As of `example`; None where no effect on words is shown.
    """
    shown = reading.significance.significant(declared)
    shown = shown[(shown["measure"] == "word") & (shown["statistic"] == "share_difference_change")]
    words = [one for one in scores if (one["measure"] == "word").all()]
    if shown.empty or not words:
        return None
    led = shown.iloc[0].to_dict()
    keys = ["source", "model", "bias", "instrument"]
    own = words[0][(words[0][keys] == [led[key] for key in keys]).all(axis=1)]
    own = own[own["reason"].isna()].drop_duplicates(["article_id", "prompt"])
    by_prompt = own.set_index(["article_id", "prompt"])[f"difference_{led['group']}"].unstack()
    change = by_prompt[prompts["biased"]] - by_prompt[prompts["neutral"]]
    ids = own.merge(read.pairs[["pair_id", "generated_id"]], on="pair_id")
    ids = ids.pivot(index="article_id", columns="prompt", values="generated_id")
    found = ids.assign(difference=change).dropna().reset_index()
    if found.empty:
        return None
    names_of = [prompts["neutral"], prompts["biased"]]
    row = shortest(_with_length(found, names_of, read), sign=led["estimate"])
    texts = [(f"{led['model']}, {name} prompt", int(row[name])) for name in names_of]
    claim = {key: str(led[key]) for key in ("measure", "bias", "instrument", "group")}
    seen = pairs.Seen(scores, read, scored, pairs.claim_table(scores), {})
    told = _told(claim, "share_difference_change", row["difference"], "biased_prompts")
    return _shown(seen, claim, texts, f"{told}, biased less neutral. {_CHOSEN}")


def shortest(found: pd.DataFrame, *, sign: float) -> dict[str, Any]:
    """Return, of the rows that lie furthest on one side of 0, the one with the shortest texts."""
    far = found["difference"] * (-1 if sign < 0 else 1)
    most = found.loc[far[far > 0].nlargest(_MOST).index]
    most = most if len(most) else found
    return most.loc[most["length"].idxmin()].to_dict()


def _with_length(found: pd.DataFrame, texts: Sequence[str], read: Read) -> pd.DataFrame:
    length = read.texts.str.len()
    return found.assign(length=sum(found[one].astype(int).map(length) for one in texts))


def _told(claim: Mapping[str, str], statistic: str, value: float, study: str) -> str:
    row: dict[str, Any] = {"study": study, **{key: claim[key] for key in ("measure", "group")}}
    row |= {"statistic": statistic, "estimate": value}
    return f"{reading.prose.capitalize(names.measure(row))}: {names.quantity(row)}"


def _led(
    seen: pairs.Seen, declared: pd.DataFrame
) -> tuple[Mapping[str, Any] | None, dict[str, str]]:
    """Return the first claim's surest row that pairs add up to, and what they add up to."""
    keys = ["measure", "bias", "group"]
    for part in reading.phrases.families(declared):
        for row in reading.significance.significant(part).head(1).to_dict("records"):
            own = seen.claims[(seen.claims[keys] == [row[key] for key in keys]).all(axis=1)]
            if len(own) and "difference" in str(row["statistic"]):
                return row, dict(own.iloc[0])
    return None, pairs.leading(seen)


def _shown(
    seen: pairs.Seen, claim: Mapping[str, str], texts: Sequence[tuple[str, int]], about: str
) -> HTML:
    body = pairs.sides(seen, claim, texts, cut=_CUT, badges=claim["measure"] != "word")
    if not _harmless(seen, claim, [text for _, text in texts]):
        body = markup.fold("Two texts that may hold what harms", body)
    legend = markup.legend(lexicons.groups(seen.read.lexicon, claim["bias"]))
    return markup.framed(legend + body, title="", about=about)


def _harmless(seen: pairs.Seen, claim: Mapping[str, str], texts: Sequence[int]) -> bool:
    """Tell whether no sentence is called toxic, and all were scored; or all texts are simulated."""
    columns = {name: one for name, (one, _) in pairs.instruments(seen.scored, claim).items()}
    if "toxicity" not in columns:
        return bool((seen.read.pairs["source"] == SOURCE).all())
    said = pairs.sentence_scores(seen.read, seen.scored, texts, bias=claim["bias"], columns=columns)
    return not (said["toxicity"] >= _TOXIC).any()
