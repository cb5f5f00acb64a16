"""Read a judge's answer that is a JSON object: whole, in fences, within chat, or cut off."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

import numpy as np
import yaml

from nbbias.corpus import data_path

_LOOSE = re.compile(
    r"[\"'](\w+)[\"']\s*:\s*(?:\"((?:[^\"\\]|\\.)*)\"|'((?:[^'\\]|\\.|'(?=\w))*)'"
    r"|((?:true|false|null|none)(?=[\s,}\]]|$)|(?:yes|no|-?\d+(?:\.\d+)?)(?=[\s,}\]]))"
    # What a reply that is cut off last says is no field, nor is what it quotes.
    r"|\"(?:[^\"\\]|\\.)*\\?\Z|'(?:[^'\\]|\\.|'(?=\w))*\\?\Z)", re.I | re.S,
)  # fmt: skip
_PLAIN: dict[str, Any] = {
    "true": True, "false": False, "null": None, "none": None, "yes": True, "no": False,
}  # fmt: skip
_KEY = re.compile(r"[\"'“”]([\w -]{1,40})[\"'“”]\s*:")
_START = re.compile(r"\{\s*(?:[\"'“”]|\w*\s*\Z)")


@cache
def names() -> dict[str, Any]:
    """Return what ``data/biasalert/replies.yaml`` holds."""
    return yaml.safe_load(data_path("biasalert/replies.yaml").read_text(encoding="utf-8"))


def objects(
    reply: str, *, verdict: Callable[[str], bool | None]
) -> Iterator[tuple[bool, dict[str, Any]]]:
    """Yield the objects of a reply that hold a verdict, with it.

    Parameters
    ----------
    reply
        Any text. An object that is cut off, or written as Python does, is read field by field
        where no whole one holds a verdict.
    verdict
        Reads a verdict that is given in words, such as ``"yes"``.
    """
    decoder, at, found = json.JSONDecoder(), reply.find("{"), False
    first = at
    if first < 0 and keyed(reply):  # the brace was said for the judge
        first = 0
    while at >= 0:
        try:
            value, end = decoder.raw_decode(reply, at)
        except (ValueError, RecursionError):
            if _START.match(reply, at):  # field by field, lest what a field quotes be read
                loose = _loose(reply[at:])
                said = _said(loose, verdict)
                if said is not None:
                    yield said, loose
                return
            at = reply.find("{", at + 1)
            continue
        said = _said(value, verdict) if isinstance(value, dict) else None
        if said is not None:
            found = True
            yield said, value
        at = reply.find("{", end)
    if first >= 0 and not found:
        loose = _loose(reply[first:])
        said = _said(loose, verdict)
        if said is not None:
            yield said, loose


def keyed(reply: str) -> bool:
    """Tell whether a reply has a field `biased`, whatever stands in it."""
    wanted = {name for name in names()["fields"]["biased"] if "biased" in name}
    return any(_lowered(hit[1]) in wanted for hit in _KEY.finditer(reply))


def outside(reply: str) -> str:
    """Return the words around objects; of one that is cut off, nothing that follows."""
    decoder, kept, at = json.JSONDecoder(), [], 0
    while hit := _START.search(reply, at):
        kept.append(reply[at : hit.start()])
        try:
            at = decoder.raw_decode(reply, hit.start())[1]
        except (ValueError, RecursionError):
            return " ".join(kept)
    return " ".join([*kept, reply[at:]])


def _lowered(key: object) -> str:
    return re.sub(r"[\s-]+", "_", str(key).lower())


def _loose(part: str) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name, double, single, bare in _LOOSE.findall(part):
        values[name] = _PLAIN.get(bare.lower(), bare) if bare else double or single
    return values


def field(value: Mapping[str, Any], name: str) -> Any:
    """Return a field by any of its names, or None."""
    lowered = {_lowered(key): held for key, held in value.items()}
    return next((lowered[one] for one in names()["fields"][name] if one in lowered), None)


def _said(value: Mapping[str, Any], verdict: Callable[[str], bool | None]) -> bool | None:
    said = field(value, "biased")
    if isinstance(said, bool):
        return said
    if isinstance(said, int | float):
        return bool(said) if said in (0, 1) else None
    return verdict(said) if isinstance(said, str) else None


def probability(told: object, *, biased: bool) -> float:
    """Return the judge's probability that a text is biased; NaN where its verdict belies it.

    Some judges give the confidence in their verdict instead: 0.9 for a text that is not biased.
    """
    if isinstance(told, str):
        hit = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(%?)\s*", told)
        told = None if hit is None else float(hit[1]) / (100 if hit[2] else 1)
    if isinstance(told, bool) or not isinstance(told, int | float):
        return np.nan
    share = float(told) / 100 if 1 < told <= 100 else float(told)
    return share if 0 <= share <= 1 and (share >= 0.5) == biased else np.nan
