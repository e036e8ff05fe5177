package dev.semel.store;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.admission.RunDeduplicationKeyClaim;
import dev.semel.admission.RunDeduplicationKeyRecord;
import dev.semel.run.RunId;
import dev.semel.run.RunState;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The rare changes that people make. */
interface StoreCommandRules {
    TestStoreClient client();

    private DatabaseRows.WorkflowRow publish(String name, String id, String body) {
        return client().change(new StoreWriteCommand.PublishVersion(client().ws, name, id, body, "tester"));
    }

    private static <T> T there(@Nullable T value) {
        assertNotNull(value);
        return value;
    }

    @Test
    default void a_workspace_is_created_once_and_keeps_its_secret() {
        DatabaseRows.WorkspaceRow made =
                client().change(new StoreWriteCommand.CreateWorkspace("two", TestStoreClient.bytes("secret")));
        DatabaseRows.WorkspaceRow again =
                client().change(new StoreWriteCommand.CreateWorkspace("two", TestStoreClient.bytes("another")));
        assertEquals(made.ws(), again.ws());
        assertArrayEquals(TestStoreClient.bytes("secret"), again.secret());
        assertArrayEquals(
                TestStoreClient.bytes("secret"),
                there(client().reads.workspace("two")).secret());
        assertEquals("two", there(client().reads.workspace(made.ws())).name());
        assertNull(client().reads.workspace("three"));
        assertNull(client().reads.workspace(99));
    }

    @Test
    default void publishing_creates_versions_and_an_unchanged_text_creates_none() {
        long before = client().reads.catalogVersion();
        DatabaseRows.WorkflowRow first = publish("pay", "wf_pay", "text 1");
        assertEquals(
                new DatabaseRows.WorkflowRow(client().ws, "pay", "wf_pay", 1, false, StoreFixture.START, true), first);
        long after = client().reads.catalogVersion();
        assertTrue(after > before);

        DatabaseRows.WorkflowRow same = publish("pay", "wf_ignored", "text 1");
        assertEquals(
                new DatabaseRows.WorkflowRow(client().ws, "pay", "wf_pay", 1, false, StoreFixture.START, false), same);
        assertEquals(after, client().reads.catalogVersion());

        assertEquals(2, publish("pay", "wf_pay", "text 2").version());
        assertEquals(3, publish("pay", "wf_pay", "text 1").version(), "an older text is a change again");
        assertEquals("text 2", there(client().reads.version("wf_pay", 2)).body());
        DatabaseRows.VersionRow third = there(client().reads.version("wf_pay", 3));
        assertEquals(
                new DatabaseRows.VersionRow("wf_pay", "pay", client().ws, 3, "text 1", StoreFixture.START, "tester"),
                third);
        assertNull(client().reads.version("wf_pay", 4));
        assertNull(client().reads.version("wf_pay", 0));
    }

    @Test
    default void a_workflow_is_found_by_name_and_by_id_and_listed_by_name() {
        publish("b", "wf_b", "x");
        publish("a", "wf_a", "x");
        assertEquals("wf_b", there(client().reads.workflow(client().ws, "b")).workflowId());
        assertEquals("b", there(client().reads.workflow(client().ws, "wf_b")).name());
        assertNull(client().reads.workflow(client().ws, "c"));
        assertEquals(
                List.of("a", "b", "one"),
                client().reads.workflows(client().ws).stream()
                        .map(DatabaseRows.WorkflowRow::name)
                        .toList());
    }

    @Test
    default void pausing_holds_queued_runs_until_it_is_resumed() {
        long before = client().reads.catalogVersion();
        assertTrue(
                there(client().change(new StoreWriteCommand.PauseWorkflow(client().ws, TestStoreClient.WORKFLOW, true)))
                        .paused());
        assertTrue(client().reads.catalogVersion() > before);
        RunId queued = client().id();
        client().apply(client().admit(client().run(queued, RunState.QUEUED, null), List.of(), true));
        assertEquals(List.of(), TestStoreClient.runs(client().apply(new StoreWrite.ClaimRuns(5))));
        assertFalse(there(client().change(
                                new StoreWriteCommand.PauseWorkflow(client().ws, TestStoreClient.WORKFLOW, false)))
                .paused());
        assertEquals(List.of(queued), TestStoreClient.runs(client().apply(new StoreWrite.ClaimRuns(5))));
        assertEquals(RunState.STARTED, client().runOf(queued).state());
    }

    @Test
    default void pausing_an_unknown_workflow_returns_nothing() {
        Object answer = client().lane
                .apply(new CommitBatch(
                        client().hold,
                        List.of(new StoreWrite.ExecuteCommand<>(
                                new StoreWriteCommand.PauseWorkflow(client().ws, "wf_no", true)))))
                .getFirst();
        assertEquals(StoreWriteCommand.NullResult.NOTHING, answer);
    }

    @Test
    default void another_workspace_cannot_pause_or_resume_a_workflow() {
        int other = client().workspace("two").ws();
        RunId queued = client().id();
        client().change(new StoreWriteCommand.PauseWorkflow(client().ws, TestStoreClient.WORKFLOW, true));
        client().apply(client().admit(client().run(queued, RunState.QUEUED, null), List.of(), true));
        Object answer = client().applyAll(new StoreWrite.ExecuteCommand<>(
                        new StoreWriteCommand.PauseWorkflow(other, TestStoreClient.WORKFLOW, false)))
                .getFirst();
        assertEquals(StoreWriteCommand.NullResult.NOTHING, answer);
        assertTrue(there(client().reads.workflow(client().ws, "one")).paused());
        assertFalse(client().freeWork(), "its queued runs stay where they are");
    }

    @Test
    default void a_token_is_found_by_its_hash_until_it_is_revoked() {
        var token = new DatabaseRows.TokenRow(
                "tok_1", client().ws, "one", "ci", TestStoreClient.bytes("hash"), "trigger,read", 60, 0, 0, "usr_ann");
        DatabaseRows.TokenRow made = there(client().change(new StoreWriteCommand.CreateToken(token)));
        assertEquals(StoreFixture.START, made.createdAt());
        DatabaseRows.TokenRow found = there(client().reads.token(TestStoreClient.bytes("hash")));
        assertEquals("one", found.workspace());
        assertEquals("trigger,read", found.scopes());
        assertEquals(60, found.quotaPerMinute());
        assertEquals("usr_ann", found.createdBy());
        assertEquals("usr_ann", client().reads.tokens(client().ws).getFirst().createdBy());
        assertEquals(StoreFixture.START, found.createdAt());
        assertNull(client().reads.token(TestStoreClient.bytes("other")));

        int other = client().workspace("two").ws();
        assertFalse(
                client().change(new StoreWriteCommand.RevokeToken(other, "tok_1", "op")), "not from another workspace");
        assertNotNull(client().reads.token(TestStoreClient.bytes("hash")));

        long before = client().reads.catalogVersion();
        assertTrue(client().change(new StoreWriteCommand.RevokeToken(client().ws, "tok_1", "op")));
        assertTrue(client().reads.catalogVersion() > before);
        assertNull(client().reads.token(TestStoreClient.bytes("hash")));
        assertEquals(
                StoreFixture.START,
                client().reads.tokens(client().ws).getFirst().revokedAt());
        assertFalse(client().change(new StoreWriteCommand.RevokeToken(client().ws, "tok_1", "op")));
        assertFalse(client().change(new StoreWriteCommand.RevokeToken(client().ws, "tok_2", "op")));
    }

    @Test
    default void a_token_with_a_known_hash_or_id_is_rejected() {
        var token = new DatabaseRows.TokenRow(
                "tok_1", client().ws, "one", "ci", TestStoreClient.bytes("hash"), "read", 0, 0, 0, null);
        assertNotNull(client().change(new StoreWriteCommand.CreateToken(token)));
        var sameHash = new DatabaseRows.TokenRow(
                "tok_2", client().ws, "one", "ci", TestStoreClient.bytes("hash"), "admin", 0, 0, 0, null);
        assertEquals(
                StoreWriteCommand.NullResult.NOTHING,
                client().applyAll(new StoreWrite.ExecuteCommand<>(new StoreWriteCommand.CreateToken(sameHash)))
                        .getFirst());
        assertEquals(1, client().reads.tokens(client().ws).size());
    }

    @Test
    default void a_release_is_audited_with_who_and_why() {
        RunDeduplicationKeyClaim key = client().key("K");
        RunId run = client().fresh(key);
        assertFalse(client().change(new StoreWriteCommand.ReleaseKey(
                client().key("L").key(), run, client().by("op", "no such key"))));
        assertFalse(client().change(new StoreWriteCommand.ReleaseKey(
                key.key(), client().id(), client().by("op", "the key of another run"))));
        var release = new StoreWriteCommand.ReleaseKey(key.key(), run, client().by("op", "why"));
        assertTrue(client().change(release));
        assertTrue(client().change(release), "applied again after a lost answer it answers the same");
        assertFalse(
                client().change(new StoreWriteCommand.ReleaseKey(key.key(), run, client().by("op", "again"))),
                "it is not live any more");
        RunDeduplicationKeyRecord keyRecord = there(client().holder(key));
        assertTrue(keyRecord.has(RunDeduplicationKeyRecord.RELEASED));
        assertEquals(StoreFixture.START, keyRecord.expiresAt());
        DatabaseRows.AuditRow audit =
                client().reads.audit(client().ws, null, 10).getFirst();
        assertEquals("op", audit.actor());
        assertEquals("key.release", audit.action());
        assertEquals("K", audit.target());
        assertEquals("why", audit.reason());
        assertEquals(StoreFixture.START, audit.at());
        assertEquals(1, client().fixture.count("semel_audit"));
    }

    @Test
    default void a_key_past_its_window_is_not_live_and_cannot_be_released() {
        RunDeduplicationKeyClaim key = client().key("K");
        RunId run = client().fresh(key);
        client().apply(client().end(run));
        client().fixture.setTime(StoreFixture.START + TestStoreClient.WINDOW);
        assertFalse(client().change(new StoreWriteCommand.ReleaseKey(key.key(), run, client().by("op", "why"))));
        assertEquals(
                StoreFixture.START + TestStoreClient.WINDOW,
                there(client().holder(key)).expiresAt());
    }

    @Test
    default void the_expired_key_of_an_unfinished_run_is_live_and_can_be_released() {
        RunDeduplicationKeyClaim key = client().key("K", RunDeduplicationKeyRecord.HOLD);
        RunId run = client().fresh(key);
        client().fixture.setTime(StoreFixture.START + TestStoreClient.WINDOW);
        assertTrue(client().change(new StoreWriteCommand.ReleaseKey(key.key(), run, client().by("op", "why"))));
        assertInstanceOf(StoreWrite.AdmitResult.Fresh.class, client().apply(client().admit(client().id(), key)));
    }

    @Test
    default void an_audited_command_adds_one_row_and_only_if_it_changed_something() {
        var token = new DatabaseRows.TokenRow(
                "tok_1", client().ws, "one", "ci", TestStoreClient.bytes("hash"), "read", 0, 0, 0, null);
        var note = new StoreWriteCommand.AuditEntry(client().ws, "token.create", "tok_1", client().by("op", "for ci"));
        var create = new StoreWriteCommand.AuditedCommand<>(
                new StoreWriteCommand.CreateToken(token), Objects::nonNull, note);
        assertNotNull(client().change(create));
        assertNotNull(client().change(create), "applied again after a lost answer it answers the same");
        var tokenRow = new DatabaseRows.TokenRow(
                "tok_2", client().ws, "one", "ci", TestStoreClient.bytes("hash"), "admin", 0, 0, 0, null);
        var refused =
                new StoreWriteCommand.AuditEntry(client().ws, "token.create", "tok_2", client().by("op", "again"));
        assertEquals(
                StoreWriteCommand.NullResult.NOTHING,
                client().applyAll(new StoreWrite.ExecuteCommand<>(new StoreWriteCommand.AuditedCommand<>(
                                new StoreWriteCommand.CreateToken(tokenRow), Objects::nonNull, refused)))
                        .getFirst());
        List<DatabaseRows.AuditRow> rows = client().reads.audit(client().ws, null, 10);
        assertEquals(
                List.of("tok_1"),
                rows.stream().map(DatabaseRows.AuditRow::target).toList());
        assertEquals("for ci", rows.getFirst().reason());
    }

    @Test
    default void an_audit_entry_for_a_signal_to_a_missing_run_is_not_written() {
        RunId run = client().fresh(client().key("K"));
        var note = new StoreWriteCommand.AuditEntry(client().ws, "run.decide", "K", client().by("op", "approve"));
        StoreWriteCommand<StoreWriteCommand.SignalResult> signal =
                new StoreWriteCommand.SendSignal(client().ws, run, "go", "once", "{}");
        var noted = new StoreWriteCommand.AuditedCommand<>(
                signal, outcome -> outcome == StoreWriteCommand.SignalResult.DELIVERED, note);
        assertEquals(StoreWriteCommand.SignalResult.DELIVERED, client().change(noted));
        client().apply(client().end(run));
        var late = new StoreWriteCommand.AuditEntry(client().ws, "run.decide", "K", client().by("op", "reject"));
        StoreWriteCommand<StoreWriteCommand.SignalResult> second =
                new StoreWriteCommand.SendSignal(client().ws, run, "go", "twice", "{}");
        assertEquals(
                StoreWriteCommand.SignalResult.GONE,
                client().change(new StoreWriteCommand.AuditedCommand<>(
                        second, outcome -> outcome == StoreWriteCommand.SignalResult.DELIVERED, late)));
        assertEquals(1, client().fixture.count("semel_audit"));
    }

    @Test
    default void approving_starting_or_stopping_a_replay_plan_is_audited_once() {
        RunId plan = client().id();
        int ws = client().ws;
        client().change(new StoreWriteCommand.ReplayPlanCommand<>(
                new ReplayPlanStoreWriteCommand.CreatePlan(plan, ws, "ann", "{}", null, true, null)));
        client().change(new StoreWriteCommand.ReplayPlanCommand<>(
                new ReplayPlanStoreWriteCommand.MarkReady(plan, "{}")));
        for (String who : List.of("bob", "eve")) {
            client().change(new StoreWriteCommand.ReplayPlanCommand<>(
                    new ReplayPlanStoreWriteCommand.ApprovePlan(ws, plan, client().by(who, ""))));
        }
        for (String who : List.of("ann", "eve")) {
            client().change(new StoreWriteCommand.ReplayPlanCommand<>(
                    new ReplayPlanStoreWriteCommand.StartApplying(ws, plan, "{}", client().by(who, ""))));
        }
        for (String who : List.of("bob", "eve")) {
            client().change(new StoreWriteCommand.ReplayPlanCommand<>(
                    new ReplayPlanStoreWriteCommand.StopPlan(ws, plan, client().by(who, "enough"))));
        }
        assertEquals(
                List.of("bob replay.stop", "ann replay.apply", "bob replay.approve"),
                client().reads.audit(ws, null, 10).stream()
                        .map(row -> row.actor() + " " + row.action())
                        .toList());
    }

    @Test
    default void audit_is_paged_newest_first() {
        for (String key : List.of("a", "b", "c")) {
            RunId run = client().fresh(client().key(key));
            client().change(new StoreWriteCommand.ReleaseKey(client().key(key).key(), run, client().by("op", "why")));
        }
        List<DatabaseRows.AuditRow> first = client().reads.audit(client().ws, null, 2);
        assertEquals(
                List.of("c", "b"),
                first.stream().map(DatabaseRows.AuditRow::target).toList());
        List<DatabaseRows.AuditRow> rest =
                client().reads.audit(client().ws, first.getLast().id(), 2);
        assertEquals(
                List.of("a"), rest.stream().map(DatabaseRows.AuditRow::target).toList());
        assertEquals(List.of(), client().reads.audit(client().ws + 1, null, 10));
    }
}
