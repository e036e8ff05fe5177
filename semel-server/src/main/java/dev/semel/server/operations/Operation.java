package dev.semel.server.operations;

import dev.semel.json.StrictJsonCodec;
import dev.semel.server.http.HttpRoute;
import dev.semel.server.http.ServerHttpResponse;
import dev.semel.server.http.TokenScope;
import dev.semel.server.query.view.Page;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/**
 * An operation of the API, declared once. The router, the OpenAPI description, the reference page and the command come
 * from this declaration.
 *
 * @param <R> the record of the response body; {@link Void} if the body is no JSON object
 */
public final class Operation<R> {
    private static final Pattern IN_PATH = Pattern.compile("\\{([a-z_]+)}");

    final Declaration declared;
    final ResponseBody response;

    private Operation(Declaration declared, ResponseBody response) {
        this.declared = declared;
        this.response = response;
        List<String> described = declared.parameters.stream()
                .filter(one -> one.place() == Parameter.Place.PATH)
                .map(Parameter::name)
                .toList();
        Matcher named = IN_PATH.matcher(declared.path);
        if (!named.results().map(found -> found.group(1)).toList().equals(described)) {
            throw new IllegalArgumentException(this + " must describe the parameters of its path, in their order");
        }
    }

    /**
     * @param type the record of the body, or of the rows of a page; null for a text
     * @param mediaTypes the media type, and a second one for the same record line by line
     */
    record ResponseBody(@Nullable Class<?> type, boolean page, List<String> mediaTypes, String description) {}

    record RequestBody(Class<?> type, boolean required, String description) {}

    public static Declaration get(String id, String path, TokenScope scope) {
        return new Declaration("GET", id, path, scope);
    }

    public static Declaration post(String id, String path, TokenScope scope) {
        return new Declaration("POST", id, path, scope);
    }

    public static Declaration put(String id, String path, TokenScope scope) {
        return new Declaration("PUT", id, path, scope);
    }

    public static Declaration delete(String id, String path, TokenScope scope) {
        return new Declaration("DELETE", id, path, scope);
    }

    public String id() {
        return declared.id;
    }

    public String method() {
        return declared.method;
    }

    /** The pattern of the path, such as `/v1/runs/{run_id}`. */
    public String path() {
        return declared.path;
    }

    public TokenScope scope() {
        return declared.scope;
    }

    /** Null if no command is made from this operation. */
    public @Nullable CommandDeclaration command() {
        return declared.command;
    }

    public List<Parameter> parameters() {
        return List.copyOf(declared.parameters);
    }

    public boolean changes() {
        return !declared.method.equals("GET");
    }

    /** The response with this record as its body. */
    public ServerHttpResponse respond(R body) {
        return ServerHttpResponse.json(200, StrictJsonCodec.bytes(toJson(body)));
    }

    /** The record as JSON, for a response that is stored. */
    public ObjectNode toJson(R body) {
        return ViewJson.of((Object) body);
    }

    @Override
    public String toString() {
        return declared.method + " " + declared.path;
    }

    /** Collects the parts of an operation; `returns…` ends it. */
    public static final class Declaration {
        final String method;
        final String id;
        final String path;
        final TokenScope scope;
        String tag = "";
        String summary = "";
        String description = "";
        final List<Parameter> parameters = new ArrayList<>();
        final List<String> responseHeaders = new ArrayList<>();
        final Map<Integer, String> problems = new LinkedHashMap<>();

        @Nullable
        RequestBody request;

        @Nullable
        CommandDeclaration command;

        int maxBody = HttpRoute.DEFAULT_BODY;
        boolean cpuBound;
        boolean storesResponse;

        private Declaration(String method, String id, String path, TokenScope scope) {
            this.method = method;
            this.id = id;
            this.path = path;
            this.scope = scope;
        }

        /** The group of the operation in the description. */
        public Declaration tag(String name) {
            this.tag = name;
            return this;
        }

        /** What the operation does, in a few words and as an order: `List runs, newest first`. */
        public Declaration summary(String text) {
            this.summary = text;
            return this;
        }

        /** What a user must know beyond the summary, in sentences. */
        public Declaration description(String text) {
            this.description = text;
            return this;
        }

        public Declaration parameters(Parameter... more) {
            parameters.addAll(List.of(more));
            return this;
        }

        /** The list has pages: adds `limit` and `after`. */
        public Declaration paged() {
            return parameters(Parameter.LIMIT, Parameter.AFTER);
        }

        /** @param type a record with the members of the JSON object */
        public Declaration request(Class<?> type, boolean required, String description) {
            this.request = new RequestBody(type, required, description);
            return this;
        }

        /** @param bytes the largest request body, if it differs from the limit of the server */
        public Declaration maxBody(int bytes) {
            this.maxBody = bytes;
            return this;
        }

        /** The handler computes much and waits for little: the server limits how many run at once. */
        public Declaration cpuBound() {
            this.cpuBound = true;
            return this;
        }

        /** The store keeps the response of a change for requests with the same `Idempotency-Key`. */
        public Declaration storesResponse() {
            this.storesResponse = true;
            return this;
        }

        /** A further error response: its status and its name below `components/responses`. */
        public Declaration problem(int status, String name) {
            problems.put(status, name);
            return this;
        }

        /** A header of the response, by its name below `components/headers`. */
        public Declaration responseHeader(String name) {
            responseHeaders.add(name);
            return this;
        }

        public Declaration command(CommandDeclaration made) {
            this.command = made;
            return this;
        }

        public <R> Operation<R> returns(Class<R> type, String about) {
            return new Operation<>(this, new ResponseBody(type, false, List.of("application/json"), about));
        }

        /** @param row the record of one row */
        public <R> Operation<Page<R>> returnsPage(Class<R> row, String about) {
            return new Operation<>(this, new ResponseBody(row, true, List.of("application/json"), about));
        }

        /** A page, or with the second media type one row per line. */
        public <R> Operation<Page<R>> returnsPageOrLines(Class<R> row, String lines, String about) {
            return new Operation<>(this, new ResponseBody(row, true, List.of("application/json", lines), about));
        }

        public Operation<Void> returnsText(String mediaType, String about) {
            return new Operation<>(this, new ResponseBody(null, false, List.of(mediaType), about));
        }
    }
}
