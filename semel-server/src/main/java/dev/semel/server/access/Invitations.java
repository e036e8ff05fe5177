package dev.semel.server.access;

import dev.semel.runtime.SemelRuntime;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.json.StrictJson;
import dev.semel.store.StoreCommand;
import dev.semel.store.StoredRows;
import dev.semel.store.SettingKind;
import dev.semel.store.SettingName;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * Stores invitation and password-reset links. Each works once, for seven days, and is stored as a digest. A name has at
 * most one; a new link replaces the old one.
 */
public final class Invitations {
    private static final SettingKind FIRST = new SettingKind("invitation", false, false);
    private static final SettingKind NAMED = new SettingKind("link", false, false);
    private static final long GOOD_FOR = Duration.ofDays(7).toNanos() / 1_000;
    private static final int SECRET_BYTES = 24;
    private static final int ID_LENGTH = 16;

    private final SemelRuntime semel;

    Invitations(SemelRuntime semel) {
        this.semel = semel;
    }

    /**
     * @param firstUserOnly valid only while no other user exists
     * @param userVersion resets the password of the user at this version; 0: creates a user. A later user of the same name
     *     cannot use the link
     * @param name the invited user; empty: the user chooses one
     */
    public record Invitation(int ws, Role role, boolean firstUserOnly, int userVersion, String name, String digest, int version) {
        private SettingName document() {
            return firstUserOnly ? new SettingName(ws, FIRST, digest) : new SettingName(ws, NAMED, name);
        }
    }

    /**
     * A link that is not stored yet: `put` stores it and replaces the user's old one.
     *
     * @param token the secret part; never stored
     * @param id identifies the link; not a secret
     */
    public record Draft(String token, String id, long until, StoreCommand.SaveSetting put) {
        @Override
        public String toString() {
            return "link " + id;
        }
    }

    /**
     * A stored link without its secret, for administrators.
     *
     * @param userVersion the version of the user whose password it resets; 0: it creates a user
     */
    public record InvitationSummary(
            String name, String id, Role role, int userVersion, String madeBy, long madeAt, long until, int version) {
        /** Whether it resets a password instead of creating a user. */
        public boolean isPasswordReset() {
            return userVersion != 0;
        }
    }

    /** Creates an invitation and returns its token, which is not stored. */
    public String create(int ws, Role role, boolean first, String name) {
        Draft draft = first ? draftFirst(ws, role) : draft(ws, role, name, "server");
        semel.change(draft.put());
        return draft.token();
    }

    private Draft draftFirst(int ws, Role role) {
        String token = ws + "." + secret();
        String digest = LoginSessions.digest(token);
        long until = now() + GOOD_FOR;
        ObjectNode document = JsonNodeFactory.instance
                .objectNode()
                .put("role", role.word())
                .put("first_setup", true)
                .put("name", "")
                .put("until", until);
        return new Draft(
                token,
                id(digest),
                until,
                new StoreCommand.SaveSetting(new SettingName(ws, FIRST, digest), StrictJson.write(document), 0, "server"));
    }

    /** @param by the inviting user */
    public Draft draft(int ws, Role role, String name, String by) {
        return draftNamed(new SettingName(ws, NAMED, name), role, 0, by);
    }

    /** Creates a password-reset link for an existing user. */
    public Draft draftReset(int ws, UserAccounts.User person, String by) {
        return draftNamed(new SettingName(ws, NAMED, person.name()), person.role(), person.version(), by);
    }

    private Draft draftNamed(SettingName place, Role role, int over, String by) {
        String token = place.workspace() + "." + secret() + "." + place.text();
        String digest = LoginSessions.digest(token);
        long until = now() + GOOD_FOR;
        ObjectNode document = JsonNodeFactory.instance
                .objectNode()
                .put("role", role.word())
                .put("reset_version", over)
                .put("digest", digest)
                .put("until", until);
        return new Draft(token, id(digest), until, new StoreCommand.SaveSetting(place, StrictJson.write(document), null, by));
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
        String digest = LoginSessions.digest(token);
        boolean first = parts.length == 2;
        StoredRows.SettingRow row =
                first ? read(new SettingName(ws, FIRST, digest)) : read(new SettingName(ws, NAMED, parts[2]));
        if (row == null) {
            return null;
        }
        JsonNode document = StrictJson.parse(row.body());
        Role role = Role.of(document.path("role").asString(""));
        boolean fits = first
                ? document.path("first_setup").asBoolean(false)
                : same(document.path("digest").asString(""), digest);
        if (!fits || role == null || document.path("until").asLong(0) < now()) {
            return null;
        }
        String name = first ? document.path("name").asString("") : row.name();
        return new Invitation(ws, role, first, document.path("reset_version").asInt(0), name, digest, row.version());
    }

    private static boolean same(String one, String other) {
        return MessageDigest.isEqual(one.getBytes(StandardCharsets.UTF_8), other.getBytes(StandardCharsets.UTF_8));
    }

    /** The links of a workspace by user name, including expired ones. */
    public List<InvitationSummary> list(int ws, String after, int limit) {
        List<StoredRows.SettingRow> rows = semel.view(reads -> reads.settings(ws, NAMED.word(), after, limit));
        return rows == null ? List.of() : rows.stream().map(Invitations::open).toList();
    }

    /** The link of this user name; null if there is none. */
    public @Nullable InvitationSummary of(int ws, String name) {
        StoredRows.SettingRow row = read(new SettingName(ws, NAMED, name));
        return row == null ? null : open(row);
    }

    private static InvitationSummary open(StoredRows.SettingRow row) {
        JsonNode document = StrictJson.parse(row.body());
        Role role = Role.of(document.path("role").asString(""));
        return new InvitationSummary(
                row.name(),
                id(document.path("digest").asString("")),
                role == null ? Role.VIEWER : role,
                document.path("reset_version").asInt(0),
                row.changedBy(),
                row.changedAt(),
                document.path("until").asLong(0),
                row.version());
    }

    /** Revokes the link at this version. */
    public StoreCommand.RemoveSetting prepareRevoke(int ws, String name, int version, String by) {
        return new StoreCommand.RemoveSetting(new SettingName(ws, NAMED, name), version, by);
    }

    /** Binds the invitation to this name. */
    void bindToName(Invitation invitation, String name) {
        if (invitation.name().equals(name)) {
            return;
        }
        if (!invitation.name().isEmpty()) {
            throw UserAccounts.rejection("This link is for the name " + invitation.name());
        }
        ObjectNode document = JsonNodeFactory.instance
                .objectNode()
                .put("role", invitation.role().word())
                .put("first_setup", true)
                .put("name", name)
                .put("until", now() + GOOD_FOR);
        StoreCommand.SaveSetting put =
                new StoreCommand.SaveSetting(invitation.document(), StrictJson.write(document), invitation.version(), UserAccounts.ACTOR + name);
        if (!(semel.change(put) instanceof StoreCommand.SettingResult.Saved)) {
            throw unknownLink();
        }
    }

    /** Deletes a used link; a newer one stays. */
    void close(Invitation invitation) {
        Integer version = invitation.firstUserOnly() ? null : Integer.valueOf(invitation.version());
        semel.change(new StoreCommand.RemoveSetting(invitation.document(), version, "server"));
    }

    public static SemelException unknownLink() {
        return new SemelException(
                ErrorCode.NOT_FOUND,
                "This link is not valid: it was used, revoked or replaced, is older than seven days, or another"
                        + " user has"
                        + " already set up the server. Nothing was changed.",
                "Log in, or ask an administrator for another link.");
    }

    private StoredRows.@Nullable SettingRow read(SettingName name) {
        return semel.view(reads -> reads.setting(name.workspace(), name.kind().word(), name.text()));
    }

    /** The store's clock, which decides when a link expires. */
    public long now() {
        Long now = semel.view(reads -> reads.now());
        return now == null ? 0 : now;
    }
}
