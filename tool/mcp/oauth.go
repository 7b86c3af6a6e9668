package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"golang.org/x/oauth2"

	"jp/conversation"
	"jp/internal/publicnet"
	"jp/internal/safefile"
)

// Tokens keep what the user signed in to: one file for the address of each server, which only the user can read.
type Tokens struct {
	Dir    string             // absolute; "": the user cannot sign in
	Secret func(value string) // is told of what must be recorded nowhere; may be nil
}

// A Client is jp as an authorization server knows it, where the user has registered it there.
type Client struct {
	ID     string                 // "": jp registers itself
	Secret func() (string, error) // nil: the client has none
	Port   int                    // on loopback, to which the browser comes back; 0: a free one
}

// Errors of signing in.
var (
	// ErrSignIn says that a server wants the user to sign in.
	ErrSignIn = errors.New("it wants you to sign in")
	// ErrNoSignIn says that a server wants no one to sign in.
	ErrNoSignIn = errors.New("it does not ask to sign in")
)

// signInTime is how long the user may take in the browser, and early how long before its end a token is renewed.
const (
	signInTime = 10 * time.Minute
	early      = 30 * time.Second
)

// maxAuthAnswer is how much jp reads of an answer of an authorization server, in bytes.
const maxAuthAnswer = 1 << 20

// signedIn is what a file of tokens says.
type signedIn struct {
	URL          string           `json:"url"`                // of the server
	Resource     string           `json:"resource,omitempty"` // that the token is for; "": URL
	TokenURL     string           `json:"token_url"`
	RevokeURL    string           `json:"revoke_url,omitempty"` // of the same authorization server
	AuthStyle    oauth2.AuthStyle `json:"auth_style"`
	ClientID     string           `json:"client_id"`
	ClientSecret string           `json:"client_secret,omitempty"`
	Access       string           `json:"access_token"`
	Refresh      string           `json:"refresh_token,omitempty"`
	Expiry       time.Time        `json:"expiry,omitzero"`
}

func (t Tokens) file(s Spec) string { return filepath.Join(t.Dir, hashOf([]byte(s.URL))+".json") }

// read is what the user signed in to a server with; false where they did not.
func (t Tokens) read(s Spec) (in signedIn, ok bool) {
	text, err := safefile.ReadRegular(t.file(s))
	if err != nil || json.Unmarshal(text, &in) != nil || in.URL != s.URL || in.Access == "" {
		return signedIn{}, false
	}
	if t.Secret != nil {
		for _, value := range []string{in.Access, in.Refresh, in.ClientSecret} {
			if value != "" {
				t.Secret(value)
			}
		}
	}
	return in, true
}

func (t Tokens) write(s Spec, in signedIn) error {
	text, err := canonical(in)
	if err != nil {
		return err
	}
	if err := safefile.Replace(t.file(s), text, safefile.Options{Mode: 0o600, FolderMode: 0o700}); err != nil {
		return fmt.Errorf("keep the token of the MCP server %s: %w", s.Name, err)
	}
	return nil
}

// lock keeps other processes from renewing a token at the same time: many servers take each refresh token once.
func (t Tokens) lock(s Spec) (unlock func(), err error) {
	return safefile.LockFile(context.Background(), t.file(s)+".lock")
}

// A tokenSource gives the token that the user signed in for, and renews it.
type tokenSource struct {
	tokens Tokens
	spec   Spec
	client *http.Client
	mu     sync.Mutex
}

// Token implements [oauth2.TokenSource].
func (t *tokenSource) Token() (*oauth2.Token, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	in, ok := t.tokens.read(t.spec)
	if !ok || in.valid() {
		return in.token(), nil
	}
	unlock, err := t.tokens.lock(t.spec)
	if err != nil {
		return nil, fmt.Errorf("renew the token of the MCP server %s: %w", t.spec.Name, err)
	}
	defer unlock()
	if in, ok = t.tokens.read(t.spec); !ok || in.valid() {
		return in.token(), nil // another process has renewed it
	}
	config := oauth2.Config{
		ClientID: in.ClientID, ClientSecret: in.ClientSecret, Endpoint: oauth2.Endpoint{TokenURL: in.TokenURL, AuthStyle: in.AuthStyle},
	}
	ctx := context.WithValue(context.Background(), oauth2.HTTPClient, t.client) // whose time is bounded
	// The library's own renewal does not say for which resource the token is.
	renewed, err := config.Exchange(ctx, "",
		oauth2.SetAuthURLParam("grant_type", "refresh_token"), oauth2.SetAuthURLParam("refresh_token", in.Refresh), oauth2.SetAuthURLParam("resource", cmp.Or(in.Resource, in.URL)))
	var refused *oauth2.RetrieveError
	switch {
	case errors.As(err, &refused) && refused.ErrorCode == "invalid_grant":
		return nil, err // the server is asked without a token, and says that it wants one
	case err != nil:
		return nil, fmt.Errorf("renew the token of the MCP server %s: %w", words(t.spec.Name), refusal(err))
	}
	if in.Access, in.Expiry = renewed.AccessToken, renewed.Expiry; renewed.RefreshToken != "" {
		in.Refresh = renewed.RefreshToken
	}
	if err := t.tokens.write(t.spec, in); err != nil {
		return nil, err
	}
	in, _ = t.tokens.read(t.spec)
	return in.token(), nil
}

// refusal is an error of an authorization server without the answer that it sent: that may be long, and may repeat
// what jp sent.
func refusal(err error) error {
	var refused *oauth2.RetrieveError
	if !errors.As(err, &refused) {
		return err
	}
	why := strings.TrimSpace(words(refused.ErrorCode) + " " + words(refused.ErrorDescription))
	if why == "" && refused.Response != nil {
		why = refused.Response.Status
	}
	return fmt.Errorf("the authorization server refuses: %s", conversation.Shorten(why, 200))
}

// valid reports whether a token can be used as it is: it has not ended, or cannot be renewed.
func (in signedIn) valid() bool {
	return in.Refresh == "" || in.Expiry.IsZero() || time.Now().Before(in.Expiry.Add(-early))
}

// token is nil where there is none.
func (in signedIn) token() *oauth2.Token {
	if in.Access == "" {
		return nil
	}
	return &oauth2.Token{AccessToken: in.Access}
}

// A stored handler uses the token of a user who has signed in, and asks no one to.
type stored struct {
	source *tokenSource
	name   string
}

// TokenSource implements [auth.OAuthHandler].
func (h stored) TokenSource(context.Context) (oauth2.TokenSource, error) {
	if _, ok := h.source.tokens.read(h.source.spec); !ok {
		return nil, nil
	}
	return h.source, nil
}

// Authorize implements [auth.OAuthHandler].
func (h stored) Authorize(_ context.Context, _ *http.Request, response *http.Response) error {
	response.Body.Close()
	return &signInError{h.name}
}

// challenged reports whether a response asks for the token of a user who has signed in.
func challenged(response *http.Response) bool {
	challenges := strings.ToLower(strings.Join(response.Header.Values("WWW-Authenticate"), " "))
	return response.StatusCode == http.StatusUnauthorized && strings.Contains(challenges, "bearer")
}

// signs says which responses the authorizer of a server answers, nil if it has none.
func signs(s Spec, o Options) func(*http.Response) bool {
	switch {
	case authorizer(s, o) == nil:
		return nil
	case o.signIn != nil:
		return func(r *http.Response) bool {
			return r.StatusCode == http.StatusUnauthorized || r.StatusCode == http.StatusForbidden
		}
	}
	return challenged
}

// signInHint is what a user can do if a server refuses what it gets.
func signInHint(s Spec) string {
	for name := range s.Headers {
		if strings.EqualFold(name, "Authorization") {
			return "check mcp." + words(s.Name) + ".headers"
		}
	}
	return "jp mcp login " + words(s.Name)
}

// A signInError is the [ErrSignIn] of a server.
type signInError struct{ server string }

// Error names the command.
func (e *signInError) Error() string {
	return fmt.Sprintf("%v (jp mcp login %s)", ErrSignIn, words(e.server))
}

// Unwrap makes it one.
func (e *signInError) Unwrap() error { return ErrSignIn }

// authorizer signs requests to a server. It is nil where the configuration says what the server gets.
func authorizer(s Spec, o Options) auth.OAuthHandler {
	for name := range s.Headers {
		if strings.EqualFold(name, "Authorization") {
			return nil
		}
	}
	switch {
	case o.signIn != nil:
		return o.signIn
	case o.Tokens.Dir == "":
		return nil
	}
	return stored{&tokenSource{tokens: o.Tokens, spec: s, client: authClient(o)}, s.Name}
}

// checkAddress refuses an address of an authorization server that is no public one over https, besides those of the
// hosts that may be private.
func (o Options) checkAddress(text string) (*url.URL, error) {
	at, err := publicnet.Parse(text)
	if err != nil {
		return nil, err
	}
	private := slices.ContainsFunc(o.Private, func(host string) bool { return strings.EqualFold(host, at.Hostname()) })
	if at.Scheme != "https" && !private {
		return nil, fmt.Errorf("its scheme is %q (want https)", at.Scheme)
	}
	return at, nil
}

// authClient speaks to authorization servers. It checks each address as that of the server, follows no redirect, and
// bounds each answer and its time.
func authClient(o Options) *http.Client {
	return &http.Client{
		Timeout:       30 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: checked{o, &http.Transport{
			DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
				host, _, err := net.SplitHostPort(address)
				if err != nil {
					return nil, err
				}
				return publicnet.Dialer(host, o.Private).DialContext(ctx, network, address)
			},
			ForceAttemptHTTP2: true, MaxResponseHeaderBytes: 64 << 10, TLSHandshakeTimeout: 10 * time.Second, DisableKeepAlives: true,
		}},
	}
}

// checked checks the addresses of requests.
type checked struct {
	opts Options
	next http.RoundTripper
}

// RoundTrip implements [http.RoundTripper].
func (c checked) RoundTrip(r *http.Request) (*http.Response, error) {
	if _, err := c.opts.checkAddress(r.URL.String()); err != nil {
		return nil, err
	}
	response, err := c.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if response.StatusCode >= 300 && response.StatusCode <= 399 {
		return nil, errors.Join(errors.New("it redirects, and jp follows no redirect of an authorization server"), response.Body.Close())
	}
	response.Body = struct {
		io.Reader
		io.Closer
	}{io.LimitReader(response.Body, maxAuthAnswer), response.Body}
	return response, nil
}
