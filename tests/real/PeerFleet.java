/*
 * Curator's worker of tests/real/test_dialect_fleet.c: it acquires, holds and
 * releases until its standard input ends.
 *
 *   PeerFleet SERVER PATH KIND LOG HOLD ID SESSION_MS
 *
 * KIND is "mutex" or "rw".  Each line of LOG is ID, an event and the time: the
 * events are those of the test.  While the file HOLD exists, a holder goes on.
 */
import java.io.File;
import java.io.FileOutputStream;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.curator.retry.ExponentialBackoffRetry;

public class PeerFleet {
    final String id;
    final FileOutputStream log;
    final File hold;
    final Random random = new Random();
    final CuratorFramework client;
    volatile boolean stopping;
    volatile int losses;

    PeerFleet(String[] args) throws Exception {
        id = args[5];
        log = new FileOutputStream(args[3], true);
        hold = new File(args[4]);
        client = CuratorFrameworkFactory.newClient(
            args[0], Integer.parseInt(args[6]), 2000,
            new ExponentialBackoffRetry(50, 4));
        client.getConnectionStateListenable().addListener(
            (c, state) -> changed(state));
        client.start();
    }

    /* The time is taken inside: so the lines are in its order. */
    synchronized void say(char event) {
        try {
            log.write((id + " " + event + " " + System.nanoTime() + "\n")
                          .getBytes());
        } catch (java.io.IOException e) {
            Runtime.getRuntime().halt(1);
        }
    }

    void changed(ConnectionState state) {
        switch (state) {
        case SUSPENDED:
            say('S');
            break;
        case LOST:
            losses++;
            say('X');
            break;
        default:
            say('C');
            break;
        }
    }

    /* Until its time has come, or the session is lost. */
    void work(int lost) throws InterruptedException {
        long end = System.nanoTime() + (2 + random.nextInt(20)) * 1000000L;

        while (losses == lost && (System.nanoTime() < end || hold.exists()))
            Thread.sleep(2);
    }

    void once(InterProcessMutex lock, char grant) throws Exception {
        int lost = losses;

        if (!lock.acquire(1500, TimeUnit.MILLISECONDS))
            return;
        say(grant);
        try {
            work(lost);
        } finally {
            say('E');
            lock.release();
        }
    }

    void run(String path, boolean rw) throws Exception {
        InterProcessMutex mutex = new InterProcessMutex(client, path);
        InterProcessReadWriteLock both =
            new InterProcessReadWriteLock(client, path);

        while (!stopping) {
            try {
                if (!rw)
                    once(mutex, 'w');
                else if (random.nextInt(3) == 0)
                    once(both.writeLock(), 'w');
                else
                    once(both.readLock(), 'r');
            } catch (InterruptedException e) {
                throw e;
            } catch (Exception e) {
                Thread.sleep(50); /* No connection: Curator tidies up. */
            }
        }
    }

    public static void main(String[] args) throws Exception {
        PeerFleet peer = new PeerFleet(args);
        Thread end = new Thread(() -> {
            try {
                while (System.in.read() >= 0)
                    ;
            } catch (java.io.IOException e) {
                /* As its end. */
            }
            peer.stopping = true;
        });

        end.setDaemon(true);
        end.start();
        peer.run(args[1], args[2].equals("rw"));
        peer.client.close();
        System.exit(0);
    }
}
