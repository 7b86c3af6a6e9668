package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/internal/testing/vendortest"
)

// TestAConfiguredAddressIsKept: the query of base_url and configured headers go with
// every request, the list of models too.
func TestAConfiguredAddressIsKept(t *testing.T) {
	t.Parallel()
	for _, v := range vendortest.Vendors() {
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
			p, s := vendorPlace(t, working()...)
			var mu sync.Mutex
			var seen []*http.Request
			front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				mu.Lock()
				seen = append(seen, r)
				mu.Unlock()
				s.ServeHTTP(w, r)
			}))
			defer front.Close()
			key := "JP_CFG_PROVIDERS__" + strings.ToUpper(v.Name) + "__BASE_URL="
			for i, pair := range p.environ {
				if rest, ok := strings.CutPrefix(pair, key+s.URL); ok {
					p.environ[i] = key + front.URL + rest + "?api-version=2024-10-21"
				}
			}
			p.environ = append(p.environ, "TEAM_TOKEN=hunter2-of-the-team")
			p.configure("[providers." + v.Name + ".headers]\nX-Team = \"search\"\nX-Token = \"$TEAM_TOKEN\"\n")
			require.Equal(t, greeting+"\n", p.asks(v, "Make it").stdout)
			require.Zero(t, p.jp("models", v.Name).exit)
			mu.Lock()
			defer mu.Unlock()
			require.Len(t, seen, 4)
			for _, r := range seen {
				require.Equal(t, "2024-10-21", r.URL.Query().Get("api-version"), r.URL)
				require.Equal(t, "search", r.Header.Get("X-Team"))
				require.Equal(t, "hunter2-of-the-team", r.Header.Get("X-Token"))
			}
			require.NotContains(t, p.git("log", "--format=raw", strings.TrimSpace(p.jp("show", "--ref").stdout)), "2024-10-21")
		})
	}
}
