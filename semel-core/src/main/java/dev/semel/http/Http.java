package dev.semel.http;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.error.TypeMismatch;
import dev.semel.workflow.Failures;
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
 * HTTP for effects: one call is one request, with the key of the effect, and its failure says what is known of it.
 *
 * {@snippet :
 * String id = ctx.effect("charge").providerHonoursKey(Duration.ofHours(24))
 *         .call(JsonNode.class, e -> http.send(e, HttpRequest.newBuilder(uri).POST(BodyPublishers.ofString(json))))
 *         .path("id").asString();
 * }
 *
 * <p>Redirects are not followed, nothing is sent a second time, and cookies are not kept. What did not leave is
 * {@link Failures.NotSent}, an answer that is no success is {@link Failures.Status}, and everything else is an
 * {@link IOException}: nobody knows.
 */
public final class Http implements AutoCloseable {
    public static final String KEY = "Idempotency-Key";

    private static final Duration CONNECT = Duration.ofSeconds(10);
    private static final Duration ANSWER = Duration.ofSeconds(30);
    private static final int LONGEST_ANSWER = 1024 * 1024;
    private static final int LONGEST_REFUSAL = 64 * 1024;
    private static final Set<String> SENT_TWICE = Set.of("GET", "HEAD");

    static {
        Resending.forbid(); // before the first client of this process is made, if it is not too late
    }

    private final HttpClient client;

    private Http(HttpClient client) {
        this.client = client;
    }

    /** Connects within 10 seconds. A request without a time limit of its own has 30 seconds for its answer. */
    public static Http standard() {
        return new Http(HttpClient.newBuilder()
                .version(HttpClient.Version.HTTP_1_1)
                .connectTimeout(CONNECT)
                .followRedirects(HttpClient.Redirect.NEVER)
                .build());
    }

    /**
     * Sends one request. It carries {@link Step#key} as its `Idempotency-Key`, unless it has one.
     *
     * @return the body: as JSON where the answer says that it is, otherwise as a text; null's node where it is empty
     * @throws Failures.NotSent where it did not leave
     * @throws Failures.Status where the answer is not 2xx
     * @throws Failures.NotKept where it was done and only the answer is too large
     */
    public JsonNode send(Step step, HttpRequest.Builder request) throws IOException, InterruptedException {
        HttpRequest plain = request.copy().build();
        HttpRequest.Builder complete = request.copy();
        if (plain.headers().firstValue(KEY).isEmpty()) {
            complete.setHeader(KEY, step.key());
        }
        if (plain.timeout().isEmpty()) {
            complete.timeout(ANSWER);
        }
        if (SENT_TWICE.contains(plain.method()) && Resending.happens(client)) {
            throw new SemelException(
                    ErrorCode.INVALID_DEFINITION,
                    "The HTTP client of this Java process sends GET and HEAD a second time when a connection breaks,"
                            + " and was in use before it could be told not to. The request was not sent.",
                    "Start Java with -Djdk.httpclient.redirects.retrylimit=1.");
        }
        return answer(request(complete.build()));
    }

    private HttpResponse<InputStream> request(HttpRequest request) throws IOException, InterruptedException {
        try {
            return client.send(request, HttpResponse.BodyHandlers.ofInputStream());
        } catch (IOException e) {
            if (NotSent.isCertain(e)) {
                throw new Failures.NotSent(
                        "the request did not leave: " + e.getClass().getSimpleName(), e);
            }
            throw e;
        }
    }

    private static JsonNode answer(HttpResponse<InputStream> answer) throws IOException {
        try (InputStream in = answer.body()) {
            boolean success = answer.statusCode() >= 200 && answer.statusCode() < 300;
            if (!success) {
                throw new Failures.Status(answer.statusCode(), refusal(answer, in), RetryAfter.of(answer.headers()));
            }
            byte[] body = in.readNBytes(LONGEST_ANSWER + 1);
            if (body.length > LONGEST_ANSWER) {
                throw new Failures.NotKept(new TypeMismatch(
                        "The answer is larger than " + LONGEST_ANSWER
                                + " bytes. The request was answered with success; the answer was not recorded.",
                        "Ask for less, or take what you need from the outside system."));
            }
            return Answered.body(answer.headers(), body);
        }
    }

    /** The status tells what happened, also where its text does not come through. */
    private static JsonNode refusal(HttpResponse<InputStream> answer, InputStream in) {
        try {
            return Answered.body(answer.headers(), in.readNBytes(LONGEST_REFUSAL));
        } catch (IOException e) {
            return Answered.NOTHING;
        }
    }

    @Override
    public void close() {
        client.close();
    }

    /** Failures after which it is certain that no byte of a request was on its way. */
    private static final class NotSent {
        private static final int CAUSES = 10;

        static boolean isCertain(IOException failure) {
            Throwable cause = failure;
            for (int i = 0; cause != null && i < CAUSES; i++) {
                // The client wraps a refused connection where it was told not to try again.
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
