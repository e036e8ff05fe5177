package dev.semel.server.settings;

import dev.semel.json.Sha256;
import dev.semel.json.StrictJsonCodec;
import dev.semel.runtime.SemelRuntime;
import dev.semel.server.settings.WorkspaceSettingRepository.StoredSetting;
import dev.semel.store.DatabaseRows;
import dev.semel.store.StoreWriteCommand;
import dev.semel.store.WorkspaceSettingName;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/** Stores recipient profiles and finds them by the caller's id or by email address. */
public final class RecipientProfileStore {
    private final SemelRuntime semel;
    private final WorkspaceSettingRepository<RecipientProfile> documents;

    RecipientProfileStore(SemelRuntime semel) {
        this.semel = semel;
        this.documents = new WorkspaceSettingRepository<>(
                semel, WorkspaceSettingKinds.PROFILE, RecipientProfile.LARGEST, RecipientProfile::read);
    }

    public WorkspaceSettingRepository<RecipientProfile> documents() {
        return documents;
    }

    /** Finds by id, otherwise by email address. */
    public @Nullable StoredSetting<RecipientProfile> findByIdOrEmail(int workspace, String idOrEmail) {
        StoredSetting<RecipientProfile> byId = documents.find(workspace, idOrEmail);
        return byId != null || idOrEmail.indexOf('@') < 0 ? byId : findByEmail(workspace, idOrEmail);
    }

    /** If several profiles share an address, the one that got it last. */
    public @Nullable StoredSetting<RecipientProfile> findByEmail(int workspace, String email) {
        String address = RecipientProfile.lower(email);
        DatabaseRows.SettingRow row =
                semel.view(reads -> reads.setting(workspace, WorkspaceSettingKinds.ADDRESS.word(), digest(address)));
        StoredSetting<RecipientProfile> found = row == null ? null : documents.find(workspace, id(row));
        // The address index is written before the profile and may be outdated, so the profile decides.
        return found != null && address.equals(found.value().email()) ? found : null;
    }

    private static String id(DatabaseRows.SettingRow row) {
        return StrictJsonCodec.parse(row.body()).path("id").asString("");
    }

    /**
     * Prepares the edit that stores a profile. It writes the address index first in its own change; after a crash in
     * between, a retry writes both.
     */
    public StoreWriteCommand.SaveSetting preparePut(WorkspaceSettingRepository.SettingDraft draft) {
        WorkspaceSettingNameValidator.requireValidProfileId(draft.name());
        RecipientProfile profile = documents.parse(draft.document());
        if (profile.email() != null) {
            JsonNode pointer = JsonNodeFactory.instance.objectNode().put("id", draft.name());
            semel.change(new StoreWriteCommand.SaveSetting(
                    new WorkspaceSettingName(draft.workspace(), WorkspaceSettingKinds.ADDRESS, digest(profile.email())),
                    StrictJsonCodec.write(pointer),
                    null,
                    draft.actor()));
        }
        return documents.preparePut(new WorkspaceSettingRepository.SettingDraft(
                draft.workspace(), draft.name(), profile.toJson(), draft.expected(), draft.actor()));
    }

    /** A digest, because the address itself would remain after the profile is removed. */
    private static String digest(String email) {
        return "email " + Sha256.hex(email);
    }
}
