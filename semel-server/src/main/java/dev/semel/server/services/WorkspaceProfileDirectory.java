package dev.semel.server.services;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.json.Sha256;
import dev.semel.runtime.SemelRuntime;
import dev.semel.server.files.steps.RecipientProfileDirectory;
import dev.semel.server.settings.RecipientGroupStore;
import dev.semel.server.settings.RecipientProfile;
import dev.semel.server.settings.RecipientTopicSubscriptionStore;
import dev.semel.server.settings.WorkspaceSettingRepositories;
import dev.semel.server.settings.WorkspaceSettingRepository;
import dev.semel.store.StoreWriteCommand;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

record WorkspaceProfileDirectory(SemelRuntime semel, WorkspaceSettingRepositories settings, int workspace)
        implements RecipientProfileDirectory {
    private static final String ACTOR = "workflow";
    private static final int MOST_TRIES = 100;

    @Override
    public @Nullable JsonNode find(String idOrEmail) {
        WorkspaceSettingRepository.StoredSetting<RecipientProfile> stored =
                settings.profiles().findByIdOrEmail(workspace, idOrEmail);
        return stored == null ? null : view(stored.name(), stored.value());
    }

    /** Derives the id of a new profile from its address, so that concurrent calls create one profile. */
    @Override
    public JsonNode findOrCreate(String idOrEmail, JsonNode fields) {
        JsonNode known = find(idOrEmail);
        if (known != null) {
            return known;
        }
        ObjectNode document = JsonNodeFactory.instance.objectNode();
        if (fields instanceof ObjectNode given) {
            document.setAll(given);
        }
        boolean mail = idOrEmail.indexOf('@') > 0;
        if (mail) {
            document.put("email", idOrEmail);
        }
        String id = mail
                ? "usr_"
                        + Sha256.hex(idOrEmail.strip().toLowerCase(Locale.ROOT)).substring(0, 24)
                : idOrEmail;
        return put(id, document);
    }

    @Override
    public @Nullable JsonNode update(String id, JsonNode fields) {
        for (int tries = 0; tries < MOST_TRIES; tries++) {
            WorkspaceSettingRepository.StoredSetting<RecipientProfile> stored =
                    settings.profiles().findByIdOrEmail(workspace, id);
            if (stored == null) {
                return null;
            }
            ObjectNode document = stored.value().toJson();
            if (fields instanceof ObjectNode given) {
                document.setAll(given);
            }
            var draft = new WorkspaceSettingRepository.SettingDraft(
                    workspace, stored.name(), document, stored.version(), ACTOR);
            if (semel.change(settings.profiles().preparePut(draft)) instanceof StoreWriteCommand.SettingResult.Saved) {
                return find(stored.name());
            }
        }
        throw new SemelException(
                ErrorCode.STORE_UNAVAILABLE,
                "Too many requests changed this profile at the same time. The profile was not changed.",
                "Try again in a moment.");
    }

    private JsonNode put(String id, ObjectNode document) {
        semel.change(settings.profiles()
                .preparePut(new WorkspaceSettingRepository.SettingDraft(workspace, id, document, null, ACTOR)));
        JsonNode now = find(id);
        return now == null ? JsonNodeFactory.instance.objectNode().put("id", id) : now;
    }

    @Override
    public JsonNode subscribe(String id, String topic, boolean subscribed) {
        String profile = idOf(id);
        semel.change(settings.subscriptions()
                .preparePut(new RecipientTopicSubscriptionStore.SubscriptionChange(
                        workspace, profile, topic, subscribed, ACTOR)));
        return JsonNodeFactory.instance
                .objectNode()
                .put("profile", profile)
                .put("topic", topic)
                .put("subscribed", subscribed);
    }

    @Override
    public JsonNode cohortMembership(String id, String cohort, @Nullable Boolean member) {
        var seat = new RecipientGroupStore.Membership(workspace, cohort, idOf(id));
        if (member != null && member) {
            semel.change(settings.cohorts().prepareAdd(seat, ACTOR));
        } else if (member != null) {
            semel.change(settings.cohorts().prepareRemove(seat, ACTOR));
        }
        boolean inside = member == null ? settings.cohorts().contains(seat) : member;
        return JsonNodeFactory.instance
                .objectNode()
                .put("profile", seat.profile())
                .put("cohort", cohort)
                .put("member", inside);
    }

    private String idOf(String idOrEmail) {
        WorkspaceSettingRepository.StoredSetting<RecipientProfile> stored =
                settings.profiles().findByIdOrEmail(workspace, idOrEmail);
        if (stored != null) {
            return stored.name();
        }
        return idOrEmail.indexOf('@') > 0 ? idOrEmail.strip().toLowerCase(Locale.ROOT) : idOrEmail;
    }

    private JsonNode view(String id, RecipientProfile profile) {
        ObjectNode out = JsonNodeFactory.instance.objectNode().put("id", id);
        out.setAll(profile.toJson());
        out.remove("pii");
        ArrayNode without = JsonNodeFactory.instance.arrayNode();
        settings.subscriptions().list(workspace, id).stream()
                .filter(choice -> !choice.subscribed())
                .forEach(choice -> without.add(choice.topic()));
        out.put("subscribed", without.isEmpty());
        out.set("unsubscribed_from", without);
        ArrayNode cohorts = out.putArray("cohorts");
        settings.cohorts().of(workspace, id).forEach(cohorts::add);
        return out;
    }
}
