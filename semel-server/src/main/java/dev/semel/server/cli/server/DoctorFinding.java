package dev.semel.server.cli.server;

import dev.semel.server.cli.command.TerminalJsonFormatter;
import java.util.Locale;
import tools.jackson.databind.node.ObjectNode;

/** Result of one `semel doctor` check; a warning or a failure always says how to fix it. */
public record DoctorFinding(Severity severity, String name, String detail, String fix) {
    public enum Severity {
        OK,
        WARN,
        FAIL
    }

    public DoctorFinding {
        if (severity != Severity.OK && fix.isBlank()) {
            throw new IllegalArgumentException("a finding that is not ok needs a fix: " + name);
        }
    }

    static DoctorFinding ok(String name, String detail) {
        return new DoctorFinding(Severity.OK, name, detail, "");
    }

    static DoctorFinding warn(String name, String detail, String fix) {
        return new DoctorFinding(Severity.WARN, name, detail, fix);
    }

    static DoctorFinding fail(String name, String detail, String fix) {
        return new DoctorFinding(Severity.FAIL, name, detail, fix);
    }

    public String severityName() {
        return severity.name().toLowerCase(Locale.ROOT);
    }

    ObjectNode toJson() {
        ObjectNode document = TerminalJsonFormatter.newObject()
                .put("name", name)
                .put("result", severityName())
                .put("detail", detail);
        return fix.isEmpty() ? document : document.put("fix", fix);
    }
}
