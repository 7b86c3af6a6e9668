package anthropic

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/provider"
)

// failing is the failure of a request to the handler.
func failing(t *testing.T, o Options, handler http.HandlerFunc) *provider.Error {
	t.Helper()
	_, err := collect(t.Context(), serve(t, o, handler), ask())
	var failure *provider.Error
	require.ErrorAs(t, err, &failure)
	require.Equal(t, API, failure.Provider)
	return failure
}

func wire(kind, message string) string {
	return fmt.Sprintf(`{"type":"error","error":{"type":%q,"message":%q},"request_id":"req_1"}`, kind, message)
}

func TestStatus(t *testing.T) {
	tests := []struct {
		status     int
		body       string
		class      provider.Class
		message    string
		retryAfter string
		wait       time.Duration
	}{
		{400, wire("invalid_request_error", "messages: roles must alternate"), provider.ClassInvalid, "messages: roles must alternate", "", 0},
		{400, wire("invalid_request_error", "prompt is too long: 200001 tokens > 200000 maximum"), provider.ClassContext, "prompt is too long", "", 0},
		{400, wire("invalid_request_error", "input length and `max_tokens` exceed context limit: 190000 + 32000"), provider.ClassContext, "exceed", "", 0},
		{400, wire("invalid_request_error", "Your credit balance is too low to access the Anthropic API."), provider.ClassQuota, "credit", "", 0},
		{400, wire("invalid_request_error", "You have reached your specified API usage limits."), provider.ClassQuota, "limits", "", 0},
		{401, wire("authentication_error", "invalid x-api-key"), provider.ClassAuth, "invalid x-api-key", "", 0},
		{402, wire("billing_error", "pay"), provider.ClassQuota, "pay", "", 0},
		{403, wire("permission_error", "not yours"), provider.ClassAuth, "not yours", "", 0},
		{404, wire("not_found_error", "model: claude-none"), provider.ClassModel, "model: claude-none", "", 0},
		{400, wire("invalid_request_error", "messages.1.content.0: Invalid `signature` in `thinking` block"), provider.ClassState, "signature", "", 0},
		{413, wire("request_too_large", "too large"), provider.ClassContext, "too large", "", 0},
		{429, wire("rate_limit_error", "slow down"), provider.ClassRateLimit, "slow down", "7", 7 * time.Second},
		{429, "", provider.ClassRateLimit, "Too Many Requests", "0.5", 500 * time.Millisecond},
		{500, wire("api_error", "oops"), provider.ClassOverloaded, "oops", "", 0},
		{502, "<html>\n<h1>Bad\tGateway</h1>", provider.ClassOverloaded, "<html> <h1>Bad Gateway</h1>", "", 0},
		{503, "", provider.ClassOverloaded, "Service Unavailable", "-1", 0},
		{504, wire("timeout_error", "too slow"), provider.ClassTimeout, "too slow", "", 0},
		{529, wire("overloaded_error", "Overloaded"), provider.ClassOverloaded, "Overloaded", "soon", 0},
		{401, "no", provider.ClassAuth, "no", "", 0},
		{402, "[]", provider.ClassQuota, "[]", "", 0},
		{403, `"no"`, provider.ClassAuth, "no", "", 0},
		{404, "{}", provider.ClassAddress, "{} (asked: http://127.0.0.1:", "", 0},
		{404, wire("not_found_error", "Not found"), provider.ClassAddress, "Not found (asked: http://127.0.0.1:", "", 0},
		{405, "Method Not Allowed", provider.ClassAddress, "Method Not Allowed (asked: http://127.0.0.1:", "", 0},
		{408, "late", provider.ClassTimeout, "late", "", 0},
		{413, "big", provider.ClassContext, "big", "", 0},
		{422, "what", provider.ClassInvalid, "what", "", 0},
		{307, "", provider.ClassInvalid, "elsewhere", "", 0},
		{204, "", provider.ClassInvalid, "not at all", "", 0},
	}
	for _, test := range tests {
		t.Run(fmt.Sprint(test.status, " ", test.class, " ", test.message), func(t *testing.T) {
			asked := 0
			failure := failing(t, Options{}, func(w http.ResponseWriter, r *http.Request) {
				asked++
				w.Header().Set("Content-Type", "application/json")
				w.Header().Set("Location", "/elsewhere")
				w.Header().Set("X-Should-Retry", "true")
				if test.retryAfter != "" {
					w.Header().Set("Retry-After", test.retryAfter)
				}
				w.WriteHeader(test.status)
				_, _ = io.WriteString(w, test.body)
			})
			require.Equal(t, test.class, failure.Class)
			require.Equal(t, test.status, failure.Status)
			require.Contains(t, failure.Message, test.message)
			require.Equal(t, test.wait, failure.RetryAfter)
			require.Equal(t, 1, asked, "nothing is tried twice")
		})
	}
}

func TestErrorEvents(t *testing.T) {
	tests := []struct {
		name, event string
		class       provider.Class
		message     string
	}{
		{"overloaded", event(wire("overloaded_error", "Overloaded")), provider.ClassOverloaded, "Overloaded"},
		{"a type of a gateway, words of a key", event(wire("gateway_error", "Invalid API key")), provider.ClassAuth, "Invalid API key"},
		{"a type of a gateway, words of a length", event(wire("gateway_error", "prompt is too long: 210000 tokens")), provider.ClassContext, "prompt is too long: 210000 tokens"},
		{"a type of a gateway that says it", event(wire("insufficient_quota", "Pay first")), provider.ClassQuota, "Pay first"},
		{"a type and words that nobody knows", event(wire("gateway_error", "Oops")), provider.ClassOverloaded, "Oops"},
		{"a known type, words of a key", event(wire("api_error", "upstream: invalid api key")), provider.ClassOverloaded, "upstream: invalid api key"},
		{"an invalid request", event(wire("invalid_request_error", "prompt is too long")), provider.ClassContext, "prompt is too long"},
		{"a type that is new", event(wire("new_error", "something")), provider.ClassOverloaded, "something"},
		{"by the event's name alone", "event: error\ndata: upstream went away\n\n", provider.ClassOverloaded, "upstream went away"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p := serve(t, Options{}, sending(start, begin(0, `{"type":"text","text":"so far"}`), test.event, stop("end_turn")))
			chunks, err := collect(t.Context(), p, ask())
			require.Equal(t, provider.Chunk{Text: "so far"}, chunks[len(chunks)-1])
			var failure *provider.Error
			require.ErrorAs(t, err, &failure)
			require.Equal(t, test.class, failure.Class)
			require.Equal(t, test.message, failure.Message)
		})
	}
}

func TestStreamsThatMakeNoSense(t *testing.T) {
	open := begin(0, `{"type":"text","text":""}`)
	tests := map[string]string{
		"no JSON":                event(`{"type":"message_start"`),
		"arguments of no call":   delta(0, `{"type":"input_json_delta","partial_json":"{}"}`),
		"a delta behind the end": open + end(0) + delta(0, `{"type":"text_delta","text":"x"}`),
		"a block that is none":   begin(0, `7`),
		"a block of no type":     begin(0, `{}`),
		"an end for no reason":   event(`{"type":"message_stop"}`),
		"an end inside":          open + event(`{"type":"message_stop"}`),
		"a block cut, no reason": open + delta(0, `{"type":"text_delta","text":"x"}`) + begin(0, `{"type":"text","text":""}`) + end(0) + event(`{"type":"message_stop"}`),
	}
	for name, events := range tests {
		t.Run(name, func(t *testing.T) {
			failure := failing(t, Options{}, sending(start+events))
			require.Equal(t, provider.ClassDisconnect, failure.Class)
			require.ErrorIs(t, failure, errBroken)
		})
	}
}

// Gateways omit parts that the API always sends.
func TestStreamsThatLackSomething(t *testing.T) {
	const text, call = `{"type":"text","text":""}`, `{"type":"tool_use","id":"toolu_1","name":"look","input":{}}`
	hello, arguments := `{"type":"text_delta","text":"Hello"}`, `{"type":"input_json_delta","partial_json":"{\"a\":1}"}`
	unnumbered := func(e string) string { return strings.ReplaceAll(e, `"index":0,`, "") }
	tests := map[string]string{
		"nothing":                    start + begin(0, text) + delta(0, hello) + end(0) + begin(1, call) + delta(1, arguments) + end(1) + stop("tool_use"),
		"ends of blocks":             start + begin(0, text) + delta(0, hello) + begin(1, call) + delta(1, arguments) + stop("tool_use"),
		"the end of the last block":  start + begin(0, text) + delta(0, hello) + end(0) + begin(1, call) + delta(1, arguments) + stop("tool_use"),
		"the end of the message":     start + begin(0, text) + delta(0, hello) + end(0) + begin(1, call) + delta(1, arguments) + end(1) + strings.Split(stop("tool_use"), "event: message_stop")[0],
		"the reason":                 start + begin(0, text) + delta(0, hello) + end(0) + begin(1, call) + delta(1, arguments) + end(1) + event(`{"type":"message_stop"}`),
		"the beginning":              begin(0, text) + delta(0, hello) + end(0) + begin(1, call) + delta(1, arguments) + end(1) + stop("tool_use"),
		"the beginning of the text":  start + delta(0, hello) + end(0) + begin(1, call) + delta(1, arguments) + end(1) + stop("tool_use"),
		"numbers":                    start + unnumbered(begin(0, text)+delta(0, hello)+end(0)+begin(0, call)+delta(0, arguments)+end(0)) + stop("tool_use"),
		"numbers, and ends":          start + unnumbered(begin(0, text)+delta(0, hello)+begin(0, call)+delta(0, arguments)) + stop("tool_use"),
		"names of events":            strings.ReplaceAll(start+begin(0, text)+delta(0, hello)+end(0)+begin(1, call)+delta(1, arguments)+end(1)+stop("tool_use"), "event: ", ": "),
		"nothing, and repeats":       start + begin(0, text) + begin(0, text) + delta(0, hello) + end(0) + end(0) + begin(1, call) + begin(1, call) + delta(1, arguments) + end(1) + stop("tool_use") + stop("tool_use"),
		"nothing, and ends too soon": start + begin(0, text) + delta(0, hello) + end(0) + begin(1, call) + strings.Split(stop("tool_use"), "event: message_stop")[0] + delta(1, arguments) + end(1) + event(`{"type":"message_stop"}`),
	}
	for name, events := range tests {
		t.Run(name, func(t *testing.T) {
			p := serve(t, Options{}, sending(events))
			chunks, err := collect(t.Context(), p, ask())
			parts, last := assembled(t, chunks, err)
			require.Len(t, parts, 2)
			require.Equal(t, "Hello", parts[0].Text)
			require.Equal(t, "toolu_1 look", parts[1].ToolID+" "+parts[1].Tool)
			require.JSONEq(t, `{"a":1}`, string(parts[1].Arguments))
			require.JSONEq(t, `{"type":"tool_use","id":"toolu_1","name":"look","input":{"a":1}}`, string(parts[1].Item))
			require.Equal(t, conversation.FinishToolCalls, last.Finish)
		})
	}
}

func TestWhatIsNoStream(t *testing.T) {
	failure := failing(t, Options{}, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, "<html>Log in to the network</html>")
	})
	require.Equal(t, provider.ClassInvalid, failure.Class)
	require.ErrorContains(t, failure, "the server sent no answer: <html>Log in to the network</html>")
}

// cut is a transport that answers with the beginning of a stream, and then
// breaks off with err.
type cut struct {
	text string
	err  error
}

func (c *cut) RoundTrip(r *http.Request) (*http.Response, error) {
	body := io.MultiReader(strings.NewReader(c.text), broken{c.err})
	header := http.Header{"Content-Type": {"text/event-stream"}}
	return &http.Response{StatusCode: http.StatusOK, Header: header, Body: io.NopCloser(body), Request: r}, nil
}

type broken struct{ err error }

func (b broken) Read([]byte) (int, error) { return 0, b.err }

func TestCutAtEveryByte(t *testing.T) {
	// From here on the reason is known, and the answer counts.
	reason := `"usage":{"output_tokens":42}}`
	known := strings.Index(everything, reason) + len(reason)
	var before int
	connection := &cut{}
	p := New(Options{Client: &http.Client{Transport: connection}})
	for at := range len(everything) + 1 {
		for _, err := range []error{io.EOF, io.ErrUnexpectedEOF} {
			connection.text, connection.err = everything[:at], err
			chunks, err := collect(t.Context(), p, ask())
			if at >= known {
				checkEverything(t, chunks, err)
				continue
			}
			var failure *provider.Error
			require.ErrorAs(t, err, &failure, "cut at %d", at)
			require.Equal(t, provider.ClassDisconnect, failure.Class, "cut at %d", at)
			require.GreaterOrEqual(t, len(chunks), before)
			before = len(chunks)
		}
	}
}

func TestConnectionsThatBreak(t *testing.T) {
	p := serve(t, Options{}, func(w http.ResponseWriter, r *http.Request) {
		sending(start)(w, r)
		panic(http.ErrAbortHandler)
	})
	_, err := collect(t.Context(), p, ask())
	var failure *provider.Error
	require.ErrorAs(t, err, &failure)
	require.Equal(t, provider.ClassDisconnect, failure.Class)

	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	_, err = collect(t.Context(), New(Options{BaseURL: server.URL}), ask())
	require.ErrorAs(t, err, &failure)
	require.Equal(t, provider.ClassDisconnect, failure.Class)
}

func TestWhatNoRetryHelps(t *testing.T) {
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	defer server.Close()
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	for _, base := range []string{server.URL, "ftp://example.invalid", "://", "example.invalid"} {
		_, err := collect(t.Context(), New(Options{BaseURL: base, Client: &http.Client{Transport: transport}}), ask())
		require.Error(t, err, base)
		_, again := provider.Retry{}.Delay(1, err, func() float64 { return 0 })
		require.False(t, again, err)
	}
}

func TestTheKeyIsInNoError(t *testing.T) {
	const key = "sk-ant-very-secret"
	p := serve(t, Options{Key: key}, func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, wire("authentication_error", "no such key: "+key[:8]+"\u200b"+key[8:]+strings.Repeat(" long", 1000)), http.StatusUnauthorized)
	})
	_, err := collect(t.Context(), p, ask())
	require.ErrorContains(t, err, "no such key: [key] long")
	require.Less(t, len(err.Error()), 600)
	require.NotContains(t, fmt.Sprintf("%v %+v %#v", err, err, err), key)
	require.NotContains(t, p.Account()+p.Endpoint(), "secret")
}

func TestAFailureWithoutEndIsCut(t *testing.T) {
	failure := failing(t, Options{}, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusInternalServerError)
		for {
			if _, err := io.WriteString(w, strings.Repeat("x", 4096)); err != nil {
				return
			}
		}
	})
	require.Equal(t, provider.ClassOverloaded, failure.Class)
	require.LessOrEqual(t, len(failure.Message), mostWords+len("…"))
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the key went elsewhere") }))
	defer other.Close()
	failure := failing(t, Options{Key: "sk-1"}, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.URL, http.StatusPermanentRedirect)
	})
	require.Equal(t, provider.ClassInvalid, failure.Class)
}

func TestOnlySilenceCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reader, writer := io.Pipe()
		go func() {
			_, _ = io.WriteString(writer, start)
			for range 20 {
				// This is the clock of the test's bubble.
				time.Sleep(90 * time.Second)
				_, _ = io.WriteString(writer, event(`{"type":"ping"}`))
			}
		}()
		p := New(Options{Stall: -1, Client: &http.Client{Transport: piped{reader}}})
		alive, began := 0, time.Now()
		var last error
		for _, err := range p.Stream(t.Context(), ask()) {
			if last = err; err == nil {
				alive++
			}
			if alive == 10 && err == nil {
				time.Sleep(time.Hour) // a slow reader differs from a silent server
			}
		}
		require.Equal(t, 21, alive)
		var failure *provider.Error
		require.ErrorAs(t, last, &failure)
		require.Equal(t, provider.ClassTimeout, failure.Class)
		require.ErrorContains(t, last, "nothing came for 2m0s")
		require.Greater(t, time.Since(began), time.Hour)
		_ = writer.Close()
	})
}

// piped is a transport whose response is the output of a pipe, until the request ends.
type piped struct{ reader *io.PipeReader }

func (p piped) RoundTrip(r *http.Request) (*http.Response, error) {
	go func() {
		<-r.Context().Done()
		_ = p.reader.CloseWithError(r.Context().Err())
	}()
	header := http.Header{"Content-Type": {"text/event-stream"}}
	return &http.Response{StatusCode: http.StatusOK, Header: header, Body: p.reader, Request: r}, nil
}
