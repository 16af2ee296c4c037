#!/usr/bin/env python3
"""Tasks from a contract's events: each event of one kind becomes a task of a task network. It needs Python alone, from 3.10 on.

Every operator runs this program beside its node. It reads the chain block by block, no block before it is final, and hands each
event to the node (POST /v1/tasks). All copies make the same task of an event, byte by byte:

    id       SHA-256 of "quorate task of an event\\n", the chain's id (8 bytes, big-endian), the contract (20), the transaction (32) and
             the place of the event among those of this kind and transaction (4). A transaction that is mined again gives the same ids
    payload  {"block", "contract", "data", "index", "topics", "transaction"}, as compact JSON with sorted names
    epoch    that of the block's time and --delay, so that slow operators name the same one

An event is lost only if no operator hands it in before its epoch and the next one are over: that is printed. It is not repeated:
the network settles an id once. What was handed in is noted in --state once the node has the tasks of the whole block on its disk, so a
program that was killed hands the tasks of that block in again, and the node knows their ids.

Exit status: 0 with --once, 1 if the chain undid a block that was final or contradicts itself, 2 for a mistake of the command line, the
state's file or the token, 3 with --once if the chain's node or the task network's does not answer.
"""

import argparse
import fcntl
import hashlib
import json
import os
import re
import sys
import time
import urllib.error
import urllib.request

STATE_VERSION = 1
# A request of more than 256 KiB is refused by the node. An event so long is passed over, by all operators alike.
LONGEST = 200_000
# Of an answer of the chain's node.
MOST_BYTES = 64 << 20
# ITaskNetwork.genesis() and epochLength().
GENESIS, EPOCH_LENGTH = "0xa7f0b3de", "0x57d775f8"


class Contradiction(Exception):
    """The chain contradicts what was read of it before."""


class Mistake(Exception):
    """What the operator has to put right."""


class Silent(Exception):
    """A node does not answer, or not yet in a way that can be used: to be asked again."""


def say(text):
    print(text, file=sys.stderr, flush=True)


def hexadecimal(length):
    def read(text):
        if re.fullmatch(r"0x[0-9a-fA-F]{%d}" % (2 * length), text) is None:
            raise argparse.ArgumentTypeError(f"expected 0x and {2 * length} hexadecimal digits, found {text!r}")
        return text.lower()

    return read


def depth(text):
    if text == "finalized":
        return text
    try:
        blocks = int(text)
    except ValueError:
        blocks = -1
    if blocks < 0:
        raise argparse.ArgumentTypeError(f"expected `finalized` or a number of blocks, found {text!r}")
    return blocks


def number(value, what):
    """A quantity of JSON-RPC."""
    if not isinstance(value, str) or re.fullmatch(r"0x[0-9a-f]{1,64}", value) is None:
        raise Silent(f"{what}: found {value!r}, expected a number in hexadecimal digits")
    return int(value, 16)


class Chain:
    def __init__(self, url):
        self.url = url

    def ask(self, method, *parameters):
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": parameters}).encode()
        request = urllib.request.Request(self.url, body, {"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                read = json.loads(answer.read(MOST_BYTES))
        except (OSError, ValueError) as error:
            # The address may hold a secret, so it is not printed.
            raise Silent(f"the chain's node, {method}: {error}") from None
        if not isinstance(read, dict) or "error" in read or "result" not in read:
            raise Silent(f"the chain's node, {method}: {read.get('error') if isinstance(read, dict) else read!r}")
        return read["result"]

    def block(self, at):
        found = self.ask("eth_getBlockByNumber", at if isinstance(at, str) else hex(at), False)
        if found is None:
            raise Silent(f"the chain's node has no block {at}")
        return found

    def final(self, confirmations):
        """The number of the newest block that is final."""
        if confirmations == "finalized":
            return number(self.block("finalized")["number"], "a block's number")
        return number(self.ask("eth_blockNumber"), "the newest block") - confirmations

    def view(self, contract, selector):
        return number(self.ask("eth_call", {"to": contract, "data": selector}, "latest"), f"a call of {contract}")


class State:
    """What was handed in: all blocks before `block`, the last of which has the hash `parent`."""

    def __init__(self, path, names, first):
        self.path = path
        # Held until the process ends. Two programs with one file would hand in the same blocks.
        self.lock = open(f"{path}.lock", "a")
        try:
            fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Mistake(f"{path}: another program uses this file") from None
        self.names = names
        try:
            with open(path) as file:
                read = json.load(file)
            self.block, self.parent = read.pop("block"), read.pop("parent")
            if type(self.block) is not int or not (self.parent is None or isinstance(self.parent, str)):
                raise ValueError("block or parent is of a wrong type")
        except FileNotFoundError:
            if first is None:
                raise Mistake(f"{path} does not exist: name the first block with --from-block") from None
            self.block, self.parent = first, None
        except (ValueError, KeyError, AttributeError) as error:
            raise Mistake(f"{path} is damaged ({error}): restore it, or remove it and name --from-block") from None
        else:
            if read != names:
                raise Mistake(f"{path} is of {read}, and this is {names}: name another file")

    def write(self, block, parent):
        """Whole or not at all, and on the disk."""
        with open(f"{self.path}.new", "w") as file:
            json.dump(self.names | {"block": block, "parent": parent}, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(f"{self.path}.new", self.path)
        folder = os.open(os.path.dirname(os.path.abspath(self.path)), os.O_RDONLY)
        os.fsync(folder)
        os.close(folder)
        self.block, self.parent = block, parent


def events(chain, options, at, parent):
    """The block and its events. The hash of the block before must be the one that was read before."""
    block = chain.block(at)
    if parent is not None and block["parentHash"] != parent:
        raise Contradiction(
            f"block {at} follows {block['parentHash']}, and {parent} was final: the chain undid blocks that were handed in. Look at the "
            f"tasks of the last blocks, then remove {options.state} and begin again with --from-block"
        )
    # By hash: a node that does not have this very block answers with an error, and not with no events.
    filter = {"blockHash": block["hash"], "address": options.contract, "topics": [options.topic]}
    found = []
    for log in chain.ask("eth_getLogs", filter):
        ours = log["blockHash"] == block["hash"] and log["address"].lower() == options.contract
        if not ours or log.get("removed") or log["topics"][0].lower() != options.topic:
            raise Silent(f"the chain's node answered with an event that was not asked for, in block {at}")
        found.append((number(log["logIndex"], "an event's place"), log))
    return block, [log for _, log in sorted(found, key=lambda one: one[0])]


def tasks(options, chain_id, block, logs, epoch):
    """The tasks of a block's events, as bytes for the node."""
    places = {}
    for log in logs:
        transaction = log["transactionHash"].lower()
        place = places[transaction] = places.get(transaction, -1) + 1
        name = b"quorate task of an event\n" + chain_id.to_bytes(8, "big") + bytes.fromhex(options.contract[2:])
        name += bytes.fromhex(transaction[2:]) + place.to_bytes(4, "big")
        payload = {
            "block": number(block["number"], "a block's number"),
            "contract": options.contract,
            "data": log["data"].lower(),
            "index": place,
            "topics": [topic.lower() for topic in log["topics"]],
            "transaction": transaction,
        }
        task = {"id": "0x" + hashlib.sha256(name).hexdigest(), "epoch": epoch, "payload": payload}
        yield task["id"], transaction, json.dumps(task, sort_keys=True, separators=(",", ":")).encode()


def hand_in(options, body):
    """Hands a task to the node. Whether the node has it; if not, the task's epoch is not one that it takes now."""
    try:
        with open(options.token) as file:
            token = file.read().strip()
    except OSError as error:
        raise Mistake(f"--token: {error}") from None
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    request = urllib.request.Request(f"{options.node.rstrip('/')}/v1/tasks", body, headers)
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            if answer.status == 202:
                return True
            raise Silent(f"the task network's node answered with status {answer.status}")
    except urllib.error.HTTPError as error:
        said = error.read(4096).decode(errors="replace")
        if error.code == 422 and '"not-taken"' in said:
            return False
        if error.code in (408, 429) or error.code >= 500:
            raise Silent(f"the task network's node: {error.code} {said}") from None
        raise Mistake(f"the task network's node refuses: {error.code} {said}") from None
    except OSError as error:
        raise Silent(f"the task network's node: {error}") from None


def step(chain, options, state, chain_id, terms):
    """Hands the next block's events in, if that block is final. Whether it was."""
    genesis, length = terms
    if state.block > chain.final(options.confirmations):
        return False
    try:
        block, logs = events(chain, options, state.block, state.parent)
        seconds = number(block["timestamp"], "a block's time")
        epoch = max(0, seconds + options.delay - genesis) // length
        all = list(tasks(options, chain_id, block, logs, epoch))
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise Silent(f"the chain's node answers for block {state.block} in a form that is not understood: {error!r}") from None
    for id, transaction, body in all:
        where = f"block {state.block}, transaction {transaction}"
        if len(body) > LONGEST:
            say(f"{where}: the event has too many bytes for a task, and is passed over")
        elif hand_in(options, body):
            print(json.dumps({"id": id, "epoch": epoch, "block": state.block, "transaction": transaction}), flush=True)
        else:
            now = (number(chain.block("latest")["timestamp"], "a block's time") - genesis) // length
            if epoch + 1 >= now:
                raise Silent(f"{where}: its task is of epoch {epoch}, which the node does not take yet (the chain is in {now})")
            say(f"{where}: epoch {epoch} of its task {id} can settle nothing more, so this node does not perform or attest it")
    state.write(state.block + 1, block["hash"])
    return True


def follow(options):
    chain, said, begun = Chain(options.rpc), None, None
    while True:
        try:
            if begun is None:
                chain_id = number(chain.ask("eth_chainId"), "the chain's id")
                terms = [chain.view(options.network, selector) for selector in (GENESIS, EPOCH_LENGTH)]
                if terms[1] == 0:
                    raise Mistake(f"--network {options.network}: its epochs have no length; is it a TaskNetwork?")
                names = {"version": STATE_VERSION, "chain_id": chain_id, "contract": options.contract, "topic": options.topic}
                begun = State(options.state, names | {"network": options.network, "delay": options.delay}, options.from_block)
            more = step(chain, options, begun, chain_id, terms)
            if said is not None:
                say("and goes on")
            said = None
            if not more and options.once:
                return
            if not more:
                time.sleep(options.pause)
        except Silent as error:
            if options.once:
                raise
            # Once, and not at each attempt.
            if str(error) != said:
                say(f"waits: {error}")
            said = str(error)
            time.sleep(options.pause)


def main():
    about, _, _ = __doc__.partition("\n")
    parser = argparse.ArgumentParser(description=about, epilog="README.md beside this file explains the rest")
    parser.add_argument("--rpc", required=True, metavar="URL", help="the chain's node; one of your own")
    parser.add_argument("--network", required=True, type=hexadecimal(20), metavar="ADDRESS", help="the TaskNetwork, which has the epochs")
    parser.add_argument("--contract", required=True, type=hexadecimal(20), metavar="ADDRESS", help="whose events become tasks")
    parser.add_argument("--topic", required=True, type=hexadecimal(32), metavar="HASH", help="Keccak-256 of the event's name and types")
    parser.add_argument("--node", default="http://127.0.0.1:9601", metavar="URL", help="the task network's node [http://127.0.0.1:9601]")
    parser.add_argument("--token", required=True, metavar="FILE", help="the file token in the node's folder")
    parser.add_argument("--state", required=True, metavar="FILE", help="what was handed in; it is made at the first start")
    parser.add_argument("--from-block", type=int, metavar="N", help="the first block, at the first start; the same for all operators")
    parser.add_argument("--confirmations", type=depth, default="finalized", metavar="N", help="how final a block must be [finalized]")
    later = "from a block to the epoch of its tasks; the same for all operators [1800]"
    parser.add_argument("--delay", type=int, default=1800, metavar="SECONDS", help=later)
    parser.add_argument("--pause", type=float, default=4.0, metavar="SECONDS", help="between two questions, when nothing is new [4]")
    parser.add_argument("--once", action="store_true", help="end at the newest final block")
    try:
        follow(parser.parse_args())
    except Contradiction as error:
        say(f"error: {error}")
        sys.exit(1)
    except Mistake as error:
        say(f"error: {error}")
        sys.exit(2)
    except Silent as error:
        say(f"error: {error}")
        sys.exit(3)


if __name__ == "__main__":
    main()
