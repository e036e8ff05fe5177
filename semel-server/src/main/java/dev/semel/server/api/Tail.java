package dev.semel.server.api;

import dev.semel.Semel;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.server.http.Answer;
import dev.semel.server.http.Request;
import dev.semel.server.http.Router;
import dev.semel.server.http.Scope;
import dev.semel.store.Rows;
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
 * What happens, as it happens, for pages and `tail`: server-sent events. A stream begins with the newest runs as they
 * stand and goes on with each that comes or changes, so whoever lost the connection just asks again and misses nothing
 * of those. The store is looked at once a second for all listeners of a workspace together.
 */
final class Tail {
    private static final int MOST_LISTENERS = 1_000;
    private static final int USUAL_SECONDS = 600;
    private static final long LOOK_EVERY = TimeUnit.SECONDS.toMillis(1);
    private static final long SIGN_OF_LIFE = TimeUnit.SECONDS.toNanos(10);
    private static final byte[] STILL_HERE = ": still here\n\n".getBytes(StandardCharsets.UTF_8);

    private final Semel semel;
    private final Views views;
    private final ConcurrentHashMap<Integer, Feed> feeds = new ConcurrentHashMap<>();
    private final AtomicInteger listeners = new AtomicInteger();
    private final Object bell = new Object();
    private volatile boolean over;

    Tail(Semel semel, Views views) {
        this.semel = semel;
        this.views = views;
    }

    void addTo(Router router) {
        router.add("GET", "/v1/tail", Scope.READ, this::all)
                .add("GET", "/v1/runs/{run_id}/events", Scope.READ, this::one);
    }

    /** Ends all streams: a server that stops does not wait for them. */
    void end() {
        synchronized (bell) {
            over = true;
            bell.notifyAll();
        }
    }

    private Answer all(Request request) {
        long length = length(request);
        Feed feed = feeds.computeIfAbsent(request.principal().workspace(), ws -> new Feed(semel, ws));
        enter();
        return Answer.stream("text/event-stream", out -> {
            try {
                long until = semel.nanos() + length;
                long signed = begin(out);
                long from = -1;
                while (!over && semel.nanos() - until < 0) {
                    Feed.News news = feed.since(from);
                    out.write(news.text());
                    from = news.upTo();
                    signed = sign(out, signed, news.text().length == 0);
                    pause();
                }
            } finally {
                listeners.decrementAndGet();
            }
        });
    }

    /** One run until it has ended. */
    private Answer one(Request request) {
        long length = length(request);
        Rows.Run first = views.find(request.principal(), request.parameter("run_id"));
        return watch(length, "run", () -> {
            ObjectNode now = stand(first);
            return new Seen(now, now.path("ended").asBoolean(false));
        });
    }

    /** How something stands that is looked at again and again; {@code over}: it will not change any more. */
    record Seen(ObjectNode now, boolean over) {}

    /** The usual length of a stream, or the one that was asked for. */
    long length(Request request) {
        String text = request.query("seconds");
        if (text == null) {
            return TimeUnit.SECONDS.toNanos(USUAL_SECONDS);
        }
        if (!text.matches("[1-9][0-9]{0,3}")) {
            throw Paging.refused("seconds is a whole number from 1 to 9999");
        }
        return TimeUnit.SECONDS.toNanos(Integer.parseInt(text));
    }

    /** Tells how something stands whenever that has changed, until it is over; null: it is gone. */
    Answer watch(long length, String kind, Supplier<@Nullable Seen> look) {
        enter();
        return Answer.stream("text/event-stream", out -> {
            try {
                long until = semel.nanos() + length;
                long signed = begin(out);
                ObjectNode last = Views.object();
                Seen seen = look.get();
                while (seen != null && !over && semel.nanos() - until < 0) {
                    boolean same = seen.now().equals(last);
                    if (!same) {
                        out.write(Feed.text(kind, seen.now()).getBytes(StandardCharsets.UTF_8));
                    }
                    signed = sign(out, signed, same);
                    last = seen.now();
                    if (seen.over()) {
                        return;
                    }
                    pause();
                    seen = look.get();
                }
            } finally {
                listeners.decrementAndGet();
            }
        });
    }

    private ObjectNode stand(Rows.Run first) {
        Rows.Run run = semel.view(reads -> reads.run(first.ws(), first.id()));
        if (run == null) {
            return Views.object()
                    .put("run_id", first.runIdText())
                    .put("status", "deleted")
                    .put("ended", true);
        }
        List<String> chunks = semel.view(
                reads -> reads.journal(run.id()).stream().map(chunk -> "").toList());
        return Feed.event(run, semel.version(run.workflowId(), run.version()).name())
                .put("recorded", chunks == null ? 0 : chunks.size())
                .put("ended", run.end() != null);
    }

    private void enter() {
        if (listeners.incrementAndGet() > MOST_LISTENERS) {
            listeners.decrementAndGet();
            throw new SemelException(
                    ErrorCode.OVERLOADED,
                    "There are " + MOST_LISTENERS + " open streams at this server. This one was not opened.",
                    "Close some, or ask again in a moment; lists tell the same at GET /v1/runs.");
        }
    }

    /** The head goes out at once, also where there is nothing to tell yet. */
    private long begin(OutputStream out) throws IOException {
        out.write(STILL_HERE);
        out.flush();
        return semel.nanos();
    }

    /** So that either side sees that the other one is gone. Answers when the last sign was given. */
    private long sign(OutputStream out, long signed, boolean quiet) throws IOException {
        long now = semel.nanos();
        if (quiet && now - signed < SIGN_OF_LIFE) {
            return signed;
        }
        if (quiet) {
            out.write(STILL_HERE);
        }
        out.flush();
        return now;
    }

    private void pause() throws IOException {
        synchronized (bell) {
            try {
                if (!over) {
                    bell.wait(LOOK_EVERY);
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IOException("the thread of the connection was interrupted", e);
            }
        }
    }
}
