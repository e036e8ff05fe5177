package dev.semel.trials.crash;

import dev.semel.engine.Ambient;
import dev.semel.server.Serve;
import dev.semel.server.cli.ServeOptions;
import java.nio.file.Path;

/** A production server that halts at a crash label, or starts, says so and stops. Arguments: folder, store, label. */
final class ServeChild {
    static final int STARTED = 0;

    private ServeChild() {}

    public static void main(String[] args) {
        Path data = Path.of(args[0]);
        String label = args[2];
        Ambient ambient = Ambient.real().withHooks(new Ambient.Hooks() {
            @Override
            public void point(String passed) {
                if (passed.equals(label)) {
                    Runtime.getRuntime().halt(CrashChild.HALTED);
                }
            }
        });
        ServeOptions options = new ServeOptions(false, false, "127.0.0.1", 0, data, args[1], null);
        try (Serve serve = Serve.start(options, ambient)) {
            System.out.println("started on " + serve.port());
        }
        System.exit(STARTED);
    }
}
