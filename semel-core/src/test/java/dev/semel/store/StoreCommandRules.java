package dev.semel.store;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.admission.KeyRecord;
import dev.semel.run.RunId;
import dev.semel.run.RunState;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The rare changes that people make. */
interface StoreCommandRules {
    TestStoreClient desk();

    private StoredRows.WorkflowRow publish(String name, String id, String body) {
        return desk().change(new StoreCommand.PublishVersion(desk().ws, name, id, body, "tester"));
    }

    private static <T> T there(@Nullable T value) {
        assertNotNull(value);
        return value;
    }

    @Test
    default void a_workspace_is_created_once_and_keeps_its_secret() {
        StoredRows.WorkspaceRow made =
                desk().change(new StoreCommand.CreateWorkspace("two", TestStoreClient.bytes("secret")));
        StoredRows.WorkspaceRow again =
                desk().change(new StoreCommand.CreateWorkspace("two", TestStoreClient.bytes("another")));
        assertEquals(made.ws(), again.ws());
        assertArrayEquals(TestStoreClient.bytes("secret"), again.secret());
        assertArrayEquals(
                TestStoreClient.bytes("secret"),
                there(desk().reads.workspace("two")).secret());
        assertEquals("two", there(desk().reads.workspace(made.ws())).name());
        assertNull(desk().reads.workspace("three"));
        assertNull(desk().reads.workspace(99));
    }

    @Test
    default void publishing_creates_versions_and_an_unchanged_text_creates_none() {
        long before = desk().reads.catalogVersion();
        StoredRows.WorkflowRow first = publish("pay", "wf_pay", "text 1");
        assertEquals(new StoredRows.WorkflowRow(desk().ws, "pay", "wf_pay", 1, false, StoreFixture.START, true), first);
        long after = desk().reads.catalogVersion();
        assertTrue(after > before);

        StoredRows.WorkflowRow same = publish("pay", "wf_ignored", "text 1");
        assertEquals(new StoredRows.WorkflowRow(desk().ws, "pay", "wf_pay", 1, false, StoreFixture.START, false), same);
        assertEquals(after, desk().reads.catalogVersion());

        assertEquals(2, publish("pay", "wf_pay", "text 2").version());
        assertEquals(3, publish("pay", "wf_pay", "text 1").version(), "an older text is a change again");
        assertEquals("text 2", there(desk().reads.version("wf_pay", 2)).body());
        StoredRows.VersionRow third = there(desk().reads.version("wf_pay", 3));
        assertEquals(
                new StoredRows.VersionRow("wf_pay", "pay", desk().ws, 3, "text 1", StoreFixture.START, "tester"),
                third);
        assertNull(desk().reads.version("wf_pay", 4));
        assertNull(desk().reads.version("wf_pay", 0));
    }

    @Test
    default void a_workflow_is_found_by_name_and_by_id_and_listed_by_name() {
        publish("b", "wf_b", "x");
        publish("a", "wf_a", "x");
        assertEquals("wf_b", there(desk().reads.workflow(desk().ws, "b")).workflowId());
        assertEquals("b", there(desk().reads.workflow(desk().ws, "wf_b")).name());
        assertNull(desk().reads.workflow(desk().ws, "c"));
        assertEquals(
                List.of("a", "b", "one"),
                desk().reads.workflows(desk().ws).stream()
                        .map(StoredRows.WorkflowRow::name)
                        .toList());
    }

    @Test
    default void pausing_holds_queued_runs_until_it_is_resumed() {
        long before = desk().reads.catalogVersion();
        assertTrue(there(desk().change(new StoreCommand.PauseWorkflow(desk().ws, TestStoreClient.WORKFLOW, true)))
                .paused());
        assertTrue(desk().reads.catalogVersion() > before);
        RunId queued = desk().id();
        desk().apply(desk().admit(desk().run(queued, RunState.QUEUED, null), List.of(), true));
        assertEquals(List.of(), TestStoreClient.runs(desk().apply(new StoreWrite.ClaimRuns(5))));
        assertFalse(there(desk().change(new StoreCommand.PauseWorkflow(desk().ws, TestStoreClient.WORKFLOW, false)))
                .paused());
        assertEquals(List.of(queued), TestStoreClient.runs(desk().apply(new StoreWrite.ClaimRuns(5))));
        assertEquals(RunState.STARTED, desk().runOf(queued).state());
    }

    @Test
    default void pausing_an_unknown_workflow_returns_nothing() {
        Object answer = desk().lane
                .apply(new CommitBatch(
                        desk().hold,
                        List.of(new StoreWrite.ExecuteCommand<>(
                                new StoreCommand.PauseWorkflow(desk().ws, "wf_no", true)))))
                .getFirst();
        assertEquals(NullOutcome.NOTHING, answer);
    }

    @Test
    default void another_workspace_cannot_pause_or_resume_a_workflow() {
        int other = desk().workspace("two").ws();
        RunId queued = desk().id();
        desk().change(new StoreCommand.PauseWorkflow(desk().ws, TestStoreClient.WORKFLOW, true));
        desk().apply(desk().admit(desk().run(queued, RunState.QUEUED, null), List.of(), true));
        Object answer = desk().applyAll(new StoreWrite.ExecuteCommand<>(
                        new StoreCommand.PauseWorkflow(other, TestStoreClient.WORKFLOW, false)))
                .getFirst();
        assertEquals(NullOutcome.NOTHING, answer);
        assertTrue(there(desk().reads.workflow(desk().ws, "one")).paused());
        assertFalse(desk().freeWork(), "its queued runs stay where they are");
    }

    @Test
    default void a_token_is_found_by_its_hash_until_it_is_revoked() {
        var token = new StoredRows.TokenRow(
                "tok_1", desk().ws, "one", "ci", TestStoreClient.bytes("hash"), "trigger,read", 60, 0, 0, "usr_ann");
        StoredRows.TokenRow made = there(desk().change(new StoreCommand.CreateToken(token)));
        assertEquals(StoreFixture.START, made.createdAt());
        StoredRows.TokenRow found = there(desk().reads.token(TestStoreClient.bytes("hash")));
        assertEquals("one", found.workspace());
        assertEquals("trigger,read", found.scopes());
        assertEquals(60, found.quotaPerMinute());
        assertEquals("usr_ann", found.createdBy());
        assertEquals("usr_ann", desk().reads.tokens(desk().ws).getFirst().createdBy());
        assertEquals(StoreFixture.START, found.createdAt());
        assertNull(desk().reads.token(TestStoreClient.bytes("other")));

        int other = desk().workspace("two").ws();
        assertFalse(desk().change(new StoreCommand.RevokeToken(other, "tok_1", "op")), "not from another workspace");
        assertNotNull(desk().reads.token(TestStoreClient.bytes("hash")));

        long before = desk().reads.catalogVersion();
        assertTrue(desk().change(new StoreCommand.RevokeToken(desk().ws, "tok_1", "op")));
        assertTrue(desk().reads.catalogVersion() > before);
        assertNull(desk().reads.token(TestStoreClient.bytes("hash")));
        assertEquals(
                StoreFixture.START, desk().reads.tokens(desk().ws).getFirst().revokedAt());
        assertFalse(desk().change(new StoreCommand.RevokeToken(desk().ws, "tok_1", "op")));
        assertFalse(desk().change(new StoreCommand.RevokeToken(desk().ws, "tok_2", "op")));
    }

    @Test
    default void a_token_with_a_known_hash_or_id_is_rejected() {
        var token = new StoredRows.TokenRow(
                "tok_1", desk().ws, "one", "ci", TestStoreClient.bytes("hash"), "read", 0, 0, 0);
        assertNotNull(desk().change(new StoreCommand.CreateToken(token)));
        var sameHash = new StoredRows.TokenRow(
                "tok_2", desk().ws, "one", "ci", TestStoreClient.bytes("hash"), "admin", 0, 0, 0);
        assertEquals(
                NullOutcome.NOTHING,
                desk().applyAll(new StoreWrite.ExecuteCommand<>(new StoreCommand.CreateToken(sameHash)))
                        .getFirst());
        assertEquals(1, desk().reads.tokens(desk().ws).size());
    }

    @Test
    default void a_release_is_audited_with_who_and_why() {
        KeyClaim key = desk().key("K");
        RunId run = desk().fresh(key);
        assertFalse(
                desk().change(new StoreCommand.ReleaseKey(desk().key("L").key(), run, desk().by("op", "no such key"))));
        assertFalse(desk().change(new StoreCommand.ReleaseKey(
                key.key(), desk().id(), desk().by("op", "the key of another run"))));
        var release = new StoreCommand.ReleaseKey(key.key(), run, desk().by("op", "why"));
        assertTrue(desk().change(release));
        assertTrue(desk().change(release), "applied again after a lost answer it answers the same");
        assertFalse(
                desk().change(new StoreCommand.ReleaseKey(key.key(), run, desk().by("op", "again"))),
                "it is not live any more");
        KeyRecord known = there(desk().holder(key));
        assertTrue(known.has(KeyRecord.RELEASED));
        assertEquals(StoreFixture.START, known.expiresAt());
        StoredRows.AuditRow audit = desk().reads.audit(desk().ws, null, 10).getFirst();
        assertEquals("op", audit.actor());
        assertEquals("key.release", audit.action());
        assertEquals("K", audit.target());
        assertEquals("why", audit.reason());
        assertEquals(StoreFixture.START, audit.at());
        assertEquals(1, desk().place.count("semel_audit"));
    }

    @Test
    default void a_key_past_its_window_is_not_live_and_cannot_be_released() {
        KeyClaim key = desk().key("K");
        RunId run = desk().fresh(key);
        desk().apply(desk().end(run));
        desk().place.setTime(StoreFixture.START + TestStoreClient.WINDOW);
        assertFalse(desk().change(new StoreCommand.ReleaseKey(key.key(), run, desk().by("op", "why"))));
        assertEquals(
                StoreFixture.START + TestStoreClient.WINDOW,
                there(desk().holder(key)).expiresAt());
    }

    @Test
    default void the_expired_key_of_an_unfinished_run_is_live_and_can_be_released() {
        KeyClaim key = desk().key("K", KeyRecord.HOLD);
        RunId run = desk().fresh(key);
        desk().place.setTime(StoreFixture.START + TestStoreClient.WINDOW);
        assertTrue(desk().change(new StoreCommand.ReleaseKey(key.key(), run, desk().by("op", "why"))));
        assertInstanceOf(StoreWrite.AdmitResult.Fresh.class, desk().apply(desk().admit(desk().id(), key)));
    }

    @Test
    default void an_audited_command_adds_one_row_and_only_if_it_changed_something() {
        var token = new StoredRows.TokenRow(
                "tok_1", desk().ws, "one", "ci", TestStoreClient.bytes("hash"), "read", 0, 0, 0);
        var note = new StoreCommand.AuditEntry(desk().ws, "token.create", "tok_1", desk().by("op", "for ci"));
        var create = new StoreCommand.AuditedCommand<>(new StoreCommand.CreateToken(token), Objects::nonNull, note);
        assertNotNull(desk().change(create));
        assertNotNull(desk().change(create), "applied again after a lost answer it answers the same");
        var taken = new StoredRows.TokenRow(
                "tok_2", desk().ws, "one", "ci", TestStoreClient.bytes("hash"), "admin", 0, 0, 0);
        var refused = new StoreCommand.AuditEntry(desk().ws, "token.create", "tok_2", desk().by("op", "again"));
        assertEquals(
                NullOutcome.NOTHING,
                desk().applyAll(new StoreWrite.ExecuteCommand<>(new StoreCommand.AuditedCommand<>(
                                new StoreCommand.CreateToken(taken), Objects::nonNull, refused)))
                        .getFirst());
        List<StoredRows.AuditRow> rows = desk().reads.audit(desk().ws, null, 10);
        assertEquals(
                List.of("tok_1"), rows.stream().map(StoredRows.AuditRow::target).toList());
        assertEquals("for ci", rows.getFirst().reason());
    }

    @Test
    default void an_audit_entry_for_a_signal_to_a_missing_run_is_not_written() {
        RunId run = desk().fresh(desk().key("K"));
        var note = new StoreCommand.AuditEntry(desk().ws, "run.decide", "K", desk().by("op", "approve"));
        StoreCommand<StoreCommand.SignalResult> signal =
                new StoreCommand.SendSignal(desk().ws, run, "go", "once", "{}");
        var noted = new StoreCommand.AuditedCommand<>(
                signal, outcome -> outcome == StoreCommand.SignalResult.DELIVERED, note);
        assertEquals(StoreCommand.SignalResult.DELIVERED, desk().change(noted));
        desk().apply(desk().end(run));
        var late = new StoreCommand.AuditEntry(desk().ws, "run.decide", "K", desk().by("op", "reject"));
        StoreCommand<StoreCommand.SignalResult> second =
                new StoreCommand.SendSignal(desk().ws, run, "go", "twice", "{}");
        assertEquals(
                StoreCommand.SignalResult.GONE,
                desk().change(new StoreCommand.AuditedCommand<>(
                        second, outcome -> outcome == StoreCommand.SignalResult.DELIVERED, late)));
        assertEquals(1, desk().place.count("semel_audit"));
    }

    @Test
    default void approving_starting_or_stopping_a_replay_plan_is_audited_once() {
        RunId plan = desk().id();
        int ws = desk().ws;
        desk().change(new StoreCommand.ReplayPlanCommand<>(
                new ReplayPlanOperation.CreatePlan(plan, ws, "ann", "{}", null, true)));
        desk().change(new StoreCommand.ReplayPlanCommand<>(new ReplayPlanOperation.MarkReady(plan, "{}")));
        for (String who : List.of("bob", "eve")) {
            desk().change(new StoreCommand.ReplayPlanCommand<>(
                    new ReplayPlanOperation.ApprovePlan(ws, plan, desk().by(who, ""))));
        }
        for (String who : List.of("ann", "eve")) {
            desk().change(new StoreCommand.ReplayPlanCommand<>(
                    new ReplayPlanOperation.StartApplying(ws, plan, "{}", desk().by(who, ""))));
        }
        for (String who : List.of("bob", "eve")) {
            desk().change(new StoreCommand.ReplayPlanCommand<>(
                    new ReplayPlanOperation.StopPlan(ws, plan, desk().by(who, "enough"))));
        }
        assertEquals(
                List.of("bob replay.stop", "ann replay.apply", "bob replay.approve"),
                desk().reads.audit(ws, null, 10).stream()
                        .map(row -> row.actor() + " " + row.action())
                        .toList());
    }

    @Test
    default void audit_is_paged_newest_first() {
        for (String key : List.of("a", "b", "c")) {
            RunId run = desk().fresh(desk().key(key));
            desk().change(new StoreCommand.ReleaseKey(desk().key(key).key(), run, desk().by("op", "why")));
        }
        List<StoredRows.AuditRow> first = desk().reads.audit(desk().ws, null, 2);
        assertEquals(
                List.of("c", "b"),
                first.stream().map(StoredRows.AuditRow::target).toList());
        List<StoredRows.AuditRow> rest =
                desk().reads.audit(desk().ws, first.getLast().id(), 2);
        assertEquals(
                List.of("a"), rest.stream().map(StoredRows.AuditRow::target).toList());
        assertEquals(List.of(), desk().reads.audit(desk().ws + 1, null, 10));
    }
}
