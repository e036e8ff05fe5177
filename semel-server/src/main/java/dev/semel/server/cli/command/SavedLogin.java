package dev.semel.server.cli.command;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Optional;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;

/** The server and the API token that `semel login` saved in the user's configuration folder, readable by its owner only. */
public record SavedLogin(String server, String token) {
    /** The file, in `$XDG_CONFIG_HOME/semel` or `~/.config/semel`; empty if neither variable is set. */
    public static Optional<Path> file(CliCommandEnvironment environment) {
        String config = environment.variable("XDG_CONFIG_HOME");
        String home = environment.variable("HOME");
        return !config.isEmpty()
                ? Optional.of(Path.of(config, "semel", "login.json"))
                : home.isEmpty() ? Optional.empty() : Optional.of(Path.of(home, ".config", "semel", "login.json"));
    }

    /** Empty if there is no login, or its file cannot be read. */
    static Optional<SavedLogin> read(CliCommandEnvironment environment) {
        return file(environment).filter(Files::isRegularFile).flatMap(file -> {
            try {
                JsonNode saved = TerminalJsonFormatter.parse(Files.readString(file));
                return Optional.of(new SavedLogin(
                                TerminalJsonFormatter.text(saved, "server"),
                                TerminalJsonFormatter.text(saved, "token")))
                        .filter(login ->
                                !login.server().isEmpty() && !login.token().isEmpty());
            } catch (IOException | JacksonException unreadable) {
                return Optional.empty();
            }
        });
    }

    /** Deletes and creates the file, so that the token never has wider permissions. */
    public void write(Path file) throws IOException {
        Files.createDirectories(file.getParent());
        Files.deleteIfExists(file);
        Files.createFile(file, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        Files.writeString(
                file,
                TerminalJsonFormatter.pretty(TerminalJsonFormatter.newObject()
                                .put("server", server)
                                .put("token", token))
                        + "\n");
    }
}
