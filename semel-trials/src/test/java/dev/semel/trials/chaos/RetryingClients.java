package dev.semel.trials.chaos;

import dev.semel.trials.chaos.checks.ClientRecord;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.LockSupport;

/**
 * Clients with keys who ask again: where no answer came, at another worker; where one came, now and then for no reason;
 * and several at once with the same key. Some hang up before the answer is there. All they learn stands in the ledger.
 */
final class RetryingClients {
    private static final int CLIENTS = 14;
    private static final int AT_ONCE = 6;
    private static final int TIMEOUT_MILLIS = 4_000;
    private static final int SHARED_KEYS = 3;
    private static final int ROUNDS_THAT_SHARE = 6;

    private final WorkerProcesses workers;
    private final long seed;
    private final ConcurrentLinkedQueue<ClientRecord> ledger = new ConcurrentLinkedQueue<>();
    private final List<Thread> threads = new ArrayList<>();
    private volatile boolean stopped;

    RetryingClients(WorkerProcesses workers, long seed) {
        this.workers = workers;
        this.seed = seed;
    }

    List<ClientRecord> ledger() {
        return List.copyOf(ledger);
    }

    void start() {
        for (int i = 0; i < CLIENTS; i++) {
            int number = i;
            threads.add(Thread.ofVirtual().start(() -> live(number)));
        }
    }

    void stop() throws InterruptedException {
        stopped = true;
        for (Thread thread : threads) {
            thread.join();
        }
    }

    private void live(int number) {
        Random random = new Random(seed * 31 + number);
        List<String[]> own = new ArrayList<>();
        for (int i = 0; !stopped; i++) {
            String key = "k" + number + "-" + i;
            switch (random.nextInt(10)) {
                case 0 -> atOnce(task(key, i, random), random);
                case 1 -> letGo(new String[] {"start", "plain", "r" + number + "-" + i, "answers", "-", "0"}, random);
                default -> {
                    String[] task = task(key, i, random);
                    own.add(task);
                    persist(task, random);
                }
            }
            if (!own.isEmpty() && random.nextInt(3) > 0) {
                once(own.get(random.nextInt(own.size())), random);
            }
            LockSupport.parkNanos(Duration.ofMillis(60 + random.nextInt(240)).toNanos());
        }
    }

    private static String[] task(String key, int round, Random random) {
        String flow = switch (random.nextInt(10)) {
            case 0, 1 -> "asking";
            case 2, 3 -> "sharing";
            case 4 -> "plain";
            default -> "order";
        };
        String manners = switch (random.nextInt(10)) {
            case 0 -> "resets-1";
            case 1 -> "drops-1";
            default -> "answers";
        };
        String shared = "s" + round / ROUNDS_THAT_SHARE + "-" + random.nextInt(SHARED_KEYS);
        // What several runs share is treated alike, whoever comes first.
        return new String[] {
            "start",
            flow,
            key,
            flow.equals("sharing") ? "answers" : manners,
            shared,
            Integer.toString(50 + random.nextInt(2_000))
        };
    }

    /** Asks until it is answered, as a client does that wants its run. */
    private void persist(String[] task, Random random) {
        while (!stopped && once(task, random).outcome() != ClientRecord.Outcome.OK) {
            LockSupport.parkNanos(Duration.ofMillis(50).toNanos());
        }
    }

    private void atOnce(String[] task, Random random) {
        List<Thread> crowd = new ArrayList<>();
        for (int i = 0; i < AT_ONCE; i++) {
            Random own = new Random(random.nextLong());
            crowd.add(Thread.ofVirtual().start(() -> once(task, own)));
        }
        try {
            for (Thread thread : crowd) {
                thread.join();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** A key of this client alone: started, let go, started again. */
    private void letGo(String[] task, Random random) {
        persist(task, random);
        ClientRecord released;
        do {
            released = ask(ClientRecord.RequestKind.RELEASE, task[2], "release\t" + task[2], random);
        } while (!stopped && released.outcome() != ClientRecord.Outcome.OK);
        persist(task, random);
    }

    private ClientRecord once(String[] task, Random random) {
        return ask(ClientRecord.RequestKind.START, task[2], String.join("\t", task), random);
    }

    /** A person who looked at the receiver and says how it was. */
    ClientRecord decide(String key, String line, Random random) {
        return ask(ClientRecord.RequestKind.DECIDE, key, line, random);
    }

    /** A person who sees that a run was held, and lets it go on. */
    ClientRecord goOn(String key, String run, Random random) {
        return ask(ClientRecord.RequestKind.GO_ON, key, "go on\t" + run, random);
    }

    private ClientRecord ask(ClientRecord.RequestKind ask, String key, String line, Random random) {
        WorkerProcess worker = workers.any(random);
        long at = WorkerProcesses.micros();
        boolean hangsUp = ask == ClientRecord.RequestKind.START && random.nextInt(20) == 0;
        ClientRecord clientRecord;
        int port = worker.port();
        try {
            String[] words = port == 0 ? new String[] {"no", "no source"} : send(port, line, hangsUp);
            boolean ok = words[0].equals("ok");
            String run = ok && ask == ClientRecord.RequestKind.START ? words[1] : "";
            clientRecord = new ClientRecord(
                    at,
                    worker.name(),
                    ask,
                    key,
                    ok ? ClientRecord.Outcome.OK : ClientRecord.Outcome.NO,
                    run,
                    ok && words.length > 2 && words[2].equals("true"),
                    words[1]);
        } catch (IOException e) {
            clientRecord = new ClientRecord(
                    at,
                    worker.name(),
                    ask,
                    key,
                    ClientRecord.Outcome.UNKNOWN,
                    "",
                    false,
                    String.valueOf(e.getMessage()));
        }
        ledger.add(clientRecord);
        return clientRecord;
    }

    private static String[] send(int port, String line, boolean hangsUp) throws IOException {
        try (Socket socket = new Socket()) {
            socket.setSoTimeout(TIMEOUT_MILLIS);
            socket.connect(new InetSocketAddress("127.0.0.1", port), TIMEOUT_MILLIS);
            socket.getOutputStream().write((line + "\n").getBytes(StandardCharsets.UTF_8));
            if (hangsUp) {
                throw new IOException("hung up");
            }
            String answer = new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8))
                    .readLine();
            if (answer == null) {
                throw new IOException("the answer was cut");
            }
            return answer.split("\t", -1);
        }
    }
}
