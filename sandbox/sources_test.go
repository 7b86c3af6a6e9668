package sandbox_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"jp/sandbox"
)

func TestSources(t *testing.T) {
	for name, c := range map[string]struct {
		environ, caches, write []string
		want                   []string // the user's folders
	}{
		"no home":          {},
		"a home":           {environ: []string{"HOME=/h"}, want: []string{"/h/go/pkg/mod", "/h/.cargo"}},
		"two Go paths":     {environ: []string{"HOME=/h", "GOPATH=/p:/q"}, want: []string{"/p/pkg/mod", "/h/.cargo"}},
		"by variables":     {environ: []string{"HOME=/h", "GOPATH=/p", "GOMODCACHE=/m", "CARGO_HOME=/c"}, want: []string{"/m", "/c"}},
		"not absolute":     {environ: []string{"HOME=/h", "GOPATH=p", "GOMODCACHE=m", "CARGO_HOME=c"}, want: []string{"/h/.cargo"}},
		"no home but XDG":  {environ: []string{"XDG_CACHE_HOME=/x", "CARGO_HOME=/c"}, want: []string{"/c"}},
		"writable caches":  {environ: []string{"HOME=/h"}, caches: []string{"pip", "~/.cargo/registry", "/h/go"}},
		"a writable place": {environ: []string{"HOME=/h"}, write: []string{"~/go/pkg/mod", "build"}, want: []string{"/h/.cargo"}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, s := range (sandbox.Places{Workspace: "/w", Environ: c.environ, Caches: c.caches, Write: c.write}).Sources() {
				got = append(got, s.Folder)
			}
			require.Equal(t, c.want, got)
		})
	}
}

func TestSourcesOfWorkspaces(t *testing.T) {
	first := sandbox.Places{Workspace: "/w", Environ: []string{"HOME=/h"}}
	second := first
	second.Workspace = "/v"
	for i, s := range first.Sources() {
		require.NotEqual(t, s.Own, second.Sources()[i].Own)
		require.Contains(t, s.Variables[len(s.Variables)-1], "=/h/.cache/jp-tools/"+s.Own)
	}
}

func TestDownloads(t *testing.T) {
	const goHash, crate, checkout = "cache/download/example.com/!m/@v/v1.0.0.ziphash", "registry/cache/index-1/m-1.0.0.crate", "git/checkouts/m-1/abc/.cargo-ok"
	const goMod, notOwn = "cache/download/example.com/!m/@v/v1.0.0.mod", "git/checkouts/m-1/abc/vendor/v/.cargo-ok"
	for name, c := range map[string]struct {
		user, own []string
		links     []string
		needed    bool
	}{
		"nothing":             {},
		"the user's":          {user: []string{goHash, goMod, crate, checkout}, links: []string{goHash, goMod, crate}},
		"both":                {user: []string{goHash, crate, checkout}, own: []string{goHash, crate, checkout}},
		"linked":              {user: []string{goHash}, own: []string{goHash + " -> /user/" + goHash}},
		"linked, and gone":    {own: []string{goHash + " -> /user/" + goHash}},
		"a module":            {own: []string{goHash, goMod}, needed: true},
		"a question about it": {own: []string{goMod}},
		"a crate":             {own: []string{crate}, needed: true},
		"a checkout":          {own: []string{checkout}, needed: true},
		"in a checkout":       {own: []string{notOwn}},
		"settings":            {user: []string{"config.toml", "git/checkouts/m-1/abc/config.toml", "registry/src/i/m/Cargo.toml"}, links: []string{"config.toml"}},
		"locks and lists":     {user: []string{"cache/download/m/@v/list", "cache/download/m/@v/v1.0.0.lock", "cache/lock"}},
	} {
		t.Run(name, func(t *testing.T) {
			var links []string
			needed := false
			for _, s := range (sandbox.Places{Environ: []string{"HOME=/h"}}).Sources() {
				links = append(links, s.Links(files(c.user...), files(c.own...))...)
				needed = needed || s.Needed(files(c.user...), files(c.own...))
			}
			require.ElementsMatch(t, c.links, links)
			require.Equal(t, c.needed, needed)
		})
	}
}
