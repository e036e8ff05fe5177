package dev.semel.server.settings;

import dev.semel.Semel;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.json.Json;
import dev.semel.store.Edit;
import dev.semel.store.Rows;
import dev.semel.store.SettingName;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/**
 * Credentials, encrypted at rest (AES-256-GCM, bound to workspace and name). Only {@link #reveal} gives a value out, to
 * code that is about to send it; nothing that is recorded, logged or shown may hold it, which is {@link Redaction}'s care.
 */
public final class Secrets {
    /** Shorter ones could not be told from ordinary text, so they could not be kept out of it. */
    static final int SHORTEST = 4;

    static final int LONGEST = 16 << 10;
    private static final int PAGE = 200;

    private final Semel semel;
    private final SecretKeys keys;

    Secrets(Semel semel, SecretKeys keys) {
        this.semel = semel;
        this.keys = keys;
    }

    /**
     * What may be known of a secret.
     *
     * @param fingerprint eight digits that say whether two values are the same, and nothing about the value
     * @param key `current`, `older` (store it again, or keep the older key), or `missing` (it cannot be read)
     */
    public record Shown(String name, int version, String fingerprint, String key, long changedAt, String changedBy) {}

    /** The value, for whoever is about to send it. */
    public String reveal(int workspace, String name) {
        Rows.Setting row = row(workspace, name);
        if (row == null) {
            throw new SemelException(
                    ErrorCode.NOT_FOUND,
                    "There is no secret " + name + " in this workspace. Nothing was sent.",
                    "Store it with `semel secret set " + name + "`, or correct the name.");
        }
        return open(row);
    }

    public boolean exists(int workspace, String name) {
        return row(workspace, name) != null;
    }

    private Rows.@Nullable Setting row(int workspace, String name) {
        return semel.view(reads -> reads.setting(workspace, Kinds.SECRET.word(), name));
    }

    private String open(Rows.Setting row) {
        JsonNode body = Json.parse(row.body());
        return keys.open(
                new SecretKeys.Sealed(
                        body.path("key").asString(""),
                        Base64.getDecoder().decode(body.path("nonce").asString("")),
                        Base64.getDecoder().decode(body.path("text").asString(""))),
                about(row.ws(), row.name()),
                row.name());
    }

    private static String about(int workspace, String name) {
        return "semel secret\n" + workspace + "\n" + name;
    }

    public @Nullable Shown find(int workspace, String name) {
        Rows.Setting row = row(workspace, name);
        return row == null ? null : shown(row);
    }

    public List<Shown> page(int workspace, String after, int limit) {
        List<Rows.Setting> rows = semel.view(reads -> reads.settings(workspace, Kinds.SECRET.word(), after, limit));
        return rows == null
                ? List.of()
                : rows.stream().map(this::whole).map(this::shown).toList();
    }

    /** Lists leave long texts out. */
    private Rows.Setting whole(Rows.Setting row) {
        Rows.Setting whole = row.body().isEmpty() ? row(row.ws(), row.name()) : row;
        return whole == null ? row : whole;
    }

    public Shown shown(Rows.Setting row) {
        JsonNode body = row.body().isEmpty() ? JsonNodeFactory.instance.objectNode() : Json.parse(row.body());
        String id = body.path("key").asString("");
        String key = id.equals(keys.first()) ? "current" : keys.has(id) ? "older" : "missing";
        String fingerprint = body.path("fingerprint").asString("");
        return new Shown(row.name(), row.version(), fingerprint, key, row.changedAt(), row.changedBy());
    }

    /** Which secret, by whom, and which version it replaces (0: it must be new; null: whatever there is). */
    public record Draft(
            int workspace,
            String name,
            String value,
            @Nullable Integer expected,
            String actor) {}

    /**
     * The change that stores a value. A value that is stored already, under the current key, is stored as the text it
     * lies there as, so that it stays the version it is.
     */
    public Edit.Put putting(Draft draft) {
        Names.checked("secret", draft.name());
        refuseUnfit(draft.value());
        SettingName name = new SettingName(draft.workspace(), Kinds.SECRET, draft.name());
        Rows.Setting row = row(draft.workspace(), draft.name());
        String body = row != null && holds(row, draft.value()) ? row.body() : sealed(draft);
        return new Edit.Put(name, body, draft.expected(), draft.actor());
    }

    private boolean holds(Rows.Setting row, String value) {
        return shown(row).key().equals("current") && open(row).equals(value);
    }

    private String sealed(Draft draft) {
        SecretKeys.Sealed sealed = keys.seal(
                semel.newSecret(SecretKeys.NONCE_BYTES), about(draft.workspace(), draft.name()), draft.value());
        return Json.write(JsonNodeFactory.instance
                .objectNode()
                .put("key", sealed.key())
                .put("nonce", Base64.getEncoder().encodeToString(sealed.nonce()))
                .put("text", Base64.getEncoder().encodeToString(sealed.text()))
                .put("fingerprint", digest(draft).substring(0, 8)));
    }

    private static void refuseUnfit(String value) {
        if (value.length() < SHORTEST || value.length() > LONGEST || value.indexOf(0) >= 0) {
            throw new SemelException(
                    ErrorCode.INVALID_INPUT,
                    "A secret has " + SHORTEST + " to " + LONGEST + " characters, none of them NUL. It was not stored.",
                    "Shorter ones could not be kept out of logs; longer ones belong into a file.");
        }
    }

    public Edit.Remove removing(int workspace, String name, @Nullable Integer expected, String actor) {
        return new Edit.Remove(new SettingName(workspace, Kinds.SECRET, name), expected, actor);
    }

    /** A digest of the value that nobody can make who does not know the workspace's own secret. */
    public String digest(Draft draft) {
        Rows.Workspace workspace = semel.view(reads -> reads.workspace(draft.workspace()));
        if (workspace == null) {
            throw new IllegalStateException("a token belongs to a workspace that does not exist");
        }
        try {
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec(workspace.secret(), "HmacSHA256"));
            String text = about(draft.workspace(), draft.name()) + "\n" + draft.value();
            return HexFormat.of().formatHex(mac.doFinal(text.getBytes(StandardCharsets.UTF_8)));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("every JDK has HMAC-SHA-256", e);
        }
    }

    /** Every value of a workspace that can be read here, for {@link Redaction}. */
    List<String> values(int workspace) {
        List<String> values = new ArrayList<>();
        String after = "";
        for (boolean more = true; more; ) {
            String from = after;
            List<Rows.Setting> rows = semel.view(reads -> reads.settings(workspace, Kinds.SECRET.word(), from, PAGE));
            if (rows == null || rows.isEmpty()) {
                return values;
            }
            for (Rows.Setting row : rows) {
                Rows.Setting whole = whole(row);
                if (!whole.body().isEmpty() && !shown(whole).key().equals("missing")) {
                    values.add(open(whole));
                }
            }
            after = rows.getLast().name();
            more = rows.size() == PAGE;
        }
        return values;
    }
}
