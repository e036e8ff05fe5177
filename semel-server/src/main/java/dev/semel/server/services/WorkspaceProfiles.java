package dev.semel.server.services;

import dev.semel.runtime.SemelRuntime;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.server.settings.ProfileCohorts;
import dev.semel.server.settings.RecipientProfile;
import dev.semel.server.settings.WorkspaceSettings;
import dev.semel.server.settings.SettingRepository;
import dev.semel.server.settings.RecipientSubscriptions;
import dev.semel.server.steps.ProfileDirectory;
import dev.semel.store.StoreCommand;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** Profiles, subscriptions and cohorts of one workspace for its steps. */
final class WorkspaceProfiles implements ProfileDirectory {
    private static final String ACTOR = "workflow";
    private static final int MOST_TRIES = 100;

    private final SemelRuntime semel;
    private final WorkspaceSettings settings;
    private final int workspace;

    WorkspaceProfiles(SemelRuntime semel, WorkspaceSettings settings, int workspace) {
        this.semel = semel;
        this.settings = settings;
        this.workspace = workspace;
    }

    @Override
    public @Nullable JsonNode find(String idOrEmail) {
        SettingRepository.StoredSetting<RecipientProfile> kept = settings.profiles().findByIdOrEmail(workspace, idOrEmail);
        return kept == null ? null : view(kept.name(), kept.value());
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
        String id = mail ? "usr_" + hash(idOrEmail.strip().toLowerCase(Locale.ROOT)) : idOrEmail;
        return put(id, document);
    }

    @Override
    public @Nullable JsonNode update(String id, JsonNode fields) {
        for (int tries = 0; tries < MOST_TRIES; tries++) {
            SettingRepository.StoredSetting<RecipientProfile> kept = settings.profiles().findByIdOrEmail(workspace, id);
            if (kept == null) {
                return null;
            }
            ObjectNode document = kept.value().toJson();
            if (fields instanceof ObjectNode given) {
                document.setAll(given);
            }
            var draft = new SettingRepository.SettingDraft(workspace, kept.name(), document, kept.version(), ACTOR);
            if (semel.change(settings.profiles().preparePut(draft)) instanceof StoreCommand.SettingResult.Saved) {
                return find(kept.name());
            }
        }
        throw new SemelException(
                ErrorCode.STORE_UNAVAILABLE,
                "Too many concurrent changes of one profile. It was not changed.",
                "Try again in a moment.");
    }

    private JsonNode put(String id, ObjectNode document) {
        semel.change(settings.profiles().preparePut(new SettingRepository.SettingDraft(workspace, id, document, null, ACTOR)));
        JsonNode now = find(id);
        return now == null ? JsonNodeFactory.instance.objectNode().put("id", id) : now;
    }

    @Override
    public JsonNode subscribe(String id, String topic, boolean subscribed) {
        String profile = idOf(id);
        semel.change(
                settings.subscriptions().preparePut(new RecipientSubscriptions.SubscriptionChange(workspace, profile, topic, subscribed, ACTOR)));
        return JsonNodeFactory.instance
                .objectNode()
                .put("profile", profile)
                .put("topic", topic)
                .put("subscribed", subscribed);
    }

    @Override
    public JsonNode cohortMembership(String id, String cohort, @Nullable Boolean member) {
        var seat = new ProfileCohorts.Membership(workspace, cohort, idOf(id));
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
        SettingRepository.StoredSetting<RecipientProfile> kept = settings.profiles().findByIdOrEmail(workspace, idOrEmail);
        if (kept != null) {
            return kept.name();
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

    private static String hash(String text) {
        try {
            byte[] sha = MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(sha).substring(0, 24);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }
}
