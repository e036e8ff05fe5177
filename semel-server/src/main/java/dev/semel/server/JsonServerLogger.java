package dev.semel.server;

import dev.semel.json.StrictJsonCodec;
import dev.semel.store.StoreWrite;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.function.UnaryOperator;
import java.util.logging.ConsoleHandler;
import java.util.logging.Formatter;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** The server's log: one JSON object per line to stderr, without payload values or secrets. */
final class JsonServerLogger {
    private static final Logger REQUESTS = Logger.getLogger("dev.semel.requests");

    /** A strong reference: a logger that is garbage-collected loses its level. */
    private static final Logger WEB_SERVER = Logger.getLogger("io.helidon.webserver.LoomServer");

    /** Redacts secrets; set as soon as the store is open. */
    private static volatile UnaryOperator<String> redact = UnaryOperator.identity();

    private JsonServerLogger() {}

    static void setRedaction(UnaryOperator<String> redaction) {
        redact = redaction;
    }

    static void install(boolean dev) {
        Logger root = Logger.getLogger("");
        for (var handler : root.getHandlers()) {
            root.removeHandler(handler);
        }
        ConsoleHandler console = new ConsoleHandler();
        console.setLevel(Level.ALL);
        console.setFormatter(new LogFormatter(dev));
        root.addHandler(console);
        root.setLevel(Level.WARNING);
        Logger.getLogger("dev.semel").setLevel(Level.INFO);
        // It logs a stack trace if it cannot listen; the server reports that in one line itself.
        WEB_SERVER.setLevel(Level.OFF);
    }

    /** Logs a replayed request or a conflict, once its row is durable. */
    static void logRequest(StoreWrite.DuplicateRequest duplicateRequest, @Nullable String key) {
        REQUESTS.log(
                Level.INFO,
                duplicateRequest.conflict() ? "conflict" : "replayed",
                new RequestLogEntry(duplicateRequest, key));
    }

    private record RequestLogEntry(
            StoreWrite.DuplicateRequest request, @Nullable String key) {}

    private static final class LogFormatter extends Formatter {
        private static final DateTimeFormatter CLOCK =
                DateTimeFormatter.ofPattern("HH:mm:ss").withZone(ZoneOffset.UTC);
        private final boolean dev;

        LogFormatter(boolean dev) {
            this.dev = dev;
        }

        /** The short form, in which `semel dev` shows prevented duplicates. */
        private static String shortForm(RequestLogEntry line) {
            StoreWrite.DuplicateRequest duplicateRequest = line.request();
            String key = line.key() == null ? "" : line.key() + " ";
            String times = duplicateRequest.times() == 1 ? "" : "  (" + duplicateRequest.times() + " times)";
            return (duplicateRequest.conflict() ? "✗ " : "↺ ")
                    + CLOCK.format(Instant.ofEpochSecond(duplicateRequest.at() / 1_000_000))
                    + (duplicateRequest.conflict() ? " conflict  " : " replayed  ") + key + "→ "
                    + duplicateRequest.run().text() + times + "\n";
        }

        @Override
        public String format(LogRecord entry) {
            ObjectNode out = JsonNodeFactory.instance.objectNode();
            out.put("at", Instant.ofEpochMilli(entry.getMillis()).toString());
            out.put("level", entry.getLevel().getName());
            out.put("logger", entry.getLoggerName());
            Object[] arguments = entry.getParameters();
            if (arguments != null && arguments.length == 1 && arguments[0] instanceof RequestLogEntry line) {
                if (dev) {
                    return shortForm(line);
                }
                out.put("event", entry.getMessage());
                out.put("key", line.key());
                out.put("run_id", line.request().run().text());
                out.put("actor_id", line.request().actor());
                out.put("status_code", line.request().statusCode());
                out.put("times", line.request().times());
            } else {
                out.put("message", formatMessage(entry));
            }
            if (entry.getThrown() != null) {
                StringWriter trace = new StringWriter();
                entry.getThrown().printStackTrace(new PrintWriter(trace));
                out.put("error", trace.toString());
            }
            return redact.apply(StrictJsonCodec.write(out)) + "\n";
        }
    }
}
