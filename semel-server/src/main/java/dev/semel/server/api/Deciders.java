package dev.semel.server.api;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.json.Json;
import dev.semel.server.http.Principal;
import dev.semel.server.http.Scope;
import dev.semel.store.Review;
import java.util.LinkedHashSet;
import java.util.Set;

/**
 * Checks who may decide a review: its named reviewers, those it was escalated to, and administrators. If a review names
 * nobody, everyone with the scope `review` may decide. Administrators may always, so no review waits for a user who
 * left.
 */
final class Deciders {
    /** A reviewer name that means everyone with the scope `review`. */
    private static final String OWNER = "owner";

    private Deciders() {}

    /** The reviewers that a review names; empty if everyone with the scope may decide. */
    static Set<String> named(Review.Row row) {
        Set<String> names = new LinkedHashSet<>();
        String first = Json.parse(row.question()).path("to").asString("");
        for (String list : new String[] {first, row.reviewer()}) {
            for (String one : list.split(",")) {
                if (!one.isBlank()) {
                    names.add(one.strip());
                }
            }
        }
        return names.contains(OWNER) ? Set.of() : names;
    }

    static boolean may(Principal who, Review.Row row) {
        Set<String> names = named(row);
        return names.isEmpty()
                || who.may(Scope.ADMIN)
                || names.contains(who.tokenId())
                || names.stream().anyMatch(who.called()::contains);
    }

    /** @throws SemelException if this principal may not decide the review */
    static void check(Principal who, Review.Row row) {
        if (!may(who, row)) {
            String names = String.join(", ", named(row));
            throw new SemelException(
                            ErrorCode.FORBIDDEN,
                            "Review " + row.id() + " is for " + names + ", and " + who.tokenId()
                                    + " is none of them. Semel recorded no decision and sent nothing.",
                            "Ask one of them or an administrator to decide. A user gets a role from their groups"
                                    + " (PUT /v1/people/NAME), a token from its name.")
                    .with("review_id", row.id())
                    .with("may", names);
        }
    }
}
