package dev.semel.server.cli;

import java.util.Locale;
import tools.jackson.databind.node.ObjectNode;

/** Result of one `semel doctor` check; a warning or a failure always says how to fix it. */
record Finding(Grade grade, String name, String detail, String fix) {
    enum Grade {
        OK,
        WARN,
        FAIL
    }

    Finding {
        if (grade != Grade.OK && fix.isBlank()) {
            throw new IllegalArgumentException("a finding that is not ok needs a fix: " + name);
        }
    }

    static Finding ok(String name, String detail) {
        return new Finding(Grade.OK, name, detail, "");
    }

    static Finding warn(String name, String detail, String fix) {
        return new Finding(Grade.WARN, name, detail, fix);
    }

    static Finding fail(String name, String detail, String fix) {
        return new Finding(Grade.FAIL, name, detail, fix);
    }

    String word() {
        return grade.name().toLowerCase(Locale.ROOT);
    }

    ObjectNode document() {
        ObjectNode document =
                Json.object().put("name", name).put("result", word()).put("detail", detail);
        return fix.isEmpty() ? document : document.put("fix", fix);
    }
}
