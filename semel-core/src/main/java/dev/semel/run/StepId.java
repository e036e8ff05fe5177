package dev.semel.run;

import dev.semel.json.Sha256;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/**
 * Depends on the first run of the lineage, the path and the name, never on a position or an attempt: retries, recovery,
 * takeover and safe replay use the same id. It is the default effect key.
 */
public record StepId(String text) {
    public static StepId of(RunId lineage, String path) {
        ByteBuffer digest = ByteBuffer.wrap(Sha256.digest(lineage.bytes(), path.getBytes(StandardCharsets.UTF_8)));
        return new StepId("step_" + Base62.encode(digest.getLong(), digest.getLong()));
    }
}
