package dev.semel.server.connectors.outbound;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.error.RequestNotSent;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import javax.net.ssl.SSLSocketFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Client credentials: a token is got once, used until shortly before its end, and never costs a effect. */
final class OutboundOAuthTokenCacheTest {
    private final RawServer api = new RawServer().json("{}");
    private final RawServer issuer = new RawServer();
    private final AtomicLong nanos = new AtomicLong();
    private final AtomicInteger issued = new AtomicInteger();
    private final OutboundHttpClient outbound = new OutboundHttpClient(
            OutboundAddressGuard.of(true, List.of()),
            HostNameResolver.system(),
            (SSLSocketFactory) SSLSocketFactory.getDefault(),
            nanos::get);

    @AfterEach
    void shut() {
        outbound.close();
        api.close();
        issuer.close();
    }

    private void issues(String rest) {
        issuer.runs((_, socket) -> {
            String body = "{\"access_token\":\"token-" + issued.incrementAndGet() + "\"" + rest + "}";
            socket.getOutputStream()
                    .write(("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n" + body)
                            .getBytes(StandardCharsets.US_ASCII));
        });
    }

    private OutboundRequestAuth.ClientCredentials credentials(boolean inBody) {
        return new OutboundRequestAuth.ClientCredentials(
                OutboundRequestUrl.parse(issuer.url("/token")), "the id", "s3:cret", "read write", "", inBody);
    }

    private OutboundRequest get() {
        return OutboundRequest.get(api.url("/"));
    }

    private OutboundRequest post() {
        return OutboundRequest.post(api.url("/"), "text/plain", new byte[0]);
    }

    private List<String> used() {
        return api.requests().stream()
                .map(text -> text.replaceAll("(?s).*Authorization: Bearer ([^\r]*).*", "$1"))
                .toList();
    }

    @Test
    void a_token_is_used_until_shortly_before_its_expiry() throws Exception {
        issues(",\"token_type\":\"Bearer\",\"expires_in\":3600");
        outbound.send(get(), credentials(false));
        nanos.addAndGet(3_569_000_000_000L);
        outbound.send(get(), credentials(false));
        nanos.addAndGet(1_000_000_000L);
        outbound.send(post(), credentials(false));
        assertEquals(List.of("token-1", "token-1", "token-2"), used());
        String asked = issuer.requests().getFirst();
        assertTrue(asked.contains("Authorization: Basic dGhlK2lkOnMzJTNBY3JldA==\r\n"), asked);
        assertTrue(asked.endsWith("\r\n\r\ngrant_type=client_credentials&scope=read+write"), asked);
    }

    @Test
    void client_id_and_secret_can_be_sent_in_the_body() throws Exception {
        issues(",\"expires_in\":3600");
        outbound.send(get(), credentials(true));
        String asked = issuer.requests().getFirst();
        assertTrue(asked.endsWith("&client_id=the+id&client_secret=s3%3Acret"), asked);
        assertTrue(!asked.contains("Authorization"), asked);
    }

    @Test
    void a_token_without_expiry_is_cached_for_a_minute() throws Exception {
        issues("");
        outbound.send(get(), credentials(false));
        nanos.addAndGet(59_000_000_000L);
        outbound.send(get(), credentials(false));
        nanos.addAndGet(1_000_000_000L);
        outbound.send(get(), credentials(false));
        assertEquals(List.of("token-1", "token-1", "token-2"), used());
    }

    @Test
    void concurrent_requests_share_one_token_fetch() throws Exception {
        var arrived = new CountDownLatch(1);
        var goOn = new CountDownLatch(1);
        issuer.runs((_, socket) -> {
            arrived.countDown();
            await(goOn);
            socket.getOutputStream()
                    .write(("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n"
                                    + "{\"access_token\":\"shared\",\"expires_in\":60}")
                            .getBytes(StandardCharsets.US_ASCII));
        });
        try (ExecutorService all = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<OutboundResponse>> answers = new ArrayList<>();
            for (int i = 0; i < 20; i++) {
                answers.add(all.submit(() -> outbound.send(get(), credentials(false))));
            }
            arrived.await();
            goOn.countDown();
            for (Future<OutboundResponse> answer : answers) {
                assertEquals(200, answer.get().status());
            }
        }
        assertEquals(1, issuer.requests().size());
        assertEquals(20, used().stream().filter("shared"::equals).count());
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void a_rejected_token_is_replaced_and_only_a_read_is_resent() throws Exception {
        issues(",\"expires_in\":3600");
        outbound.send(get(), credentials(false));
        api.runs((request, socket) -> {
            String status = request.contains("token-1") ? "401 Who" : "200 OK";
            socket.getOutputStream()
                    .write(("HTTP/1.1 " + status + "\r\nContent-Length: 0\r\n\r\n")
                            .getBytes(StandardCharsets.US_ASCII));
        });
        assertEquals(200, outbound.send(get(), credentials(false)).status());
        assertEquals(List.of("token-1", "token-1", "token-2"), used());
    }

    @Test
    void a_rejected_side_effect_is_not_resent_and_the_next_uses_a_fresh_token() throws Exception {
        issues(",\"expires_in\":3600");
        outbound.send(get(), credentials(false));
        api.answers("HTTP/1.1 401 Who\r\nContent-Length: 0\r\n\r\n");
        assertEquals(401, outbound.send(post(), credentials(false)).status());
        assertEquals(List.of("token-1", "token-1"), used());
        assertEquals(401, outbound.send(get(), credentials(false)).status());
        assertEquals(List.of("token-1", "token-1", "token-2"), used(), "a token that is fresh is refused for good");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "HTTP/1.1 400 No\r\nContent-Length: 0\r\n\r\n",
                "HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n",
                "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n{\"token\":\"x\"}",
                "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n{\"access_token\":\"a\\r\\nb\"}",
                "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n"
                        + "{\"access_token\":\"x\",\"token_type\":\"mac\"}",
                "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\ntoken",
            })
    void without_a_token_nothing_is_sent(String answer) {
        issuer.answers(answer);
        assertThrows(RequestNotSent.class, () -> outbound.send(post(), credentials(false)));
        assertEquals(0, api.connections());
    }
}
