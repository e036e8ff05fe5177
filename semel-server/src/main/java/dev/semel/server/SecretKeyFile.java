package dev.semel.server;

import dev.semel.Semel;
import dev.semel.server.cli.ServeOptions;
import dev.semel.server.settings.SecretKeys;
import dev.semel.store.StoreFailure;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Base64;

/**
 * Where the key for secrets comes from: the environment. Only `dev` makes one by itself, in a file of its data folder,
 * because whoever tries Semel out should not have to begin with that.
 */
final class SecretKeyFile {
    private static final int KEY_BYTES = 32;

    private SecretKeyFile() {}

    static SecretKeys keys(ServeOptions options, Semel semel) {
        String given = options.secretKey().text();
        if (!given.isBlank() || !options.dev()) {
            return SecretKeys.of(given);
        }
        Path file = options.data().resolve("secret-key");
        try {
            Files.createDirectories(options.data());
            if (!Files.exists(file)) {
                make(file, Base64.getEncoder().encodeToString(semel.newSecret(KEY_BYTES)));
            }
            return SecretKeys.of(Files.readString(file));
        } catch (IOException e) {
            throw new StoreFailure.Down(
                    "The key for secrets could not be kept in " + file + ": " + e.getMessage()
                            + ". Nothing was started; use a --data folder that can be written, or set"
                            + " SEMEL_SECRET_KEY.",
                    e);
        }
    }

    /** Under another name first, so that a file with this name is always whole. */
    private static void make(Path file, String key) throws IOException {
        Path draft = file.resolveSibling("secret-key.new");
        Files.deleteIfExists(draft);
        Files.createFile(draft, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        Files.writeString(draft, key + "\n");
        Files.move(draft, file, StandardCopyOption.ATOMIC_MOVE);
    }
}
