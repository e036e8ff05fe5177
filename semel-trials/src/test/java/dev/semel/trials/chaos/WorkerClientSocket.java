package dev.semel.trials.chaos;

import dev.semel.error.SemelException;
import dev.semel.runtime.IdempotencyKeyReleaser;
import dev.semel.runtime.RunHandle;
import dev.semel.runtime.SemelRuntime;
import dev.semel.store.StoreWriteCommand;
import dev.semel.workflow.Start;
import dev.semel.workflow.Workflow;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * What clients of a worker speak with: one line each way, tabs between the words. A source of its own, because the server
 * does not know workflows in Java; what is behind it is the same admission.
 */
final class WorkerClientSocket implements AutoCloseable {
    private final SemelRuntime semel;
    private final ChaosChild.WorkerConfig life;
    private final TamperingDataSource tampering;
    private final Map<String, Workflow<ChaosFlows.Task, String>> flows = new ConcurrentHashMap<>();
    private final Map<String, String> cache = new ConcurrentHashMap<>();
    private final ServerSocket socket;

    WorkerClientSocket(
            SemelRuntime semel, ChaosFlows flows, ChaosChild.WorkerConfig life, TamperingDataSource tampering)
            throws IOException {
        this.semel = semel;
        this.tampering = tampering;
        this.life = life;
        for (String name : List.of("order", "asking", "sharing", "plain")) {
            this.flows.put(name, flows.flow(name));
        }
        this.socket = new ServerSocket(0, 256, InetAddress.getLoopbackAddress());
    }

    int port() {
        return socket.getLocalPort();
    }

    void serve() {
        while (!socket.isClosed()) {
            try {
                Socket client = socket.accept();
                Thread.ofVirtual().start(() -> talk(client));
            } catch (IOException e) {
                return; // closed
            }
        }
    }

    private void talk(Socket client) {
        try (client;
                BufferedReader lines =
                        new BufferedReader(new InputStreamReader(client.getInputStream(), StandardCharsets.UTF_8))) {
            OutputStream out = client.getOutputStream();
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                out.write((answer(line.split("\t", -1)) + "\n").getBytes(StandardCharsets.UTF_8));
                out.flush();
            }
        } catch (IOException e) {
            System.err.println("a client is gone: " + e.getMessage());
        }
    }

    private String answer(String[] words) {
        try {
            return switch (words[0]) {
                case "start" -> start(words);
                case "release" -> "ok\t" + release(words[1]);
                case "decide" -> "ok\t" + decide(words);
                case "go on" ->
                    "ok\t" + semel.run(semel.testAccess().workspace(), words[1]).retryHeld("chaos", "a trial");
                default -> "no\tnobody knows " + words[0];
            };
        } catch (SemelException e) {
            return "no\t" + e.code().slug() + " " + ChaosChild.describe(e);
        } catch (RuntimeException e) {
            return "no\tinternal " + ChaosChild.describe(e);
        }
    }

    /** Words: start, flow, key, manners, shared, nap. */
    private String start(String[] words) {
        String key = words[2];
        String known = life.bug() == PlantedBug.CACHE_OUTLIVES_RELEASE ? cache.get(key) : null;
        if (known != null) {
            tampering.planted("cache");
            return "ok\t" + known + "\ttrue";
        }
        ChaosFlows.Task task = new ChaosFlows.Task(key, words[3], words[4], Integer.parseInt(words[5]));
        RunHandle<String> run = semel.start(flow(words[1]), task, Start.withKey(key));
        cache.put(key, run.id());
        return "ok\t" + run.id() + "\t" + run.replayed();
    }

    private Workflow<ChaosFlows.Task, String> flow(String name) {
        Workflow<ChaosFlows.Task, String> flow = flows.get(name);
        if (flow == null) {
            throw new IllegalArgumentException("no workflow is called " + name);
        }
        return flow;
    }

    private boolean release(String key) {
        int workspace = semel.testAccess().workspace();
        var held = semel.view(reads -> reads.keyRecords(workspace, key));
        return held != null
                && semel.change(IdempotencyKeyReleaser.of(
                        held, new StoreWriteCommand.ChangeAuthor(semel.newId(), "chaos", "a trial")));
    }

    /** Words: decide, run, step, whether it happened. */
    private boolean decide(String[] words) {
        RunHandle<String> run = semel.run(flow("asking"), words[1]);
        return words[3].equals("happened")
                ? run.confirmDone(words[2], "receipt-1", "chaos")
                : run.confirmNotDone(words[2], "chaos");
    }

    @Override
    public void close() {
        try {
            socket.close();
        } catch (IOException e) {
            System.err.println("the source does not close: " + e.getMessage());
        }
    }
}
