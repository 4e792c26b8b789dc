#!/usr/bin/python3
"""Kazoo's side of tests/real/test_queue_others.c.  The commands and answers are
those of PeerQueues.java; the kinds are Kazoo's Queue, and a program that follows
ZooKeeper's recipes page, of a few lines.
"""
import sys

from kazoo.client import KazooClient
from kazoo.exceptions import NoNodeError


class Page:
    """As "Queues" of the recipes page says."""

    def __init__(self, client, path):
        self.client, self.path = client, path

    def put(self, data):
        self.client.ensure_path(self.path)
        self.client.create(self.path + "/queue-", data, sequence=True)

    def get(self):
        for name in sorted(self.client.get_children(self.path)):
            try:
                data, _ = self.client.get(f"{self.path}/{name}")
                self.client.delete(f"{self.path}/{name}")
                return data
            except NoNodeError:
                pass
        return None


def main():
    client = KazooClient(hosts=sys.argv[1], timeout=30)
    client.start(timeout=30)
    print("OK", flush=True)
    for line in sys.stdin:
        what, kind, path, rest = line.split()
        queue = client.Queue(path) if kind == "queue" else Page(client, path)
        if what == "put":
            queue.put(rest.encode())
            print("OK", flush=True)
        else:
            data = queue.get()
            print("NONE" if data is None else data.decode(), flush=True)
    client.stop()
    client.close()


main()
