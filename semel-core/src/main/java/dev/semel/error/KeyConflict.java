package dev.semel.error;

import java.util.List;

/** A key, or a chosen run id, stands for something else already. No run was started. */
public final class KeyConflict extends SemelException {
    public KeyConflict(String detail, String fix) {
        super(ErrorCode.IDEMPOTENCY_KEY_CONFLICT, detail, fix);
    }

    /** Names of the fields that differ, never values; empty where something other than the payload differs. */
    public List<String> changed() {
        return members().get("changed") instanceof List<?> names
                ? names.stream().map(String::valueOf).toList()
                : List.of();
    }
}
