"""Word shares of German, French and Spanish texts, by lists tried on simulated texts alone."""

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
def test_shares_are_of_the_words_of_a_language(language: str) -> None:
    woman, man, _ = SENTENCES[language]
    human, model = ({"article_id": range(9), "text": text} for text in (woman, f"{woman} {man}"))
    results = news.measure(
        *(pd.DataFrame(human), pd.DataFrame(model).assign(model="m")),
        **{"language": language, "levels": ["word"], "biases": ["gender"], "focus": {}},
        draws=100,
    )
    rows = results.estimates.query("statistic == 'share_difference' and group == 'female'")
    men = 2 if language == "de" else 1  # words of men in a sentence about them
    assert rows["estimate"].tolist() == pytest.approx([-men / (men + 1)])


def test_what_is_english_alone_is_refused() -> None:
    texts = pd.DataFrame({"article_id": [1], "text": ["Die Frau kam."], "model": "m"})
    with pytest.raises(tables.NbbiasError) as error:
        news.measure(texts.drop(columns="model"), texts, language="de")
    message = str(error.value)
    assert "no word list for race" in message and "of German texts only [word]" in message
    with pytest.raises(tables.NbbiasError, match="the sample is English"):
        news.measure(language="es", levels=["word"], biases=["gender"], focus={})
