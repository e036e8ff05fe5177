package dev.semel.server.api;

import dev.semel.runtime.SemelRuntime;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.server.http.HttpResponse;
import dev.semel.server.http.HttpRequest;
import dev.semel.server.http.Router;
import dev.semel.server.http.TokenScope;
import dev.semel.store.StoredRows;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/**
 * Streams run changes as server-sent events to the dashboard and `semel tail`. A stream starts with the newest runs,
 * so a client that reconnects misses none of those. One query per second serves all streams of a workspace.
 */
final class LiveUpdateStreams {
    private static final int MAX_STREAMS = 1_000;
    private static final int DEFAULT_SECONDS = 600;
    private static final long POLL_MILLIS = TimeUnit.SECONDS.toMillis(1);
    private static final long KEEP_ALIVE_NANOS = TimeUnit.SECONDS.toNanos(10);
    private static final byte[] KEEP_ALIVE = ": still here\n\n".getBytes(StandardCharsets.UTF_8);

    private final SemelRuntime semel;
    private final JsonViews views;
    private final ConcurrentHashMap<Integer, RunChangeFeed> feeds = new ConcurrentHashMap<>();
    private final AtomicInteger streams = new AtomicInteger();
    private final Object stopMonitor = new Object();
    private volatile boolean over;

    LiveUpdateStreams(SemelRuntime semel, JsonViews views) {
        this.semel = semel;
        this.views = views;
    }

    void addTo(Router router) {
        router.add("GET", "/v1/tail", TokenScope.READ, this::streamAll)
                .add("GET", "/v1/runs/{run_id}/events", TokenScope.READ, this::streamRun);
    }

    /** Ends all streams, so that a server shutdown does not wait for them. */
    void endAll() {
        synchronized (stopMonitor) {
            over = true;
            stopMonitor.notifyAll();
        }
    }

    private HttpResponse streamAll(HttpRequest request) {
        long length = parseLength(request);
        RunChangeFeed feed = feeds.computeIfAbsent(request.principal().workspace(), ws -> new RunChangeFeed(semel, ws));
        countStream();
        return HttpResponse.stream("text/event-stream", out -> {
            try {
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
            } finally {
                streams.decrementAndGet();
            }
        });
    }

    /** Streams one run until it ends. */
    private HttpResponse streamRun(HttpRequest request) {
        long length = parseLength(request);
        StoredRows.RunRow first = views.findRun(request.principal(), request.parameter("run_id"));
        return watch(length, "run", () -> {
            ObjectNode now = runState(first);
            return new ResourceSnapshot(now, now.path("ended").asBoolean(false));
        });
    }

    /** The state of a watched resource; {@code over}: it will not change any more. */
    record ResourceSnapshot(ObjectNode state, boolean ended) {}

    /** The requested duration of a stream, in nanoseconds. Default: 600 seconds. */
    long parseLength(HttpRequest request) {
        String text = request.query("seconds");
        if (text == null) {
            return TimeUnit.SECONDS.toNanos(DEFAULT_SECONDS);
        }
        if (!text.matches("[1-9][0-9]{0,3}")) {
            throw PagingParameters.invalidQuery("seconds must be a whole number from 1 to 9999");
        }
        return TimeUnit.SECONDS.toNanos(Integer.parseInt(text));
    }

    /** Streams a resource on every change until it is over; null: it no longer exists. */
    HttpResponse watch(long length, String kind, Supplier<@Nullable ResourceSnapshot> look) {
        countStream();
        return HttpResponse.stream("text/event-stream", out -> {
            try {
                long until = semel.nanos() + length;
                long lastSent = begin(out);
                ObjectNode last = JsonViews.newObject();
                ResourceSnapshot seen = look.get();
                while (seen != null && !over && semel.nanos() - until < 0) {
                    boolean same = seen.state().equals(last);
                    if (!same) {
                        out.write(RunChangeFeed.serverSentEvent(kind, seen.state()).getBytes(StandardCharsets.UTF_8));
                    }
                    lastSent = keepAlive(out, lastSent, same);
                    last = seen.state();
                    if (seen.ended()) {
                        return;
                    }
                    pause();
                    seen = look.get();
                }
            } finally {
                streams.decrementAndGet();
            }
        });
    }

    private ObjectNode runState(StoredRows.RunRow first) {
        StoredRows.RunRow run = semel.view(reads -> reads.run(first.ws(), first.id()));
        if (run == null) {
            return JsonViews.newObject()
                    .put("run_id", first.runIdText())
                    .put("status", "deleted")
                    .put("ended", true);
        }
        List<String> chunks = semel.view(
                reads -> reads.journal(run.id()).stream().map(chunk -> "").toList());
        return RunChangeFeed.runEvent(run, semel.version(run.workflowId(), run.version()).name())
                .put("recorded", chunks == null ? 0 : chunks.size())
                .put("ended", run.end() != null);
    }

    private void countStream() {
        if (streams.incrementAndGet() > MAX_STREAMS) {
            streams.decrementAndGet();
            throw new SemelException(
                    ErrorCode.OVERLOADED,
                    "This server has reached its limit of " + MAX_STREAMS + " open streams. It did not open this one.",
                    "Close other streams or retry in a moment. GET /v1/runs lists the same runs.");
        }
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
        if (quiet && now - lastSent < KEEP_ALIVE_NANOS) {
            return lastSent;
        }
        if (quiet) {
            out.write(KEEP_ALIVE);
        }
        out.flush();
        return now;
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
