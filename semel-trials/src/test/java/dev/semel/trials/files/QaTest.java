package dev.semel.trials.files;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.json.StrictJsonCodec;
import dev.semel.server.Main;
import dev.semel.server.cli.CliRootCommand;
import dev.semel.server.cli.command.CliCommandEnvironment;
import dev.semel.trials.support.JavaProcess;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** `semel qa` on the example files and on a careless one; each starts a scratch server of its own. */
class QaTest {
    private static final long PATIENCE_SECONDS = 240;
    private static final Path EXAMPLES = Path.of("../examples").toAbsolutePath().normalize();

    @TempDir
    Path folder = Path.of("");

    private record QaOutput(int exit, JsonNode document, String talk) {
        List<Boolean> lines() {
            return document.path("lines")
                    .valueStream()
                    .map(line -> line.path("passed").booleanValue())
                    .toList();
        }

        List<String> results() {
            return document.path("lines")
                    .valueStream()
                    .map(line -> line.path("result").asString())
                    .toList();
        }

        String evidence(int line) {
            return document.path("lines").get(line - 1).path("evidence").asString();
        }
    }

    /** In this process; its scratch server is one of its own in any case. */
    private QaOutput qa(String... arguments) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        CliCommandEnvironment environment = new CliCommandEnvironment(
                Map.of(),
                InputStream.nullInputStream(),
                new PrintWriter(out, true),
                new PrintWriter(err, true),
                false,
                InstantSource.system(),
                CliCommandEnvironment.system().sleeper(),
                folder);
        List<String> words = new ArrayList<>(List.of("qa", "--json"));
        words.addAll(List.of(arguments));
        int exit = CliRootCommand.commandLine(environment, _ -> 1).execute(words.toArray(String[]::new));
        assertFalse(out.toString().isBlank(), err::toString);
        return new QaOutput(exit, StrictJsonCodec.parse(out.toString()), err.toString());
    }

    private QaOutput asAProcess(String file) throws IOException, InterruptedException {
        Path out = folder.resolve("out");
        Path err = folder.resolve("err");
        ProcessBuilder builder = JavaProcess.small(folder, Main.class, "qa", "--json", file)
                .redirectOutput(out.toFile())
                .redirectError(err.toFile());
        builder.environment().put("SEMEL_STORE", "jdbc:postgresql://nowhere.invalid/"); // is not for the child
        Process process = builder.start();
        try {
            assertTrue(process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS), "it did not end");
        } finally {
            process.destroy(); // and its own child with it
        }
        String talk = Files.readString(err, StandardCharsets.UTF_8);
        String text = Files.readString(out, StandardCharsets.UTF_8);
        assertFalse(text.isBlank(), talk);
        return new QaOutput(process.exitValue(), StrictJsonCodec.parse(text), talk);
    }

    private static List<Boolean> allPassed() {
        return List.of(true, true, true, true, true, true);
    }

    @Test
    void a_provider_with_keys_and_a_reviewed_mail_pass_all_six_checks() throws Exception {
        QaOutput output =
                asAProcess(EXAMPLES.resolve("receipt_and_license.yaml").toString());
        assertEquals(allPassed(), output.lines(), output.document()::toString);
        assertEquals(0, output.exit(), output.talk());
        assertTrue(output.evidence(2).contains("names payment_id"), output.evidence(2));
        assertTrue(output.evidence(4).contains("issue_license: 2 calls, done once"), output.evidence(4));
        assertTrue(output.evidence(4).contains("send_receipt: 1 call, done once"), output.evidence(4));
        assertTrue(output.evidence(4).contains("in doubt and waits for a decision"), output.evidence(4));
        assertTrue(output.evidence(5).contains("the file declares"), output.evidence(5));
        try (Stream<Path> left = Files.list(folder)) {
            assertEquals(
                    List.of("err", "out"),
                    left.map(Path::getFileName).map(Path::toString).sorted().toList());
        }
    }

    @Test
    void a_lead_with_lookup_and_derived_key_passes_all_six_checks() {
        QaOutput output = qa(EXAMPLES.resolve("new_lead.yaml").toString());
        assertEquals(allPassed(), output.lines(), output.document()::toString);
        assertTrue(output.evidence(4).contains("create_lead: 1 call, done once"), output.evidence(4));
    }

    @Test
    void an_order_with_a_signal_a_loop_and_a_child_passes_all_six_checks() throws Exception {
        Path data = folder.resolve("order.json");
        Files.writeString(data, """
            {"order_id": "o1", "warehouse": "ber", "total": 60000, "lines": [{"sku": "A", "qty": 1}, {"sku": "B", "qty": 2}]}
            """);
        QaOutput output = qa(EXAMPLES.resolve("fulfil_order.yaml").toString(), "--data", "@" + data);
        assertEquals(allPassed(), output.lines(), output.document()::toString);
        assertTrue(output.evidence(1).contains("is completed; 3 effects"), output.evidence(1));
        assertTrue(output.evidence(4).contains("parcel: 2 calls, done once"), output.evidence(4));
    }

    @Test
    void a_file_without_protection_and_fingerprint_fails_those_checks() throws Exception {
        Path file = folder.resolve("careless.yaml");
        Files.writeString(file, """
            semel: 1
            workflow: careless
            steps:
              - id: charge
                http: { method: POST, url: "https://payments.acme.example/charges", body: { order: "${ input.order }" } }
                protect: none
                because: nobody thought of it
            """);
        QaOutput output = qa(file.toString(), "--data", "{\"order\":\"o1\"}");
        assertEquals(List.of(true, false, true, false, true, true), output.lines(), output.document()::toString);
        assertEquals(1, output.exit());
        assertTrue(output.evidence(2).contains("idempotency: { fingerprint"), output.evidence(2));
        assertTrue(output.evidence(4).contains("charge: 2 calls, done twice"), output.evidence(4));
        assertTrue(output.evidence(5).contains("default"), output.evidence(5));
    }

    private QaOutput qaOf(String text, String... more) throws IOException {
        Path file = folder.resolve("checked.yaml");
        Files.writeString(file, text);
        return qa(Stream.concat(Stream.of(file.toString()), Stream.of(more)).toArray(String[]::new));
    }

    @Test
    void an_effect_behind_a_sleep_of_days_is_tried() throws Exception {
        QaOutput output = qaOf("""
            semel: 1
            workflow: patient
            idempotency: {fingerprint: [order]}
            input: {order: string}
            trigger:
              schedules: [{id: often, every: 1h, overlap: allow}]
            steps:
              - id: short
                sleep: 30s
              - id: long
                sleep: 3d
              - id: approve
                approval: {to: "role:ops", title: "Charge?", timeout: 2d}
              - id: charge
                http: { method: POST, url: "https://payments.acme.example/charges", body: { order: "${ input.order }" } }
                protect: none
                because: nobody thought of it
            """);
        assertEquals(
                List.of("passed", "passed", "passed", "failed", "passed", "passed"),
                output.results(),
                output.document()::toString);
        assertEquals(1, output.exit());
        assertTrue(output.evidence(1).contains("is completed; 1 effect"), output.evidence(1));
        assertTrue(output.evidence(4).contains("charge: 2 calls, done twice"), output.evidence(4));
        assertTrue(output.evidence(5).contains("new run that names the previous run"), output.evidence(5));
    }

    @Test
    void an_effect_that_no_run_reached_is_not_tried_and_not_passed() throws Exception {
        QaOutput output = qaOf("""
            semel: 1
            workflow: branched
            idempotency: {fingerprint: [order]}
            input: {order: string}
            steps:
              - id: branch
                choose:
                  - when: ${ input.order == "refund" }
                    steps:
                      - id: refund
                        http: { method: POST, url: "https://payments.acme.example/refunds" }
                        protect: none
                        because: nobody thought of it
                  - else: true
                    steps: [{id: note, set: {ok: true}}]
            """);
        assertEquals(
                List.of("passed", "passed", "not_tried", "not_tried", "passed", "passed"),
                output.results(),
                output.document()::toString);
        assertEquals(List.of(true, true, false, false, true, true), output.lines());
        assertEquals(1, output.exit());
        assertFalse(output.document().path("passed").booleanValue());
        assertTrue(output.evidence(4).contains("refund"), output.evidence(4));
    }

    @Test
    void one_effect_that_no_run_reached_is_not_tried_beside_others_that_were() throws Exception {
        QaOutput output = qaOf("""
            semel: 1
            workflow: partly
            idempotency: {fingerprint: [order]}
            input: {order: string, amount: integer}
            steps:
              - id: charge
                http: { method: POST, url: "https://payments.acme.example/charges" }
                protect: provider_key
                provider_window: 24h
              - id: branch
                choose:
                  - when: ${ input.amount > 100000 }
                    steps:
                      - id: danger
                        http: { method: POST, url: "https://payments.acme.example/payouts" }
                        protect: none
                        because: nobody thought of it
                  - else: true
                    steps: [{id: note, set: {ok: true}}]
            """);
        assertEquals(
                List.of("passed", "passed", "not_tried", "not_tried", "passed", "passed"),
                output.results(),
                output.document()::toString);
        assertEquals(1, output.exit());
        assertTrue(output.evidence(3).contains("not tried: danger"), output.evidence(3));
        assertTrue(output.evidence(4).contains("not tried: danger"), output.evidence(4));
        assertTrue(output.evidence(4).contains("charge: 2 calls, done once"), output.evidence(4));
    }

    @Test
    void a_reply_that_never_comes_times_out_and_later_effects_are_tried() throws Exception {
        QaOutput output = qaOf("""
            semel: 1
            workflow: forever
            idempotency: {fingerprint: [order]}
            input: {order: string}
            steps:
              - id: reply
                wait_for_reply: {from: "${ input.order }", timeout: 2d}
              - id: charge
                http: { method: POST, url: "https://payments.acme.example/charges" }
                protect: none
                because: nobody thought of it
            """);
        // The reply never comes, so the run goes on when its time is up.
        assertEquals("failed", output.results().get(3), output.document()::toString);
        assertTrue(output.evidence(4).contains("charge: 2 calls, done twice"), output.evidence(4));
    }
}
