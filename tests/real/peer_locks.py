#!/usr/bin/python3
"""Kazoo's side of tests/real/test_lock_libraries.c.  The commands and answers
are those of PeerLocks.java; the kinds are Kazoo's recipes, as their users write
them, and two that are to share a path with evzk's.
"""
import sys
import threading

from kazoo.client import KazooClient
from kazoo.exceptions import CancelledError
from kazoo.recipe.barrier import Barrier
from kazoo.recipe.lock import Lock


class LockAmongOthers(Lock):
    """Its own znode is named as evzk's and Curator's are."""

    _NODE_NAME = "-lock-"
    _EXCLUDE_NAMES = ["-lock-", "__lock__"]


class BarrierSet(Barrier):
    """A barrier that is set while it is acquired, and then lifted."""

    def acquire(self):
        self.create()

    def release(self):
        self.remove()


class BarrierPassed(Barrier):
    """A lock that is acquired when no barrier stands."""

    def acquire(self):
        self.wait()

    def release(self):
        pass


class Peer:
    def __init__(self, server):
        self.client = KazooClient(hosts=server, timeout=30)
        self.client.start(timeout=30)

    def make(self, kind, path):
        if kind == "lock":
            return self.client.Lock(path)
        if kind == "rlock":
            return self.client.ReadLock(path)
        if kind == "wlock":
            return self.client.WriteLock(path)
        if kind == "election":
            return self.client.Election(path).lock
        if kind == "semaphore":
            return self.client.Semaphore(path)
        if kind == "extra":
            return self.client.Lock(path, extra_lock_patterns=["-lock-"])
        if kind == "among":
            return LockAmongOthers(self.client, path)
        if kind == "barrier-set":
            return BarrierSet(self.client, path)
        if kind == "barrier":
            return BarrierPassed(self.client, path)
        raise ValueError(kind)

    def work(self):
        try:
            self.lock.acquire()
        except CancelledError:
            return
        self.got.set()

    def ask(self, kind, path):
        self.lock = self.make(kind, path)
        self.got = threading.Event()
        self.thread = threading.Thread(target=self.work, daemon=True)
        self.thread.start()
        return "OK"

    def free(self):
        if not self.got.is_set():
            self.lock.cancel()
        self.thread.join()
        if self.got.is_set():
            self.lock.release()
        return "OK"

    def obey(self, words):
        if words[0] == "ask":
            return self.ask(words[1], words[2])
        if words[0] == "got":
            return "YES" if self.got.wait(int(words[1]) / 1000) else "NO"
        if words[0] == "free":
            return self.free()
        raise ValueError(words)


def main():
    peer = Peer(sys.argv[1])
    print("OK", flush=True)
    for line in sys.stdin:
        print(peer.obey(line.split()), flush=True)
    peer.client.stop()
    peer.client.close()


main()
