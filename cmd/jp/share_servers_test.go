package main

import (
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// Conversations go to git's own servers and back.
func TestShareServers(t *testing.T) {
	t.Parallel()
	for name, public := range map[string]bool{"http": false, "http, public": true, "ssh": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			var open atomic.Bool // anybody may read
			open.Store(public)
			hub := p.beside("hub.git")
			p.git("init", "-q", "--bare", hub)
			p.git("-C", hub, "config", "http.receivepack", "true")
			backend := &cgi.Handler{
				Path: strings.TrimSpace(p.git("--exec-path")) + "/git-http-backend",
				Env:  append(p.environ, "GIT_PROJECT_ROOT="+filepath.Dir(hub), "GIT_HTTP_EXPORT_ALL=1", "REMOTE_USER=ada"),
			}
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				writes := strings.HasSuffix(r.URL.Path, "/git-receive-pack") || r.URL.Query().Get("service") == "git-receive-pack"
				if _, password, _ := r.BasicAuth(); password != "word" && (writes || !open.Load()) {
					w.Header().Set("WWW-Authenticate", `Basic realm="hub"`)
					w.WriteHeader(http.StatusUnauthorized)
					return
				}
				backend.ServeHTTP(w, r)
			}))
			t.Cleanup(server.Close)
			url := server.URL + "/hub.git"
			if name == "ssh" {
				url = "ssh://hub" + hub
				program := p.beside("ssh")
				require.NoError(t, os.WriteFile(program, []byte("#!/bin/sh\n# ssh [-o OPTION] HOST COMMAND\nwhile [ \"$1\" = -o ]; do shift 2; done\nshift\nexec sh -c \"$*\"\n"), 0o755))
				p.git("config", "--global", "core.sshCommand", program)
			}
			p.git("config", "--global", "credential.helper", "!f() { echo username=ada; echo password=word; }; f")
			p.git("remote", "add", "origin", url)
			p.git("push", "-q", "origin", "HEAD:refs/heads/main")
			p.write("../talk.toml", "[[reply]]\nmessage = \"Yes.\"\n")
			require.Zero(t, p.jp("query", "-m", "script/../talk.toml", "One").exit)

			asked := p.jp("push")
			require.Equal(t, 3, asked.exit, asked.stderr)
			require.Contains(t, asked.stderr, url)
			pushed := p.jp("push", "--yes")
			require.Zero(t, pushed.exit, pushed.stderr)
			require.Equal(t, public, strings.Contains(pushed.stderr, "Anybody can read what is there."), pushed.stderr)
			again := p.jp("push")
			require.Zero(t, again.exit, again.stderr)
			require.Contains(t, again.stderr, "origin has all events.")

			clone := &workspace{t: t, dir: p.beside("clone"), environ: p.environ}
			require.NoError(t, os.Mkdir(clone.dir, 0o777))
			clone.git("clone", "-q", url, ".")
			require.Zero(t, clone.jp("fetch").exit)
			require.Contains(t, clone.jp("ls", "--remote").stdout, "One")
			if name == "http" { // which anybody may read from now on
				open.Store(true)
				asked := p.jp("push")
				require.Equal(t, 3, asked.exit, asked.stderr)
			}
		})
	}
}
