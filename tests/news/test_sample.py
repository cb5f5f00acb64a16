"""Simulated news: what is simulated is in the texts."""

import re

import pandas as pd
import pytest

from nbbias import tables
from nbbias.news import sample
from nbbias.text import lexicons

GENDER = lexicons.load("gender")
GROUP_OF = dict(zip(GENDER["term"], GENDER["group"], strict=True))


def words(one: str) -> list[str]:
    return re.findall(r"[a-z]+", one.lower())


def female_share(texts: pd.Series) -> float:
    groups = [GROUP_OF[word] for one in texts for word in words(one) if word in GROUP_OF]
    return groups.count("female") / len(groups)


def race_share(texts: pd.Series, race: str) -> float:
    found = re.findall(r"\b(white|Black|Asian)\b", " ".join(texts))
    return found.count(race) / len(found)


def only_of(share: float) -> tuple[str, ...]:
    """The answers of a model that names women with that probability; human sides differ not."""
    shift = share - sample.templates()["human"]["female"]
    return tuple(sample.corpus({"m": {"female": shift}}, seed=1)[1]["text"])


# --- what is simulated --------------------------------------------------------------------------


def test_planted_differences_are_those_asked_for_by_hand() -> None:
    table = sample.simulated_effects({"even": {}, "both": {"female": -0.15, "White": 0.2}})
    own = table[table["measure"] == "word"].set_index(["bias", "group"])
    even, both = (own.loc[own["model"] == name, "shift"] for name in ("even", "both"))
    simulated = {("gender", "female"): -0.15, ("gender", "male"): 0.15}
    simulated |= {("race", "White"): 0.2, ("race", "Black"): -0.1, ("race", "Asian"): -0.1}
    assert both.to_dict() == pytest.approx(simulated)
    assert even.to_dict() == dict.fromkeys(simulated, 0)


def test_shares_in_the_texts_are_the_planted_ones() -> None:
    models = {"m": {"female": -0.15, "White": 0.2}}
    originals, generations = sample.corpus(models, copies=8, seed=5)
    # About 2,600 sentences about a person and 1,700 descriptors a side: standard errors of a
    # share are below .5 / sqrt(1700) = .0121. Four of them.
    assert female_share(originals["text"]) == pytest.approx(0.4, abs=0.05)
    assert female_share(generations["text"]) == pytest.approx(0.25, abs=0.05)
    for race, human, model in (("white", 0.5, 0.7), ("Black", 0.3, 0.2), ("Asian", 0.2, 0.1)):
        assert race_share(originals["text"], race) == pytest.approx(human, abs=0.05)
        assert race_share(generations["text"], race) == pytest.approx(model, abs=0.05)


# --- rendering --------------------------------------------------------------------------------


def test_women_and_men_are_rendered_word_for_word_and_only_by_listed_words() -> None:
    she, he = (words(" ".join(only_of(share))) for share in (1.0, 0.0))
    changed = {(hers, his) for hers, his in zip(she, he, strict=True) if hers != his}
    # What tells the two renderings apart is in the list, on the right side.
    assert {(GROUP_OF.get(hers), GROUP_OF.get(his)) for hers, his in changed} == {
        ("female", "male")
    }
    assert len(changed) >= 10


# --- truth beside estimates -------------------------------------------------------------------


def test_the_truth_stands_beside_what_was_found() -> None:
    row = {"source": "simulated", "model": "fewer-women", "prompt": "neutral", "measure": "word"}
    row |= {"bias": "gender", "statistic": "share_difference", "instrument": "word list", "n": 9}
    rows = pd.DataFrame({"group": ["female", "male"], "estimate": [-0.12, 0.05]}).assign(**row)
    rows = rows.assign(ci_low=rows["estimate"] - 0.05, ci_high=rows["estimate"] + 0.05)
    estimates = tables.estimates(rows.to_dict("records"), study="news_bias", confidence=0.95)
    # Planted: female -.15, male .15.
    table = sample.compare_with_truth(estimates)
    found = table.set_index("group")
    assert found["simulated"].to_dict() == pytest.approx({"female": -0.15, "male": 0.15})
    assert found["estimate"].to_dict() == {"female": -0.12, "male": 0.05}
    assert found["covered"].to_dict() == {"female": "yes", "male": "no"}
