package dev.semel.trials.documents;

import dev.semel.server.SemelServer;
import dev.semel.server.cli.server.ServerOptions;
import dev.semel.server.demo.DemoExternalApiServer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** {@code semel dev --demo} inside this process, on any free port, with a store of its own. */
final class LocalServer implements DocumentServer {
    private @Nullable Path data;
    private @Nullable SemelServer serve;

    @Override
    public void start() throws Exception {
        data = Files.createTempDirectory("semel-data");
        serve = SemelServer.start(
                new ServerOptions(true, true, "127.0.0.1", 0, data, "sqlite:" + data.resolve("semel.db"), null));
    }

    @Override
    public String url() {
        return "http://127.0.0.1:" + Objects.requireNonNull(serve).port();
    }

    @Override
    public String playground() {
        DemoExternalApiServer playground = Objects.requireNonNull(serve).playground();
        return playground == null ? "" : playground.url();
    }

    @Override
    public void stop() throws Exception {
        if (serve != null) {
            serve.close();
        }
        if (data != null) {
            Folders.delete(data);
        }
    }
}
