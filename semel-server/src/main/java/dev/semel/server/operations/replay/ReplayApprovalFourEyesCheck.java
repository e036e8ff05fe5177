package dev.semel.server.operations.replay;

import dev.semel.run.RunId;
import dev.semel.runtime.SemelRuntime;
import dev.semel.server.access.UserAccountStore;
import dev.semel.server.query.StoreReader;
import dev.semel.store.DatabaseRows;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Decides whether two credentials belong to two different users (four-eyes check). A token counts as the user who
 * created it; its row stores the creator, so this works for the token's lifetime.
 */
record ReplayApprovalFourEyesCheck(SemelRuntime semel) {
    private static final int LONGEST = 16;
    private static final int PAGE_SIZE = 500;
    private static final int PAGES = 20;

    boolean isOtherUser(int ws, String maker, String approver) {
        String first = root(ws, maker);
        return !maker.equals(approver)
                && !(first.startsWith(UserAccountStore.ACTOR) && first.equals(root(ws, approver)));
    }

    /** The user or first token at the start of the chain of creators. */
    private String root(int ws, String credential) {
        String at = credential;
        for (int i = 0; i < LONGEST && at.startsWith("tok_"); i++) {
            String maker = creatorOf(ws, at);
            if (maker == null) {
                return at;
            }
            at = maker;
        }
        return at;
    }

    /** Null if the creator is unknown. */
    private @Nullable String creatorOf(int ws, String token) {
        List<DatabaseRows.TokenRow> tokens = StoreReader.read(semel, reads -> reads.tokens(ws));
        for (DatabaseRows.TokenRow row : tokens) {
            if (row.tokenId().equals(token) && row.createdBy() != null) {
                return row.createdBy();
            }
        }
        return creatorFromAudit(ws, token);
    }

    /**
     * For tokens whose row has no creator because an older version wrote it; null if the newest audit rows do not
     * contain it.
     */
    private @Nullable String creatorFromAudit(int ws, String token) {
        RunId before = null;
        for (int page = 0; page < PAGES; page++) {
            RunId from = before;
            List<DatabaseRows.AuditRow> rows = StoreReader.read(semel, reads -> reads.audit(ws, from, PAGE_SIZE));
            for (DatabaseRows.AuditRow row : rows) {
                if (row.action().equals("token.create") && row.target().equals(token)) {
                    return row.actor();
                }
            }
            if (rows.size() < PAGE_SIZE) {
                return null;
            }
            before = rows.getLast().id();
        }
        return null;
    }
}
