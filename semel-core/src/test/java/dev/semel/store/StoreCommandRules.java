package dev.semel.store;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.admission.RunDeduplicationKeyRecord;
import dev.semel.run.RunId;
import dev.semel.run.RunState;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The rare changes that people make. */
interface StoreCommandRules {
    TestStoreClient desk();

    private DatabaseRows.WorkflowRow publish(String name, String id, String body) {
        return desk().change(new StoreWriteCommand.PublishVersion(desk().ws, name, id, body, "tester"));
    }

    private static <T> T there(@Nullable T value) {
        assertNotNull(value);
        return value;
    }

    @Test
    default void a_workspace_is_created_once_and_keeps_its_secret() {
        DatabaseRows.WorkspaceRow made =
                desk().change(new StoreWriteCommand.CreateWorkspace("two", TestStoreClient.bytes("secret")));
        DatabaseRows.WorkspaceRow again =
                desk().change(new StoreWriteCommand.CreateWorkspace("two", TestStoreClient.bytes("another")));
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
        DatabaseRows.WorkflowRow first = publish("pay", "wf_pay", "text 1");
        assertEquals(
                new DatabaseRows.WorkflowRow(desk().ws, "pay", "wf_pay", 1, false, StoreFixture.START, true), first);
        long after = desk().reads.catalogVersion();
        assertTrue(after > before);

        DatabaseRows.WorkflowRow same = publish("pay", "wf_ignored", "text 1");
        assertEquals(
                new DatabaseRows.WorkflowRow(desk().ws, "pay", "wf_pay", 1, false, StoreFixture.START, false), same);
        assertEquals(after, desk().reads.catalogVersion());

        assertEquals(2, publish("pay", "wf_pay", "text 2").version());
        assertEquals(3, publish("pay", "wf_pay", "text 1").version(), "an older text is a change again");
        assertEquals("text 2", there(desk().reads.version("wf_pay", 2)).body());
        DatabaseRows.VersionRow third = there(desk().reads.version("wf_pay", 3));
        assertEquals(
                new DatabaseRows.VersionRow("wf_pay", "pay", desk().ws, 3, "text 1", StoreFixture.START, "tester"),
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
                        .map(DatabaseRows.WorkflowRow::name)
                        .toList());
    }

    @Test
    default void pausing_holds_queued_runs_until_it_is_resumed() {
        long before = desk().reads.catalogVersion();
        assertTrue(there(desk().change(new StoreWriteCommand.PauseWorkflow(desk().ws, TestStoreClient.WORKFLOW, true)))
                .paused());
        assertTrue(desk().reads.catalogVersion() > before);
        RunId queued = desk().id();
        desk().apply(desk().admit(desk().run(queued, RunState.QUEUED, null), List.of(), true));
        assertEquals(List.of(), TestStoreClient.runs(desk().apply(new StoreWrite.ClaimRuns(5))));
        assertFalse(
                there(desk().change(new StoreWriteCommand.PauseWorkflow(desk().ws, TestStoreClient.WORKFLOW, false)))
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
                                new StoreWriteCommand.PauseWorkflow(desk().ws, "wf_no", true)))))
                .getFirst();
        assertEquals(NullWriteResultPlaceholder.NOTHING, answer);
    }

    @Test
    default void another_workspace_cannot_pause_or_resume_a_workflow() {
        int other = desk().workspace("two").ws();
        RunId queued = desk().id();
        desk().change(new StoreWriteCommand.PauseWorkflow(desk().ws, TestStoreClient.WORKFLOW, true));
        desk().apply(desk().admit(desk().run(queued, RunState.QUEUED, null), List.of(), true));
        Object answer = desk().applyAll(new StoreWrite.ExecuteCommand<>(
                        new StoreWriteCommand.PauseWorkflow(other, TestStoreClient.WORKFLOW, false)))
                .getFirst();
        assertEquals(NullWriteResultPlaceholder.NOTHING, answer);
        assertTrue(there(desk().reads.workflow(desk().ws, "one")).paused());
        assertFalse(desk().freeWork(), "its queued runs stay where they are");
    }

    @Test
    default void a_token_is_found_by_its_hash_until_it_is_revoked() {
        var token = new DatabaseRows.TokenRow(
                "tok_1", desk().ws, "one", "ci", TestStoreClient.bytes("hash"), "trigger,read", 60, 0, 0, "usr_ann");
        DatabaseRows.TokenRow made = there(desk().change(new StoreWriteCommand.CreateToken(token)));
        assertEquals(StoreFixture.START, made.createdAt());
        DatabaseRows.TokenRow found = there(desk().reads.token(TestStoreClient.bytes("hash")));
        assertEquals("one", found.workspace());
        assertEquals("trigger,read", found.scopes());
        assertEquals(60, found.quotaPerMinute());
        assertEquals("usr_ann", found.createdBy());
        assertEquals("usr_ann", desk().reads.tokens(desk().ws).getFirst().createdBy());
        assertEquals(StoreFixture.START, found.createdAt());
        assertNull(desk().reads.token(TestStoreClient.bytes("other")));

        int other = desk().workspace("two").ws();
        assertFalse(
                desk().change(new StoreWriteCommand.RevokeToken(other, "tok_1", "op")), "not from another workspace");
        assertNotNull(desk().reads.token(TestStoreClient.bytes("hash")));

        long before = desk().reads.catalogVersion();
        assertTrue(desk().change(new StoreWriteCommand.RevokeToken(desk().ws, "tok_1", "op")));
        assertTrue(desk().reads.catalogVersion() > before);
        assertNull(desk().reads.token(TestStoreClient.bytes("hash")));
        assertEquals(
                StoreFixture.START, desk().reads.tokens(desk().ws).getFirst().revokedAt());
        assertFalse(desk().change(new StoreWriteCommand.RevokeToken(desk().ws, "tok_1", "op")));
        assertFalse(desk().change(new StoreWriteCommand.RevokeToken(desk().ws, "tok_2", "op")));
    }

    @Test
    default void a_token_with_a_known_hash_or_id_is_rejected() {
        var token = new DatabaseRows.TokenRow(
                "tok_1", desk().ws, "one", "ci", TestStoreClient.bytes("hash"), "read", 0, 0, 0, null);
        assertNotNull(desk().change(new StoreWriteCommand.CreateToken(token)));
        var sameHash = new DatabaseRows.TokenRow(
                "tok_2", desk().ws, "one", "ci", TestStoreClient.bytes("hash"), "admin", 0, 0, 0, null);
        assertEquals(
                NullWriteResultPlaceholder.NOTHING,
                desk().applyAll(new StoreWrite.ExecuteCommand<>(new StoreWriteCommand.CreateToken(sameHash)))
                        .getFirst());
        assertEquals(1, desk().reads.tokens(desk().ws).size());
    }

    @Test
    default void a_release_is_audited_with_who_and_why() {
        RunDeduplicationKeyClaim key = desk().key("K");
        RunId run = desk().fresh(key);
        assertFalse(desk().change(
                        new StoreWriteCommand.ReleaseKey(desk().key("L").key(), run, desk().by("op", "no such key"))));
        assertFalse(desk().change(new StoreWriteCommand.ReleaseKey(
                key.key(), desk().id(), desk().by("op", "the key of another run"))));
        var release = new StoreWriteCommand.ReleaseKey(key.key(), run, desk().by("op", "why"));
        assertTrue(desk().change(release));
        assertTrue(desk().change(release), "applied again after a lost answer it answers the same");
        assertFalse(
                desk().change(new StoreWriteCommand.ReleaseKey(key.key(), run, desk().by("op", "again"))),
                "it is not live any more");
        RunDeduplicationKeyRecord keyRecord = there(desk().holder(key));
        assertTrue(keyRecord.has(RunDeduplicationKeyRecord.RELEASED));
        assertEquals(StoreFixture.START, keyRecord.expiresAt());
        DatabaseRows.AuditRow audit = desk().reads.audit(desk().ws, null, 10).getFirst();
        assertEquals("op", audit.actor());
        assertEquals("key.release", audit.action());
        assertEquals("K", audit.target());
        assertEquals("why", audit.reason());
        assertEquals(StoreFixture.START, audit.at());
        assertEquals(1, desk().fixture.count("semel_audit"));
    }

    @Test
    default void a_key_past_its_window_is_not_live_and_cannot_be_released() {
        RunDeduplicationKeyClaim key = desk().key("K");
        RunId run = desk().fresh(key);
        desk().apply(desk().end(run));
        desk().fixture.setTime(StoreFixture.START + TestStoreClient.WINDOW);
        assertFalse(desk().change(new StoreWriteCommand.ReleaseKey(key.key(), run, desk().by("op", "why"))));
        assertEquals(
                StoreFixture.START + TestStoreClient.WINDOW,
                there(desk().holder(key)).expiresAt());
    }

    @Test
    default void the_expired_key_of_an_unfinished_run_is_live_and_can_be_released() {
        RunDeduplicationKeyClaim key = desk().key("K", RunDeduplicationKeyRecord.HOLD);
        RunId run = desk().fresh(key);
        desk().fixture.setTime(StoreFixture.START + TestStoreClient.WINDOW);
        assertTrue(desk().change(new StoreWriteCommand.ReleaseKey(key.key(), run, desk().by("op", "why"))));
        assertInstanceOf(StoreWrite.AdmitResult.Fresh.class, desk().apply(desk().admit(desk().id(), key)));
    }

    @Test
    default void an_audited_command_adds_one_row_and_only_if_it_changed_something() {
        var token = new DatabaseRows.TokenRow(
                "tok_1", desk().ws, "one", "ci", TestStoreClient.bytes("hash"), "read", 0, 0, 0, null);
        var note = new StoreWriteCommand.AuditEntry(desk().ws, "token.create", "tok_1", desk().by("op", "for ci"));
        var create = new StoreWriteCommand.AuditedCommand<>(
                new StoreWriteCommand.CreateToken(token), Objects::nonNull, note);
        assertNotNull(desk().change(create));
        assertNotNull(desk().change(create), "applied again after a lost answer it answers the same");
        var tokenRow = new DatabaseRows.TokenRow(
                "tok_2", desk().ws, "one", "ci", TestStoreClient.bytes("hash"), "admin", 0, 0, 0, null);
        var refused = new StoreWriteCommand.AuditEntry(desk().ws, "token.create", "tok_2", desk().by("op", "again"));
        assertEquals(
                NullWriteResultPlaceholder.NOTHING,
                desk().applyAll(new StoreWrite.ExecuteCommand<>(new StoreWriteCommand.AuditedCommand<>(
                                new StoreWriteCommand.CreateToken(tokenRow), Objects::nonNull, refused)))
                        .getFirst());
        List<DatabaseRows.AuditRow> rows = desk().reads.audit(desk().ws, null, 10);
        assertEquals(
                List.of("tok_1"),
                rows.stream().map(DatabaseRows.AuditRow::target).toList());
        assertEquals("for ci", rows.getFirst().reason());
    }

    @Test
    default void an_audit_entry_for_a_signal_to_a_missing_run_is_not_written() {
        RunId run = desk().fresh(desk().key("K"));
        var note = new StoreWriteCommand.AuditEntry(desk().ws, "run.decide", "K", desk().by("op", "approve"));
        StoreWriteCommand<StoreWriteCommand.SignalResult> signal =
                new StoreWriteCommand.SendSignal(desk().ws, run, "go", "once", "{}");
        var noted = new StoreWriteCommand.AuditedCommand<>(
                signal, outcome -> outcome == StoreWriteCommand.SignalResult.DELIVERED, note);
        assertEquals(StoreWriteCommand.SignalResult.DELIVERED, desk().change(noted));
        desk().apply(desk().end(run));
        var late = new StoreWriteCommand.AuditEntry(desk().ws, "run.decide", "K", desk().by("op", "reject"));
        StoreWriteCommand<StoreWriteCommand.SignalResult> second =
                new StoreWriteCommand.SendSignal(desk().ws, run, "go", "twice", "{}");
        assertEquals(
                StoreWriteCommand.SignalResult.GONE,
                desk().change(new StoreWriteCommand.AuditedCommand<>(
                        second, outcome -> outcome == StoreWriteCommand.SignalResult.DELIVERED, late)));
        assertEquals(1, desk().fixture.count("semel_audit"));
    }

    @Test
    default void approving_starting_or_stopping_a_replay_plan_is_audited_once() {
        RunId plan = desk().id();
        int ws = desk().ws;
        desk().change(new StoreWriteCommand.ReplayPlanCommand<>(
                new ReplayPlanStoreWriteCommand.CreatePlan(plan, ws, "ann", "{}", null, true, null)));
        desk().change(new StoreWriteCommand.ReplayPlanCommand<>(new ReplayPlanStoreWriteCommand.MarkReady(plan, "{}")));
        for (String who : List.of("bob", "eve")) {
            desk().change(new StoreWriteCommand.ReplayPlanCommand<>(
                    new ReplayPlanStoreWriteCommand.ApprovePlan(ws, plan, desk().by(who, ""))));
        }
        for (String who : List.of("ann", "eve")) {
            desk().change(new StoreWriteCommand.ReplayPlanCommand<>(
                    new ReplayPlanStoreWriteCommand.StartApplying(ws, plan, "{}", desk().by(who, ""))));
        }
        for (String who : List.of("bob", "eve")) {
            desk().change(new StoreWriteCommand.ReplayPlanCommand<>(
                    new ReplayPlanStoreWriteCommand.StopPlan(ws, plan, desk().by(who, "enough"))));
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
            desk().change(new StoreWriteCommand.ReleaseKey(desk().key(key).key(), run, desk().by("op", "why")));
        }
        List<DatabaseRows.AuditRow> first = desk().reads.audit(desk().ws, null, 2);
        assertEquals(
                List.of("c", "b"),
                first.stream().map(DatabaseRows.AuditRow::target).toList());
        List<DatabaseRows.AuditRow> rest =
                desk().reads.audit(desk().ws, first.getLast().id(), 2);
        assertEquals(
                List.of("a"), rest.stream().map(DatabaseRows.AuditRow::target).toList());
        assertEquals(List.of(), desk().reads.audit(desk().ws + 1, null, 10));
    }
}
