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
 * Who may decide a review: whom it was put to, and whom it went to when nobody answered. Where nobody was named, that is
 * whoever has the scope `review`. An administrator may always, so that nothing waits for somebody who has left.
 */
final class Deciders {
    /** Stands for nobody in particular. */
    private static final String OWNER = "owner";

    private Deciders() {}

    /** The names that a review gives; empty where it gives none. */
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

    /** @throws SemelException where somebody else is to decide */
    static void check(Principal who, Review.Row row) {
        if (!may(who, row)) {
            String names = String.join(", ", named(row));
            throw new SemelException(
                            ErrorCode.FORBIDDEN,
                            "Review " + row.id() + " is for " + names + ", and " + who.tokenId()
                                    + " is none of them. Nothing was decided and nothing was sent.",
                            "Let one of them decide, or an administrator. A person has a role by their groups"
                                    + " (PUT /v1/people/NAME), a token by its name.")
                    .with("review_id", row.id())
                    .with("may", names);
        }
    }
}
