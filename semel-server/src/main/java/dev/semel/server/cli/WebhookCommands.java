package dev.semel.server.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** The commands of `semel webhook` that create, list and rotate webhooks: the URLs that receive provider events. */
final class WebhookCommands {
    private WebhookCommands() {}

    /** Prints the URL for the provider, and warnings. */
    private static int show(CommandOutput output, ServerConnectionOptions connection, JsonNode webhook) {
        if (output.json) {
            output.printJson(webhook);
            return ExitCode.OK;
        }
        output.printLine(
                "webhook " + TerminalJson.text(webhook, "name") + " v" + TerminalJson.text(webhook, "version"));
        output.printLine(connection.api().address() + TerminalJson.text(webhook, "path"));
        for (JsonNode warning : webhook.path("warnings")) {
            output.printMessage("warning: " + TerminalJson.sanitize(warning.asString("")));
        }
        return ExitCode.OK;
    }

    @Command(
            name = "create",
            description = "Creates a webhook and prints the URL for the provider.",
            footerHeading = "%nExample:%n",
            footer = "  semel webhook create stripe --preset stripe --secret stripe_signing")
    static final class WebhookCreateCommand extends ApiCommand {
        @Parameters(paramLabel = "NAME", description = "Name of the webhook, and the source of its events.")
        String name = "";

        @Option(
                names = "--preset",
                required = true,
                paramLabel = "PRESET",
                description =
                        "stripe, github, shopify, slack, standard or cloudevents. For generic: PUT /v1/webhooks/NAME.")
        String preset = "";

        @Option(
                names = "--secret",
                required = true,
                paramLabel = "SECRET",
                description = "Name of a secret, see `semel secret set`; repeatable during a rotation.")
        List<String> secrets = new ArrayList<>();

        @Option(
                names = "--signature-reuse",
                paramLabel = "POLICY",
                description = "flag, reject or allow a signature that repeats under another id, if ids are not signed.")
        String reuse = "";

        @Option(names = "--keep", paramLabel = "TIME", description = "Retention of payloads, such as 7d.")
        String keep = "";

        @Option(names = "--bearer", description = "Authenticate CloudEvents by a bearer token instead of a signature.")
        boolean bearer;

        WebhookCreateCommand(CommandEnvironment environment) {
            super(environment);
        }

        @Override
        public Integer call() {
            ObjectNode document = TerminalJson.newObject().put("preset", preset);
            secrets.forEach(document.putArray("secrets")::add);
            if (!reuse.isEmpty()) {
                document.put("signature_reuse", reuse);
            }
            if (!keep.isEmpty()) {
                document.put("keep", keep);
            }
            if (bearer) {
                document.put("check", "bearer");
            }
            ApiRequest put = ApiRequest.put(
                    ApiRequest.path("v1", "webhooks", name),
                    "application/json",
                    TerminalJson.compactForRequest(document));
            return show(output, connection, send(SettingCommands.withExpectedVersion(put, 0)));
        }
    }

    @Command(name = "list", description = "Lists webhooks with their URLs.")
    static final class WebhookListCommand extends ListCommand {
        WebhookListCommand(CommandEnvironment environment) {
            super(environment);
        }

        @Override
        ListDefinition listDefinition() {
            return ListDefinition.of(
                            ApiRequest.get(ApiRequest.path("v1", "webhooks")),
                            "webhook list",
                            "no webhooks. Create one: semel webhook create NAME --preset stripe --secret SECRET")
                    .addText("WEBHOOK", "name")
                    .addColumn("PRESET", item -> TerminalJson.text(item.path("document"), "preset"))
                    .addColumn("SECRETS", item -> secrets(item.at("/document/secrets")))
                    .addColumn("URL", item -> connection.address() + TerminalJson.text(item, "path"));
        }

        private static String secrets(JsonNode list) {
            return list.valueStream()
                    .map(secret -> TerminalJson.sanitize(secret.asString("")))
                    .collect(Collectors.joining(", "));
        }
    }

    @Command(
            name = "rotate",
            description = "Accepts a new secret beside the newest one. With --address, gives the webhook a new"
                    + " URL instead.")
    static final class WebhookRotateCommand extends ApiCommand {
        @Parameters(paramLabel = "NAME")
        String name = "";

        @Option(names = "--secret", paramLabel = "SECRET", description = "Name of the new secret.")
        String secret = "";

        @Option(names = "--only", description = "Accept only the newest secret; this ends the rotation.")
        boolean only;

        @Option(names = "--address", description = "Give the webhook a new URL; the old one stops working.")
        boolean address;

        WebhookRotateCommand(CommandEnvironment environment) {
            super(environment);
        }

        @Override
        public Integer call() {
            if (secret.isEmpty() && !only && !address) {
                throw usage("Missing option: --secret, --only or --address.");
            }
            String path = ApiRequest.path("v1", "webhooks", name);
            JsonNode now = send(ApiRequest.get(path));
            ObjectNode document = (ObjectNode) now.path("document").deepCopy();
            List<String> names = new ArrayList<>();
            if (!secret.isEmpty()) {
                names.add(secret);
            }
            now.at("/document/secrets").forEach(one -> {
                boolean wanted = only ? names.isEmpty() : names.size() < 2;
                if (wanted && !names.contains(one.asString(""))) {
                    names.add(one.asString(""));
                }
            });
            var list = document.putArray("secrets");
            names.forEach(list::add);
            ApiRequest put = ApiRequest.put(path, "application/json", TerminalJson.compactForRequest(document))
                    .withQuery("new_source", address ? "true" : "");
            int version = now.path("version").asInt(0);
            return show(output, connection, send(SettingCommands.withExpectedVersion(put, version)));
        }
    }
}
