package dev.semel.server.files.steps.effects;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.semel.json.StrictJsonCodec;
import dev.semel.run.RunState;
import dev.semel.server.connectors.outbound.OutboundAddressGuard;
import dev.semel.server.connectors.outbound.OutboundHttpClient;
import dev.semel.server.connectors.outbound.OutboundRequest;
import dev.semel.server.connectors.outbound.OutboundRequestUrl;
import dev.semel.server.connectors.outbound.RawServer;
import dev.semel.server.files.steps.StepNotificationSender;
import dev.semel.server.files.steps.YamlStepDependencies;
import dev.semel.workflow.Step;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/** A route with a first channel and a fallback, on a real engine, with the real HTTP client behind both channels. */
class NotificationFallbackTest {
    private static final String OK = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n";
    private static final String STEP = "notify: welcome\nto: ann@example.com\nprotect: at_most_once\n";

    @TempDir
    Path folder = Path.of("");

    private final RawServer mail = new RawServer();
    private final RawServer sms = new RawServer().answers(OK + "\r\n{\"id\":\"s1\"}");
    private final OutboundHttpClient outbound = new OutboundHttpClient(OutboundAddressGuard.of(true, List.of()));

    @AfterEach
    void close() {
        outbound.close();
        mail.close();
        sms.close();
    }

    private final class TwoChannels implements StepNotificationSender {
        @Override
        public JsonNode plan(MessageRequest messageRequest) {
            return StrictJsonCodec.parse("""
                {"routes":[[
                  {"channel":"mail","template":"t","version":1,"to":"a","state":"selected","reason":"first"},
                  {"channel":"sms","template":"t","version":1,"to":"a","state":"fallback","reason":"only if mail fails"}]]}
                """);
        }

        @Override
        public JsonNode send(Step step, PlannedMessage message) throws IOException {
            RawServer server = message.choice().path("channel").asString("").equals("mail") ? mail : sms;
            JsonNode answer = outbound.send(new OutboundRequest(
                            "POST",
                            OutboundRequestUrl.parse(server.url("/")),
                            List.of(),
                            "{}".getBytes(StandardCharsets.UTF_8),
                            OutboundRequest.SendOptions.USUAL))
                    .orThrow()
                    .json();
            return JsonNodeFactory.instance
                    .objectNode()
                    .put("message_id", answer.path("id").asString(""))
                    .set("detail", answer);
        }

        @Override
        public JsonNode templates(String prefix, @Nullable String channel) {
            throw new IllegalStateException("not needed");
        }
    }

    private YamlTestBench bench() {
        return new YamlTestBench(folder, new YamlStepDependencies() {
            @Override
            public StepNotificationSender messages() {
                return new TwoChannels();
            }
        });
    }

    private void onlyMailIsSent() {
        try (YamlTestBench bench = bench()) {
            String run = bench.start(STEP, "{}");
            RunState state = bench.settled(run);
            assertEquals(1, mail.requests().size());
            assertEquals(0, sms.requests().size(), "the first channel accepted the message");
            assertEquals(RunState.COMPLETED, state);
            JsonNode result = bench.result(run);
            assertEquals("true", result.path("sent").toString(), result.toString());
            assertEquals("mail", result.path("channel").asString(""), result.toString());
            assertEquals(
                    "false", result.path("deliveries").path(0).path("recorded").toString(), result.toString());
            assertEquals(
                    "only if mail fails",
                    result.path("not_sent").path(0).path("reason").asString(""));
        }
    }

    @Test
    void a_first_channel_whose_answer_is_too_large_to_record_counts_as_sent() {
        mail.answers(OK + "\r\n\"" + "x".repeat(2_000_000) + "\"");
        onlyMailIsSent();
    }

    @Test
    void a_first_channel_whose_answer_has_an_unknown_encoding_counts_as_sent() {
        mail.answers(OK + "Content-Encoding: br\r\n\r\nxyz");
        onlyMailIsSent();
    }

    @Test
    void a_first_channel_whose_answer_fits_the_client_but_not_the_journal_counts_as_sent() {
        mail.answers(OK + "\r\n\"" + "x".repeat(400_000) + "\"");
        onlyMailIsSent();
    }

    @Test
    void a_first_channel_that_rejects_the_message_is_replaced_by_its_fallback() {
        mail.answers("HTTP/1.1 422 No\r\n\r\n");
        try (YamlTestBench bench = bench()) {
            JsonNode result = bench.result(bench.start(STEP, "{}"));
            assertEquals(1, sms.requests().size());
            assertEquals("sms", result.path("channel").asString(""), result.toString());
        }
    }

    private static final String KEYED = STEP.replace("at_most_once", "provider_key\nprovider_window: 1h");

    @Test
    void a_first_channel_that_certainly_sent_nothing_is_replaced_after_five_attempts() {
        mail.close();
        try (YamlTestBench bench = bench()) {
            JsonNode result = bench.result(bench.start(KEYED, "{}"));
            assertEquals(1, sms.requests().size());
            assertEquals("sms", result.path("channel").asString(""), result.toString());
        }
    }

    @Test
    void a_first_channel_whose_outcome_is_unknown_is_not_replaced() {
        mail.answers("HTTP/1.1 503 Down\r\n\r\n");
        try (YamlTestBench bench = bench()) {
            String run = bench.start(KEYED, "{}");
            assertEquals(RunState.FAILED, bench.settled(run));
            assertEquals(0, sms.requests().size(), "the first channel may have sent the message");
        }
    }
}
