package dev.semel.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.effect.Ledger;
import dev.semel.run.RunId;
import dev.semel.run.RunState;
import dev.semel.store.Review.Asked;
import dev.semel.store.Review.Kind;
import dev.semel.store.Review.Ruled;
import dev.semel.store.Write.Driver;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** A question to people is asked once, decided once, and found by whoever looks for what is due. */
interface ReviewRules {
    long A_MINUTE = 60_000_000;

    Desk desk();

    private Review.Question question(Kind kind, String step, String effect) {
        return new Review.Question(kind, step, effect, "role:ops", "{\"title\":\"?\"}", A_MINUTE);
    }

    private Asked ask(Driver by, Review.Question question) {
        return desk().change(new Edit.Reviewing<>(new Review.Ask(by, desk().ws, Desk.WORKFLOW, question)));
    }

    private Driver driver() {
        return new Driver(desk().fresh(), 1);
    }

    private Review.Row row(Driver by, String step) {
        return Objects.requireNonNull(desk().reads.reviews().one(desk().ws, Review.id(by.run(), step)));
    }

    private List<Review.Row> open() {
        return page(Review.Place.FRONT, 100).found();
    }

    private Review.Page page(Review.Place after, int limit) {
        return desk().reads.reviews().open(new Review.Filter(desk().ws, null, null, null, after, limit));
    }

    private Ruled rule(Review.Row row, int version, String decision, Edit<?> deed) {
        return rule(new Review.Rule(row.ws(), row.id(), version, decision, deed, desk().by("ann", "why")));
    }

    private Ruled rule(Review.Rule rule) {
        return desk().change(new Edit.Reviewing<>(rule));
    }

    private Edit<?> yes(Driver by) {
        return new Edit.Signal(desk().ws, by.run(), "#approval:ok", "decision", "{\"approved\":true}");
    }

    /** A run whose effect is in doubt, and asked about. */
    private Driver doubting(Deed deed) {
        Driver by = driver();
        desk().apply(Desk.ops(by.run(), deed.reserve(by.run())));
        desk().apply(Desk.ops(by.run(), deed.settle(by.run(), Ledger.State.UNKNOWN, null)));
        assertEquals(Asked.ASKED, ask(by, question(Kind.DOUBT, "pay", deed.id().digest())));
        return by;
    }

    private Edit.Decide decide(Deed deed, RunId run, @Nullable String result) {
        return new Edit.Decide(deed.id(), run, result, desk().by("bob", "saw it"));
    }

    @Test
    default void a_question_is_asked_once_and_stands_with_its_due_time() {
        Driver by = driver();
        assertEquals(Asked.ASKED, ask(by, question(Kind.APPROVAL, "ok", "")));
        desk().place.advance(java.time.Duration.ofMillis(1));
        assertEquals(Asked.ASKED, ask(by, question(Kind.APPROVAL, "ok", "")));
        Review.Row row = row(by, "ok");
        assertEquals(1, row.version());
        assertEquals(Place.START, row.askedAt());
        assertEquals(Place.START + A_MINUTE, row.dueAt());
        assertTrue(row.isOpen());
        assertEquals(List.of(row), open());
        assertEquals(List.of(row), desk().reads.reviews().of(by.run()));
    }

    @Test
    default void what_a_run_left_gives_way_to_what_its_code_asks_and_not_the_other_way_round() {
        Deed deed = Deed.of(desk().ws, "d");
        Driver by = driver();
        desk().apply(Desk.ops(by.run(), deed.reserve(by.run())));
        desk().apply(Desk.ops(by.run(), deed.settle(by.run(), Ledger.State.UNKNOWN, null)));
        var left = new Review.Question(Kind.DOUBT, "pay", deed.id().digest(), "owner", "{\"left_in_doubt\":true}", 0);
        var own = new Review.Question(Kind.DOUBT, "pay", deed.id().digest(), "cfo", "{\"title\":\"sent?\"}", 0);
        assertEquals(Asked.ASKED, ask(by, left));
        assertEquals("owner", row(by, "pay").reviewer());
        assertEquals(Asked.ASKED, ask(by, own));
        assertEquals("cfo", row(by, "pay").reviewer());
        assertEquals(2, row(by, "pay").version(), "whoever read the first one is told that it is another");
        assertEquals(Asked.ASKED, ask(by, left));
        assertEquals("cfo", row(by, "pay").reviewer());
    }

    @Test
    default void a_doubt_that_is_settled_is_not_asked_any_more_though_nobody_decided_it() {
        Deed deed = Deed.of(desk().ws, "d");
        Driver by = doubting(deed);
        Review.Row asked = row(by, "pay");
        assertTrue(desk().reads.reviews().isAsked(asked));
        desk().apply(desk().end(by.run()));
        assertTrue(desk().reads.reviews().isAsked(asked), "its run has ended, and nobody knows what happened");
        RunId replay = desk().id();
        var links = new NewRun.Links(by.run(), null, by.run());
        desk().apply(desk().admit(desk().linked(replay, links, null, RunState.STARTED), List.of(), true));
        Ledger.Holder same = Deed.in(by.run(), replay);
        desk().apply(Desk.ops(
                replay,
                new Ledger.Reserve(deed.id(), same, 0, 0, deed.onChange(), deed.data(), Deed.FACTS, true, false)));
        desk().apply(Desk.ops(replay, deed.settle(same, Ledger.State.DONE, "1")));
        assertFalse(desk().reads.reviews().isAsked(asked), "the provider was asked, and knew");
        assertEquals(List.of(), open());
        assertEquals(
                List.of(asked), desk().reads.reviews().tell(asked.nextAt(), 10), "whoever tells sees it once more");
    }

    @Test
    default void an_approval_is_not_asked_any_more_when_its_run_has_ended() {
        Driver by = driver();
        ask(by, question(Kind.APPROVAL, "ok", ""));
        Review.Row asked = row(by, "ok");
        assertTrue(desk().reads.reviews().isAsked(asked));
        desk().apply(desk().end(by.run()));
        assertFalse(desk().reads.reviews().isAsked(asked));
    }

    @Test
    default void whoever_does_not_drive_the_run_asks_nothing() {
        Driver by = driver();
        assertEquals(Asked.GONE, ask(new Driver(by.run(), 2), question(Kind.APPROVAL, "ok", "")));
        assertEquals(Asked.GONE, ask(new Driver(desk().id(), 1), question(Kind.APPROVAL, "ok", "")));
        assertEquals(List.of(), open());
    }

    @Test
    default void of_two_decisions_one_counts_and_the_other_is_told_whose() {
        Driver by = driver();
        ask(by, question(Kind.APPROVAL, "ok", ""));
        Review.Row asked = row(by, "ok");
        Ruled.Done done = assertInstanceOf(Ruled.Done.class, rule(asked, 1, "approve", yes(by)));
        assertEquals("ann", done.row().decidedBy());
        assertEquals(done.row(), row(by, "ok"));
        var other = new Review.Rule(asked.ws(), asked.id(), 1, "reject", yes(by), desk().by("bob", ""));
        Ruled.Lost lost = assertInstanceOf(Ruled.Lost.class, rule(other));
        assertEquals("approve", lost.row().decision());
        assertEquals("ann", lost.row().decidedBy());
        assertEquals(1, desk().reads.signals(by.run()).size());
        assertEquals(List.of(), open());
        assertEquals(List.of(done.row()), desk().reads.reviews().decided(desk().ws, null, 10));
    }

    @Test
    default void a_decision_that_is_applied_again_after_a_lost_answer_is_the_same_decision() {
        Driver by = driver();
        ask(by, question(Kind.APPROVAL, "ok", ""));
        Edit.By who = desk().by("ann", "why");
        Review.Row asked = row(by, "ok");
        var rule = new Review.Rule(asked.ws(), asked.id(), 1, "approve", yes(by), who);
        Ruled first = rule(rule);
        assertEquals(first, rule(rule));
    }

    @Test
    default void a_decision_about_another_version_does_nothing() {
        Driver by = driver();
        ask(by, question(Kind.APPROVAL, "ok", ""));
        assertInstanceOf(Ruled.Lost.class, rule(row(by, "ok"), 2, "approve", yes(by)));
        assertTrue(row(by, "ok").isOpen());
        assertEquals(List.of(), desk().reads.signals(by.run()));
    }

    @Test
    default void a_decision_about_nothing_says_so() {
        Driver by = driver();
        Review.Rule rule = new Review.Rule(desk().ws, "rev_none", 0, "approve", yes(by), desk().by("ann", ""));
        assertEquals(new Ruled.Absent(), desk().change(new Edit.Reviewing<>(rule)));
        assertEquals(List.of(), desk().reads.signals(by.run()));
    }

    @Test
    default void an_effect_in_doubt_that_is_decided_in_whatever_way_is_asked_about_no_more() {
        Deed deed = Deed.of(desk().ws, "d1");
        Driver by = doubting(deed);
        assertTrue(desk().change(decide(deed, by.run(), "{\"id\":1}")));
        assertEquals("happened", row(by, "pay").decision());
        assertEquals("bob", row(by, "pay").decidedBy());
        assertEquals(List.of(), open());
        assertEquals(Asked.SETTLED, ask(by, question(Kind.DOUBT, "pay", "d1")));
        assertFalse(row(by, "pay").isOpen());
    }

    @Test
    default void asked_again_after_a_decision_it_is_the_next_version() {
        Deed deed = Deed.of(desk().ws, "d1");
        Driver by = doubting(deed);
        Ruled done = rule(row(by, "pay"), 1, "did_not_happen", decide(deed, by.run(), null));
        assertInstanceOf(Ruled.Done.class, done);
        var again = Deed.holder(by.run(), 1, 2);
        desk().apply(Desk.ops(by.run(), deed.reserve(again)));
        desk().apply(Desk.ops(by.run(), deed.settle(again, Ledger.State.UNKNOWN, null)));
        assertEquals(Asked.ASKED, ask(by, question(Kind.DOUBT, "pay", "d1")));
        assertEquals(2, row(by, "pay").version());
        assertInstanceOf(Ruled.Lost.class, rule(row(by, "pay"), 1, "happened", decide(deed, by.run(), "1")));
        assertInstanceOf(Ruled.Done.class, rule(row(by, "pay"), 2, "happened", decide(deed, by.run(), "1")));
    }

    @Test
    default void two_runs_do_not_ask_about_one_effect() {
        Deed deed = Deed.of(desk().ws, "d1");
        Driver by = doubting(deed);
        Driver other = driver();
        assertEquals(Asked.ASKED, ask(other, question(Kind.DOUBT, "pay", "d1")));
        assertEquals(List.of(row(by, "pay")), open());
    }

    @Test
    default void what_a_run_left_is_asked_by_the_next_one_and_the_newer_question_is_listed() {
        Deed deed = Deed.of(desk().ws, "d1");
        Driver by = doubting(deed);
        desk().apply(desk().end(by.run()));
        Review.Row old = row(by, "pay");
        assertEquals(List.of(old), open());
        assertEquals(old, desk().reads.reviews().about(desk().ws, "d1"));
        desk().place.advance(java.time.Duration.ofMillis(1));
        Driver next = driver();
        assertEquals(Asked.ASKED, ask(next, question(Kind.DOUBT, "pay", "d1")));
        Review.Row asked = row(next, "pay");
        assertEquals(List.of(asked), open());
        assertEquals(asked, desk().reads.reviews().about(desk().ws, "d1"));
        assertFalse(desk().reads.reviews().isAsked(old));
        assertTrue(old.isOpen(), "who has its id may still answer it");
        assertInstanceOf(Ruled.Done.class, rule(old, 1, "happened", decide(deed, by.run(), "1")));
        assertEquals("happened", row(next, "pay").decision(), "which is an answer to both");
        assertNull(desk().reads.reviews().about(desk().ws, "d1"));
    }

    @Test
    default void a_question_about_one_message_gives_way_to_that_about_another_and_so_does_its_decision() {
        Driver by = driver();
        Review.Question first =
                new Review.Question(Kind.CHANGE, "mail", "", "role:ops", "{\"message_digest\":\"aa\"}", 0);
        Review.Question second =
                new Review.Question(Kind.CHANGE, "mail", "", "role:ops", "{\"message_digest\":\"bb\"}", 0);
        assertEquals(Asked.ASKED, ask(by, first));
        assertEquals(Asked.ASKED, ask(by, first));
        assertEquals(1, row(by, "mail").version());
        String signal = Objects.requireNonNull(row(by, "mail").signal());
        rule(row(by, "mail"), 1, "send", new Edit.Signal(desk().ws, by.run(), signal, "decision", "{}"));
        assertEquals(Asked.SETTLED, ask(by, first));
        assertEquals(Asked.ASKED, ask(by, second));
        assertEquals(2, row(by, "mail").version());
        assertEquals("#review:mail#bb", row(by, "mail").signal());
    }

    @Test
    default void a_deed_that_is_not_done_decides_nothing() {
        Driver by = driver();
        ask(by, question(Kind.APPROVAL, "ok", ""));
        desk().apply(desk().end(by.run()));
        assertInstanceOf(Ruled.Lost.class, rule(row(by, "ok"), 0, "approve", yes(by)));
        assertTrue(row(by, "ok").isOpen(), "nobody decided it");
        assertEquals(List.of(), open(), "and nobody can any more");
    }

    @Test
    default void time_that_is_over_counts_unless_a_decision_came_before() {
        Driver by = driver();
        Review.Question question = question(Kind.APPROVAL, "ok", "");
        ask(by, question);
        Review.Lapse lapse = new Review.Lapse(by, desk().ws, question);
        assertEquals(Asked.ASKED, desk().change(new Edit.Reviewing<>(lapse)));
        assertEquals(Asked.ASKED, desk().change(new Edit.Reviewing<>(lapse)), "the same when applied again");
        assertEquals(Review.TIMED_OUT, row(by, "ok").decision());
        assertInstanceOf(Ruled.Lost.class, rule(row(by, "ok"), 0, "approve", yes(by)));

        Driver late = driver();
        ask(late, question);
        rule(row(late, "ok"), 0, "approve", yes(late));
        assertEquals(Asked.SETTLED, desk().change(new Edit.Reviewing<>(new Review.Lapse(late, desk().ws, question))));
        assertEquals("approve", row(late, "ok").decision());
    }

    @Test
    default void what_is_due_first_comes_first_and_pages_go_on_where_they_ended() {
        Driver one = driver();
        Driver two = driver();
        Driver never = driver();
        ask(never, new Review.Question(Kind.APPROVAL, "ok", "", "role:ops", "{}", 0));
        ask(one, new Review.Question(Kind.APPROVAL, "ok", "", "role:ops", "{}", 2 * A_MINUTE));
        ask(two, new Review.Question(Kind.APPROVAL, "ok", "", "role:boss", "{}", A_MINUTE));
        Review.Page first = page(Review.Place.FRONT, 2);
        assertEquals(List.of(row(two, "ok"), row(one, "ok")), first.found());
        Review.Page rest = page(Objects.requireNonNull(first.next()), 2);
        assertEquals(List.of(row(never, "ok")), rest.found());
        assertNull(rest.next());
        var toBoss = new Review.Filter(desk().ws, Kind.APPROVAL, Desk.WORKFLOW, "role:boss", Review.Place.FRONT, 10);
        assertEquals(
                List.of(row(two, "ok")), desk().reads.reviews().open(toBoss).found());
        var doubts = new Review.Filter(desk().ws, Kind.DOUBT, null, null, Review.Place.FRONT, 10);
        assertEquals(List.of(), desk().reads.reviews().open(doubts).found());
    }

    @Test
    default void a_time_to_tell_somebody_is_written_down_once() {
        Driver by = driver();
        ask(by, question(Kind.APPROVAL, "ok", ""));
        assertEquals(List.of(row(by, "ok")), desk().reads.reviews().tell(Place.START, 10));
        var told = new Review.Told(desk().ws, row(by, "ok").id(), Place.START, Place.START + A_MINUTE, "role:boss");
        assertTrue(desk().change(new Edit.Reviewing<>(told)));
        assertFalse(desk().change(new Edit.Reviewing<>(told)));
        assertEquals(List.of(), desk().reads.reviews().tell(Place.START, 10));
        assertEquals("role:boss", row(by, "ok").reviewer());
        assertEquals(List.of(row(by, "ok")), desk().reads.reviews().tell(Place.START + A_MINUTE, 10));
    }

    @Test
    default void a_key_stands_for_longer_and_never_for_shorter() {
        Wish key = desk().key("k");
        RunId run = desk().fresh(key);
        long later = Place.START + 2 * Desk.WINDOW;
        Edit.Extend extend = new Edit.Extend(key.name(), run, later, desk().by("ann", "slow retries"));
        assertTrue(desk().change(extend));
        assertTrue(desk().change(extend), "the same when applied again");
        assertEquals(later, Objects.requireNonNull(desk().holder(key)).expiresAt());
        assertTrue(desk().change(new Edit.Extend(key.name(), run, Place.START + 1, desk().by("bob", "shorter"))));
        assertEquals(later, Objects.requireNonNull(desk().holder(key)).expiresAt());
        assertFalse(desk().change(new Edit.Extend(key.name(), desk().id(), later, desk().by("eve", "not its run"))));
        desk().change(new Edit.Release(key.name(), run, desk().by("ann", "")));
        assertFalse(desk().change(new Edit.Extend(key.name(), run, later, desk().by("ann", "released"))));
    }

    @Test
    default void effects_are_listed_with_those_of_the_newest_runs_first() {
        Deed one = Deed.of(desk().ws, "aa");
        Deed two = Deed.of(desk().ws, "bb");
        RunId first = desk().fresh();
        RunId second = desk().fresh();
        desk().apply(Desk.ops(first, one.reserve(first)));
        desk().apply(Desk.ops(second, two.reserve(second)));
        desk().apply(Desk.ops(second, two.done(second)));
        Reads.LedgerPage page = effects(null, null, 1);
        assertEquals(List.of("bb"), digests(page));
        assertEquals(List.of("aa"), digests(effects(null, page.next(), 10)));
        assertEquals(List.of("bb"), digests(effects(Ledger.State.DONE, null, 10)));
        assertEquals(List.of(), digests(effects(Ledger.State.UNKNOWN, null, 10)));
    }

    private static List<String> digests(Reads.LedgerPage page) {
        return page.found().stream().map(row -> row.id().digest()).toList();
    }

    private Reads.LedgerPage effects(Ledger.@Nullable State state, Reads.@Nullable EffectPlace before, int limit) {
        return desk().reads
                .effects(Reads.EffectFilter.in(desk().ws, state, limit).before(before));
    }
}
