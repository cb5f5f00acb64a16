"""Any list of groups, shipped or a user's own, from its texts to the first sentence of its page."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from nbbias import news, studies
from nbbias.params import Texts
from nbbias.reading import claims
from nbbias.text import lexicons

SHIPPED = ["disability", "race"]
OWN = pd.DataFrame({"group": ["nurses", "nurses", "pilots"], "term": ["nurse", "nurses", "pilot"]})


def pairs(lexicon: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Write articles of four sentences, in whose answers the first group stands oftener."""
    first = lexicon.drop_duplicates("group")
    after = first.get("kind", pd.Series("", first.index)).map({"descriptor": " nurse"}).fillna("")
    first = first["term"] + after
    rng = np.random.default_rng(1)

    def texts(share: float) -> list[str]:
        weights = np.full(len(first), (1 - share) / (len(first) - 1))
        weights[0] = share
        drawn = rng.choice(first.to_numpy(), size=(40, 4), p=weights)
        return [" ".join(f"We met {one} at the station." for one in row) for row in drawn]

    originals = pd.DataFrame({"article_id": map(str, range(40)), "text": texts(0.2)})
    return originals, originals.assign(model="m", text=texts(0.7))


@pytest.mark.parametrize("bias", [*SHIPPED, "work"])
def test_every_list_of_groups_is_told_of_in_the_first_sentence(bias: str, tmp_path: Path) -> None:
    given: dict[str, object] = {"biases": [bias], "levels": ["word"], "draws": 100}
    if bias not in SHIPPED:
        OWN.to_csv(tmp_path / "own.csv", index=False)
        given["lexicon_paths"] = {bias: str(tmp_path / "own.csv")}
    lexicon = OWN if bias not in SHIPPED else lexicons.load(bias)
    originals, generations = pairs(lexicon)
    found = news.measure(originals, generations, **given)
    chosen = studies.validate("news_bias", given)
    declared = claims.declared(found.estimates, chosen.claims, confidence=0.95)
    drawn = news.figures.finding(declared)
    plt.close(drawn.figure)
    answers = generations.assign(source="all", prompt="neutral", sample=1)
    both = news.pair(originals.assign(source="all"), answers)
    of = {"estimates": found.estimates, "pairs": both, "texts": Texts("own", "a.csv")}
    lead = news.sentences.lead(declared, **of)
    assert declared["bias"].eq(bias).all() and declared["estimate"].notna().any()
    told = lead.plain[0]
    assert "Nothing" not in told and "gender" not in told.replace(bias, "")
    assert declared["estimate"].max() > 0.3 and declared["p_adjusted"].min() < 0.01
