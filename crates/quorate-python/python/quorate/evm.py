"""Quorums that a contract on an EVM chain settles, as ``quorate evm plan`` plans them.

A contract computes the key of a quorum from a base: a quorum whose key it knows already. ``plan`` finds the base that costs the
least gas, says what the signers sign, and makes the calldata.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from quorate._quorate import QuorumPlan, plan_quorum
from quorate._types import Bytes

__all__ = ["QuorumPlan", "plan"]


def plan(
    network: str | dict[str, Any],
    signers: Iterable[int],
    results: Iterable[Bytes] = (),
    *,
    deadline: int | None = None,
    store: int | str | None = None,
) -> QuorumPlan:
    """The cheapest way to settle results that these members will sign.

    ``network`` is the JSON that ``quorate evm plan --help`` describes, as text or as a dictionary. ``deadline``
    is the last second at which the results settle, in Unix time. ``store`` is where the contract stores the quorum as a
    base: a slot (0 is the newest base), ``"rental"`` to let the contract decide, or nowhere. The signers sign both.
    Raises ``UsageError`` if the signers weigh too little, and for a ``store`` that is another number or another text.
    """
    text = network if isinstance(network, str) else json.dumps(network)
    return plan_quorum(text, list(signers), list(results), deadline=deadline, store=store)
