package dev.semel.testing.memory;

import dev.semel.effect.Ledger;
import dev.semel.run.RunId;
import dev.semel.store.Delivery;
import dev.semel.store.Edit;
import dev.semel.store.Figures;
import dev.semel.store.Name;
import dev.semel.store.Plans;
import dev.semel.store.Reads;
import dev.semel.store.Review;
import dev.semel.store.Rows;
import dev.semel.store.Timetable;
import dev.semel.store.Write;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A reader that gets no answer while the store is away. */
final class FaultyReads implements Reads {
    private final Reads real;
    private final Faults faults;

    FaultyReads(Reads real, Faults faults) {
        this.real = real;
        this.faults = faults;
    }

    private Reads there() {
        faults.call();
        return real;
    }

    @Override
    public long now() {
        return there().now();
    }

    @Override
    public Found names(List<Name> names) {
        return there().names(names);
    }

    @Override
    public Rows.@Nullable Run run(int ws, RunId id) {
        return there().run(ws, id);
    }

    @Override
    public Rows.@Nullable Run claimed(RunId id) {
        return there().claimed(id);
    }

    @Override
    public List<Rows.Run> runs(RunFilter filter) {
        return there().runs(filter);
    }

    @Override
    public List<Chunk> journal(RunId run) {
        return there().journal(run);
    }

    @Override
    public List<Rows.Signal> signals(RunId run) {
        return there().signals(run);
    }

    @Override
    public Ledger.@Nullable Row effect(Ledger.Id id) {
        return there().effect(id);
    }

    @Override
    public List<Ledger.Row> effects(RunId run) {
        return there().effects(run);
    }

    @Override
    public List<RunId> children(RunId run) {
        return there().children(run);
    }

    @Override
    public List<String> queues(RunId run) {
        return there().queues(run);
    }

    @Override
    public List<RunId> lineage(RunId first) {
        return there().lineage(first);
    }

    @Override
    public Plans plans() {
        return there().plans();
    }

    @Override
    public Review.Desk reviews() {
        return there().reviews();
    }

    @Override
    public LedgerPage effects(EffectFilter filter) {
        return there().effects(filter);
    }

    @Override
    public Timetable timetable() {
        return there().timetable();
    }

    @Override
    public Figures figures() {
        return there().figures();
    }

    @Override
    public List<Misfit> held(@Nullable RunId after, int limit) {
        return there().held(after, limit);
    }

    @Override
    public List<Write.Seen> requestsOf(RunId run, @Nullable RunId before, int limit) {
        return there().requestsOf(run, before, limit);
    }

    @Override
    public List<Write.Seen> requests(int ws, @Nullable RunId before, int limit) {
        return there().requests(ws, before, limit);
    }

    @Override
    public List<Rows.Held> key(int ws, String key) {
        return there().key(ws, key);
    }

    @Override
    public List<Rows.Held> keys(int ws, String prefix, @Nullable Name after, int limit) {
        return there().keys(ws, prefix, after, limit);
    }

    @Override
    public long catalogChange() {
        return there().catalogChange();
    }

    @Override
    public Rows.@Nullable Workflow workflow(int ws, String nameOrId) {
        return there().workflow(ws, nameOrId);
    }

    @Override
    public List<Rows.Workflow> workflows(int ws) {
        return there().workflows(ws);
    }

    @Override
    public Rows.@Nullable Version version(String workflowId, int version) {
        return there().version(workflowId, version);
    }

    @Override
    public List<Rows.Version> versions(String workflowId, int before, int limit) {
        return there().versions(workflowId, before, limit);
    }

    @Override
    public List<Rows.Tally> tally(int ws, String workflowId, int limit) {
        return there().tally(ws, workflowId, limit);
    }

    @Override
    public Rows.@Nullable Token token(byte[] hash) {
        return there().token(hash);
    }

    @Override
    public List<Rows.Token> tokens(int ws) {
        return there().tokens(ws);
    }

    @Override
    public Rows.@Nullable Workspace workspace(String name) {
        return there().workspace(name);
    }

    @Override
    public Rows.@Nullable Workspace workspace(int ws) {
        return there().workspace(ws);
    }

    @Override
    public Rows.@Nullable Setting setting(int ws, String kind, String name) {
        return there().setting(ws, kind, name);
    }

    @Override
    public Rows.@Nullable Setting setting(int ws, String kind, String name, int version) {
        return there().setting(ws, kind, name, version);
    }

    @Override
    public List<Rows.Setting> settings(int ws, String kind, String after, int limit) {
        return there().settings(ws, kind, after, limit);
    }

    @Override
    public List<Rows.Setting> settingVersions(int ws, String kind, String name) {
        return there().settingVersions(ws, kind, name);
    }

    @Override
    public List<Delivery> deliveries(int ws, String hook, @Nullable RunId before, int limit) {
        return there().deliveries(ws, hook, before, limit);
    }

    @Override
    public @Nullable Delivery delivery(int ws, String hook, RunId id) {
        return there().delivery(ws, hook, id);
    }

    @Override
    public @Nullable Delivery firstDelivery(int ws, String hook, String eventId) {
        return there().firstDelivery(ws, hook, eventId);
    }

    @Override
    public boolean expiredDelivery() {
        return there().expiredDelivery();
    }

    @Override
    public List<Rows.Audit> audit(int ws, @Nullable RunId before, int limit) {
        return there().audit(ws, before, limit);
    }

    @Override
    public Slice tombstones(@Nullable Name from, int limit, long before) {
        return there().tombstones(from, limit, before);
    }

    @Override
    public Old oldRuns(@Nullable RunId from, int limit, long endedBefore) {
        return there().oldRuns(from, limit, endedBefore);
    }

    @Override
    public Rows.@Nullable Event event(int ws, String eventId) {
        return there().event(ws, eventId);
    }

    @Override
    public Events events(EventFilter filter) {
        return there().events(filter);
    }

    @Override
    public List<Rows.Held> namesLike(int ws, Name.Kind kind, String prefix, int limit) {
        return there().namesLike(ws, kind, prefix, limit);
    }

    @Override
    public List<Edit.OldEvent> oldEvents(int ws, long before, int limit) {
        return there().oldEvents(ws, before, limit);
    }

    @Override
    public @Nullable Integer workspaceAfter(int ws) {
        return there().workspaceAfter(ws);
    }

    @Override
    public boolean expiredReply() {
        return there().expiredReply();
    }

    @Override
    public boolean expiredLetter() {
        return there().expiredLetter();
    }

    @Override
    public long nextDue() {
        return there().nextDue();
    }

    @Override
    public List<Write.Driver> owned(long lease, @Nullable RunId after, int limit) {
        return there().owned(lease, after, limit);
    }

    @Override
    public long unfinished() {
        return there().unfinished();
    }

    @Override
    public List<Rows.Worker> workers() {
        return there().workers();
    }

    @Override
    public void close() {
        real.close();
    }
}
