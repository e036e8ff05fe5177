package dev.semel.store.jdbc;

import dev.semel.run.RunId;
import dev.semel.store.Counted;
import dev.semel.store.Edit;
import dev.semel.store.Name;
import dev.semel.store.Rows;
import dev.semel.store.SettingName;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Executes store commands, such as versions or cancelling, inside the transaction of a write lane. */
public final class Edits {
    private static final String TOKEN = """
        SELECT t.token_id, t.ws, w.name, t.name, t.hash, t.scopes, t.quota_per_minute, t.created_at, t.revoked_at,
               t.created_by
        FROM semel_token t JOIN semel_workspace w ON w.ws = t.ws WHERE t.token_id = ? AND t.hash = ?
        """;

    private static final String CATALOG = "SELECT revision FROM semel_catalog WHERE singleton = 1";

    private static final String WORKSPACE = "SELECT 1 FROM semel_workspace WHERE name = ?";

    private final Session session;
    private final Supplier<RunId> ids;
    private final RunEdits runs;
    private final Replying idempotentCommands;
    private final SettingEdits settings;
    private final DeliveryEdits deliveries;
    private final Publishing versions;
    private final ScheduleEdits schedules;
    private final Letters keyedSignals;
    private final ReplayEdits replays;
    private final ReviewEdits reviews;
    private final Resuming resumer;

    /** @param counted collects the metrics of the commands */
    public Edits(Session session, Supplier<RunId> ids, Counted counted) {
        this.session = session;
        this.ids = ids;
        this.runs = new RunEdits(session, ids, counted);
        this.idempotentCommands = new Replying(session, this);
        this.settings = new SettingEdits(session);
        this.deliveries = new DeliveryEdits(session);
        this.versions = new Publishing(session, this);
        this.schedules = new ScheduleEdits(session, this);
        this.keyedSignals = new Letters(session, runs, ids);
        this.replays = new ReplayEdits(session, this);
        this.reviews = new ReviewEdits(session, this);
        this.resumer = new Resuming(session, this, counted);
    }

    public @Nullable Object apply(Edit<?> edit, long now) throws SQLException {
        return switch (edit) {
            case Edit.OpenWorkspace open -> open(open, now);
            case Edit.Publish publish -> versions.publish(publish, now);
            case Edit.PublishOver over -> versions.publish(over, now);
            case Edit.Stage stage -> versions.stage(stage, now);
            case Edit.Promote promote -> versions.promote(promote, now);
            case Edit.Rollback back -> versions.rollback(back, now);
            case Edit.Pause pause -> versions.pause(pause);
            case Edit.CreateToken create -> create(create, now);
            case Edit.RevokeToken revoke -> revoke(revoke, now);
            case Edit.Release release -> release(release, release.by().id(), now) || isDone(release.by());
            case Edit.ReleaseAll all -> releaseAll(all, now);
            case Edit.Extend extend -> extend(extend, now);
            case Edit.Once<?> once -> idempotentCommands.once(once, now);
            case Edit.Noted<?> noted -> noted(noted, now);
            case Edit.DeleteReplies delete -> idempotentCommands.deleteExpired(delete.limit(), now);
            case Edit.DeleteNames delete -> delete(delete.tombstones());
            case Edit.DeleteEvents delete -> EventRows.delete(session, delete.events());
            case Edit.DeleteRuns delete -> new Retiring(session).retire(delete, now);
            case Edit.BlankRuns blank -> new Retiring(session).blank(blank, now);
            case Edit.Forget forget -> new Forgetting(session).forget(forget);
            case Edit.Signal signal -> runs.signal(signal, now);
            case Edit.Mail<?> mail -> keyedSignals.apply(mail.letter(), now);
            case Edit.Reviewing<?> reviewing -> reviews.apply(reviewing.review(), now);
            case Edit.Cancel cancel -> cancel(cancel, now);
            case Edit.Wake wake -> runs.wake(wake);
            case Edit.GiveBack back -> runs.giveBack(back.driver());
            case Edit.WakeHeld held -> runs.wakeHeld(held.workflowId());
            case Edit.GoOn on -> goOn(on, now);
            case Edit.Resume resume -> resumer.resume(resume, now);
            case Edit.Decide decide -> decide(decide, now);
            case Edit.Receive receive -> deliveries.receive(receive, now);
            case Edit.DeleteDeliveries delete -> deliveries.deleteExpired(delete.limit(), now);
            case Edit.Put put -> auditSetting(settings.put(put, now), put.name(), now);
            case Edit.Remove remove -> auditSetting(settings.remove(remove, now), remove.name(), now);
            case Edit.PlaceAsOf asOf -> apply(asOf.at(session.one(CATALOG, row -> row.getLong(1))), now);
            case Edit.LayOut layOut -> schedules.layOut(layOut, now);
            case Edit.TakeTicks take -> schedules.take(take, now);
            case Edit.SettleTicks settle -> schedules.settle(settle);
            case Edit.NoteTicks note -> schedules.note(note.ticks());
            case Edit.PauseSchedule pause -> schedules.pause(pause, now);
            case Edit.DeleteTicks delete -> schedules.delete(delete);
            case Edit.Replaying<?> replaying -> replays.apply(replaying.replay(), now);
            case Edit.TidyFigures tidy -> Counting.tidy(session, tidy);
        };
    }

    private Rows.Workspace open(Edit.OpenWorkspace open, long now) throws SQLException {
        for (int attempt = 0; attempt < 20; attempt++) {
            session.update("""
                INSERT INTO semel_workspace (ws, name, secret, created_at)
                SELECT COALESCE(MAX(ws), 0) + 1, ?, ?, ? FROM semel_workspace WHERE true
                ON CONFLICT DO NOTHING
                """, open.name(), open.secret(), now);
            Rows.Workspace found = session.one(
                    "SELECT ws, name, secret FROM semel_workspace WHERE name = ?", Read::workspace, open.name());
            if (found != null) {
                return found;
            }
        }
        throw new IllegalStateException("Creating workspace " + open.name()
                + " failed: other writers took its number 20 times in a row. Nothing was changed. Retry.");
    }

    private Rows.@Nullable Token create(Edit.CreateToken create, long now) throws SQLException {
        Rows.Token token = create.token();
        Rows.Token made = session.one(TOKEN, Read::token, token.tokenId(), token.hash());
        if (made != null) {
            return made; // a retry after a lost response
        }
        int ws = token.ws();
        if (create.inside() != null) {
            if (session.one(WORKSPACE, row -> 1, create.inside().name()) != null) {
                return null;
            }
            Rows.Workspace opened = open(create.inside(), now);
            if (!Arrays.equals(opened.secret(), create.inside().secret())) {
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
                token.madeBy());
        return session.one(TOKEN, Read::token, token.tokenId(), token.hash());
    }

    private boolean revoke(Edit.RevokeToken revoke, long now) throws SQLException {
        boolean revoked = session.update(
                        "UPDATE semel_token SET revoked_at = ? WHERE ws = ? AND token_id = ? AND revoked_at = 0",
                        now,
                        revoke.workspace(),
                        revoke.tokenId())
                == 1;
        if (revoked) {
            bumpCatalog();
            Edit.By by = new Edit.By(ids.get(), revoke.actor(), "");
            audit(revoke.workspace(), now, by, List.of("token.revoke", revoke.tokenId()));
        }
        return revoked;
    }

    private boolean release(Edit.Release release, RunId audited, long now) throws SQLException {
        Name name = release.name();
        boolean released =
                session.update("""
                    UPDATE semel_key SET flags = flags | 4, expires_at = ?
                    WHERE ws = ? AND kind = ? AND key = ? AND run = ? AND (flags & 4) = 0 AND (expires_at > ?
                        OR ((flags & 1) = 1 AND EXISTS (SELECT 1 FROM semel_unfinished_run w
                            WHERE w.run = semel_key.run)))
                    """, now, name.workspace(), name.kind().code(), name.text(), release.run(), now) == 1;
        if (released && name.kind() != Name.Kind.PAYLOAD) {
            Edit.By by = new Edit.By(audited, release.by().actor(), release.by().reason());
            audit(name.workspace(), now, by, List.of("key.release", name.text()));
        }
        return released;
    }

    private boolean extend(Edit.Extend extend, long now) throws SQLException {
        Name name = extend.name();
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
        if (isInUse && !isDone(extend.by())) {
            audit(name.workspace(), now, extend.by(), List.of("key.extend", name.text()));
        }
        return isInUse;
    }

    private boolean cancel(Edit.Cancel cancel, long now) throws SQLException {
        boolean requested = runs.cancel(cancel);
        if (requested) {
            Edit.By by = new Edit.By(ids.get(), cancel.actor(), cancel.reason());
            audit(
                    cancel.workspace(),
                    now,
                    by,
                    List.of("run.cancel", cancel.run().text()));
        }
        return requested;
    }

    private boolean goOn(Edit.GoOn on, long now) throws SQLException {
        boolean continues = runs.goOn(on);
        if (continues) {
            Edit.By by = new Edit.By(ids.get(), on.actor(), on.reason());
            audit(on.workspace(), now, by, List.of("run.go_on", on.run().text()));
        }
        return continues;
    }

    private boolean decide(Edit.Decide decide, long now) throws SQLException {
        boolean decided = runs.decide(decide, now);
        if (decided) {
            reviews.settled(decide, now);
            String what = decide.result() == null ? "effect.not_happened" : "effect.happened";
            audit(
                    decide.effect().workspace(),
                    now,
                    decide.by(),
                    List.of(what, decide.run().text()));
        }
        return decided || isDone(decide.by());
    }

    private boolean releaseAll(Edit.ReleaseAll all, long now) throws SQLException {
        boolean any = false;
        for (Edit.Release one : all.releases()) {
            // The first released key is audited under the request's id, which identifies a retry.
            any |= release(one, any ? ids.get() : one.by().id(), now)
                    && one.name().kind() != Name.Kind.PAYLOAD;
        }
        for (Edit.Release one : all.releases()) {
            any = any || isDone(one.by());
        }
        return any;
    }

    @SuppressWarnings("unchecked") // each command returns the outcome of its own type
    private <T> @Nullable Object noted(Edit.Noted<T> noted, long now) throws SQLException {
        @Nullable T outcome = (T) apply(noted.edit(), now);
        Edit.Note note = noted.note();
        if (noted.done().test(outcome) && !isDone(note.by())) {
            audit(note.workspace(), now, note.by(), List.of(note.action(), note.target()));
        }
        return outcome;
    }

    /**
     * Audits the change of a watched document and increments the catalog revision, because workers cache such
     * documents.
     */
    private Edit.Placed auditSetting(SettingEdits.Outcome outcome, SettingName name, long now) throws SQLException {
        if (outcome.changed() && name.kind().watched() && outcome.placed() instanceof Edit.Placed.Now(var row)) {
            bumpCatalog();
            String action = row.kind() + (row.removed() ? ".remove" : ".put");
            Edit.By by = new Edit.By(ids.get(), row.changedBy(), "version " + row.version());
            audit(row.ws(), now, by, List.of(action, row.name()));
        }
        return outcome.placed();
    }

    private int delete(List<Edit.Tombstone> tombstones) throws SQLException {
        int deleted = 0;
        for (Edit.Tombstone tombstone : tombstones) {
            Name name = tombstone.name();
            // Compares run and expiry again: the key may have moved to another run meanwhile.
            deleted += session.update(
                    """
                    DELETE FROM semel_key WHERE ws = ? AND kind = ? AND key = ? AND run = ? AND expires_at = ?
                    """, name.workspace(), name.kind().code(), name.text(), tombstone.run(), tombstone.expiresAt());
        }
        return deleted;
    }

    /** The caller has locked the catalog and all slots, so no trigger of an older catalog is admitted afterwards. */
    void bumpCatalog() throws SQLException {
        session.update("UPDATE semel_catalog SET revision = revision + 1 WHERE singleton = 1");
        session.update("""
            UPDATE semel_fence SET catalog_revision = (SELECT revision FROM semel_catalog WHERE singleton = 1)
            """);
    }

    RunId newId() {
        return ids.get();
    }

    boolean isDone(Edit.By by) throws SQLException {
        return session.one("SELECT 1 FROM semel_audit WHERE id = ?", row -> 1, by.id()) != null;
    }

    /** @param change the action and its target */
    void audit(int ws, long now, Edit.By by, List<String> change) throws SQLException {
        session.update("""
            INSERT INTO semel_audit (id, ws, at, actor, action, target, reason) VALUES (?, ?, ?, ?, ?, ?, ?)
            """, by.id(), ws, now, by.actor(), change.get(0), change.get(1), by.reason());
    }
}
