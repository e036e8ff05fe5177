package dev.semel.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.admission.RunDeduplicationKeyClaim;
import dev.semel.effect.EffectLedger;
import dev.semel.run.RunId;
import dev.semel.run.RunState;
import dev.semel.store.HumanReviewStoreWriteCommand.DecideReviewResult;
import dev.semel.store.HumanReviewStoreWriteCommand.OpenReviewResult;
import dev.semel.store.HumanReviewStoreWriteCommand.ReviewKind;
import dev.semel.store.StoreWrite.RunExecution;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** A question to people is asked once, decided once, and found by whoever looks for what is due. */
interface ReviewRules {
    long A_MINUTE = 60_000_000;

    TestStoreClient client();

    private HumanReviewStoreWriteCommand.ReviewQuestion question(ReviewKind kind, String step, String effect) {
        return new HumanReviewStoreWriteCommand.ReviewQuestion(
                kind, step, effect, "role:ops", "{\"title\":\"?\"}", A_MINUTE);
    }

    private OpenReviewResult ask(RunExecution by, HumanReviewStoreWriteCommand.ReviewQuestion question) {
        return client().change(new StoreWriteCommand.ReviewCommand<>(
                new HumanReviewStoreWriteCommand.OpenReview(by, client().ws, TestStoreClient.WORKFLOW, question)));
    }

    private RunExecution driver() {
        return new RunExecution(client().fresh(), 1);
    }

    private HumanReviewStoreWriteCommand.ReviewRow row(RunExecution by, String step) {
        return Objects.requireNonNull(
                client().reads.reviews().review(client().ws, HumanReviewStoreWriteCommand.id(by.run(), step)));
    }

    private List<HumanReviewStoreWriteCommand.ReviewRow> open() {
        return page(HumanReviewStoreWriteCommand.ReviewCursor.FRONT, 100).found();
    }

    private HumanReviewStoreWriteCommand.ReviewPage page(HumanReviewStoreWriteCommand.ReviewCursor after, int limit) {
        return client().reads
                .reviews()
                .open(new HumanReviewStoreWriteCommand.OpenReviewFilter(client().ws, null, null, null, after, limit));
    }

    private DecideReviewResult rule(
            HumanReviewStoreWriteCommand.ReviewRow row,
            int version,
            String decision,
            StoreWriteCommand<?> storeCommand) {
        return rule(new HumanReviewStoreWriteCommand.DecideReview(
                row.ws(), row.id(), version, decision, storeCommand, client().by("ann", "why")));
    }

    private DecideReviewResult rule(HumanReviewStoreWriteCommand.DecideReview rule) {
        return client().change(new StoreWriteCommand.ReviewCommand<>(rule));
    }

    private StoreWriteCommand<?> yes(RunExecution by) {
        return new StoreWriteCommand.SendSignal(
                client().ws, by.run(), "#approval:ok", "decision", "{\"approved\":true}");
    }

    /** A run whose effect is in doubt, and asked about. */
    private RunExecution doubting(TestEffect effect) {
        RunExecution by = driver();
        client().apply(TestStoreClient.ops(by.run(), effect.reserve(by.run())));
        client().apply(TestStoreClient.ops(by.run(), effect.settle(by.run(), EffectLedger.EffectState.UNKNOWN, null)));
        assertEquals(
                OpenReviewResult.OPENED,
                ask(by, question(ReviewKind.DOUBT, "pay", effect.id().digest())));
        return by;
    }

    private StoreWriteCommand.DecideEffect decide(TestEffect effect, RunId run, @Nullable String result) {
        return new StoreWriteCommand.DecideEffect(effect.id(), run, result, client().by("bob", "saw it"));
    }

    @Test
    default void a_review_is_opened_once_with_its_due_time() {
        RunExecution by = driver();
        assertEquals(OpenReviewResult.OPENED, ask(by, question(ReviewKind.APPROVAL, "ok", "")));
        client().fixture.advance(java.time.Duration.ofMillis(1));
        assertEquals(OpenReviewResult.OPENED, ask(by, question(ReviewKind.APPROVAL, "ok", "")));
        HumanReviewStoreWriteCommand.ReviewRow row = row(by, "ok");
        assertEquals(1, row.version());
        assertEquals(StoreFixture.START, row.openedAt());
        assertEquals(StoreFixture.START + A_MINUTE, row.dueAt());
        assertTrue(row.isOpen());
        assertEquals(List.of(row), open());
        assertEquals(List.of(row), client().reads.reviews().reviewsOf(by.run()));
    }

    @Test
    default void a_leftover_review_yields_to_one_opened_by_code_and_not_vice_versa() {
        TestEffect effect = TestEffect.of(client().ws, "d");
        RunExecution by = driver();
        client().apply(TestStoreClient.ops(by.run(), effect.reserve(by.run())));
        client().apply(TestStoreClient.ops(by.run(), effect.settle(by.run(), EffectLedger.EffectState.UNKNOWN, null)));
        var left = new HumanReviewStoreWriteCommand.ReviewQuestion(
                ReviewKind.DOUBT, "pay", effect.id().digest(), "owner", "{\"left_in_doubt\":true}", 0);
        var own = new HumanReviewStoreWriteCommand.ReviewQuestion(
                ReviewKind.DOUBT, "pay", effect.id().digest(), "cfo", "{\"title\":\"sent?\"}", 0);
        assertEquals(OpenReviewResult.OPENED, ask(by, left));
        assertEquals("owner", row(by, "pay").reviewer());
        assertEquals(OpenReviewResult.OPENED, ask(by, own));
        assertEquals("cfo", row(by, "pay").reviewer());
        assertEquals(2, row(by, "pay").version(), "whoever read the first one is notified that it is another");
        assertEquals(OpenReviewResult.OPENED, ask(by, left));
        assertEquals("cfo", row(by, "pay").reviewer());
    }

    @Test
    default void the_review_of_a_settled_doubt_closes_without_a_decision() {
        TestEffect effect = TestEffect.of(client().ws, "d");
        RunExecution by = doubting(effect);
        HumanReviewStoreWriteCommand.ReviewRow review = row(by, "pay");
        assertTrue(client().reads.reviews().isStillOpen(review));
        client().apply(client().end(by.run()));
        assertTrue(client().reads.reviews().isStillOpen(review), "its run has ended, and nobody knows what happened");
        RunId replay = client().id();
        var links = new NewRun.RunParentage(by.run(), null, by.run());
        client().apply(client().admit(client().linked(replay, links, null, RunState.STARTED), List.of(), true));
        EffectLedger.EffectHolder same = TestEffect.in(by.run(), replay);
        client().apply(TestStoreClient.ops(
                replay,
                new EffectLedger.ReserveSend(
                        effect.id(),
                        same,
                        0,
                        0,
                        effect.onChange(),
                        effect.data(),
                        TestEffect.FACTS,
                        true,
                        false,
                        EffectLedger.SentKeyDerivation.NONE,
                        null)));
        client().apply(TestStoreClient.ops(replay, effect.settle(same, EffectLedger.EffectState.DONE, "1")));
        assertFalse(client().reads.reviews().isStillOpen(review), "the provider was asked, and knew");
        assertEquals(List.of(), open());
        assertEquals(
                List.of(review),
                client().reads.reviews().dueReminders(review.nextReminderAt(), 10),
                "whoever tells sees it once more");
    }

    @Test
    default void an_approval_closes_when_its_run_has_ended() {
        RunExecution by = driver();
        ask(by, question(ReviewKind.APPROVAL, "ok", ""));
        HumanReviewStoreWriteCommand.ReviewRow review = row(by, "ok");
        assertTrue(client().reads.reviews().isStillOpen(review));
        client().apply(client().end(by.run()));
        assertFalse(client().reads.reviews().isStillOpen(review));
    }

    @Test
    default void a_worker_that_does_not_own_the_run_opens_no_review() {
        RunExecution by = driver();
        assertEquals(
                OpenReviewResult.GONE, ask(new RunExecution(by.run(), 2), question(ReviewKind.APPROVAL, "ok", "")));
        assertEquals(
                OpenReviewResult.GONE,
                ask(new RunExecution(client().id(), 1), question(ReviewKind.APPROVAL, "ok", "")));
        assertEquals(List.of(), open());
    }

    @Test
    default void of_two_decisions_one_applies_and_the_other_gets_its_author() {
        RunExecution by = driver();
        ask(by, question(ReviewKind.APPROVAL, "ok", ""));
        HumanReviewStoreWriteCommand.ReviewRow review = row(by, "ok");
        DecideReviewResult.Done done =
                assertInstanceOf(DecideReviewResult.Done.class, rule(review, 1, "approve", yes(by)));
        assertEquals("ann", done.row().decidedBy());
        assertEquals(done.row(), row(by, "ok"));
        var other = new HumanReviewStoreWriteCommand.DecideReview(
                review.ws(), review.id(), 1, "reject", yes(by), client().by("bob", ""));
        DecideReviewResult.NotOpen lost = assertInstanceOf(DecideReviewResult.NotOpen.class, rule(other));
        assertEquals("approve", lost.row().decision());
        assertEquals("ann", lost.row().decidedBy());
        assertEquals(1, client().reads.signals(by.run()).size());
        assertEquals(List.of(), open());
        assertEquals(List.of(done.row()), client().reads.reviews().decided(client().ws, null, 10));
    }

    @Test
    default void a_decision_applied_again_after_a_lost_response_is_the_same_decision() {
        RunExecution by = driver();
        ask(by, question(ReviewKind.APPROVAL, "ok", ""));
        StoreWriteCommand.ChangeAuthor who = client().by("ann", "why");
        HumanReviewStoreWriteCommand.ReviewRow review = row(by, "ok");
        var rule = new HumanReviewStoreWriteCommand.DecideReview(review.ws(), review.id(), 1, "approve", yes(by), who);
        DecideReviewResult first = rule(rule);
        assertEquals(first, rule(rule));
    }

    @Test
    default void a_decision_about_another_version_does_nothing() {
        RunExecution by = driver();
        ask(by, question(ReviewKind.APPROVAL, "ok", ""));
        assertInstanceOf(DecideReviewResult.NotOpen.class, rule(row(by, "ok"), 2, "approve", yes(by)));
        assertTrue(row(by, "ok").isOpen());
        assertEquals(List.of(), client().reads.signals(by.run()));
    }

    @Test
    default void a_decision_on_a_missing_review_returns_not_found() {
        RunExecution by = driver();
        HumanReviewStoreWriteCommand.DecideReview rule = new HumanReviewStoreWriteCommand.DecideReview(
                client().ws, "rev_none", 0, "approve", yes(by), client().by("ann", ""));
        assertEquals(new DecideReviewResult.NotFound(), client().change(new StoreWriteCommand.ReviewCommand<>(rule)));
        assertEquals(List.of(), client().reads.signals(by.run()));
    }

    @Test
    default void a_decided_effect_closes_its_review() {
        TestEffect effect = TestEffect.of(client().ws, "d1");
        RunExecution by = doubting(effect);
        assertTrue(client().change(decide(effect, by.run(), "{\"id\":1}")));
        assertEquals("happened", row(by, "pay").decision());
        assertEquals("bob", row(by, "pay").decidedBy());
        assertEquals(List.of(), open());
        assertEquals(OpenReviewResult.SETTLED, ask(by, question(ReviewKind.DOUBT, "pay", "d1")));
        assertFalse(row(by, "pay").isOpen());
    }

    @Test
    default void a_review_opened_again_after_a_decision_is_the_next_version() {
        TestEffect effect = TestEffect.of(client().ws, "d1");
        RunExecution by = doubting(effect);
        DecideReviewResult done = rule(row(by, "pay"), 1, "did_not_happen", decide(effect, by.run(), null));
        assertInstanceOf(DecideReviewResult.Done.class, done);
        var again = TestEffect.holder(by.run(), 1, 2);
        client().apply(TestStoreClient.ops(by.run(), effect.reserve(again)));
        client().apply(TestStoreClient.ops(by.run(), effect.settle(again, EffectLedger.EffectState.UNKNOWN, null)));
        assertEquals(OpenReviewResult.OPENED, ask(by, question(ReviewKind.DOUBT, "pay", "d1")));
        assertEquals(2, row(by, "pay").version());
        assertInstanceOf(
                DecideReviewResult.NotOpen.class, rule(row(by, "pay"), 1, "happened", decide(effect, by.run(), "1")));
        assertInstanceOf(
                DecideReviewResult.Done.class, rule(row(by, "pay"), 2, "happened", decide(effect, by.run(), "1")));
    }

    @Test
    default void two_runs_do_not_open_reviews_for_one_effect() {
        TestEffect effect = TestEffect.of(client().ws, "d1");
        RunExecution by = doubting(effect);
        RunExecution other = driver();
        assertEquals(OpenReviewResult.OPENED, ask(other, question(ReviewKind.DOUBT, "pay", "d1")));
        assertEquals(List.of(row(by, "pay")), open());
    }

    @Test
    default void a_leftover_review_moves_to_the_next_run_and_the_newer_is_listed() {
        TestEffect effect = TestEffect.of(client().ws, "d1");
        RunExecution by = doubting(effect);
        client().apply(client().end(by.run()));
        HumanReviewStoreWriteCommand.ReviewRow old = row(by, "pay");
        assertEquals(List.of(old), open());
        assertEquals(old, client().reads.reviews().openReviewOf(client().ws, "d1"));
        client().fixture.advance(java.time.Duration.ofMillis(1));
        RunExecution next = driver();
        assertEquals(OpenReviewResult.OPENED, ask(next, question(ReviewKind.DOUBT, "pay", "d1")));
        HumanReviewStoreWriteCommand.ReviewRow review = row(next, "pay");
        assertEquals(List.of(review), open());
        assertEquals(review, client().reads.reviews().openReviewOf(client().ws, "d1"));
        assertFalse(client().reads.reviews().isStillOpen(old));
        assertTrue(old.isOpen(), "who has its id may still answer it");
        assertInstanceOf(DecideReviewResult.Done.class, rule(old, 1, "happened", decide(effect, by.run(), "1")));
        assertEquals("happened", row(next, "pay").decision(), "which is an answer to both");
        assertNull(client().reads.reviews().openReviewOf(client().ws, "d1"));
    }

    @Test
    default void a_review_of_one_message_yields_to_that_of_another_with_its_decision() {
        RunExecution by = driver();
        HumanReviewStoreWriteCommand.ReviewQuestion first = new HumanReviewStoreWriteCommand.ReviewQuestion(
                ReviewKind.CHANGE, "mail", "", "role:ops", "{\"message_digest\":\"aa\"}", 0);
        HumanReviewStoreWriteCommand.ReviewQuestion second = new HumanReviewStoreWriteCommand.ReviewQuestion(
                ReviewKind.CHANGE, "mail", "", "role:ops", "{\"message_digest\":\"bb\"}", 0);
        assertEquals(OpenReviewResult.OPENED, ask(by, first));
        assertEquals(OpenReviewResult.OPENED, ask(by, first));
        assertEquals(1, row(by, "mail").version());
        String signal = Objects.requireNonNull(row(by, "mail").decisionSignal());
        rule(
                row(by, "mail"),
                1,
                "send",
                new StoreWriteCommand.SendSignal(client().ws, by.run(), signal, "decision", "{}"));
        assertEquals(OpenReviewResult.SETTLED, ask(by, first));
        assertEquals(OpenReviewResult.OPENED, ask(by, second));
        assertEquals(2, row(by, "mail").version());
        assertEquals("#review:mail#bb", row(by, "mail").decisionSignal());
    }

    @Test
    default void a_decision_whose_action_fails_is_not_recorded() {
        RunExecution by = driver();
        ask(by, question(ReviewKind.APPROVAL, "ok", ""));
        client().apply(client().end(by.run()));
        assertInstanceOf(DecideReviewResult.NotOpen.class, rule(row(by, "ok"), 0, "approve", yes(by)));
        assertTrue(row(by, "ok").isOpen(), "nobody decided it");
        assertEquals(List.of(), open(), "and nobody can any more");
    }

    @Test
    default void an_expiry_applies_unless_a_decision_came_before() {
        RunExecution by = driver();
        HumanReviewStoreWriteCommand.ReviewQuestion question = question(ReviewKind.APPROVAL, "ok", "");
        ask(by, question);
        HumanReviewStoreWriteCommand.ExpireReview lapse =
                new HumanReviewStoreWriteCommand.ExpireReview(by, client().ws, question);
        assertEquals(OpenReviewResult.OPENED, client().change(new StoreWriteCommand.ReviewCommand<>(lapse)));
        assertEquals(
                OpenReviewResult.OPENED,
                client().change(new StoreWriteCommand.ReviewCommand<>(lapse)),
                "the same when applied again");
        assertEquals(HumanReviewStoreWriteCommand.TIMED_OUT, row(by, "ok").decision());
        assertInstanceOf(DecideReviewResult.NotOpen.class, rule(row(by, "ok"), 0, "approve", yes(by)));

        RunExecution late = driver();
        ask(late, question);
        rule(row(late, "ok"), 0, "approve", yes(late));
        assertEquals(
                OpenReviewResult.SETTLED,
                client().change(new StoreWriteCommand.ReviewCommand<>(
                        new HumanReviewStoreWriteCommand.ExpireReview(late, client().ws, question))));
        assertEquals("approve", row(late, "ok").decision());
    }

    @Test
    default void reviews_are_paged_by_due_time() {
        RunExecution one = driver();
        RunExecution two = driver();
        RunExecution never = driver();
        ask(never, new HumanReviewStoreWriteCommand.ReviewQuestion(ReviewKind.APPROVAL, "ok", "", "role:ops", "{}", 0));
        ask(
                one,
                new HumanReviewStoreWriteCommand.ReviewQuestion(
                        ReviewKind.APPROVAL, "ok", "", "role:ops", "{}", 2 * A_MINUTE));
        ask(
                two,
                new HumanReviewStoreWriteCommand.ReviewQuestion(
                        ReviewKind.APPROVAL, "ok", "", "role:boss", "{}", A_MINUTE));
        HumanReviewStoreWriteCommand.ReviewPage first = page(HumanReviewStoreWriteCommand.ReviewCursor.FRONT, 2);
        assertEquals(List.of(row(two, "ok"), row(one, "ok")), first.found());
        HumanReviewStoreWriteCommand.ReviewPage rest = page(Objects.requireNonNull(first.next()), 2);
        assertEquals(List.of(row(never, "ok")), rest.found());
        assertNull(rest.next());
        var toBoss = new HumanReviewStoreWriteCommand.OpenReviewFilter(
                client().ws,
                ReviewKind.APPROVAL,
                TestStoreClient.WORKFLOW,
                "role:boss",
                HumanReviewStoreWriteCommand.ReviewCursor.FRONT,
                10);
        assertEquals(
                List.of(row(two, "ok")), client().reads.reviews().open(toBoss).found());
        var doubts = new HumanReviewStoreWriteCommand.OpenReviewFilter(
                client().ws, ReviewKind.DOUBT, null, null, HumanReviewStoreWriteCommand.ReviewCursor.FRONT, 10);
        assertEquals(List.of(), client().reads.reviews().open(doubts).found());
    }

    @Test
    default void a_reminder_is_recorded_once() {
        RunExecution by = driver();
        ask(by, question(ReviewKind.APPROVAL, "ok", ""));
        assertEquals(List.of(row(by, "ok")), client().reads.reviews().dueReminders(StoreFixture.START, 10));
        var recordReminder = new HumanReviewStoreWriteCommand.RecordReminder(
                client().ws, row(by, "ok").id(), StoreFixture.START, StoreFixture.START + A_MINUTE, "role:boss");
        assertTrue(client().change(new StoreWriteCommand.ReviewCommand<>(recordReminder)));
        assertFalse(client().change(new StoreWriteCommand.ReviewCommand<>(recordReminder)));
        assertEquals(List.of(), client().reads.reviews().dueReminders(StoreFixture.START, 10));
        assertEquals("role:boss", row(by, "ok").reviewer());
        assertEquals(List.of(row(by, "ok")), client().reads.reviews().dueReminders(StoreFixture.START + A_MINUTE, 10));
    }

    @Test
    default void a_key_can_be_extended_and_never_shortened() {
        RunDeduplicationKeyClaim key = client().key("k");
        RunId run = client().fresh(key);
        long later = StoreFixture.START + 2 * TestStoreClient.WINDOW;
        StoreWriteCommand.ExtendKey extend =
                new StoreWriteCommand.ExtendKey(key.key(), run, later, client().by("ann", "slow retries"));
        assertTrue(client().change(extend));
        assertTrue(client().change(extend), "the same when applied again");
        assertEquals(later, Objects.requireNonNull(client().holder(key)).expiresAt());
        assertTrue(client().change(new StoreWriteCommand.ExtendKey(
                key.key(), run, StoreFixture.START + 1, client().by("bob", "shorter"))));
        assertEquals(later, Objects.requireNonNull(client().holder(key)).expiresAt());
        assertFalse(client().change(new StoreWriteCommand.ExtendKey(
                key.key(), client().id(), later, client().by("eve", "not its run"))));
        client().change(new StoreWriteCommand.ReleaseKey(key.key(), run, client().by("ann", "")));
        assertFalse(client().change(
                        new StoreWriteCommand.ExtendKey(key.key(), run, later, client().by("ann", "released"))));
    }

    @Test
    default void effects_are_listed_with_those_of_the_newest_runs_first() {
        TestEffect one = TestEffect.of(client().ws, "aa");
        TestEffect two = TestEffect.of(client().ws, "bb");
        RunId first = client().fresh();
        RunId second = client().fresh();
        client().apply(TestStoreClient.ops(first, one.reserve(first)));
        client().apply(TestStoreClient.ops(second, two.reserve(second)));
        client().apply(TestStoreClient.ops(second, two.done(second)));
        StoreQueries.EffectPage page = effects(null, null, 1);
        assertEquals(List.of("bb"), digests(page));
        assertEquals(List.of("aa"), digests(effects(null, page.next(), 10)));
        assertEquals(List.of("bb"), digests(effects(EffectLedger.EffectState.DONE, null, 10)));
        assertEquals(List.of(), digests(effects(EffectLedger.EffectState.UNKNOWN, null, 10)));
    }

    private static List<String> digests(StoreQueries.EffectPage page) {
        return page.found().stream().map(row -> row.id().digest()).toList();
    }

    private StoreQueries.EffectPage effects(
            EffectLedger.@Nullable EffectState state, StoreQueries.@Nullable EffectCursor before, int limit) {
        return client().reads
                .effects(StoreQueries.EffectFilter.in(client().ws, state, limit).before(before));
    }
}
