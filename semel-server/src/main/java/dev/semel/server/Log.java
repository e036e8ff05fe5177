package dev.semel.server;

import dev.semel.json.Json;
import dev.semel.store.Write;
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

/** One JSON object a line, to the error stream. No payload value and no secret ever gets here. */
final class Log {
    private static final Logger REQUESTS = Logger.getLogger("dev.semel.requests");

    /** Held here: a logger that nobody holds forgets its level. */
    private static final Logger WEB_SERVER = Logger.getLogger("io.helidon.webserver.LoomServer");

    /** Takes secrets out of what is logged; set once there is a store to know them from. */
    private static volatile UnaryOperator<String> cleaning = UnaryOperator.identity();

    private Log() {}

    static void clean(UnaryOperator<String> way) {
        cleaning = way;
    }

    static void install(boolean dev) {
        Logger root = Logger.getLogger("");
        for (var handler : root.getHandlers()) {
            root.removeHandler(handler);
        }
        ConsoleHandler console = new ConsoleHandler();
        console.setLevel(Level.ALL);
        console.setFormatter(new Lines(dev));
        root.addHandler(console);
        root.setLevel(Level.WARNING);
        Logger.getLogger("dev.semel").setLevel(Level.INFO);
        // It logs a stack trace where it cannot listen; we say that in one line ourselves.
        WEB_SERVER.setLevel(Level.OFF);
    }

    /** One line for each duplicate prevented and each conflict, once its row is durable. */
    static void request(Write.Seen seen, @Nullable String key) {
        REQUESTS.log(Level.INFO, seen.conflict() ? "conflict" : "replayed", new Line(seen, key));
    }

    private record Line(Write.Seen seen, @Nullable String key) {}

    private static final class Lines extends Formatter {
        private static final DateTimeFormatter CLOCK =
                DateTimeFormatter.ofPattern("HH:mm:ss").withZone(ZoneOffset.UTC);
        private final boolean forPeople;

        Lines(boolean forPeople) {
            this.forPeople = forPeople;
        }

        /** `semel dev` shows duplicates as they are prevented. */
        private static String told(Line line) {
            Write.Seen seen = line.seen();
            String key = line.key() == null ? "" : line.key() + " ";
            String times = seen.times() == 1 ? "" : "  (" + seen.times() + " times)";
            return (seen.conflict() ? "✗ " : "↺ ") + CLOCK.format(Instant.ofEpochSecond(seen.at() / 1_000_000))
                    + (seen.conflict() ? " conflict  " : " replayed  ") + key + "→ "
                    + seen.run().text() + times + "\n";
        }

        @Override
        public String format(LogRecord entry) {
            ObjectNode out = JsonNodeFactory.instance.objectNode();
            out.put("at", Instant.ofEpochMilli(entry.getMillis()).toString());
            out.put("level", entry.getLevel().getName());
            out.put("logger", entry.getLoggerName());
            Object[] arguments = entry.getParameters();
            if (forPeople && arguments != null && arguments.length == 1 && arguments[0] instanceof Line line) {
                return told(line);
            }
            if (arguments != null
                    && arguments.length == 1
                    && arguments[0] instanceof Line(Write.Seen seen, String key)) {
                out.put("event", entry.getMessage());
                out.put("key", key);
                out.put("run_id", seen.run().text());
                out.put("actor_id", seen.actor());
                out.put("status_code", seen.statusCode());
                out.put("times", seen.times());
            } else {
                out.put("message", formatMessage(entry));
            }
            if (entry.getThrown() != null) {
                StringWriter trace = new StringWriter();
                entry.getThrown().printStackTrace(new PrintWriter(trace));
                out.put("error", trace.toString());
            }
            return cleaning.apply(Json.write(out)) + "\n";
        }
    }
}
