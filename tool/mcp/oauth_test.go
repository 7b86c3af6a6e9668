package mcp_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/internal/testing/mcptest"
	"jp/tool/mcp"
)

// guardedStage is a server that wants the user to sign in.
func guardedStage(t *testing.T, lives int) (*stage, *mcptest.Guarded) {
	t.Helper()
	g := &mcptest.Guarded{Serve: mcptest.Handler("said by far"), Lives: lives}
	at := httptest.NewServer(g)
	g.URL = at.URL
	t.Cleanup(func() {
		at.CloseClientConnections()
		at.Close()
	})
	s := newStage(t, "plain")
	s.spec = mcp.Spec{Name: "fake", URL: at.URL + "/mcp"}
	s.opts.Private = []string{"127.0.0.1"}
	s.opts.Tokens = mcp.Tokens{Dir: filepath.Join(s.opts.Dir, "tokens")}
	s.again()
	return s, g
}

// visit opens an address as a browser does.
// opens is a user who signs in with a browser.
func opens(do func(address string)) mcp.SignInUser { return mcp.SignInUser{Open: do} }

func visit(t *testing.T, address string) string {
	t.Helper()
	r, err := http.Get(address)
	require.NoError(t, err)
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	require.NoError(t, err)
	return string(text)
}

func TestSignIn(t *testing.T) {
	t.Parallel()
	s, g := guardedStage(t, 3600)
	_, err := s.server.List(t.Context())
	require.ErrorIs(t, err, mcp.ErrSignIn)
	require.EqualError(t, err, "start the MCP server fake: it wants you to sign in (jp mcp login fake)")
	require.NoError(t, s.server.SignIn(t.Context(), opens(func(address string) {
		require.True(t, strings.HasPrefix(address, g.URL+"/authorize?"), address)
		go visit(t, address)
	})))
	files, err := filepath.Glob(filepath.Join(s.opts.Tokens.Dir, "*"))
	require.NoError(t, err)
	require.Len(t, files, 1)
	info, err := os.Stat(files[0])
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	s.again()
	s.approve()
	require.Equal(t, "said by far", string(s.call("say", "{}").Content))
	require.Zero(t, g.Renewed())
	require.Empty(t, g.Wrong())

	g.Forget()
	s.again()
	_, err = s.server.List(t.Context())
	require.ErrorIs(t, err, mcp.ErrSignIn, "the server takes the token no more")
	out, err := s.server.SignOut(t.Context())
	require.NoError(t, err)
	require.Equal(t, mcp.SignedOut{Had: true}, out)
	out, err = s.server.SignOut(t.Context())
	require.NoError(t, err)
	require.Equal(t, mcp.SignedOut{}, out)
}

// A client that the user has registered signs in, renews its token, and lets it be taken back.
func TestSignInOfAClient(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ client, secret string }{
		"registered":   {"mine", ""},
		"its secret":   {"mine", "secret"},
		"not, at once": {"", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, g := guardedStage(t, 1)
			g.Client, g.Secret, g.Revokes, g.Root = tt.client, tt.secret, true, true
			s.opts.Client.ID = tt.client
			if tt.secret != "" {
				s.opts.Client.Secret = func() (string, error) { return tt.secret, nil }
			}
			s.again()
			require.NoError(t, s.server.SignIn(t.Context(), opens(func(address string) { go visit(t, address) })))
			s.approve()
			require.Positive(t, g.Renewed())
			out, err := s.server.SignOut(t.Context())
			require.NoError(t, err)
			require.Equal(t, mcp.SignedOut{Had: true, Offered: true}, out)
			require.Len(t, g.Revoked(), 2)
			require.True(t, strings.HasPrefix(g.Revoked()[0], "refresh_token refresh-"), g.Revoked())
			require.True(t, strings.HasPrefix(g.Revoked()[1], "access_token access-"), g.Revoked())
			require.Empty(t, g.Wrong())
		})
	}
}

// A token stays with the host that gave it.
func TestSignOutElsewhere(t *testing.T) {
	t.Parallel()
	s, g := guardedStage(t, 3600)
	g.Revokes, g.RevokesAt = true, "https://example.com/revoke"
	require.NoError(t, s.server.SignIn(t.Context(), opens(func(address string) { go visit(t, address) })))
	out, err := s.server.SignOut(t.Context())
	require.NoError(t, err)
	require.Equal(t, mcp.SignedOut{Had: true}, out)
}

// The user enters the address at which a browser on another machine ended.
func TestSignInPasted(t *testing.T) {
	t.Parallel()
	s, g := guardedStage(t, 3600)
	lines := make(chan string)
	var wrong []string
	user := mcp.SignInUser{Pasted: lines, Wrong: func(line string) { wrong = append(wrong, line) }}
	user.Open = func(address string) {
		go func() {
			browser := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
			r, err := browser.Get(address)
			if err != nil {
				close(lines)
				return
			}
			ended := r.Header.Get("Location")
			_ = r.Body.Close()
			for _, line := range []string{"", "yes", "http://127.0.0.1:1/callback?" + strings.SplitN(ended, "?", 2)[1], callbackOf(address) + "x&code=1", "  " + ended + "\n"} {
				lines <- line
			}
		}()
	}
	require.NoError(t, s.server.SignIn(t.Context(), user))
	require.Len(t, wrong, 4, "another address and another state are no answer")
	require.Empty(t, g.Wrong())
}

// The error for a refusal of an authorization server leaves out the server's text.
func TestSignInBoundsRefusals(t *testing.T) {
	t.Parallel()
	s, g := guardedStage(t, 1)
	require.NoError(t, s.server.SignIn(t.Context(), opens(func(address string) { go visit(t, address) })))
	g.Verbose = true
	g.Forget()
	s.again()
	_, err := s.server.List(t.Context())
	require.Error(t, err)
	require.Contains(t, err.Error(), "renew the token of the MCP server fake: the authorization server refuses: 400 Bad Request")
	require.NotContains(t, err.Error(), "secret-of-the-test")
	require.Less(t, len(err.Error()), 500)
}

// A token that ends is renewed, by one process at a time, and the new one is kept.
func TestSignInIsRenewed(t *testing.T) {
	t.Parallel()
	s, g := guardedStage(t, 1)
	require.NoError(t, s.server.SignIn(t.Context(), opens(func(address string) { go visit(t, address) })))
	s.approve()
	before := g.Renewed()
	require.Positive(t, before)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			other := mcp.NewServer(s.spec, s.opts)
			defer other.Close()
			_, err := other.List(t.Context())
			require.NoError(t, err)
		})
	}
	all.Wait()
	require.Greater(t, g.Renewed(), before)
	require.Empty(t, g.Wrong())
	g.Forget()
	s.again()
	_, err := s.server.List(t.Context())
	require.ErrorIs(t, err, mcp.ErrSignIn, "the token cannot be renewed")
}

// If an authorization server misbehaves, jp keeps nothing.
func TestSignInRefused(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		set   func(s *stage, g *mcptest.Guarded)
		visit func(t *testing.T, address string)
		why   string
	}{
		"another issuer":   {func(_ *stage, g *mcptest.Guarded) { g.Issuer = "https://example.com" }, nil, "issuer"},
		"a private host":   {func(_ *stage, g *mcptest.Guarded) { g.Elsewhere = "https://localhost:1" }, nil, "which is private"},
		"no https":         {func(s *stage, _ *mcptest.Guarded) { s.spec.URL = "http://example.com/mcp" }, nil, "its scheme is \"http\" (want https)"},
		"no yes":           {nil, func(t *testing.T, address string) { visit(t, callbackOf(address)+"&error=access_denied") }, "the user did not sign in: access_denied"},
		"a header instead": {func(s *stage, _ *mcptest.Guarded) { s.spec.Headers = map[string]string{"Authorization": "Bearer x"} }, nil, "Unauthorized"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, g := guardedStage(t, 3600)
			if tt.set != nil {
				tt.set(s, g)
			}
			s.again()
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			err := s.server.SignIn(ctx, opens(func(address string) {
				if tt.visit == nil {
					cancel(errors.New("the user was sent to " + address))
				}
				go func() {
					if tt.visit == nil {
						return
					}
					require.Contains(t, visit(t, callbackOf(address)+"x&code=1"), "not the answer", "another state is no answer")
					tt.visit(t, address)
				}()
			}))
			require.Error(t, err)
			require.Contains(t, err.Error(), tt.why)
			require.NoDirExists(t, s.opts.Tokens.Dir)
		})
	}
	s := newStage(t, "plain")
	require.ErrorIs(t, s.server.SignIn(t.Context(), mcp.SignInUser{}), mcp.ErrNoSignIn)
}

// callbackOf is the address to which the browser is sent back, with the state.
func callbackOf(address string) string {
	r, err := http.NewRequest(http.MethodGet, address, nil)
	if err != nil {
		return ""
	}
	q := r.URL.Query()
	return q.Get("redirect_uri") + "?state=" + q.Get("state")
}
