package dev.semel.server.api;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.server.http.Request;
import dev.semel.store.Edit;
import dev.semel.store.Rows;
import dev.semel.workflow.Current;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What an author has seen of a workflow before writing a new text of it: `If-Match: "3"`, with a candidate `"3-4"`;
 * `If-None-Match: *` says that there was none.
 *
 * @param version the current one; 0 where there was no such workflow
 * @param candidate the one that is tried beside it; 0 for none
 */
record Seen(int version, int candidate) {
    private static final Pattern TAG = Pattern.compile("\"([1-9][0-9]{0,8})(?:-([1-9][0-9]{0,8}))?\"");

    /** Null where the request says nothing of the kind. */
    static @Nullable Seen in(Request request) {
        List<String> match = request.headerLines("If-Match");
        List<String> none = request.headerLines("If-None-Match");
        if (match.isEmpty() && none.isEmpty()) {
            return null;
        }
        if (match.isEmpty() && none.equals(List.of("*"))) {
            return new Seen(0, 0);
        }
        Matcher tag = TAG.matcher(match.size() == 1 && none.isEmpty() ? match.getFirst() : "");
        if (!tag.matches()) {
            throw Paging.refused(
                    "If-Match must be the ETag of the workflow, such as \"3\", or If-None-Match must be *");
        }
        return new Seen(Integer.parseInt(tag.group(1)), tag.group(2) == null ? 0 : Integer.parseInt(tag.group(2)));
    }

    static Seen of(Current entry) {
        Current.Candidate candidate = entry.candidate();
        return new Seen(
                entry.published().version(),
                candidate == null ? 0 : candidate.published().version());
    }

    String tag() {
        return "\"" + version + (candidate == 0 ? "" : "-" + candidate) + "\"";
    }

    Edit.Footing footing() {
        return new Edit.Footing(version, candidate);
    }

    /** @param now null where there is no such workflow */
    SemelException isPast(Rows.@Nullable Workflow now, String name) {
        String seen = version == 0 ? "there was no workflow " + name : "version " + version + " of it was current";
        String found = now == null
                ? "there is none"
                : "version " + now.version() + " is"
                        + (now.rollout().candidate() == 0
                                ? ""
                                : ", with version " + now.rollout().candidate() + " tried beside it");
        return new SemelException(
                        ErrorCode.PRECONDITION_FAILED,
                        "Workflow " + name + " was changed by somebody else: when you began, " + seen + "; now " + found
                                + ". Nothing was published.",
                        "Look at what is current, put your changes onto it, and publish that.")
                .with("version", now == null ? 0 : now.version());
    }
}
