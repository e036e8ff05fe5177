package dev.semel.server.api;

import dev.semel.Semel;
import dev.semel.run.RunId;
import dev.semel.server.auth.People;
import dev.semel.store.Rows;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Whether two credentials are of two people, as far as that is known. A person who logs in is known, and so is which tokens
 * that one made: such a token is in their hands, and no second person. The token's own row says who made it, so it is
 * known for as long as there is the token, whatever became of the audit.
 */
final class SecondPerson {
    private static final int AT_ONCE = 500;
    private static final int PAGES = 20;

    private final Semel semel;

    SecondPerson(Semel semel) {
        this.semel = semel;
    }

    boolean isOther(int ws, String maker, String approver) {
        return !maker.equals(approver) && !isTheirs(ws, maker, approver) && !isTheirs(ws, approver, maker);
    }

    private boolean isTheirs(int ws, String person, String token) {
        return person.startsWith(People.ACTOR) && token.startsWith("tok_") && person.equals(makerOf(ws, token));
    }

    /** Null where nobody knows. */
    private @Nullable String makerOf(int ws, String token) {
        List<Rows.Token> tokens = Objects.requireNonNull(semel.view(reads -> reads.tokens(ws)));
        for (Rows.Token row : tokens) {
            if (row.tokenId().equals(token) && row.madeBy() != null) {
                return row.madeBy();
            }
        }
        return toldByTheAudit(ws, token);
    }

    /** Of a token that an older worker made beside newer ones; null where the newest rows do not say it. */
    private @Nullable String toldByTheAudit(int ws, String token) {
        RunId before = null;
        for (int page = 0; page < PAGES; page++) {
            RunId from = before;
            List<Rows.Audit> rows = Objects.requireNonNull(semel.view(reads -> reads.audit(ws, from, AT_ONCE)));
            for (Rows.Audit row : rows) {
                if (row.action().equals("token.create") && row.target().equals(token)) {
                    return row.actor();
                }
            }
            if (rows.size() < AT_ONCE) {
                return null;
            }
            before = rows.getLast().id();
        }
        return null;
    }
}
