package dev.semel.server.cli.command;

import dev.semel.error.SemelException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Ends a command with an exit code and a problem document: title, detail, fix and code. */
public final class CliCommandException extends RuntimeException {
    private final int exitCode;
    private final transient ObjectNode document;

    private CliCommandException(int exit, ObjectNode document) {
        super(TerminalJsonFormatter.text(document, "title"), null, false, false);
        this.exitCode = exit;
        this.document = document;
    }

    /** A failure that the command line itself detected. */
    public static CliCommandException create(int exit, String code, String detail, String fix) {
        ObjectNode document = TerminalJsonFormatter.newObject();
        document.put("title", title(code)).put("detail", detail).put("fix", fix).put("code", code);
        return new CliCommandException(exit, document);
    }

    /** A failure in the server's form, detected locally. */
    public static CliCommandException from(int exit, SemelException rejection) {
        ObjectNode document = TerminalJsonFormatter.newObject();
        document.put("title", rejection.code().title())
                .put("detail", rejection.detail())
                .put("fix", rejection.fix())
                .put("code", rejection.code().slug());
        if (rejection.members().get("errors") instanceof List<?> errors) {
            ArrayNode places = document.putArray("errors");
            for (Object error : errors) {
                ObjectNode place = places.addObject();
                if (error instanceof Map<?, ?> members) {
                    members.forEach((name, value) -> {
                        if (value instanceof Integer number) {
                            place.put(String.valueOf(name), number);
                        } else {
                            place.put(String.valueOf(name), String.valueOf(value));
                        }
                    });
                }
            }
        }
        return new CliCommandException(exit, document);
    }

    public static CliCommandException from(CliApiResponse answer) {
        if (answer.isJson() && answer.body() instanceof ObjectNode problem && problem.has("title")) {
            return new CliCommandException(ExitCode.forHttpStatus(answer.status(), answer.code()), problem);
        }
        if (answer.status() == 401 || answer.status() == 403) {
            return create(
                    ExitCode.NOT_ALLOWED,
                    "not-allowed",
                    "A proxy or another program answered " + answer.status() + " instead of the server.",
                    "Check the token, and any proxy between this machine and the server.");
        }
        return notSemel(answer);
    }

    public static CliCommandException notSemel(CliApiResponse answer) {
        String where = answer.headers()
                .firstValue("Location")
                .map(TerminalJsonFormatter::sanitize)
                .orElse("");
        String detail = "The response was " + answer.status()
                + (answer.status() / 100 == 3 && !where.isEmpty() ? ", a redirect to " + where : "")
                + ", and it is not from Semel. It may come from another program or a proxy.";
        return create(
                ExitCode.UNREACHABLE,
                "not-semel",
                detail,
                "Check --server or SEMEL_SERVER; `semel doctor` shows more.");
    }

    private static String title(String code) {
        return switch (code) {
            case "unreachable" -> "The server cannot be reached";
            case "outcome-unknown" -> "It is unknown whether the trigger arrived";
            case "not-semel" -> "This does not look like a Semel server";
            case "no-token", "not-allowed" -> "The server needs a valid API token";
            case "not-written" -> "No file was written";
            case "demo-failed" -> "The demonstration failed";
            case "qa-failed", "qa-refused" -> "The checklist did not run";
            case "export-failed" -> "The export failed";
            default -> "The command could not be executed";
        };
    }

    public int exitCode() {
        return exitCode;
    }

    public ObjectNode document() {
        return document;
    }

    /** The printed form of every error: title, detail, positions, fix, code. */
    public List<String> toLines() {
        List<String> lines = new ArrayList<>();
        lines.add(TerminalJsonFormatter.text(document, "title"));
        // A position in a file takes several lines with a caret; joined into one line, the caret would be misplaced.
        String detail = document.path("detail").asString("");
        detail.lines().forEach(line -> add(lines, "  ", TerminalJsonFormatter.sanitize(line)));
        JsonNode places = document.path("errors");
        for (JsonNode place : places) {
            boolean said =
                    places.size() == 1 && detail.contains(place.path("message").asString("\n"));
            add(lines, "  ", said ? "" : place(place));
        }
        add(lines, "  fix: ", TerminalJsonFormatter.text(document, "fix"));
        add(lines, "  code: ", TerminalJsonFormatter.text(document, "code"));
        return lines;
    }

    private static String place(JsonNode error) {
        if (error.isString()) {
            return TerminalJsonFormatter.sanitize(error.asString());
        }
        String line = TerminalJsonFormatter.text(error, "line");
        String column = TerminalJsonFormatter.text(error, "column");
        String at = line.isEmpty()
                ? TerminalJsonFormatter.text(error, "pointer")
                : "line " + line + (column.isEmpty() ? "" : ":" + column);
        String message = TerminalJsonFormatter.text(error, "message");
        return (at + "  " + (message.isEmpty() ? TerminalJsonFormatter.text(error, "detail") : message)).strip();
    }

    private static void add(List<String> lines, String label, String text) {
        if (!text.isBlank()) {
            lines.add(label + text);
        }
    }
}
