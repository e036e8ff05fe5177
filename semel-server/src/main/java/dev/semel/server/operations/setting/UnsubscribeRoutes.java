package dev.semel.server.operations.setting;

import dev.semel.runtime.SemelRuntime;
import dev.semel.server.connectors.notification.UnsubscribeLinks;
import dev.semel.server.http.ServerHttpRequest;
import dev.semel.server.http.ServerHttpResponse;
import dev.semel.server.http.TokenScope;
import dev.semel.server.operations.ApiRouter;
import dev.semel.server.query.ApiErrors;
import dev.semel.server.settings.RecipientTopicSubscriptionStore;
import dev.semel.server.settings.WorkspaceSettingRepositories;
import java.nio.charset.StandardCharsets;

/**
 * Unsubscribes a recipient by the link in a mail (RFC 8058). Only a POST changes something, because mail scanners open
 * links.
 */
public record UnsubscribeRoutes(SemelRuntime semel, WorkspaceSettingRepositories settings, UnsubscribeLinks links) {
    private static final String PAGE = """
        <!doctype html><html lang="en"><head><meta charset="utf-8"><title>Unsubscribe</title>
        <meta name="viewport" content="width=device-width"></head><body><h1>Unsubscribe</h1>
        <p>%s</p>%s</body></html>
        """;
    private static final String BUTTON = "<form method=\"post\"><button type=\"submit\">Unsubscribe</button></form>";

    public void addTo(ApiRouter router) {
        router.router()
                .add("GET", UnsubscribeLinks.PATH + "{token}", TokenScope.OPEN, this::ask)
                .add("POST", UnsubscribeLinks.PATH + "{token}", TokenScope.OPEN, this::unsubscribe);
    }

    private UnsubscribeLinks.OptOut find(ServerHttpRequest request) {
        return ApiErrors.orNotFound(
                links.parse(request.parameter("token")),
                "This unsubscribe link is not valid. No subscription was changed.",
                "Use the whole link from the mail.");
    }

    ServerHttpResponse ask(ServerHttpRequest request) {
        find(request);
        return page("Press the button to receive no more messages of this kind.", BUTTON);
    }

    /** Mail providers send the body `List-Unsubscribe=One-Click`; the link alone decides. A repeat changes nothing. */
    ServerHttpResponse unsubscribe(ServerHttpRequest request) {
        UnsubscribeLinks.OptOut optOut = find(request);
        semel.change(settings.subscriptions()
                .preparePut(new RecipientTopicSubscriptionStore.SubscriptionChange(
                        optOut.workspace(), optOut.address(), optOut.topic(), false, "unsubscribe link")));
        return page("You are unsubscribed.", "");
    }

    private static ServerHttpResponse page(String text, String form) {
        byte[] body = PAGE.formatted(text, form).getBytes(StandardCharsets.UTF_8);
        return ServerHttpResponse.of(200, "text/html; charset=utf-8", body)
                .with("Content-Security-Policy", "default-src 'none'; form-action 'self'; frame-ancestors 'none'")
                .with("Cache-Control", "no-store")
                .with("Referrer-Policy", "no-referrer");
    }
}
