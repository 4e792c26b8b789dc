/*
 * Curator's side of tests/real/test_queue_others.c: it takes one command on each
 * line of its standard input, and answers each in a line.
 *
 *   put KIND PATH TEXT   puts an item; "OK"
 *   take KIND PATH MS    takes an item, waiting at most so long; its text, or
 *                        "NONE"
 *
 * The kinds are Curator's queues, as their users write them.
 */
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.queue.DistributedPriorityQueue;
import org.apache.curator.framework.recipes.queue.DistributedQueue;
import org.apache.curator.framework.recipes.queue.QueueBuilder;
import org.apache.curator.framework.recipes.queue.QueueConsumer;
import org.apache.curator.framework.recipes.queue.QueueSerializer;
import org.apache.curator.framework.recipes.queue.SimpleDistributedQueue;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.curator.retry.RetryOneTime;

public class PeerQueues {
    static class Text implements QueueSerializer<String> {
        @Override
        public byte[] serialize(String text) {
            return text.getBytes(StandardCharsets.UTF_8);
        }

        @Override
        public String deserialize(byte[] bytes) {
            return new String(bytes, StandardCharsets.UTF_8);
        }
    }

    static class Taker implements QueueConsumer<String> {
        final LinkedBlockingQueue<String> taken = new LinkedBlockingQueue<>();

        @Override
        public void consumeMessage(String text) {
            taken.add(text);
        }

        @Override
        public void stateChanged(CuratorFramework client, ConnectionState s) {}
    }

    final CuratorFramework client;

    PeerQueues(String server) throws Exception {
        client = CuratorFrameworkFactory.newClient(server, 30000, 10000,
                                                   new RetryOneTime(100));
        client.start();
        client.blockUntilConnected();
    }

    QueueBuilder<String> builder(Taker taker, String path) {
        return QueueBuilder.builder(client, taker, new Text(), path);
    }

    void put(String kind, String path, String text) throws Exception {
        switch (kind) {
        case "queue":
            try (DistributedQueue<String> q =
                     builder(null, path).buildQueue()) {
                q.start();
                q.put(text);
                q.flushPuts(30, TimeUnit.SECONDS);
            }
            break;
        case "priority":
            try (DistributedPriorityQueue<String> q =
                     builder(null, path).buildPriorityQueue(1)) {
                q.start();
                q.put(text, 7);
                q.flushPuts(30, TimeUnit.SECONDS);
            }
            break;
        case "simple":
            new SimpleDistributedQueue(client, path)
                .offer(text.getBytes(StandardCharsets.UTF_8));
            break;
        default:
            throw new IllegalArgumentException(kind);
        }
    }

    String take(String path, long ms) throws Exception {
        Taker taker = new Taker();

        try (DistributedQueue<String> q = builder(taker, path).buildQueue()) {
            q.start();
            String text = taker.taken.poll(ms, TimeUnit.MILLISECONDS);
            return text == null ? "NONE" : text;
        }
    }

    String obey(String[] w) throws Exception {
        switch (w[0]) {
        case "put":
            put(w[1], w[2], w[3]);
            return "OK";
        case "take":
            return take(w[2], Long.parseLong(w[3]));
        default:
            throw new IllegalArgumentException(String.join(" ", w));
        }
    }

    public static void main(String[] args) throws Exception {
        PeerQueues peer = new PeerQueues(args[0]);
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
