package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/agent/problem"
	"jp/internal/testing/vendortest"
)

// A tokenServer lets requests with a token pass to a server of vendors. A token of a key_command is accepted
// for so many requests.
type tokenServer struct {
	*httptest.Server
	accepts int
	vendor  vendortest.Vendor
	refusal func(w http.ResponseWriter)

	mu     sync.Mutex
	uses   map[string]int
	bodies map[bool][]string // of requests, by whether their token was accepted
}

// tokens puts a server of tokens between a place and its vendors. The vendor's key_command prints another
// token each time, and counts its runs in the file "runs" beside the repository.
func (p *workspace) tokens(s *vendortest.Server, v vendortest.Vendor, accepts int) *tokenServer {
	p.t.Helper()
	g := &tokenServer{accepts: accepts, vendor: v, uses: map[string]int{}, bodies: map[bool][]string{}}
	g.refusal = func(w http.ResponseWriter) {
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprint(w, `{"error":{"type":"authentication_error","message":"The access token has expired"}}`)
	}
	g.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ") + r.Header.Get("X-Api-Key") + r.Header.Get("X-Goog-Api-Key")
		g.mu.Lock()
		g.uses[token]++
		ok := g.accepts == 0 || g.uses[token] <= g.accepts
		g.bodies[ok] = append(g.bodies[ok], string(body))
		g.mu.Unlock()
		if !ok {
			g.refusal(w)
			return
		}
		v.Authorize(r)
		r.Body = io.NopCloser(bytes.NewReader(body))
		s.ServeHTTP(w, r)
	}))
	p.t.Cleanup(g.Close)
	for i, set := range p.environ {
		p.environ[i] = strings.ReplaceAll(set, s.URL, g.URL)
	}
	p.write("../token", "printf x >>'"+p.beside("runs")+"'\necho token-number-$(wc -c <'"+p.beside("runs")+"' | tr -d ' ')\n")
	p.environ = append(p.environ, "JP_CFG_PROVIDERS__"+strings.ToUpper(v.Name)+`__KEY_COMMAND=["sh","`+p.beside("token")+`"]`)
	return g
}

// beside is a file beside the repository.
func (p *workspace) beside(name string) string { return filepath.Join(filepath.Dir(p.dir), name) }

// runs is how often the key_command ran.
func (p *workspace) runs() int {
	text, err := os.ReadFile(p.beside("runs"))
	require.NoError(p.t, err)
	return len(text)
}

// TestAKeyIsRenewedInTheMiddleOfATurn refuses each token after two requests. The turn of five calls ends well, each
// refused request is sent again with the same bytes, and the program runs once more for each refusal.
func TestAKeyIsRenewedInTheMiddleOfATurn(t *testing.T) {
	t.Parallel()
	read := func(n int) vendortest.Reply {
		return vendortest.Reply{Reasoning: "Look.", Calls: []vendortest.Call{{ID: fmt.Sprint("call_", n), Name: "fs_read_file", Arguments: fmt.Sprintf(`{"path":"README.md","start_line":%d}`, n)}}}
	}
	for _, v := range vendortest.Vendors() {
		if v.KeyEnv() == "" {
			continue
		}
		for _, detached := range []bool{false, true} {
			t.Run(fmt.Sprint(v.Name, detached), func(t *testing.T) {
				t.Parallel()
				p, s := vendorPlace(t, read(1), read(2), read(3), read(4), vendortest.Reply{Text: "Read."})
				g := p.tokens(s, v, 2)
				if detached {
					out := p.jp("query", "-y", "--detach", "-m", v.Asked(), "--cfg", "limits.same_calls=0", "Read it")
					require.Zero(t, out.exit, out.stderr)
					out = p.jp("attach", "--wait")
					require.Zero(t, out.exit, out.stderr)
					require.Contains(t, p.jp("print").stdout, "Read.")
				} else {
					require.Equal(t, "Read.\n", p.asks(v, "--cfg", "limits.same_calls=0", "Read it").stdout)
				}
				require.Len(t, g.bodies[true], 5)
				require.Equal(t, []string{g.bodies[true][2], g.bodies[true][4]}, g.bodies[false], "the same bytes")
				s.AppendOnly()
				if !detached { // else the starting process needs the key, too
					require.Equal(t, 3, p.runs())
				}

				// A token that is refused at once is renewed once, and the words of the server end the query.
				g.mu.Lock()
				g.accepts = -1
				g.mu.Unlock()
				before := p.runs()
				out := p.jp("query", "Again")
				require.Equal(t, problem.ExitProvider, out.exit, out.stderr)
				require.Contains(t, out.stderr, "access token has expired")
				require.Contains(t, out.stderr, "The key is what sh printed")
				require.Equal(t, before+2, p.runs())
			})
		}
	}
}

// TestARefusalThatIsNotAboutTheKey runs no program again.
func TestARefusalThatIsNotAboutTheKey(t *testing.T) {
	t.Parallel()
	v := vendortest.VendorNamed("openai")
	p, s := vendorPlace(t)
	g := p.tokens(s, v, -1)
	g.refusal = func(w http.ResponseWriter) {
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprint(w, `{"error":{"code":"unsupported_country_region_territory","message":"Country, region, or territory not supported"}}`)
	}
	require.Equal(t, problem.ExitProvider, p.jp("query", "-m", v.Asked(), "Hello").exit)
	require.Equal(t, 1, p.runs())
	require.Len(t, g.bodies[false], 1)
}

// TestAKeyThatIsTooOldIsRenewedBefore never sees a refusal.
func TestAKeyThatIsTooOldIsRenewedBefore(t *testing.T) {
	t.Parallel()
	v := vendortest.VendorNamed("anthropic")
	p, s := vendorPlace(t, working()...)
	g := p.tokens(s, v, 0)
	require.Equal(t, greeting+"\n", p.asks(v, "--cfg", "providers.anthropic.key_ttl=1ns", "Make it").stdout)
	require.Empty(t, g.bodies[false])
	require.Equal(t, 3, p.runs(), "before each call")
	out := p.jp("query", "--cfg", "providers.anthropic.key_ttl=-5m", "Again")
	require.Equal(t, problem.ExitUsage, out.exit, out.stderr)
}

// TestAKeyCommandThatFailsLater ends the turn with its words. The question is recorded.
func TestAKeyCommandThatFailsLater(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ script, says string }{
		"nothing":   {"true", "printed nothing"},
		"two lines": {"echo one-key-of-two; echo another-key", "is not a key"},
		"failure":   {"echo Vault is sealed. >&2; exit 3", "Vault is sealed."},
		"too much":  {"yes", "more than any key has"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := vendortest.VendorNamed("anthropic")
			p, s := vendorPlace(t, working()...)
			p.tokens(s, v, 2)
			p.write("../token", "printf x >>'"+p.beside("runs")+"'\n[ $(wc -c <'"+p.beside("runs")+"') = 1 ] && { echo token-number-1; exit; }\n"+tc.script+"\n")
			out := p.jp("query", "-y", "-m", v.Asked(), "Make it")
			require.Equal(t, problem.ExitProvider, out.exit, out.stderr)
			require.Contains(t, out.stderr, "Error: anthropic cannot be asked: ")
			require.Contains(t, out.stderr, tc.says)
			require.NotContains(t, out.stderr, "another-key")
			require.Contains(t, out.stderr, "Your question is recorded.")
			require.Equal(t, 2, p.runs())
		})
	}
}
