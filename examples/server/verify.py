"""Sends claims to a running quorate-server, over TCP or a Unix socket. It needs Python alone.

    python3 examples/server/verify.py [http://127.0.0.1:9596 | /run/quorate/claims.sock] < claims.jsonl

It prints a line for each claim, and ends with 1 if one of them is not valid.
"""

import http.client
import json
import socket
import sys
from urllib.parse import urlsplit


class UnixConnection(http.client.HTTPConnection):
    """HTTP over a Unix socket."""

    def __init__(self, path):
        super().__init__("localhost", timeout=30)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


def verify(server, claims):
    """The answers to a list of claims, in their order."""
    if server.startswith("http://"):
        connection = http.client.HTTPConnection(urlsplit(server).netloc, timeout=30)
    else:
        connection = UnixConnection(server)
    body = json.dumps(claims).encode()
    connection.request("POST", "/v1/verify?class=duty&deadline_ms=10000", body, {"Content-Type": "application/json"})
    response = connection.getresponse()
    answer = json.load(response)
    connection.close()
    if response.status != 200:
        # 503: send it again after `Retry-After`. 4xx: the message says what to change.
        raise SystemExit(f"{response.status} {answer['error']['code']}: {answer['error']['message']}")
    return answer


def main():
    server = sys.argv[1] if len(sys.argv) > 1 else "http://127.0.0.1:9596"
    answers = verify(server, [json.loads(line) for line in sys.stdin if line.strip()])
    for answer in answers:
        # A claim that was refused is neither true nor false: nobody looked at it.
        state = "valid" if answer["valid"] else "refused" if "refused" in answer else "invalid"
        print(answer["index"], state, answer.get("reason", ""), sep="\t")
    sys.exit(not all(answer["valid"] for answer in answers))


if __name__ == "__main__":
    main()
