package dev.semel.server.cli.access;

import dev.semel.server.cli.command.CliApiClient;
import dev.semel.server.cli.command.CliApiCommand;
import dev.semel.server.cli.command.CliApiRequest;
import dev.semel.server.cli.command.CliApiResponse;
import dev.semel.server.cli.command.CliCommandException;
import dev.semel.server.cli.command.ExitCode;
import dev.semel.server.cli.command.SavedLogin;
import dev.semel.server.cli.command.TerminalJsonFormatter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** `semel login`: verifies an API token and saves it with the server's address for later commands. */
@Command(
        name = "login",
        description = "Saves a server and its API token for later commands. Type the token at the prompt, or pass it on"
                + " stdin. A token is never an argument.",
        footer = {
            "  semel login --server https://semel.example.com",
            "  semel login --server https://semel.example.com < token.txt",
            "  semel login --forget"
        })
public final class LoginCommand extends CliApiCommand {
    @Option(names = "--forget", description = "Delete the saved login.")
    boolean forget;

    @Override
    public Integer call() {
        Path file = SavedLogin.file(environment())
                .orElseThrow(() -> usage("HOME is not set, so there is no folder for the login. Nothing was saved."));
        String server = connection.address();
        try {
            if (forget) {
                boolean deleted = Files.deleteIfExists(file);
                return print(
                        TerminalJsonFormatter.newObject().put("deleted", deleted),
                        deleted ? "the saved login is deleted" : "there was no saved login");
            }
            String token = connection.checked(
                    environment().readHidden("token for " + server + ": ").strip(), "The input");
            verify(new CliApiClient(server, token));
            new SavedLogin(server, token).write(file);
        } catch (IOException e) {
            throw CliCommandException.create(
                    ExitCode.FAILED,
                    "not-written",
                    "The login could not be saved in " + file + ".",
                    "Check the permissions of the folder, or set SEMEL_TOKEN instead.");
        }
        return print(
                TerminalJsonFormatter.newObject().put("server", server).put("file", file.toString()),
                "logged in to " + TerminalJsonFormatter.sanitize(server));
    }

    /** A token without the scope `read` is valid, too: the server answers 403. */
    private static void verify(CliApiClient api) {
        CliApiResponse answer =
                api.exchangeOrFail(CliApiRequest.get("v1", "workflows").withQuery("limit", "1"));
        if (!answer.isJson()) {
            throw CliCommandException.notSemel(answer);
        }
        if (!answer.isSuccess() && answer.status() != 403) {
            throw CliCommandException.from(answer);
        }
    }
}
