package openai_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/provider"
	"jp/provider/openai"
)

// refusing answers with a status and a body.
func refusing(status int, body string, headers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		for i := 0; i+1 < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body) // the client may be gone
	}
}

func TestStatuses(t *testing.T) {
	tests := []struct {
		name    string
		status  int
		body    string
		class   provider.Class
		message string
	}{
		{"invalid", 400, `{"error":{"message":"Unknown field.","type":"invalid_request_error","param":"x","code":null}}`, provider.ClassInvalid, "Unknown field."},
		{"context", 400, `{"error":{"message":"Too long.","type":"invalid_request_error","code":"context_length_exceeded"}}`, provider.ClassContext, "Too long."},
		{"context at llama.cpp", 400, `{"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error","n_ctx":4096}}`, provider.ClassContext, "the request exceeds the available context size"},
		{"context in words", 400, `{"object":"error","message":"This model's maximum context length is 8 tokens.","type":"BadRequestError","code":400}`, provider.ClassContext, "This model's maximum context length is 8 tokens."},
		{"state", 400, `{"error":{"message":"The encrypted content for item rs_1 could not be verified.","type":"invalid_request_error","code":"invalid_encrypted_content"}}`, provider.ClassState, "The encrypted content for item rs_1 could not be verified."},
		{"state in words", 400, `{"error":{"message":"Encrypted content could not be verified.","type":"invalid_request_error"}}`, provider.ClassState, "Encrypted content could not be verified."},
		{"too large", 413, ``, provider.ClassContext, ""},
		{"auth", 401, `{"error":{"message":"Incorrect API key provided.","type":"invalid_request_error","code":"invalid_api_key"}}`, provider.ClassAuth, "Incorrect API key provided."},
		{"auth without a code", 401, `{"error":{"message":"No.","type":"invalid_request_error"}}`, provider.ClassAuth, "No."},
		{"forbidden", 403, `{"error":{"message":"Not here.","code":"unsupported_country_region_territory"}}`, provider.ClassAuth, "Not here."},
		{"no money", 402, `{"error":{"message":"Insufficient Balance","code":402}}`, provider.ClassQuota, "Insufficient Balance"},
		{"model", 404, `{"error":{"message":"The model does not exist","code":"model_not_found"}}`, provider.ClassModel, "The model does not exist"},
		{"model at Ollama", 404, `{"error":"model 'm' not found"}`, provider.ClassModel, "model 'm' not found"},
		{"model, as a bad request", 400, `{"error":{"message":"No.","code":"model_not_found"}}`, provider.ClassModel, "No."},
		{"rate", 429, `{"error":{"message":"Slow down.","code":"rate_limit_exceeded"}}`, provider.ClassRateLimit, "Slow down."},
		{"rate in tokens", 429, `{"error":{"message":"too many tokens per minute"}}`, provider.ClassRateLimit, "too many tokens per minute"},
		{"rate at Gemini", 429, `[{"error":{"code":429,"message":"Quota.","status":"RESOURCE_EXHAUSTED"}}]`, provider.ClassRateLimit, "Quota."},
		{"quota", 429, `{"error":{"message":"You exceeded your current quota.","type":"insufficient_quota","code":"insufficient_quota"}}`, provider.ClassQuota, "You exceeded your current quota."},
		{"timeout", 408, ``, provider.ClassTimeout, ""},
		{"validation", 422, `{"detail":[{"msg":"field required"}]}`, provider.ClassInvalid, `field required`},
		{"broken", 500, `{"error":{"message":"Sorry.","type":"server_error"}}`, provider.ClassOverloaded, "Sorry."},
		{"gateway", 502, "<html>Bad Gateway</html>\n", provider.ClassOverloaded, "<html>Bad Gateway</html>"},
		{"full", 503, ``, provider.ClassOverloaded, ""},
		{"full at OpenAI", 503, `{"error":{"message":"Slow down.","code":"slow_down"}}`, provider.ClassOverloaded, "Slow down."},
	}
	for _, tt := range tests {
		for api := range apis {
			t.Run(tt.name+"/"+api, func(t *testing.T) {
				s := serve(t, refusing(tt.status, tt.body))
				chunks, err := ask(t.Context(), apis[api](s.options(openai.Options{})), &provider.Request{Model: "m"})
				require.Empty(t, chunks)
				failure := requireClass(t, tt.class, err)
				require.Equal(t, tt.status, failure.Status)
				require.Equal(t, tt.message, failure.Message)
				require.Len(t, s.bodies, 1, "asked once")
			})
		}
	}
}

func TestRetryAfter(t *testing.T) {
	tests := []struct {
		name    string
		headers []string
		want    time.Duration
	}{
		{"none", nil, 0},
		{"seconds", []string{"Retry-After", "7"}, 7 * time.Second},
		{"parts of a second", []string{"Retry-After", "0.25"}, 250 * time.Millisecond},
		{"milliseconds first", []string{"Retry-After", "7", "Retry-After-Ms", "1500"}, 1500 * time.Millisecond},
		{"date", []string{"Date", "Sat, 21 Nov 2026 13:00:00 GMT", "Retry-After", "Sat, 21 Nov 2026 13:00:30 GMT"}, 30 * time.Second},
		{"past", []string{"Date", "Sat, 21 Nov 2026 13:00:00 GMT", "Retry-After", "Sat, 21 Nov 2026 12:00:00 GMT"}, 0},
		{"negative", []string{"Retry-After", "-3"}, 0},
		{"absurd", []string{"Retry-After", "1e300"}, 31 * 24 * time.Hour},
		{"no number", []string{"Retry-After", "NaN"}, 0},
		{"words", []string{"Retry-After", "soon"}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := serve(t, refusing(http.StatusTooManyRequests, `{}`, tt.headers...))
			_, err := ask(t.Context(), openai.NewChat(s.options(openai.Options{})), &provider.Request{Model: "m"})
			require.Equal(t, tt.want, requireClass(t, provider.ClassRateLimit, err).RetryAfter)
		})
	}
}

func TestErrorsInTheMidst(t *testing.T) {
	started := map[string]string{"chat": events(delta(`"content":"A"`)), "responses": events(more("output_text", "0", `"A"`))}
	tests := []struct {
		api, event string
		class      provider.Class
		message    string
	}{
		{"chat", `{"error":{"message":"The server had an error.","type":"server_error","code":null}}`, provider.ClassOverloaded, "The server had an error."},
		{"chat", `{"id":"x","error":{"code":502,"message":"Provider disconnected"},"choices":[{"delta":{},"finish_reason":"error"}]}`, provider.ClassOverloaded, "Provider disconnected"},
		{"chat", `{"error":{"code":"429","message":"Slow down."}}`, provider.ClassRateLimit, "Slow down."},
		{"chat", `{"choices":[{"index":0,"delta":{},"error":{"code":429,"message":"Slow down."}}]}`, provider.ClassRateLimit, "Slow down."},
		{"chat", `{"object":"error","message":"Out of memory.","code":500}`, provider.ClassOverloaded, "Out of memory."},
		{"chat", `{"error":"out of memory"}`, provider.ClassOverloaded, "out of memory"},
		{"chat", `{"error":{"message":"No such field.","type":"invalid_request_error"}}`, provider.ClassInvalid, "No such field."},
		{"chat", reason("error"), provider.ClassOverloaded, "the server gave up: error"},
		{"chat", reason("insufficient_system_resource"), provider.ClassOverloaded, "the server gave up: insufficient_system_resource"},
		{"chat", `{"choices":`, provider.ClassDisconnect, ""},
		{"responses", `{"type":"error","code":"server_error","message":"Sorry.","param":null,"sequence_number":3}`, provider.ClassOverloaded, "Sorry."},
		{"responses", `{"type":"error","error":{"type":"invalid_request_error","code":"context_length_exceeded","message":"Too long."}}`, provider.ClassContext, "Too long."},
		{"responses", `{"type":"response.failed","response":{"status":"failed","error":{"code":"rate_limit_exceeded","message":"Slow down."}}}`, provider.ClassRateLimit, "Slow down."},
		{"responses", `{"type":"response.failed","response":{"status":"failed","error":{"code":"insufficient_quota","message":"Pay."}}}`, provider.ClassQuota, "Pay."},
		{"responses", `{"type":"response.failed","response":{"status":"failed","error":{"code":"invalid_prompt","message":"Not this."}}}`, provider.ClassInvalid, "Not this."},
		{"responses", `{"type":"response.failed","response":{"status":"failed","error":null}}`, provider.ClassOverloaded, "the response failed"},
	}
	for _, tt := range tests {
		t.Run(tt.api+"/"+tt.event, func(t *testing.T) {
			s := serve(t, writing(started[tt.api], events(tt.event), events(chatStop, completed())))
			chunks, err := ask(t.Context(), apis[tt.api](s.options(openai.Options{})), &provider.Request{Model: "m"})
			require.Equal(t, "A", chunks[0].Text)
			require.Len(t, chunks, 1)
			require.Equal(t, tt.message, requireClass(t, tt.class, err).Message)
		})
	}
}

// A server that does not stream gives the reason, or the request is in vain.
func TestAnswerWithoutStream(t *testing.T) {
	tests := []struct {
		body  string
		class provider.Class
	}{
		{`{"error":{"message":"Full.","code":"overloaded"}}`, provider.ClassOverloaded},
		{`{"choices":[]}`, provider.ClassInvalid},
		{`<html>Log in</html>`, provider.ClassInvalid},
		{``, provider.ClassDisconnect},
	}
	for _, tt := range tests {
		s := serve(t, refusing(http.StatusOK, tt.body))
		_, err := ask(t.Context(), openai.NewChat(s.options(openai.Options{})), &provider.Request{Model: "m"})
		requireClass(t, tt.class, err)
	}
}

func TestErrorsDoNotRepeatTheKey(t *testing.T) {
	const key = "sk-very-secret"
	long := strings.Repeat("ü", 5000)
	handlers := []http.HandlerFunc{
		refusing(401, `{"error":{"message":"Incorrect API key provided: `+key+`"}}`),
		refusing(500, "Authorization: Bearer "+key+" "+long),
		writing(events(`{"error":{"message":"key ` + key + `"}}`)),
		refusing(401, `{"error":{"message":"key `+key[:5]+`\u0000`+key[5:]+`"}}`),
	}
	for _, handler := range handlers {
		s := serve(t, handler)
		_, err := ask(t.Context(), openai.NewChat(s.options(openai.Options{Key: key})), &provider.Request{Model: "m"})
		require.Error(t, err)
		require.NotContains(t, err.Error(), key)
		require.Contains(t, err.Error(), "[key]")
		require.Less(t, len(err.Error()), 2100)
	}
}
