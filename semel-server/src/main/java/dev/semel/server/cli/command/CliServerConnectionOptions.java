package dev.semel.server.cli.command;

import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Options that select the server and the API token; flags override environment variables. */
public final class CliServerConnectionOptions {
    static final String DEFAULT_ADDRESS = "http://127.0.0.1:8085";
    private static final Set<String> LOOPBACK = Set.of("localhost", "127.0.0.1", "[::1]", "::1");
    private static final int LONGEST_TOKEN_FILE = 16 << 10;

    @Spec(Spec.Target.MIXEE)
    @SuppressWarnings("NullAway.Init") // picocli sets it before the call
    CommandSpec spec;

    @Option(
            names = "--server",
            paramLabel = "URL",
            description = "Address of the server. Default: the address in SEMEL_SERVER, or else the address of"
                    + " `semel login`, or else " + DEFAULT_ADDRESS + ".")
    @Nullable
    public String server;

    @Option(
            names = "--token-file",
            paramLabel = "FILE",
            description =
                    "File with the API token. Default: no file. The command then uses the token in SEMEL_TOKEN, or"
                            + " else the token of `semel login`, or else `dev` for a local server.")
    @Nullable
    Path tokenFile;

    private CliCommandEnvironment environment() {
        return CliCommandEnvironment.of(spec);
    }

    @Option(names = "--token", hidden = true, arity = "0..1")
    void rejectTokenArgument(@Nullable String token) {
        throw usage("A token is never an argument: the process list and the shell's history would show it. Nothing"
                + " was sent. Put the token into SEMEL_TOKEN, or into a file and pass --token-file FILE.");
    }

    public CliApiClient api() {
        String address = address();
        String token = token(address);
        if (address.startsWith("http:") && !isLoopback(address)) {
            environment().err().println("warning: the token is sent to " + address + " unencrypted; use https");
        }
        return new CliApiClient(address, token);
    }

    /** The validated address without a trailing slash. */
    public String address() {
        String named = server != null ? server : environment().variable("SEMEL_SERVER");
        String text = !named.isEmpty()
                ? named
                : SavedLogin.read(environment()).map(SavedLogin::server).orElse(DEFAULT_ADDRESS);
        URI uri;
        try {
            uri = URI.create(text);
        } catch (IllegalArgumentException notAUri) {
            throw usage("The server's address is not a URL. Write an address such as " + DEFAULT_ADDRESS + ".");
        }
        if (!("http".equals(uri.getScheme()) || "https".equals(uri.getScheme())) || uri.getHost() == null) {
            throw usage("The server's address must begin with http:// or https:// and name a host, as in "
                    + DEFAULT_ADDRESS + ".");
        }
        if (uri.getRawUserInfo() != null || uri.getRawQuery() != null || uri.getRawFragment() != null) {
            throw usage("The server's address must not contain a user, password, query or fragment."
                    + " Pass a token in SEMEL_TOKEN or --token-file.");
        }
        return text.endsWith("/") ? text.substring(0, text.length() - 1) : text;
    }

    /** True if --server or SEMEL_SERVER is set. */
    public boolean hasExplicitAddress() {
        return server != null || !environment().variable("SEMEL_SERVER").isEmpty();
    }

    private String token(String address) {
        if (tokenFile != null) {
            return fromFile(tokenFile);
        }
        String variable = environment().variable("SEMEL_TOKEN").strip();
        if (!variable.isEmpty()) {
            return checked(variable, "SEMEL_TOKEN");
        }
        Optional<SavedLogin> login =
                SavedLogin.read(environment()).filter(one -> one.server().equals(address));
        if (login.isPresent()) {
            return login.get().token();
        }
        if (isLoopback(address)) {
            return "dev";
        }
        throw CliCommandException.create(
                ExitCode.NOT_ALLOWED,
                "no-token",
                "There is no API token for " + address + ". Nothing was sent.",
                "Run `semel login`, set SEMEL_TOKEN, or pass --token-file FILE. An administrator creates tokens with"
                        + " `semel token create`.");
    }

    static boolean isLoopback(String address) {
        String host = URI.create(address).getHost();
        return host != null && LOOPBACK.contains(host);
    }

    private String fromFile(Path file) {
        Path path = environment().folder().resolve(file);
        try (var in = Files.newInputStream(path)) {
            String text = new String(in.readNBytes(LONGEST_TOKEN_FILE), StandardCharsets.UTF_8).strip();
            return checked(text, "--token-file");
        } catch (IOException unreadable) {
            throw usage("The token file cannot be read: " + file + ". Nothing was sent.");
        }
    }

    /** The HTTP client's own error for an invalid token is hard to understand. Never prints the token. */
    public String checked(String token, String where) {
        if (token.isEmpty() || !token.chars().allMatch(c -> c > 0x20 && c < 0x7f)) {
            throw usage(where + " contains no valid token: a token is one word of visible ASCII. Nothing was sent.");
        }
        return token;
    }

    private ParameterException usage(String message) {
        return new ParameterException(spec.commandLine(), message);
    }
}
