package dev.semel.error;

import java.util.List;

/** Thrown when an idempotency key or chosen run id was used before for a different request. No run was started. */
public final class KeyConflict extends SemelException {
    public KeyConflict(String detail, String fix) {
        super(ErrorCode.IDEMPOTENCY_KEY_CONFLICT, detail, fix);
    }

    /** Names of the fields that differ, never values; empty if something other than the payload differs. */
    public List<String> changedFields() {
        return members().get("changed") instanceof List<?> names
                ? names.stream().map(String::valueOf).toList()
                : List.of();
    }
}
