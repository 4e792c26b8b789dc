/*
 * Curator's side of tests/real/test_lock_libraries.c: it takes one command on
 * each line of its standard input, and answers each in a line.
 *
 *   ask KIND PATH   begin to acquire; "OK"
 *   got MS          wait at most so long for what was asked: "YES", or "NO"
 *   free            give back what was asked for, acquired or not; "OK"
 *
 * One thing is asked for at a time.  The kinds are Curator's recipes, as their
 * users write them.
 */
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.barriers.DistributedBarrier;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.framework.recipes.leader.LeaderSelector;
import org.apache.curator.framework.recipes.leader.LeaderSelectorListenerAdapter;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.framework.recipes.locks.Lease;
import org.apache.curator.retry.RetryOneTime;

public class PeerLocks {
    final CuratorFramework client;
    final Semaphore release = new Semaphore(0);
    CountDownLatch got, done;
    Thread worker;

    PeerLocks(String server) throws Exception {
        client = CuratorFrameworkFactory.newClient(server, 30000, 10000,
                                                   new RetryOneTime(100));
        client.start();
        client.blockUntilConnected();
    }

    void hold() throws InterruptedException {
        got.countDown();
        release.acquire();
    }

    void mutex(InterProcessMutex lock) throws Exception {
        lock.acquire();
        try {
            hold();
        } finally {
            lock.release();
        }
    }

    void latch(String path) throws Exception {
        try (LeaderLatch latch = new LeaderLatch(client, path)) {
            latch.start();
            latch.await();
            hold();
        }
    }

    void selector(String path) throws Exception {
        LeaderSelectorListenerAdapter leader =
            new LeaderSelectorListenerAdapter() {
                @Override
                public void takeLeadership(CuratorFramework c)
                    throws Exception {
                    hold();
                    done.countDown();
                }
            };

        done = new CountDownLatch(1);
        try (LeaderSelector selector =
                 new LeaderSelector(client, path, leader)) {
            selector.start();
            done.await();
            while (selector.hasLeadership())
                Thread.onSpinWait();
        }
    }

    void lease(String path) throws Exception {
        InterProcessSemaphoreV2 all =
            new InterProcessSemaphoreV2(client, path, 1);
        Lease lease = all.acquire();

        try {
            hold();
        } finally {
            all.returnLease(lease);
        }
    }

    void barrierSet(String path) throws Exception {
        DistributedBarrier barrier = new DistributedBarrier(client, path);

        barrier.setBarrier();
        hold();
        barrier.removeBarrier();
    }

    void barrier(String path) throws Exception {
        new DistributedBarrier(client, path).waitOnBarrier();
        hold();
    }

    void acquire(String kind, String path) throws Exception {
        switch (kind) {
        case "mutex":
            mutex(new InterProcessMutex(client, path));
            break;
        case "write":
            mutex(new InterProcessReadWriteLock(client, path).writeLock());
            break;
        case "read":
            mutex(new InterProcessReadWriteLock(client, path).readLock());
            break;
        case "latch":
            latch(path);
            break;
        case "selector":
            selector(path);
            break;
        case "lease":
            lease(path);
            break;
        case "barrier-set":
            barrierSet(path);
            break;
        case "barrier":
            barrier(path);
            break;
        default:
            throw new IllegalArgumentException(kind);
        }
    }

    String ask(String kind, String path) {
        release.drainPermits();
        got = new CountDownLatch(1);
        worker = new Thread(() -> {
            try {
                acquire(kind, path);
            } catch (InterruptedException e) {
                return; /* Given up before it was acquired. */
            } catch (Exception e) {
                e.printStackTrace();
                Runtime.getRuntime().halt(1);
            }
        });
        worker.start();
        return "OK";
    }

    String free() throws InterruptedException {
        if (got.getCount() > 0)
            worker.interrupt();
        release.release();
        worker.join();
        return "OK";
    }

    String obey(String[] w) throws Exception {
        switch (w[0]) {
        case "ask":
            return ask(w[1], w[2]);
        case "got":
            return got.await(Long.parseLong(w[1]), TimeUnit.MILLISECONDS)
                ? "YES"
                : "NO";
        case "free":
            return free();
        default:
            throw new IllegalArgumentException(String.join(" ", w));
        }
    }

    public static void main(String[] args) throws Exception {
        PeerLocks peer = new PeerLocks(args[0]);
        BufferedReader in =
            new BufferedReader(new InputStreamReader(System.in));
        String line;

        System.out.println("OK");
        while ((line = in.readLine()) != null)
            System.out.println(peer.obey(line.trim().split(" ")));
        peer.client.close();
        System.exit(0);
    }
}
