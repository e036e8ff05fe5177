package dev.semel.trials.path;

import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/** Every method of a type that {@link RecordingClassLoader} loaded calls it first. */
public final class CallRecorder {
    private static final Queue<Call> CALLS = new ConcurrentLinkedQueue<>();
    private static volatile boolean recording;

    private CallRecorder() {}

    /** @param type the top-level type, relative to `dev.semel` */
    public record Call(String type, String method, long thread, String threadName) {}

    public static void start() {
        CALLS.clear();
        recording = true;
    }

    /** Returns the calls since the start, in their order. */
    public static List<Call> stop() {
        recording = false;
        return List.copyOf(CALLS);
    }

    /** Called by the recorded methods. */
    public static void enter(String type, String method) {
        if (recording) {
            Thread thread = Thread.currentThread();
            CALLS.add(new Call(type, method, thread.threadId(), thread.getName()));
        }
    }
}
