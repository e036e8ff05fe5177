package dev.semel.trials.life;

import dev.semel.engine.ClockAndRandomSource;
import dev.semel.server.SemelServer;
import dev.semel.server.cli.server.ServerOptions;
import java.nio.file.Path;

/** A server process in which code of one thread fails with an error. Arguments: folder, name of the thread. */
final class DeadThreadChild {
    private DeadThreadChild() {}

    public static void main(String[] args) throws InterruptedException {
        Path folder = Path.of(args[0]);
        FailingThread victim = new FailingThread();
        ServerOptions options =
                new ServerOptions(true, false, "127.0.0.1", 0, folder, "sqlite:" + folder.resolve("semel.db"), null);
        SemelServer serve = SemelServer.start(options, victim.ambient());
        serve.haltIfThreadDies(System.err);
        System.out.println("started on " + serve.port());
        victim.fail(args[1]);
        Thread.currentThread().join();
    }

    /** A clock that fails on the thread of one name, as any code can fail there. */
    static final class FailingThread {
        private volatile String name = "";

        void fail(String thread) {
            name = thread;
        }

        ClockAndRandomSource ambient() {
            ClockAndRandomSource real = ClockAndRandomSource.real();
            return new ClockAndRandomSource(
                    real::micros,
                    () -> {
                        if (Thread.currentThread().getName().equals(name)) {
                            throw new StackOverflowError("on command");
                        }
                        return real.nanos();
                    },
                    real.random());
        }
    }
}
