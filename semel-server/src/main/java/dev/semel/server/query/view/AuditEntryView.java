package dev.semel.server.query.view;

import dev.semel.store.DatabaseRows;
import java.time.Instant;

public record AuditEntryView(Instant at, String actorId, String action, String target, String reason) {
    public static AuditEntryView of(DatabaseRows.AuditRow row) {
        return new AuditEntryView(StoreTime.instant(row.at()), row.actor(), row.action(), row.target(), row.reason());
    }
}
