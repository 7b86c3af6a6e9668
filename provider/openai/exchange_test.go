package openai_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"jp/conversation"
	"jp/provider"
	"jp/provider/openai"
)

// hanging answers with the pieces and then falls silent until the client goes.
func hanging(pieces ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		writing(pieces...)(w, r)
		<-r.Context().Done()
	}
}

var apis = map[string]func(openai.Options) provider.Provider{
	"chat":      func(o openai.Options) provider.Provider { return openai.NewChat(o) },
	"responses": func(o openai.Options) provider.Provider { return openai.NewResponses(o) },
}

// Streams that are whole.
var streams = map[string]string{
	"chat": ": OPENROUTER PROCESSING\n\n" + events(
		delta(`"role":"assistant","content":""`), delta(`"reasoning":"hm"`), delta(`"content":"Grüße, 世界 👋"`),
		piece(`"index":0,"id":"c1","function":{"name":"look","arguments":"{\"p\":"}`), piece(`"index":0,"function":{"arguments":"1}"}`),
		reason("tool_calls"), `{"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2}}`, "[DONE]"),
	"responses": "event: response.created\r\ndata: {\"type\":\"response.created\"}\r\n\r\n" + events(
		added("0", `{"id":"rs_1","type":"reasoning"}`), summary("0", "0", `"hm"`), done("0", reasoningItem),
		more("output_text", "1", `"Grüße, 世界 👋"`), done("1", `{"type":"message","id":"msg_1","content":[{"type":"output_text","text":"Grüße, 世界 👋"}]}`),
		done("2", callItem), completed()),
}

func TestStreamsInSmallPieces(t *testing.T) {
	for api, stream := range streams {
		t.Run(api, func(t *testing.T) {
			whole := serve(t, writing(stream))
			want, err := ask(t.Context(), apis[api](whole.options(openai.Options{})), &provider.Request{Model: "m"})
			require.NoError(t, err)
			parts, _ := assembled(t, want)
			require.Contains(t, parts[1].Text, "Grüße, 世界 👋")
			pieces := serve(t, writing(strings.Split(stream, "")...)) // runes
			got, err := ask(t.Context(), apis[api](pieces.options(openai.Options{})), &provider.Request{Model: "m"})
			require.NoError(t, err)
			require.Equal(t, want, got)
			var raw []string
			for i := range len(stream) {
				raw = append(raw, stream[i:i+1])
			}
			bytes := serve(t, writing(raw...))
			got, err = ask(t.Context(), apis[api](bytes.options(openai.Options{})), &provider.Request{Model: "m"})
			require.NoError(t, err)
			require.Equal(t, want, got)
		})
	}
}

// bodies is a transport that answers with a text, without a network.
type bodies string

func (b bodies) RoundTrip(r *http.Request) (*http.Response, error) {
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		return nil, err
	}
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}},
		Body: io.NopCloser(strings.NewReader(string(b))), Request: r,
	}, nil
}

func over(b bodies) openai.Options {
	return openai.Options{BaseURL: "http://openai.invalid/v1", Client: &http.Client{Transport: b}}
}

// A stream that ends at any byte gives a part of its chunks and then an error,
// or all of the answer.
func TestStreamsCutAnywhere(t *testing.T) {
	for api, stream := range streams {
		t.Run(api, func(t *testing.T) {
			whole, err := ask(t.Context(), apis[api](over(bodies(stream))), &provider.Request{Model: "m"})
			require.NoError(t, err)
			want, _ := assembled(t, whole)
			ended := 0
			for cut := range len(stream) {
				chunks, err := ask(t.Context(), apis[api](over(bodies(stream[:cut]))), &provider.Request{Model: "m"})
				parts, last := assembled(t, chunks)
				if err == nil {
					ended++
					require.Equal(t, want, parts)
					require.Equal(t, provider.ChunkFinish, last.Kind)
					continue
				}
				require.Zero(t, ended, "an answer that was whole is not, with more of the stream")
				requireClass(t, provider.ClassDisconnect, err)
				require.Subset(t, want, parts)
			}
			require.Positive(t, ended)
		})
	}
}

func TestAnyStreamIsReadWithoutPanic(t *testing.T) {
	pieces := []string{
		"data: ", "\n", "\n\n", ":", "event: x\n", "[DONE]", "{}", "null", `{"choices":[{}]}`, `{"choices":[{"delta":{"tool_calls":[{}]}}]}`,
		`{"error":null}`, `{"error":{}}`, `{"error":7}`, `{"type":"error"}`, `{"type":"response.output_item.done","item":{}}`, `{"type":"response.completed"}`,
		`{"type":"response.failed"}`, `{"choices":[{"delta":{"content":[{"thinking":[{}]}],"reasoning_details":[{},7]},"finish_reason":"stop"}]}`, "\x00\xff",
	}
	rapid.Check(t, func(t *rapid.T) {
		stream := strings.Join(rapid.SliceOf(rapid.SampledFrom(pieces)).Draw(t, "stream"), "")
		for api := range apis {
			o := over(bodies(stream))
			o.Dialect.ReasoningDetails = true
			chunks, err := ask(t.Context(), apis[api](o), &provider.Request{Model: "m"})
			whole := len(chunks) > 0 && chunks[len(chunks)-1].Kind == provider.ChunkFinish
			require.Equal(t, err == nil, whole)
		}
	})
}

func requireClass(t *testing.T, want provider.Class, err error) *provider.Error {
	t.Helper()
	var failure *provider.Error
	require.ErrorAs(t, err, &failure)
	require.Equal(t, want, failure.Class, err)
	require.Equal(t, "openai", failure.Provider)
	return failure
}

func TestKeepAlives(t *testing.T) {
	s := serve(t, writing(": ping\n\n", ":\n\n", events(delta(`"content":"A"`)), ": ping\n", ": pong\n\n", events(chatStop)))
	chunks, err := ask(t.Context(), openai.NewChat(s.options(openai.Options{})), &provider.Request{Model: "m"})
	require.NoError(t, err)
	var kinds []provider.ChunkKind
	for _, c := range chunks {
		kinds = append(kinds, c.Kind)
	}
	alive := provider.ChunkKeepAlive
	require.Equal(t, []provider.ChunkKind{alive, alive, provider.ChunkMessage, alive, alive, alive, provider.ChunkClose, provider.ChunkFinish}, kinds)
}

func TestSilence(t *testing.T) {
	tests := map[string]http.HandlerFunc{
		"before the answer":     func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		"at its beginning":      hanging(),
		"in the midst":          hanging(events(delta(`"content":"A"`))),
		"in the midst of event": hanging(`data: {"choices"`),
		"in a document":         hanging(`{"choices":`),
	}
	for name, handler := range tests {
		for api := range apis {
			t.Run(name+"/"+api, func(t *testing.T) {
				s := serve(t, handler)
				_, err := ask(t.Context(), apis[api](s.options(openai.Options{IdleTimeout: 20 * time.Millisecond})), &provider.Request{Model: "m"})
				requireClass(t, provider.ClassTimeout, err)
			})
		}
	}
}

// talking is a transport whose server sends a text and then keeps the line until the request ends.
type talking string

func (t talking) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := bodies(t).RoundTrip(r)
	if err == nil {
		response.Body = io.NopCloser(io.MultiReader(response.Body, waiting{r.Context()}))
	}
	return response, err
}

// waiting blocks until its context ends.
type waiting struct{ ctx context.Context }

func (w waiting) Read([]byte) (int, error) {
	<-w.ctx.Done()
	return 0, w.ctx.Err()
}

func talkingTo(text string) openai.Options {
	return openai.Options{BaseURL: "http://openai.invalid/v1", Client: &http.Client{Transport: talking(text)}}
}

// An answer that is whole stays so if the server then keeps the line.
func TestSilenceAfterTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		chunks, err := ask(t.Context(), openai.NewChat(talkingTo(events(delta(`"content":"A"`), chatStop))), &provider.Request{Model: "m"})
		require.NoError(t, err)
		require.Equal(t, conversation.FinishStop, chunks[len(chunks)-1].Finish)
	})
}

func TestHowLongSilenceMayBe(t *testing.T) {
	for idle, want := range map[time.Duration]time.Duration{0: 5 * time.Minute, time.Second: time.Second, -1: time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
			defer cancel()
			o, began := talkingTo(": alive\n\n"), time.Now()
			o.IdleTimeout, o.Stall = idle, -1
			_, err := ask(ctx, openai.NewChat(o), &provider.Request{Model: "m"})
			require.Error(t, err)
			require.Equal(t, want, time.Since(began))
		})
	}
}

// The time of the consumer does not count as the server's silence.
func TestSlowConsumer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var took time.Duration
		began := time.Now()
		for _, err := range openai.NewChat(talkingTo(events(delta(`"content":"A"`)))).Stream(t.Context(), &provider.Request{Model: "m"}) {
			took = time.Since(began)
			if err == nil {
				// This is the clock of the test's bubble.
				time.Sleep(time.Hour)
			}
		}
		require.Equal(t, time.Hour+5*time.Minute, took)
	})
}

func TestCancel(t *testing.T) {
	for api := range apis {
		t.Run(api, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			gone := make(chan struct{})
			s := serve(t, func(w http.ResponseWriter, r *http.Request) {
				writing(": hello\n\n")(w, r)
				<-r.Context().Done()
				close(gone)
			})
			var last error
			for chunk, err := range apis[api](s.options(openai.Options{})).Stream(ctx, &provider.Request{Model: "m"}) {
				if chunk.Kind == provider.ChunkKeepAlive {
					cancel()
				}
				last = err
			}
			require.ErrorIs(t, last, context.Canceled)
			<-gone
			_, err := ask(ctx, apis[api](s.options(openai.Options{})), &provider.Request{Model: "m"})
			require.ErrorIs(t, err, context.Canceled)
		})
	}
}

// A consumer that stops listening ends the exchange.
func TestStopListening(t *testing.T) {
	gone := make(chan struct{})
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		hanging(events(delta(`"content":"A"`), delta(`"content":"B"`)))(w, r)
		close(gone)
	})
	for chunk, err := range openai.NewChat(s.options(openai.Options{})).Stream(t.Context(), &provider.Request{Model: "m"}) {
		require.NoError(t, err)
		require.Equal(t, "A", chunk.Text)
		break
	}
	<-gone
}

func TestConnectionBreaks(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		writing(events(delta(`"content":"A"`)))(w, r)
		panic(http.ErrAbortHandler)
	})
	chunks, err := ask(t.Context(), openai.NewChat(s.options(openai.Options{})), &provider.Request{Model: "m"})
	requireClass(t, provider.ClassDisconnect, err)
	require.Equal(t, "A", chunks[0].Text)
	require.Len(t, s.bodies, 1)

	o := s.options(openai.Options{})
	s.Close()
	_, err = ask(t.Context(), openai.NewChat(o), &provider.Request{Model: "m"})
	requireClass(t, provider.ClassDisconnect, err)
}

func TestBadAddress(t *testing.T) {
	for _, address := range []string{"http://me:password@[::1", "password@example.com", "ftp://password@example.com", "/v1"} {
		_, err := ask(t.Context(), openai.NewChat(openai.Options{BaseURL: address}), &provider.Request{Model: "m"})
		requireClass(t, provider.ClassInvalid, err)
		require.NotContains(t, err.Error(), "password")
	}
}

// Variables of the environment belong to OpenAI's endpoint, not to this one.
func TestEnvironmentIsNotRead(t *testing.T) {
	for _, name := range []string{"OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"} {
		t.Setenv(name, "from-the-environment")
	}
	t.Setenv("OPENAI_BASE_URL", "http://openai.invalid")
	t.Setenv("OPENAI_CUSTOM_HEADERS", "X-Custom: from-the-environment")
	for _, key := range []string{"", "sk-given"} {
		s := serve(t, writing(events(chatStop)))
		_, err := ask(t.Context(), openai.NewChat(s.options(openai.Options{Key: key})), &provider.Request{Model: "m"})
		require.NoError(t, err)
		require.Equal(t, strings.TrimSuffix("Bearer "+key, "Bearer "), s.headers[0].Get("Authorization"))
		require.NotContains(t, fmt.Sprint(s.headers[0]), "from-the-environment")
		require.Equal(t, "text/event-stream", s.headers[0].Get("Accept"))
	}
}

// The same provider may answer several requests at once.
func TestConcurrentUse(t *testing.T) {
	s := serve(t, writing(streams["chat"]))
	p := openai.NewChat(s.options(openai.Options{}))
	errs := make(chan error, 8)
	for range cap(errs) {
		go func() {
			chunks, err := ask(context.Background(), p, &provider.Request{Model: "m", Schema: json.RawMessage(`{}`)})
			if err == nil && chunks[len(chunks)-1].Finish != conversation.FinishToolCalls {
				err = errors.New("another end")
			}
			errs <- err
		}()
	}
	for range cap(errs) {
		require.NoError(t, <-errs)
	}
}
