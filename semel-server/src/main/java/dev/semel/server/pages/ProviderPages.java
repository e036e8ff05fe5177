package dev.semel.server.pages;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.server.auth.People;
import dev.semel.server.auth.Voucher;
import dev.semel.server.http.Answer;
import dev.semel.server.http.Request;
import dev.semel.server.http.Router;
import dev.semel.server.http.Scope;

/**
 * The log-in through an OIDC identity provider. Starts from links, not forms, because the content security policy
 * blocks forms that redirect to another site.
 */
final class ProviderPages {
    private final People users;
    private final Door guard;

    ProviderPages(People users, Door guard) {
        this.users = users;
        this.guard = guard;
    }

    void addTo(Router router) {
        router.add("GET", "/login/oidc", Scope.OPEN, guard.open(this::begin))
                .add("GET", "/login/oidc/callback", Scope.OPEN, guard.open(this::finish))
                .add("GET", "/login/oidc/leave", Scope.OPEN, guard.open(_ -> leave()));
    }

    private Answer begin(Request request) {
        String next = request.query("next");
        Voucher.Outset outset = provider().begin(Way.local(next == null ? "" : next));
        return Look.goTo(outset.address()).with("Set-Cookie", Cookies.onTheWay(request, outset.cookie()));
    }

    /** Always creates a new session, which prevents session fixation. */
    private Answer finish(Request request) {
        Voucher provider = provider();
        Voucher.Arrival arrival = provider.finish(Cookies.of(request, Cookies.ON_THE_WAY), request::query);
        String cookie = users.enter(provider.workspace(), arrival.who(), request.remoteAddress());
        return Look.goTo(Way.local(arrival.next()))
                .with("Set-Cookie", Cookies.session(request, cookie))
                .with("Set-Cookie", Cookies.onTheWay(request, ""));
    }

    private Answer leave() {
        String there = provider().farewell();
        return Look.goTo(there == null ? "/login" : there);
    }

    private Voucher provider() {
        Voucher provider = users.voucher();
        if (provider == null) {
            throw new SemelException(
                    ErrorCode.NOT_FOUND,
                    "This server has no identity provider. You are not logged in.",
                    "Log in with name and password.");
        }
        return provider;
    }
}
