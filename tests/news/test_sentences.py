"""Sentences about news: every number is one of the table, every gap is said."""

import re
from itertools import product

import pandas as pd

from nbbias import tables as tables_of
from nbbias.news import sentences
from nbbias.params import Texts
from tests.conftest import Golden
from tests.news.test_words import FOUND, SOME, estimated, scored

MINUS = "\N{MINUS SIGN}"

TABLE = pd.concat([FOUND[2].assign(bias="gender"), FOUND[3].assign(bias="race")], ignore_index=True)


def plain(sentence: str) -> str:
    """The sentence as a reader sees it, without the escapes of Markdown."""
    return re.sub(r"\\(.)", r"\1", sentence)


def differences(table: pd.DataFrame, confidence: float = 0.95) -> list[str]:
    table = table.assign(confidence=confidence)
    return [plain(one) for one in sentences.differences(table, "word")]


def distances(table: pd.DataFrame) -> list[str]:
    return [*map(plain, sentences.distances(table))]


# --- signed differences -----------------------------------------------------------------------


def row_of(model: str, estimate: float, p: float, **more: object) -> dict[str, object]:
    keys = {"source": "s", "model": model, "prompt": "p", "measure": "word", "bias": "gender"}
    keys |= {"group": "female", "statistic": "share_difference", "instrument": "word list"}
    limits = {"ci_low": estimate - 0.08, "ci_high": estimate + 0.08, "n": 71, "n_lost": 1}
    test = {"df": 70.0, "statistic_value": estimate / 0.04, "p_value": p, "p_adjusted": p}
    return keys | {"estimate": estimate, "null": 0.0} | limits | test | more


def rows_of(*rows: dict[str, object]) -> pd.DataFrame:
    return tables_of.estimates(rows, study="news_bias", confidence=0.95)


def pairs_of(models: list[str]) -> pd.DataFrame:
    rows = pd.DataFrame(product(models, range(72)), columns=["model", "article_id"])
    return rows.assign(source="s", lost=None)


def lead_of(*rows: dict[str, object], declared: bool = True) -> list[str]:
    found = rows_of(*rows)
    claim = found.assign(claim=1, smallest_effect=float("nan"), verdict="") if declared else found
    pairs = pairs_of(list(found["model"].unique()))
    lead = sentences.lead(claim, estimates=found, pairs=pairs, texts=Texts("own", "a.csv"))
    names = lead.numbers["name"].tolist() if len(lead.numbers) else []
    card = [f"{name}: {text}" for name, text in lead.card.items()]
    return [*lead.plain, lead.technical, *names, *card, lead.figure]


# --- what is said -----------------------------------------------------------------------------


def test_what_a_page_says_of_differences(golden: Golden) -> None:
    silent = scored([[0, 0]] * 3, [[0, 0]] * 3)
    empty = pd.concat([SOME[3], scored([[0] * 3], [[0] * 3], model="z")], ignore_index=True)
    hostile = {"model": {"x": "*x*", "y": "_y_"}, "group": {"a": "<i>"}}
    tone = {"measure": "sentiment", "bias": "race", "statistic": "difference_beyond_neutral"}
    tone |= {"group": "Black", "instrument": "TextBlob", "n": 30, "n_lost": 0}
    gaps = dict.fromkeys(("ci_low", "ci_high", "p_value", "p_adjusted"))
    few = tone | gaps | {"reason": "fewer than 5 articles differ in tone"}
    gone = few | {"estimate": None, "reason": "no article has sentences of the group", "n": 0}
    toxic = {"statistic": "mean_difference", "measure": "toxicity", "instrument": "Detoxify"}
    shifts = [
        row_of("m", 0.2, 0.4, **tone),
        *[row_of("m", 0, 1, **few | {"group": group}) for group in ("White", "Asian")],
        row_of("m", 0, 1) | gone,
        row_of("m", 0.2, 0.001, **tone | {"statistic": "mean_difference"}),
        row_of("m", 0.2, 0.001, **tone | toxic | {"bias": "gender"}),
    ]
    pair, copies = [[3, 1]], [[3, 1], [2, 5]]
    shown = FOUND[3].assign(p_adjusted=0.001)
    says = {
        "shares": differences(TABLE),
        "shares at 60%": differences(TABLE, 0.6),
        "significant": sentences.differences(shown, "word"),
        "no group words": differences(estimated(silent, 2)),
        "an empty cell": differences(estimated(empty, 3)),
        "one pair": differences(estimated(scored(pair, pair), 2)),
        "copies": differences(estimated(scored(copies, copies), 2)),
        "markup": sentences.differences(shown.replace(hostile).assign(bias="<b>"), "word"),
        "tone": sentences.differences(rows_of(*shifts), "sentiment"),
        "nothing": [*differences(FOUND[3][:0]), *distances(FOUND[3][:0])],
    }
    golden("news_differences", says)
    assert "<" not in says["markup"][0].replace(r"\<", "")


def test_what_a_page_says_of_distances(golden: Golden) -> None:
    own = FOUND[3][FOUND[3]["statistic"] == "bias"]
    tested = own.assign(null=0.1, p_adjusted=[0.01, 0.2])
    wide = own.assign(ci_low=0.1, ci_high=0.9, p_adjusted=[0.2, None])
    few = "not stable over fits: measured in 2 of 5"
    unstable = wide.assign(ci_low=[0.1, float("nan")], reason=[None, few])
    says = {
        "one above its baseline": distances(tested),
        "none above": distances(tested.assign(p_adjusted=0.2)),
        "one without a test": distances(wide),
        "one not stable": distances(unstable),
        "none tested": distances(wide.assign(p_adjusted=float("nan"))),
    }
    golden("news_distances", says)


def test_what_a_page_leads_with(golden: Golden) -> None:
    gaps = dict.fromkeys(("estimate", "ci_low", "ci_high", "p_value", "p_adjusted"))
    gone = row_of("a", 0.0, 1.0) | gaps | {"n": 0, "reason": "no group words in either (12)"}
    tone = {"measure": "sentiment", "statistic": "difference_beyond_neutral"}
    both = [row_of("a", -0.14, 0.016, **tone), row_of("a", -0.14, 0.016)]
    three = [row_of("a", -0.14, 0.016), row_of("b", 0.02, 1.0), row_of("c", 0.01, 1.0)]
    says = {
        "one of three models": lead_of(*three),
        "nothing shown": lead_of(row_of("a", 0.02, 0.9), row_of("b", -0.03, 0.6)),
        "nothing measured": lead_of(gone),
        "no claims": lead_of(*both, declared=False),
        "tone alone": lead_of(both[0], declared=False),
        "markup": lead_of(row_of("*<b>*", -0.14, 0.01), row_of("x", 0, 1.0)),
    }
    golden("news_leads", says)
    # 0.08 is 1.994 standard errors; at half the level 2.29 + 0.85 of them are needed.
    assert "minimum detectable difference at 80% power: 13 percentage" in says["nothing shown"][0]


def test_what_a_page_says_of_the_rest(golden: Golden) -> None:
    covered = pd.DataFrame({"covered": ["yes"] * 17 + ["no"] * 3})
    untested = rows_of(row_of("a", 0.02, 0.9) | {"p_adjusted": None, "reason": "few"})
    race = {"bias": "race", "group": "White"}
    result = [row_of("a", -0.1, 0.01), row_of("b", 0.0, 1.0), row_of("a", 0.2, 0.01, **race)]
    others = {"Asian": (-0.15, 0.01), "Black": (-0.05, 1.0)}
    result += [row_of("a", *found, **race | {"group": of}) for of, found in others.items()]
    keys = {"measure": "word", "bias": "gender", "source": "s", "prompt": "p"}
    compared = pd.DataFrame({"model": ["b", "c"], "estimate": [-0.2, 0.01], "n": 72, **keys})
    compared = compared.assign(ci_low=[-0.3, -0.1], ci_high=[-0.1, 0.1], statistic="difference")
    compared = compared.assign(p_value=[0.001, 0.9], p_adjusted=[0.002, 0.9])
    compared = compared.assign(confidence=0.95, reason=None)
    documents = {"measure": "document", "bias": "race"}
    shifts = {"White": 0.2, "Asian": -0.3, "Black": 0.1}
    on_topics = [row_of("a", d, 0.01, **documents | {"group": of}) for of, d in shifts.items()]
    words = ["grain foyer choir film", "club_ tie squad", "court wall", "ward clinic"]
    topics = pd.DataFrame({"words": words, "race": ["White", "Black", "Asian", "Asian"]})
    topics = topics.assign(**{"share, human": [0.125, 0.2, 0.1, 0.05]})
    topics = topics.assign(**{"share, a, p": [0.5, 0.1, 0.02, 0.01]})
    of_fits = pd.DataFrame({"seed": [1, 1, 2, 3], "article_id": ["1", "2", "1", "1"], **keys})
    of_fits = of_fits.assign(model="a", bias="race", instrument="LDA, 4 topics")
    of_fits = of_fits.assign(difference_White=[0.1, 0.3, 0.25, None])
    of_fits = of_fits.assign(difference_Asian=-0.3, reason=[None, None, None, "few topics"])
    says = {
        "simulated": [sentences.recovery_heading(covered)],
        "untested": [sentences.result(untested, "word")],
        "headings": [
            sentences.result(rows_of(*result), "word"),
            sentences.result(rows_of(result[1]), "word"),
            sentences.result(rows_of(row_of("a", 0.0, 1.0, **documents)), "document"),
        ],
        "models": [sentences.models(compared), sentences.models(compared.head(0))],
        "topics": [
            *sentences.topics(rows_of(*on_topics[:1]), topics, of_fits),
            *sentences.topics(rows_of(*on_topics), topics, of_fits.head(2)),
            *sentences.topics(rows_of(on_topics[0] | {"p_adjusted": 1.0}), topics, of_fits),
        ],
    }
    strict = sentences.models(compared.assign(confidence=0.999))
    assert strict.startswith("No model differed significantly")
    golden("news_rest", says)
