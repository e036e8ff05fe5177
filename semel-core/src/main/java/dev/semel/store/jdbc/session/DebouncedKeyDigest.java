package dev.semel.store.jdbc.session;

import java.util.Arrays;

/**
 * A debounced trigger adds its key to a run that another trigger created. The run has the field hashes of that trigger,
 * so the key has its own behind its digest: a conflict must name the fields that differ from the trigger of the key.
 */
public final class DebouncedKeyDigest {
    private static final int DIGEST_BYTES = 32;

    private DebouncedKeyDigest() {}

    public static byte[] join(byte[] digest, byte[] fields) {
        if (digest.length != DIGEST_BYTES) {
            return digest;
        }
        byte[] both = Arrays.copyOf(digest, DIGEST_BYTES + fields.length);
        System.arraycopy(fields, 0, both, DIGEST_BYTES, fields.length);
        return both;
    }

    static byte[] digest(byte[] stored) {
        return stored.length > DIGEST_BYTES ? Arrays.copyOf(stored, DIGEST_BYTES) : stored;
    }

    /** @param ofRun the field hashes of the run, which apply unless the key has its own */
    static byte[] fields(byte[] stored, byte[] ofRun) {
        return stored.length > DIGEST_BYTES ? Arrays.copyOfRange(stored, DIGEST_BYTES, stored.length) : ofRun;
    }
}
