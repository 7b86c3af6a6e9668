package mcp

import (
	"bytes"
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
	"strconv"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"
)

// A SignInUser is the person who signs in.
type SignInUser struct {
	Open func(address string) // shows the address to open in a browser
	// Pasted gives the lines that the user enters: the address at which the browser ended, if it runs on
	// another machine and cannot reach jp. It may be nil.
	Pasted <-chan string
	Wrong  func(line string) // rejects a line that is another text; nil if Pasted is
}

// SignIn lets the user sign in to the server in a browser. The token is kept before SignIn returns.
func (s *Server) SignIn(ctx context.Context, user SignInUser) error {
	if s.spec.URL == "" {
		return fmt.Errorf("%w: it is a program", ErrNoSignIn)
	}
	if _, err := s.opts.checkAddress(s.spec.URL); err != nil { // the token goes there with each request
		return fmt.Errorf("its address: %w", err)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, signInTime, errSilent)
	defer cancel()
	listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(s.opts.Client.Port)))
	if err != nil {
		return err
	}
	defer listener.Close()
	in := &signing{server: s, listener: listener, redirect: "http://" + listener.Addr().String() + "/callback", user: user}
	o := s.opts
	if o.signIn, err = in.handler(); err != nil {
		return err
	}
	conn, err := connect(ctx, s.spec, o)
	if err != nil {
		return bounded(err)
	}
	defer conn.close(0)
	if _, err := conn.list(ctx, s.spec, o); err != nil || in.kept {
		return bounded(err)
	}
	return ErrNoSignIn
}

// bounded is an error of signing in, without the text of an authorization server.
func bounded(err error) error {
	var refused *oauth2.RetrieveError
	if errors.As(err, &refused) {
		return refusal(err)
	}
	return err
}

// signing is how the user signs in, once.
type signing struct {
	server   *Server
	listener net.Listener
	redirect string // the address at which the browser comes back
	user     SignInUser
	resource string            // the resource for the token
	revoke   map[string]string // by the address for tokens, the one that takes them back
	kept     bool              // a token is
}

func (in *signing) handler() (*auth.AuthorizationCodeHandler, error) {
	o := in.server.opts
	client := authClient(o)
	client.Transport = &revokers{in, client.Transport}
	config := auth.AuthorizationCodeHandlerConfig{
		RedirectURL: in.redirect, RequestRefreshToken: true, AcceptUnadvertisedIss: true, Client: client,
		AuthorizationCodeFetcher: in.fetch, NewTokenSource: in.keep,
	}
	switch {
	case o.Client.ID == "":
		config.DynamicClientRegistrationConfig = &auth.DynamicClientRegistrationConfig{Metadata: &oauthex.ClientRegistrationMetadata{
			ClientName: "jp", RedirectURIs: []string{in.redirect}, GrantTypes: []string{"authorization_code", "refresh_token"},
			ResponseTypes: []string{"code"}, TokenEndpointAuthMethod: "none",
		}}
	default:
		config.PreregisteredClient = &oauthex.ClientCredentials{ClientID: o.Client.ID}
		if o.Client.Secret != nil {
			secret, err := o.Client.Secret()
			if err != nil {
				return nil, err
			}
			config.PreregisteredClient.ClientSecretAuth = &oauthex.ClientSecretAuth{ClientSecret: secret}
		}
	}
	return auth.NewAuthorizationCodeHandler(&config)
}

// fetch lets the user sign in at an address, and waits for the answer.
func (in *signing) fetch(ctx context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
	at, err := in.server.opts.checkAddress(args.URL)
	if err != nil {
		return nil, fmt.Errorf("the address to sign in at: %w", err)
	}
	in.resource = at.Query().Get("resource")
	in.user.Open(at.String())
	return in.comesBack(ctx, at.Query().Get("state"))
}

func (in *signing) keep(_ context.Context, c *oauth2.Config, token *oauth2.Token) (oauth2.TokenSource, error) {
	in.kept = true
	s := in.server
	err := s.opts.Tokens.write(s.spec, signedIn{
		URL: s.spec.URL, Resource: in.resource, TokenURL: c.Endpoint.TokenURL, RevokeURL: in.revokesAt(c.Endpoint.TokenURL), AuthStyle: c.Endpoint.AuthStyle,
		ClientID: c.ClientID, ClientSecret: c.ClientSecret, Access: token.AccessToken, Refresh: token.RefreshToken, Expiry: token.Expiry,
	})
	return &tokenSource{tokens: s.opts.Tokens, spec: s.spec, client: authClient(s.opts)}, err
}

// revokesAt is the address at which an authorization server takes tokens back. It must be on the host that
// gives them, since any other host has no claim to a token.
func (in *signing) revokesAt(tokenURL string) string {
	revoke := in.revoke[tokenURL]
	from, err := url.Parse(tokenURL)
	to, wrong := url.Parse(revoke)
	if err != nil || wrong != nil || to.Scheme != from.Scheme || to.Host != from.Host {
		return ""
	}
	return revoke
}

// revokers read the addresses for revoking tokens from the metadata of authorization servers.
type revokers struct {
	in   *signing
	next http.RoundTripper
}

// RoundTrip implements [http.RoundTripper].
func (r *revokers) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := r.next.RoundTrip(request)
	if err != nil || request.Method != http.MethodGet || response.StatusCode != http.StatusOK {
		return response, err
	}
	text, err := io.ReadAll(response.Body) // it is bounded
	if err = errors.Join(err, response.Body.Close()); err != nil {
		return nil, err
	}
	response.Body = io.NopCloser(bytes.NewReader(text))
	var server struct {
		Token  string `json:"token_endpoint"`
		Revoke string `json:"revocation_endpoint"`
	}
	if json.Unmarshal(text, &server) == nil && server.Token != "" && server.Revoke != "" {
		r.in.revoke = map[string]string{server.Token: server.Revoke}
	}
	return response, nil
}

// errOtherState rejects an address that is another one than the answer.
var errOtherState = errors.New("this is not the answer that jp expects")

// answerOf reads the answer of an authorization server from the browser. It rejects one with another state.
func answerOf(q url.Values, state string) (*auth.AuthorizationResult, error) {
	switch {
	case state == "" || subtle.ConstantTimeCompare([]byte(q.Get("state")), []byte(state)) != 1:
		return nil, errOtherState
	case q.Get("code") == "":
		return nil, fmt.Errorf("the user did not sign in: %s", words(q.Get("error"), q.Get("error_description")))
	}
	return &auth.AuthorizationResult{Code: q.Get("code"), State: q.Get("state"), Iss: q.Get("iss")}, nil
}

// comesBack waits until the browser comes back with a code, or the user enters the address at which it ended.
func (in *signing) comesBack(ctx context.Context, state string) (*auth.AuthorizationResult, error) {
	type answer struct {
		result *auth.AuthorizationResult
		err    error
	}
	came := make(chan answer, 1)
	server := &http.Server{ReadHeaderTimeout: 10 * time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", "default-src 'none'")
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		result, err := answerOf(r.URL.Query(), state)
		if r.URL.Path != "/callback" || errors.Is(err, errOtherState) {
			http.Error(w, "This is not the answer that jp expects.", http.StatusBadRequest)
			return
		}
		fmt.Fprintln(w, "jp has the answer. You can close this page.")
		select {
		case came <- answer{result, err}:
		default:
		}
	})}
	go func() { _ = server.Serve(in.listener) }()
	defer func() {
		short, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = server.Shutdown(short) // the browser gets its page
	}()
	pasted := in.user.Pasted
	for {
		select {
		case a := <-came:
			return a.result, a.err
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case line, more := <-pasted:
			if !more {
				pasted = nil
				continue
			}
			result, err := in.pasted(line, state)
			if !errors.Is(err, errOtherState) {
				return result, err
			}
			in.user.Wrong(line)
		}
	}
}

// pasted reads an address that the user entered.
func (in *signing) pasted(line, state string) (*auth.AuthorizationResult, error) {
	query, is := strings.CutPrefix(strings.TrimSpace(line), in.redirect+"?")
	q, err := url.ParseQuery(query)
	if !is || err != nil {
		return nil, errOtherState
	}
	return answerOf(q, state)
}

// A SignedOut is the outcome of signing out.
type SignedOut struct {
	Had     bool  // the user had a token
	Offered bool  // the authorization server has an address for taking tokens back
	Err     error // why that failed
}

// revokeTime is how long an authorization server may take to take a token back.
const revokeTime = 10 * time.Second

// SignOut forgets the user's token, and lets the authorization server that gave it take it back.
func (s *Server) SignOut(ctx context.Context) (out SignedOut, err error) {
	if s.spec.URL == "" {
		return out, nil
	}
	tokens := s.opts.Tokens
	if _, err := os.Lstat(tokens.file(s.spec)); errors.Is(err, fs.ErrNotExist) {
		return out, nil
	}
	unlock, err := tokens.lock(s.spec) // another process that renews the token now would write it again
	if err != nil {
		return out, err
	}
	defer unlock()
	in, ok := tokens.read(s.spec)
	switch err := os.Remove(tokens.file(s.spec)); {
	case errors.Is(err, fs.ErrNotExist):
		return out, nil
	case err != nil:
		return out, err
	}
	_ = os.Remove(tokens.file(s.spec) + ".lock")
	out.Had = true
	if out.Offered = ok && in.RevokeURL != ""; out.Offered {
		ctx, cancel := context.WithTimeout(ctx, revokeTime)
		defer cancel()
		out.Err = in.revoke(ctx, authClient(s.opts))
	}
	return out, nil
}

// revoke takes back both tokens. The one that renews comes first: most servers take the other one back with it.
func (in signedIn) revoke(ctx context.Context, client *http.Client) error {
	for _, token := range []struct{ kind, value string }{{"refresh_token", in.Refresh}, {"access_token", in.Access}} {
		if token.value == "" {
			continue
		}
		form := url.Values{"token": {token.value}, "token_type_hint": {token.kind}}
		if in.ClientSecret == "" || in.AuthStyle != oauth2.AuthStyleInHeader {
			form.Set("client_id", in.ClientID)
		}
		if in.ClientSecret != "" && in.AuthStyle != oauth2.AuthStyleInHeader {
			form.Set("client_secret", in.ClientSecret)
		}
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, in.RevokeURL, strings.NewReader(form.Encode()))
		if err != nil {
			return err
		}
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		if in.ClientSecret != "" && in.AuthStyle == oauth2.AuthStyleInHeader {
			request.SetBasicAuth(url.QueryEscape(in.ClientID), url.QueryEscape(in.ClientSecret))
		}
		response, err := client.Do(request)
		if err != nil {
			return err
		}
		if err := response.Body.Close(); err != nil {
			return err
		}
		if response.StatusCode != http.StatusOK {
			return fmt.Errorf("the authorization server answers with %s", words(response.Status))
		}
	}
	return nil
}
