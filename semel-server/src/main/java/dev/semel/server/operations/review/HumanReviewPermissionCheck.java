package dev.semel.server.operations.review;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.json.StrictJsonCodec;
import dev.semel.server.http.Principal;
import dev.semel.server.http.TokenScope;
import dev.semel.store.HumanReviewStoreWriteCommand;
import java.util.LinkedHashSet;
import java.util.Set;

/**
 * Checks who may decide a review: its named reviewers, those it was escalated to, and administrators. If a review names
 * nobody, everyone with the scope `review` may decide. Administrators may always, so no review waits for a user who
 * left.
 */
public final class HumanReviewPermissionCheck {
    /** A reviewer name that means everyone with the scope `review`. */
    private static final String OWNER = "owner";

    private HumanReviewPermissionCheck() {}

    /** The reviewers that a review names; empty if everyone with the scope may decide. */
    static Set<String> namedReviewers(HumanReviewStoreWriteCommand.ReviewRow row) {
        Set<String> names = new LinkedHashSet<>();
        String first = StrictJsonCodec.parse(row.question()).path("to").asString("");
        for (String list : new String[] {first, row.reviewer()}) {
            for (String one : list.split(",")) {
                if (!one.isBlank()) {
                    names.add(one.strip());
                }
            }
        }
        return names.contains(OWNER) ? Set.of() : names;
    }

    static boolean mayDecide(Principal who, HumanReviewStoreWriteCommand.ReviewRow row) {
        Set<String> names = namedReviewers(row);
        return names.isEmpty()
                || who.hasScope(TokenScope.ADMIN)
                || names.contains(who.tokenId())
                || names.stream().anyMatch(who.aliases()::contains);
    }

    /** @throws SemelException if this principal may not decide the review */
    public static void requireMayDecide(Principal who, HumanReviewStoreWriteCommand.ReviewRow row) {
        if (!mayDecide(who, row)) {
            String names = String.join(", ", namedReviewers(row));
            throw new SemelException(
                            ErrorCode.FORBIDDEN,
                            "Only " + names + " or an administrator can decide review " + row.id() + ", and you are "
                                    + who.tokenId() + ". Semel recorded no decision and sent nothing.",
                            "Ask one of these reviewers or an administrator to decide. A user has the roles of their"
                                    + " groups (PUT /v1/users/NAME). A token named ops has the role ops.")
                    .with("review_id", row.id())
                    .with("may", names);
        }
    }
}
