package dev.semel.server.http.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** The framing alone, without sockets: where the reads fall must make no difference. */
class InboundHttpRequestFramerTest {
    private static final long SEED = Long.getLong("seed", 20_261_115L);
    private static final HttpServerSettings SETTINGS = HttpServerSettings.defaults("x", 0);

    @Test
    void every_byte_of_valid_requests_passes_and_no_hand_over_spans_two_requests() {
        Random random = new Random(SEED);
        for (int round = 0; round < 2_000; round++) {
            List<String> requests = new ArrayList<>();
            for (int i = random.nextInt(1, 6); i > 0; i--) {
                requests.add(request(random));
            }
            assertEquals(requests, through(String.join("", requests), random), "seed " + SEED + ", round " + round);
        }
    }

    @Test
    void a_fault_is_found_at_any_read_boundary_and_nothing_after_it_passes() {
        Random random = new Random(SEED);
        for (int round = 0; round < 2_000; round++) {
            String good = request(random);
            String bad = "GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n";
            InboundHttpRequestFramer requestFramer = gate(good + bad + request(random), random);
            StringBuilder seen = new StringBuilder();
            assertThrows(HttpRequestSyntaxError.MalformedRequestException.class, () -> {
                for (byte[] bytes = requestFramer.readNext(); bytes != null; bytes = requestFramer.readNext()) {
                    seen.append(text(bytes));
                }
            });
            assertEquals(good, seen.toString(), "seed " + SEED + ", round " + round);
        }
    }

    @Test
    void randomly_damaged_input_is_rejected_or_harmless_and_never_an_unexpected_error() {
        Random random = new Random(SEED);
        int refused = 0;
        for (int round = 0; round < 5_000; round++) {
            byte[] bytes = (request(random) + request(random)).getBytes(StandardCharsets.ISO_8859_1);
            for (int i = random.nextInt(1, 4); i > 0; i--) {
                bytes[random.nextInt(bytes.length)] = (byte) random.nextInt(256);
            }
            InboundHttpRequestFramer requestFramer = gate(text(bytes), random);
            try {
                int handedOver = 0;
                for (byte[] some = requestFramer.readNext(); some != null; some = requestFramer.readNext()) {
                    handedOver += some.length;
                }
                assertTrue(handedOver <= bytes.length);
            } catch (HttpRequestSyntaxError.MalformedRequestException e) {
                refused++;
            }
        }
        assertTrue(refused > 1_000, "only " + refused + " refused");
    }

    private static String request(Random random) {
        String body = "x\r\n0\r\n\r\nGET".repeat(random.nextInt(1, 30));
        return switch (random.nextInt(3)) {
            case 0 -> "GET /a HTTP/1.1\r\nhost: x\r\n\r\n";
            case 1 ->
                "POST /a?b HTTP/1.1\r\nX: y\r\nHost: x:80\r\nContent-Length: " + body.length() + "\r\n\r\n" + body;
            default -> chunked(body, random);
        };
    }

    private static String chunked(String body, Random random) {
        StringBuilder out = new StringBuilder("PUT /a HTTP/1.1\r\nHost: [::1]\r\ntransfer-encoding: Chunked\r\n\r\n");
        for (int from = 0; from < body.length(); ) {
            int to = Math.min(body.length(), from + random.nextInt(1, 40));
            String size = Integer.toHexString(to - from);
            out.append(random.nextBoolean() ? size : "00" + size.toUpperCase(java.util.Locale.ROOT));
            out.append("\r\n").append(body, from, to).append("\r\n");
            from = to;
        }
        return out.append("0\r\n\r\n").toString();
    }

    /** The requests as the gate tells them apart. */
    private static List<String> through(String all, Random random) {
        InboundHttpRequestFramer requestFramer = gate(all, random);
        List<String> out = new ArrayList<>();
        ByteArrayOutputStream current = new ByteArrayOutputStream();
        for (byte[] bytes = requestFramer.readNext(); bytes != null; bytes = requestFramer.readNext()) {
            current.writeBytes(bytes);
            if (!requestFramer.inBody()) {
                out.add(text(current.toByteArray()));
                current.reset();
            }
        }
        assertEquals(0, current.size());
        return out;
    }

    private static InboundHttpRequestFramer gate(String all, Random random) {
        Queue<byte[]> reads = new ArrayDeque<>();
        int largest = random.nextBoolean() ? 3 : 500;
        for (int from = 0; from < all.length(); ) {
            int to = Math.min(all.length(), from + random.nextInt(1, largest + 1));
            reads.add(all.substring(from, to).getBytes(StandardCharsets.ISO_8859_1));
            from = to;
        }
        return new InboundHttpRequestFramer(reads::poll, SETTINGS, 1 << 20);
    }

    private static String text(byte[] bytes) {
        return new String(bytes, StandardCharsets.ISO_8859_1);
    }
}
