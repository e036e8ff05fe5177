package dev.semel.server.api;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.runtime.SemelRuntime;
import dev.semel.store.StoreCommand;
import dev.semel.store.StoredRows;
import dev.semel.testing.WorkflowTestKit;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A second token is not a second person where it is known who made it. */
final class FourEyesCheckTest {
    private final WorkflowTestKit lab = new WorkflowTestKit();

    @AfterEach
    void close() {
        lab.close();
    }

    private int ws() {
        return SemelRuntime.of(lab.semel()).testAccess().workspace();
    }

    private boolean isOther(String maker, String approver) {
        return new FourEyesCheck(SemelRuntime.of(lab.semel())).isOtherUser(ws(), maker, approver);
    }

    private static byte[] hash(String token) {
        return token.getBytes(StandardCharsets.UTF_8);
    }

    /** As an older worker does, whose tokens do not say who made them. */
    private void make(String token, String by) {
        var row = new StoredRows.TokenRow(token, ws(), "default", "t", hash(token), "read", 0, 0, 0);
        var note = new StoreCommand.AuditEntry(
                ws(), "token.create", token, new StoreCommand.ChangeAuthor(SemelRuntime.of(lab.semel()).newId(), by, ""));
        SemelRuntime.of(lab.semel()).change(new StoreCommand.AuditedCommand<>(new StoreCommand.CreateToken(row), Objects::nonNull, note));
    }

    @Test
    void who_made_the_token_is_nobody_else() {
        make("tok_a", "usr_ann");
        make("tok_b", "usr_bob");
        make("tok_c", "tok_b");
        assertFalse(isOther("tok_a", "tok_a"));
        assertFalse(isOther("usr_ann", "tok_a"));
        assertFalse(isOther("tok_a", "usr_ann"));
        assertTrue(isOther("usr_ann", "usr_bob"));
        assertTrue(isOther("usr_ann", "tok_b"));
        assertTrue(isOther("tok_a", "tok_b"));
        assertFalse(isOther("tok_b", "tok_c"), "bob made the one with the other");
        make("tok_d", "usr_ann");
        assertFalse(isOther("tok_a", "tok_d"), "two tokens of one person are one person");
        make("tok_e", "tok_first");
        make("tok_f", "tok_first");
        assertTrue(isOther("tok_e", "tok_f"), "whom an installation gave its first tokens is not known");
        assertTrue(isOther("usr_ann", "tok_unknown"));
    }

    @Test
    void who_made_a_token_is_known_when_no_row_of_the_audit_says_it() {
        var row = new StoredRows.TokenRow("tok_old", ws(), "default", "t", hash("tok_old"), "read", 0, 0, 0, "usr_ann");
        SemelRuntime.of(lab.semel()).change(new StoreCommand.CreateToken(row));
        assertFalse(isOther("usr_ann", "tok_old"));
        assertFalse(isOther("tok_old", "usr_ann"));
        assertTrue(isOther("usr_bob", "tok_old"));
    }
}
