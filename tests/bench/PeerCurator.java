/*
 * Curator's side of the benchmark: locks by InterProcessMutex, as its users
 * write it.  It takes commands on standard input and answers each in a line;
 * tests/bench/peers is the other end, and peer_kazoo.py speaks the same.
 *
 *   mkdirs DIR N         make DIR and DIR/0 .. DIR/N-1; "OK"
 *   each DIR N THREADS   acquire a lock in each of those, then release all;
 *                        "OK ACQUIRE_S RELEASE_S CPU_S"
 *   items DIR N THREADS  put so many items of 100 bytes into the queue DIR, then
 *                        take them all, by SimpleDistributedQueue; the same
 *                        answer
 *   members DIR N THREADS  join N members, by PersistentNode, then leave; the
 *                        same answer
 *   seats DIR N THREADS  acquire N times a lease of ten and give it back at
 *                        once, by InterProcessSemaphoreV2; "OK ALL_S CPU_S"
 *   counter DIR N THREADS  add one N times, by DistributedAtomicLong in one
 *                        thread; the same answer
 *   cache DIR N THREADS  copy DIR and its N children, by CuratorCache; the same
 *                        answer
 *   hold DIR             acquire the lock DIR; "OK"
 *   queue DIR THREADS    have that many threads acquire and release it; "OK"
 *   free                 release what hold took; "OK T"
 *   join                 wait for the queue's threads; "OK T_LAST CPU_S"
 *
 * T are seconds of CLOCK_MONOTONIC, which all processes of a machine share.
 *
 * To be fair to Curator: one process lives through all rounds, so
 * that the JVM is warm; its heap and its compiler are Java's defaults; the
 * directories exist, which spares it a refused create for each lock; threads
 * are made before the clock starts; every waiter has a mutex of its own, since
 * waiters that share one are all woken by each hand-over.
 */
import com.sun.management.OperatingSystemMXBean;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.atomic.DistributedAtomicLong;
import org.apache.curator.framework.recipes.cache.CuratorCache;
import org.apache.curator.framework.recipes.cache.CuratorCacheListener;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.framework.recipes.locks.Lease;
import org.apache.curator.framework.recipes.nodes.PersistentNode;
import org.apache.curator.framework.recipes.queue.SimpleDistributedQueue;
import org.apache.curator.retry.ExponentialBackoffRetry;
import org.apache.curator.retry.RetryNTimes;
import org.apache.zookeeper.CreateMode;

public class PeerCurator {
    interface Work {
        void run(int thread) throws Exception;
    }

    static final OperatingSystemMXBean os =
        (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

    final CuratorFramework client;
    final List<Thread> threads = new ArrayList<>();
    final AtomicLong last = new AtomicLong();
    InterProcessMutex held;
    double cpuAtQueue;

    PeerCurator(String server) throws Exception {
        client = CuratorFrameworkFactory.newClient(
            server, 30000, 10000, new ExponentialBackoffRetry(100, 3));
        client.start();
        client.blockUntilConnected();
    }

    /* On Linux nanoTime() is CLOCK_MONOTONIC. */
    static double now() {
        return System.nanoTime() / 1e9;
    }

    static double cpu() {
        return os.getProcessCpuTime() / 1e9;
    }

    static String text(String format, Object... values) {
        return String.format(Locale.ROOT, format, values);
    }

    /* A thread that fails ends the process: there is no figure without it. */
    void spawn(int count, Work work) {
        threads.clear();
        for (int i = 0; i < count; i++) {
            final int self = i;
            Thread thread = new Thread(() -> {
                try {
                    work.run(self);
                } catch (Throwable e) {
                    fail(e);
                }
            });
            threads.add(thread);
            thread.start();
        }
    }

    void joinAll() throws InterruptedException {
        for (Thread thread : threads)
            thread.join();
    }

    static void fail(Throwable e) {
        System.err.println("PeerCurator: " + e);
        System.out.println("FAILED " + e);
        System.out.flush();
        Runtime.getRuntime().halt(1);
    }

    String mkdirs(String dir, int n) throws Exception {
        spawn(Math.min(n, 50), self -> {
            for (int i = self; i < n; i += 50) {
                String path = dir + "/" + i;
                if (client.checkExists().forPath(path) == null)
                    client.create().creatingParentsIfNeeded().forPath(path);
            }
        });
        joinAll();
        return "OK";
    }

    /* Each thread has its share of the locks, and holds all of it at once. */
    String each(String dir, int n, int count) throws Exception {
        double[] wall = new double[3];
        double[] used = new double[3];
        int[] phase = {0};
        CyclicBarrier line = new CyclicBarrier(count, () -> {
            used[phase[0]] = cpu();
            wall[phase[0]++] = now();
        });

        spawn(count, self -> {
            List<InterProcessMutex> mine = new ArrayList<>();

            line.await();
            for (int i = self; i < n; i += count) {
                InterProcessMutex mutex =
                    new InterProcessMutex(client, dir + "/" + i);
                mutex.acquire();
                mine.add(mutex);
            }
            line.await();
            for (InterProcessMutex mutex : mine)
                mutex.release();
            line.await();
        });
        joinAll();
        return text("OK %.6f %.6f %.6f", wall[1] - wall[0], wall[2] - wall[1],
                    used[2] - used[0]);
    }

    String items(String dir, int n, int count) throws Exception {
        double[] wall = new double[3];
        double[] used = new double[3];
        int[] phase = {0};
        byte[] item = new byte[100];
        CyclicBarrier line = new CyclicBarrier(count, () -> {
            used[phase[0]] = cpu();
            wall[phase[0]++] = now();
        });

        spawn(count, self -> {
            SimpleDistributedQueue queue =
                new SimpleDistributedQueue(client, dir);

            line.await();
            for (int i = self; i < n; i += count)
                queue.offer(item);
            line.await();
            for (int i = self; i < n; i += count)
                queue.take();
            line.await();
        });
        joinAll();
        return text("OK %.6f %.6f %.6f", wall[1] - wall[0], wall[2] - wall[1],
                    used[2] - used[0]);
    }

    /* Each thread has its share of the members: they join in the background, so
     * that all are started before the first is awaited. */
    String members(String dir, int n, int count) throws Exception {
        double[] wall = new double[3];
        double[] used = new double[3];
        int[] phase = {0};
        CyclicBarrier line = new CyclicBarrier(count, () -> {
            used[phase[0]] = cpu();
            wall[phase[0]++] = now();
        });

        spawn(count, self -> {
            List<PersistentNode> mine = new ArrayList<>();

            line.await();
            for (int i = self; i < n; i += count) {
                PersistentNode member =
                    new PersistentNode(client, CreateMode.EPHEMERAL, false,
                                       dir + "/m-" + i, new byte[10]);
                member.start();
                mine.add(member);
            }
            for (PersistentNode member : mine)
                if (!member.waitForInitialCreate(60, TimeUnit.SECONDS))
                    throw new IllegalStateException("a member did not join");
            line.await();
            for (PersistentNode member : mine)
                member.close();
            line.await();
        });
        joinAll();
        return text("OK %.6f %.6f %.6f", wall[1] - wall[0], wall[2] - wall[1],
                    used[2] - used[0]);
    }

    String seats(String dir, int n, int count) throws Exception {
        double begun = now();
        double used = cpu();

        spawn(count, self -> {
            InterProcessSemaphoreV2 semaphore =
                new InterProcessSemaphoreV2(client, dir, 10);

            for (int i = self; i < n; i += count) {
                Lease lease = semaphore.acquire();
                semaphore.returnLease(lease);
            }
        });
        joinAll();
        return text("OK %.6f %.6f", now() - begun, cpu() - used);
    }

    /* More threads would only refuse each other's writes. */
    String counter(String dir, int n) throws Exception {
        DistributedAtomicLong counter =
            new DistributedAtomicLong(client, dir, new RetryNTimes(10, 0));
        double begun = now();
        double used = cpu();

        for (int i = 0; i < n; i++)
            if (!counter.increment().succeeded())
                throw new IllegalStateException("an addition was refused");
        return text("OK %.6f %.6f", now() - begun, cpu() - used);
    }

    String cache(String dir, int n) throws Exception {
        CountDownLatch whole = new CountDownLatch(1);
        CuratorCache cache = CuratorCache.build(client, dir);
        double begun = now();
        double used = cpu();
        String said;

        cache.listenable().addListener(
            CuratorCacheListener.builder()
                .forInitialized(whole::countDown)
                .build());
        cache.start();
        whole.await();
        said = text("OK %.6f %.6f", now() - begun, cpu() - used);
        if (cache.size() != n + 1)
            throw new IllegalStateException("the cache is not whole");
        cache.close();
        return said;
    }

    String hold(String dir) throws Exception {
        held = new InterProcessMutex(client, dir);
        held.acquire();
        return "OK";
    }

    String free() throws Exception {
        double begun = now();

        held.release();
        return text("OK %.6f", begun);
    }

    String queue(String dir, int count) {
        last.set(Long.MIN_VALUE);
        cpuAtQueue = cpu();
        spawn(count, self -> {
            InterProcessMutex mutex = new InterProcessMutex(client, dir);

            mutex.acquire();
            last.accumulateAndGet(System.nanoTime(), Math::max);
            mutex.release();
        });
        return "OK";
    }

    String join() throws InterruptedException {
        joinAll();
        return text("OK %.6f %.6f", last.get() / 1e9, cpu() - cpuAtQueue);
    }

    String obey(String[] w) throws Exception {
        switch (w[0]) {
        case "mkdirs":
            return mkdirs(w[1], Integer.parseInt(w[2]));
        case "each":
            return each(w[1], Integer.parseInt(w[2]), Integer.parseInt(w[3]));
        case "items":
            return items(w[1], Integer.parseInt(w[2]), Integer.parseInt(w[3]));
        case "members":
            return members(w[1], Integer.parseInt(w[2]),
                           Integer.parseInt(w[3]));
        case "seats":
            return seats(w[1], Integer.parseInt(w[2]), Integer.parseInt(w[3]));
        case "counter":
            return counter(w[1], Integer.parseInt(w[2]));
        case "cache":
            return cache(w[1], Integer.parseInt(w[2]));
        case "hold":
            return hold(w[1]);
        case "queue":
            return queue(w[1], Integer.parseInt(w[2]));
        case "free":
            return free();
        case "join":
            return join();
        default:
            throw new IllegalArgumentException(String.join(" ", w));
        }
    }

    public static void main(String[] args) {
        try {
            PeerCurator peer = new PeerCurator(args[0]);
            BufferedReader in =
                new BufferedReader(new InputStreamReader(System.in));
            String line;

            System.out.println("OK");
            while ((line = in.readLine()) != null)
                System.out.println(peer.obey(line.trim().split(" ")));
            peer.client.close();
        } catch (Exception e) {
            fail(e);
        }
    }
}
