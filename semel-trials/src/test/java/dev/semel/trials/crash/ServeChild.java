package dev.semel.trials.crash;

import dev.semel.engine.ClockAndRandomSource;
import dev.semel.server.SemelServer;
import dev.semel.server.cli.server.ServerOptions;
import java.nio.file.Path;

/** A production server that halts at a crash label, or starts, says so and stops. Arguments: folder, store, label. */
final class ServeChild {
    static final int STARTED = 0;

    private ServeChild() {}

    public static void main(String[] args) {
        Path data = Path.of(args[0]);
        String label = args[2];
        ClockAndRandomSource ambient = ClockAndRandomSource.real()
                .withInstrumentation(new ClockAndRandomSource.TestInstrumentation() {
                    @Override
                    public void point(String passed) {
                        if (passed.equals(label)) {
                            Runtime.getRuntime().halt(CrashChild.HALTED);
                        }
                    }
                });
        ServerOptions options = new ServerOptions(false, false, "127.0.0.1", 0, data, args[1], null);
        try (SemelServer serve = SemelServer.start(options, ambient)) {
            System.out.println("started on " + serve.port());
        }
        System.exit(STARTED);
    }
}
