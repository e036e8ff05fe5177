package dev.semel.trials.documents;

/** Every route to settings, asked as the description says. */
final class SettingsApiCalls {
    private SettingsApiCalls() {}

    static void ask(OpenApiClient asking) throws Exception {
        asking.without();
        secrets(asking);
        documents(asking);
        people(asking);
    }

    private static void secrets(OpenApiClient asking) throws Exception {
        asking.ask(200, "PUT", "/v1/secrets/{name}", "{\"value\":\"hunter22\"}");
        asking.with("Idempotency-Key", "secret_1").ask(200, "PUT", "/v1/secrets/{name}", "{\"value\":\"hunter23\"}");
        asking.ask(200, "PUT", "/v1/secrets/{name}", "{\"value\":\"hunter23\"}");
        asking.ask(422, "PUT", "/v1/secrets/{name}", "{\"value\":\"hunter24\"}");
        asking.without().with("If-Match", "\"9\"").ask(412, "PUT", "/v1/secrets/{name}", "{\"value\":\"hunter25\"}");
        asking.without().ask(400, "PUT", "/v1/secrets/{name}", "{\"value\":1}");
        asking.ask(200, "GET", "/v1/secrets", "");
        asking.ask(200, "GET", "/v1/secrets/{name}", "");
        asking.ask(200, "DELETE", "/v1/secrets/{name}", "");
        asking.ask(404, "GET", "/v1/secrets/{name}", "");
    }

    private static void documents(OpenApiClient asking) throws Exception {
        document(asking, "/v1/templates", "{name}", "{\"channel\":\"sms\",\"text\":\"Hello {{ name }}\"}");
        asking.ask(200, "GET", "/v1/templates/{name}/versions", "");
        asking.ask(200, "GET", "/v1/templates/{name}/versions/{version}", "");
        document(asking, "/v1/channels", "{name}", "{\"kind\":\"chat\",\"url_secret\":\"room\"}");
        document(
                asking,
                "/v1/routes",
                "{event}",
                "{\"event\":\"lead.welcome\",\"channels\":[{\"channel\":\"one\",\"template\":\"one\"}]}");
        document(
                asking,
                "/v1/alerts",
                "{name}",
                "{\"metric\":\"conflict_rate\",\"above\":0.1,\"channel\":\"room\",\"to\":\"ops\"}");
        asking.ask(200, "GET", "/v1/alerts/{name}/state", "");
        document(asking, "/v1/views", "{name}", "{\"filter\":\"status:failed since:24h\"}");
        document(asking, "/v1/cohorts", "{name}", "{\"description\":\"Those who pay\"}");
    }

    private static void document(OpenApiClient asking, String path, String name, String body) throws Exception {
        String one = path + "/" + name;
        String another = body.replace("Hello", "Hi")
                .replace("room", "hall")
                .replace("template\":\"one", "template\":\"two")
                .replace("pay", "paid")
                .replace("24h", "1h");
        asking.ask(200, "PUT", one, body);
        asking.with("If-None-Match", "*").ask(412, "PUT", one, another);
        asking.without().ask(400, "PUT", one, "[]");
        asking.ask(200, "GET", one, "");
        asking.ask(200, "GET", path + "?limit=1", "");
        asking.ask(200, "DELETE", one, "");
        asking.ask(404, "GET", one, "");
        asking.ask(200, "PUT", one, body);
    }

    private static void people(OpenApiClient asking) throws Exception {
        String profile = "{\"email\":\"Anna@Example.com\",\"phone\":\"+4930123456\",\"attributes\":{\"plan\":\"pro\"}}";
        asking.ask(200, "PUT", "/v1/profiles/{profile}", profile);
        asking.ask(200, "PUT", "/v1/profiles/{profile}/subscriptions/{topic}", "{\"subscribed\":false}");
        asking.ask(400, "PUT", "/v1/profiles/{profile}/subscriptions/{topic}", "{}");
        asking.ask(200, "PUT", "/v1/cohorts/{name}/members/{profile}", "{}");
        asking.ask(200, "GET", "/v1/cohorts/{name}/members", "");
        asking.ask(200, "GET", "/v1/profiles?email=anna%40example.com", "");
        asking.ask(200, "GET", "/v1/profiles/{profile}", "");
        asking.ask(200, "POST", "/v1/profiles/{profile}/reveal", "{\"reason\":\"a test\"}");
        asking.ask(400, "POST", "/v1/profiles/{profile}/reveal", "{}");
        asking.ask(200, "DELETE", "/v1/cohorts/{name}/members/{profile}", "");
        asking.ask(200, "DELETE", "/v1/profiles/{profile}", "");
        asking.ask(404, "GET", "/v1/profiles/{profile}", "");
    }
}
