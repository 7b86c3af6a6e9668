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

// Tokens keep the user's sign-ins: one file for the address of each server, which only the user can read.
type Tokens struct {
	Dir    string             // absolute; "": the user cannot sign in
	Secret func(value string) // receives secrets, to be kept out of all records; may be nil
}

// A Client is jp as an authorization server knows it, if the user has registered it there.
type Client struct {
	ID     string                 // "": jp registers itself
	Secret func() (string, error) // nil: it has none
	Port   int                    // on loopback, to which the browser comes back; 0: a free one
}

// Errors of signing in.
var (
	// ErrSignIn means that a server wants the user to sign in.
	ErrSignIn = errors.New("it wants you to sign in")
	// ErrNoSignIn means that a server needs no sign-in.
	ErrNoSignIn = errors.New("it does not ask to sign in")
)

// signInTime is how long the user may take in the browser, and early how long before its end a token is renewed.
const (
	signInTime = 10 * time.Minute
	early      = 30 * time.Second
)

// maxAuthAnswer is how much jp reads of an answer of an authorization server, in bytes.
const maxAuthAnswer = 1 << 20

// signedIn is the content of a file of tokens.
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

// read is the user's sign-in to a server; ok is false if there is none.
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
	// The library's own renewal omits the resource that the token is for.
	renewed, err := config.Exchange(ctx, "",
		oauth2.SetAuthURLParam("grant_type", "refresh_token"), oauth2.SetAuthURLParam("refresh_token", in.Refresh), oauth2.SetAuthURLParam("resource", cmp.Or(in.Resource, in.URL)))
	var refused *oauth2.RetrieveError
	switch {
	case errors.As(err, &refused) && refused.ErrorCode == "invalid_grant":
		return nil, err // jp then asks the server without a token, and the server answers that it wants one
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

// refusal is an error of an authorization server without the sent answer, which may be long and may repeat
// data from jp.
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

// valid reports whether a token can be used as it is: it is current, or it has no renewal.
func (in signedIn) valid() bool {
	return in.Refresh == "" || in.Expiry.IsZero() || time.Now().Before(in.Expiry.Add(-early))
}

// token is nil if there is none.
func (in signedIn) token() *oauth2.Token {
	if in.Access == "" {
		return nil
	}
	return &oauth2.Token{AccessToken: in.Access}
}

// A stored handler uses the token of a user who has signed in. It never starts a sign-in.
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

// signs decides which responses the authorizer of a server answers. It is nil without an authorizer.
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

// signInHint is the user's next step if a server refuses the credentials of jp.
func signInHint(s Spec) string {
	for name := range s.Headers {
		if strings.EqualFold(name, "Authorization") {
			return "check mcp." + words(s.Name) + ".headers"
		}
	}
	return "jp mcp login " + words(s.Name)
}

type signInError struct{ server string }

// Error names the command.
func (e *signInError) Error() string {
	return fmt.Sprintf("%v (jp mcp login %s)", ErrSignIn, words(e.server))
}

// Unwrap makes it one.
func (e *signInError) Unwrap() error { return ErrSignIn }

// authorizer signs requests to a server. It is nil if the configuration sets the Authorization header.
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

// checkAddress refuses an address of an authorization server unless it is a public one over https, or one of
// a host that may be private.
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
