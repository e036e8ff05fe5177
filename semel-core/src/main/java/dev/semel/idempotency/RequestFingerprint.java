package dev.semel.idempotency;

import dev.semel.json.JsonOutputBuffer;
import dev.semel.json.Sha256;
import dev.semel.json.UntrustedNameLogSanitizer;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SortedSet;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.MissingNode;
import tools.jackson.databind.node.ObjectNode;

/** A digest of the defining fields and a keyed hash per field: a conflict can name a field, and no value is stored. */
public final class RequestFingerprint {
    /** How many top-level members are hashed individually if the workflow declares no fields. */
    public static final int MAX_UNDECLARED = 32;

    /** Digested first, so that another digest method gives another fingerprint. */
    private static final byte[] VERSION = "semel-fp1\n".getBytes(StandardCharsets.US_ASCII);

    private static final String NOT_AN_OBJECT = "(data)";
    private static final String BEYOND = "(a field beyond the first " + MAX_UNDECLARED + ")";
    private static final String UNTRACKED = "(a field that is not tracked)";

    private final byte[] digest;
    private final FingerprintFieldHashes fields;

    private RequestFingerprint(byte[] digest, FingerprintFieldHashes fields) {
        this.digest = digest;
        this.fields = fields;
    }

    /**
     * @param policy selects the fields; an exception of a declared field's function is passed to the caller
     * @param secret of the workspace; without it, hashes of short values could be guessed from a stolen table
     */
    public static RequestFingerprint of(String workflowId, JsonNode data, KeyPolicy policy, byte[] secret) {
        Draft draft = new Draft(workflowId, secret);
        if (!policy.fingerprint().isEmpty()) {
            policy.fingerprint().forEach(field -> draft.declared(field, data));
        } else {
            List<JsonFieldPath> ignored = policy.fingerprintIgnore().stream()
                    .map(JsonFieldPath::parse)
                    .toList();
            draft.whole(JsonFieldPath.without(data, ignored));
        }
        return draft.finished();
    }

    /** For expressions: trims strings and converts them to lower case, at every depth. Member names are unchanged. */
    public static JsonNode normalise(JsonNode value) {
        return switch (value.getNodeType()) {
            case STRING ->
                JsonNodeFactory.instance.stringNode(value.stringValue().strip().toLowerCase(Locale.ROOT));
            case ARRAY -> {
                ArrayNode all = JsonNodeFactory.instance.arrayNode(value.size());
                value.forEach(element -> all.add(normalise(element)));
                yield all;
            }
            case OBJECT -> {
                ObjectNode all = JsonNodeFactory.instance.objectNode();
                value.properties().forEach(member -> all.set(member.getKey(), normalise(member.getValue())));
                yield all;
            }
            case NUMBER, BOOLEAN, NULL, MISSING, BINARY, POJO -> value;
        };
    }

    public static List<String> fieldNames(byte[] storedFields) {
        return FingerprintFieldHashes.decoded(storedFields).hashes().stream()
                .map(FingerprintFieldHashes.FieldHash::name)
                .toList();
    }

    /** 32 bytes. */
    public byte[] digest() {
        return digest.clone();
    }

    /** The field hashes, to be stored with the digest and compared by {@link #changedFrom} later. */
    public byte[] fields() {
        return fields.encoded();
    }

    public boolean sameDigest(byte[] storedDigest) {
        return Arrays.equals(digest, storedDigest);
    }

    /**
     * The names of the fields that differ from a stored fingerprint with another digest: sorted, printable, at most 64
     * characters each, never a value. If the difference is outside the hashed fields, a text that says so.
     */
    public List<String> changedFrom(byte[] storedFields) {
        FingerprintFieldHashes stored = FingerprintFieldHashes.decoded(storedFields);
        SortedSet<String> names = fields.differingFrom(stored);
        if (!names.isEmpty()) {
            return List.copyOf(names);
        }
        // Truncated bytes are incomplete, too; then the place of the difference is unknown.
        boolean beyond =
                !fields.complete() || (!stored.complete() && stored.hashes().size() >= MAX_UNDECLARED);
        return List.of(beyond ? BEYOND : UNTRACKED);
    }

    /** The digest in hexadecimal, prefixed with its version. */
    @Override
    public String toString() {
        return "fp1:" + HexFormat.of().formatHex(digest);
    }

    /** Builds a fingerprint: digest and field hashes read the same canonical bytes, which are written once. */
    private static final class Draft {
        private final JsonOutputBuffer text = new JsonOutputBuffer();
        private final Mac mac;
        private final List<FingerprintFieldHashes.FieldHash> hashes = new ArrayList<>();
        private final int workflowEnd;
        private boolean complete = true;

        Draft(String workflowId, byte[] secret) {
            this.mac = hmacSha256(secret);
            text.appendString(workflowId);
            this.workflowEnd = text.size();
        }

        /** Name and value are separate JSON texts, so different lists of fields never give the same bytes. */
        void declared(FingerprintField field, JsonNode data) {
            @Nullable JsonNode value = field.value().apply(data);
            text.append('\n');
            hashed(field.name(), value == null ? MissingNode.getInstance() : value, 1);
        }

        void whole(JsonNode data) {
            text.append('\n');
            if (!data.isObject()) {
                hashed(NOT_AN_OBJECT, data, 1);
                return;
            }
            text.append('{');
            int count = 0;
            for (Map.Entry<String, JsonNode> member : CanonicalJsonWriter.sortedMembers(data)) {
                if (count > 0) {
                    text.append(',');
                }
                if (count++ < MAX_UNDECLARED) {
                    hashed(member.getKey(), member.getValue(), 2);
                } else {
                    named(member.getKey(), member.getValue(), 2);
                    complete = false;
                }
            }
            text.append('}');
        }

        RequestFingerprint finished() {
            MessageDigest sha256 = Sha256.begin();
            sha256.update(VERSION);
            sha256.update(text.part(0, text.size()));
            return new RequestFingerprint(sha256.digest(), new FingerprintFieldHashes(hashes, complete));
        }

        private void hashed(String name, JsonNode value, int depth) {
            int start = text.size();
            named(name, value, depth);
            // Workflow and name are hashed with the value, so that equal values of different fields have different
            // hashes.
            mac.update(text.part(0, workflowEnd));
            mac.update(text.part(start, text.size()));
            long hash = ByteBuffer.wrap(mac.doFinal()).getLong();
            hashes.add(new FingerprintFieldHashes.FieldHash(
                    UntrustedNameLogSanitizer.of(name, FingerprintFieldHashes.SHOWN_NAME), hash));
        }

        private void named(String name, JsonNode value, int depth) {
            text.appendString(name);
            text.append(':');
            CanonicalJsonWriter.write(value, text, depth);
        }

        private static Mac hmacSha256(byte[] secret) {
            try {
                Mac mac = Mac.getInstance("HmacSHA256");
                mac.init(new SecretKeySpec(secret, "HmacSHA256"));
                return mac;
            } catch (GeneralSecurityException e) {
                throw new IllegalStateException("every Java has HmacSHA256", e);
            }
        }
    }
}
