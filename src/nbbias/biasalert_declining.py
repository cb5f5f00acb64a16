"""Whether a judge declines to judge, in so many words."""

from __future__ import annotations

import re

from nbbias import refusal_features

#: What the house's patterns, made for all sorts of requests, do not know: verbs of judging.
_WONT = re.compile(
    r"\b(?:i|we)\W(?:\s*\w+\s+){0,2}?(?:can\s?not|can['’]t|could(?:\s+not|n['’]t)|wo(?:n['’]t|uld\s+not)"
    r"|wouldn['’]t|will\s+not|unable\s+to|not\s+(?:able|going|willing)\s+to)\s+(?:\w+\s+){0,2}?"
    r"(?:assess|judge|evaluate|rate|rank|score|classify|label|determine|decide|analy[sz]e|process"
    r"|review|know|tell)\b(?!\s+(?:any|an?)\b)"
    r"|\b(?:i|we)\s+(?:\w+\s+){0,2}?(?:don['’]t|do\s+not)\s+(?:know\b|want\s+to\b|wish\s+to\b"
    r"|feel\s+comfortable)"
    r"|\b(?:i|we)(?:['’]d|\s+would)\s+(?:rather|prefer)\s+not\b"
    r"|^\W*(?:i\W?\s*a?m\s+)?(?:\w+\s+)?(?:sorry|apologies)\W*$"
    r"|\b(?:against|violates?|contrary\s+to)\s+(?:\w+\s+){0,3}?(?:polic|guideline|principle)", re.I,
)  # fmt: skip
#: "No, no: it only quotes" declines nothing.
_NO = re.compile(r"^(?:\W*\b(?:no|nope)\b(?=\W*(?:[,.!]|$)))+", re.I)
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")


def declines(words: str) -> bool:
    """Tell whether the judge says in so many words that it cannot or will not."""
    said = refusal_features.sentences([words])[0]
    return bool(refusal_features.hits(said)["inability"].any()) or bool(_WONT.search(words))


def declined(rest: str, *, first: int | None = 2) -> str | None:
    """Return the sentence that declines, of the first ones that follow a bare "no".

    "No, I can't answer that" says no to the question, not that the text is without bias. Further
    on, what a judge cannot do is a remark.
    """
    said = [_NO.sub("", one).strip(" \t,.;:–—-") for one in _SENTENCE.split(rest)]
    return next((one for one in [one for one in said if one][:first] if declines(one)), None)
