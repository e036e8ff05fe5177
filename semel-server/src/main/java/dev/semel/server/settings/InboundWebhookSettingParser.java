package dev.semel.server.settings;

import dev.semel.server.files.yaml.DurationFormat;
import dev.semel.server.settings.InboundWebhookSetting.Signature;
import dev.semel.server.settings.InboundWebhookSetting.ValueLocation;
import dev.semel.server.settings.InboundWebhookSetting.VerificationMethod;
import dev.semel.store.InboundWebhookDelivery;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

final class InboundWebhookSettingParser {
    private static final List<String> PRESETS = InboundWebhookSetting.PRESETS;

    private static final Pattern HEADER = Pattern.compile("[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}");
    private static final Pattern POINTER = Pattern.compile("(/([^~/]|~[01])*)+");
    private static final Pattern PLACEHOLDER = Pattern.compile("\\{[^{}]*\\}");
    private static final List<String> PLACEHOLDERS = List.of("{body}", "{timestamp}", "{id}");
    private static final Duration USUAL_KEEP = Duration.ofDays(7);
    private static final Duration LONGEST_KEEP = Duration.ofDays(365);
    private static final Duration LONGEST_TOLERANCE = Duration.ofHours(24);
    private static final int MOST_SECRETS = 4;
    private static final int LONGEST_POINTER = 200;

    private InboundWebhookSettingParser() {}

    static InboundWebhookSetting read(JsonNode node) {
        WorkspaceSettingJsonParser document = WorkspaceSettingJsonParser.of(node);
        if (!document.has("preset")) {
            document.addProblem("preset", "is missing; it must be one of " + String.join(", ", PRESETS));
        }
        String preset = document.choice("preset", PRESETS);
        boolean generic = preset.equals("generic");
        String check = document.choice("check", List.of("signature", "bearer"));
        if (check.equals("bearer") && !preset.equals("cloudevents")) {
            document.addProblem(
                    "check",
                    "may be `bearer` only for the preset `cloudevents`; all other presets require a signature");
        }
        String reuse =
                document.choice("signature_reuse", List.of("replay", "replay_same_type", "flag", "reject", "allow"));
        Duration keep = duration(document, "keep", LONGEST_KEEP);
        InboundWebhookSetting webhook = new InboundWebhookSetting(
                preset,
                document.has("source") ? document.line("source", 128) : "",
                secrets(document),
                VerificationMethod.valueOf(check.toUpperCase(Locale.ROOT)),
                duration(document, "tolerance", LONGEST_TOLERANCE),
                InboundWebhookDelivery.SignatureReuse.valueOf(reuse.toUpperCase(Locale.ROOT)),
                keep == null ? USUAL_KEEP : keep,
                generic ? signature(document.object("signature")) : null,
                document.has("id") || generic ? where(document.object("id")) : null,
                document.has("type") ? where(document.object("type")) : null,
                document.has("reply") ? reply(document.object("reply")) : null,
                verifyToken(document, preset));
        if (preset.equals("cloudevents") && webhook.reply() != null) {
            document.addProblem("reply", "is not supported for cloudevents");
        }
        document.rejectUnknownMembers();
        document.throwIfInvalid("webhook");
        rejectUnsignedFields(document, webhook);
        return webhook;
    }

    /** The body and timestamp must be signed, and a signed id must come from its header. */
    private static void rejectUnsignedFields(WorkspaceSettingJsonParser document, InboundWebhookSetting webhook) {
        Signature signature = webhook.signature();
        if (signature == null) {
            return;
        }
        String template = signature.template();
        boolean timed = template.contains("{timestamp}");
        if (template.indexOf("{body}") < 0 || template.indexOf("{body}") != template.lastIndexOf("{body}")) {
            document.addProblem(
                    "signature", "needs {body} exactly once in its template, so that the signature covers the body");
        } else if (timed != (signature.timestampHeader() != null)) {
            document.addProblem("signature", "needs both timestamp_header and {timestamp} in its template, or neither");
        } else if (!timed && webhook.tolerance() != null) {
            document.addProblem(
                    "tolerance", "needs a signed timestamp: timestamp_header, and {timestamp} in the template");
        }
        PLACEHOLDER
                .matcher(template)
                .results()
                .map(MatchResult::group)
                .filter(found -> !PLACEHOLDERS.contains(found))
                .forEach(found -> document.addProblem(
                        "signature",
                        "has the unknown placeholder " + found + " in its template; known placeholders: "
                                + String.join(", ", PLACEHOLDERS)));
        ValueLocation id = webhook.id();
        if (template.contains("{id}") && (id == null || id.header() == null)) {
            document.addProblem("id", "must be a header if the template signs {id}");
        }
        document.throwIfInvalid("webhook");
    }

    /** Meta sends it back when it verifies the URL, so the preset is useless without it. */
    private static @Nullable String verifyToken(WorkspaceSettingJsonParser document, String preset) {
        boolean meta = preset.equals("meta");
        if (document.has("verify_token") != meta) {
            document.addProblem(
                    "verify_token",
                    meta
                            ? "is missing; it must be the name of the secret with the verify token that you enter at"
                                    + " Meta"
                            : "is allowed only for the preset `meta`");
        }
        String name = document.has("verify_token") ? document.line("verify_token", 64) : null;
        if (name != null && !WorkspaceSettingNameValidator.isValid(name)) {
            document.addProblem("verify_token", "must be the name of a secret, not its value");
        }
        return name;
    }

    private static List<String> secrets(WorkspaceSettingJsonParser document) {
        JsonNode list = document.any("secrets");
        List<String> names = new ArrayList<>();
        if (list == null || !list.isArray() || list.isEmpty() || list.size() > MOST_SECRETS) {
            document.addProblem("secrets", "must be a list of 1 to " + MOST_SECRETS + " secret names");
            return names;
        }
        for (JsonNode one : list) {
            if (one.isString() && WorkspaceSettingNameValidator.isValid(one.stringValue())) {
                names.add(one.stringValue());
            } else {
                document.addProblem(
                        "secrets",
                        "must contain names of secrets, not their values: store one with `semel secret set`");
            }
        }
        if (new HashSet<>(names).size() < names.size()) {
            document.addProblem("secrets", "contains a name twice");
        }
        return List.copyOf(names);
    }

    private static Signature signature(WorkspaceSettingJsonParser signature) {
        Signature read = new Signature(
                header(signature, "header"),
                signature.choice("algorithm", List.of("sha256", "sha1", "sha512")),
                signature.choice("encoding", List.of("hex", "base64")),
                signature.has("prefix") ? signature.line("prefix", 32) : "",
                signature.has("template") ? signature.text("template", 200) : "{body}",
                signature.has("timestamp_header") ? header(signature, "timestamp_header") : null);
        signature.rejectUnknownMembers();
        return read;
    }

    private static ValueLocation where(WorkspaceSettingJsonParser location) {
        String header = location.has("header") ? header(location, "header") : null;
        String pointer = location.has("pointer") ? pointer(location, "pointer") : null;
        if (location.has("header") == location.has("pointer")) {
            location.addProblem("header", "must be set, or pointer instead, but not both");
        }
        location.rejectUnknownMembers();
        return new ValueLocation(header, pointer);
    }

    private static InboundWebhookSetting.ReplyFields reply(WorkspaceSettingJsonParser reply) {
        var read = new InboundWebhookSetting.ReplyFields(pointer(reply, "from"), pointer(reply, "text"));
        reply.rejectUnknownMembers();
        return read;
    }

    private static String header(WorkspaceSettingJsonParser document, String member) {
        String name = document.line(member, 100);
        if (!name.isEmpty() && !HEADER.matcher(name).matches()) {
            document.addProblem(member, "must be a header name");
        }
        return name;
    }

    private static String pointer(WorkspaceSettingJsonParser document, String member) {
        String pointer = document.line(member, LONGEST_POINTER);
        if (!pointer.isEmpty() && !POINTER.matcher(pointer).matches()) {
            document.addProblem(member, "must be a JSON pointer such as /data/id");
        }
        return pointer;
    }

    private static @Nullable Duration duration(WorkspaceSettingJsonParser document, String member, Duration longest) {
        String text = document.optionalLine(member, 12);
        if (text == null) {
            return null;
        }
        Duration length = DurationFormat.parse(text).orElse(Duration.ZERO);
        if (length.compareTo(Duration.ofSeconds(1)) < 0 || length.compareTo(longest) > 0) {
            document.addProblem(
                    member, "must be a duration such as 30s, 5m or 7d, and at most " + DurationFormat.format(longest));
            return null;
        }
        return length;
    }
}
