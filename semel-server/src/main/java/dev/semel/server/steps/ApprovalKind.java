package dev.semel.server.steps;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.json.Json;
import dev.semel.server.language.Fields;
import dev.semel.server.language.Template;
import dev.semel.server.language.Tree;
import dev.semel.workflow.Approval;
import dev.semel.workflow.Decision;
import dev.semel.workflow.Urgency;
import java.time.Duration;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * Step kind `approval: {to, title, show, timeout, on_timeout, on_reject, due, …}`: users decide whether the run
 * continues.
 */
final class ApprovalKind implements Kind {
    private static final Expiry REJECTED = new Expiry.End("rejected");

    @Override
    public String word() {
        return "approval";
    }

    @Override
    public Set<String> fields() {
        return Set.of();
    }

    @Override
    public @Nullable Act read(Draft draft) {
        Fields section = draft.section("approval");
        if (section == null) {
            return null;
        }
        Set<String> known = new HashSet<>(Urgencies.FIELDS);
        known.addAll(Set.of("to", "title", "show", "timeout", "on_timeout", "on_reject"));
        section.allow(known, Set.of());
        String to = section.text("to");
        if (section.get("to") == null) {
            draft.wrong(section.spotOf("to"), "approval.to is missing; set who decides, e.g. to: role:ops.");
        }
        Template title = draft.needed(section, "title");
        Map<String, Template> show = new LinkedHashMap<>();
        if (Fields.of(section.get("show"), "approval.show", draft.problems()) instanceof Fields shown) {
            shown.map().members().forEach((name, member) -> show.put(name, compiled(draft, member.value())));
        }
        Waiting waiting = new Waiting(section.duration("timeout"), Urgencies.read(draft, section));
        Expiry late = Expiry.read(draft, section, "on_timeout", REJECTED);
        Expiry rejected = Expiry.read(draft, section, "on_reject", REJECTED);
        return to == null || title == null ? null : new Question(to, title, show, waiting, late, rejected);
    }

    private static Template compiled(Draft draft, Tree tree) {
        return draft.tools().templates().compile(tree, draft.site());
    }

    /**
     * How long the run waits for the approval.
     *
     * @param timeout null for no timeout
     */
    private record Waiting(@Nullable Duration timeout, Urgency urgency) {}

    /** Opens the review and waits for the decision. */
    private record Question(
            String to, Template title, Map<String, Template> show, Waiting waiting, Expiry late, Expiry rejected)
            implements Act {
        @Override
        public JsonNode run(Play context) {
            Approval asked = Approval.of().to(to).title(context.text(title, "approval.title"));
            for (var shown : show.entrySet()) {
                JsonNode value = context.fill(shown.getValue());
                asked = asked.show(shown.getKey(), value.isString() ? value.stringValue() : Json.write(value));
            }
            asked = asked.urgency(waiting.urgency());
            if (waiting.timeout() != null) {
                asked = asked.timeout(waiting.timeout());
            }
            return switch (context.durable().approval(context.id(), asked)) {
                case Decision.Approved(String by, String note) -> answer(true, by, note);
                case Decision.Rejected(String by, String note) -> settled(context, rejected, answer(false, by, note));
                case Decision.TimedOut _ ->
                    settled(context, late, answer(false, "", "").put("timed_out", true));
            };
        }

        private static ObjectNode answer(boolean approved, String by, String note) {
            ObjectNode answer = JsonNodeFactory.instance.objectNode().put("approved", approved);
            return answer.put("by", by).put("note", note);
        }

        private static JsonNode settled(Play context, Expiry expiry, ObjectNode answer) {
            return switch (expiry) {
                case Expiry.Continue _ -> answer;
                case Expiry.End(String word) -> throw new Ended(word);
                case Expiry.Fail _ ->
                    throw new SemelException(
                            ErrorCode.STEP_FAILED,
                            "Step '%s' was not approved. No later step ran; recorded results are kept."
                                    .formatted(context.id()),
                            "Clarify with the reviewer, then replay the run.");
            };
        }

        @Override
        public boolean asksLeave() {
            return !(late instanceof Expiry.Continue) && !(rejected instanceof Expiry.Continue);
        }

        @Override
        public Stream<Template> templates() {
            return Stream.concat(Stream.of(title), show.values().stream());
        }
    }
}
