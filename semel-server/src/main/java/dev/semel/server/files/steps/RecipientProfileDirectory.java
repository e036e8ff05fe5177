package dev.semel.server.files.steps;

import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * Finds and changes recipient profiles of a workspace.
 *
 * <p>A profile is {@code {id, email, phone, chat, attributes, subscribed, unsubscribed_from, cohorts}}. Every change
 * sets a state, so that a repeat has no further effect.
 */
public interface RecipientProfileDirectory {
    /** Finds a profile by id or e-mail address; null if there is none. */
    @Nullable
    JsonNode find(String idOrEmail);

    JsonNode findOrCreate(String idOrEmail, JsonNode fields);

    /** Sets some fields and keeps the others. Null if the profile does not exist. */
    @Nullable
    JsonNode update(String id, JsonNode fields);

    /** @param topic a channel type, a channel or an event */
    JsonNode subscribe(String id, String topic, boolean subscribed);

    /** @param member null to only read the membership */
    JsonNode cohortMembership(String id, String cohort, @Nullable Boolean member);
}
