"""Escaping of texts and names, so that any text shows as itself wherever it goes.

Texts and names come from models and corpora. What is not seen in them is written out, and nothing
of them becomes a tag, an address, mathematics, a command, a colour or a direction of writing. The
module is in the lowest layer because messages of errors need it, too.
"""

from __future__ import annotations

import re
from html import escape as _in_html

#: Control characters but for the tab and the line's end, lone surrogates, marks that change the
#: direction of what stands around them, and letters that have no shape, by which two names can
#: look alike. Joiners and variation selectors, which emoji and scripts need, are left.
_INVISIBLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
    "\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180e\u200b\u2060-\u2065\u206a-\u206f\u3164\ufeff"
    "\uffa0\ufff0-\ufffb\U000e0000-\U000e0fff]"
)
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
#: What belongs on one line: a sign with its value, a number with its unit, CI with its ends.
_TIED = re.compile(
    r"\b[Np\u03b1] (?:[=\u2264]|<(?= [.])|&lt;) (?=[.\d])|\d%? (?:CI|pp|(?:percentage )?points?)\b"
    r"(?: (?=[\u2212\d\[]))?|(?<=\d) excluded|[\d%] to (?=[\u2212\d])"
)
_MARKDOWN = re.compile(r"([\\`*_{}\[\]()<>#+!|$~&.:@-])")


def visible(text: object) -> str:
    """Write what is not seen as its code point: NUL, escapes and marks of direction.

    Lines that end as on Windows end as elsewhere.

    Examples
    --------
    >>> visible("nul" + chr(0))
    'nul[U+0000]'
    """
    return _INVISIBLE.sub(_code_point, str(text).replace("\r\n", "\n"))


def without_control(text: str) -> str:
    """Write control characters out, and leave marks of direction, which are part of a text.

    Examples
    --------
    >>> without_control("bell" + chr(7))
    'bell[U+0007]'
    """
    return _CONTROL.sub(_code_point, text)


def tie(text: str) -> str:
    r"""Put spaces that are not broken between a number and its name, its sign and its unit.

    Examples
    --------
    >>> tie("5 pp (95% CI 1 to 9; N = 9 texts; p = .02)").split(" ")
    ['5\xa0pp', '(95%\xa0CI\xa01\xa0to\xa09;', 'N\xa0=\xa09', 'texts;', 'p\xa0=\xa0.02)']
    """
    return _TIED.sub(lambda match: match[0].replace(" ", "\N{NO-BREAK SPACE}"), text)


def _code_point(match: re.Match[str]) -> str:
    return f"[U+{ord(match[0]):04X}]"


def html(text: object) -> str:
    """Return any text as HTML that shows just this text.

    Dollar signs and backslashes stand in elements of their own: JupyterLab would read what lies
    between two of them as mathematics.

    Examples
    --------
    >>> html("<b> for $5")
    '&lt;b&gt; for <span>$</span>5'
    """
    return re.sub(r"[$\\]", r"<span>\g<0></span>", attribute(text))


def attribute(text: object) -> str:
    """Return any text for use between the double quotes of an attribute of HTML.

    It serves as a text too where no program that typesets mathematics looks.

    Examples
    --------
    >>> attribute('a "b"')
    'a &quot;b&quot;'
    """
    return _in_html(visible(text), quote=True)


def markdown(text: object) -> str:
    r"""Return any text, on one line, as Markdown that shows just this text; as `html` does.

    Examples
    --------
    >>> print(markdown("gpt_4 *"))
    gpt\_4 \*
    """
    escaped = _MARKDOWN.sub(r"\\\1", visible(" ".join(str(text).split())))
    return re.sub(r"\\[$\\]", r"<span>\g<0></span>", escaped)


def without_markdown(markdown: str) -> str:
    r"""Drop the Markdown of a sentence: emphasis, and what `markdown` put in.

    Examples
    --------
    >>> without_markdown(r"The index of **gpt\_4** is")
    'The index of gpt_4 is'
    """
    return re.sub(r"\\(.)|\*+|</?span>", lambda match: match[1] or "", markdown)


def drawn(text: object) -> str:
    r"""Return any text as a figure draws it: matplotlib reads no mathematics, and SVG stays whole.

    XML has no place for control characters; and a name that begins with an underscore would be
    left out of legends, so a thin space stands before it.

    Examples
    --------
    >>> print(drawn("for $5"))
    for \$5
    """
    name = visible(text).replace("$", r"\$")
    return f"\u2009{name}" if name.startswith("_") else name
