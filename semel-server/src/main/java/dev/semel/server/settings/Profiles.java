package dev.semel.server.settings;

import dev.semel.Semel;
import dev.semel.store.Edit;
import dev.semel.store.Rows;
import dev.semel.store.SettingName;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/** Stores recipient profiles and finds them by the caller's id or by email address. */
public final class Profiles {
    private final Semel semel;
    private final Shelf<Profile> shelf;

    Profiles(Semel semel) {
        this.semel = semel;
        this.shelf = new Shelf<>(semel, new Shelf.Sort<>(Kinds.PROFILE, "profile", Profile.LARGEST, Profile::read));
    }

    public Shelf<Profile> shelf() {
        return shelf;
    }

    public Shelf.@Nullable Kept<Profile> find(int workspace, String id) {
        return shelf.find(workspace, id);
    }

    /** Finds by id, otherwise by email address. */
    public Shelf.@Nullable Kept<Profile> findAny(int workspace, String idOrEmail) {
        Shelf.Kept<Profile> byId = shelf.find(workspace, idOrEmail);
        return byId != null || idOrEmail.indexOf('@') < 0 ? byId : byEmail(workspace, idOrEmail);
    }

    /** If several profiles share an address, the one that got it last. */
    public Shelf.@Nullable Kept<Profile> byEmail(int workspace, String email) {
        String address = Profile.lower(email);
        Rows.Setting row = semel.view(reads -> reads.setting(workspace, Kinds.ADDRESS.word(), digest(address)));
        Shelf.Kept<Profile> found = row == null ? null : shelf.find(workspace, id(row));
        // The address index is written before the profile and may be outdated, so the profile decides.
        return found != null && address.equals(found.value().email()) ? found : null;
    }

    private static String id(Rows.Setting row) {
        return dev.semel.json.Json.parse(row.body()).path("id").asString("");
    }

    /**
     * Prepares the edit that stores a profile. It writes the address index first in its own change; after a crash in
     * between, a retry writes both.
     */
    public Edit.Put putting(Shelf.Draft draft) {
        Names.profile(draft.name());
        Profile profile = shelf.check(draft.document());
        if (profile.email() != null) {
            JsonNode pointer = JsonNodeFactory.instance.objectNode().put("id", draft.name());
            semel.change(new Edit.Put(
                    new SettingName(draft.workspace(), Kinds.ADDRESS, digest(profile.email())),
                    dev.semel.json.Json.write(pointer),
                    null,
                    draft.actor()));
        }
        return shelf.putting(
                new Shelf.Draft(draft.workspace(), draft.name(), profile.document(), draft.expected(), draft.actor()));
    }

    public Edit.Remove removing(int workspace, String id, @Nullable Integer expected, String actor) {
        return shelf.removing(workspace, id, expected, actor);
    }

    public List<Rows.Setting> page(int workspace, String after, int limit) {
        return shelf.page(workspace, after, limit);
    }

    /** A digest, because the address itself would remain after the profile is removed. */
    private static String digest(String email) {
        try {
            byte[] sha = MessageDigest.getInstance("SHA-256").digest(email.getBytes(StandardCharsets.UTF_8));
            return "email " + HexFormat.of().formatHex(sha);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }
}
