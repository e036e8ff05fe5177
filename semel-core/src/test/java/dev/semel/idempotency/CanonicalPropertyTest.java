package dev.semel.idempotency;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.error.SemelException;
import dev.semel.json.StrictJsonCodec;
import dev.semel.json.UntrustedNameLogSanitizer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Random;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Seeded: the seed is printed and stands in every failure; replay one with -Dseed=. */
class CanonicalPropertyTest {
    private static final int ROUNDS = 3_000;
    private static final byte[] SECRET = {1, 2, 3};

    private final long seed = Long.getLong("seed", new Random().nextLong());
    private final Random random = new Random(seed);
    private final RandomDocument documents = new RandomDocument(random);

    CanonicalPropertyTest() {
        System.out.println("CanonicalPropertyTest -Dseed=" + seed);
    }

    @Test
    void every_spelling_of_a_document_has_one_canonical_form_and_one_digest() {
        for (int round = 0; round < ROUNDS; round++) {
            JsonNode document = documents.object(4);
            byte[] canonical = CanonicalJsonWriter.bytes(document);
            String spelling = documents.spelled(document);
            JsonNode read = StrictJsonCodec.parse(spelling.getBytes(StandardCharsets.UTF_8));
            assertArrayEquals(canonical, CanonicalJsonWriter.bytes(read), () -> "-Dseed=" + seed + " " + spelling);
            assertArrayEquals(
                    canonical, CanonicalJsonWriter.bytes(StrictJsonCodec.parse(canonical)), () -> "-Dseed=" + seed);
            assertTrue(digest(read).sameDigest(digest(document).digest()), () -> "-Dseed=" + seed);
        }
    }

    @Test
    void a_document_that_was_read_is_written_and_read_again_without_loss() {
        for (int round = 0; round < ROUNDS; round++) {
            JsonNode read = StrictJsonCodec.parse(documents.spelled(documents.object(4)));
            String written = StrictJsonCodec.write(read);
            assertEquals(written, StrictJsonCodec.write(StrictJsonCodec.parse(written)), () -> "-Dseed=" + seed);
            assertArrayEquals(
                    CanonicalJsonWriter.bytes(read),
                    CanonicalJsonWriter.bytes(StrictJsonCodec.parse(written)),
                    () -> "-Dseed=" + seed);
        }
    }

    @Test
    void any_changed_leaf_changes_the_digest_and_names_its_member() {
        for (int round = 0; round < ROUNDS; round++) {
            ObjectNode document = documents.object(4);
            JsonNode changed = documents.withOneChange(document);
            RequestFingerprint before = digest(document);
            RequestFingerprint after = digest(changed);
            String failure = "-Dseed=" + seed + " " + document + " " + changed;
            assertFalse(after.sameDigest(before.digest()), failure);
            TreeSet<String> expected = new TreeSet<>();
            if (changed.isObject()) {
                document.properties().stream()
                        .filter(member -> !member.getValue().equals(changed.path(member.getKey())))
                        .forEach(member -> expected.add(
                                UntrustedNameLogSanitizer.of(member.getKey(), FingerprintFieldHashes.SHOWN_NAME)));
                assertEquals(List.copyOf(expected), after.changedFrom(before.fields()), failure);
            }
        }
    }

    @Test
    void broken_documents_are_rejected_without_other_effects() {
        for (int round = 0; round < ROUNDS; round++) {
            byte[] bytes = documents.spelled(documents.object(3)).getBytes(StandardCharsets.UTF_8);
            for (int i = 0; i < 3; i++) {
                bytes[random.nextInt(bytes.length)] = (byte) random.nextInt(256);
            }
            try {
                StrictJsonCodec.bytes(StrictJsonCodec.parse(bytes));
            } catch (SemelException refused) {
                assertEquals(400, refused.code().status(), () -> "-Dseed=" + seed);
            }
        }
    }

    @Test
    void random_stored_fields_never_break_the_comparison() {
        RequestFingerprint fingerprint = digest(documents.object(2));
        for (int round = 0; round < ROUNDS; round++) {
            byte[] stored = new byte[random.nextInt(60)];
            random.nextBytes(stored);
            if (stored.length > 0) {
                stored[0] = 1;
            }
            assertFalse(fingerprint.changedFrom(stored).isEmpty(), () -> "-Dseed=" + seed);
        }
    }

    private static RequestFingerprint digest(JsonNode data) {
        return RequestFingerprint.of("wf_1", data, KeyPolicy.DEFAULT, SECRET);
    }
}
