package main

import (
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/agent/problem"
	"jp/internal/testing/vendortest"
)

// keyGate puts a server that refuses all other keys before that of a vendor, and returns the setting of its address.
func keyGate(t *testing.T, s *vendortest.Server, v vendortest.Vendor) string {
	gate := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if key := r.Header.Get("X-Api-Key"); key != v.Key() {
			http.Error(w, `{"error":{"type":"authentication_error","message":"invalid x-api-key `+key+`"}}`, http.StatusUnauthorized)
			return
		}
		s.ServeHTTP(w, r)
	}))
	t.Cleanup(gate.Close)
	setting := "JP_CFG_PROVIDERS__" + strings.ToUpper(v.Name) + "__BASE_URL="
	i := slices.IndexFunc(s.Env(), func(set string) bool { return strings.HasPrefix(set, setting) })
	return strings.ReplaceAll(s.Env()[i], s.URL, gate.URL)
}

// TestLogin types a key at a terminal, which does not show it. jp tries it, keeps it, and sends it. It
// stays out of jp's output and records, and no confined tool can read its file.
func TestLogin(t *testing.T) {
	t.Parallel()
	v := vendortest.VendorNamed("anthropic")
	p, s := newPlace(t), vendortest.New(t)
	p.environ = append(p.environ, keyGate(t, s, v))
	file := filepath.Join(p.environHome(), ".local/state/jp/keys/anthropic.key")
	login := func(keys string) *sitting {
		terminal := p.sit(80, "login", "anthropic")
		terminal.WaitForEnd("Key for anthropic (not shown):")
		terminal.Type(keys)
		return terminal
	}

	wrong := login("sk-not-the-right-one\r")
	require.Equal(t, problem.ExitProvider, wrong.exit(), wrong.Text())
	require.Contains(t, wrong.Text(), "jp did not keep the key: anthropic refuses it: ")
	require.NotContains(t, wrong.Text(), "not-the-right-one")
	left := login("half of\x03")
	require.Equal(t, problem.ExitInterrupted, left.exit(), left.Text())
	require.NotContains(t, left.Text(), "half")
	require.NoFileExists(t, file)
	right := login("x\x7f" + v.Key() + "\r")
	require.Zero(t, right.exit(), right.Text())
	require.Contains(t, right.Text(), "jp keeps the key for anthropic in\n")
	require.NotContains(t, right.Text(), v.Key())
	info, err := os.Stat(file)
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(0o600), info.Mode())

	s.Say(vendortest.Reply{Calls: []vendortest.Call{{ID: "call_1", Name: "shell_run", Arguments: `{"argv":["cat","` + file + `"]}`}}}, vendortest.Reply{Text: "Read."})
	require.Equal(t, "Read.\n", p.asks(v, "Use the key "+v.Key()+" please").stdout)
	shown := p.jp("print", "--tools").stdout
	require.Contains(t, shown, "exit status 1") // of cat
	for _, text := range []string{
		shown, p.git("log", "--all", "--format=raw"), p.jp("config", "show", "--all").stdout, p.jp("doctor", "-v").stdout, p.jp("models", "--json").stdout,
	} {
		require.NotContains(t, text, v.Key())
	}
	require.NoError(t, filepath.WalkDir(filepath.Dir(p.dir), func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() && path != file {
			if text, err := os.ReadFile(path); err == nil {
				require.NotContains(t, string(text), v.Key(), path)
			}
		}
		return nil
	}))
	require.Contains(t, p.jp("doctor", "-v").stdout, "anthropic: key from jp login, in ")
	out := p.jp("login", "--remove", "anthropic")
	require.Zero(t, out.exit, out.stderr)
	require.NoFileExists(t, file)
	out = p.jp("query", "Again")
	require.Equal(t, problem.ExitUsage, out.exit, out.stderr)
	require.Contains(t, out.stderr, "there is no key for anthropic")
}
