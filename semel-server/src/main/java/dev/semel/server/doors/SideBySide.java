package dev.semel.server.doors;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Consumer;

/** Things that wait for the disk, all at once. */
public final class SideBySide {
    private SideBySide() {}

    /** Each of them, and returns when all are done. One alone is done by the caller. */
    public static <T> void each(List<T> things, Consumer<T> deed) {
        if (things.size() <= 1) {
            things.forEach(deed);
            return;
        }
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<?>> all = new ArrayList<>(things.size());
            things.forEach(thing -> all.add(threads.submit(() -> deed.accept(thing))));
            for (Future<?> one : all) {
                one.get();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted among things side by side", e);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof RuntimeException cause) {
                throw cause;
            }
            throw new IllegalStateException("one of several things failed in a way that was not foreseen", e);
        }
    }
}
