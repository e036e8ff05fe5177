package dev.semel.server.dashboard.page;

import dev.semel.server.http.InProcessApiClient;
import dev.semel.server.http.ServerHttpRequest;
import java.util.List;
import java.util.regex.Pattern;

/** Validates local URLs that the dashboard redirects to, so that a link cannot redirect to another site. */
public final class DashboardRedirectUrlValidator {
    public static final String HOME = "/workflows";
    private static final Pattern LOCAL =
            Pattern.compile("/(?!/)[A-Za-z0-9._~%/@:!$'()*,;+-]*(\\?[A-Za-z0-9._~%/@:!$'()*,;+&=?-]*)?");
    private static final int LONGEST = 1_500;

    private DashboardRedirectUrlValidator() {}

    /** Path and query of the request, without the confirmation message. */
    public static String ofRequest(ServerHttpRequest request) {
        StringBuilder way = new StringBuilder(request.rawPath());
        char sign = '?';
        for (String name : request.queryNames()) {
            for (String value : name.equals("did") ? List.<String>of() : request.queryValues(name)) {
                way.append(sign)
                        .append(InProcessApiClient.encode(name))
                        .append('=')
                        .append(InProcessApiClient.encode(value));
                sign = '&';
            }
        }
        return orHome(way.toString());
    }

    /** The URL if it is local, else the start page. */
    public static String orHome(String way) {
        return way.length() <= LONGEST && LOCAL.matcher(way).matches() ? way : HOME;
    }
}
