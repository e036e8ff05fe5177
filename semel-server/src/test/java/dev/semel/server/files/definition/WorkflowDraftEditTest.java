package dev.semel.server.files.definition;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.error.SemelException;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Edits of the builder inside branches, and every kind that it can add. */
class WorkflowDraftEditTest {
    private static final String BLOCK = """
        semel: 1
        workflow: w
        owner: o
        steps:
          - id: first
            set: {n: 1}
          - id: branch
            choose:
              - when: ${ input.n > 0 }
                steps:
                  # about a
                  - id: a
                    set: {n: 2}
                  - id: b
                    set: {n: 3}
              - else: true
                steps: [{id: c, set: {n: 4}}, {id: d, set: {n: 5}}]
          - id: last
            set: {n: 6}
        """;

    private static String edited(String text, WorkflowDraftEdit... edits) {
        return WorkflowDraftEdit.applyAll(text, List.of(edits));
    }

    private static List<String> outline(String text) {
        return WorkflowDraftStepOutline.of(text).steps().stream()
                .map(step -> step.position().depth() + step.id())
                .toList();
    }

    @Test
    void steps_inside_a_branch_are_moved_and_removed() {
        String swapped = edited(BLOCK, new WorkflowDraftEdit.MoveStep("b", true));
        assertEquals(List.of("0first", "0branch", "1b", "1a", "1c", "1d", "0last"), outline(swapped));
        assertTrue(swapped.contains("# about a\n          - id: a"), swapped);
        assertEquals(BLOCK, edited(swapped, new WorkflowDraftEdit.MoveStep("b", false)));
        assertEquals(
                List.of("0first", "0branch", "1b", "1c", "1d", "0last"),
                outline(edited(BLOCK, new WorkflowDraftEdit.DeleteStep("a"))));
    }

    @Test
    void steps_in_a_list_in_brackets_are_moved_and_removed() {
        String swapped = edited(BLOCK, new WorkflowDraftEdit.MoveStep("c", false));
        assertEquals(
                BLOCK.replace(
                        "[{id: c, set: {n: 4}}, {id: d, set: {n: 5}}]", "[{id: d, set: {n: 5}}, {id: c, set: {n: 4}}]"),
                swapped);
        assertEquals(BLOCK.replace("{id: c, set: {n: 4}}, ", ""), edited(BLOCK, new WorkflowDraftEdit.DeleteStep("c")));
        assertEquals(BLOCK.replace(", {id: d, set: {n: 5}}", ""), edited(BLOCK, new WorkflowDraftEdit.DeleteStep("d")));
    }

    @Test
    void a_step_at_the_end_of_a_branch_moves_out_of_it() {
        String up = edited(BLOCK, new WorkflowDraftEdit.MoveStep("a", true));
        assertEquals(List.of("0first", "0a", "0branch", "1b", "1c", "1d", "0last"), outline(up));
        assertTrue(up.contains("  # about a\n  - id: a\n    set: {n: 2}\n"), up);
        String down = edited(BLOCK, new WorkflowDraftEdit.MoveStep("b", false));
        assertEquals(List.of("0first", "0branch", "1a", "1c", "1d", "0b", "0last"), outline(down));
        String flow = edited(BLOCK, new WorkflowDraftEdit.MoveStep("d", false));
        assertEquals(List.of("0first", "0branch", "1a", "1b", "1c", "0d", "0last"), outline(flow));
        WorkflowDefinition.compile(flow);
    }

    @Test
    void the_only_step_of_a_branch_and_the_ends_of_the_file_stay() {
        String one = edited(BLOCK, new WorkflowDraftEdit.DeleteStep("a"));
        assertThrows(SemelException.class, () -> edited(one, new WorkflowDraftEdit.MoveStep("b", true)));
        assertThrows(SemelException.class, () -> edited(one, new WorkflowDraftEdit.DeleteStep("b")));
        assertThrows(SemelException.class, () -> edited(BLOCK, new WorkflowDraftEdit.MoveStep("first", true)));
        assertThrows(SemelException.class, () -> edited(BLOCK, new WorkflowDraftEdit.MoveStep("last", false)));
    }

    @Test
    void the_builder_adds_every_kind_that_needs_no_code() {
        assertTrue(
                NewStepYamlSnippets.kinds()
                        .containsAll(Set.of(
                                "digest",
                                "user_profile",
                                "subscription",
                                "cohort",
                                "wait_for_reply",
                                "template_search")),
                NewStepYamlSnippets.kinds()::toString);
        for (String kind : NewStepYamlSnippets.kinds()) {
            WorkflowDefinition.compile(edited(BLOCK, new WorkflowDraftEdit.AddStep("first", "fresh", kind)));
        }
    }

    private static String overrides(String step, String overrides) {
        return "semel: 1\nworkflow: w\nowner: o\nsteps:\n  - id: mail\n    " + step
                + "\n    protect: ask\n    overrides: " + overrides + "\n";
    }

    @Test
    void an_override_without_its_channel_is_rejected() {
        String send = "send: {channel: mail, to: ann, template: t}";
        String notify = "notify: lead.welcome\n    to: ann";
        WorkflowDefinition.compile(overrides(send, "{mail: {reply_to: a@b.example}}"));
        WorkflowDefinition.compile(overrides(notify, "{mail: {reply_to: a@b.example}, other: {from: a@b.example}}"));
        WorkflowDefinition.compile(overrides(notify, "{mail: \"${ input.options }\"}"));
        WorkflowDefinition.compile(overrides(send, "\"${ input.options }\""));
        for (String step : List.of(send, notify)) {
            SemelException rejected = assertThrows(
                    SemelException.class, () -> WorkflowDefinition.compile(overrides(step, "{reply_to: a@b.example}")));
            assertTrue(rejected.detail().contains("overrides.reply_to is not inside a channel"), rejected::detail);
        }
        SemelException other = assertThrows(
                SemelException.class,
                () -> WorkflowDefinition.compile(overrides(send, "{sms: {reply_to: a@b.example}}")));
        assertTrue(other.detail().contains("sends through 'mail'"), other::detail);
    }
}
