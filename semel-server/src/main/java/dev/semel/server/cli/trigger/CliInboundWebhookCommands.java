package dev.semel.server.cli.trigger;

import dev.semel.server.cli.command.CliApiCommand;
import dev.semel.server.cli.command.CliApiRequest;
import dev.semel.server.cli.command.CliCommandOutput;
import dev.semel.server.cli.command.CliListCommand;
import dev.semel.server.cli.command.CliListDefinition;
import dev.semel.server.cli.command.CliServerConnectionOptions;
import dev.semel.server.cli.command.TerminalJsonFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

public final class CliInboundWebhookCommands {
    private CliInboundWebhookCommands() {}

    /** Prints the URL for the provider, and warnings. */
    private static int show(CliCommandOutput output, CliServerConnectionOptions connection, JsonNode webhook) {
        return output.print(webhook, () -> {
            output.printLine("webhook " + TerminalJsonFormatter.text(webhook, "name") + " v"
                    + TerminalJsonFormatter.text(webhook, "version"));
            output.printLine(connection.api().address() + TerminalJsonFormatter.text(webhook, "path"));
            output.printWarnings(webhook);
        });
    }

    @Command(
            name = "create",
            description = "Creates a webhook and prints the URL for the provider.",
            footer = "  semel webhook create stripe --preset stripe --secret stripe_signing")
    public static final class WebhookCreateCommand extends CliApiCommand {
        @Parameters(
                paramLabel = "NAME",
                description = "Name of the webhook. Its events have this name as their source.")
        String name = "";

        @Option(
                names = "--preset",
                required = true,
                paramLabel = "PRESET",
                description =
                        "stripe, github, shopify, slack, standard or cloudevents. To create a generic webhook, use PUT"
                                + " /v1/webhooks/NAME.")
        String preset = "";

        @Option(
                names = "--secret",
                required = true,
                paramLabel = "SECRET",
                description = "Name of a secret that `semel secret set` stored; repeatable during a rotation.")
        List<String> secrets = new ArrayList<>();

        @Option(
                names = "--signature-reuse",
                paramLabel = "POLICY",
                description =
                        "What to do if a signature repeats under another id or type: replay, replay_same_type, flag,"
                                + " reject or allow. Only for presets that do not sign both. Default: replay.")
        String reuse = "";

        @Option(names = "--keep", paramLabel = "TIME", description = "How long the server keeps payloads, such as 7d.")
        String keep = "";

        @Option(names = "--bearer", description = "Authenticate CloudEvents by a bearer token instead of a signature.")
        boolean bearer;

        @Override
        public Integer call() {
            ObjectNode document = TerminalJsonFormatter.newObject().put("preset", preset);
            secrets.forEach(document.putArray("secrets")::add);
            TerminalJsonFormatter.putText(document, "signature_reuse", reuse);
            TerminalJsonFormatter.putText(document, "keep", keep);
            TerminalJsonFormatter.putText(document, "check", bearer ? "bearer" : "");
            CliApiRequest put =
                    CliApiRequest.put("v1", "webhooks", name).withJson(document).withExpectedVersion(0);
            return show(output, connection, send(put));
        }
    }

    @Command(name = "list", description = "Lists webhooks with their URLs.")
    public static final class WebhookListCommand extends CliListCommand {
        @Override
        protected CliListDefinition listDefinition() {
            return CliListDefinition.of(
                            CliApiRequest.get("v1", "webhooks"),
                            "webhook list",
                            "no webhooks. Create one: semel webhook create NAME --preset stripe --secret SECRET")
                    .addText("WEBHOOK", "name")
                    .addColumn("PRESET", item -> TerminalJsonFormatter.text(item.path("document"), "preset"))
                    .addColumn(
                            "SECRETS",
                            item -> TerminalJsonFormatter.texts(item.at("/document/secrets"))
                                    .collect(Collectors.joining(", ")))
                    .addColumn("URL", item -> connection.address() + TerminalJsonFormatter.text(item, "path"));
        }
    }

    @Command(
            name = "rotate",
            description = "Adds a secret. The webhook then accepts the new secret and the secret before it. With"
                    + " --address, gives the webhook a new URL instead.")
    public static final class WebhookRotateCommand extends CliApiCommand {
        @Parameters(paramLabel = "NAME")
        String name = "";

        @Option(names = "--secret", paramLabel = "SECRET", description = "Name of the new secret.")
        String secret = "";

        @Option(names = "--only", description = "Accept only the newest secret; this ends the rotation.")
        boolean only;

        @Option(names = "--address", description = "Give the webhook a new URL; the old one stops working.")
        boolean address;

        @Override
        public Integer call() {
            if (secret.isEmpty() && !only && !address) {
                throw usage("Missing option: --secret, --only or --address.");
            }
            JsonNode now = send(CliApiRequest.get("v1", "webhooks", name));
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
            names.forEach(document.putArray("secrets")::add);
            CliApiRequest put = CliApiRequest.put("v1", "webhooks", name)
                    .withJson(document)
                    .withFlag("new_source", address)
                    .withExpectedVersion(now.path("version").asInt(0));
            return show(output, connection, send(put));
        }
    }
}
