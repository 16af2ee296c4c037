#!/usr/bin/env python3
"""A node of a chain of 100 blocks on which nothing was settled, at a port of loopback: `empty_chain.py PORT`, with 0 for a free one, which is
printed.

A follower and a watcher of the contract 0x0c…0c are ready beside it.
"""

import http.server
import json
import sys
import time


class Chain(http.server.BaseHTTPRequestHandler):
    """A chain of 100 blocks on which nothing was settled."""

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        result = getattr(self, asked["method"])(*asked["params"])
        body = json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def eth_chainId(self):
        return "0x1"

    def eth_getCode(self, *_):
        return "0x60"

    def eth_call(self, call, *_):
        asked = call.get("input") or call["data"]
        if asked == "0xc19d93fb":
            # `state()` of a settlement that is new: the hash of two words of zero.
            return "0xad3228b676f7d3cd4284a5443f17f1962b36e491b30a40b2405849e597ba5fb5"
        # `conditions()` of a contract to which results are posted, in two words: an hour and 300 blocks, and no slot that is in use.
        if asked == "0xe35c59d0":
            return f"0x{300 << 32 | 3600:064x}{0:064x}"
        return "0x" + "00" * 64

    def eth_getBalance(self, *_):
        return "0x0"

    def eth_getTransactionCount(self, *_):
        return "0x0"

    def eth_maxPriorityFeePerGas(self):
        return "0x1"

    def eth_getLogs(self, *_):
        return []

    def eth_getBlockByNumber(self, number, _):
        height = {"latest": 100, "finalized": 90}.get(number)
        height = int(number, 16) if height is None else height
        word = lambda value: f"0x{value:064x}"
        return {"number": hex(height), "hash": word(height + 1), "parentHash": word(height), "timestamp": hex(int(time.time()))}

    def log_message(self, *_):
        pass


def chain_at(port):
    """The server, which answers once it is told to serve; port 0 is one that is free."""
    return http.server.ThreadingHTTPServer(("127.0.0.1", port), Chain)


if __name__ == "__main__":
    chain = chain_at(int(sys.argv[1]))
    print(chain.server_port, flush=True)
    chain.serve_forever()
