package dev.semel.testing.memory;

import dev.semel.key.Known;
import dev.semel.run.RunId;
import dev.semel.store.Edit;
import dev.semel.store.Name;
import dev.semel.store.Rows;
import dev.semel.store.SettingName;
import dev.semel.store.StoreFailure;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The rare changes that people make. */
final class Edits {
    private final Tables tables;
    private final Supplier<RunId> ids;
    private final RunEdits runs;
    private final SettingEdits settings;
    private final DeliveryEdits deliveries;
    private final Publishing publishing;
    private final ScheduleEdits schedules;
    private final Letters letters;
    private final ReplayEdits replays;
    private final ReviewEdits reviews;

    Edits(Tables tables, Supplier<RunId> ids) {
        this.tables = tables;
        this.ids = ids;
        this.runs = new RunEdits(tables, ids);
        this.settings = new SettingEdits(tables);
        this.deliveries = new DeliveryEdits(tables);
        this.publishing = new Publishing(tables, this);
        this.schedules = new ScheduleEdits(tables, this);
        this.letters = new Letters(tables, runs, ids);
        this.replays = new ReplayEdits(tables, this);
        this.reviews = new ReviewEdits(tables, this);
    }

    @Nullable
    Object apply(Edit<?> edit, long now) {
        return switch (edit) {
            case Edit.OpenWorkspace open -> open(open, now);
            case Edit.Publish publish -> publishing.publish(publish, now);
            case Edit.PublishOver over -> publishing.publish(over, now);
            case Edit.Stage stage -> publishing.stage(stage, now);
            case Edit.Promote promote -> publishing.promote(promote, now);
            case Edit.Rollback back -> publishing.rollback(back, now);
            case Edit.Pause pause -> pause(pause);
            case Edit.CreateToken create -> create(create, now);
            case Edit.RevokeToken revoke -> revoke(revoke, now);
            case Edit.Release release -> release(release, release.by().id(), now) || isDone(release.by());
            case Edit.ReleaseAll all -> releaseAll(all, now);
            case Edit.Extend extend -> extend(extend, now);
            case Edit.Once<?> once -> once(once, now);
            case Edit.Noted<?> noted -> noted(noted, now);
            case Edit.DeleteReplies replies -> deleteReplies(replies.limit(), now);
            case Edit.DeleteNames delete -> delete(delete.tombstones());
            case Edit.DeleteEvents delete -> EventTable.delete(tables, delete.events());
            case Edit.DeleteRuns delete -> runs.retire(delete, now);
            case Edit.BlankRuns blank -> runs.blank(blank, now);
            case Edit.Forget forget -> new Forgetting(tables).forget(forget);
            case Edit.Signal signal -> runs.signal(signal, now);
            case Edit.Mail<?> mail -> letters.apply(mail.letter(), now);
            case Edit.Reviewing<?> reviewing -> reviews.apply(reviewing.review(), now);
            case Edit.Cancel cancel -> cancel(cancel, now);
            case Edit.Wake wake -> runs.wake(wake);
            case Edit.GiveBack back -> runs.giveBack(back.driver());
            case Edit.WakeHeld held -> runs.wakeHeld(held.workflowId());
            case Edit.GoOn on -> goOn(on, now);
            case Edit.Resume resume -> new Resuming(tables, this).resume(resume, now);
            case Edit.Decide decide -> decide(decide, now);
            case Edit.Receive receive -> deliveries.receive(receive, now);
            case Edit.DeleteDeliveries delete -> deliveries.deleteExpired(delete.limit(), now);
            case Edit.Put put -> told(settings.put(put, now), put.name(), now);
            case Edit.Remove remove -> told(settings.remove(remove, now), remove.name(), now);
            case Edit.PlaceAsOf asOf -> apply(asOf.at(tables.catalog.get(Tables.ONE)), now);
            case Edit.LayOut layOut -> schedules.layOut(layOut, now);
            case Edit.TakeTicks take -> schedules.take(take, now);
            case Edit.SettleTicks settle -> schedules.settle(settle);
            case Edit.NoteTicks note -> schedules.note(note.ticks());
            case Edit.PauseSchedule pause -> schedules.pause(pause, now);
            case Edit.DeleteTicks delete -> schedules.delete(delete);
            case Edit.Replaying<?> replaying -> replays.apply(replaying.replay(), now);
            case Edit.TidyFigures tidy -> MemoryFigures.tidy(tables, tidy);
        };
    }

    private Rows.Workspace open(Edit.OpenWorkspace open, long now) {
        for (Tables.Workspace workspace : tables.workspaces.rows().values()) {
            if (workspace.row().name().equals(open.name())) {
                return copy(workspace.row());
            }
        }
        int ws = tables.workspaces.rows().isEmpty()
                ? 1
                : tables.workspaces.rows().lastKey() + 1;
        var made = new Rows.Workspace(ws, open.name(), open.secret().clone());
        tables.workspaces.put(ws, new Tables.Workspace(made, now));
        return copy(made);
    }

    static Rows.Workspace copy(Rows.Workspace row) {
        return new Rows.Workspace(row.ws(), row.name(), row.secret().clone());
    }

    private Rows.@Nullable Workflow pause(Edit.Pause pause) {
        Rows.Workflow before = publishing.find(pause.workspace(), pause.workflowId());
        if (before == null) {
            return null; // not there, or another workspace's: its queued runs are nobody's business here
        }
        var after = new Rows.Workflow(
                before.ws(),
                before.name(),
                before.workflowId(),
                before.rollout(),
                pause.paused(),
                before.createdAt(),
                false);
        tables.workflows.put(new Pair<>(before.ws(), before.name()), after);
        if (!pause.paused()) {
            runs.resume(held(pause.workflowId()));
        }
        bumpCatalog();
        return after;
    }

    /** What is held by a pause that is over, of one workflow. */
    private List<Work> held(String workflowId) {
        return tables.workPaused.values().stream()
                .filter(work -> work.workflowId.equals(workflowId))
                .filter(work -> {
                    Rows.Workflow workflow = tables.workflowsById.get(work.workflowId);
                    return workflow != null && !workflow.paused();
                })
                .toList();
    }

    private Rows.@Nullable Token create(Edit.CreateToken create, long now) {
        Rows.Token token = create.token();
        Rows.Token known = tables.tokens.rows().values().stream()
                .filter(other -> other.tokenId().equals(token.tokenId()) || Arrays.equals(other.hash(), token.hash()))
                .findFirst()
                .orElse(null);
        if (known != null) {
            boolean same = known.tokenId().equals(token.tokenId()) && Arrays.equals(known.hash(), token.hash());
            return same ? shown(known) : null;
        }
        int ws = token.ws();
        Edit.OpenWorkspace inside = create.inside();
        if (inside != null) {
            boolean there = tables.workspaces.rows().values().stream()
                    .anyMatch(workspace -> workspace.row().name().equals(inside.name()));
            if (there) {
                return null;
            }
            ws = open(inside, now).ws();
        }
        Rows.Token made = of(
                new Rows.Token(
                        token.tokenId(),
                        ws,
                        token.workspace(),
                        token.name(),
                        token.hash(),
                        token.scopes(),
                        token.quotaPerMinute(),
                        now,
                        0,
                        token.madeBy()),
                now,
                0);
        tables.tokens.put(token.tokenId(), made);
        return shown(made);
    }

    private Rows.Token shown(Rows.Token token) {
        Tables.Workspace workspace = tables.workspaces.get(token.ws());
        return new Rows.Token(
                token.tokenId(),
                token.ws(),
                workspace == null ? token.workspace() : workspace.row().name(),
                token.name(),
                token.hash().clone(),
                token.scopes(),
                token.quotaPerMinute(),
                token.createdAt(),
                token.revokedAt(),
                token.madeBy());
    }

    private boolean releaseAll(Edit.ReleaseAll all, long now) {
        boolean any = false;
        for (Edit.Release one : all.releases()) {
            // The first one that is let go carries the id of the request; by that it is known when it comes again.
            any |= release(one, any ? ids.get() : one.by().id(), now)
                    && one.name().kind() != Name.Kind.PAYLOAD;
        }
        return any || all.releases().stream().anyMatch(one -> isDone(one.by()));
    }

    @SuppressWarnings("unchecked") // each edit answers with the outcome of its own type
    private <T> Edit.Replied once(Edit.Once<T> once, long now) {
        Edit.Asked asked = once.asked();
        var name = new Pair<>(asked.workspace(), new Pair<>(asked.operation(), asked.key()));
        Tables.Reply kept = tables.replies.get(name);
        if (kept != null && kept.expiresAt() > now) {
            return Arrays.equals(kept.digest(), asked.digest())
                    ? new Edit.Replied.Done(kept.answer(), !kept.id().equals(asked.id()))
                    : new Edit.Replied.OtherRequest();
        }
        if (kept != null) {
            tables.replies.remove(name);
        }
        @Nullable T outcome = (T) apply(once.edit(), now);
        String answer = once.answer().apply(outcome);
        if (answer == null) {
            return new Edit.Replied.Refused();
        }
        tables.replies.put(name, new Tables.Reply(asked.id(), asked.digest().clone(), answer, now + asked.window()));
        return new Edit.Replied.Done(answer, false);
    }

    @SuppressWarnings("unchecked") // each edit answers with the outcome of its own type
    private <T> @Nullable Object noted(Edit.Noted<T> noted, long now) {
        @Nullable T outcome = (T) apply(noted.edit(), now);
        Edit.Note note = noted.note();
        if (noted.done().test(outcome) && !isDone(note.by())) {
            audit(note.workspace(), now, note.by(), List.of(note.action(), note.target()));
        }
        return outcome;
    }

    private int deleteReplies(int limit, long now) {
        var expired = tables.replies.rows().entrySet().stream()
                .filter(reply -> reply.getValue().expiresAt() <= now)
                .limit(limit)
                .map(java.util.Map.Entry::getKey)
                .toList();
        expired.forEach(tables.replies::remove);
        return expired.size();
    }

    private static Rows.Token of(Rows.Token token, long createdAt, long revokedAt) {
        return new Rows.Token(
                token.tokenId(),
                token.ws(),
                token.workspace(),
                token.name(),
                token.hash().clone(),
                token.scopes(),
                token.quotaPerMinute(),
                createdAt,
                revokedAt,
                token.madeBy());
    }

    private boolean revoke(Edit.RevokeToken revoke, long now) {
        Rows.Token token = tables.tokens.get(revoke.tokenId());
        if (token == null || token.ws() != revoke.workspace() || token.revokedAt() != 0) {
            return false;
        }
        tables.tokens.put(token.tokenId(), of(token, token.createdAt(), now));
        bumpCatalog();
        Edit.By by = new Edit.By(ids.get(), revoke.actor(), "");
        audit(revoke.workspace(), now, by, List.of("token.revoke", revoke.tokenId()));
        return true;
    }

    private boolean release(Edit.Release release, RunId audited, long now) {
        Name name = release.name();
        Tables.Key key = tables.keys.get(name);
        if (key == null || !key.run().equals(release.run()) || !stands(key, now)) {
            return false;
        }
        tables.keys.put(
                name, new Tables.Key(name, key.run(), key.digest(), key.firstAt(), now, key.flags() | Known.RELEASED));
        if (name.kind() != Name.Kind.PAYLOAD) {
            Edit.By by = new Edit.By(audited, release.by().actor(), release.by().reason());
            audit(name.workspace(), now, by, List.of("key.release", name.text()));
        }
        return true;
    }

    private boolean extend(Edit.Extend extend, long now) {
        Name name = extend.name();
        Tables.Key key = tables.keys.get(name);
        if (key == null || !key.run().equals(extend.run()) || !stands(key, now)) {
            return false;
        }
        long until = Math.max(key.expiresAt(), extend.until());
        tables.keys.put(name, new Tables.Key(name, key.run(), key.digest(), key.firstAt(), until, key.flags()));
        if (!isDone(extend.by())) {
            audit(name.workspace(), now, extend.by(), List.of("key.extend", name.text()));
        }
        return true;
    }

    private boolean stands(Tables.Key key, long now) {
        boolean held = (key.flags() & Known.HOLD) != 0 && tables.work.has(key.run());
        return (key.flags() & Known.RELEASED) == 0 && (key.expiresAt() > now || held);
    }

    private boolean cancel(Edit.Cancel cancel, long now) {
        boolean asked = runs.cancel(cancel);
        if (asked) {
            Edit.By by = new Edit.By(ids.get(), cancel.actor(), cancel.reason());
            audit(
                    cancel.workspace(),
                    now,
                    by,
                    List.of("run.cancel", cancel.run().text()));
        }
        return asked;
    }

    private boolean goOn(Edit.GoOn on, long now) {
        boolean goesOn = runs.goOn(on);
        if (goesOn) {
            Edit.By by = new Edit.By(ids.get(), on.actor(), on.reason());
            audit(on.workspace(), now, by, List.of("run.go_on", on.run().text()));
        }
        return goesOn;
    }

    private boolean decide(Edit.Decide decide, long now) {
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

    /** Every worker remembers watched documents, and who changed one is asked for later. */
    private Edit.Placed told(SettingEdits.Outcome outcome, SettingName name, long now) {
        if (outcome.changed() && name.kind().watched() && outcome.placed() instanceof Edit.Placed.Now(var row)) {
            bumpCatalog();
            String action = row.kind() + (row.removed() ? ".remove" : ".put");
            Edit.By by = new Edit.By(ids.get(), row.changedBy(), "version " + row.version());
            audit(row.ws(), now, by, List.of(action, row.name()));
        }
        return outcome.placed();
    }

    private int delete(List<Edit.Tombstone> tombstones) {
        int deleted = 0;
        for (Edit.Tombstone tombstone : tombstones) {
            Tables.Key key = tables.keys.get(tombstone.name());
            // The run and the expiry are compared again: the name may have been given to another run meanwhile.
            if (key != null && key.run().equals(tombstone.run()) && key.expiresAt() == tombstone.expiresAt()) {
                tables.keys.remove(tombstone.name());
                deleted++;
            }
        }
        return deleted;
    }

    void bumpCatalog() {
        tables.catalog.put(Tables.ONE, Objects.requireNonNull(tables.catalog.get(Tables.ONE)) + 1);
    }

    RunId newId() {
        return ids.get();
    }

    boolean isDone(Edit.By by) {
        return tables.audit.has(by.id());
    }

    /** @param deed what was done, and to what */
    void audit(int ws, long now, Edit.By by, List<String> deed) {
        var row = new Rows.Audit(by.id(), now, by.actor(), deed.get(0), deed.get(1), by.reason());
        if (!tables.audit.add(by.id(), new Tables.Audit(ws, row))) {
            throw new StoreFailure.Poisoned(
                    "the store refused a value", new IllegalArgumentException("an id came twice"));
        }
    }
}
