package dev.semel.server.cli;

import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Which server a command talks to, and with which token. Flags win over the environment. */
final class Connection {
    static final String DEFAULT_ADDRESS = "http://127.0.0.1:8085";
    private static final Set<String> LOOPBACK = Set.of("localhost", "127.0.0.1", "[::1]", "::1");
    private static final int LONGEST_TOKEN_FILE = 16 << 10;

    private final Surroundings around;

    @Spec(Spec.Target.MIXEE)
    @Nullable
    CommandSpec spec;

    @Option(
            names = "--server",
            paramLabel = "URL",
            description = "The server's address; else SEMEL_SERVER, else " + DEFAULT_ADDRESS + ".")
    @Nullable
    String server;

    @Option(
            names = "--token-file",
            paramLabel = "FILE",
            description = "File that holds the token; else SEMEL_TOKEN, else `dev` on this machine.")
    @Nullable
    Path tokenFile;

    Connection(Surroundings around) {
        this.around = around;
    }

    @Option(names = "--token", hidden = true, arity = "0..1")
    void refuseToken(@Nullable String token) {
        throw usage("A token is never an argument: the process list and the shell's history would show it. Nothing"
                + " was sent. Put it into SEMEL_TOKEN, or into a file and pass --token-file FILE.");
    }

    Api api() {
        String address = address();
        String token = token(address);
        if (address.startsWith("http:") && !loopback(address)) {
            around.err()
                    .println("warning: the token goes to " + address + " unencrypted; use https where others listen");
        }
        return new Api(address, token);
    }

    /** Checked, without a slash at its end. */
    String address() {
        String named = server != null ? server : around.variable("SEMEL_SERVER");
        String text = named.isEmpty() ? DEFAULT_ADDRESS : named;
        URI uri;
        try {
            uri = URI.create(text);
        } catch (IllegalArgumentException notAUri) {
            throw usage("The server's address is not a URL. Write it as " + DEFAULT_ADDRESS + ".");
        }
        if (!("http".equals(uri.getScheme()) || "https".equals(uri.getScheme())) || uri.getHost() == null) {
            throw usage("The server's address must begin with http:// or https:// and name a host, as in "
                    + DEFAULT_ADDRESS + ".");
        }
        if (uri.getRawUserInfo() != null || uri.getRawQuery() != null || uri.getRawFragment() != null) {
            throw usage("The server's address takes no user, password, query or fragment."
                    + " A token goes into SEMEL_TOKEN or --token-file.");
        }
        return text.endsWith("/") ? text.substring(0, text.length() - 1) : text;
    }

    /** True where the address was not left to its default. */
    boolean named() {
        return server != null || !around.variable("SEMEL_SERVER").isEmpty();
    }

    private String token(String address) {
        if (tokenFile != null) {
            return fromFile(tokenFile);
        }
        String variable = around.variable("SEMEL_TOKEN").strip();
        if (!variable.isEmpty()) {
            return checked(variable, "SEMEL_TOKEN");
        }
        if (loopback(address)) {
            return "dev";
        }
        throw Failure.here(
                Exit.NOT_ALLOWED,
                "no-token",
                "Nothing was sent to " + address + ".",
                "Put a token into SEMEL_TOKEN, or into a file and pass --token-file FILE. Make one with"
                        + " `semel token create` where you have one already.");
    }

    static boolean loopback(String address) {
        String host = URI.create(address).getHost();
        return host != null && LOOPBACK.contains(host);
    }

    private String fromFile(Path file) {
        Path path = around.folder().resolve(file);
        try (var in = Files.newInputStream(path)) {
            String text = new String(in.readNBytes(LONGEST_TOKEN_FILE), StandardCharsets.UTF_8).strip();
            return checked(text, "--token-file");
        } catch (IOException unreadable) {
            throw usage("The token file cannot be read: " + file + ". Nothing was sent.");
        }
    }

    /** A bad token would otherwise surface as a puzzling failure of the HTTP client. It is never echoed. */
    private String checked(String token, String where) {
        if (token.isEmpty() || !token.chars().allMatch(c -> c > 0x20 && c < 0x7f)) {
            throw usage(where + " holds no token: it must be one word of visible ASCII. Nothing was sent.");
        }
        return token;
    }

    private ParameterException usage(String message) {
        if (spec == null) {
            throw new IllegalStateException(message);
        }
        return new ParameterException(spec.commandLine(), message);
    }
}
