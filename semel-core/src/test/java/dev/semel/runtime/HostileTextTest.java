package dev.semel.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.semel.admission.Trigger;
import dev.semel.admission.TriggerSource;
import dev.semel.definition.DurableWorkflowOperations;
import dev.semel.definition.EffectSpec;
import dev.semel.definition.StepSpec;
import dev.semel.definition.WorkflowBody;
import dev.semel.effect.EffectDuplicateProtection;
import dev.semel.error.SemelException;
import dev.semel.policy.ChangedEffectDataPolicy;
import dev.semel.run.JournalStepPathFormat;
import dev.semel.run.RunId;
import dev.semel.run.RunState;
import dev.semel.store.Await;
import dev.semel.store.DatabaseRows;
import dev.semel.store.Dialect;
import dev.semel.store.KeyedSignalStoreWriteCommand.SignalAddress;
import dev.semel.store.StoreQueries;
import dev.semel.store.StoreWrite;
import dev.semel.store.StoreWriteCommand;
import dev.semel.store.WorkspaceSettingName;
import dev.semel.store.WorkspaceSettingName.SettingKind;
import dev.semel.workflow.ApprovalRequest;
import dev.semel.workflow.EffectOperation;
import dev.semel.workflow.EscalationPolicy;
import dev.semel.workflow.ReviewOptions;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/** Every place where a caller's text reaches a text column, with the same hostile texts on both stores. */
final class HostileTextTest {
    private static final String ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    private static final JsonNode SENT = JsonNodeFactory.instance.stringNode("sent");
    private static final EffectDuplicateProtection REPEATABLE = new EffectDuplicateProtection.Repeatable("a test");

    /** What happens to one text at one place: the state of the run with its error code, or the rejection. */
    @FunctionalInterface
    private interface Place {
        String outcome(Probe probe, String text) throws Exception;
    }

    /** The texts by a name that a message may show. Random ones cannot be compressed, as an index would do first. */
    private static Map<String, String> texts(long seed) {
        Random random = new Random(seed);
        Map<String, String> texts = new LinkedHashMap<>();
        texts.put("nul", "\0");
        texts.put("inner nul", "a\0b");
        texts.put("high surrogate", "a\ud83d");
        texts.put("low surrogate", "\ude00b");
        texts.put("700 characters", ascii(random, 700));
        texts.put("3,500 characters", ascii(random, 3_500));
        texts.put("3,800 characters", ascii(random, 3_800));
        texts.put("900 four-byte characters", wide(random, 900, 0x1F300, 0x1F5FF));
        texts.put("3,000 three-byte characters", wide(random, 3_000, 0x4E00, 0x9FFF));
        texts.put("controls", "\u0001\u001b[31m\r\n\t\u007f");
        texts.put("direction", "\u202eevil\u2066");
        texts.put("syntax", "a/b[c]\\d'\"%_;--#é…");
        for (int i = 0; i < 4; i++) {
            texts.put("mixed " + i, mixed(random));
        }
        return texts;
    }

    private static String ascii(Random random, int length) {
        return random.ints(length, 0, ALPHABET.length())
                .mapToObj(at -> ALPHABET.substring(at, at + 1))
                .collect(Collectors.joining());
    }

    private static String wide(Random random, int length, int from, int to) {
        return random.ints(length, from, to).mapToObj(Character::toString).collect(Collectors.joining());
    }

    /** Any characters, half surrogates and NUL among them, of any length up to 4,500. */
    private static String mixed(Random random) {
        StringBuilder text = new StringBuilder();
        random.ints(1 + random.nextInt(4_500), 0, 0x10000).forEach(c -> text.append((char) c));
        return text.toString();
    }

    /** One engine on one store. */
    private static final class Probe {
        final EngineTestBench bench;
        private int flows;

        Probe(EngineTestBench bench) {
            this.bench = bench;
        }

        SemelRuntime semel() {
            return bench.semel();
        }

        int number() {
            return ++flows;
        }

        RunId start(WorkflowBody body) {
            String name = "w" + number();
            bench.publish(name, KeyPolicyBuilder.plain(), body);
            return bench.ask(name).send().run();
        }

        String ended(WorkflowBody body) {
            return ended(start(body));
        }

        String ended(RunId run) {
            Await.until("run " + run + " rests", () -> bench.run(run).end() != null || isStuck(run));
            DatabaseRows.RunEnd end = bench.run(run).end();
            String code = end == null ? null : end.result().errorCode();
            return bench.run(run).state() + (code == null ? "" : " " + code);
        }

        private boolean isStuck(RunId run) {
            return bench.run(run).state() == RunState.HELD || bench.run(run).state() == RunState.IN_DOUBT;
        }

        /** Lets the run wait, acts once, and says how it ended. */
        String afterWaiting(WorkflowBody body, Action action) throws Exception {
            RunId run = start(body);
            Await.until(
                    "run " + run + " waits",
                    () -> bench.run(run).end() != null
                            || isStuck(run)
                            || bench.run(run).state() == RunState.WAITING);
            if (bench.run(run).state() == RunState.WAITING) {
                action.act(semel().run(bench.workspace(), run.text()));
                return ended(run) + " after waiting";
            }
            return ended(run);
        }
    }

    @FunctionalInterface
    private interface Action {
        void act(RunHandle<JsonNode> run) throws Exception;
    }

    private static EffectSpec effect(
            String name,
            @Nullable String key,
            EffectDuplicateProtection protection,
            @Nullable Duration once,
            @Nullable String object,
            @Nullable String worth,
            ReviewOptions review) {
        return new EffectSpec(
                StepSpec.named(name),
                key,
                protection,
                once == null ? null : EffectSpec.OncePerWindow.keyOnly(once, ChangedEffectDataPolicy.SEND),
                new EffectSpec.BusinessRecord(EffectOperation.CREATE, object, worth),
                List.of(),
                review);
    }

    private static WorkflowBody sends(EffectSpec plan) {
        return (durable, _) -> {
            durable.effect(plan, sender());
            return SENT;
        };
    }

    private static DurableWorkflowOperations.EffectSender sender() {
        return _ -> SENT;
    }

    private static WorkflowBody loses(EffectSpec plan) {
        return (durable, _) -> {
            durable.effect(plan, _ -> {
                throw new IOException("no answer");
            });
            return SENT;
        };
    }

    /** The same work below a for_each with this item key. */
    private static WorkflowBody inLoop(String key, DurableWorkflowOperations.Branch<String, JsonNode> work) {
        return (durable, _) -> {
            durable.forEach("l", new DurableWorkflowOperations.KeyedItems<>(List.of(key), List.of(key), 1), work);
            return SENT;
        };
    }

    private static final EffectDuplicateProtection ASK = new EffectDuplicateProtection.Ask("ops");

    private static void effects(Map<String, Place> places) {
        places.put(
                "effect key",
                (probe, text) ->
                        probe.ended(sends(effect("e", text, REPEATABLE, null, null, null, ReviewOptions.DEFAULT))));
        places.put(
                "effect key with a window",
                (probe, text) -> probe.ended(
                        sends(effect("e", text, REPEATABLE, Duration.ofHours(1), null, null, ReviewOptions.DEFAULT))));
        places.put(
                "effect object",
                (probe, text) ->
                        probe.ended(sends(effect("e", null, REPEATABLE, null, text, null, ReviewOptions.DEFAULT))));
        places.put(
                "effect worth",
                (probe, text) ->
                        probe.ended(sends(effect("e", null, REPEATABLE, null, "o", text, ReviewOptions.DEFAULT))));
        places.put(
                "effect name",
                (probe, text) ->
                        probe.ended(sends(effect(text, null, REPEATABLE, null, "o", null, ReviewOptions.DEFAULT))));
        places.put(
                "reviewer",
                (probe, text) -> probe.ended(loses(effect(
                        "e", null, new EffectDuplicateProtection.Ask(text), null, null, null, ReviewOptions.DEFAULT))));
        places.put(
                "review to",
                (probe, text) ->
                        probe.ended(loses(effect("e", null, ASK, null, null, null, ReviewOptions.DEFAULT.to(text)))));
        places.put(
                "review title and link",
                (probe, text) -> probe.ended(loses(effect(
                        "e", null, ASK, null, null, null, ReviewOptions.of(text).link(text)))));
        places.put(
                "review escalation",
                (probe, text) -> probe.ended(loses(effect(
                        "e",
                        null,
                        ASK,
                        null,
                        null,
                        null,
                        ReviewOptions.DEFAULT.escalation(EscalationPolicy.NONE.escalate(Duration.ofHours(1), text))))));
    }

    private static void loops(Map<String, Place> places) {
        places.put(
                "item key of an effect",
                (probe, text) -> probe.ended(inLoop(text, (scope, _) -> {
                    scope.effect(effect("e", null, REPEATABLE, null, "o", null, ReviewOptions.DEFAULT), sender());
                    return SENT;
                })));
        places.put(
                "item key of a doubt",
                (probe, text) -> probe.ended(inLoop(text, (scope, _) -> {
                    scope.effect(effect("e", null, ASK, null, null, null, ReviewOptions.DEFAULT), _ -> {
                        throw new IOException("no answer");
                    });
                    return SENT;
                })));
        places.put("item key of a keyed wait", (probe, text) -> {
            String key = "k" + probe.number();
            return probe.afterWaiting(
                    inLoop(text, (scope, _) -> {
                        scope.await("w", "go", key, null);
                        return SENT;
                    }),
                    _ -> KeyedSignalSender.of(probe.semel())
                            .send(new SignalAddress(probe.bench.workspace(), "go", key), SENT, key));
        });
        places.put(
                "item key of an approval",
                (probe, text) -> probe.afterWaiting(
                        inLoop(text, (scope, _) -> {
                            scope.approval("a", ApprovalRequest.of());
                            return SENT;
                        }),
                        run -> run.approve(JournalStepPathFormat.branch("", "l", text) + "a", "ann", "")));
        places.put("step name", (probe, text) -> probe.ended((durable, _) -> durable.step(text, () -> SENT)));
    }

    private static void messages(Map<String, Place> places) {
        places.put(
                "key of a signal",
                (probe, text) -> probe.afterWaiting(
                        (durable, _) -> {
                            durable.await("w", "go", null);
                            return SENT;
                        },
                        run -> {
                            try {
                                run.signal("go", SENT, text);
                            } finally {
                                run.signal("go", SENT, "plain");
                            }
                        }));
        places.put(
                "key of a keyed wait",
                (probe, text) -> probe.ended((durable, _) -> {
                    durable.await("w", "go", text, Duration.ZERO);
                    return SENT;
                }));
        places.put("id of a keyed signal", (probe, text) -> {
            String key = "k" + probe.number();
            boolean known = false;
            for (int i = 0; i < 2; i++) {
                known = KeyedSignalSender.of(probe.semel())
                        .send(new SignalAddress(probe.bench.workspace(), "go" + key, key), SENT, text)
                        .replayed();
            }
            return "known " + known;
        });
        places.put("reviewer of an approval", (probe, text) -> {
            RunId run = probe.start((durable, _) -> {
                durable.approval("a", ApprovalRequest.of().to(text).title(text));
                return SENT;
            });
            Await.until(
                    "it waits",
                    () -> probe.bench.run(run).end() != null
                            || probe.isStuck(run)
                            || probe.bench.run(run).state() == RunState.WAITING);
            return probe.bench.run(run).state().name();
        });
    }

    private static void decisions(Map<String, Place> places) {
        places.put(
                "who decides",
                (probe, text) -> probe.afterWaiting(
                        (durable, _) -> {
                            durable.approval("a", ApprovalRequest.of());
                            return SENT;
                        },
                        run -> {
                            try {
                                run.approve("a", text, text);
                            } finally {
                                run.approve("a", "ann", "");
                            }
                        }));
        places.put(
                "reason of a cancel",
                (probe, text) -> probe.afterWaiting(
                        (durable, _) -> {
                            durable.await("w", "go", null);
                            return SENT;
                        },
                        run -> {
                            try {
                                run.cancel(text, text);
                            } finally {
                                run.cancel("ann", "");
                            }
                        }));
    }

    private static void lookups(Map<String, Place> places) {
        places.put(
                "id of a run",
                (probe, text) ->
                        probe.semel().run(probe.bench.workspace(), text).id());
        places.put(
                "name of a workflow",
                (probe, text) -> probe.semel().workflow(probe.bench.workspace(), text) == null ? "none" : "found");
        places.put(
                "run id of a signal step",
                (probe, text) -> probe.ended((durable, _) -> {
                    durable.signal("s", new DurableWorkflowOperations.OutgoingSignal(text, "go", SENT, "k"));
                    return SENT;
                }));
        places.put("object of a filter", (probe, text) -> "found " + effectsOf(probe, "not " + text));
    }

    private static void triggers(Map<String, Place> places) {
        places.put("actor and correlation id", (probe, text) -> {
            probe.bench.publish("echo", KeyPolicyBuilder.plain(), EngineTestBench.ECHO);
            Trigger plain = probe.bench.ask("echo").trigger();
            Trigger hostile = new Trigger(
                    plain.workspace(),
                    plain.current(),
                    plain.data(),
                    plain.input(),
                    plain.identifiers(),
                    new Trigger.Sender(TriggerSource.LIBRARY, text, text),
                    false,
                    null);
            return probe.ended(probe.semel().trigger(hostile).run());
        });
        places.put("event", (probe, text) -> {
            DatabaseRows.EventRow row = new DatabaseRows.EventRow(
                    probe.bench.workspace(),
                    "hash" + probe.number(),
                    probe.semel().newId(),
                    TriggerSource.EVENT,
                    text,
                    text,
                    text,
                    "{}",
                    0,
                    text,
                    text,
                    0,
                    "[]");
            StoreWrite.SaveEventResult unused = probe.semel()
                    .events()
                    .store(new StoreWrite.SaveEvent(row, probe.semel().catalogVersion()), "k")
                    .await();
            return "stored";
        });
        places.put("setting", (probe, text) -> {
            SettingKind kind = new SettingKind("sample", false, false);
            WorkspaceSettingName name = new WorkspaceSettingName(probe.bench.workspace(), kind, "s" + probe.number());
            probe.semel().change(new StoreWriteCommand.SaveSetting(name, text, 0, text));
            return "stored";
        });
        places.put("name of a setting", (probe, text) -> {
            WorkspaceSettingName name =
                    new WorkspaceSettingName(probe.bench.workspace(), new SettingKind("sample", false, false), text);
            probe.semel().change(new StoreWriteCommand.SaveSetting(name, "{}", null, "ann"));
            return "stored";
        });
        places.put(
                "message of a failure",
                (probe, text) -> probe.ended((durable, _) -> durable.step("s", () -> {
                    throw new IllegalStateException(text);
                })));
        places.put(
                "output and status",
                (probe, text) -> probe.ended((durable, _) -> {
                    durable.status(text);
                    return JsonNodeFactory.instance.stringNode(text);
                }));
    }

    @Test
    void a_hostile_text_has_the_same_outcome_on_both_stores_and_holds_no_run() {
        long seed = Long.getLong("seed", new Random().nextLong());
        Map<String, Place> places = new LinkedHashMap<>();
        effects(places);
        loops(places);
        messages(places);
        decisions(places);
        lookups(places);
        triggers(places);
        Map<String, String> texts = texts(seed);
        Map<String, String> sqlite = outcomes(Dialect.SQLITE, places, texts);
        Map<String, String> postgres = outcomes(Dialect.POSTGRES, places, texts);
        List<String> wrong = new ArrayList<>();
        sqlite.forEach((where, outcome) -> {
            String other = String.valueOf(postgres.get(where));
            if (!other.equals(outcome) || other.contains(RunState.HELD.name())) {
                wrong.add(where + ": SQLite " + outcome + ", PostgreSQL " + other);
            }
        });
        assertEquals(List.of(), wrong, () -> "seed " + seed + "\n" + String.join("\n", wrong));
    }

    private static Map<String, String> outcomes(Dialect dialect, Map<String, Place> places, Map<String, String> texts) {
        Map<String, String> outcomes = new LinkedHashMap<>();
        try (EngineTestBench bench = new EngineTestBench(dialect)) {
            Probe probe = new Probe(bench);
            places.forEach((place, one) -> texts.forEach(
                    (name, text) -> outcomes.put(place + ", " + name, outcome(() -> one.outcome(probe, text)))));
        }
        return outcomes;
    }

    @FunctionalInterface
    private interface Attempt {
        String run() throws Exception;
    }

    private static String outcome(Attempt attempt) {
        try {
            return attempt.run();
        } catch (SemelException e) {
            return "rejected " + e.code().slug();
        } catch (IllegalArgumentException e) {
            return "rejected as an argument";
        } catch (Exception e) {
            return e.getClass().getSimpleName();
        }
    }

    @Test
    void an_object_that_is_too_long_for_an_index_is_found_by_its_whole_name() {
        String object = ascii(new Random(1), 3_500);
        for (Dialect dialect : Dialect.values()) {
            try (EngineTestBench bench = new EngineTestBench(dialect)) {
                Probe probe = new Probe(bench);
                for (String one : List.of(object, object + "x")) {
                    assertEquals(
                            "COMPLETED",
                            probe.ended(sends(effect("e", null, REPEATABLE, null, one, null, ReviewOptions.DEFAULT))));
                }
                assertEquals(1, effectsOf(probe, object), dialect.name());
                assertEquals(1, effectsOf(probe, object + "x"), dialect.name());
                assertEquals(0, effectsOf(probe, object + "y"), dialect.name());
            }
        }
    }

    private static int effectsOf(Probe probe, String object) {
        StoreQueries.EffectFilter filter = new StoreQueries.EffectFilter(
                probe.bench.workspace(), null, null, object, null, null, StoreQueries.EffectSelection.ALL, null, 10);
        return Objects.requireNonNull(probe.semel().view(reads -> reads.effects(filter)))
                .found()
                .size();
    }
}
