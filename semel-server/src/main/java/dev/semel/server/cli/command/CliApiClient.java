package dev.semel.server.cli.command;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpHeaders;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpTimeoutException;
import java.nio.channels.UnresolvedAddressException;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLHandshakeException;
import javax.net.ssl.TrustManager;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;

/** HTTP client for the server's API. It never retries a request and follows no redirect. */
public final class CliApiClient {
    private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(5);
    private static final int LARGEST_ANSWER = 64 << 20;
    private static final int MOST_LINES = 1_000;

    private final String address;
    private final String token;
    private final HttpClient client;

    /** @param token empty for none */
    public CliApiClient(String address, String token) {
        this.address = address;
        this.token = token;
        HttpClient.Builder builder = HttpClient.newBuilder()
                .version(HttpClient.Version.HTTP_1_1)
                .followRedirects(HttpClient.Redirect.NEVER)
                .connectTimeout(CONNECT_TIMEOUT);
        this.client = (address.startsWith("http:") ? builder.sslContext(trustNobody()) : builder).build();
    }

    /**
     * The JDK's client initialises TLS even for plain HTTP, and loading the system certificates takes longer than the
     * rest of a command. An empty trust store is ready at once, and safe: it can only reject a connection.
     */
    private static SSLContext trustNobody() {
        try {
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(new KeyManager[0], new TrustManager[0], null);
            return context;
        } catch (GeneralSecurityException impossible) {
            throw new IllegalStateException("this Java has no TLS", impossible);
        }
    }

    public String address() {
        return address;
    }

    /** Sends a call and returns its 2xx JSON response. Any other response ends the command with a failure. */
    public CliApiResponse send(CliApiRequest call) {
        CliApiResponse answer = exchangeOrFail(call);
        if (!answer.isSuccess()) {
            throw CliCommandException.from(answer);
        }
        if (!answer.isJson()) {
            throw CliCommandException.notSemel(answer);
        }
        return answer;
    }

    /** Sends a call and returns the response, whatever its status. A missing response ends the command. */
    public CliApiResponse exchangeOrFail(CliApiRequest call) {
        try {
            return exchange(call);
        } catch (CliNoServerResponseException none) {
            throw toUnreachableFailure(none);
        }
    }

    /** Fetches a text document unchanged. */
    public String fetchText(CliApiRequest call) {
        try {
            HttpResponse<byte[]> response = receive(call);
            if (response.statusCode() / 100 != 2) {
                throw CliCommandException.from(answer(response));
            }
            return new String(response.body(), StandardCharsets.UTF_8);
        } catch (CliNoServerResponseException none) {
            throw toUnreachableFailure(none);
        }
    }

    /** Streams a response line by line, and returns when the stream ends. */
    public void streamLines(CliApiRequest call, Consumer<String> each) throws CliNoServerResponseException {
        try {
            HttpResponse<Stream<String>> response = client.send(request(call), HttpResponse.BodyHandlers.ofLines());
            try (Stream<String> lines = response.body()) {
                if (response.statusCode() / 100 != 2) {
                    String body = lines.limit(MOST_LINES).collect(Collectors.joining("\n"));
                    throw CliCommandException.from(answer(response.statusCode(), response.headers(), body));
                }
                lines.forEach(each);
            }
        } catch (IOException e) {
            throw noAnswer(e);
        } catch (UncheckedIOException e) {
            throw noAnswer(e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CliNoServerResponseException(true, "interrupted while waiting for the answer");
        }
    }

    public CliCommandException toUnreachableFailure(CliNoServerResponseException none) {
        return CliCommandException.create(
                ExitCode.UNREACHABLE,
                "unreachable",
                address + ": " + none.reason() + ".",
                "Start a server with `semel dev`, or set another address with --server or SEMEL_SERVER.");
    }

    /** Sends a call and returns the response, whatever its status. */
    public CliApiResponse exchange(CliApiRequest call) throws CliNoServerResponseException {
        return answer(receive(call));
    }

    private HttpResponse<byte[]> receive(CliApiRequest call) throws CliNoServerResponseException {
        CompletableFuture<HttpResponse<byte[]>> pending = client.sendAsync(
                request(call),
                HttpResponse.BodyHandlers.limiting(HttpResponse.BodyHandlers.ofByteArray(), LARGEST_ANSWER));
        try {
            // The client's own time limit ends with the headers; this one covers a body that never ends.
            return pending.get(call.timeout().toMillis() + 5_000, TimeUnit.MILLISECONDS);
        } catch (ExecutionException failed) {
            throw noAnswer(failed.getCause());
        } catch (TimeoutException late) {
            pending.cancel(true);
            throw new CliNoServerResponseException(
                    true, "no complete answer within " + CliDurationFormatter.format(call.timeout()));
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new CliNoServerResponseException(true, "interrupted while waiting for the answer");
        }
    }

    private HttpRequest request(CliApiRequest call) {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(address + call.path()))
                .timeout(call.timeout())
                .header("Accept", "application/json, application/problem+json")
                .header("User-Agent", "semel-cli")
                .method(
                        call.method(),
                        call.body().isEmpty()
                                ? HttpRequest.BodyPublishers.noBody()
                                : HttpRequest.BodyPublishers.ofString(call.body(), StandardCharsets.UTF_8));
        if (!token.isEmpty()) {
            request.header("Authorization", "Bearer " + token);
        }
        call.headers().forEach(request::header);
        return request.build();
    }

    private static CliApiResponse answer(HttpResponse<byte[]> response) {
        return answer(response.statusCode(), response.headers(), new String(response.body(), StandardCharsets.UTF_8));
    }

    private static CliApiResponse answer(int status, HttpHeaders headers, String body) {
        if (body.isBlank()) {
            // 204 or an empty body: nothing to parse, and it may well be a Semel server.
            return new CliApiResponse(status, headers, status / 100 == 2, TerminalJsonFormatter.newObject());
        }
        try {
            JsonNode tree = TerminalJsonFormatter.parse(body);
            return new CliApiResponse(status, headers, tree.isContainer(), tree);
        } catch (JacksonException notJson) {
            return new CliApiResponse(status, headers, false, TerminalJsonFormatter.newObject());
        }
    }

    /**
     * Separates a refused connection (nothing was sent) from a broken one (the request may have arrived), as the
     * engine does. Searches the whole cause chain, because with a retry limit of 1 the client wraps a rejection into
     * "Too many retries".
     */
    private static CliNoServerResponseException noAnswer(@Nullable Throwable failed) {
        boolean connecting = false;
        for (Throwable cause = failed; cause != null; cause = cause.getCause()) {
            switch (cause) {
                case HttpConnectTimeoutException _ -> {
                    return new CliNoServerResponseException(
                            false, "no connection within " + CliDurationFormatter.format(CONNECT_TIMEOUT));
                }
                case UnresolvedAddressException _ -> {
                    return new CliNoServerResponseException(false, "the host name is unknown");
                }
                case SSLHandshakeException _ -> {
                    return new CliNoServerResponseException(false, "the TLS handshake failed");
                }
                case HttpTimeoutException _ -> {
                    return new CliNoServerResponseException(true, "no answer in time");
                }
                case ConnectException _ -> connecting = true;
                default -> {}
            }
        }
        return connecting
                ? new CliNoServerResponseException(false, "connection refused")
                : new CliNoServerResponseException(true, "the connection broke before the answer was complete");
    }
}
