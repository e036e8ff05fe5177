package dev.semel.server.operations.workflow;

import dev.semel.definition.WorkflowCatalogEntry;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.server.http.ServerHttpRequest;
import dev.semel.server.query.ApiErrors;
import dev.semel.store.DatabaseRows;
import dev.semel.store.StoreWriteCommand;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The workflow version a publish request expects: `If-Match: "3"`, with a candidate `"3-4"`, or `If-None-Match: *` for
 * a new workflow.
 *
 * @param version the current version; 0 if the workflow must not exist
 * @param candidate the candidate version; 0 for none
 */
record WorkflowPublishPrecondition(int version, int candidate) {
    private static final Pattern TAG = Pattern.compile("\"([1-9][0-9]{0,8})(?:-([1-9][0-9]{0,8}))?\"");

    /** Null if the request has no precondition. */
    static @Nullable WorkflowPublishPrecondition parse(ServerHttpRequest request) {
        List<String> match = request.headerLines("If-Match");
        List<String> none = request.headerLines("If-None-Match");
        if (match.isEmpty() && none.isEmpty()) {
            return null;
        }
        if (match.isEmpty() && none.equals(List.of("*"))) {
            return new WorkflowPublishPrecondition(0, 0);
        }
        Matcher tag = TAG.matcher(match.size() == 1 && none.isEmpty() ? match.getFirst() : "");
        if (!tag.matches()) {
            throw ApiErrors.invalidQuery(
                    "If-Match must be the ETag of the workflow, such as \"3\", or If-None-Match must be *");
        }
        return new WorkflowPublishPrecondition(
                Integer.parseInt(tag.group(1)), tag.group(2) == null ? 0 : Integer.parseInt(tag.group(2)));
    }

    static WorkflowPublishPrecondition of(WorkflowCatalogEntry entry) {
        WorkflowCatalogEntry.Candidate candidate = entry.candidate();
        return new WorkflowPublishPrecondition(
                entry.published().version(),
                candidate == null ? 0 : candidate.published().version());
    }

    String etag() {
        return "\"" + version + (candidate == 0 ? "" : "-" + candidate) + "\"";
    }

    StoreWriteCommand.VersionsInForce toVersionsInForce() {
        return new StoreWriteCommand.VersionsInForce(version, candidate);
    }

    /** @param now null if the workflow does not exist */
    SemelException conflict(DatabaseRows.@Nullable WorkflowRow now, String name) {
        String seen = version == 0 ? "no workflow with this name" : "version " + version;
        String found = now == null
                ? "the workflow does not exist"
                : "the current version is " + now.version()
                        + (now.rollout().candidate() == 0
                                ? ""
                                : " with candidate " + now.rollout().candidate());
        return new SemelException(
                        ErrorCode.PRECONDITION_FAILED,
                        "Workflow " + name + " was changed by another request: you expected " + seen + ", but " + found
                                + ". Nothing was published.",
                        "Read the current version, apply your changes to it and publish the result.")
                .with("version", now == null ? 0 : now.version());
    }
}
