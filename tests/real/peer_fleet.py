#!/usr/bin/python3
"""Kazoo's worker of tests/real/test_dialect_fleet.c: it acquires, holds and
releases until its standard input ends.  Its arguments are those of
PeerFleet.java.
"""
import os
import random
import sys
import threading
import time

from kazoo.client import KazooClient
from kazoo.client import KazooState
from kazoo.exceptions import CancelledError
from kazoo.retry import KazooRetry


class Fleet:
    def __init__(self, server, path, kind, log, hold, ident, session_ms):
        self.log = os.open(log, os.O_WRONLY | os.O_APPEND)
        self.hold = hold
        self.ident = ident
        self.saying = threading.Lock()
        self.stopping = False
        self.losses = 0
        self.changes = 0
        self.client = KazooClient(
            hosts=server,
            timeout=int(session_ms) / 1000,
            connection_retry=KazooRetry(max_tries=-1, max_delay=1),
        )
        self.client.add_listener(self.changed)
        # Each lock is one object for all time: after a failure it finds its own
        # znode again.
        if kind == "rw":
            self.locks = [
                (self.client.WriteLock(path), "w"),
                (self.client.ReadLock(path), "r"),
                (self.client.ReadLock(path), "r"),
            ]
        else:
            self.locks = [(self.client.Lock(path), "w")]

    # The time is taken inside: so the lines are in its order.
    def say(self, event):
        with self.saying:
            line = "%s %s %d\n" % (self.ident, event, time.monotonic_ns())
            os.write(self.log, line.encode())

    def changed(self, state):
        self.changes += 1
        if state == KazooState.SUSPENDED:
            self.say("S")
        elif state == KazooState.LOST:
            self.losses += 1
            if not self.stopping:
                self.say("X")
        else:
            self.say("C")

    # Until its time has come, or the session is lost.
    def work(self, lost):
        end = time.monotonic() + random.uniform(0.002, 0.022)
        while self.losses == lost and (
            time.monotonic() < end or os.path.exists(self.hold)
        ):
            time.sleep(0.002)

    # True if the lock's znode is surely gone.
    def once(self, lock, grant):
        changes, lost = self.changes, self.losses
        # A ReadLock may wait for a writer that waits for it, and acquire()'s own
        # timeout begins anew each time that a writer comes or goes.
        timer = threading.Timer(0.6 if grant == "r" else 1.5, lock.cancel)
        timer.start()
        try:
            if not lock.acquire():
                return False
        except CancelledError:
            return changes == self.changes
        except Exception:
            time.sleep(0.05)
            return False
        finally:
            timer.cancel()
        self.say(grant)
        self.work(lost)
        self.say("E")
        while True:
            try:
                lock.release()
                return True
            except Exception:
                if self.stopping:
                    return False
                time.sleep(0.05)

    def run(self):
        while not self.client.connected and not self.stopping:
            try:
                self.client.start(timeout=20)
            except Exception:
                pass
        while not self.stopping:
            lock, grant = random.choice(self.locks)
            while not self.once(lock, grant) and not self.stopping:
                pass

    def read_to_end(self):
        sys.stdin.read()
        self.stopping = True


def main():
    fleet = Fleet(*sys.argv[1:])
    threading.Thread(target=fleet.read_to_end, daemon=True).start()
    fleet.run()
    fleet.client.stop()
    sys.stdout.flush()
    os._exit(0)


main()
