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
    private static final int LONGEST = 16;
    private static final int AT_ONCE = 500;
    private static final int PAGES = 20;

    private final Semel semel;

    SecondPerson(Semel semel) {
        this.semel = semel;
    }

    boolean isOther(int ws, String maker, String approver) {
        String first = root(ws, maker);
        return !maker.equals(approver) && !(first.startsWith(People.ACTOR) && first.equals(root(ws, approver)));
    }

    /** Who made it, or made what made it: a person, or the token with which it began. */
    private String root(int ws, String credential) {
        String at = credential;
        for (int i = 0; i < LONGEST && at.startsWith("tok_"); i++) {
            String maker = makerOf(ws, at);
            if (maker == null) {
                return at;
            }
            at = maker;
        }
        return at;
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
