package dev.semel.server.operations.run;

import dev.semel.runtime.SemelRuntime;
import dev.semel.server.http.Principal;
import dev.semel.server.http.ServerHttpRequest;
import dev.semel.server.http.ServerHttpResponse;
import dev.semel.server.http.TokenScope;
import dev.semel.server.operations.ApiRouter;
import dev.semel.server.query.ApiErrors;
import dev.semel.server.query.RunJsonRenderer;
import dev.semel.server.query.StoreReader;
import dev.semel.store.DatabaseRows;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/**
 * Streams run changes as server-sent events to the dashboard and `semel tail`. A stream starts with the newest runs,
 * so a client that reconnects misses none of those. One query per second serves all streams of a workspace.
 */
public final class RunUpdateStreamRoutes {
    private static final int DEFAULT_SECONDS = 600;
    private static final long POLL_MILLIS = TimeUnit.SECONDS.toMillis(1);
    private static final long KEEP_ALIVE_NANOS = TimeUnit.SECONDS.toNanos(10);
    private static final byte[] KEEP_ALIVE = ": keep-alive\n\n".getBytes(StandardCharsets.UTF_8);

    private final SemelRuntime semel;
    private final RunJsonRenderer views;
    private final ConcurrentHashMap<Integer, RunChangeFeed> feeds = new ConcurrentHashMap<>();
    private final OpenStreamLimit streams = new OpenStreamLimit();
    private final Object stopMonitor = new Object();
    private volatile boolean over;

    public RunUpdateStreamRoutes(SemelRuntime semel, RunJsonRenderer views) {
        this.semel = semel;
        this.views = views;
    }

    public void addTo(ApiRouter router) {
        router.get("/v1/tail", TokenScope.READ, this::streamAll)
                .get("/v1/runs/{run_id}/events", TokenScope.READ, this::streamRun);
    }

    /** Ends all streams, so that a server shutdown does not wait for them. */
    public void endAll() {
        synchronized (stopMonitor) {
            over = true;
            stopMonitor.notifyAll();
        }
    }

    private ServerHttpResponse streamAll(ServerHttpRequest request) {
        long length = parseLength(request);
        RunChangeFeed feed = feeds.computeIfAbsent(request.principal().workspace(), ws -> new RunChangeFeed(semel, ws));
        return limited(request.principal(), out -> {
            long until = semel.nanos() + length;
            long lastSent = begin(out);
            long from = -1;
            while (!over && semel.nanos() - until < 0) {
                RunChangeFeed.FeedUpdate news = feed.updateSince(from);
                out.write(news.text());
                from = news.lastNumber();
                lastSent = keepAlive(out, lastSent, news.text().length == 0);
                pause();
            }
        });
    }

    /** Streams one run until it ends. */
    private ServerHttpResponse streamRun(ServerHttpRequest request) {
        long length = parseLength(request);
        DatabaseRows.RunRow first = views.findRun(request.principal(), request.parameter("run_id"));
        return watch(request.principal(), length, "run", () -> {
            ObjectNode now = runState(first);
            return new ResourceSnapshot(now, now.path("ended").asBoolean(false));
        });
    }

    /** The state of a watched resource; {@code over}: it will not change any more. */
    public record ResourceSnapshot(ObjectNode state, boolean ended) {}

    /** The requested duration of a stream, in nanoseconds. Default: 600 seconds. */
    public long parseLength(ServerHttpRequest request) {
        String text = request.query("seconds");
        if (text == null) {
            return TimeUnit.SECONDS.toNanos(DEFAULT_SECONDS);
        }
        if (!text.matches("[1-9][0-9]{0,3}")) {
            throw ApiErrors.invalidQuery("seconds must be a whole number from 1 to 9999");
        }
        return TimeUnit.SECONDS.toNanos(Integer.parseInt(text));
    }

    /** Streams a resource on every change until it is over; null: it no longer exists. */
    public ServerHttpResponse watch(
            Principal caller, long length, String kind, Supplier<@Nullable ResourceSnapshot> look) {
        return limited(caller, out -> {
            long until = semel.nanos() + length;
            long lastSent = begin(out);
            ObjectNode last = RunJsonRenderer.newObject();
            ResourceSnapshot resourceSnapshot = look.get();
            while (resourceSnapshot != null && !over && semel.nanos() - until < 0) {
                boolean same = resourceSnapshot.state().equals(last);
                if (!same) {
                    out.write(RunChangeFeed.serverSentEvent(kind, resourceSnapshot.state())
                            .getBytes(StandardCharsets.UTF_8));
                }
                lastSent = keepAlive(out, lastSent, same);
                last = resourceSnapshot.state();
                if (resourceSnapshot.ended()) {
                    return;
                }
                pause();
                resourceSnapshot = look.get();
            }
        });
    }

    /** A stream that counts while it is written. */
    private ServerHttpResponse limited(Principal caller, ServerHttpResponse.BodyWriter stream) {
        streams.check(caller);
        return ServerHttpResponse.stream("text/event-stream", out -> {
            if (streams.tryOpen(caller)) {
                try {
                    stream.writeTo(out);
                } finally {
                    streams.close(caller);
                }
            }
        });
    }

    private ObjectNode runState(DatabaseRows.RunRow first) {
        DatabaseRows.RunRow run = semel.view(reads -> reads.run(first.ws(), first.id()));
        if (run == null) {
            return RunJsonRenderer.newObject()
                    .put("run_id", first.runIdText())
                    .put("status", "deleted")
                    .put("ended", true);
        }
        int chunks = StoreReader.read(semel, reads -> reads.journalLength(run.id()));
        return RunChangeFeed.runEvent(
                        run, semel.version(run.workflowId(), run.version()).name())
                .put("recorded", chunks)
                .put("ended", run.end() != null);
    }

    /** Sends the response head at once, even if there is no event yet. */
    private long begin(OutputStream out) throws IOException {
        out.write(KEEP_ALIVE);
        out.flush();
        return semel.nanos();
    }

    /** Sends a keep-alive, so that each side detects a lost connection. Returns the time of the last one. */
    private long keepAlive(OutputStream out, long lastSent, boolean quiet) throws IOException {
        long now = semel.nanos();
        boolean due = now - lastSent >= KEEP_ALIVE_NANOS;
        if (quiet && due) {
            out.write(KEEP_ALIVE);
        }
        // Also without an event: every flush checks that the credential of the stream is still valid.
        out.flush();
        return quiet && !due ? lastSent : now;
    }

    private void pause() throws IOException {
        synchronized (stopMonitor) {
            try {
                if (!over) {
                    stopMonitor.wait(POLL_MILLIS);
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IOException("the connection thread was interrupted", e);
            }
        }
    }
}
