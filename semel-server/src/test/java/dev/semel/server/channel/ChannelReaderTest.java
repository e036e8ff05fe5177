package dev.semel.server.channel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.error.SemelException;
import dev.semel.json.Json;
import java.io.IOException;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ChannelReaderTest {
    @ParameterizedTest
    @CsvSource(
            delimiter = '~',
            quoteCharacter = '\u0001',
            value = {
                "{} ~ /kind is missing",
                "{'kind':'fax'} ~ /kind is not one of chat, email, sms, webhook, whatsapp",
                "{'kind':'email'} ~ /smtp is not an object",
                "{'kind':'email','smtp':{'from':'a@b.example'}} ~ /smtp/host is missing",
                "{'kind':'email','smtp':{'host':'h'}} ~ /smtp/from is missing",
                "{'kind':'email','smtp':{'host':'h','from':'a, b'}} ~ /smtp/from is not one mail address",
                "{'kind':'email','smtp':{'host':'h','from':'a@b.example','port':70000}} ~ /smtp/port is not",
                "{'kind':'email','smtp':{'host':'h','from':'a@b.example','security':'ssl'}} ~ /smtp/security is not one of none, starttls, tls",
                "{'kind':'email','smtp':{'host':'h','from':'a@b.example','user':'u'}} ~ /smtp/user and password_secret",
                "{'kind':'email','smtp':{'host':'h','from':'a@b.example','password':'x'}} ~ /smtp/password is not known here",
                "{'kind':'email','smtp':{'host':'h','from':'a@b.example','user':'u','password_secret':'P','security':'none'}} ~ /smtp/security is none",
                "{'kind':'email','smtp':{'host':'h','from':'a@b.example','timeout':'1y'}} ~ /smtp/timeout is not a duration",
                "{'kind':'email','smtp':{'host':'h','from':'a@b.example'},'honours':['provider_key']} ~ /honours has more than",
                "{'kind':'chat'} ~ /url or url_secret",
                "{'kind':'chat','url':'https://a.example','url_secret':'S'} ~ /url or url_secret",
                "{'kind':'chat','url':'ftp://a.example'} ~ /url does not begin",
                "{'kind':'chat','url':'https://a.example/${ input.x }'} ~ /url does not begin",
                "{'kind':'chat','url':'https://a.example','headers':{'Host':'b'}} ~ /headers sets a header",
                "{'kind':'chat','url':'https://a.example','headers':{'Idempotency-Key':'b'}} ~ /headers sets a header",
                "{'kind':'chat','url':'https://a.example','headers':{'X-A':'${ input.x }'}} ~ /headers has a value",
                "{'kind':'chat','url':'https://a.example','honours':['lookup']} ~ /honours is not made of",
                "{'kind':'chat','url':'https://a.example','honours':['provider_key']} ~ /honours has provider_key",
                "{'kind':'chat','url':'https://a.example','honours':['provider_key'],'provider_window':'1h','key_header':'none'} ~ /honours has provider_key",
                "{'kind':'chat','url':'https://a.example','method':'GET'} ~ /method is not one of POST, PUT",
                "{'kind':'sms','http':{'url':'https://a.example'}} ~ /http/body is missing",
                "{'kind':'sms','http':{'url':'https://a.example','body':{'a':[{'b':'x {{ 7*7 }}'}]}}} ~ /http/body/a/0/b, line 1, column 3: this is not a value",
                "{'kind':'sms','http':{'url':'https://a.example','body':'x'}} ~ /http/body is not an object",
                "{'kind':'sms','http':{'url':'https://a.example','form':{'a':{}}}} ~ /http/form is not an object of plain values",
                "{'kind':'sms','http':{'url':'https://a.example','form':{},'body':{}}} ~ /http/form and body",
                "{'kind':'sms','http':{'url':'https://a.example','body':{},'message_id':'id'}} ~ /http/message_id is not a JSON Pointer",
                "{'kind':'webhook','url':'https://a.example','sign_secrets':'S'} ~ /sign_secrets is not a list of texts",
            })
    void what_is_wrong_with_a_channel_has_a_pointer(String document, String expected) throws IOException {
        SemelException refused = assertThrows(SemelException.class, () -> read(document));
        assertTrue(refused.detail().contains(expected.strip()), refused::detail);
        assertTrue(refused.detail().endsWith("Nothing was changed or sent."), refused::detail);
    }

    @Test
    void every_mistake_is_told_at_once() {
        SemelException refused = assertThrows(
                SemelException.class, () -> read("{'kind':'email','smtp':{'port':0,'security':'x','nope':1}}"));
        assertEquals(5, ((List<?>) refused.members().getOrDefault("errors", List.of())).size(), refused::detail);
    }

    @Test
    void smtp_honours_what_smtp_can() throws IOException {
        Channel mail = read("{'kind':'email','smtp':{'host':'h','from':'Acme <a@b.example>','user':'u',"
                + "'password_secret':'P','timeout':'30s'},'honours':['ask']}");
        assertEquals(Set.of("at_most_once", "ask"), mail.honours());
        assertEquals(Medium.EMAIL, mail.medium());
        assertEquals(Set.of("from", "reply_to"), mail.overrides());
    }

    private static Channel read(String document) throws IOException {
        try (var post = new Post()) {
            return ChannelReader.read(
                    "test",
                    Json.parse(document.strip().replace('\'', '"')),
                    new ChannelReader.Ports(post.line(), (step, call) -> Json.parse("{}")));
        }
    }
}
