package dev.semel.server;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.semel.json.SizeLimits;
import dev.semel.server.http.transport.HttpServerSettings;
import org.junit.jupiter.api.Test;

/** The HTTP server knows nothing about runs, so its default limit of a body is a number of its own. */
class SizeLimitsAgreeTest {
    @Test
    void the_http_server_accepts_the_body_that_the_size_limits_declare() {
        assertEquals(
                SizeLimits.DEFAULT.requestBody(),
                HttpServerSettings.defaults("127.0.0.1", 0).maxBody());
    }
}
