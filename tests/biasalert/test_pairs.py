"""CrowS-Pairs: recall, pairs and flag rates by hand, by property, and on the real pairs."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from nbbias.biasalert import pairs
from nbbias.tables import ContractError
from tests.biasalert.tables import judgements, value


def made(n: int, *, antistereo: int = 0, bias_type: str = "gender") -> pd.DataFrame:
    ids = pd.Series(range(n)).astype("str")
    table = {"text_id": ids, "sent_more": "more " + ids, "sent_less": "less " + ids}
    kinds = ["antistereo"] * antistereo + ["stereo"] * (n - antistereo)
    return pd.DataFrame(table | {"stereo_antistereo": kinds, "bias_type": bias_type})


def said(verdicts: list, **columns: object) -> pd.DataFrame:
    return judgements(verdicts, text_id=[str(i) for i in range(len(verdicts))], **columns)


MORE = said([1, 1, 1, 0, None], confidence=[0.9, 0.8, 0.6, 0.4, np.nan])
POOLED = {"dimension": None, "bias": None}
LESS = said([1, 0, 1, 0, 1], confidence=[0.7, 0.3, 0.6, 0.45, 0.9])


def test_five_pairs_by_hand() -> None:
    table = pairs.match_pairs(MORE, LESS, made(5, antistereo=2))
    assert table["higher"].tolist()[:4] == [1, 1, 0.5, 0]
    assert np.isnan(table["higher"].iloc[4])
    found = pairs.estimates(table)
    expected = {"recall": 3 / 4, "flag_rate_less": 3 / 5, "pair_share": 2.5 / 4}
    expected["flag_difference"] = 1 / 4  # of the four with both verdicts
    assert {name: value(found, name, **POOLED) for name in expected} == expected
    assert value(found, "pair_share", "n_lost", **POOLED) == 1
    assert value(found, "pair_share", dimension="antistereo") == 1
    assert value(found, "pair_share", dimension="stereo") == 0.5 / 2
    assert value(found, "recall", bias="gender") == 3 / 4
    assert found["group"].isna().all()


def test_tests_and_intervals_are_the_references() -> None:
    rng = np.random.default_rng(0)
    first, second = rng.random(90) < 0.7, rng.random(90) < 0.5
    p, q = rng.random(90), rng.random(90)
    more, less = said(list(first), confidence=p), said(list(second), confidence=q)
    found = pairs.estimates(pairs.match_pairs(more, less, made(90)))
    own = found[found["dimension"].isna() & found["bias"].isna()].set_index("statistic")
    ahead = int((p > q).sum())
    assert own.loc["pair_share", "p_value"] == pytest.approx(stats.binomtest(ahead, 90).pvalue)
    expected = proportion_confint(ahead, 90, method="wilson")
    assert own.loc["pair_share", ["ci_low", "ci_high"]].tolist() == pytest.approx(list(expected))
    assert own.loc["pair_share", "p_adjusted"] == own.loc["pair_share", "p_value"]  # one judge
    swapped = rng.choice([-1, 1], (20_000, 90)) @ (first.astype(int) - second.astype(int)) / 90
    ends = own.loc["flag_difference", ["null_low", "null_high"]].tolist()
    assert ends == pytest.approx(np.quantile(swapped, [0.025, 0.975]), abs=0.023)  # one pair: 2/90


def test_a_judge_that_sees_identity_words_only_is_at_chance() -> None:
    same = [1] * 6 + [0] * 2
    found = pairs.estimates(pairs.match_pairs(said(same), said(same), made(8)))
    assert value(found, "recall", **POOLED) == value(found, "recall", "null", **POOLED) == 0.75
    assert value(found, "pair_share", **POOLED) == 0.5
    assert np.isnan(value(found, "pair_share", "p_value", **POOLED))


def test_without_probabilities_verdicts_are_compared_and_two_judges_stay_apart() -> None:
    more = pd.concat([MORE, said([1, 1, 0, 0, 1], judge="other")])
    less = pd.concat([LESS, said([0, 1, 0, 1, None], judge="other")])
    table = pairs.match_pairs(more, less, made(5))
    own = table[table["judge"] == "other"]
    assert own["higher"].tolist()[:4] == [1, 0.5, 0.5, 0]
    assert own["instrument"].str.endswith("by verdicts").all()


def test_pairs_that_do_not_fit_are_refused_in_words(tmp_path: Path) -> None:
    def read(table: pd.DataFrame) -> pd.DataFrame:
        table.rename(columns={"text_id": "pair_id"}).to_csv(tmp_path / "pairs.csv", index=False)
        return pairs.read_pairs(str(tmp_path / "pairs.csv"))

    with pytest.raises(ContractError, match="column bias_type holds hair"):
        read(made(2, bias_type="hair"))
    with pytest.raises(ContractError, match="occurs twice"):
        read(pd.concat([made(1), made(1)]))
    assert read(made(2).drop(columns="text_id"))["text_id"].tolist() == ["0", "1"]
