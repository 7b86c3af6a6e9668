package google

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/provider"
)

func TestWire(t *testing.T) {
	// All of these are ignored, since the options are complete.
	t.Setenv("GEMINI_API_KEY", "another")
	t.Setenv("GOOGLE_GENAI_USE_VERTEXAI", "true")
	t.Setenv("GOOGLE_GEMINI_BASE_URL", "http://192.0.2.1")
	type received struct {
		*http.Request
		body []byte
	}
	asked := make(chan received, 2)
	p := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			panic(err)
		}
		asked <- received{r, body}
		streaming(wholeStream)(w, r)
	})
	request := question()
	request.System = "Be <brief> & \u2028 honest."
	request.Messages = append(request.Messages,
		said(with(call("c1", "read", `{}`), `{"functionCall":{"name":"read","args":{"n":12345678901234567890,"a":1.0}},"thoughtSignature":"c2ln"}`)),
		results(result("c1", "read", "R")))
	for range 2 {
		_, err := collect(t, p, request)
		require.NoError(t, err)
	}
	first, second := <-asked, <-asked
	require.Equal(t, string(first.body), string(second.body))
	want, err := encodeTwice(request, modelNamed(request.Model), Options{})
	require.NoError(t, err)
	require.Equal(t, canonical(t, want), canonical(t, first.body))
	require.Equal(t, "/v1beta/models/gemini-3-flash:streamGenerateContent", first.URL.Path)
	require.Equal(t, "alt=sse", first.URL.RawQuery)
	require.Equal(t, []string{testKey}, first.Header.Values("X-Goog-Api-Key"))
}

func TestOptions(t *testing.T) {
	o := Options{Key: testKey, BaseURL: "https://user:secret@example.org/gemini/?key=secret"}
	require.Equal(t, "https://example.org/gemini", New(o).Endpoint())
	require.Regexp(t, "^[0-9a-f]{8}$", New(o).Account())
	require.NotEqual(t, Options{Key: "other"}.Account(), o.Account())
	require.Equal(t, "https://generativelanguage.googleapis.com", New(Options{}).Endpoint())
	require.Empty(t, New(Options{}).Account())
}

func TestNoKey(t *testing.T) {
	t.Setenv("GEMINI_API_KEY", "another")
	_, err := collect(t, New(Options{BaseURL: "http://192.0.2.1"}), question())
	requireClass(t, provider.ClassAuth, err)
}

func TestNothingIsTriedTwice(t *testing.T) {
	var asked atomic.Int32
	for name, handler := range map[string]http.HandlerFunc{
		"refused":  func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) },
		"cut":      func(w http.ResponseWriter, r *http.Request) { panic(http.ErrAbortHandler) },
		"continue": streaming(`data: {"candidates":[{"content":{"parts":[{"text":"A"}]},"continuationToken":"dG9r"}]}` + "\n\n"),
	} {
		t.Run(name, func(t *testing.T) {
			asked.Store(0)
			_, err := collect(t, serve(t, func(w http.ResponseWriter, r *http.Request) {
				asked.Add(1)
				handler(w, r)
			}), question())
			require.Error(t, err)
			require.EqualValues(t, 1, asked.Load())
		})
	}
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	var asked atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	t.Cleanup(other.Close)
	p := serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
	})
	_, err := collect(t, p, question())
	requireClass(t, provider.ClassInvalid, err)
	require.Zero(t, asked.Load())
}

// bodies counts the bodies of responses that are open.
type bodies struct {
	http.RoundTripper
	open int
}

func (b *bodies) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := b.RoundTripper.RoundTrip(r)
	if err == nil {
		b.open++
		response.Body = &countedBody{response.Body, b}
	}
	return response, err
}

type countedBody struct {
	io.ReadCloser
	bodies *bodies
}

func (c *countedBody) Close() error {
	c.bodies.open--
	return c.ReadCloser.Close()
}

func TestBodiesAreClosed(t *testing.T) {
	for name, handler := range map[string]http.HandlerFunc{
		"whole":   streaming(wholeStream),
		"cut":     streaming(wholeStream[:100]),
		"refused": func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) },
		"failed":  streaming(`data: {"error":{"code":503}}` + "\n\n"),
	} {
		t.Run(name, func(t *testing.T) {
			p := serve(t, handler)
			counted := &bodies{RoundTripper: p.options.Client.Transport}
			p.options.Client.Transport = counted
			t.Cleanup(counted.RoundTripper.(*http.Transport).CloseIdleConnections)
			_, _ = collect(t, p, question())
			require.Zero(t, counted.open)
		})
	}
}

func TestCancel(t *testing.T) {
	begun := `data: {"candidates":[{"content":{"parts":[{"text":"A"}]}}]}` + "\n\n"
	t.Run("before", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		for _, err := range New(Options{Key: testKey}).Stream(ctx, question()) {
			require.ErrorIs(t, err, context.Canceled)
		}
	})
	t.Run("in the answer", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var last error
		for c, err := range serve(t, hanging(begun)).Stream(ctx, question()) {
			if last = err; err == nil {
				require.Equal(t, "A", c.Text)
				cancel()
			}
		}
		require.Equal(t, context.Canceled, last)
	})
	t.Run("by not listening", func(t *testing.T) {
		gone := make(chan struct{})
		p := serve(t, func(w http.ResponseWriter, r *http.Request) {
			hanging(begun)(w, r)
			close(gone)
		})
		for range p.Stream(t.Context(), question()) {
			break
		}
		<-gone
	})
}
