package dev.semel.server.world;

import dev.semel.Semel;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.server.settings.Cohorts;
import dev.semel.server.settings.Profile;
import dev.semel.server.settings.Settings;
import dev.semel.server.settings.Shelf;
import dev.semel.server.settings.Subscriptions;
import dev.semel.server.steps.People;
import dev.semel.store.Edit;
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
final class Register implements People {
    private static final String ACTOR = "workflow";
    private static final int MOST_TRIES = 100;

    private final Semel semel;
    private final Settings settings;
    private final int workspace;

    Register(Semel semel, Settings settings, int workspace) {
        this.semel = semel;
        this.settings = settings;
        this.workspace = workspace;
    }

    @Override
    public @Nullable JsonNode find(String idOrEmail) {
        Shelf.Kept<Profile> kept = settings.profiles().findAny(workspace, idOrEmail);
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
            Shelf.Kept<Profile> kept = settings.profiles().findAny(workspace, id);
            if (kept == null) {
                return null;
            }
            ObjectNode document = kept.value().document();
            if (fields instanceof ObjectNode given) {
                document.setAll(given);
            }
            var draft = new Shelf.Draft(workspace, kept.name(), document, kept.version(), ACTOR);
            if (semel.change(settings.profiles().putting(draft)) instanceof Edit.Placed.Now) {
                return find(kept.name());
            }
        }
        throw new SemelException(
                ErrorCode.STORE_UNAVAILABLE,
                "Too many concurrent changes of one profile. It was not changed.",
                "Try again in a moment.");
    }

    private JsonNode put(String id, ObjectNode document) {
        semel.change(settings.profiles().putting(new Shelf.Draft(workspace, id, document, null, ACTOR)));
        JsonNode now = find(id);
        return now == null ? JsonNodeFactory.instance.objectNode().put("id", id) : now;
    }

    @Override
    public JsonNode subscribe(String id, String topic, boolean subscribed) {
        String profile = idOf(id);
        semel.change(
                settings.subscriptions().putting(new Subscriptions.Word(workspace, profile, topic, subscribed, ACTOR)));
        return JsonNodeFactory.instance
                .objectNode()
                .put("profile", profile)
                .put("topic", topic)
                .put("subscribed", subscribed);
    }

    @Override
    public JsonNode cohort(String id, String cohort, @Nullable Boolean member) {
        var seat = new Cohorts.Seat(workspace, cohort, idOf(id));
        if (member != null && member) {
            semel.change(settings.cohorts().adding(seat, ACTOR));
        } else if (member != null) {
            semel.change(settings.cohorts().removing(seat, ACTOR));
        }
        boolean inside = member == null ? settings.cohorts().has(seat) : member;
        return JsonNodeFactory.instance
                .objectNode()
                .put("profile", seat.profile())
                .put("cohort", cohort)
                .put("member", inside);
    }

    private String idOf(String idOrEmail) {
        Shelf.Kept<Profile> kept = settings.profiles().findAny(workspace, idOrEmail);
        if (kept != null) {
            return kept.name();
        }
        return idOrEmail.indexOf('@') > 0 ? idOrEmail.strip().toLowerCase(Locale.ROOT) : idOrEmail;
    }

    private JsonNode view(String id, Profile profile) {
        ObjectNode out = JsonNodeFactory.instance.objectNode().put("id", id);
        out.setAll(profile.document());
        out.remove("pii");
        ArrayNode without = JsonNodeFactory.instance.arrayNode();
        settings.subscriptions().of(workspace, id).stream()
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
