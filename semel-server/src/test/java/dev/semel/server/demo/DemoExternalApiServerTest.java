package dev.semel.server.demo;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.json.StrictJsonCodec;
import dev.semel.server.demo.DemoExternalApiServer.CallCounts;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class DemoExternalApiServerTest {
    private final DemoExternalApiServer playground = DemoExternalApiServer.start(0);
    private final HttpClient client = HttpClient.newHttpClient();

    @AfterEach
    void close() {
        client.close();
        playground.close();
    }

    @ParameterizedTest
    @EnumSource(
            value = DemoExternalApi.class,
            names = {"LICENSES", "PARCELS"})
    void the_same_key_is_one_effect_with_one_response(DemoExternalApi provider) throws Exception {
        String first = post(provider.pathName(), "k1", "{}").body().strip();
        assertEquals(first, post(provider.pathName(), "k1", "{}").body().strip());
        assertEquals(new CallCounts(2, 1), playground.counts(provider));
        assertNotEquals(first, post(provider.pathName(), "k2", "{}").body().strip());
        post(provider.pathName(), "", "{}");
        post(provider.pathName(), "", "{}");
        assertEquals(new CallCounts(5, 4), playground.counts(provider));
    }

    @ParameterizedTest
    @EnumSource(
            value = DemoExternalApi.class,
            names = {"PICKS", "MAIL", "CHAT"})
    void a_provider_without_keys_repeats_the_effect(DemoExternalApi provider) throws Exception {
        post(provider.pathName(), "k1", "{}");
        post(provider.pathName(), "k1", "{}");
        assertEquals(new CallCounts(2, 2), playground.counts(provider));
    }

    @Test
    void a_duplicate_lead_is_rejected_and_can_be_looked_up() throws Exception {
        assertEquals("{\"items\":[]}", get("/leads?external_id=s%201").body().strip());
        HttpResponse<String> made = post("leads", "", "{\"external_id\":\"s 1\"}");
        HttpResponse<String> again = post("leads", "", "{\"external_id\":\"s 1\"}");
        assertEquals(200, made.statusCode());
        assertEquals(409, again.statusCode());
        assertEquals(made.body().strip(), again.body().strip());
        assertEquals(
                "{\"items\":[" + made.body().strip() + "]}",
                get("/leads?external_id=s%201").body().strip());
        assertEquals(400, post("leads", "", "{}").statusCode());
        assertEquals(new CallCounts(5, 1), playground.counts(DemoExternalApi.LEADS));
    }

    @Test
    void a_payment_is_only_read() throws Exception {
        assertEquals(
                "{\"id\":\"pay_1\",\"status\":\"succeeded\"}",
                get("/payments/pay_1").body().strip());
        assertEquals(new CallCounts(1, 0), playground.counts(DemoExternalApi.PAYMENTS));
    }

    @Test
    void a_response_is_lost_once_after_the_effect() throws Exception {
        AtomicInteger meanwhile = new AtomicInteger();
        playground.dropNextResponse(DemoExternalApi.LICENSES, () -> {
            assertEquals(new CallCounts(1, 1), playground.counts(DemoExternalApi.LICENSES));
            meanwhile.incrementAndGet();
        });
        assertThrows(IOException.class, () -> post("licenses", "k1", "{}"));
        assertEquals(1, meanwhile.get());
        assertEquals(200, post("licenses", "k1", "{}").statusCode());
        assertEquals(new CallCounts(2, 1), playground.counts(DemoExternalApi.LICENSES));
    }

    @Test
    void a_lookup_loses_no_response() throws Exception {
        assertEquals(200, post("lose/leads", "", "").statusCode());
        assertEquals(200, get("/leads?external_id=s1").statusCode());
        assertThrows(IOException.class, () -> post("leads", "", "{\"external_id\":\"s1\"}"));
        assertTrue(get("/leads?external_id=s1").body().contains("lead_"));
    }

    @Test
    void users_and_programs_see_the_same() throws Exception {
        for (int i = 0; i < 25; i++) {
            post("picks", "0123456789abcdef", "{}");
        }
        var document = StrictJsonCodec.parse(get("/counts").body().strip());
        assertEquals(25, document.at("/providers/picks/calls").intValue());
        assertEquals(20, document.get("newest").size());
        assertEquals("01234567…", document.at("/newest/0/key").stringValue());
        String table = get("/").body();
        assertTrue(table.contains("picks         25       25\n"), table);
        assertEquals(
                20, table.lines().filter(line -> line.startsWith("POST /picks")).count(), table);
    }

    @ParameterizedTest
    @EnumSource(DemoExternalApi.class)
    void invalid_requests_are_not_counted(DemoExternalApi provider) throws Exception {
        assertEquals(404, post(provider.pathName() + "/else", "", "{}").statusCode());
        assertEquals(404, get("/lose/" + provider.pathName()).statusCode());
        assertEquals(400, post(provider.pathName(), "", "[]").statusCode());
        assertEquals(
                400,
                post(provider.pathName(), "", "\"" + "x".repeat(70_000) + "\"").statusCode());
        assertEquals(new CallCounts(0, 0), playground.counts(provider));
    }

    @Test
    void an_occupied_port_is_left_alone() throws Exception {
        try (DemoExternalApiServer other =
                DemoExternalApiServer.start(URI.create(playground.url()).getPort())) {
            assertNotEquals(playground.url(), other.url());
        }
        assertEquals(200, get("/").statusCode());
    }

    private HttpResponse<String> get(String path) throws Exception {
        return client.send(
                HttpRequest.newBuilder(URI.create(playground.url() + path)).build(),
                HttpResponse.BodyHandlers.ofString());
    }

    private HttpResponse<String> post(String path, String key, String body) throws Exception {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(playground.url() + "/" + path))
                .POST(HttpRequest.BodyPublishers.ofString(body));
        if (!key.isEmpty()) {
            request.header("Idempotency-Key", key);
        }
        return client.send(request.build(), HttpResponse.BodyHandlers.ofString());
    }
}
