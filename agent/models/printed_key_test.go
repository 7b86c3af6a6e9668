package models

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/agent/repo"
)

func keyHost(t *testing.T) *repo.Host {
	return &repo.Host{Dir: t.TempDir(), Environ: []string{"PATH=/usr/bin:/bin"}, Now: time.Now}
}

// TestAKeyCommandThatHangs names the command that took too long.
func TestAKeyCommandThatHangs(t *testing.T) {
	t.Parallel()
	k := newPrintedKey(keyHost(t), "t", []string{"sleep", "60"}, 0)
	k.limit = 50 * time.Millisecond
	_, _, err := k.current(t.Context())
	require.ErrorContains(t, err, "there is no key for t: its key_command sleep took longer than 50 ms, and jp ended it.")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	k.limit = time.Minute
	_, _, err = k.current(ctx)
	require.ErrorIs(t, err, context.Canceled)
}

// TestAKeyCommandThatPrintsWithoutEnd is ended.
func TestAKeyCommandThatPrintsWithoutEnd(t *testing.T) {
	t.Parallel()
	_, _, err := newPrintedKey(keyHost(t), "t", []string{"sh", "-c", "yes; true"}, 0).current(t.Context())
	require.ErrorContains(t, err, "key_command sh failed: it printed more than any key has.")
}

// TestConcurrentRequestsRenewOnce sends five requests with an old key.
func TestConcurrentRequestsRenewOnce(t *testing.T) {
	t.Parallel()
	e := keyHost(t)
	runs := filepath.Join(e.Dir, "runs")
	k := newPrintedKey(e, "t", []string{"sh", "-c", "printf x >>runs; echo key-$(wc -c <runs | tr -d ' ')"}, 0)
	const requests = 5
	var old, again sync.WaitGroup
	old.Add(requests)
	bodies := make(chan string, 2*requests)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		bodies <- r.Header.Get("Authorization") + " " + string(body)
		if r.Header.Get("Authorization") == "Bearer key-1" {
			old.Done()
			old.Wait() // all of them are under way with the old key
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = io.WriteString(w, `{"error":{"message":"the token key-1 expired","code":"token_expired"}}`)
		}
	}))
	defer s.Close()
	opened, _, err := k.current(t.Context())
	require.NoError(t, err)
	client := renewing(nil, renewal{key: k, vendor: "t", opened: opened, secret: func(string) {}})
	for i := range requests {
		again.Go(func() {
			request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL, strings.NewReader(strings.Repeat("x", i)))
			if err != nil {
				t.Error(err)
				return
			}
			request.Header.Set("Authorization", "Bearer "+opened)
			response, err := client.Do(request)
			if err != nil {
				t.Error(err)
				return
			}
			defer response.Body.Close()
			if response.StatusCode != http.StatusOK {
				t.Error(response.Status)
			}
		})
	}
	again.Wait()
	text, err := os.ReadFile(runs)
	require.NoError(t, err)
	require.Equal(t, "xx", string(text), "the first key, and one for all")
	close(bodies)
	count := map[string]int{}
	for body := range bodies {
		count[body]++
	}
	for i := range requests {
		require.Equal(t, 1, count["Bearer key-1 "+strings.Repeat("x", i)])
		require.Equal(t, 1, count["Bearer key-2 "+strings.Repeat("x", i)])
	}
}

// TestARenewedKeyIsHidden removes from a refusal a key that the client does not know.
func TestARenewedKeyIsHidden(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = io.WriteString(w, "invalid api key: "+r.Header.Get("X-Api-Key"))
	}))
	defer s.Close()
	k := newPrintedKey(keyHost(t), "t", []string{"sh", "-c", "printf x >>runs; echo key-$(wc -c <runs | tr -d ' ')"}, 0)
	opened, _, err := k.current(t.Context())
	require.NoError(t, err)
	var told []string
	client := renewing(nil, renewal{key: k, vendor: "t", opened: opened, secret: func(key string) { told = append(told, key) }})
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL, nil)
	require.NoError(t, err)
	request.Header.Set("X-Api-Key", opened)
	response, err := client.Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	require.Equal(t, "invalid api key: [key]", string(body))
	require.Equal(t, []string{"key-1", "key-2"}, told)
}
