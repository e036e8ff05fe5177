package dev.semel.store.jdbc;

import dev.semel.run.RunId;
import dev.semel.store.DatabaseRows;
import dev.semel.store.MetricUpdateCollector;
import dev.semel.store.RunDeduplicationKey;
import dev.semel.store.StoreWriteCommand;
import dev.semel.store.WorkspaceSettingName;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Executes store commands, such as versions or cancelling, inside the transaction of a write lane. */
public final class StoreWriteCommandExecutor {
    private static final String TOKEN = """
        SELECT t.token_id, t.ws, w.name, t.name, t.hash, t.scopes, t.quota_per_minute, t.created_at, t.revoked_at,
               t.created_by
        FROM semel_token t JOIN semel_workspace w ON w.ws = t.ws WHERE t.token_id = ? AND t.hash = ?
        """;

    private static final String CATALOG = "SELECT revision FROM semel_catalog WHERE singleton = 1";

    private static final String WORKSPACE = "SELECT 1 FROM semel_workspace WHERE name = ?";

    private final JdbcSession session;
    private final Supplier<RunId> ids;
    private final JdbcCancelAndSignalWriter runs;
    private final IdempotentStoreWriteCommandExecutor idempotentCommands;
    private final JdbcWorkspaceSettingWriter settings;
    private final JdbcInboundWebhookDeliveryWriter deliveries;
    private final JdbcWorkflowVersionWriter versions;
    private final JdbcScheduleWriter schedules;
    private final JdbcKeyedSignalWriter keyedSignals;
    private final JdbcReplayPlanWriter replays;
    private final JdbcHumanReviewWriter reviews;
    private final FailedRunResumer resumer;

    /** @param counted collects the metrics of the commands */
    public StoreWriteCommandExecutor(JdbcSession session, Supplier<RunId> ids, MetricUpdateCollector counted) {
        this.session = session;
        this.ids = ids;
        this.runs = new JdbcCancelAndSignalWriter(session, ids, counted);
        this.idempotentCommands = new IdempotentStoreWriteCommandExecutor(session, this);
        this.settings = new JdbcWorkspaceSettingWriter(session);
        this.deliveries = new JdbcInboundWebhookDeliveryWriter(session);
        this.versions = new JdbcWorkflowVersionWriter(session, this);
        this.schedules = new JdbcScheduleWriter(session, this);
        this.keyedSignals = new JdbcKeyedSignalWriter(session, runs, ids);
        this.replays = new JdbcReplayPlanWriter(session, this);
        this.reviews = new JdbcHumanReviewWriter(session, this);
        this.resumer = new FailedRunResumer(session, this, counted);
    }

    public @Nullable Object apply(StoreWriteCommand<?> edit, long now) throws SQLException {
        return switch (edit) {
            case StoreWriteCommand.CreateWorkspace open -> open(open, now);
            case StoreWriteCommand.PublishVersion publish -> versions.publish(publish, now);
            case StoreWriteCommand.PublishIfUnchanged over -> versions.publish(over, now);
            case StoreWriteCommand.StageCandidate stage -> versions.stageCandidate(stage, now);
            case StoreWriteCommand.PromoteCandidate promote -> versions.promote(promote, now);
            case StoreWriteCommand.RollBackVersion back -> versions.rollback(back, now);
            case StoreWriteCommand.PauseWorkflow pause -> versions.pause(pause);
            case StoreWriteCommand.CreateToken create -> create(create, now);
            case StoreWriteCommand.RevokeToken revoke -> revoke(revoke, now);
            case StoreWriteCommand.ReleaseKey release ->
                release(release, release.by().requestId(), now) || isAudited(release.by());
            case StoreWriteCommand.ReleaseKeys all -> releaseAll(all, now);
            case StoreWriteCommand.ExtendKey extend -> extend(extend, now);
            case StoreWriteCommand.IdempotentCommand<?> once -> idempotentCommands.execute(once, now);
            case StoreWriteCommand.AuditedCommand<?> noted -> noted(noted, now);
            case StoreWriteCommand.DeleteExpiredReplies delete -> idempotentCommands.deleteExpired(delete.limit(), now);
            case StoreWriteCommand.DeleteTombstones delete -> delete(delete.tombstones());
            case StoreWriteCommand.DeleteEvents delete -> InboundEventRepository.delete(session, delete.events());
            case StoreWriteCommand.DeleteRuns delete -> new FinishedRunCleanup(session).deleteRuns(delete, now);
            case StoreWriteCommand.ErasePayloads blank -> new FinishedRunCleanup(session).erasePayloads(blank, now);
            case StoreWriteCommand.DeleteOldHistory forget ->
                new AuditAndDuplicateRequestCleanup(session).deleteOldest(forget);
            case StoreWriteCommand.SendSignal signal -> runs.sendSignal(signal, now);
            case StoreWriteCommand.DiscardSignal recorded -> runs.discard(recorded);
            case StoreWriteCommand.KeyedSignalCommand<?> mail -> keyedSignals.apply(mail.operation(), now);
            case StoreWriteCommand.ReviewCommand<?> reviewing -> reviews.apply(reviewing.operation(), now);
            case StoreWriteCommand.CancelRun cancel -> cancel(cancel, now);
            case StoreWriteCommand.WakeRuns wake -> runs.wake(wake);
            case StoreWriteCommand.ReturnRun back -> runs.returnRun(back.execution());
            case StoreWriteCommand.WakeHeldRuns held -> runs.wakeHeld(held.workflowId());
            case StoreWriteCommand.ReturnConcurrencyPlace back ->
                new JdbcConcurrencyAndRateLimiter(session).returnPlace(back, now);
            case StoreWriteCommand.SetConcurrencyLimit change ->
                new JdbcConcurrencyAndRateLimiter(session).setLimit(change);
            case StoreWriteCommand.ContinueHeldRun on -> goOn(on, now);
            case StoreWriteCommand.ResumeFailedRun resume -> resumer.resume(resume, now);
            case StoreWriteCommand.DecideEffect decide -> decide(decide, now);
            case StoreWriteCommand.RecordDelivery receive -> deliveries.record(receive, now);
            case StoreWriteCommand.DeleteExpiredDeliveries delete -> deliveries.deleteExpired(delete.limit(), now);
            case StoreWriteCommand.SaveSetting put -> auditSetting(settings.save(put, now), put.name(), now);
            case StoreWriteCommand.RemoveSetting remove ->
                auditSetting(settings.remove(remove, now), remove.name(), now);
            case StoreWriteCommand.ChangeSettingIfCatalogUnchanged asOf ->
                apply(asOf.forCatalogVersion(session.queryOne(CATALOG, row -> row.getLong(1))), now);
            case StoreWriteCommand.SaveSchedules layOut -> schedules.saveSchedules(layOut, now);
            case StoreWriteCommand.ClaimTicks take -> schedules.claimTicks(take, now);
            case StoreWriteCommand.RecordTicks settle -> schedules.recordProgress(settle);
            case StoreWriteCommand.RecordBackfill note -> schedules.recordTicks(note.ticks());
            case StoreWriteCommand.PauseSchedule pause -> schedules.pause(pause, now);
            case StoreWriteCommand.DeleteOldTicks delete -> schedules.deleteOldTicks(delete);
            case StoreWriteCommand.ReplayPlanCommand<?> replaying -> replays.apply(replaying.operation(), now);
            case StoreWriteCommand.CompactMetrics tidy -> JdbcMetricWriter.compact(session, tidy);
        };
    }

    private DatabaseRows.WorkspaceRow open(StoreWriteCommand.CreateWorkspace open, long now) throws SQLException {
        for (int attempt = 0; attempt < 20; attempt++) {
            session.update("""
                INSERT INTO semel_workspace (ws, name, secret, created_at)
                SELECT COALESCE(MAX(ws), 0) + 1, ?, ?, ? FROM semel_workspace WHERE true
                ON CONFLICT DO NOTHING
                """, open.name(), open.secret(), now);
            DatabaseRows.WorkspaceRow found = session.queryOne(
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

    private DatabaseRows.@Nullable TokenRow create(StoreWriteCommand.CreateToken create, long now) throws SQLException {
        DatabaseRows.TokenRow token = create.token();
        DatabaseRows.TokenRow made = session.queryOne(TOKEN, RowMappers::mapToken, token.tokenId(), token.hash());
        if (made != null) {
            return made; // a retry after a lost response
        }
        int ws = token.ws();
        if (create.newWorkspace() != null) {
            if (session.exists(WORKSPACE, create.newWorkspace().name())) {
                return null;
            }
            DatabaseRows.WorkspaceRow opened = open(create.newWorkspace(), now);
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

    private boolean revoke(StoreWriteCommand.RevokeToken revoke, long now) throws SQLException {
        boolean revoked = session.update(
                        "UPDATE semel_token SET revoked_at = ? WHERE ws = ? AND token_id = ? AND revoked_at = 0",
                        now,
                        revoke.workspace(),
                        revoke.tokenId())
                == 1;
        if (revoked) {
            incrementCatalogRevision();
            StoreWriteCommand.ChangeAuthor by = new StoreWriteCommand.ChangeAuthor(ids.get(), revoke.actor(), "");
            writeAudit(revoke.workspace(), now, by, "token.revoke", revoke.tokenId());
        }
        return revoked;
    }

    private boolean release(StoreWriteCommand.ReleaseKey release, RunId audited, long now) throws SQLException {
        RunDeduplicationKey name = release.key();
        boolean released =
                session.update("""
                    UPDATE semel_key SET flags = flags | 4, expires_at = ?
                    WHERE ws = ? AND kind = ? AND key = ? AND run = ? AND (flags & 4) = 0 AND (expires_at > ?
                        OR ((flags & 1) = 1 AND EXISTS (SELECT 1 FROM semel_unfinished_run w
                            WHERE w.run = semel_key.run)))
                    """, now, name.workspace(), name.kind().code(), name.text(), release.run(), now) == 1;
        if (released && name.kind() != RunDeduplicationKey.KeyKind.PAYLOAD) {
            StoreWriteCommand.ChangeAuthor by = new StoreWriteCommand.ChangeAuthor(
                    audited, release.by().actor(), release.by().reason());
            writeAudit(name.workspace(), now, by, "key.release", name.text());
        }
        return released;
    }

    private boolean extend(StoreWriteCommand.ExtendKey extend, long now) throws SQLException {
        RunDeduplicationKey name = extend.key();
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
            writeAudit(name.workspace(), now, extend.by(), "key.extend", name.text());
        }
        return isInUse;
    }

    private boolean cancel(StoreWriteCommand.CancelRun cancel, long now) throws SQLException {
        boolean requested = runs.cancel(cancel);
        if (requested) {
            StoreWriteCommand.ChangeAuthor by =
                    new StoreWriteCommand.ChangeAuthor(ids.get(), cancel.actor(), cancel.reason());
            writeAudit(cancel.workspace(), now, by, "run.cancel", cancel.run().text());
        }
        return requested;
    }

    private boolean goOn(StoreWriteCommand.ContinueHeldRun on, long now) throws SQLException {
        boolean continues = runs.continueHeld(on);
        if (continues) {
            StoreWriteCommand.ChangeAuthor by = new StoreWriteCommand.ChangeAuthor(ids.get(), on.actor(), on.reason());
            writeAudit(on.workspace(), now, by, "run.continue", on.run().text());
        }
        return continues;
    }

    private boolean decide(StoreWriteCommand.DecideEffect decide, long now) throws SQLException {
        boolean decided = runs.decideEffect(decide, now);
        if (decided) {
            reviews.closeReviewsOf(decide, now);
            String what = decide.result() == null ? "effect.not_happened" : "effect.happened";
            writeAudit(
                    decide.effect().workspace(),
                    now,
                    decide.by(),
                    what,
                    decide.run().text());
        }
        return decided || isAudited(decide.by());
    }

    private boolean releaseAll(StoreWriteCommand.ReleaseKeys all, long now) throws SQLException {
        boolean any = false;
        for (StoreWriteCommand.ReleaseKey one : all.releases()) {
            // The first released key is audited under the request's id, which identifies a retry.
            any |= release(one, any ? ids.get() : one.by().requestId(), now)
                    && one.key().kind() != RunDeduplicationKey.KeyKind.PAYLOAD;
        }
        for (StoreWriteCommand.ReleaseKey one : all.releases()) {
            any = any || isAudited(one.by());
        }
        return any;
    }

    @SuppressWarnings("unchecked") // each command returns the outcome of its own type
    private <T> @Nullable Object noted(StoreWriteCommand.AuditedCommand<T> noted, long now) throws SQLException {
        @Nullable T outcome = (T) apply(noted.command(), now);
        StoreWriteCommand.AuditEntry note = noted.entry();
        if (noted.isAuditable().test(outcome) && !isAudited(note.by())) {
            writeAudit(note.workspace(), now, note.by(), note.action(), note.target());
        }
        return outcome;
    }

    /** Increments the catalog revision, because workers cache watched documents. */
    private StoreWriteCommand.SettingResult auditSetting(
            JdbcWorkspaceSettingWriter.SettingChange outcome, WorkspaceSettingName name, long now) throws SQLException {
        if (outcome.changed()
                && name.kind().changesCatalog()
                && outcome.result() instanceof StoreWriteCommand.SettingResult.Saved(var row)) {
            incrementCatalogRevision();
            String action = row.kind() + (row.removed() ? ".remove" : ".put");
            StoreWriteCommand.ChangeAuthor by =
                    new StoreWriteCommand.ChangeAuthor(ids.get(), row.changedBy(), "version " + row.version());
            writeAudit(row.ws(), now, by, action, row.name());
        }
        return outcome.result();
    }

    private int delete(List<StoreWriteCommand.KeyTombstone> tombstones) throws SQLException {
        int deleted = 0;
        for (StoreWriteCommand.KeyTombstone tombstone : tombstones) {
            RunDeduplicationKey name = tombstone.key();
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

    boolean isAudited(StoreWriteCommand.ChangeAuthor by) throws SQLException {
        return session.exists("SELECT 1 FROM semel_audit WHERE id = ?", by.requestId());
    }

    void writeAudit(int ws, long now, StoreWriteCommand.ChangeAuthor by, String action, String target)
            throws SQLException {
        session.update("""
            INSERT INTO semel_audit (id, ws, at, actor, action, target, reason) VALUES (?, ?, ?, ?, ?, ?, ?)
            """, by.requestId(), ws, now, by.actor(), action, target, by.reason());
    }
}
