package dev.semel.server.auth;

import dev.semel.Semel;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.json.Json;
import dev.semel.store.Edit;
import dev.semel.store.Rows;
import dev.semel.store.SettingKind;
import dev.semel.store.SettingName;
import java.time.Duration;
import java.util.Base64;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** Links by which people set up their log-in: each works once, for seven days, and is kept as its digest. */
public final class Invitations {
    private static final SettingKind KIND = new SettingKind("invitation", false, false);
    private static final long GOOD_FOR = Duration.ofDays(7).toNanos() / 1_000;

    private final Semel semel;

    Invitations(Semel semel) {
        this.semel = semel;
    }

    /**
     * @param first good only as long as nobody else has set up a log-in
     * @param over gives the person of this version another password; 0: makes a person. So a link is not good for
     *     whoever has the name of its owner later
     * @param name whose it is; empty: whoever comes chooses one
     */
    public record Invitation(int ws, Role role, boolean first, int over, String name, String digest, int version) {}

    /** Answers the token of a new invitation, the only moment it is known. */
    public String make(int ws, Role role, boolean first, String name) {
        return make(
                ws,
                JsonNodeFactory.instance
                        .objectNode()
                        .put("role", role.word())
                        .put("first", first)
                        .put("name", name));
    }

    /** The same for somebody who is there and is to choose another password. */
    public String makeReset(int ws, People.Person person) {
        return make(
                ws,
                JsonNodeFactory.instance
                        .objectNode()
                        .put("role", person.role().word())
                        .put("over", person.version())
                        .put("name", person.name()));
    }

    private String make(int ws, ObjectNode document) {
        String token = ws + "." + Base64.getUrlEncoder().withoutPadding().encodeToString(semel.newSecret(24));
        document.put("until", now() + GOOD_FOR);
        semel.change(new Edit.Put(name(ws, Sessions.digest(token)), Json.write(document), 0, "server"));
        return token;
    }

    /** The invitation of a token; null where there is none, or not any more. */
    public @Nullable Invitation find(String token) {
        if (!token.matches("[0-9]{1,9}\\.[A-Za-z0-9_-]{1,64}")) {
            return null;
        }
        int ws = Integer.parseInt(token.substring(0, token.indexOf('.')));
        String digest = Sessions.digest(token);
        Rows.Setting row = semel.view(reads -> reads.setting(ws, KIND.word(), digest));
        if (row == null) {
            return null;
        }
        JsonNode document = Json.parse(row.body());
        Role role = Role.of(document.path("role").asString(""));
        if (role == null || document.path("until").asLong(0) < now()) {
            return null;
        }
        return new Invitation(
                ws,
                role,
                document.path("first").asBoolean(false),
                document.path("over").asInt(0),
                document.path("name").asString(""),
                digest,
                row.version());
    }

    /** Gives it to this name and to no other one. */
    void give(Invitation invitation, String name) {
        if (invitation.name().equals(name)) {
            return;
        }
        if (!invitation.name().isEmpty()) {
            throw People.refused("This link is for the name " + invitation.name());
        }
        ObjectNode document = JsonNodeFactory.instance
                .objectNode()
                .put("role", invitation.role().word())
                .put("first", invitation.first())
                .put("name", name)
                .put("until", now() + GOOD_FOR);
        Edit.Put put = new Edit.Put(
                name(invitation.ws(), invitation.digest()), Json.write(document), invitation.version(), "usr_" + name);
        if (!(semel.change(put) instanceof Edit.Placed.Now)) {
            throw unknown();
        }
    }

    void done(Invitation invitation) {
        semel.change(new Edit.Remove(name(invitation.ws(), invitation.digest()), null, "server"));
    }

    public static SemelException unknown() {
        return new SemelException(
                ErrorCode.NOT_FOUND,
                "This link is not known: it was used, is older than seven days, or somebody has set up the server."
                        + " Nothing was changed.",
                "Log in, or ask an administrator for another link.");
    }

    private SettingName name(int ws, String digest) {
        return new SettingName(ws, KIND, digest);
    }

    private long now() {
        Long now = semel.view(reads -> reads.now());
        return now == null ? 0 : now;
    }
}
