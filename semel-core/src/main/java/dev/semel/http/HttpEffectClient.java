package dev.semel.http;

import dev.semel.definition.ResultNotRecordable;
import dev.semel.error.ErrorCode;
import dev.semel.error.HttpStatusException;
import dev.semel.error.JsonConversionFailed;
import dev.semel.error.RequestNotSent;
import dev.semel.error.SemelException;
import dev.semel.http.response.IdempotentReplayedHeader;
import dev.semel.http.response.OutboundResponseJsonConverter;
import dev.semel.http.response.RetryAfterHeaderParser;
import dev.semel.workflow.Step;
import java.io.IOException;
import java.io.InputStream;
import java.net.http.HttpClient;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Set;
import tools.jackson.databind.JsonNode;

/**
 * HTTP client for effects: sends one request per call, with the effect's idempotency key, and classifies failures.
 *
 * {@snippet :
 * String id = ctx.effect("charge").providerHonoursKey(Duration.ofHours(24))
 *         .call(JsonNode.class, e -> http.send(e, HttpRequest.newBuilder(uri).POST(BodyPublishers.ofString(json))))
 *         .path("id").asString();
 * }
 *
 * <p>It does not follow redirects, resend requests or store cookies. It throws {@link RequestNotSent} if the request
 * was certainly not sent, {@link HttpStatusException} for a response that is not a success, and an {@link IOException} if
 * the outcome is unknown.
 */
public final class HttpEffectClient implements AutoCloseable {
    public static final String KEY_HEADER = "Idempotency-Key";

    private static final Duration CONNECT = Duration.ofSeconds(10);
    private static final Duration REQUEST_TIMEOUT = Duration.ofSeconds(30);
    private static final int MAX_BODY = 1024 * 1024;
    private static final int MAX_ERROR_BODY = 64 * 1024;
    private static final Set<String> RESENT_METHODS = Set.of("GET", "HEAD");

    static {
        JdkHttpClientResendDisabler
                .disableResend(); // takes effect only before the first HTTP client of this process is used
    }

    private final HttpClient client;

    private HttpEffectClient(HttpClient client) {
        this.client = client;
    }

    /** Connect timeout: 10 seconds. Default timeout of a request: 30 seconds. */
    public static HttpEffectClient standard() {
        return new HttpEffectClient(HttpClient.newBuilder()
                .version(HttpClient.Version.HTTP_1_1)
                .connectTimeout(CONNECT)
                .followRedirects(HttpClient.Redirect.NEVER)
                .build());
    }

    /**
     * Sends one request, with {@link Step#key} as `Idempotency-Key` if the request has none.
     *
     * @return the response body: JSON by its content type, otherwise a text; a null node if empty
     * @throws RequestNotSent if the request was certainly not sent
     * @throws HttpStatusException if the response is not 2xx
     * @throws ResultNotRecordable if the request succeeded and the response is too large to record
     */
    public JsonNode send(Step step, HttpRequest.Builder request) throws IOException, InterruptedException {
        HttpRequest plain = request.copy().build();
        HttpRequest.Builder complete = request.copy();
        if (plain.headers().firstValue(KEY_HEADER).isEmpty()) {
            complete.setHeader(KEY_HEADER, step.key());
        }
        if (plain.timeout().isEmpty()) {
            complete.timeout(REQUEST_TIMEOUT);
        }
        if (RESENT_METHODS.contains(plain.method()) && JdkHttpClientResendDisabler.resends(client)) {
            throw new SemelException(
                    ErrorCode.INVALID_DEFINITION,
                    "The HTTP client of this Java process repeats GET and HEAD requests after a broken connection. The"
                            + " client was in use before Semel could disable these repeats, so Semel did not send the"
                            + " request.",
                    "Start Java with -Djdk.httpclient.redirects.retrylimit=1.");
        }
        return read(request(complete.build()));
    }

    private HttpResponse<InputStream> request(HttpRequest request) throws IOException, InterruptedException {
        try {
            return client.send(request, HttpResponse.BodyHandlers.ofInputStream());
        } catch (IOException e) {
            if (NotSentCheck.isCertain(e)) {
                throw new RequestNotSent(
                        "the request was not sent: " + e.getClass().getSimpleName(), e);
            }
            throw e;
        }
    }

    private static JsonNode read(HttpResponse<InputStream> response) throws IOException {
        try (InputStream in = response.body()) {
            boolean success = response.statusCode() >= 200 && response.statusCode() < 300;
            if (!success) {
                throw new HttpStatusException(
                        response.statusCode(),
                        errorBody(response, in),
                        RetryAfterHeaderParser.parse(response.headers()),
                        IdempotentReplayedHeader.isSet(response.headers()));
            }
            byte[] body = in.readNBytes(MAX_BODY + 1);
            if (body.length > MAX_BODY) {
                throw new ResultNotRecordable(new JsonConversionFailed(
                        "The response is larger than " + MAX_BODY
                                + " bytes. The request succeeded; its response was not recorded.",
                        "Request less data, or read what you need from the external system in another step."));
            }
            return OutboundResponseJsonConverter.read(response.headers(), body);
        }
    }

    /** Ignores a body that cannot be read, because the status alone determines the outcome. */
    private static JsonNode errorBody(HttpResponse<InputStream> response, InputStream in) {
        try {
            return OutboundResponseJsonConverter.read(response.headers(), in.readNBytes(MAX_ERROR_BODY));
        } catch (IOException e) {
            return OutboundResponseJsonConverter.EMPTY;
        }
    }

    @Override
    public void close() {
        client.close();
    }

    /** Recognises failures after which certainly no byte of a request was sent. */
    private static final class NotSentCheck {
        private static final int CAUSES = 10;

        static boolean isCertain(IOException failure) {
            Throwable cause = failure;
            for (int i = 0; cause != null && i < CAUSES; i++) {
                // The client wraps a refused connection if its retries are disabled.
                if (cause instanceof java.net.ConnectException
                        || cause instanceof java.net.UnknownHostException
                        || cause instanceof java.net.NoRouteToHostException
                        || cause instanceof HttpConnectTimeoutException
                        || cause instanceof javax.net.ssl.SSLHandshakeException
                        || cause instanceof java.nio.channels.UnresolvedAddressException) {
                    return true;
                }
                cause = cause.getCause();
            }
            return false;
        }
    }
}
