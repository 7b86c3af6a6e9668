package mcp

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"
	"golang.org/x/sys/unix"

	"jp/internal/publicnet"
	"jp/internal/safefile"
)

// Tokens keep what the user signed in to: one file for the address of each server, which only the user can read.
type Tokens struct {
	Dir    string             // absolute; "": the user cannot sign in
	Secret func(value string) // is told of what must be recorded nowhere; may be nil
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

// signedIn is what a file of tokens says.
type signedIn struct {
	URL          string           `json:"url"` // of the server
	TokenURL     string           `json:"token_url"`
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
	file, err := os.OpenFile(t.file(s)+".lock", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	for err = unix.EINTR; err == unix.EINTR; {
		err = unix.Flock(int(file.Fd()), unix.LOCK_EX)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return func() { file.Close() }, nil
}

// SignOut forgets the user's token. It reports whether there was one.
func (s *Server) SignOut() (bool, error) {
	err := os.Remove(s.opts.Tokens.file(s.spec))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	_ = os.Remove(s.opts.Tokens.file(s.spec) + ".lock")
	return err == nil, err
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
		oauth2.SetAuthURLParam("grant_type", "refresh_token"), oauth2.SetAuthURLParam("refresh_token", in.Refresh), oauth2.SetAuthURLParam("resource", in.URL))
	if err != nil {
		return nil, err
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
	challenges := strings.ToLower(strings.Join(response.Header.Values("WWW-Authenticate"), " "))
	if response.StatusCode != http.StatusUnauthorized || !strings.Contains(challenges, "bearer") {
		return nil // it says again what is wrong
	}
	response.Body.Close()
	return &signInError{h.name}
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

// SignIn lets the user sign in to the server in a browser. tell is told the address to open. The token is kept
// before SignIn returns.
func (s *Server) SignIn(ctx context.Context, tell func(address string)) error {
	if s.spec.URL == "" {
		return fmt.Errorf("%w: it is a program", ErrNoSignIn)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, signInTime, errSilent)
	defer cancel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer listener.Close()
	redirect := "http://" + listener.Addr().String() + "/callback"
	o, kept := s.opts, false
	o.signIn, err = auth.NewAuthorizationCodeHandler(&auth.AuthorizationCodeHandlerConfig{
		DynamicClientRegistrationConfig: &auth.DynamicClientRegistrationConfig{Metadata: &oauthex.ClientRegistrationMetadata{
			ClientName: "jp", RedirectURIs: []string{redirect}, GrantTypes: []string{"authorization_code", "refresh_token"},
			ResponseTypes: []string{"code"}, TokenEndpointAuthMethod: "none",
		}},
		RedirectURL: redirect, RequestRefreshToken: true, AcceptUnadvertisedIss: true, Client: authClient(o),
		AuthorizationCodeFetcher: func(_ context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
			at, err := o.checkAddress(args.URL)
			if err != nil {
				return nil, fmt.Errorf("the address to sign in at: %w", err)
			}
			tell(at.String())
			return comesBack(ctx, listener, at.Query().Get("state"))
		},
		NewTokenSource: func(_ context.Context, c *oauth2.Config, token *oauth2.Token) (oauth2.TokenSource, error) {
			kept = true
			err := o.Tokens.write(s.spec, signedIn{
				URL: s.spec.URL, TokenURL: c.Endpoint.TokenURL, AuthStyle: c.Endpoint.AuthStyle, ClientID: c.ClientID, ClientSecret: c.ClientSecret,
				Access: token.AccessToken, Refresh: token.RefreshToken, Expiry: token.Expiry,
			})
			return &tokenSource{tokens: o.Tokens, spec: s.spec, client: authClient(o)}, err
		},
	})
	if err != nil {
		return err
	}
	conn, err := connect(ctx, s.spec, o)
	if err != nil {
		return err
	}
	defer conn.close(0)
	if _, err := conn.list(ctx, s.spec, o); err != nil || kept {
		return err
	}
	return ErrNoSignIn
}

// comesBack waits until the browser comes back with a code. What has another state is no answer.
func comesBack(ctx context.Context, listener net.Listener, state string) (*auth.AuthorizationResult, error) {
	type answer struct {
		result *auth.AuthorizationResult
		err    error
	}
	came := make(chan answer, 1)
	server := &http.Server{ReadHeaderTimeout: 10 * time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		w.Header().Set("Content-Security-Policy", "default-src 'none'")
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		if r.URL.Path != "/callback" || state == "" || subtle.ConstantTimeCompare([]byte(q.Get("state")), []byte(state)) != 1 {
			http.Error(w, "This is not the answer that jp waits for.", http.StatusBadRequest)
			return
		}
		a := answer{result: &auth.AuthorizationResult{Code: q.Get("code"), State: q.Get("state"), Iss: q.Get("iss")}}
		if q.Get("code") == "" {
			a = answer{err: fmt.Errorf("the user did not sign in: %s", words(q.Get("error"), q.Get("error_description")))}
		}
		fmt.Fprintln(w, "jp has the answer. You can close this page.")
		select {
		case came <- a:
		default:
		}
	})}
	go func() { _ = server.Serve(listener) }()
	defer func() {
		short, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = server.Shutdown(short) // the browser gets its page
	}()
	select {
	case a := <-came:
		return a.result, a.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
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
	}{io.LimitReader(response.Body, 1<<20), response.Body}
	return response, nil
}
