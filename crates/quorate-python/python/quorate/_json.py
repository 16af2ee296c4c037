"""JSON whose numbers come from outside."""

from __future__ import annotations

import json
from typing import Any


def _whole(digits: str) -> int | str:
    """A whole number. Python refuses to read thousands of digits, because that takes long: then it is their text."""
    try:
        return int(digits)
    except ValueError:
        return digits


_DECODER = json.JSONDecoder(parse_int=_whole)


def loads(text: str) -> Any:
    """The value of a text of JSON, in which an id can be a number of any length."""
    return _DECODER.decode(text)
