package dev.semel.server.cli;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * What `semel dev` and `semel serve` were asked to do, already checked.
 *
 * @param dev loopback only, bearer token `dev`, workspace `default`
 * @param demo add the example workflow
 * @param port 0 lets the system choose a free one
 * @param data folder for what the server keeps; it may not exist yet
 * @param store `sqlite:FILE` or `jdbc:postgresql://…`
 * @param workflows folder of workflow files; null where none was named (and, in dev, there is no ./workflows)
 */
public record ServeOptions(
        boolean dev,
        boolean demo,
        String host,
        int port,
        Path data,
        String store,
        @Nullable Path workflows) {
    public ServeOptions {
        if (host.isBlank()) {
            throw new IllegalArgumentException("host must not be empty");
        }
        if (port < 0 || port > 65_535) {
            throw new IllegalArgumentException("port must be between 0 and 65535, not " + port);
        }
        if (!store.startsWith("sqlite:") && !store.startsWith("jdbc:postgresql:")) {
            throw new IllegalArgumentException("store must begin with sqlite: or jdbc:postgresql:");
        }
    }
}
