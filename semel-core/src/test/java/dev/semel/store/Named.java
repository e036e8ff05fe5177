package dev.semel.store;

import dev.semel.effect.Ledger.State;
import dev.semel.run.RunId;
import dev.semel.run.RunState;
import dev.semel.store.Write.Driver;
import java.util.List;
import java.util.Locale;

/** The transactions of the product by name, each as its side does it in the {@link World}. */
enum Named {
    ADMIT_FRESH((side, world) -> side.apply(World.LEASE, world.admit(side, world.desk.key("new")))),
    ADMIT_REPEAT((side, world) -> side.apply(World.LEASE, world.admit(side, world.desk.key("held")))),
    ADMIT_CONFLICT((side, world) -> {
        Name name = new Name(world.ws, Name.Kind.KEY, "held");
        return side.apply(World.LEASE, world.admit(side, new Wish(name, Desk.bytes("other"), Desk.WINDOW, 0, true)));
    }),
    ADMIT_EXPIRED((side, world) -> side.apply(World.OTHER, world.admit(side, world.expired()))),
    ADMIT_TWO_NAMES((side, world) ->
            side.apply(World.OTHER, world.admit(side, world.expired(), world.desk.payload("p", true)))),
    ADMIT_PAYLOAD((side, world) -> side.apply(
            World.LEASE, world.admit(side, world.desk.key("of " + side.number), world.desk.payload("p", true)))),
    ADMIT_GATED((side, world) -> side.apply(World.OTHER, world.gated(side, World.GATE))),
    ADMIT_DEBOUNCED((side, world) -> side.apply(World.OTHER, world.gated(side, World.QUIET))),
    APPEND((side, world) -> side.apply(World.LEASE, world.desk.append(world.driven, 1, "[1]"))),
    RESERVE((side, world) -> side.apply(World.LEASE, Desk.ops(world.driven, world.wanted.reserve(world.driven)))),
    RESERVE_BY_ANOTHER(
            (side, world) -> side.apply(World.OTHER, Desk.ops(world.neighbour, world.wanted.reserve(world.neighbour)))),
    SETTLE((side, world) -> {
        var settle = world.reserved.settle(world.driven, State.DONE, "{}");
        Driver by = new Driver(world.driven, 1);
        return side.apply(World.LEASE, new Write.Append(by, 1, "[1]", RunState.RUNNING, List.of(settle), null));
    }),
    RESERVE_WHAT_ANOTHER_SETTLES((side, world) ->
            side.apply(World.OTHER, Desk.ops(world.neighbour, world.reserved.reserve(world.neighbour)))),
    REST((side, world) -> side.apply(World.LEASE, Desk.rest(new Driver(world.driven, 1), Write.Rest.NEVER, 0))),
    END((side, world) -> side.apply(World.LEASE, world.desk.end(world.driven))),
    END_AND_LEAVE((side, world) -> side.apply(World.LEASE, world.desk.end(world.leaving))),
    TX((side, world) -> side.tx(World.LEASE, new Write.Tx(new Driver(world.driven, 1), 1, connection -> {
        TxRules.run(connection, "INSERT INTO mine VALUES (1)");
        return "[1]";
    }))),
    CLAIM((side, world) -> Named.sorted(side.apply(World.OTHER, new Write.Claim(10)))),
    SIGNAL_DRIVEN((side, world) -> side.apply(World.OTHER, new Edit.Signal(world.ws, world.driven, "paid", "k", "{}"))),
    SIGNAL_RESTING(
            (side, world) -> side.apply(World.OTHER, new Edit.Signal(world.ws, world.resting, "paid", "k", "{}"))),
    POST_TO_WHO_LISTENS((side, world) -> side.apply(World.OTHER, Named.post(side, world, "heard", "a"))),
    POST_TO_NOBODY_YET((side, world) -> side.apply(World.OTHER, Named.post(side, world, "early", "b"))),
    POST_AGAIN((side, world) -> side.apply(World.OTHER, Named.post(side, world, "known", "known"))),
    LISTEN((side, world) -> side.apply(World.LEASE, world.listen(world.driven, "early"))),
    LISTEN_BY_ANOTHER((side, world) -> side.apply(World.OTHER, world.listen(world.neighbour, "early"))),
    LISTEN_FOR_A_KEPT_LETTER((side, world) -> side.apply(World.LEASE, world.listen(world.driven, "kept"))),
    LISTEN_FOR_IT_BY_ANOTHER((side, world) -> side.apply(World.OTHER, world.listen(world.neighbour, "kept"))),
    HUSH((side, world) -> side.apply(
            World.LEASE, new Edit.Mail<>(new Letter.Hush(new Letter.Ear(new Driver(world.driven, 1), "heard"))))),
    CANCEL((side, world) -> side.apply(World.OTHER, new Edit.Cancel(world.ws, world.driven, "a", "r"))),
    CANCEL_WITH_KEY((side, world) ->
            side.apply(World.OTHER, Named.once(side, world, new Edit.Cancel(world.ws, world.driven, "a", "r")))),
    WAKE((side, world) -> side.apply(World.OTHER, new Edit.Wake(List.of(world.resting, world.driven, world.doubting)))),
    GIVE_BACK((side, world) -> side.apply(World.LEASE, new Edit.GiveBack(new Driver(world.driven, 1)))),
    DECIDE((side, world) ->
            side.apply(World.OTHER, new Edit.Decide(world.doubted.id(), world.doubting, "{}", Named.by(side)))),
    RESUME_FAILED((side, world) -> side.apply(World.OTHER, world.resume(Named.by(side)))),
    ADMIT_AFTER_FAILURE((side, world) -> side.apply(World.OTHER, world.admit(side, world.again()))),
    ADMIT_REPLAY((side, world) -> side.apply(World.LEASE, world.admit(side, world.follows()))),
    RULE_APPROVAL((side, world) -> {
        String value = "{\"by\":" + side.number + "}";
        var deed = new Edit.Signal(world.ws, world.driven, "#approval:ok", "decision", value);
        return side.apply(World.OTHER, Named.rule(side, world, Review.id(world.driven, "ok"), deed));
    }),
    STOP_APPROVAL((side, world) -> {
        var deed = new Edit.Cancel(world.ws, world.driven, "a", "r");
        return side.apply(World.OTHER, Named.rule(side, world, Review.id(world.driven, "ok"), deed));
    }),
    RULE_DOUBT((side, world) -> {
        var deed = new Edit.Decide(world.doubted.id(), world.doubting, "{}", Named.by(side));
        return side.apply(World.OTHER, Named.rule(side, world, Review.id(world.doubting, "pay"), deed));
    }),
    LAPSE((side, world) -> side.apply(
            World.LEASE,
            new Edit.Reviewing<>(new Review.Lapse(new Driver(world.driven, 1), world.ws, world.approval())))),
    TELL((side, world) -> {
        String id = Review.id(world.driven, "ok");
        var told = new Review.Told(world.ws, id, Place.START, Place.START + 1 + side.number, "role:boss");
        return side.apply(World.OTHER, new Edit.Reviewing<>(told));
    }),
    RELEASE((side, world) ->
            side.apply(World.OTHER, new Edit.Release(world.desk.key("held").name(), world.driven, Named.by(side)))),
    SWEEP((side, world) -> side.apply(World.OTHER, new Edit.DeleteNames(List.of(world.tombstone())))),
    RETIRE((side, world) -> side.apply(World.OTHER, new Edit.DeleteRuns(List.of(world.old), Place.START + 1))),
    RESERVE_PAST((side, world) -> side.apply(World.LEASE, Desk.ops(world.driven, world.past.reserve(world.driven)))),
    ADMIT_CHOSEN_AGAIN((side, world) -> side.apply(World.LEASE, world.admit(side, world.desk.chosen("old")))),
    TALLY((side, world) -> {
        var seen = new Write.Seen(world.wish(side), world.ws, world.driven, false, Place.START, 200, "actor", null, 1);
        return side.apply(World.LEASE, new Write.Tally(List.of(seen)));
    }),
    KEEP_EVENTS((side, world) -> side.applyAll(
            World.LEASE, world.event(side, "evt_a", side.number), world.event(side, "evt_b", 3 - side.number))),
    SWEEP_EVENTS((side, world) -> side.apply(World.OTHER, new Edit.DeleteEvents(List.of(world.oldEvent())))),
    PUBLISH((side, world) ->
            side.apply(World.OTHER, new Edit.Publish(world.ws, "one", Desk.WORKFLOW, "by " + side.number, "a"))),
    RESUME((side, world) -> side.apply(World.OTHER, new Edit.Pause(world.ws, Desk.WORKFLOW, false))),
    BATCH_OF_AN_OWNER((side, world) -> side.applyAll(
            World.LEASE,
            world.admit(side, world.expired()),
            world.desk.append(world.driven, 1, "[1]"),
            Desk.ops(world.driven, world.wanted.reserve(world.driven)),
            world.desk.end(world.leaving),
            Named.signal(world, world.resting))),
    BATCH_OF_ANOTHER((side, world) -> side.applyAll(
            World.OTHER,
            Named.signal(world, world.driven),
            Desk.ops(world.neighbour, world.wanted.reserve(world.neighbour)),
            world.gated(side, World.GATE),
            new Write.Claim(10))),
    BATCH_NAME_AND_EFFECT((side, world) -> side.applyAll(
            World.LEASE,
            world.admit(side, world.expired()),
            Desk.ops(world.driven, world.wanted.reserve(world.driven)))),
    BATCH_EFFECT_AND_NAME((side, world) -> side.applyAll(
            World.OTHER,
            Desk.ops(world.neighbour, world.wanted.reserve(world.neighbour)),
            world.admit(side, world.expired()))),
    RELEASE_WITH_KEY((side, world) -> {
        var release = new Edit.Release(world.desk.key("held").name(), world.driven, Named.by(side));
        return side.apply(World.OTHER, Named.once(side, world, release));
    }),
    PUT_NEW((side, world) ->
            side.apply(World.OTHER, new Edit.Put(world.profile("new"), "{\"by\":" + side.number + "}", 0, "a"))),
    PUT_NEXT((side, world) ->
            side.apply(World.OTHER, new Edit.Put(world.profile("kept"), "{\"by\":" + side.number + "}", 1, "a"))),
    PUT_WHATEVER_THERE_IS((side, world) ->
            side.apply(World.OTHER, new Edit.Put(world.profile("kept"), "{\"by\":" + side.number + "}", null, "a"))),
    REMOVE_SETTING((side, world) -> side.apply(World.OTHER, new Edit.Remove(world.profile("kept"), null, "a"))),
    PUT_WATCHED((side, world) -> side.apply(
            World.OTHER,
            new Edit.Put(
                    new SettingName(world.ws, SettingRules.WATCHED, "mail"), "{\"by\":" + side.number + "}", 0, "a"))),
    RECEIVE_SAME_ID((side, world) -> side.apply(World.OTHER, Named.received(side, world, "evt_1", "s" + side.number))),
    RECEIVE_SAME_SIGNATURE(
            (side, world) -> side.apply(World.OTHER, Named.received(side, world, "evt_" + side.number, "s"))),
    START_LEASE((side, world) -> {
        side.leases.start(800 + side.number, "new", 2, Desk.TTL);
        return "started";
    }),
    RENEW((side, world) -> side.leases.renew(World.LEASE, Desk.TTL)),
    END_LEASE((side, world) -> {
        side.leases.end(World.LEASE);
        return "ended";
    }),
    TAKE_OVER((side, world) -> side.leases.takeOver());

    final Side.Deed deed;

    Named(Side.Deed deed) {
        this.deed = deed;
    }

    /** For people. */
    String words() {
        return name().toLowerCase(Locale.ROOT).replace('_', ' ');
    }

    private static Write<?> signal(World world, RunId run) {
        return new Write.Change<>(new Edit.Signal(world.ws, run, "paid", "k", "{}"));
    }

    private static Edit<?> rule(Side side, World world, String review, Edit<?> deed) {
        Edit.By by = new Edit.By(new RunId(610 + side.number, 6), "a", "r");
        return new Edit.Reviewing<>(new Review.Rule(world.ws, review, 1, "by " + side.number, deed, by));
    }

    /** A letter of this side, with an id that both sides may use. */
    private static Edit<?> post(Side side, World world, String key, String letter) {
        Letter.Address to = new Letter.Address(world.ws, "paid", key);
        return new Edit.Mail<>(new Letter.Post(to, letter, world.wish(side), Desk.bytes(letter), "{}"));
    }

    /** Two deliveries at once: whoever comes second must see the first one's mark. */
    private static Edit<?> received(Side side, World world, String id, String signature) {
        var row = new Delivery(world.wish(side), world.ws, "hook", 0, id, "t", Delivery.Verdict.ACCEPTED, "", "{}");
        return new Edit.Receive(row, new Delivery.Memory(signature, Delivery.Reuse.FLAG, Desk.WINDOW, Desk.WINDOW));
    }

    private static Write<?> once(Side side, World world, Edit<Boolean> edit) {
        var asked = new Edit.Asked(world.wish(side), world.ws, "change", "k", Desk.bytes("d"), Desk.WINDOW);
        return new Write.Change<>(new Edit.Once<>(asked, edit, String::valueOf));
    }

    @SuppressWarnings("unchecked") // a claim answers drivers, in no order
    private static Object sorted(Object claimed) {
        return ((List<Driver>) claimed)
                .stream().sorted(java.util.Comparator.comparing(Driver::run)).toList();
    }

    /** The request of a side: the same in every order, and another one for each side. */
    private static Edit.By by(Side side) {
        return new Edit.By(new dev.semel.run.RunId(600 + side.number, 6), "a", "r");
    }
}
