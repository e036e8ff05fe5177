package dev.semel.replay;

import static dev.semel.replay.SampleRuns.past;
import static dev.semel.replay.SampleRuns.row;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.effect.EffectLedger.EffectState;
import dev.semel.journal.JournalEntry.EntryKind;
import dev.semel.json.StrictJsonCodec;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** The documents of a replay: its request, options, previews and summary. */
final class ReplayPlanTest {
    private static PlannedReplayStep step(String path, SafeReplayStepAction action) {
        return new PlannedReplayStep(path, "effect", action, "why", 0, true);
    }

    private static ReplayPreview preview(PlannedReplayStep... steps) {
        return new ReplayPreview(List.of(steps), false, null);
    }

    private static String byStep(ReplayPlanSummary summary) {
        return summary.toJson()
                .required("by_step")
                .valueStream()
                .map(one -> one.required("step").asString() + " "
                        + one.required("action").asString() + " "
                        + one.required("steps").asInt())
                .collect(Collectors.joining(", "));
    }

    @Test
    void all_iterations_of_a_loop_step_count_as_one_step() {
        ReplayPlanSummary summary = new ReplayPlanSummary();
        summary.add(preview(
                step("all[a]/pay", SafeReplayStepAction.SEND),
                step("all[b]/pay", SafeReplayStepAction.SEND),
                step("all[a\\]b]/pay", SafeReplayStepAction.SEND),
                step("all[\\[]/pay", SafeReplayStepAction.REUSE),
                step("all[a]/lines[1]/pay", SafeReplayStepAction.SEND),
                step("all[b]/lines[2]/pay", SafeReplayStepAction.SEND),
                step("all[b\\\\]/lines[]/pay", SafeReplayStepAction.SEND)));
        assertEquals("all[]/lines[]/pay send 3, all[]/pay reuse 1, all[]/pay send 3", byStep(summary));
    }

    @Test
    void brackets_in_a_step_name_are_no_loop() {
        ReplayPlanSummary summary = new ReplayPlanSummary();
        summary.add(preview(
                step("mail\\[1\\]", SafeReplayStepAction.SEND), step("mail\\[2\\]", SafeReplayStepAction.SEND)));
        assertEquals("mail\\[1\\] send 1, mail\\[2\\] send 1", byStep(summary));
    }

    @Test
    void a_summary_counts_runs_and_steps_by_action() {
        ReplayPlanSummary summary = new ReplayPlanSummary();
        summary.add(preview(step("a", SafeReplayStepAction.REUSE), step("b", SafeReplayStepAction.SEND)));
        summary.add(preview(
                step("a", SafeReplayStepAction.ASK),
                step("b", SafeReplayStepAction.SEND),
                step("c", SafeReplayStepAction.SEND).withCertainty(false)));
        summary.add(new ReplayPreview(List.of(step("a", SafeReplayStepAction.REUSE)), true, null));
        summary.add(ReplayPreview.blocked("gone"));
        ObjectNode json = summary.toJson();
        assertEquals(4, summary.runs());
        assertEquals(4, json.required("runs").asInt());
        assertEquals(2, json.required("safe").asInt());
        assertEquals(1, json.required("blocked").asInt());
        assertEquals(1, json.required("incomplete").asInt());
        assertEquals(1, json.required("conditional_steps").asInt());
        assertEquals("{\"runs\":1,\"steps\":2}", counts(json, SafeReplayStepAction.SEND));
        assertEquals("{\"runs\":1,\"steps\":2}", counts(json, SafeReplayStepAction.REUSE));
        assertEquals("{\"runs\":1,\"steps\":1}", counts(json, SafeReplayStepAction.ASK));
        assertEquals("{\"runs\":0,\"steps\":0}", counts(json, SafeReplayStepAction.CHECK));
        assertEquals("a reuse 2, a ask 1, b send 2", byStep(summary));
    }

    private static String counts(ObjectNode summary, SafeReplayStepAction action) {
        return StrictJsonCodec.write(summary.required("actions").required(action.word()));
    }

    @Test
    void a_summary_names_at_most_500_steps_and_counts_all() {
        ReplayPlanSummary summary = new ReplayPlanSummary();
        for (int run = 0; run < 2; run++) {
            summary.add(preview(IntStream.range(0, 502)
                    .mapToObj(i -> step("step " + i, SafeReplayStepAction.SEND))
                    .toArray(PlannedReplayStep[]::new)));
        }
        JsonNode named = summary.toJson().required("by_step");
        assertEquals(500, named.size());
        assertTrue(named.valueStream().allMatch(one -> one.required("steps").asInt() == 2));
        assertEquals("{\"runs\":2,\"steps\":1004}", counts(summary.toJson(), SafeReplayStepAction.SEND));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"selection\":\"status=failed\",\"from\":\"\",\"definition\":\"recorded_version\"}",
                "{\"selection\":\"run_1\",\"from\":\"pay\",\"definition\":\"current_version\"}",
                "{\"selection\":\"run_1\",\"from\":\"\",\"definition\":\"recorded_version\","
                        + "\"redo\":[\"pay\",\"mail\"],\"confirm_redo\":true}",
                "{\"selection\":\"run_1\",\"from\":\"\",\"definition\":\"recorded_version\","
                        + "\"redo\":[\"pay\"],\"confirm_redo\":false,\"late_signals\":true}",
                "{\"selection\":\"run_1\",\"from\":\"\",\"definition\":\"recorded_version\","
                        + "\"confirm_redo\":true,\"notify\":\"again\"}",
                "{\"selection\":\"run_1\",\"from\":\"\",\"definition\":\"recorded_version\",\"notify\":\"none\"}",
            })
    void the_stored_form_of_a_request_is_stable(String stored) {
        ReplayPlanRequest request = ReplayPlanRequest.parse(stored);
        assertEquals(stored, request.toJson());
        assertEquals(request, ReplayPlanRequest.parse(request.toJson()));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"incomplete\":false,\"steps\":[]}",
                "{\"blocked\":\"gone\",\"incomplete\":false,\"steps\":[]}",
                "{\"incomplete\":true,\"steps\":[{\"step\":\"a\",\"kind\":\"effect\",\"action\":\"resend\","
                        + "\"reason\":\"why\",\"until\":7},{\"step\":\"b\",\"kind\":\"step\",\"action\":\"run_again\","
                        + "\"reason\":\"why\",\"certain\":false}]}",
            })
    void the_stored_form_of_a_preview_is_stable(String stored) {
        assertEquals(stored, StrictJsonCodec.write(ReplayPreview.parse(stored).toJson()));
    }

    @ParameterizedTest(name = "rate {0}, canary {1}, stop after {2}: {3}")
    @CsvSource({
        "0, 0, 0, accepted",
        "1000000, 1000000, 1000000, accepted",
        "-1, 0, 0, rejected",
        "0, -1, 0, rejected",
        "0, 0, -1, rejected",
        "1000001, 0, 0, rejected",
        "0, 1000001, 0, rejected",
        "0, 0, 1000001, rejected",
    })
    void the_numbers_of_an_applied_plan_have_limits(int rate, int canary, int stopAfter, String expected) {
        if (expected.equals("rejected")) {
            assertThrows(
                    IllegalArgumentException.class,
                    () -> new ReplayPlanApplyOptions(List.of(), rate, canary, stopAfter));
            return;
        }
        ReplayPlanApplyOptions options = new ReplayPlanApplyOptions(
                List.of(SafeReplayStepAction.UNPROTECTED, SafeReplayStepAction.ASK, SafeReplayStepAction.ASK),
                rate,
                canary,
                stopAfter);
        assertEquals(
                "{\"include\":[\"ask\",\"unprotected\"],\"rate\":" + rate + ",\"canary\":" + canary + ",\"stop_after\":"
                        + stopAfter + "}",
                StrictJsonCodec.write(options.toJson()));
        assertEquals(options, ReplayPlanApplyOptions.parse(StrictJsonCodec.write(options.toJson())));
    }

    @Test
    void actions_are_ordered_by_risk_and_stored_by_position() {
        String actions = Arrays.stream(SafeReplayStepAction.values())
                .map(action -> action.word() + "=" + action.bit() + (action.isSafe() ? "" : "!"))
                .collect(Collectors.joining(" "));
        assertEquals(
                "reuse=1 run_again=2 send=4 resend=8 check=16 ask=32! unprotected=64! silent=128 send_again=256!",
                actions);
        List<SafeReplayStepAction> byRisk = List.of(
                SafeReplayStepAction.REUSE,
                SafeReplayStepAction.SILENT,
                SafeReplayStepAction.RUN_AGAIN,
                SafeReplayStepAction.SEND,
                SafeReplayStepAction.RESEND,
                SafeReplayStepAction.CHECK,
                SafeReplayStepAction.SEND_AGAIN,
                SafeReplayStepAction.ASK,
                SafeReplayStepAction.UNPROTECTED);
        for (int i = 0; i < byRisk.size(); i++) {
            for (int j = 0; j < byRisk.size(); j++) {
                assertEquals(i > j, byRisk.get(i).isWorseThan(byRisk.get(j)));
            }
            assertEquals(byRisk.get(i), SafeReplayStepAction.of(byRisk.get(i).word()));
            boolean confirmed = byRisk.get(i) == SafeReplayStepAction.SEND_AGAIN;
            assertEquals(byRisk.get(i).isSafe() || confirmed, byRisk.get(i).isConsented());
        }
    }

    @Test
    void the_riskiest_step_is_the_risk_of_a_run() {
        assertEquals(SafeReplayStepAction.REUSE, preview().worst());
        assertEquals(0, preview().actions());
        ReplayPreview mixed = preview(
                step("a", SafeReplayStepAction.SEND),
                step("b", SafeReplayStepAction.ASK),
                step("c", SafeReplayStepAction.SILENT));
        assertEquals(SafeReplayStepAction.ASK, mixed.worst());
        assertEquals(4 + 32 + 128, mixed.actions());
        assertNull(ReplayPreview.blocked("gone").worst());
    }

    @Test
    void a_user_supplied_result_is_reused() {
        ReplayPreview preview = new ReplayPreview(
                List.of(step("a", SafeReplayStepAction.ASK), step("b", SafeReplayStepAction.ASK)), true, null);
        ReplayPreview given = preview.withGivenResult("b");
        assertEquals(
                List.of(SafeReplayStepAction.ASK, SafeReplayStepAction.REUSE),
                given.steps().stream().map(PlannedReplayStep::action).toList());
        assertEquals("a user supplied its result", given.steps().getLast().why());
        assertTrue(given.incomplete());
    }

    @Test
    void a_preview_differs_by_new_missing_and_newly_predicted_steps() {
        ReplayPreview one = preview(step("a", SafeReplayStepAction.SEND));
        ReplayPreview two = preview(
                step("a", SafeReplayStepAction.SEND).withCertainty(false), step("b", SafeReplayStepAction.REUSE));
        assertEquals(
                List.of(
                        "the replay now reaches step a only under a condition",
                        "step b is new in the replay, with the action reuse"),
                one.differencesFrom(two));
        assertEquals(
                List.of(
                        "the replay now certainly reaches step a",
                        "step b is no longer part of the replay (its action was reuse)"),
                two.differencesFrom(one));
        PlannedReplayStep call = new PlannedReplayStep("a", "call", SafeReplayStepAction.SEND, "why", 0, true);
        assertEquals(2, one.differencesFrom(preview(call)).size(), "a step of another kind is another step");
        ReplayPreview open = new ReplayPreview(one.steps(), true, null);
        assertEquals(List.of("the later actions of the replay can be predicted now"), open.differencesFrom(one));
        ReplayPreview gone = ReplayPreview.blocked("gone");
        assertEquals(List.of(), gone.differencesFrom(ReplayPreview.blocked("gone")));
        assertEquals(List.of("it can be replayed now"), gone.differencesFrom(one));
        assertEquals(List.of("locked"), gone.differencesFrom(ReplayPreview.blocked("locked")));
    }

    @ParameterizedTest(name = "repeat {0}: {1}")
    @CsvSource(delimiter = '|', nullValues = "possible", textBlock = """
        step   | possible
        effect | possible
        tx     | possible
        sleep  | step "sleep" cannot be repeated: it is a sleep
        call   | step "call" cannot be repeated: it is a call
        x      | step "x" cannot be repeated: the run did not reach this step
        """)
    void only_steps_effects_and_transactions_are_repeated(
            String path, @org.jspecify.annotations.Nullable String blocked) {
        ReplayPlannerInput source = past(
                List.of(
                        SampleRuns.done("step", EntryKind.STEP),
                        SampleRuns.done("effect", EntryKind.EFFECT),
                        SampleRuns.done("tx", EntryKind.TX),
                        SampleRuns.done("sleep", EntryKind.SLEEP),
                        SampleRuns.done("call", EntryKind.CALL)),
                List.of(row("effect", EffectState.DONE, "ask", 0)),
                null);
        ReplayPreview preview = ReplayPreview.of(source, new ReplayOptions("", false, false, List.of(path), true));
        assertEquals(blocked, preview.blocked());
    }

    @Test
    void a_resume_request_keeps_its_other_parts() {
        FailedRunResumeRequest plain = FailedRunResumeRequest.because("ann", "mended");
        assertEquals(new FailedRunResumeRequest("ann", "mended", null, false, List.of()), plain);
        FailedRunResumeRequest full = plain.skipping("pay", Collections.singletonMap("id", 7))
                .useCurrentVersion(true)
                .including(List.of(SafeReplayStepAction.ASK));
        assertEquals(
                new FailedRunResumeRequest(
                        "ann",
                        "mended",
                        new FailedRunResumeRequest.Skip("pay", StrictJsonCodec.parse("{\"id\":7}")),
                        true,
                        List.of(SafeReplayStepAction.ASK)),
                full);
        assertNull(full.skipping((FailedRunResumeRequest.Skip) null).skip());
        assertFalse(full.useCurrentVersion(false).useCurrentVersion());
    }
}
