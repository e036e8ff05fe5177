package dev.semel.server.access;

import dev.semel.runtime.SemelRuntime;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.json.StrictJson;
import dev.semel.store.StoreCommand;
import dev.semel.store.StoredRows;
import dev.semel.store.SettingKind;
import dev.semel.store.SettingName;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * Maps identities of the identity provider to local user accounts. A stored document links each identity to its local
 * name, so that a renamed identity keeps its account.
 */
final class ExternalIdentities {
    private static final SettingKind IDENTITY = new SettingKind("identity", false, false);
    private static final String BELONGS_TO = "identity";
    private static final int LONGEST_NAME = 48;
    private static final int MARK = 8;
    private static final String AT = "@";
    private static final int TRIES = 20;

    private final SemelRuntime semel;
    private final SettingKind person;

    ExternalIdentities(SemelRuntime semel, SettingKind person) {
        this.semel = semel;
        this.person = person;
    }

    /** Whether the identity provider manages this user's role and password. */
    static boolean isExternal(ObjectNode document) {
        return document.has(BELONGS_TO);
    }

    /** Returns the local user name; creates the user or updates the role as the provider says. */
    String resolveUserName(int ws, ExternalIdentity who) {
        for (int i = 0; i < TRIES; i++) {
            String name = findOrReserveName(ws, who);
            if (name != null && saveUser(ws, name, who)) {
                return name;
            }
        }
        throw new IllegalStateException("a user changed " + TRIES + " times during one login");
    }

    /** The stored name of this identity, or a free one that is stored now; null: try again. */
    private @Nullable String findOrReserveName(int ws, ExternalIdentity who) {
        SettingName place = new SettingName(ws, IDENTITY, who.identity());
        StoredRows.SettingRow row = read(place);
        String known = row == null ? "" : StrictJson.parse(row.body()).path("name").asString("");
        if (known.contains(AT) && isFree(ws, known, who)) {
            return known;
        }
        for (String name : candidateNames(who)) {
            if (isFree(ws, name, who)) {
                String body = StrictJson.write(JsonNodeFactory.instance.objectNode().put("name", name));
                StoreCommand.SaveSetting put = new StoreCommand.SaveSetting(place, body, row == null ? 0 : row.version(), UserAccounts.ACTOR + name);
                return migrate(ws, known, name, who) && semel.change(put) instanceof StoreCommand.SettingResult.Saved ? name : null;
            }
        }
        throw new SemelException(
                ErrorCode.FORBIDDEN,
                "Other users have every name that you could get here. You are not logged in.",
                "Ask an administrator to remove the user who has your name.");
    }

    /**
     * Migrates a user from an old name without a host. It copies their state first, above all that they are disabled,
     * and then changes the link.
     */
    private boolean migrate(int ws, String from, String to, ExternalIdentity who) {
        StoredRows.SettingRow old = from.isEmpty() || from.contains(AT) ? null : read(new SettingName(ws, person, from));
        if (old == null || !isFree(ws, from, who)) {
            return true;
        }
        SettingName place = new SettingName(ws, person, to);
        StoredRows.SettingRow there = read(place);
        int version = there == null ? 0 : there.version();
        return semel.change(new StoreCommand.SaveSetting(place, old.body(), version, UserAccounts.ACTOR + to)) instanceof StoreCommand.SettingResult.Saved
                && semel.change(new StoreCommand.RemoveSetting(new SettingName(ws, person, from), old.version(), UserAccounts.ACTOR + to))
                        instanceof StoreCommand.SettingResult.Saved;
    }

    private boolean isFree(int ws, String name, ExternalIdentity who) {
        StoredRows.SettingRow row = read(new SettingName(ws, person, name));
        return row == null
                || StrictJson.parse(row.body()).path(BELONGS_TO).asString("").equals(who.identity());
    }

    private boolean saveUser(int ws, String name, ExternalIdentity who) {
        SettingName place = new SettingName(ws, person, name);
        StoredRows.SettingRow row = read(place);
        ObjectNode document = row == null ? JsonNodeFactory.instance.objectNode() : (ObjectNode) StrictJson.parse(row.body());
        if (row != null && !document.path(BELONGS_TO).asString("").equals(who.identity())) {
            return false;
        }
        if (document.path(UserAccounts.DISABLED).asBoolean(false)) {
            throw new SemelException(
                    ErrorCode.FORBIDDEN,
                    "User " + name + " is disabled. You are not logged in.",
                    "Ask an administrator of this server.");
        }
        if (document.path("role").asString("").equals(who.role().word())) {
            return true; // no write, so that logins do not invalidate other caches
        }
        document.put("role", who.role().word()).put(BELONGS_TO, who.identity());
        StoreCommand.SaveSetting put = new StoreCommand.SaveSetting(place, StrictJson.write(document), row == null ? 0 : row.version(), UserAccounts.ACTOR + name);
        return semel.change(put) instanceof StoreCommand.SettingResult.Saved;
    }

    /**
     * Candidate names: the provider's name plus its host, so it never equals a local name that reviews may mention. If
     * taken, a suffix derived from the identity follows.
     */
    private static List<String> candidateNames(ExternalIdentity who) {
        String plain = who.name()
                .replaceFirst("@.*$", "")
                .replaceAll("[^A-Za-z0-9._-]", "-")
                .replaceFirst("^[^A-Za-z]+", "");
        String base = plain.isEmpty() ? "person" : plain.substring(0, Math.min(LONGEST_NAME, plain.length()));
        String marked = base + "-" + who.identity().substring(0, MARK);
        return List.of(base + AT + who.host(), marked + AT + who.host());
    }

    private StoredRows.@Nullable SettingRow read(SettingName place) {
        return semel.view(reads -> reads.setting(place.workspace(), place.kind().word(), place.text()));
    }
}
