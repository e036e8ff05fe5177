package dev.semel.key;

import dev.semel.json.JsonBytes;
import dev.semel.json.ShownName;
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

/**
 * What makes a trigger the same action as an earlier one: a digest of the fields that define it, and one keyed hash per
 * field, so that a conflict can name the field although nobody kept the payload. Holds no value of the payload.
 */
public final class Fingerprint {
    /** Top-level members that are hashed one by one where the workflow declares no fields. */
    public static final int MAX_UNDECLARED = 32;

    /** The version stands in front of what is digested: another way of digesting is another fingerprint. */
    private static final byte[] VERSION = "semel-fp1\n".getBytes(StandardCharsets.US_ASCII);

    private static final String NOT_AN_OBJECT = "(data)";
    private static final String BEYOND = "(a field beyond the first " + MAX_UNDECLARED + ")";
    private static final String UNTRACKED = "(a field that is not tracked)";

    private final byte[] digest;
    private final FieldHashes fields;

    private Fingerprint(byte[] digest, FieldHashes fields) {
        this.digest = digest;
        this.fields = fields;
    }

    /**
     * @param policy says which fields count; a declared field's function may throw, and that goes to the caller
     * @param secret the workspace's; without it the hashes of short values could be guessed from a stolen table
     */
    public static Fingerprint of(String workflowId, JsonNode data, KeyPolicy policy, byte[] secret) {
        Draft draft = new Draft(workflowId, secret);
        if (!policy.fingerprint().isEmpty()) {
            policy.fingerprint().forEach(field -> draft.declared(field, data));
        } else {
            List<FieldPath> ignored =
                    policy.fingerprintIgnore().stream().map(FieldPath::parse).toList();
            draft.whole(FieldPath.without(data, ignored));
        }
        return draft.finished();
    }

    /** For expressions: strings trimmed and in lower case, at every depth; names of members stay. */
    public static JsonNode normalised(JsonNode value) {
        return switch (value.getNodeType()) {
            case STRING ->
                JsonNodeFactory.instance.stringNode(value.stringValue().strip().toLowerCase(Locale.ROOT));
            case ARRAY -> {
                ArrayNode all = JsonNodeFactory.instance.arrayNode(value.size());
                value.forEach(element -> all.add(normalised(element)));
                yield all;
            }
            case OBJECT -> {
                ObjectNode all = JsonNodeFactory.instance.objectNode();
                value.properties().forEach(member -> all.set(member.getKey(), normalised(member.getValue())));
                yield all;
            }
            case NUMBER, BOOLEAN, NULL, MISSING, BINARY, POJO -> value;
        };
    }

    /** The names in the bytes of {@link #fields()}, as far as they can be read. */
    public static List<String> fieldNames(byte[] storedFields) {
        return FieldHashes.decoded(storedFields).hashes().stream()
                .map(FieldHashes.FieldHash::name)
                .toList();
    }

    /** 32 bytes. */
    public byte[] digest() {
        return digest.clone();
    }

    /** The hashed fields, to be stored beside the digest and given to {@link #changedFrom} later. */
    public byte[] fields() {
        return fields.encoded();
    }

    public boolean sameDigest(byte[] storedDigest) {
        return Arrays.equals(digest, storedDigest);
    }

    /**
     * The names of the fields that differ from a stored fingerprint whose digest differs: sorted, printable, at most 64
     * characters each, never a value. Where the difference lies outside of what was hashed, a text that says so.
     */
    public List<String> changedFrom(byte[] storedFields) {
        FieldHashes stored = FieldHashes.decoded(storedFields);
        SortedSet<String> names = fields.differingFrom(stored);
        if (!names.isEmpty()) {
            return List.copyOf(names);
        }
        // Stored bytes can also be incomplete because they were cut; then nobody knows where the difference is.
        boolean beyond =
                !fields.complete() || (!stored.complete() && stored.hashes().size() >= MAX_UNDECLARED);
        return List.of(beyond ? BEYOND : UNTRACKED);
    }

    /** The digest in hexadecimal, with its version in front. */
    @Override
    public String toString() {
        return "fp1:" + HexFormat.of().formatHex(digest);
    }

    /** A fingerprint in the making: the digest and the hashes read the same canonical bytes, written once. */
    private static final class Draft {
        private final JsonBytes text = new JsonBytes();
        private final Mac mac;
        private final List<FieldHashes.FieldHash> hashes = new ArrayList<>();
        private final int workflowEnd;
        private boolean complete = true;

        Draft(String workflowId, byte[] secret) {
            this.mac = hmacSha256(secret);
            text.string(workflowId);
            this.workflowEnd = text.size();
        }

        /** Name and value are JSON texts of their own, so no two lists of fields give the same bytes. */
        void declared(FingerprintField field, JsonNode data) {
            @Nullable JsonNode value = field.value().apply(data);
            text.put('\n');
            hashed(field.name(), value == null ? MissingNode.getInstance() : value, 1);
        }

        void whole(JsonNode data) {
            text.put('\n');
            if (!data.isObject()) {
                hashed(NOT_AN_OBJECT, data, 1);
                return;
            }
            text.put('{');
            int count = 0;
            for (Map.Entry<String, JsonNode> member : CanonicalJson.sortedMembers(data)) {
                if (count > 0) {
                    text.put(',');
                }
                if (count++ < MAX_UNDECLARED) {
                    hashed(member.getKey(), member.getValue(), 2);
                } else {
                    named(member.getKey(), member.getValue(), 2);
                    complete = false;
                }
            }
            text.put('}');
        }

        Fingerprint finished() {
            MessageDigest sha256 = sha256();
            sha256.update(VERSION);
            sha256.update(text.part(0, text.size()));
            return new Fingerprint(sha256.digest(), new FieldHashes(hashes, complete));
        }

        private void hashed(String name, JsonNode value, int depth) {
            int start = text.size();
            named(name, value, depth);
            // Workflow and name are hashed with the value, so that equal values in two places do not look equal.
            mac.update(text.part(0, workflowEnd));
            mac.update(text.part(start, text.size()));
            long hash = ByteBuffer.wrap(mac.doFinal()).getLong();
            hashes.add(new FieldHashes.FieldHash(ShownName.of(name, FieldHashes.SHOWN_NAME), hash));
        }

        private void named(String name, JsonNode value, int depth) {
            text.string(name);
            text.put(':');
            CanonicalJson.write(value, text, depth);
        }

        private static MessageDigest sha256() {
            try {
                return MessageDigest.getInstance("SHA-256");
            } catch (GeneralSecurityException e) {
                throw new IllegalStateException("every Java has SHA-256", e);
            }
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
