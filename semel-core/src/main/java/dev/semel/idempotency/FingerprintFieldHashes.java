package dev.semel.idempotency;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * One keyed hash per fingerprint field, sorted by name: shows which field differs without storing any value.
 *
 * @param complete false if there were more fields than are hashed, or if the stored bytes are truncated; then nothing
 *     is known about names after the last one
 */
record FingerprintFieldHashes(List<FieldHash> hashes, boolean complete) {
    /** @param name printable, see {@link #SHOWN_NAME} */
    record FieldHash(String name, long hash) {}

    /** Names may come from a payload, so they are bounded and printable. In UTF-8 they stay below 256 bytes. */
    static final int SHOWN_NAME = 64;

    private static final byte VERSION = 1;
    private static final int HEADER_BYTES = 4;

    FingerprintFieldHashes {
        hashes = hashes.stream().sorted(Comparator.comparing(FieldHash::name)).toList();
    }

    /** Format: version, complete flag, count in two bytes; per field: length of the name, name, eight bytes of hash. */
    byte[] encoded() {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        out.write(VERSION);
        out.write(complete ? 1 : 0);
        out.write(hashes.size() >> 8);
        out.write(hashes.size());
        for (FieldHash field : hashes) {
            byte[] name = field.name().getBytes(StandardCharsets.UTF_8);
            out.write(name.length);
            out.writeBytes(name);
            out.writeBytes(ByteBuffer.allocate(Long.BYTES).putLong(field.hash()).array());
        }
        return out.toByteArray();
    }

    /** Reads the complete entries. Bytes of another version or broken bytes give no entries. */
    static FingerprintFieldHashes decoded(byte[] stored) {
        ByteBuffer in = ByteBuffer.wrap(stored);
        if (in.remaining() < HEADER_BYTES || in.get() != VERSION) {
            return new FingerprintFieldHashes(List.of(), false);
        }
        boolean complete = in.get() == 1;
        int count = Short.toUnsignedInt(in.getShort());
        List<FieldHash> hashes = new ArrayList<>();
        while (hashes.size() < count && in.hasRemaining()) {
            int length = Byte.toUnsignedInt(in.get());
            if (in.remaining() < length + Long.BYTES) {
                break;
            }
            byte[] name = new byte[length];
            in.get(name);
            hashes.add(new FieldHash(new String(name, StandardCharsets.UTF_8), in.getLong()));
        }
        return new FingerprintFieldHashes(hashes, complete && hashes.size() == count);
    }

    /** The names that differ, were added or were removed, as far as both sides are complete. */
    SortedSet<String> differingFrom(FingerprintFieldHashes other) {
        SortedMap<String, String> mine = knownToBoth(other);
        SortedMap<String, String> theirs = other.knownToBoth(this);
        SortedSet<String> names = new TreeSet<>(mine.keySet());
        names.addAll(theirs.keySet());
        names.removeIf(name -> mine.containsKey(name) && mine.get(name).equals(theirs.get(name)));
        return names;
    }

    private SortedMap<String, String> knownToBoth(FingerprintFieldHashes other) {
        TreeMap<String, String> known = new TreeMap<>();
        for (FieldHash field : hashes) {
            // Truncated names may be equal; their hashes are then combined.
            known.merge(field.name(), HexFormat.of().toHexDigits(field.hash()), String::concat);
        }
        if (other.complete) {
            return known;
        }
        return other.hashes.isEmpty()
                ? new TreeMap<>()
                : known.headMap(other.hashes.getLast().name(), true);
    }
}
