package dev.semel.server.access;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.json.Sha256;
import dev.semel.json.StrictJsonCodec;
import dev.semel.runtime.SemelRuntime;
import dev.semel.store.DatabaseRows;
import dev.semel.store.StoreWriteCommand;
import dev.semel.store.WorkspaceSettingName;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * Stores invitation and password-reset links. Each works once, for seven days, and is stored as a digest. A name has at
 * most one; a new link replaces the old one.
 */
public final class UserInvitationStore {
    private static final WorkspaceSettingName.SettingKind KIND =
            new WorkspaceSettingName.SettingKind("invitation", false, false);
    private static final long GOOD_FOR = Duration.ofDays(7).toNanos() / 1_000;
    private static final int SECRET_BYTES = 24;
    private static final int ID_LENGTH = 16;

    private final SemelRuntime semel;

    UserInvitationStore(SemelRuntime semel) {
        this.semel = semel;
    }

    /**
     * @param firstUserOnly valid only while no other user exists
     * @param userVersion resets the password of the user at this version; 0: creates a user. A later user of the same name
     *     cannot use the link
     * @param name the invited user; empty: the user chooses one
     */
    public record Invitation(
            int ws, UserRole role, boolean firstUserOnly, int userVersion, String name, String digest, int version) {
        private WorkspaceSettingName document() {
            return new WorkspaceSettingName(ws, KIND, firstUserOnly ? digest : name);
        }
    }

    /**
     * A link that is not stored yet: `put` stores it and replaces the user's old one.
     *
     * @param token the secret part; never stored
     * @param id identifies the link; not a secret
     */
    public record Draft(String token, String id, long until, StoreWriteCommand.SaveSetting put) {
        @Override
        public String toString() {
            return "link " + id;
        }
    }

    /** @param userVersion the version of the user whose password it resets; 0: it creates a user */
    public record InvitationSummary(
            String name,
            String id,
            UserRole role,
            int userVersion,
            String madeBy,
            long madeAt,
            long until,
            int version) {
        public boolean isPasswordReset() {
            return userVersion != 0;
        }
    }

    /** Creates an invitation and returns its token, which is not stored. */
    public String create(int ws, UserRole role, boolean first, String name) {
        Draft draft = first ? draftFirst(ws, role) : draft(ws, role, name, "server");
        semel.change(draft.put());
        return draft.token();
    }

    private Draft draftFirst(int ws, UserRole role) {
        String token = ws + "." + secret();
        WorkspaceSettingName name = new WorkspaceSettingName(ws, KIND, Sha256.hex(token));
        return draft(token, name, firstSetup(role, ""), 0, "server");
    }

    private static ObjectNode firstSetup(UserRole role, String name) {
        return document(role).put("first_setup", true).put("name", name);
    }

    private static ObjectNode document(UserRole role) {
        return JsonNodeFactory.instance.objectNode().put("role", role.word());
    }

    private Draft draft(
            String token, WorkspaceSettingName name, ObjectNode document, @Nullable Integer expected, String by) {
        long until = now() + GOOD_FOR;
        String body = StrictJsonCodec.write(document.put("until", until));
        return new Draft(
                token, id(Sha256.hex(token)), until, new StoreWriteCommand.SaveSetting(name, body, expected, by));
    }

    /** @param by the inviting user */
    public Draft draft(int ws, UserRole role, String name, String by) {
        return draftNamed(new WorkspaceSettingName(ws, KIND, name), role, 0, by);
    }

    public Draft draftReset(int ws, UserAccountStore.User user, String by) {
        return draftNamed(new WorkspaceSettingName(ws, KIND, user.name()), user.role(), user.version(), by);
    }

    private Draft draftNamed(WorkspaceSettingName settingName, UserRole role, int over, String by) {
        String token = settingName.workspace() + "." + secret() + "." + settingName.text();
        ObjectNode document = document(role).put("reset_version", over).put("digest", Sha256.hex(token));
        return draft(token, settingName, document, null, by);
    }

    private String secret() {
        return Base64.getUrlEncoder().withoutPadding().encodeToString(semel.newSecret(SECRET_BYTES));
    }

    /** A prefix of the digest distinguishes the links of one name. */
    private static String id(String digest) {
        return "inv_" + digest.substring(0, ID_LENGTH);
    }

    /** The invitation of a token; null if it is unknown or no longer valid. */
    public @Nullable Invitation find(String token) {
        if (!token.matches("[0-9]{1,9}\\.[A-Za-z0-9_-]{1,64}(\\.[A-Za-z][A-Za-z0-9._-]{0,63})?")) {
            return null;
        }
        String[] parts = token.split("\\.", 3);
        int ws = Integer.parseInt(parts[0]);
        String digest = Sha256.hex(token);
        boolean first = parts.length == 2;
        DatabaseRows.SettingRow row =
                UserAccountStore.read(semel, new WorkspaceSettingName(ws, KIND, first ? digest : parts[2]));
        if (row == null) {
            return null;
        }
        JsonNode document = StrictJsonCodec.parse(row.body());
        UserRole role = UserRole.of(document.path("role").asString(""));
        boolean fits = first
                ? document.path("first_setup").asBoolean(false)
                : UserAccountStore.same(document.path("digest").asString(""), digest);
        if (!fits || role == null || document.path("until").asLong(0) < now()) {
            return null;
        }
        String name = first ? document.path("name").asString("") : row.name();
        return new Invitation(ws, role, first, document.path("reset_version").asInt(0), name, digest, row.version());
    }

    /** The links of a workspace by user name, including expired ones. */
    public List<InvitationSummary> list(int ws, String after, int limit) {
        List<DatabaseRows.SettingRow> rows = semel.view(reads -> reads.settings(ws, KIND.word(), after, limit));
        return rows == null
                ? List.of()
                : rows.stream().map(UserInvitationStore::open).toList();
    }

    /** The link of this user name; null if there is none. */
    public @Nullable InvitationSummary of(int ws, String name) {
        DatabaseRows.SettingRow row = UserAccountStore.read(semel, new WorkspaceSettingName(ws, KIND, name));
        return row == null ? null : open(row);
    }

    private static InvitationSummary open(DatabaseRows.SettingRow row) {
        JsonNode document = StrictJsonCodec.parse(row.body());
        UserRole role = UserRole.of(document.path("role").asString(""));
        return new InvitationSummary(
                row.name(),
                id(document.path("digest").asString("")),
                role == null ? UserRole.VIEWER : role,
                document.path("reset_version").asInt(0),
                row.changedBy(),
                row.changedAt(),
                document.path("until").asLong(0),
                row.version());
    }

    public StoreWriteCommand.RemoveSetting prepareRevoke(int ws, String name, int version, String by) {
        return new StoreWriteCommand.RemoveSetting(new WorkspaceSettingName(ws, KIND, name), version, by);
    }

    void bindToName(Invitation invitation, String name) {
        if (invitation.name().equals(name)) {
            return;
        }
        if (!invitation.name().isEmpty()) {
            throw UserAccountStore.rejection("This link is for the name " + invitation.name());
        }
        ObjectNode document = firstSetup(invitation.role(), name).put("until", now() + GOOD_FOR);
        StoreWriteCommand.SaveSetting put = new StoreWriteCommand.SaveSetting(
                invitation.document(),
                StrictJsonCodec.write(document),
                invitation.version(),
                UserAccountStore.ACTOR + name);
        if (!(semel.change(put) instanceof StoreWriteCommand.SettingResult.Saved)) {
            throw unknownLink();
        }
    }

    /** Deletes a used link; a newer one stays. */
    void close(Invitation invitation) {
        Integer version = invitation.firstUserOnly() ? null : Integer.valueOf(invitation.version());
        semel.change(new StoreWriteCommand.RemoveSetting(invitation.document(), version, "server"));
    }

    public static SemelException unknownLink() {
        return new SemelException(
                ErrorCode.NOT_FOUND,
                "This link is not valid: it was used, revoked or replaced, is older than seven days, or another"
                        + " user has"
                        + " already set up the server. Nothing was changed.",
                "Log in, or ask an administrator for another link.");
    }

    /** The store's clock, which decides when a link expires. */
    public long now() {
        return Objects.requireNonNullElse(semel.view(reads -> reads.now()), 0L);
    }
}
