package dev.semel.server.auth;

import dev.semel.Semel;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.json.Json;
import dev.semel.store.Edit;
import dev.semel.store.Rows;
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
final class Identities {
    private static final SettingKind IDENTITY = new SettingKind("identity", false, false);
    private static final String BELONGS_TO = "identity";
    private static final int LONGEST_NAME = 48;
    private static final int MARK = 8;
    private static final String AT = "@";
    private static final int TRIES = 20;

    private final Semel semel;
    private final SettingKind person;

    Identities(Semel semel, SettingKind person) {
        this.semel = semel;
        this.person = person;
    }

    /** Whether the identity provider manages this user's role and password. */
    static boolean fromOutside(ObjectNode document) {
        return document.has(BELONGS_TO);
    }

    /** Returns the local user name; creates the user or updates the role as the provider says. */
    String name(int ws, Vouched who) {
        for (int i = 0; i < TRIES; i++) {
            String name = findOrReserveName(ws, who);
            if (name != null && saveUser(ws, name, who)) {
                return name;
            }
        }
        throw new IllegalStateException("a user changed " + TRIES + " times during one login");
    }

    /** The stored name of this identity, or a free one that is stored now; null: try again. */
    private @Nullable String findOrReserveName(int ws, Vouched who) {
        SettingName place = new SettingName(ws, IDENTITY, who.identity());
        Rows.Setting row = read(place);
        String known = row == null ? "" : Json.parse(row.body()).path("name").asString("");
        if (known.contains(AT) && isFree(ws, known, who)) {
            return known;
        }
        for (String name : candidateNames(who)) {
            if (isFree(ws, name, who)) {
                String body = Json.write(JsonNodeFactory.instance.objectNode().put("name", name));
                Edit.Put put = new Edit.Put(place, body, row == null ? 0 : row.version(), People.ACTOR + name);
                return migrate(ws, known, name, who) && semel.change(put) instanceof Edit.Placed.Now ? name : null;
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
    private boolean migrate(int ws, String from, String to, Vouched who) {
        Rows.Setting old = from.isEmpty() || from.contains(AT) ? null : read(new SettingName(ws, person, from));
        if (old == null || !isFree(ws, from, who)) {
            return true;
        }
        SettingName place = new SettingName(ws, person, to);
        Rows.Setting there = read(place);
        int version = there == null ? 0 : there.version();
        return semel.change(new Edit.Put(place, old.body(), version, People.ACTOR + to)) instanceof Edit.Placed.Now
                && semel.change(new Edit.Remove(new SettingName(ws, person, from), old.version(), People.ACTOR + to))
                        instanceof Edit.Placed.Now;
    }

    private boolean isFree(int ws, String name, Vouched who) {
        Rows.Setting row = read(new SettingName(ws, person, name));
        return row == null
                || Json.parse(row.body()).path(BELONGS_TO).asString("").equals(who.identity());
    }

    private boolean saveUser(int ws, String name, Vouched who) {
        SettingName place = new SettingName(ws, person, name);
        Rows.Setting row = read(place);
        ObjectNode document = row == null ? JsonNodeFactory.instance.objectNode() : (ObjectNode) Json.parse(row.body());
        if (row != null && !document.path(BELONGS_TO).asString("").equals(who.identity())) {
            return false;
        }
        if (document.path(People.DISABLED).asBoolean(false)) {
            throw new SemelException(
                    ErrorCode.FORBIDDEN,
                    "User " + name + " is disabled. You are not logged in.",
                    "Ask an administrator of this server.");
        }
        if (document.path("role").asString("").equals(who.role().word())) {
            return true; // no write, so that logins do not invalidate other caches
        }
        document.put("role", who.role().word()).put(BELONGS_TO, who.identity());
        Edit.Put put = new Edit.Put(place, Json.write(document), row == null ? 0 : row.version(), People.ACTOR + name);
        return semel.change(put) instanceof Edit.Placed.Now;
    }

    /**
     * Candidate names: the provider's name plus its host, so it never equals a local name that reviews may mention. If
     * taken, a suffix derived from the identity follows.
     */
    private static List<String> candidateNames(Vouched who) {
        String plain = who.name()
                .replaceFirst("@.*$", "")
                .replaceAll("[^A-Za-z0-9._-]", "-")
                .replaceFirst("^[^A-Za-z]+", "");
        String base = plain.isEmpty() ? "person" : plain.substring(0, Math.min(LONGEST_NAME, plain.length()));
        String marked = base + "-" + who.identity().substring(0, MARK);
        return List.of(base + AT + who.host(), marked + AT + who.host());
    }

    private Rows.@Nullable Setting read(SettingName place) {
        return semel.view(reads -> reads.setting(place.workspace(), place.kind().word(), place.text()));
    }
}
