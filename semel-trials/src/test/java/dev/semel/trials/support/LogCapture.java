package dev.semel.trials.support;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.Arrays;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

/** Keeps what the server logs in this process: messages, arguments and stack traces. */
public final class LogCapture extends Handler {
    private final Queue<String> lines = new ConcurrentLinkedQueue<>();

    public void start() {
        setLevel(Level.ALL);
        Logger.getLogger("").addHandler(this);
    }

    public void stop() {
        Logger.getLogger("").removeHandler(this);
    }

    @Override
    public void publish(LogRecord entry) {
        StringWriter line = new StringWriter();
        line.append(entry.getLevel().getName()).append(' ').append(entry.getMessage());
        if (entry.getParameters() != null) {
            line.append(' ').append(Arrays.toString(entry.getParameters()));
        }
        if (entry.getThrown() != null) {
            entry.getThrown().printStackTrace(new PrintWriter(line));
        }
        lines.add(line.toString());
    }

    public String text() {
        return String.join("\n", lines);
    }

    @Override
    public void flush() {}

    @Override
    public void close() {}
}
