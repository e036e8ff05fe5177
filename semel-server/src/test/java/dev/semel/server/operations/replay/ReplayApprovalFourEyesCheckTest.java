package dev.semel.server.operations.replay;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.runtime.SemelRuntime;
import dev.semel.store.DatabaseRows;
import dev.semel.store.StoreWriteCommand;
import dev.semel.testing.WorkflowTestKit;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A second token is not a second person where it is known who made it. */
final class ReplayApprovalFourEyesCheckTest {
    private final WorkflowTestKit kit = new WorkflowTestKit();

    @AfterEach
    void close() {
        kit.close();
    }

    private int ws() {
        return SemelRuntime.of(kit.semel()).testAccess().workspace();
    }

    private boolean isOther(String maker, String approver) {
        return new ReplayApprovalFourEyesCheck(SemelRuntime.of(kit.semel())).isOtherUser(ws(), maker, approver);
    }

    private static byte[] hash(String token) {
        return token.getBytes(StandardCharsets.UTF_8);
    }

    /** As an older worker does, whose tokens do not say who made them. */
    private void make(String token, String by) {
        var row = new DatabaseRows.TokenRow(token, ws(), "default", "t", hash(token), "read", 0, 0, 0, null);
        var note = new StoreWriteCommand.AuditEntry(
                ws(),
                "token.create",
                token,
                new StoreWriteCommand.ChangeAuthor(SemelRuntime.of(kit.semel()).newId(), by, ""));
        SemelRuntime.of(kit.semel())
                .change(new StoreWriteCommand.AuditedCommand<>(
                        new StoreWriteCommand.CreateToken(row), Objects::nonNull, note));
    }

    @Test
    void a_token_of_the_same_user_is_not_a_second_user() {
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
    void the_creator_of_a_token_is_known_without_an_audit_row() {
        var row =
                new DatabaseRows.TokenRow("tok_old", ws(), "default", "t", hash("tok_old"), "read", 0, 0, 0, "usr_ann");
        SemelRuntime.of(kit.semel()).change(new StoreWriteCommand.CreateToken(row));
        assertFalse(isOther("usr_ann", "tok_old"));
        assertFalse(isOther("tok_old", "usr_ann"));
        assertTrue(isOther("usr_bob", "tok_old"));
    }
}
