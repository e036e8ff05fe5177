package dev.semel.json;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class Sha256Test {
    /** The first example of FIPS 180-4. */
    private static final String ABC = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

    @Test
    void a_known_text_has_the_published_hash() {
        assertEquals(ABC, Sha256.hex("abc"));
    }

    @Test
    void parts_hash_like_the_whole() {
        byte[] whole = "ä→bc".getBytes(StandardCharsets.UTF_8);
        byte[] first = "ä".getBytes(StandardCharsets.UTF_8);
        byte[] rest = "→bc".getBytes(StandardCharsets.UTF_8);
        assertArrayEquals(Sha256.digest(whole), Sha256.digest(first, rest));
        assertArrayEquals(Sha256.digest(whole), Sha256.digest("ä→bc"));
        assertArrayEquals(Sha256.digest(), Sha256.begin().digest());
    }
}
