package dev.semel.store;

import dev.semel.effect.EffectLedger.EffectState;
import dev.semel.run.RunId;
import dev.semel.run.RunState;
import dev.semel.store.StoreWrite.RunExecution;
import java.util.List;
import java.util.Locale;

/** The transactions of the product by name, each as its side does it in the {@link InterleavingFixture}. */
enum NamedTransaction {
    ADMIT_FRESH((side, world) -> side.apply(InterleavingFixture.LEASE, world.admit(side, world.desk.key("new")))),
    ADMIT_REPEAT((side, world) -> side.apply(InterleavingFixture.LEASE, world.admit(side, world.desk.key("held")))),
    ADMIT_CONFLICT((side, world) -> {
        UniqueKey name = new UniqueKey(world.ws, UniqueKey.KeyKind.KEY, "held");
        return side.apply(
                InterleavingFixture.LEASE,
                world.admit(side, new KeyClaim(name, TestStoreClient.bytes("other"), TestStoreClient.WINDOW, 0, true)));
    }),
    ADMIT_EXPIRED((side, world) -> side.apply(InterleavingFixture.OTHER, world.admit(side, world.expired()))),
    ADMIT_TWO_NAMES((side, world) ->
            side.apply(InterleavingFixture.OTHER, world.admit(side, world.expired(), world.desk.payload("p", true)))),
    ADMIT_PAYLOAD((side, world) -> side.apply(
            InterleavingFixture.LEASE,
            world.admit(side, world.desk.key("of " + side.number), world.desk.payload("p", true)))),
    ADMIT_GATED((side, world) -> side.apply(InterleavingFixture.OTHER, world.gated(side, InterleavingFixture.GATE))),
    ADMIT_DEBOUNCED(
            (side, world) -> side.apply(InterleavingFixture.OTHER, world.gated(side, InterleavingFixture.QUIET))),
    APPEND((side, world) -> side.apply(InterleavingFixture.LEASE, world.desk.append(world.driven, 1, "[1]"))),
    RESERVE((side, world) -> side.apply(
            InterleavingFixture.LEASE, TestStoreClient.ops(world.driven, world.wanted.reserve(world.driven)))),
    RESERVE_BY_ANOTHER((side, world) -> side.apply(
            InterleavingFixture.OTHER, TestStoreClient.ops(world.neighbour, world.wanted.reserve(world.neighbour)))),
    SETTLE((side, world) -> {
        var settle = world.reserved.settle(world.driven, EffectState.DONE, "{}");
        RunExecution by = new RunExecution(world.driven, 1);
        return side.apply(
                InterleavingFixture.LEASE,
                new StoreWrite.AppendJournal(by, 1, "[1]", RunState.RUNNING, List.of(settle), null));
    }),
    RESERVE_WHAT_ANOTHER_SETTLES((side, world) -> side.apply(
            InterleavingFixture.OTHER, TestStoreClient.ops(world.neighbour, world.reserved.reserve(world.neighbour)))),
    REST((side, world) -> side.apply(
            InterleavingFixture.LEASE,
            TestStoreClient.rest(new RunExecution(world.driven, 1), StoreWrite.Suspension.NEVER, 0))),
    END((side, world) -> side.apply(InterleavingFixture.LEASE, world.desk.end(world.driven))),
    END_AND_LEAVE((side, world) -> side.apply(InterleavingFixture.LEASE, world.desk.end(world.leaving))),
    TX((side, world) -> side.tx(
            InterleavingFixture.LEASE,
            new StoreWrite.UserTransaction(new RunExecution(world.driven, 1), 1, connection -> {
                UserTransactionRules.run(connection, "INSERT INTO mine VALUES (1)");
                return "[1]";
            }))),
    CLAIM((side, world) ->
            NamedTransaction.sorted(side.apply(InterleavingFixture.OTHER, new StoreWrite.ClaimRuns(10)))),
    SIGNAL_DRIVEN((side, world) -> side.apply(
            InterleavingFixture.OTHER, new StoreCommand.SendSignal(world.ws, world.driven, "paid", "k", "{}"))),
    SIGNAL_RESTING((side, world) -> side.apply(
            InterleavingFixture.OTHER, new StoreCommand.SendSignal(world.ws, world.resting, "paid", "k", "{}"))),
    POST_TO_WHO_LISTENS(
            (side, world) -> side.apply(InterleavingFixture.OTHER, NamedTransaction.post(side, world, "heard", "a"))),
    POST_TO_NOBODY_YET(
            (side, world) -> side.apply(InterleavingFixture.OTHER, NamedTransaction.post(side, world, "early", "b"))),
    POST_AGAIN((side, world) ->
            side.apply(InterleavingFixture.OTHER, NamedTransaction.post(side, world, "known", "known"))),
    LISTEN((side, world) -> side.apply(InterleavingFixture.LEASE, world.listen(world.driven, "early"))),
    LISTEN_BY_ANOTHER((side, world) -> side.apply(InterleavingFixture.OTHER, world.listen(world.neighbour, "early"))),
    LISTEN_FOR_A_KEPT_LETTER(
            (side, world) -> side.apply(InterleavingFixture.LEASE, world.listen(world.driven, "kept"))),
    LISTEN_FOR_IT_BY_ANOTHER(
            (side, world) -> side.apply(InterleavingFixture.OTHER, world.listen(world.neighbour, "kept"))),
    HUSH((side, world) -> side.apply(
            InterleavingFixture.LEASE,
            new StoreCommand.KeyedSignalCommand<>(new KeyedSignalOperation.StopListening(
                    new KeyedSignalOperation.SignalWaiter(new RunExecution(world.driven, 1), "heard"))))),
    CANCEL((side, world) ->
            side.apply(InterleavingFixture.OTHER, new StoreCommand.CancelRun(world.ws, world.driven, "a", "r"))),
    CANCEL_WITH_KEY((side, world) -> side.apply(
            InterleavingFixture.OTHER,
            NamedTransaction.once(side, world, new StoreCommand.CancelRun(world.ws, world.driven, "a", "r")))),
    WAKE((side, world) -> side.apply(
            InterleavingFixture.OTHER,
            new StoreCommand.WakeRuns(List.of(world.resting, world.driven, world.doubting)))),
    GIVE_BACK((side, world) ->
            side.apply(InterleavingFixture.LEASE, new StoreCommand.ReturnRun(new RunExecution(world.driven, 1)))),
    DECIDE((side, world) -> side.apply(
            InterleavingFixture.OTHER,
            new StoreCommand.DecideEffect(world.doubted.id(), world.doubting, "{}", NamedTransaction.by(side)))),
    RESUME_FAILED((side, world) -> side.apply(InterleavingFixture.OTHER, world.resume(NamedTransaction.by(side)))),
    ADMIT_AFTER_FAILURE((side, world) -> side.apply(InterleavingFixture.OTHER, world.admit(side, world.again()))),
    ADMIT_REPLAY((side, world) -> side.apply(InterleavingFixture.LEASE, world.admit(side, world.follows()))),
    RULE_APPROVAL((side, world) -> {
        String value = "{\"by\":" + side.number + "}";
        var deed = new StoreCommand.SendSignal(world.ws, world.driven, "#approval:ok", "decision", value);
        return side.apply(
                InterleavingFixture.OTHER,
                NamedTransaction.rule(side, world, ReviewOperation.id(world.driven, "ok"), deed));
    }),
    STOP_APPROVAL((side, world) -> {
        var deed = new StoreCommand.CancelRun(world.ws, world.driven, "a", "r");
        return side.apply(
                InterleavingFixture.OTHER,
                NamedTransaction.rule(side, world, ReviewOperation.id(world.driven, "ok"), deed));
    }),
    RULE_DOUBT((side, world) -> {
        var deed = new StoreCommand.DecideEffect(world.doubted.id(), world.doubting, "{}", NamedTransaction.by(side));
        return side.apply(
                InterleavingFixture.OTHER,
                NamedTransaction.rule(side, world, ReviewOperation.id(world.doubting, "pay"), deed));
    }),
    LAPSE((side, world) -> side.apply(
            InterleavingFixture.LEASE,
            new StoreCommand.ReviewCommand<>(
                    new ReviewOperation.ExpireReview(new RunExecution(world.driven, 1), world.ws, world.approval())))),
    TELL((side, world) -> {
        String id = ReviewOperation.id(world.driven, "ok");
        var told = new ReviewOperation.RecordReminder(
                world.ws, id, StoreFixture.START, StoreFixture.START + 1 + side.number, "role:boss");
        return side.apply(InterleavingFixture.OTHER, new StoreCommand.ReviewCommand<>(told));
    }),
    RELEASE((side, world) -> side.apply(
            InterleavingFixture.OTHER,
            new StoreCommand.ReleaseKey(world.desk.key("held").key(), world.driven, NamedTransaction.by(side)))),
    SWEEP((side, world) ->
            side.apply(InterleavingFixture.OTHER, new StoreCommand.DeleteTombstones(List.of(world.tombstone())))),
    RETIRE((side, world) -> side.apply(
            InterleavingFixture.OTHER, new StoreCommand.DeleteRuns(List.of(world.old), StoreFixture.START + 1))),
    RESERVE_PAST((side, world) ->
            side.apply(InterleavingFixture.LEASE, TestStoreClient.ops(world.driven, world.past.reserve(world.driven)))),
    ADMIT_CHOSEN_AGAIN(
            (side, world) -> side.apply(InterleavingFixture.LEASE, world.admit(side, world.desk.chosen("old")))),
    TALLY((side, world) -> {
        var seen = new StoreWrite.DuplicateRequest(
                world.wish(side), world.ws, world.driven, false, StoreFixture.START, 200, "actor", null, 1);
        return side.apply(InterleavingFixture.LEASE, new StoreWrite.RecordDuplicates(List.of(seen)));
    }),
    KEEP_EVENTS((side, world) -> side.applyAll(
            InterleavingFixture.LEASE,
            world.event(side, "evt_a", side.number),
            world.event(side, "evt_b", 3 - side.number))),
    SWEEP_EVENTS((side, world) ->
            side.apply(InterleavingFixture.OTHER, new StoreCommand.DeleteEvents(List.of(world.oldEvent())))),
    PUBLISH((side, world) -> side.apply(
            InterleavingFixture.OTHER,
            new StoreCommand.PublishVersion(world.ws, "one", TestStoreClient.WORKFLOW, "by " + side.number, "a"))),
    RESUME((side, world) -> side.apply(
            InterleavingFixture.OTHER, new StoreCommand.PauseWorkflow(world.ws, TestStoreClient.WORKFLOW, false))),
    BATCH_OF_AN_OWNER((side, world) -> side.applyAll(
            InterleavingFixture.LEASE,
            world.admit(side, world.expired()),
            world.desk.append(world.driven, 1, "[1]"),
            TestStoreClient.ops(world.driven, world.wanted.reserve(world.driven)),
            world.desk.end(world.leaving),
            NamedTransaction.signal(world, world.resting))),
    BATCH_OF_ANOTHER((side, world) -> side.applyAll(
            InterleavingFixture.OTHER,
            NamedTransaction.signal(world, world.driven),
            TestStoreClient.ops(world.neighbour, world.wanted.reserve(world.neighbour)),
            world.gated(side, InterleavingFixture.GATE),
            new StoreWrite.ClaimRuns(10))),
    BATCH_NAME_AND_EFFECT((side, world) -> side.applyAll(
            InterleavingFixture.LEASE,
            world.admit(side, world.expired()),
            TestStoreClient.ops(world.driven, world.wanted.reserve(world.driven)))),
    BATCH_EFFECT_AND_NAME((side, world) -> side.applyAll(
            InterleavingFixture.OTHER,
            TestStoreClient.ops(world.neighbour, world.wanted.reserve(world.neighbour)),
            world.admit(side, world.expired()))),
    RELEASE_WITH_KEY((side, world) -> {
        var release =
                new StoreCommand.ReleaseKey(world.desk.key("held").key(), world.driven, NamedTransaction.by(side));
        return side.apply(InterleavingFixture.OTHER, NamedTransaction.once(side, world, release));
    }),
    PUT_NEW((side, world) -> side.apply(
            InterleavingFixture.OTHER,
            new StoreCommand.SaveSetting(world.profile("new"), "{\"by\":" + side.number + "}", 0, "a"))),
    PUT_NEXT((side, world) -> side.apply(
            InterleavingFixture.OTHER,
            new StoreCommand.SaveSetting(world.profile("kept"), "{\"by\":" + side.number + "}", 1, "a"))),
    PUT_WHATEVER_THERE_IS((side, world) -> side.apply(
            InterleavingFixture.OTHER,
            new StoreCommand.SaveSetting(world.profile("kept"), "{\"by\":" + side.number + "}", null, "a"))),
    REMOVE_SETTING((side, world) ->
            side.apply(InterleavingFixture.OTHER, new StoreCommand.RemoveSetting(world.profile("kept"), null, "a"))),
    PUT_WATCHED((side, world) -> side.apply(
            InterleavingFixture.OTHER,
            new StoreCommand.SaveSetting(
                    new SettingName(world.ws, SettingRules.WATCHED, "mail"), "{\"by\":" + side.number + "}", 0, "a"))),
    RECEIVE_SAME_ID((side, world) ->
            side.apply(InterleavingFixture.OTHER, NamedTransaction.received(side, world, "evt_1", "s" + side.number))),
    RECEIVE_SAME_SIGNATURE((side, world) ->
            side.apply(InterleavingFixture.OTHER, NamedTransaction.received(side, world, "evt_" + side.number, "s"))),
    START_LEASE((side, world) -> {
        side.leases.start(800 + side.number, "new", 2, TestStoreClient.TTL);
        return "started";
    }),
    RENEW((side, world) -> side.leases.renew(InterleavingFixture.LEASE, TestStoreClient.TTL)),
    END_LEASE((side, world) -> {
        side.leases.end(InterleavingFixture.LEASE);
        return "ended";
    }),
    TAKE_OVER((side, world) -> side.leases.takeOverExpired());

    final InterleavedClient.ClientAction deed;

    NamedTransaction(InterleavedClient.ClientAction deed) {
        this.deed = deed;
    }

    /** For people. */
    String words() {
        return name().toLowerCase(Locale.ROOT).replace('_', ' ');
    }

    private static StoreWrite<?> signal(InterleavingFixture world, RunId run) {
        return new StoreWrite.ExecuteCommand<>(new StoreCommand.SendSignal(world.ws, run, "paid", "k", "{}"));
    }

    private static StoreCommand<?> rule(
            InterleavedClient side, InterleavingFixture world, String review, StoreCommand<?> deed) {
        StoreCommand.ChangeAuthor by = new StoreCommand.ChangeAuthor(new RunId(610 + side.number, 6), "a", "r");
        return new StoreCommand.ReviewCommand<>(
                new ReviewOperation.DecideReview(world.ws, review, 1, "by " + side.number, deed, by));
    }

    /** A letter of this side, with an id that both sides may use. */
    private static StoreCommand<?> post(InterleavedClient side, InterleavingFixture world, String key, String letter) {
        KeyedSignalOperation.SignalAddress to = new KeyedSignalOperation.SignalAddress(world.ws, "paid", key);
        return new StoreCommand.KeyedSignalCommand<>(new KeyedSignalOperation.SendKeyedSignal(
                to, letter, world.wish(side), TestStoreClient.bytes(letter), "{}"));
    }

    /** Two deliveries at once: whoever comes second must see the first one's mark. */
    private static StoreCommand<?> received(
            InterleavedClient side, InterleavingFixture world, String id, String signature) {
        var row = new WebhookDelivery(
                world.wish(side), world.ws, "hook", 0, id, "t", WebhookDelivery.DeliveryOutcome.ACCEPTED, "", "{}");
        return new StoreCommand.RecordDelivery(
                row,
                new WebhookDelivery.DedupSettings(
                        signature,
                        WebhookDelivery.SignatureReuse.FLAG,
                        TestStoreClient.WINDOW,
                        TestStoreClient.WINDOW));
    }

    private static StoreWrite<?> once(InterleavedClient side, InterleavingFixture world, StoreCommand<Boolean> edit) {
        var asked = new StoreCommand.CommandRequest(
                world.wish(side), world.ws, "change", "k", TestStoreClient.bytes("d"), TestStoreClient.WINDOW);
        return new StoreWrite.ExecuteCommand<>(new StoreCommand.IdempotentCommand<>(asked, edit, String::valueOf));
    }

    @SuppressWarnings("unchecked") // a claim answers drivers, in no order
    private static Object sorted(Object claimed) {
        return ((List<RunExecution>) claimed)
                .stream()
                        .sorted(java.util.Comparator.comparing(RunExecution::run))
                        .toList();
    }

    /** The request of a side: the same in every order, and another one for each side. */
    private static StoreCommand.ChangeAuthor by(InterleavedClient side) {
        return new StoreCommand.ChangeAuthor(new dev.semel.run.RunId(600 + side.number, 6), "a", "r");
    }
}
