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
 * The way through an identity provider, and back. Links and not forms lead there: the policy of these pages lets forms
 * go nowhere else, also not by a redirect.
 */
final class ProviderPages {
    private final People people;
    private final Door door;

    ProviderPages(People people, Door door) {
        this.people = people;
        this.door = door;
    }

    void addTo(Router router) {
        router.add("GET", "/login/oidc", Scope.OPEN, door.open(this::begin))
                .add("GET", "/login/oidc/callback", Scope.OPEN, door.open(this::finish))
                .add("GET", "/login/oidc/leave", Scope.OPEN, door.open(_ -> leave()));
    }

    private Answer begin(Request request) {
        String next = request.query("next");
        Voucher.Outset outset = provider().begin(Way.local(next == null ? "" : next));
        return Look.goTo(outset.address()).with("Set-Cookie", Cookies.onTheWay(request, outset.cookie()));
    }

    /** Whatever session the browser had before, it gets a new one: nobody can give it theirs beforehand. */
    private Answer finish(Request request) {
        Voucher provider = provider();
        Voucher.Arrival arrival = provider.finish(Cookies.of(request, Cookies.ON_THE_WAY), request::query);
        String cookie = people.enter(provider.workspace(), arrival.who(), request.remoteAddress());
        return Look.goTo(Way.local(arrival.next()))
                .with("Set-Cookie", Cookies.session(request, cookie))
                .with("Set-Cookie", Cookies.onTheWay(request, ""));
    }

    private Answer leave() {
        String there = provider().farewell();
        return Look.goTo(there == null ? "/login" : there);
    }

    private Voucher provider() {
        Voucher provider = people.voucher();
        if (provider == null) {
            throw new SemelException(
                    ErrorCode.NOT_FOUND,
                    "This server knows no identity provider. You are not logged in.",
                    "Log in with a name and a password.");
        }
        return provider;
    }
}
