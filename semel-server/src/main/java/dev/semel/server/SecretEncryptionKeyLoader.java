package dev.semel.server;

import dev.semel.runtime.SemelRuntime;
import dev.semel.server.cli.server.ServerOptions;
import dev.semel.server.settings.SecretEncryptionKeys;
import dev.semel.store.StoreFailure;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Base64;

/** Loads the key from SEMEL_SECRET_KEY. Only `dev` creates one by itself, so that a first try needs no setup. */
final class SecretEncryptionKeyLoader {
    private static final int KEY_BYTES = 32;

    private SecretEncryptionKeyLoader() {}

    static SecretEncryptionKeys load(ServerOptions options, SemelRuntime semel) {
        String given = options.secretKey().text();
        if (!given.isBlank() || !options.dev()) {
            return SecretEncryptionKeys.of(given);
        }
        Path file = options.data().resolve("secret-key");
        try {
            if (!Files.exists(file)) {
                make(file, Base64.getEncoder().encodeToString(semel.newSecret(KEY_BYTES)));
            }
            return SecretEncryptionKeys.of(Files.readString(file));
        } catch (IOException e) {
            throw new StoreFailure.Unreachable(
                    "The key for secrets could not be stored in " + file + ": " + e.getMessage()
                            + ". The server did not start. Use a writable --data folder, or set SEMEL_SECRET_KEY.",
                    e);
        }
    }

    /** Writes under another name first, so that the key file is always complete. */
    private static void make(Path file, String key) throws IOException {
        Path draft = file.resolveSibling("secret-key.new");
        OwnerOnlyFileWriter.write(draft, key);
        Files.move(draft, file, StandardCopyOption.ATOMIC_MOVE);
    }
}
