"""Word shares of German, French and Spanish texts, by lists tried on simulated texts alone."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from nbbias import news, tables
from nbbias.text import annotate, lexicons

#: Sentences that name a woman, a man, nobody.
SENTENCES = {
    "de": ("Die Mutter kam.", "Der Junge half den Männern.", "Junge Bäume blühten dort."),
    "fr": (
        "L'infirmière aida une femme.",
        "L\N{RIGHT SINGLE QUOTATION MARK}homme rit.",
        "Il pleut.",
    ),
    "es": ("Ella habló.", "Él no vino.", "El tren no vino, dijo el periódico."),
}


@pytest.mark.parametrize("language", SENTENCES)
def test_words_are_found_by_the_rules_of_their_language(language: str) -> None:
    lexicon = lexicons.load("gender", language=language)
    _, matches = annotate.annotate(pd.Series(SENTENCES[language][:2]), lexicon)
    expected = {"de": [0, 1, 1], "fr": [0, 1], "es": [0, 1]}[language]
    assert matches["text_id"].tolist() == expected
    assert matches["group"].tolist() == [["female", "male"][number] for number in expected]
    if language != "de":  # where a sentence begins, "Junge" may be an adjective: counted wrongly
        assert annotate.annotate(pd.Series(SENTENCES[language][2:]), lexicon)[1].empty


@pytest.mark.parametrize("language", SENTENCES)
def test_a_simulated_difference_is_estimated(language: str) -> None:
    rng, n = np.random.default_rng(5), 40
    woman, man, nobody = SENTENCES[language]

    def write(share: float) -> list[str]:
        counts = rng.binomial(4, share, n)
        return [" ".join([woman] * k + [nobody] + [man] * (4 - k)) for k in counts]

    ids = pd.DataFrame({"article_id": range(n)})
    human, model = ids.assign(text=write(0.6)), ids.assign(text=write(0.2), model="m")
    results = news.measure(
        human, model, language=language, levels=["word"], biases=["gender"], focus={}, draws=100
    )
    rows = results.estimates.query("statistic == 'share_difference' and group == 'female'")

    def shares(texts: pd.Series) -> pd.Series:
        women = texts.str.count(woman.rstrip("."))
        words = 2 if language == "de" else 1  # of men in a sentence about them
        others = texts.str.count(man.rstrip(".")) * words
        # At the start of a sentence "Junge" counts, too, where it is an adjective.
        return women / (women + others + (language == "de"))

    by_hand = (shares(model["text"]) - shares(human["text"])).mean()
    assert rows["estimate"].tolist() == pytest.approx([by_hand], abs=1e-12)
    assert rows["p_adjusted"].item() < 0.001


def test_what_is_english_alone_is_refused() -> None:
    texts = pd.DataFrame({"article_id": [1], "text": ["Die Frau kam."], "model": "m"})
    with pytest.raises(tables.NbbiasError) as error:
        news.measure(texts.drop(columns="model"), texts, language="de")
    message = str(error.value)
    assert "no word list for race" in message and "of German texts only [word]" in message
    with pytest.raises(tables.NbbiasError, match="the sample is English"):
        news.measure(language="es", levels=["word"], biases=["gender"], focus={})
