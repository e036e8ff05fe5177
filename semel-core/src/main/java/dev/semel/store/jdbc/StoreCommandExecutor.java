package dev.semel.store.jdbc;

import dev.semel.run.RunId;
import dev.semel.store.MetricUpdates;
import dev.semel.store.SettingName;
import dev.semel.store.StoreCommand;
import dev.semel.store.StoredRows;
import dev.semel.store.UniqueKey;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Executes store commands, such as versions or cancelling, inside the transaction of a write lane. */
public final class StoreCommandExecutor {
    private static final String TOKEN = """
        SELECT t.token_id, t.ws, w.name, t.name, t.hash, t.scopes, t.quota_per_minute, t.created_at, t.revoked_at,
               t.created_by
        FROM semel_token t JOIN semel_workspace w ON w.ws = t.ws WHERE t.token_id = ? AND t.hash = ?
        """;

    private static final String CATALOG = "SELECT revision FROM semel_catalog WHERE singleton = 1";

    private static final String WORKSPACE = "SELECT 1 FROM semel_workspace WHERE name = ?";

    private final JdbcSession session;
    private final Supplier<RunId> ids;
    private final RunControlWriter runs;
    private final IdempotentCommandExecutor idempotentCommands;
    private final SettingWriter settings;
    private final WebhookDeliveryWriter deliveries;
    private final WorkflowVersionWriter versions;
    private final ScheduleWriter schedules;
    private final KeyedSignalWriter keyedSignals;
    private final ReplayPlanWriter replays;
    private final ReviewWriter reviews;
    private final FailedRunResumer resumer;

    /** @param counted collects the metrics of the commands */
    public StoreCommandExecutor(JdbcSession session, Supplier<RunId> ids, MetricUpdates counted) {
        this.session = session;
        this.ids = ids;
        this.runs = new RunControlWriter(session, ids, counted);
        this.idempotentCommands = new IdempotentCommandExecutor(session, this);
        this.settings = new SettingWriter(session);
        this.deliveries = new WebhookDeliveryWriter(session);
        this.versions = new WorkflowVersionWriter(session, this);
        this.schedules = new ScheduleWriter(session, this);
        this.keyedSignals = new KeyedSignalWriter(session, runs, ids);
        this.replays = new ReplayPlanWriter(session, this);
        this.reviews = new ReviewWriter(session, this);
        this.resumer = new FailedRunResumer(session, this, counted);
    }

    public @Nullable Object apply(StoreCommand<?> edit, long now) throws SQLException {
        return switch (edit) {
            case StoreCommand.CreateWorkspace open -> open(open, now);
            case StoreCommand.PublishVersion publish -> versions.publish(publish, now);
            case StoreCommand.PublishIfUnchanged over -> versions.publish(over, now);
            case StoreCommand.StageCandidate stage -> versions.stageCandidate(stage, now);
            case StoreCommand.PromoteCandidate promote -> versions.promote(promote, now);
            case StoreCommand.RollBackVersion back -> versions.rollback(back, now);
            case StoreCommand.PauseWorkflow pause -> versions.pause(pause);
            case StoreCommand.CreateToken create -> create(create, now);
            case StoreCommand.RevokeToken revoke -> revoke(revoke, now);
            case StoreCommand.ReleaseKey release ->
                release(release, release.by().requestId(), now) || isAudited(release.by());
            case StoreCommand.ReleaseKeys all -> releaseAll(all, now);
            case StoreCommand.ExtendKey extend -> extend(extend, now);
            case StoreCommand.IdempotentCommand<?> once -> idempotentCommands.execute(once, now);
            case StoreCommand.AuditedCommand<?> noted -> noted(noted, now);
            case StoreCommand.DeleteExpiredReplies delete -> idempotentCommands.deleteExpired(delete.limit(), now);
            case StoreCommand.DeleteTombstones delete -> delete(delete.tombstones());
            case StoreCommand.DeleteEvents delete -> InboundEventRepository.delete(session, delete.events());
            case StoreCommand.DeleteRuns delete -> new RunRetentionWriter(session).deleteRuns(delete, now);
            case StoreCommand.ErasePayloads blank -> new RunRetentionWriter(session).erasePayloads(blank, now);
            case StoreCommand.DeleteOldHistory forget -> new HistoryCleanup(session).deleteOldest(forget);
            case StoreCommand.SendSignal signal -> runs.sendSignal(signal, now);
            case StoreCommand.KeyedSignalCommand<?> mail -> keyedSignals.apply(mail.operation(), now);
            case StoreCommand.ReviewCommand<?> reviewing -> reviews.apply(reviewing.operation(), now);
            case StoreCommand.CancelRun cancel -> cancel(cancel, now);
            case StoreCommand.WakeRuns wake -> runs.wake(wake);
            case StoreCommand.ReturnRun back -> runs.returnRun(back.execution());
            case StoreCommand.WakeHeldRuns held -> runs.wakeHeld(held.workflowId());
            case StoreCommand.ContinueHeldRun on -> goOn(on, now);
            case StoreCommand.ResumeFailedRun resume -> resumer.resume(resume, now);
            case StoreCommand.DecideEffect decide -> decide(decide, now);
            case StoreCommand.RecordDelivery receive -> deliveries.record(receive, now);
            case StoreCommand.DeleteExpiredDeliveries delete -> deliveries.deleteExpired(delete.limit(), now);
            case StoreCommand.SaveSetting put -> auditSetting(settings.save(put, now), put.name(), now);
            case StoreCommand.RemoveSetting remove -> auditSetting(settings.remove(remove, now), remove.name(), now);
            case StoreCommand.ChangeSettingIfCatalogUnchanged asOf ->
                apply(asOf.forCatalogVersion(session.queryOne(CATALOG, row -> row.getLong(1))), now);
            case StoreCommand.SaveSchedules layOut -> schedules.saveSchedules(layOut, now);
            case StoreCommand.ClaimTicks take -> schedules.claimTicks(take, now);
            case StoreCommand.RecordTicks settle -> schedules.recordProgress(settle);
            case StoreCommand.RecordBackfill note -> schedules.recordTicks(note.ticks());
            case StoreCommand.PauseSchedule pause -> schedules.pause(pause, now);
            case StoreCommand.DeleteOldTicks delete -> schedules.deleteOldTicks(delete);
            case StoreCommand.ReplayPlanCommand<?> replaying -> replays.apply(replaying.operation(), now);
            case StoreCommand.CompactMetrics tidy -> MetricWriter.compact(session, tidy);
        };
    }

    private StoredRows.WorkspaceRow open(StoreCommand.CreateWorkspace open, long now) throws SQLException {
        for (int attempt = 0; attempt < 20; attempt++) {
            session.update("""
                INSERT INTO semel_workspace (ws, name, secret, created_at)
                SELECT COALESCE(MAX(ws), 0) + 1, ?, ?, ? FROM semel_workspace WHERE true
                ON CONFLICT DO NOTHING
                """, open.name(), open.secret(), now);
            StoredRows.WorkspaceRow found = session.queryOne(
                    "SELECT ws, name, secret FROM semel_workspace WHERE name = ?",
                    RowMappers::mapWorkspace,
                    open.name());
            if (found != null) {
                return found;
            }
        }
        throw new IllegalStateException("Creating workspace " + open.name()
                + " failed: other writers took its number 20 times in a row. Nothing was changed. Retry.");
    }

    private StoredRows.@Nullable TokenRow create(StoreCommand.CreateToken create, long now) throws SQLException {
        StoredRows.TokenRow token = create.token();
        StoredRows.TokenRow made = session.queryOne(TOKEN, RowMappers::mapToken, token.tokenId(), token.hash());
        if (made != null) {
            return made; // a retry after a lost response
        }
        int ws = token.ws();
        if (create.newWorkspace() != null) {
            if (session.queryOne(WORKSPACE, row -> 1, create.newWorkspace().name()) != null) {
                return null;
            }
            StoredRows.WorkspaceRow opened = open(create.newWorkspace(), now);
            if (!Arrays.equals(opened.secret(), create.newWorkspace().secret())) {
                return null; // another request created it at the same moment
            }
            ws = opened.ws();
        }
        session.update(
                """
                INSERT INTO semel_token (token_id, ws, name, hash, scopes, quota_per_minute, created_at, revoked_at,
                    created_by)
                VALUES (?, ?, ?, ?, ?, ?, ?, 0, ?) ON CONFLICT DO NOTHING
                """,
                token.tokenId(),
                ws,
                token.name(),
                token.hash(),
                token.scopes(),
                token.quotaPerMinute(),
                now,
                token.createdBy());
        return session.queryOne(TOKEN, RowMappers::mapToken, token.tokenId(), token.hash());
    }

    private boolean revoke(StoreCommand.RevokeToken revoke, long now) throws SQLException {
        boolean revoked = session.update(
                        "UPDATE semel_token SET revoked_at = ? WHERE ws = ? AND token_id = ? AND revoked_at = 0",
                        now,
                        revoke.workspace(),
                        revoke.tokenId())
                == 1;
        if (revoked) {
            incrementCatalogRevision();
            StoreCommand.ChangeAuthor by = new StoreCommand.ChangeAuthor(ids.get(), revoke.actor(), "");
            writeAudit(revoke.workspace(), now, by, List.of("token.revoke", revoke.tokenId()));
        }
        return revoked;
    }

    private boolean release(StoreCommand.ReleaseKey release, RunId audited, long now) throws SQLException {
        UniqueKey name = release.key();
        boolean released =
                session.update("""
                    UPDATE semel_key SET flags = flags | 4, expires_at = ?
                    WHERE ws = ? AND kind = ? AND key = ? AND run = ? AND (flags & 4) = 0 AND (expires_at > ?
                        OR ((flags & 1) = 1 AND EXISTS (SELECT 1 FROM semel_unfinished_run w
                            WHERE w.run = semel_key.run)))
                    """, now, name.workspace(), name.kind().code(), name.text(), release.run(), now) == 1;
        if (released && name.kind() != UniqueKey.KeyKind.PAYLOAD) {
            StoreCommand.ChangeAuthor by = new StoreCommand.ChangeAuthor(
                    audited, release.by().actor(), release.by().reason());
            writeAudit(name.workspace(), now, by, List.of("key.release", name.text()));
        }
        return released;
    }

    private boolean extend(StoreCommand.ExtendKey extend, long now) throws SQLException {
        UniqueKey name = extend.key();
        boolean isInUse = session.update(
                        """
                        UPDATE semel_key SET expires_at = CASE WHEN expires_at < ? THEN ? ELSE expires_at END
                        WHERE ws = ? AND kind = ? AND key = ? AND run = ? AND (flags & 4) = 0 AND (expires_at > ?
                            OR ((flags & 1) = 1 AND EXISTS (SELECT 1 FROM semel_unfinished_run w
                                WHERE w.run = semel_key.run)))
                        """,
                        extend.until(),
                        extend.until(),
                        name.workspace(),
                        name.kind().code(),
                        name.text(),
                        extend.run(),
                        now)
                == 1;
        if (isInUse && !isAudited(extend.by())) {
            writeAudit(name.workspace(), now, extend.by(), List.of("key.extend", name.text()));
        }
        return isInUse;
    }

    private boolean cancel(StoreCommand.CancelRun cancel, long now) throws SQLException {
        boolean requested = runs.cancel(cancel);
        if (requested) {
            StoreCommand.ChangeAuthor by = new StoreCommand.ChangeAuthor(ids.get(), cancel.actor(), cancel.reason());
            writeAudit(
                    cancel.workspace(),
                    now,
                    by,
                    List.of("run.cancel", cancel.run().text()));
        }
        return requested;
    }

    private boolean goOn(StoreCommand.ContinueHeldRun on, long now) throws SQLException {
        boolean continues = runs.continueHeld(on);
        if (continues) {
            StoreCommand.ChangeAuthor by = new StoreCommand.ChangeAuthor(ids.get(), on.actor(), on.reason());
            writeAudit(on.workspace(), now, by, List.of("run.continue", on.run().text()));
        }
        return continues;
    }

    private boolean decide(StoreCommand.DecideEffect decide, long now) throws SQLException {
        boolean decided = runs.decideEffect(decide, now);
        if (decided) {
            reviews.closeReviewsOf(decide, now);
            String what = decide.result() == null ? "effect.not_happened" : "effect.happened";
            writeAudit(
                    decide.effect().workspace(),
                    now,
                    decide.by(),
                    List.of(what, decide.run().text()));
        }
        return decided || isAudited(decide.by());
    }

    private boolean releaseAll(StoreCommand.ReleaseKeys all, long now) throws SQLException {
        boolean any = false;
        for (StoreCommand.ReleaseKey one : all.releases()) {
            // The first released key is audited under the request's id, which identifies a retry.
            any |= release(one, any ? ids.get() : one.by().requestId(), now)
                    && one.key().kind() != UniqueKey.KeyKind.PAYLOAD;
        }
        for (StoreCommand.ReleaseKey one : all.releases()) {
            any = any || isAudited(one.by());
        }
        return any;
    }

    @SuppressWarnings("unchecked") // each command returns the outcome of its own type
    private <T> @Nullable Object noted(StoreCommand.AuditedCommand<T> noted, long now) throws SQLException {
        @Nullable T outcome = (T) apply(noted.command(), now);
        StoreCommand.AuditEntry note = noted.entry();
        if (noted.isAuditable().test(outcome) && !isAudited(note.by())) {
            writeAudit(note.workspace(), now, note.by(), List.of(note.action(), note.target()));
        }
        return outcome;
    }

    /**
     * Audits the change of a watched document and increments the catalog revision, because workers cache such
     * documents.
     */
    private StoreCommand.SettingResult auditSetting(SettingWriter.SettingChange outcome, SettingName name, long now)
            throws SQLException {
        if (outcome.changed()
                && name.kind().changesCatalog()
                && outcome.result() instanceof StoreCommand.SettingResult.Saved(var row)) {
            incrementCatalogRevision();
            String action = row.kind() + (row.removed() ? ".remove" : ".put");
            StoreCommand.ChangeAuthor by =
                    new StoreCommand.ChangeAuthor(ids.get(), row.changedBy(), "version " + row.version());
            writeAudit(row.ws(), now, by, List.of(action, row.name()));
        }
        return outcome.result();
    }

    private int delete(List<StoreCommand.KeyTombstone> tombstones) throws SQLException {
        int deleted = 0;
        for (StoreCommand.KeyTombstone tombstone : tombstones) {
            UniqueKey name = tombstone.key();
            // Compares run and expiry again: the key may have moved to another run meanwhile.
            deleted += session.update(
                    """
                    DELETE FROM semel_key WHERE ws = ? AND kind = ? AND key = ? AND run = ? AND expires_at = ?
                    """, name.workspace(), name.kind().code(), name.text(), tombstone.run(), tombstone.expiresAt());
        }
        return deleted;
    }

    /** The caller has locked the catalog and all slots, so no trigger of an older catalog is admitted afterwards. */
    void incrementCatalogRevision() throws SQLException {
        session.update("UPDATE semel_catalog SET revision = revision + 1 WHERE singleton = 1");
        session.update("""
            UPDATE semel_fence SET catalog_revision = (SELECT revision FROM semel_catalog WHERE singleton = 1)
            """);
    }

    RunId newId() {
        return ids.get();
    }

    boolean isAudited(StoreCommand.ChangeAuthor by) throws SQLException {
        return session.queryOne("SELECT 1 FROM semel_audit WHERE id = ?", row -> 1, by.requestId()) != null;
    }

    /** @param change the action and its target */
    void writeAudit(int ws, long now, StoreCommand.ChangeAuthor by, List<String> change) throws SQLException {
        session.update("""
            INSERT INTO semel_audit (id, ws, at, actor, action, target, reason) VALUES (?, ?, ?, ?, ?, ?, ?)
            """, by.requestId(), ws, now, by.actor(), change.get(0), change.get(1), by.reason());
    }
}
