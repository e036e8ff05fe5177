package dev.semel.server.access;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.json.StrictJsonCodec;
import dev.semel.runtime.SemelRuntime;
import dev.semel.store.DatabaseRows;
import dev.semel.store.StoreWriteCommand;
import dev.semel.store.WorkspaceSettingName;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** A stored document links each identity to its local name, so that a renamed identity keeps its account. */
record OidcUserLinker(SemelRuntime semel) {
    private static final WorkspaceSettingName.SettingKind IDENTITY =
            new WorkspaceSettingName.SettingKind("identity", false, false);
    private static final String BELONGS_TO = "identity";
    private static final int LONGEST_NAME = 48;
    private static final int MARK = 8;
    private static final String AT = "@";
    private static final int TRIES = 20;

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
        throw new IllegalStateException(
                "the login gave up: other logins changed the record of this user " + TRIES + " times");
    }

    /** The stored name of this identity, or a free one that is stored now; null: try again. */
    private @Nullable String findOrReserveName(int ws, ExternalIdentity who) {
        WorkspaceSettingName settingName = new WorkspaceSettingName(ws, IDENTITY, who.identity());
        DatabaseRows.SettingRow row = UserAccountStore.read(semel, settingName);
        String known = row == null
                ? ""
                : StrictJsonCodec.parse(row.body()).path("name").asString("");
        if (known.contains(AT) && isFree(ws, known, who)) {
            return known;
        }
        for (String name : candidateNames(who)) {
            if (isFree(ws, name, who)) {
                String body = StrictJsonCodec.write(
                        JsonNodeFactory.instance.objectNode().put("name", name));
                StoreWriteCommand.SaveSetting put = new StoreWriteCommand.SaveSetting(
                        settingName, body, row == null ? 0 : row.version(), UserAccountStore.ACTOR + name);
                return migrate(ws, known, name, who)
                                && semel.change(put) instanceof StoreWriteCommand.SettingResult.Saved
                        ? name
                        : null;
            }
        }
        throw new SemelException(
                ErrorCode.FORBIDDEN,
                "Every user name that Semel could give you already belongs to another user. You are not logged in.",
                "Ask an administrator to remove the user who has your name.");
    }

    /**
     * Migrates a user from an old name without a host. It copies their state first, above all that they are disabled,
     * and then changes the link.
     */
    private boolean migrate(int ws, String from, String to, ExternalIdentity who) {
        DatabaseRows.SettingRow old = from.isEmpty() || from.contains(AT)
                ? null
                : UserAccountStore.read(semel, new WorkspaceSettingName(ws, UserAccountStore.USER, from));
        if (old == null || !isFree(ws, from, who)) {
            return true;
        }
        WorkspaceSettingName settingName = new WorkspaceSettingName(ws, UserAccountStore.USER, to);
        DatabaseRows.SettingRow there = UserAccountStore.read(semel, settingName);
        int version = there == null ? 0 : there.version();
        return semel.change(new StoreWriteCommand.SaveSetting(
                                settingName, old.body(), version, UserAccountStore.ACTOR + to))
                        instanceof StoreWriteCommand.SettingResult.Saved
                && semel.change(new StoreWriteCommand.RemoveSetting(
                                new WorkspaceSettingName(ws, UserAccountStore.USER, from),
                                old.version(),
                                UserAccountStore.ACTOR + to))
                        instanceof StoreWriteCommand.SettingResult.Saved;
    }

    private boolean isFree(int ws, String name, ExternalIdentity who) {
        DatabaseRows.SettingRow row =
                UserAccountStore.read(semel, new WorkspaceSettingName(ws, UserAccountStore.USER, name));
        return row == null
                || StrictJsonCodec.parse(row.body())
                        .path(BELONGS_TO)
                        .asString("")
                        .equals(who.identity());
    }

    private boolean saveUser(int ws, String name, ExternalIdentity who) {
        WorkspaceSettingName settingName = new WorkspaceSettingName(ws, UserAccountStore.USER, name);
        DatabaseRows.SettingRow row = UserAccountStore.read(semel, settingName);
        ObjectNode document =
                row == null ? JsonNodeFactory.instance.objectNode() : (ObjectNode) StrictJsonCodec.parse(row.body());
        if (row != null && !document.path(BELONGS_TO).asString("").equals(who.identity())) {
            return false;
        }
        if (document.path(UserAccountStore.DISABLED).asBoolean(false)) {
            throw new SemelException(
                    ErrorCode.FORBIDDEN,
                    "User " + name + " is disabled. You are not logged in.",
                    "Ask an administrator of this server to enable the user.");
        }
        if (document.path("role").asString("").equals(who.role().word())) {
            return true; // no write, so that logins do not invalidate other caches
        }
        document.put("role", who.role().word()).put(BELONGS_TO, who.identity());
        StoreWriteCommand.SaveSetting put = new StoreWriteCommand.SaveSetting(
                settingName,
                StrictJsonCodec.write(document),
                row == null ? 0 : row.version(),
                UserAccountStore.ACTOR + name);
        return semel.change(put) instanceof StoreWriteCommand.SettingResult.Saved;
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
        String base = plain.isEmpty() ? "user" : plain.substring(0, Math.min(LONGEST_NAME, plain.length()));
        String marked = base + "-" + who.identity().substring(0, MARK);
        return List.of(base + AT + who.host(), marked + AT + who.host());
    }
}
