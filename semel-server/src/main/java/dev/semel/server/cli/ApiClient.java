package dev.semel.server.cli;

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
final class ApiClient {
    private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(5);
    private static final int LARGEST_ANSWER = 64 << 20;
    private static final int MOST_LINES = 1_000;

    private final String address;
    private final String token;
    private final HttpClient client;

    /** @param token empty for none */
    ApiClient(String address, String token) {
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

    String address() {
        return address;
    }

    /** Sends a call and returns its 2xx JSON response. Any other response ends the command with a failure. */
    ApiResponse send(ApiRequest call) {
        ApiResponse answer;
        try {
            answer = exchange(call);
        } catch (NoResponseException none) {
            throw toUnreachableFailure(none);
        }
        if (!answer.isSuccess()) {
            throw CommandFailure.from(answer);
        }
        if (!answer.isJson()) {
            throw CommandFailure.notSemel(answer);
        }
        return answer;
    }

    /** Fetches a text document unchanged. */
    String fetchText(ApiRequest call) {
        try {
            HttpResponse<byte[]> response = client.send(
                    request(call),
                    HttpResponse.BodyHandlers.limiting(HttpResponse.BodyHandlers.ofByteArray(), LARGEST_ANSWER));
            if (response.statusCode() / 100 != 2) {
                throw CommandFailure.from(answer(response));
            }
            return new String(response.body(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw toUnreachableFailure(noAnswer(e));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw toUnreachableFailure(new NoResponseException(true, "interrupted while waiting for the answer"));
        }
    }

    /** Streams a response line by line, and returns when the stream ends. */
    void streamLines(ApiRequest call, Consumer<String> each) throws NoResponseException {
        try {
            HttpResponse<Stream<String>> response = client.send(request(call), HttpResponse.BodyHandlers.ofLines());
            try (Stream<String> lines = response.body()) {
                if (response.statusCode() / 100 != 2) {
                    String body = lines.limit(MOST_LINES).collect(Collectors.joining("\n"));
                    throw CommandFailure.from(answer(response.statusCode(), response.headers(), body));
                }
                lines.forEach(each);
            }
        } catch (IOException e) {
            throw noAnswer(e);
        } catch (UncheckedIOException e) {
            throw noAnswer(e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new NoResponseException(true, "interrupted while waiting for the answer");
        }
    }

    CommandFailure toUnreachableFailure(NoResponseException none) {
        return CommandFailure.create(
                ExitCode.UNREACHABLE,
                "unreachable",
                address + ": " + none.reason() + ".",
                "Start a server with `semel dev`, or set another address with --server or SEMEL_SERVER.");
    }

    /** Sends a call and returns the response, whatever its status. */
    ApiResponse exchange(ApiRequest call) throws NoResponseException {
        CompletableFuture<HttpResponse<byte[]>> pending = client.sendAsync(
                request(call),
                HttpResponse.BodyHandlers.limiting(HttpResponse.BodyHandlers.ofByteArray(), LARGEST_ANSWER));
        try {
            // The client's own time limit ends with the headers; this one covers a body that never ends.
            return answer(pending.get(call.timeout().toMillis() + 5_000, TimeUnit.MILLISECONDS));
        } catch (ExecutionException failed) {
            throw noAnswer(failed.getCause());
        } catch (TimeoutException late) {
            pending.cancel(true);
            throw new NoResponseException(true, "no complete answer within " + DurationText.format(call.timeout()));
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new NoResponseException(true, "interrupted while waiting for the answer");
        }
    }

    private HttpRequest request(ApiRequest call) {
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

    private static ApiResponse answer(HttpResponse<byte[]> response) {
        return answer(response.statusCode(), response.headers(), new String(response.body(), StandardCharsets.UTF_8));
    }

    private static ApiResponse answer(int status, HttpHeaders headers, String body) {
        if (body.isBlank()) {
            // 204 or an empty body: nothing to parse, and it may well be a Semel server.
            return new ApiResponse(status, headers, status / 100 == 2, TerminalJson.newObject());
        }
        try {
            JsonNode tree = TerminalJson.parse(body);
            return new ApiResponse(status, headers, tree.isContainer(), tree);
        } catch (JacksonException notJson) {
            return new ApiResponse(status, headers, false, TerminalJson.newObject());
        }
    }

    /**
     * Separates a refused connection (nothing was sent) from a broken one (the request may have arrived), as the
     * engine does. Searches the whole cause chain, because with a retry limit of 1 the client wraps a refusal into
     * "Too many retries".
     */
    private static NoResponseException noAnswer(@Nullable Throwable failed) {
        boolean connecting = false;
        for (Throwable cause = failed; cause != null; cause = cause.getCause()) {
            switch (cause) {
                case HttpConnectTimeoutException _ -> {
                    return new NoResponseException(
                            false, "no connection within " + DurationText.format(CONNECT_TIMEOUT));
                }
                case UnresolvedAddressException _ -> {
                    return new NoResponseException(false, "the host name is unknown");
                }
                case SSLHandshakeException _ -> {
                    return new NoResponseException(false, "the TLS handshake failed");
                }
                case HttpTimeoutException _ -> {
                    return new NoResponseException(true, "no answer in time");
                }
                case ConnectException _ -> connecting = true;
                default -> {}
            }
        }
        return connecting
                ? new NoResponseException(false, "connection refused")
                : new NoResponseException(true, "the connection broke before the answer was complete");
    }
}
