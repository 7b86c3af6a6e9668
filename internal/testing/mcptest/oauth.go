package mcptest

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
)

// Guarded is a server over HTTP that only takes tokens of an authorization server, and plays that server,
// too. A person who opens the address to sign in has signed in.
type Guarded struct {
	URL   string       // of the test server that serves this; /mcp is the MCP server
	Serve http.Handler // of the MCP server
	Lives int          // seconds that a token counts
	// Issuer is the issuer that the authorization server claims to be. Default: URL.
	Issuer string
	// Elsewhere is the address that the MCP server gives for its authorization server. Default: URL.
	Elsewhere string
	// Client and Secret are of a client that is registered already. Default: clients register themselves.
	Client, Secret string
	// Root makes the MCP server publish its metadata for the whole host, in place of its address.
	Root bool
	// RevokesAt is the address that the authorization server gives for revoking tokens. Default: at its own
	// address.
	RevokesAt string
	// Revokes is whether tokens can be taken back, and Verbose whether a refusal repeats the request.
	Revokes, Verbose bool

	mu      sync.Mutex
	n       int
	tokens  map[string]bool
	refresh map[string]bool
	codes   map[string]url.Values
	wrong   []string
	renewed int
	revoked []string
}

// Wrong lists the client's violations of the protocol.
func (g *Guarded) Wrong() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.wrong)
}

// Renewed is how often a token was renewed.
func (g *Guarded) Renewed() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.renewed
}

// Revoked are the tokens that were taken back.
func (g *Guarded) Revoked() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.revoked)
}

// Forget revokes all tokens.
func (g *Guarded) Forget() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.tokens, g.refresh = nil, nil
}

// ServeHTTP implements [http.Handler].
func (g *Guarded) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/mcp" {
		token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		g.mu.Lock()
		known := g.tokens[token]
		g.mu.Unlock()
		if !known {
			challenge := `Bearer resource_metadata="` + g.URL + `/.well-known/oauth-protected-resource/mcp"`
			if g.Root {
				challenge = "Bearer"
			}
			w.Header().Set("WWW-Authenticate", challenge)
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		g.Serve.ServeHTTP(w, r)
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	switch r.URL.Path {
	case "/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp":
		if g.Root == strings.HasSuffix(r.URL.Path, "/mcp") {
			http.NotFound(w, r)
			return
		}
		at := g.URL
		if g.Elsewhere != "" {
			at = g.Elsewhere
		}
		fmt.Fprintf(w, `{"resource":%q,"authorization_servers":[%q]}`, g.resource(), at)
	case "/.well-known/oauth-authorization-server":
		issuer := g.URL
		if g.Issuer != "" {
			issuer = g.Issuer
		}
		says := map[string]any{
			"issuer": issuer, "authorization_endpoint": g.URL + "/authorize", "token_endpoint": g.URL + "/token",
			"response_types_supported": []string{"code"}, "code_challenge_methods_supported": []string{"S256"},
		}
		if g.Client == "" {
			says["registration_endpoint"] = g.URL + "/register"
		}
		if g.Revokes {
			says["revocation_endpoint"] = cmp.Or(g.RevokesAt, g.URL+"/revoke")
		}
		if g.Secret != "" {
			says["token_endpoint_auth_methods_supported"] = []string{"client_secret_basic"}
		}
		_ = json.NewEncoder(w).Encode(says)
	case "/register":
		var client map[string]any
		_ = json.NewDecoder(r.Body).Decode(&client)
		client["client_id"] = "client"
		w.WriteHeader(http.StatusCreated)
		_ = json.NewEncoder(w).Encode(client)
	case "/authorize":
		q := r.URL.Query()
		g.expect(q.Get("client_id") == g.client() && q.Get("code_challenge_method") == "S256" && q.Get("code_challenge") != "" && q.Get("state") != "", "authorize: "+r.URL.RawQuery)
		g.expect(q.Get("resource") == g.resource(), "authorize without the resource: "+r.URL.RawQuery)
		code := g.next("code")
		if g.codes == nil {
			g.codes = map[string]url.Values{}
		}
		g.codes[code] = q
		http.Redirect(w, r, q.Get("redirect_uri")+"?"+url.Values{"code": {code}, "state": {q.Get("state")}}.Encode(), http.StatusFound)
	case "/token":
		g.token(w, r)
	case "/revoke":
		_ = r.ParseForm()
		if g.expect(g.Revokes && g.knows(r), "taken back by another client: "+r.PostForm.Encode()); !g.Revokes {
			http.NotFound(w, r)
			return
		}
		token := r.PostForm.Get("token")
		delete(g.tokens, token)
		delete(g.refresh, token)
		g.revoked = append(g.revoked, r.PostForm.Get("token_type_hint")+" "+token)
	default:
		http.NotFound(w, r)
	}
}

func (g *Guarded) token(w http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm()
	f := r.PostForm
	g.expect(g.knows(r), "a token of another client: "+f.Encode())
	g.expect(f.Get("resource") == g.resource(), "a token without the resource: "+f.Encode())
	good := false
	switch f.Get("grant_type") {
	case "authorization_code":
		asked := g.codes[f.Get("code")]
		delete(g.codes, f.Get("code"))
		sum := sha256.Sum256([]byte(f.Get("code_verifier")))
		good = asked != nil && base64.RawURLEncoding.EncodeToString(sum[:]) == asked.Get("code_challenge") && f.Get("redirect_uri") == asked.Get("redirect_uri")
		g.expect(good, "a code that is none, or of another client: "+f.Encode())
	case "refresh_token":
		good = g.refresh[f.Get("refresh_token")]
		delete(g.refresh, f.Get("refresh_token"))
		g.renewed++
	}
	if !good {
		w.WriteHeader(http.StatusBadRequest)
		if g.Verbose {
			fmt.Fprint(w, f.Encode()+strings.Repeat(" and so on", 10_000))
			return
		}
		fmt.Fprint(w, `{"error":"invalid_grant"}`)
		return
	}
	if g.tokens == nil {
		g.tokens, g.refresh = map[string]bool{}, map[string]bool{}
	}
	access, refresh := g.next("access"), g.next("refresh")
	g.tokens[access], g.refresh[refresh] = true, true
	fmt.Fprintf(w, `{"access_token":%q,"refresh_token":%q,"token_type":"Bearer","expires_in":%d}`, access, refresh, g.Lives)
}

func (g *Guarded) resource() string {
	if g.Root {
		return g.URL
	}
	return g.URL + "/mcp"
}

func (g *Guarded) client() string {
	if g.Client == "" {
		return "client"
	}
	return g.Client
}

// knows reports whether a request is of the client.
func (g *Guarded) knows(r *http.Request) bool {
	id, secret, basic := r.BasicAuth()
	if !basic {
		id, secret = r.PostForm.Get("client_id"), r.PostForm.Get("client_secret")
		return id == g.client() && secret == g.Secret
	}
	return id == url.QueryEscape(g.client()) && secret == url.QueryEscape(g.Secret)
}

func (g *Guarded) expect(is bool, what string) {
	if !is {
		g.wrong = append(g.wrong, what)
	}
}

func (g *Guarded) next(kind string) string {
	g.n++
	return fmt.Sprintf("%s-%d-secret-of-the-test", kind, g.n)
}
