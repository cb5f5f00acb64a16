"""Mean distance over the size of models: slopes are scipy's, facts are checked, points are rows."""

from pathlib import Path

import numpy as np
import pytest
from scipy.stats import linregress

from nbbias import news, tables
from nbbias.tables import ContractError


def test_a_trend_is_the_slope_over_models_on_log_size(tmp_path: Path) -> None:
    values = {"a": (1e9, 0.4), "b": (7e9, 0.3), "c": (7e10, 0.25), "d": (1.3e10, 0.2)}
    row = {"measure": "word", "bias": "gender", "statistic": "bias", "instrument": "list"}
    rows = [row | {"model": name, "estimate": y} for name, (_, y) in values.items()]
    rows += [row | {"model": "of no known size", "estimate": 0.9}]
    path = tmp_path / "models.csv"
    path.write_text("model,parameters,rlhf\na,1B,no\nb,7000M,yes\nc,70B,yes\nd,13 B,\n")
    sized = news.tables.by_size(tables.estimates(rows, study="news_bias"), str(path))
    first = news.tables.trends(sized, confidence=0.9).iloc[0]
    fit = linregress(np.log10([x for x, _ in values.values()]), [y for _, y in values.values()])
    assert first[["whose", "n"]].tolist() == ["this run", 4]
    assert first["estimate"] == pytest.approx(fit.slope)
    assert first["p_value"] == pytest.approx(fit.pvalue)
    assert first["ci_low"] < fit.slope < first["ci_high"]


def test_two_models_have_no_trend_and_a_fallback_hides_printed_toxicity() -> None:
    row = {"measure": "toxicity", "bias": "gender", "statistic": "bias", "estimate": 0.1}
    row |= {"model": "GPT-2", "instrument": "a fallback"}
    ours = tables.estimates([row], study="news_bias")
    sized = news.tables.by_size(ours)
    assert sized.loc[sized["measure"] == "toxicity", "whose"].tolist() == ["this run"]
    assert "toxicity" not in set(news.tables.trends(sized, confidence=0.95)["measure"])
    assert len(news.tables.by_size(tables.estimates([], study="news_bias"))) == 7 * 8
    printed = news.tables.model_facts().query("model == 'ChatGPT'")
    assert printed[["size", "average_word_count"]].values.tolist() == [[1.75e11, 292]]


@pytest.mark.parametrize("rows", ["a,huge", "a,0", "a,7B\na,8B"])
def test_facts_that_are_none_are_refused(rows: str, tmp_path: Path) -> None:
    path = tmp_path / "models.csv"
    path.write_text(f"model,parameters\n{rows}\n")
    with pytest.raises(ContractError, match=r"not a number|twice"):
        news.tables.model_facts(str(path))
