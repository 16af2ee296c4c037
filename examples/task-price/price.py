#!/usr/bin/env python3
"""The work of a price task, to execute and to validate. It needs Python alone.

The task's payload is JSON, {"pair": "ETH/USD", "prices": ["3020.5", "3025.1", "2999"]}: one decimal price of each source,
as text, with at most eight decimals. The result is the median with eight decimals, as text: 3020.50000000. Of an even
number of prices it is the mean of the two in the middle, rounded down.

A task of a schedule without a payload of its own, {"number": 7, "time": 84}, names no sources. So that a first network has
something to agree on, three prices are made up from its number.

Execute prints the result. Validate computes it again, and exits with 0 if it is the same and with 1 if it is not. Everything
else exits with 2, which is neither a result nor a verdict.
"""

import json
import re
import sys

VERSION = 1
DECIMALS = 8
UNIT = 10**DECIMALS
MAX_PRICES = 1000
PAIR = re.compile(r"[A-Z0-9]{1,16}/[A-Z0-9]{1,16}")
PRICE = re.compile(r"(0|[1-9][0-9]{0,17})(?:\.([0-9]{1,8}))?")


def fields(pairs):
    """A JSON object whose names are all different. Two parsers may take different ones of two fields with one name."""
    if len(dict(pairs)) != len(pairs):
        raise ValueError("an object has two fields with the same name")
    return dict(pairs)


def units(price):
    """A price as a whole number of units of 10^-8, so that every language computes the same."""
    match = PRICE.fullmatch(price) if isinstance(price, str) else None
    if match is None:
        raise ValueError(f'the price {price!r} is not text such as "3020.5", with at most {DECIMALS} decimals')
    return int(match[1]) * UNIT + int((match[2] or "").ljust(DECIMALS, "0"))


def whole(digits):
    """A whole number of a payload, which has no sign."""
    if digits.startswith("-"):
        raise ValueError(f"the number {digits} is negative")
    return int(digits)


def made_up(task):
    """Prices for a task of a schedule, which names none."""
    if not all(type(value) is int and value < 2**64 for value in task.values()):
        raise ValueError("number and time are not whole numbers of 64 bits")
    price = 3000 + task["number"] % 100
    return {"pair": "ETH/USD", "prices": [f"{price - 1}.5", f"{price}.25", f"{price + 1}"]}


def median(payload):
    """The result for a payload, in bytes."""
    task = json.loads(payload.decode(), object_pairs_hook=fields, parse_int=whole)
    if isinstance(task, dict) and set(task) == {"number", "time"}:
        task = made_up(task)
    if not isinstance(task, dict) or set(task) != {"pair", "prices"}:
        raise ValueError('the payload is not {"pair": …, "prices": […]}')
    if not isinstance(task["pair"], str) or not PAIR.fullmatch(task["pair"]):
        raise ValueError('the pair is not text such as "ETH/USD"')
    if not isinstance(task["prices"], list) or not 1 <= len(task["prices"]) <= MAX_PRICES:
        raise ValueError(f"there are not 1 to {MAX_PRICES} prices")
    prices = sorted(map(units, task["prices"]))
    # The same price twice where their number is odd.
    middle = (prices[(len(prices) - 1) // 2] + prices[len(prices) // 2]) // 2
    return f"{middle // UNIT}.{middle % UNIT:0{DECIMALS}}".encode()


def decoded(text):
    """The bytes of `0x…`."""
    if not text.startswith("0x"):
        raise ValueError("a payload or result does not begin with 0x")
    return bytes.fromhex(text[2:])


def main():
    # To the end: the node takes no answer of a program that did not read its input.
    asked = json.loads(sys.stdin.buffer.read())
    if asked["version"] != VERSION:
        raise ValueError(f"the version is {asked['version']}, expected {VERSION}")
    result = median(decoded(asked["payload"]))
    if asked["action"] == "execute":
        sys.stdout.buffer.write(result)
        sys.stdout.buffer.flush()
        return 0
    if asked["action"] == "validate":
        if decoded(asked["result"]) == result:
            return 0
        print(f"rejected: the median is {result.decode()}", file=sys.stderr)
        return 1
    raise ValueError(f"the action is {asked['action']!r}, expected execute or validate")


if __name__ == "__main__":
    try:
        status = main()
    # Python ends with 1 if nobody catches an error, and 1 rejects.
    except Exception as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        status = 2
    sys.exit(status)
