package dev.semel.store;

import dev.semel.admission.RunDeduplicationKey;
import dev.semel.admission.RunDeduplicationKeyClaim;
import dev.semel.effect.EffectLedger.EffectState;
import dev.semel.run.RunId;
import dev.semel.run.RunState;
import dev.semel.store.StoreWrite.RunExecution;
import java.util.List;
import java.util.Locale;

/** The transactions of the product by name, each as its side does it in the {@link InterleavingFixture}. */
enum NamedTransaction {
    ADMIT_FRESH(
            (side, fixture) -> side.apply(InterleavingFixture.LEASE, fixture.admit(side, fixture.client.key("new")))),
    ADMIT_REPEAT(
            (side, fixture) -> side.apply(InterleavingFixture.LEASE, fixture.admit(side, fixture.client.key("held")))),
    ADMIT_CONFLICT((side, fixture) -> {
        RunDeduplicationKey name = new RunDeduplicationKey(fixture.ws, RunDeduplicationKey.KeyKind.KEY, "held");
        return side.apply(
                InterleavingFixture.LEASE,
                fixture.admit(
                        side,
                        new RunDeduplicationKeyClaim(
                                name, TestStoreClient.bytes("other"), TestStoreClient.WINDOW, 0, true)));
    }),
    ADMIT_EXPIRED((side, fixture) -> side.apply(InterleavingFixture.OTHER, fixture.admit(side, fixture.expired()))),
    ADMIT_TWO_NAMES((side, fixture) -> side.apply(
            InterleavingFixture.OTHER, fixture.admit(side, fixture.expired(), fixture.client.payload("p", true)))),
    ADMIT_PAYLOAD((side, fixture) -> side.apply(
            InterleavingFixture.LEASE,
            fixture.admit(side, fixture.client.key("of " + side.number), fixture.client.payload("p", true)))),
    ADMIT_GATED(
            (side, fixture) -> side.apply(InterleavingFixture.OTHER, fixture.gated(side, InterleavingFixture.GATE))),
    ADMIT_DEBOUNCED(
            (side, fixture) -> side.apply(InterleavingFixture.OTHER, fixture.gated(side, InterleavingFixture.QUIET))),
    APPEND((side, fixture) -> side.apply(InterleavingFixture.LEASE, fixture.client.append(fixture.executed, 1, "[1]"))),
    RESERVE((side, fixture) -> side.apply(
            InterleavingFixture.LEASE,
            TestStoreClient.ops(fixture.executed, fixture.wanted.reserve(fixture.executed)))),
    RESERVE_BY_ANOTHER((side, fixture) -> side.apply(
            InterleavingFixture.OTHER,
            TestStoreClient.ops(fixture.neighbour, fixture.wanted.reserve(fixture.neighbour)))),
    SETTLE((side, fixture) -> {
        var settle = fixture.reserved.settle(fixture.executed, EffectState.DONE, "{}");
        RunExecution by = new RunExecution(fixture.executed, 1);
        return side.apply(
                InterleavingFixture.LEASE,
                new StoreWrite.AppendJournal(by, 1, "[1]", RunState.RUNNING, List.of(settle), null));
    }),
    RESERVE_WHAT_ANOTHER_SETTLES((side, fixture) -> side.apply(
            InterleavingFixture.OTHER,
            TestStoreClient.ops(fixture.neighbour, fixture.reserved.reserve(fixture.neighbour)))),
    REST((side, fixture) -> side.apply(
            InterleavingFixture.LEASE,
            TestStoreClient.rest(new RunExecution(fixture.executed, 1), StoreWrite.Suspension.NEVER, 0))),
    END((side, fixture) -> side.apply(InterleavingFixture.LEASE, fixture.client.end(fixture.executed))),
    END_AND_LEAVE((side, fixture) -> side.apply(InterleavingFixture.LEASE, fixture.client.end(fixture.leaving))),
    TX((side, fixture) -> side.tx(
            InterleavingFixture.LEASE,
            new StoreWrite.UserTransaction(new RunExecution(fixture.executed, 1), 1, connection -> {
                UserTransactionRules.run(connection, "INSERT INTO mine VALUES (1)");
                return "[1]";
            }))),
    CLAIM((side, fixture) ->
            NamedTransaction.sorted(side.apply(InterleavingFixture.OTHER, new StoreWrite.ClaimRuns(10)))),
    SIGNAL_DRIVEN((side, fixture) -> side.apply(
            InterleavingFixture.OTHER,
            new StoreWriteCommand.SendSignal(fixture.ws, fixture.executed, "paid", "k", "{}"))),
    SIGNAL_RESTING((side, fixture) -> side.apply(
            InterleavingFixture.OTHER,
            new StoreWriteCommand.SendSignal(fixture.ws, fixture.resting, "paid", "k", "{}"))),
    POST_TO_WHO_LISTENS((side, fixture) ->
            side.apply(InterleavingFixture.OTHER, NamedTransaction.post(side, fixture, "heard", "a"))),
    POST_TO_NOBODY_YET((side, fixture) ->
            side.apply(InterleavingFixture.OTHER, NamedTransaction.post(side, fixture, "early", "b"))),
    POST_AGAIN((side, fixture) ->
            side.apply(InterleavingFixture.OTHER, NamedTransaction.post(side, fixture, "known", "known"))),
    LISTEN((side, fixture) -> side.apply(InterleavingFixture.LEASE, fixture.listen(fixture.executed, "early"))),
    LISTEN_BY_ANOTHER(
            (side, fixture) -> side.apply(InterleavingFixture.OTHER, fixture.listen(fixture.neighbour, "early"))),
    LISTEN_FOR_A_STORED_SIGNAL(
            (side, fixture) -> side.apply(InterleavingFixture.LEASE, fixture.listen(fixture.executed, "kept"))),
    LISTEN_FOR_IT_BY_ANOTHER(
            (side, fixture) -> side.apply(InterleavingFixture.OTHER, fixture.listen(fixture.neighbour, "kept"))),
    HUSH((side, fixture) -> side.apply(
            InterleavingFixture.LEASE,
            new StoreWriteCommand.KeyedSignalCommand<>(new KeyedSignalStoreWriteCommand.StopListening(
                    new KeyedSignalStoreWriteCommand.SignalWaiter(new RunExecution(fixture.executed, 1), "heard"))))),
    CANCEL((side, fixture) -> side.apply(
            InterleavingFixture.OTHER, new StoreWriteCommand.CancelRun(fixture.ws, fixture.executed, "a", "r"))),
    CANCEL_WITH_KEY((side, fixture) -> side.apply(
            InterleavingFixture.OTHER,
            NamedTransaction.once(
                    side, fixture, new StoreWriteCommand.CancelRun(fixture.ws, fixture.executed, "a", "r")))),
    WAKE((side, fixture) -> side.apply(
            InterleavingFixture.OTHER,
            new StoreWriteCommand.WakeRuns(List.of(fixture.resting, fixture.executed, fixture.doubting)))),
    GIVE_BACK((side, fixture) -> side.apply(
            InterleavingFixture.LEASE, new StoreWriteCommand.ReturnRun(new RunExecution(fixture.executed, 1)))),
    DECIDE((side, fixture) -> side.apply(
            InterleavingFixture.OTHER,
            new StoreWriteCommand.DecideEffect(
                    fixture.doubted.id(), fixture.doubting, "{}", NamedTransaction.by(side)))),
    RESUME_FAILED((side, fixture) -> side.apply(InterleavingFixture.OTHER, fixture.resume(NamedTransaction.by(side)))),
    ADMIT_AFTER_FAILURE((side, fixture) -> side.apply(InterleavingFixture.OTHER, fixture.admit(side, fixture.again()))),
    ADMIT_REPLAY((side, fixture) -> side.apply(InterleavingFixture.LEASE, fixture.admit(side, fixture.follows()))),
    RULE_APPROVAL((side, fixture) -> {
        String value = "{\"by\":" + side.number + "}";
        var sendSignal =
                new StoreWriteCommand.SendSignal(fixture.ws, fixture.executed, "#approval:ok", "decision", value);
        return side.apply(
                InterleavingFixture.OTHER,
                NamedTransaction.rule(
                        side, fixture, HumanReviewStoreWriteCommand.id(fixture.executed, "ok"), sendSignal));
    }),
    STOP_APPROVAL((side, fixture) -> {
        var cancelRun = new StoreWriteCommand.CancelRun(fixture.ws, fixture.executed, "a", "r");
        return side.apply(
                InterleavingFixture.OTHER,
                NamedTransaction.rule(
                        side, fixture, HumanReviewStoreWriteCommand.id(fixture.executed, "ok"), cancelRun));
    }),
    RULE_DOUBT((side, fixture) -> {
        var decideEffect = new StoreWriteCommand.DecideEffect(
                fixture.doubted.id(), fixture.doubting, "{}", NamedTransaction.by(side));
        return side.apply(
                InterleavingFixture.OTHER,
                NamedTransaction.rule(
                        side, fixture, HumanReviewStoreWriteCommand.id(fixture.doubting, "pay"), decideEffect));
    }),
    LAPSE((side, fixture) -> side.apply(
            InterleavingFixture.LEASE,
            new StoreWriteCommand.ReviewCommand<>(new HumanReviewStoreWriteCommand.ExpireReview(
                    new RunExecution(fixture.executed, 1), fixture.ws, fixture.approval())))),
    TELL((side, fixture) -> {
        String id = HumanReviewStoreWriteCommand.id(fixture.executed, "ok");
        var recordReminder = new HumanReviewStoreWriteCommand.RecordReminder(
                fixture.ws, id, StoreFixture.START, StoreFixture.START + 1 + side.number, "role:boss");
        return side.apply(InterleavingFixture.OTHER, new StoreWriteCommand.ReviewCommand<>(recordReminder));
    }),
    RELEASE((side, fixture) -> side.apply(
            InterleavingFixture.OTHER,
            new StoreWriteCommand.ReleaseKey(
                    fixture.client.key("held").key(), fixture.executed, NamedTransaction.by(side)))),
    SWEEP((side, fixture) -> side.apply(
            InterleavingFixture.OTHER, new StoreWriteCommand.DeleteTombstones(List.of(fixture.tombstone())))),
    RETIRE((side, fixture) -> side.apply(
            InterleavingFixture.OTHER, new StoreWriteCommand.DeleteRuns(List.of(fixture.old), StoreFixture.START + 1))),
    RESERVE_PAST((side, fixture) -> side.apply(
            InterleavingFixture.LEASE, TestStoreClient.ops(fixture.executed, fixture.past.reserve(fixture.executed)))),
    ADMIT_CHOSEN_AGAIN((side, fixture) ->
            side.apply(InterleavingFixture.LEASE, fixture.admit(side, fixture.client.chosen("old")))),
    TALLY((side, fixture) -> {
        var duplicateRequest = new StoreWrite.DuplicateRequest(
                fixture.claim(side), fixture.ws, fixture.executed, false, StoreFixture.START, 200, "actor", null, 1);
        return side.apply(InterleavingFixture.LEASE, new StoreWrite.RecordDuplicates(List.of(duplicateRequest)));
    }),
    KEEP_EVENTS((side, fixture) -> side.applyAll(
            InterleavingFixture.LEASE,
            fixture.event(side, "evt_a", side.number),
            fixture.event(side, "evt_b", 3 - side.number))),
    SWEEP_EVENTS((side, fixture) ->
            side.apply(InterleavingFixture.OTHER, new StoreWriteCommand.DeleteEvents(List.of(fixture.oldEvent())))),
    PUBLISH((side, fixture) -> side.apply(
            InterleavingFixture.OTHER,
            new StoreWriteCommand.PublishVersion(
                    fixture.ws, "one", TestStoreClient.WORKFLOW, "by " + side.number, "a"))),
    RESUME((side, fixture) -> side.apply(
            InterleavingFixture.OTHER,
            new StoreWriteCommand.PauseWorkflow(fixture.ws, TestStoreClient.WORKFLOW, false))),
    BATCH_OF_AN_OWNER((side, fixture) -> side.applyAll(
            InterleavingFixture.LEASE,
            fixture.admit(side, fixture.expired()),
            fixture.client.append(fixture.executed, 1, "[1]"),
            TestStoreClient.ops(fixture.executed, fixture.wanted.reserve(fixture.executed)),
            fixture.client.end(fixture.leaving),
            NamedTransaction.signal(fixture, fixture.resting))),
    BATCH_OF_ANOTHER((side, fixture) -> side.applyAll(
            InterleavingFixture.OTHER,
            NamedTransaction.signal(fixture, fixture.executed),
            TestStoreClient.ops(fixture.neighbour, fixture.wanted.reserve(fixture.neighbour)),
            fixture.gated(side, InterleavingFixture.GATE),
            new StoreWrite.ClaimRuns(10))),
    BATCH_NAME_AND_EFFECT((side, fixture) -> side.applyAll(
            InterleavingFixture.LEASE,
            fixture.admit(side, fixture.expired()),
            TestStoreClient.ops(fixture.executed, fixture.wanted.reserve(fixture.executed)))),
    BATCH_EFFECT_AND_NAME((side, fixture) -> side.applyAll(
            InterleavingFixture.OTHER,
            TestStoreClient.ops(fixture.neighbour, fixture.wanted.reserve(fixture.neighbour)),
            fixture.admit(side, fixture.expired()))),
    RELEASE_WITH_KEY((side, fixture) -> {
        var release = new StoreWriteCommand.ReleaseKey(
                fixture.client.key("held").key(), fixture.executed, NamedTransaction.by(side));
        return side.apply(InterleavingFixture.OTHER, NamedTransaction.once(side, fixture, release));
    }),
    PUT_NEW((side, fixture) -> side.apply(
            InterleavingFixture.OTHER,
            new StoreWriteCommand.SaveSetting(fixture.profile("new"), "{\"by\":" + side.number + "}", 0, "a"))),
    PUT_NEXT((side, fixture) -> side.apply(
            InterleavingFixture.OTHER,
            new StoreWriteCommand.SaveSetting(fixture.profile("kept"), "{\"by\":" + side.number + "}", 1, "a"))),
    PUT_WHATEVER_THERE_IS((side, fixture) -> side.apply(
            InterleavingFixture.OTHER,
            new StoreWriteCommand.SaveSetting(fixture.profile("kept"), "{\"by\":" + side.number + "}", null, "a"))),
    REMOVE_SETTING((side, fixture) -> side.apply(
            InterleavingFixture.OTHER, new StoreWriteCommand.RemoveSetting(fixture.profile("kept"), null, "a"))),
    PUT_WATCHED((side, fixture) -> side.apply(
            InterleavingFixture.OTHER,
            new StoreWriteCommand.SaveSetting(
                    new WorkspaceSettingName(fixture.ws, SettingRules.WATCHED, "mail"),
                    "{\"by\":" + side.number + "}",
                    0,
                    "a"))),
    RECEIVE_SAME_ID((side, fixture) -> side.apply(
            InterleavingFixture.OTHER, NamedTransaction.received(side, fixture, "evt_1", "s" + side.number))),
    RECEIVE_SAME_SIGNATURE((side, fixture) ->
            side.apply(InterleavingFixture.OTHER, NamedTransaction.received(side, fixture, "evt_" + side.number, "s"))),
    START_LEASE((side, fixture) -> {
        side.leases.start(800 + side.number, "new", 2, TestStoreClient.TTL);
        return "started";
    }),
    RENEW((side, fixture) -> side.leases.renew(InterleavingFixture.LEASE, TestStoreClient.TTL)),
    END_LEASE((side, fixture) -> {
        side.leases.end(InterleavingFixture.LEASE);
        return "ended";
    }),
    TAKE_OVER((side, fixture) -> side.leases.takeOverExpired(0));

    final InterleavedClient.ClientAction action;

    NamedTransaction(InterleavedClient.ClientAction effect) {
        this.action = effect;
    }

    /** For people. */
    String words() {
        return name().toLowerCase(Locale.ROOT).replace('_', ' ');
    }

    private static StoreWrite<?> signal(InterleavingFixture fixture, RunId run) {
        return new StoreWrite.ExecuteCommand<>(new StoreWriteCommand.SendSignal(fixture.ws, run, "paid", "k", "{}"));
    }

    private static StoreWriteCommand<?> rule(
            InterleavedClient side, InterleavingFixture fixture, String review, StoreWriteCommand<?> storeCommand) {
        StoreWriteCommand.ChangeAuthor by =
                new StoreWriteCommand.ChangeAuthor(new RunId(610 + side.number, 6), "a", "r");
        return new StoreWriteCommand.ReviewCommand<>(new HumanReviewStoreWriteCommand.DecideReview(
                fixture.ws, review, 1, "by " + side.number, storeCommand, by));
    }

    /** A signal of this side, with an id that both sides may use. */
    private static StoreWriteCommand<?> post(
            InterleavedClient side, InterleavingFixture fixture, String key, String signal) {
        KeyedSignalStoreWriteCommand.SignalAddress to =
                new KeyedSignalStoreWriteCommand.SignalAddress(fixture.ws, "paid", key);
        return new StoreWriteCommand.KeyedSignalCommand<>(new KeyedSignalStoreWriteCommand.SendKeyedSignal(
                to, signal, fixture.claim(side), TestStoreClient.bytes(signal), "{}"));
    }

    /** Two deliveries at once: whoever comes second must see the first one's mark. */
    private static StoreWriteCommand<?> received(
            InterleavedClient side, InterleavingFixture fixture, String id, String signature) {
        var row = new InboundWebhookDelivery(
                fixture.claim(side),
                fixture.ws,
                "hook",
                0,
                id,
                "t",
                InboundWebhookDelivery.DeliveryOutcome.ACCEPTED,
                "",
                "{}");
        return new StoreWriteCommand.RecordDelivery(
                row,
                new InboundWebhookDelivery.DedupSettings(
                        signature,
                        InboundWebhookDelivery.SignatureReuse.FLAG,
                        TestStoreClient.WINDOW,
                        TestStoreClient.WINDOW));
    }

    private static StoreWrite<?> once(
            InterleavedClient side, InterleavingFixture fixture, StoreWriteCommand<Boolean> edit) {
        var commandRequest = new StoreWriteCommand.CommandRequest(
                fixture.claim(side), fixture.ws, "change", "k", TestStoreClient.bytes("d"), TestStoreClient.WINDOW);
        return new StoreWrite.ExecuteCommand<>(
                new StoreWriteCommand.IdempotentCommand<>(commandRequest, edit, String::valueOf));
    }

    @SuppressWarnings("unchecked") // a claim answers drivers, in no order
    private static Object sorted(Object claimed) {
        return ((List<RunExecution>) claimed)
                .stream()
                        .sorted(java.util.Comparator.comparing(RunExecution::run))
                        .toList();
    }

    /** The request of a side: the same in every order, and another one for each side. */
    private static StoreWriteCommand.ChangeAuthor by(InterleavedClient side) {
        return new StoreWriteCommand.ChangeAuthor(new dev.semel.run.RunId(600 + side.number, 6), "a", "r");
    }
}
