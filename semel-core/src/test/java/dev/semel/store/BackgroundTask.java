package dev.semel.store;

import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;

/** Work on a thread of its own. */
final class BackgroundTask {
    private BackgroundTask() {}

    /** The future holds what it answers. */
    static <T> FutureTask<T> start(Callable<T> work) {
        FutureTask<T> task = new FutureTask<>(work);
        Thread.ofPlatform().daemon(true).start(task);
        return task;
    }
}
