package dev.semel.server.api;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.store.Edit;
import dev.semel.store.Rows;
import dev.semel.testing.Lab;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A second token is not a second person where it is known who made it. */
final class SecondPersonTest {
    private final Lab lab = new Lab();

    @AfterEach
    void close() {
        lab.close();
    }

    private int ws() {
        return lab.semel().backstage().workspace();
    }

    private boolean isOther(String maker, String approver) {
        return new SecondPerson(lab.semel()).isOther(ws(), maker, approver);
    }

    private static byte[] hash(String token) {
        return token.getBytes(StandardCharsets.UTF_8);
    }

    /** As an older worker does, whose tokens do not say who made them. */
    private void make(String token, String by) {
        var row = new Rows.Token(token, ws(), "default", "t", hash(token), "read", 0, 0, 0);
        var note = new Edit.Note(
                ws(), "token.create", token, new Edit.By(lab.semel().newId(), by, ""));
        lab.semel().change(new Edit.Noted<>(new Edit.CreateToken(row), Objects::nonNull, note));
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
        assertTrue(isOther("tok_b", "tok_c"), "who holds a token that a token made is not known");
        assertTrue(isOther("usr_ann", "tok_unknown"));
    }

    @Test
    void who_made_a_token_is_known_when_no_row_of_the_audit_says_it() {
        var row = new Rows.Token("tok_old", ws(), "default", "t", hash("tok_old"), "read", 0, 0, 0, "usr_ann");
        lab.semel().change(new Edit.CreateToken(row));
        assertFalse(isOther("usr_ann", "tok_old"));
        assertFalse(isOther("tok_old", "usr_ann"));
        assertTrue(isOther("usr_bob", "tok_old"));
    }
}
