package dev.semel.server.settings;

import dev.semel.error.ErrorCode;
import dev.semel.error.RequestRejected;
import dev.semel.error.SemelException;
import dev.semel.json.Sha256;
import dev.semel.json.StrictJsonCodec;
import dev.semel.runtime.SemelRuntime;
import dev.semel.store.DatabaseRows;
import dev.semel.store.StoreWriteCommand;
import dev.semel.store.WorkspaceSettingName;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * Stores secrets encrypted (AES-256-GCM, bound to workspace and name). Only {@link #reveal} returns a value, to code
 * that sends it; {@link SecretRedactor} keeps values out of records and logs.
 */
public final class SecretStore {
    /** Shortest secret; redaction could not distinguish shorter ones from ordinary text. */
    static final int SHORTEST = 4;

    static final int LONGEST = 16 << 10;
    private static final int PAGE = 200;

    private final SemelRuntime semel;
    private final SecretEncryptionKeys keys;

    SecretStore(SemelRuntime semel, SecretEncryptionKeys keys) {
        this.semel = semel;
        this.keys = keys;
    }

    /**
     * Metadata of a secret without its value.
     *
     * @param fingerprint eight digits that show whether two values are equal, without revealing them
     * @param key `current`, `older` (store the secret again or keep the older key), or `missing` (cannot be decrypted)
     * @param receivers hosts that may receive it
     */
    public record SecretSummary(
            String name,
            int version,
            String fingerprint,
            String key,
            long changedAt,
            String changedBy,
            SecretReceivers receivers) {}

    /**
     * Returns the value for code that is about to send it to a host.
     *
     * @throws RequestRejected if the host may not receive it
     */
    public String revealTo(int workspace, String name, String host, int port) {
        DatabaseRows.SettingRow row = existing(workspace, name);
        SecretReceivers receivers = receivers(row);
        if (!receivers.allow(host, port)) {
            throw new RequestRejected(receivers.rejection(name, host) + ". Nothing was sent.");
        }
        return open(row);
    }

    /** Returns the value for code that does not send it, such as the check of a signature. */
    public String reveal(int workspace, String name) {
        return open(existing(workspace, name));
    }

    private DatabaseRows.SettingRow existing(int workspace, String name) {
        DatabaseRows.SettingRow row = row(workspace, name);
        if (row == null) {
            throw new SemelException(
                    ErrorCode.NOT_FOUND,
                    "There is no secret " + name + " in this workspace. Nothing was sent.",
                    "Store it with `semel secret set " + name + "`, or correct the name.");
        }
        return row;
    }

    /** The hosts that may receive a secret; null if it does not exist. */
    public @Nullable SecretReceivers findReceivers(int workspace, String name) {
        DatabaseRows.SettingRow row = row(workspace, name);
        return row == null ? null : receivers(row);
    }

    private static SecretReceivers receivers(DatabaseRows.SettingRow row) {
        return SecretReceivers.ofStored(StrictJsonCodec.parse(row.body()).path("hosts"));
    }

    public boolean exists(int workspace, String name) {
        return row(workspace, name) != null;
    }

    private DatabaseRows.@Nullable SettingRow row(int workspace, String name) {
        return semel.view(reads -> reads.setting(workspace, WorkspaceSettingKinds.SECRET.word(), name));
    }

    private String open(DatabaseRows.SettingRow row) {
        JsonNode body = StrictJsonCodec.parse(row.body());
        return keys.decrypt(
                new SecretEncryptionKeys.EncryptedText(
                        body.path("key").asString(""),
                        Base64.getDecoder().decode(body.path("nonce").asString("")),
                        Base64.getDecoder().decode(body.path("text").asString(""))),
                about(row.ws(), row.name(), receivers(row)),
                row.name());
    }

    /** The hosts are part of it, so that a change in the database makes the secret unreadable. */
    private static String about(int workspace, String name, SecretReceivers receivers) {
        String about = "semel secret\n" + workspace + "\n" + name;
        return receivers.hosts().isEmpty() ? about : about + "\n" + String.join(",", receivers.hosts());
    }

    public @Nullable SecretSummary find(int workspace, String name) {
        DatabaseRows.SettingRow row = row(workspace, name);
        return row == null ? null : summarize(row);
    }

    public List<SecretSummary> page(int workspace, String after, int limit) {
        List<DatabaseRows.SettingRow> rows =
                semel.view(reads -> reads.settings(workspace, WorkspaceSettingKinds.SECRET.word(), after, limit));
        return rows == null
                ? List.of()
                : rows.stream().map(this::loadFull).map(this::summarize).toList();
    }

    /** Loads the full row, since lists omit long texts. */
    private DatabaseRows.SettingRow loadFull(DatabaseRows.SettingRow row) {
        DatabaseRows.SettingRow whole = row.body().isEmpty() ? row(row.ws(), row.name()) : row;
        return whole == null ? row : whole;
    }

    public SecretSummary summarize(DatabaseRows.SettingRow row) {
        JsonNode body =
                row.body().isEmpty() ? JsonNodeFactory.instance.objectNode() : StrictJsonCodec.parse(row.body());
        String id = body.path("key").asString("");
        String key = id.equals(keys.currentKeyId()) ? "current" : keys.has(id) ? "older" : "missing";
        String fingerprint = body.path("fingerprint").asString("");
        return new SecretSummary(
                row.name(),
                row.version(),
                fingerprint,
                key,
                row.changedAt(),
                row.changedBy(),
                SecretReceivers.ofStored(body.path("hosts")));
    }

    /**
     * A secret to store, its actor, and the version it replaces (0: it must be new; null: any).
     *
     * @param receivers hosts that may receive it; null: as before. Only someone who knows the value can change them.
     */
    public record SecretDraft(
            int workspace,
            String name,
            String value,
            @Nullable SecretReceivers receivers,
            @Nullable Integer expected,
            String actor) {}

    /**
     * Prepares the edit that stores a value. A value that is already stored under the current key keeps its encrypted
     * text, so that its version does not change.
     */
    public StoreWriteCommand.SaveSetting preparePut(SecretDraft draft) {
        WorkspaceSettingNameValidator.requireValid("secret", draft.name());
        requireValid(draft.value());
        WorkspaceSettingName name =
                new WorkspaceSettingName(draft.workspace(), WorkspaceSettingKinds.SECRET, draft.name());
        DatabaseRows.SettingRow row = row(draft.workspace(), draft.name());
        SecretReceivers before = row == null ? SecretReceivers.ANY : receivers(row);
        SecretReceivers receivers = draft.receivers() == null ? before : draft.receivers();
        boolean same = row != null && receivers.equals(before) && hasValue(row, draft.value());
        // Hosts that were read are saved only over the version that they were read from.
        Integer expected = draft.expected() == null && draft.receivers() == null && row != null
                ? Integer.valueOf(row.version())
                : draft.expected();
        String body = row != null && same ? row.body() : encrypted(draft, receivers);
        return new StoreWriteCommand.SaveSetting(name, body, expected, draft.actor());
    }

    private boolean hasValue(DatabaseRows.SettingRow row, String value) {
        return summarize(row).key().equals("current") && open(row).equals(value);
    }

    private String encrypted(SecretDraft draft, SecretReceivers receivers) {
        SecretEncryptionKeys.EncryptedText sealed = keys.encrypt(
                semel.newSecret(SecretEncryptionKeys.NONCE_BYTES),
                about(draft.workspace(), draft.name(), receivers),
                draft.value());
        ObjectNode body = JsonNodeFactory.instance
                .objectNode()
                .put("key", sealed.key())
                .put("nonce", Base64.getEncoder().encodeToString(sealed.nonce()))
                .put("text", Base64.getEncoder().encodeToString(sealed.text()))
                .put("fingerprint", valueDigest(draft).substring(0, 8));
        if (!receivers.hosts().isEmpty()) {
            receivers.hosts().forEach(body.putArray("hosts")::add);
        }
        return StrictJsonCodec.write(body);
    }

    private static void requireValid(String value) {
        if (value.length() < SHORTEST || value.length() > LONGEST || value.indexOf(0) >= 0) {
            throw new SemelException(
                    ErrorCode.INVALID_INPUT,
                    "A secret must have " + SHORTEST + " to " + LONGEST + " characters without NUL. It was not stored.",
                    "If the value is too short, use a longer one: Semel cannot redact short values from logs. Keep data"
                            + " that is too long in a file.");
        }
    }

    public StoreWriteCommand.RemoveSetting prepareRemove(
            int workspace, String name, @Nullable Integer expected, String actor) {
        return new StoreWriteCommand.RemoveSetting(
                new WorkspaceSettingName(workspace, WorkspaceSettingKinds.SECRET, name), expected, actor);
    }

    /** Identifies the change for the record of the request: a keyed digest of the value, and the hosts. */
    public String digest(SecretDraft draft) {
        SecretReceivers receivers = draft.receivers();
        return valueDigest(draft) + (receivers == null ? "" : "\n" + String.join(",", receivers.hosts()));
    }

    /** A keyed digest of the value; only holders of the workspace secret can compute it. */
    private String valueDigest(SecretDraft draft) {
        DatabaseRows.WorkspaceRow workspace = semel.view(reads -> reads.workspace(draft.workspace()));
        if (workspace == null) {
            throw new IllegalStateException("a token belongs to a workspace that does not exist");
        }
        String text = about(draft.workspace(), draft.name(), SecretReceivers.ANY) + "\n" + draft.value();
        return HexFormat.of().formatHex(Sha256.hmac(workspace.secret(), text));
    }

    /** All readable values of a workspace, for {@link SecretRedactor}. */
    List<String> values(int workspace) {
        List<String> values = new ArrayList<>();
        String after = "";
        for (boolean more = true; more; ) {
            String from = after;
            List<DatabaseRows.SettingRow> rows =
                    semel.view(reads -> reads.settings(workspace, WorkspaceSettingKinds.SECRET.word(), from, PAGE));
            if (rows == null || rows.isEmpty()) {
                return values;
            }
            for (DatabaseRows.SettingRow row : rows) {
                DatabaseRows.SettingRow whole = loadFull(row);
                if (!whole.body().isEmpty() && !summarize(whole).key().equals("missing")) {
                    values.add(open(whole));
                }
            }
            after = rows.getLast().name();
            more = rows.size() == PAGE;
        }
        return values;
    }
}
