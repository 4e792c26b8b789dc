#!/usr/bin/python3
"""Kazoo's side of the benchmark: locks by its Lock recipe, as its users write
it.  The commands and answers are those of PeerCurator.java.

What is done to be fair to Kazoo: one process and one client live through all
rounds; the directories exist, so that making sure of one is a single question;
threads are made before the clock starts.  A process runs Python on one
processor at a time, as a program with Kazoo does.
"""
import os
import resource
import sys
import threading
import time
import traceback

from kazoo.client import KazooClient
from kazoo.recipe.cache import TreeCache, TreeEvent


def cpu():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def fail():
    """There is no figure without each thread, so one ends the process."""
    traceback.print_exc()
    print("FAILED", sys.exc_info()[1], flush=True)
    os._exit(1)


class Peer:
    def __init__(self, server):
        self.client = KazooClient(hosts=server, timeout=30)
        self.client.start(timeout=30)
        self.threads = []

    def spawn(self, count, work):
        def guarded(index):
            try:
                work(index)
            except BaseException:
                fail()

        self.threads = [
            threading.Thread(target=guarded, args=(i,), daemon=True)
            for i in range(count)
        ]
        for thread in self.threads:
            thread.start()

    def join_all(self):
        for thread in self.threads:
            thread.join()

    def mkdirs(self, path, n):
        def work(index):
            for i in range(index, int(n), 50):
                self.client.ensure_path(f"{path}/{i}")

        self.spawn(50, work)
        self.join_all()

    def each(self, path, n, count):
        n, count, marks = int(n), int(count), []
        line = threading.Barrier(
            count, lambda: marks.append((time.monotonic(), cpu()))
        )

        def work(index):
            mine = []
            line.wait()
            for i in range(index, n, count):
                lock = self.client.Lock(f"{path}/{i}")
                lock.acquire()
                mine.append(lock)
            line.wait()
            for lock in mine:
                lock.release()
            line.wait()

        self.spawn(count, work)
        self.join_all()
        start, held, end = marks
        return held[0] - start[0], end[0] - held[0], end[1] - start[1]

    def all_items(self, n, count, queue_of, take):
        n, count, marks = int(n), int(count), []
        line = threading.Barrier(
            count, lambda: marks.append((time.monotonic(), cpu()))
        )

        def work(index):
            queue = queue_of()
            line.wait()
            for i in range(index, n, count):
                queue.put(bytes(100))
            line.wait()
            for i in range(index, n, count):
                take(queue)
            line.wait()

        self.spawn(count, work)
        self.join_all()
        start, held, end = marks
        return held[0] - start[0], end[0] - held[0], end[1] - start[1]

    def items(self, path, n, count):
        """By Queue, whose get() does not wait."""

        def take(queue):
            while queue.get() is None:
                pass

        return self.all_items(
            n, count, lambda: self.client.Queue(path), take
        )

    def claims(self, path, n, count):
        """By LockingQueue: get() claims an item, consume() finishes it."""

        def take(queue):
            queue.get()
            queue.consume()

        return self.all_items(
            n, count, lambda: self.client.LockingQueue(path), take
        )

    def members(self, path, n, count):
        """By Party, which checks the directory of each."""
        n, count, marks = int(n), int(count), []
        line = threading.Barrier(
            count, lambda: marks.append((time.monotonic(), cpu()))
        )

        def work(index):
            mine = [self.client.Party(path) for _ in range(index, n, count)]
            line.wait()
            for member in mine:
                member.join()
            line.wait()
            for member in mine:
                member.leave()
            line.wait()

        self.spawn(count, work)
        self.join_all()
        start, joined, end = marks
        return joined[0] - start[0], end[0] - joined[0], end[1] - start[1]

    def seats(self, path, n, count):
        n, count = int(n), int(count)
        begun, used = time.monotonic(), cpu()

        def work(index):
            for _ in range(index, n, count):
                with self.client.Semaphore(path, max_leases=10):
                    pass

        self.spawn(count, work)
        self.join_all()
        return time.monotonic() - begun, cpu() - used

    def counter(self, path, n, _):
        """In one thread: more would only refuse each other's writes."""
        counter = self.client.Counter(path)
        begun, used = time.monotonic(), cpu()
        for _ in range(int(n)):
            counter += 1
        return time.monotonic() - begun, cpu() - used

    def cache(self, path, n, _):
        whole = threading.Event()
        cache = TreeCache(self.client, path)

        def hear(event):
            if event.event_type == TreeEvent.INITIALIZED:
                whole.set()

        cache.listen(hear)
        begun, used = time.monotonic(), cpu()
        cache.start()
        whole.wait()
        answer = time.monotonic() - begun, cpu() - used
        if len(cache.get_children(path)) != int(n):
            raise ValueError("the cache is not whole")
        cache.close()
        return answer

    def hold(self, path):
        self.held = self.client.Lock(path)
        self.held.acquire()

    def queue(self, path, count):
        self.granted = []
        self.cpu_at_queue = cpu()

        def work(_):
            lock = self.client.Lock(path)
            lock.acquire()
            self.granted.append(time.monotonic())
            lock.release()

        self.spawn(int(count), work)

    def free(self):
        begun = time.monotonic()
        self.held.release()
        return (begun,)

    def join(self):
        self.join_all()
        return max(self.granted), cpu() - self.cpu_at_queue


def main():
    commands = (
        "mkdirs", "each", "items", "claims", "members", "seats", "counter",
        "cache", "hold", "queue", "free", "join",
    )
    peer = Peer(sys.argv[1])
    print("OK", flush=True)
    for line in sys.stdin:
        name, *args = line.split()
        if name not in commands:
            raise ValueError(line)
        figures = getattr(peer, name)(*args) or ()
        print("OK", *(f"{x:.6f}" for x in figures), flush=True)
    peer.client.stop()
    peer.client.close()


try:
    main()
except Exception:
    fail()
