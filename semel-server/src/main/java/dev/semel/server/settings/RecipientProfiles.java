package dev.semel.server.settings;

import dev.semel.runtime.SemelRuntime;
import dev.semel.store.StoreCommand;
import dev.semel.store.StoredRows;
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
public final class RecipientProfiles {
    private final SemelRuntime semel;
    private final SettingRepository<RecipientProfile> documents;

    RecipientProfiles(SemelRuntime semel) {
        this.semel = semel;
        this.documents = new SettingRepository<>(semel, new SettingRepository.DocumentType<>(SettingKinds.PROFILE, "profile", RecipientProfile.LARGEST, RecipientProfile::read));
    }

    public SettingRepository<RecipientProfile> documents() {
        return documents;
    }

    public SettingRepository.@Nullable StoredSetting<RecipientProfile> find(int workspace, String id) {
        return documents.find(workspace, id);
    }

    /** Finds by id, otherwise by email address. */
    public SettingRepository.@Nullable StoredSetting<RecipientProfile> findByIdOrEmail(int workspace, String idOrEmail) {
        SettingRepository.StoredSetting<RecipientProfile> byId = documents.find(workspace, idOrEmail);
        return byId != null || idOrEmail.indexOf('@') < 0 ? byId : findByEmail(workspace, idOrEmail);
    }

    /** If several profiles share an address, the one that got it last. */
    public SettingRepository.@Nullable StoredSetting<RecipientProfile> findByEmail(int workspace, String email) {
        String address = RecipientProfile.lower(email);
        StoredRows.SettingRow row = semel.view(reads -> reads.setting(workspace, SettingKinds.ADDRESS.word(), digest(address)));
        SettingRepository.StoredSetting<RecipientProfile> found = row == null ? null : documents.find(workspace, id(row));
        // The address index is written before the profile and may be outdated, so the profile decides.
        return found != null && address.equals(found.value().email()) ? found : null;
    }

    private static String id(StoredRows.SettingRow row) {
        return dev.semel.json.StrictJson.parse(row.body()).path("id").asString("");
    }

    /**
     * Prepares the edit that stores a profile. It writes the address index first in its own change; after a crash in
     * between, a retry writes both.
     */
    public StoreCommand.SaveSetting preparePut(SettingRepository.SettingDraft draft) {
        SettingNames.requireValidProfileId(draft.name());
        RecipientProfile profile = documents.parse(draft.document());
        if (profile.email() != null) {
            JsonNode pointer = JsonNodeFactory.instance.objectNode().put("id", draft.name());
            semel.change(new StoreCommand.SaveSetting(
                    new SettingName(draft.workspace(), SettingKinds.ADDRESS, digest(profile.email())),
                    dev.semel.json.StrictJson.write(pointer),
                    null,
                    draft.actor()));
        }
        return documents.preparePut(
                new SettingRepository.SettingDraft(draft.workspace(), draft.name(), profile.toJson(), draft.expected(), draft.actor()));
    }

    public StoreCommand.RemoveSetting prepareRemove(int workspace, String id, @Nullable Integer expected, String actor) {
        return documents.prepareRemove(workspace, id, expected, actor);
    }

    public List<StoredRows.SettingRow> page(int workspace, String after, int limit) {
        return documents.page(workspace, after, limit);
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
