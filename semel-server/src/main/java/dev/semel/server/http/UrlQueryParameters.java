package dev.semel.server.http;

import java.util.ArrayList;
import java.util.List;

/**
 * The decoded query parameters of a request, in order, including repeated names.
 *
 * @param raw the query as received
 */
public record UrlQueryParameters(String raw, List<Parameter> parameters) {
    static final UrlQueryParameters NONE = new UrlQueryParameters("", List.of());
    private static final int MAX_PARAMETERS = 64;

    public static UrlQueryParameters parse(String raw) {
        if (raw.isEmpty()) {
            return NONE;
        }
        List<Parameter> out = new ArrayList<>(4);
        for (int from = 0; from <= raw.length(); ) {
            int end = raw.indexOf('&', from);
            int to = end < 0 ? raw.length() : end;
            if (to > from) {
                out.add(Parameter.parse(raw.substring(from, to)));
            }
            if (out.size() > MAX_PARAMETERS) {
                throw PercentDecoder.malformed("The query has more than " + MAX_PARAMETERS + " parameters.");
            }
            from = to + 1;
        }
        return new UrlQueryParameters(raw, List.copyOf(out));
    }

    List<String> values(String name) {
        List<String> out = new ArrayList<>(1);
        for (Parameter parameter : parameters) {
            if (parameter.name.equals(name)) {
                out.add(parameter.value);
            }
        }
        return out;
    }

    List<String> names() {
        return parameters.stream().map(Parameter::name).distinct().toList();
    }

    record Parameter(String name, String value) {
        static Parameter parse(String raw) {
            int equals = raw.indexOf('=');
            return equals < 0
                    ? new Parameter(PercentDecoder.decodeQueryPart(raw), "")
                    : new Parameter(
                            PercentDecoder.decodeQueryPart(raw.substring(0, equals)),
                            PercentDecoder.decodeQueryPart(raw.substring(equals + 1)));
        }
    }
}
