package sandbox_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"jp/sandbox"
)

func TestPrivateKeys(t *testing.T) {
	tree := files("/w/f", "/h/.ssh/id_ed25519", "/h/.ssh/id_ed25519.pub", "/h/.ssh/work", "/h/.ssh/known_hosts", "/h/.ssh/known_hosts.old",
		"/h/.ssh/config", "/h/.ssh/authorized_keys", "/h/.ssh/allowed_signers", "/h/.ssh/config.d/x", "/h/.gnupg/private-keys-v1.d/k", "/h/.gnupg/pubring.kbx",
		"/h/.config/age/keys.txt", "/k/private-keys-v1.d/k", "/run/u/gnupg/d/S.gpg-agent", "/run/u/bus", "/run/u/agent", "/tmp/ssh-1/agent", "/keys/mine", "/keys/mine.pub")
	tree["l/.ssh"] = &fstest.MapFile{Data: []byte("../keys"), Mode: fs.ModeSymlink}
	ssh := []string{"/h/.ssh/id_ed25519", "/h/.ssh/work"}
	for name, c := range map[string]struct {
		environ, write []string
		want           []string
	}{
		"no home": {},
		"a home":  {environ: []string{"HOME=/h"}, want: append(ssh, "/h/.gnupg/private-keys-v1.d", "/h/.config/age/keys.txt")},
		"agents": {environ: []string{"SSH_AUTH_SOCK=/run/u/agent", "XDG_RUNTIME_DIR=/run/u", "GNUPGHOME=/k"}, want: []string{
			"/k/private-keys-v1.d", "/run/u/agent", "/run/u/bus", "/run/u/gnupg",
		}},
		"an agent among temporary files": {environ: []string{"SSH_AUTH_SOCK=/tmp/ssh-1/agent"}},
		"what is not there":              {environ: []string{"HOME=/none", "SSH_AUTH_SOCK=/run/u/other"}},
		"what is no path":                {environ: []string{"HOME=h", "SSH_AUTH_SOCK=run/u/agent", "GNUPGHOME=k"}},
		"allowed":                        {environ: []string{"HOME=/h"}, write: []string{"~/.ssh"}, want: []string{"/h/.gnupg/private-keys-v1.d", "/h/.config/age/keys.txt"}},
		"one allowed":                    {environ: []string{"HOME=/h"}, write: []string{"/h/.ssh/work", "~/.gnupg", "~/.config"}, want: []string{"/h/.ssh/id_ed25519"}},
		"behind a link":                  {environ: []string{"HOME=/l"}, want: []string{"/l/.ssh/mine"}},
	} {
		t.Run(name, func(t *testing.T) {
			p := sandbox.Places{Workspace: "/w", GitDir: "/w/.git", CommonDir: "/w/.git", Environ: c.environ, Write: c.write, Hidden: []string{"/k/jp"}}
			r := p.Rules(tree)
			require.ElementsMatch(t, c.want, r.Private)
			require.Equal(t, []string{"/k/jp"}, r.Hidden)
		})
	}
}

func TestKeysCannotBeRead(t *testing.T) {
	g := newGround(t)
	write(t, filepath.Join(g.home, ".ssh/id_ed25519"), "a private key\n")
	write(t, filepath.Join(g.home, ".ssh/id_ed25519.pub"), "a public key\n")
	write(t, filepath.Join(g.home, ".ssh/known_hosts"), "hosts\n")
	write(t, filepath.Join(g.home, ".gnupg/private-keys-v1.d/k"), "another one\n")
	require.NoError(t, os.Mkdir(filepath.Join(g.home, "backup"), 0o755))
	require.NoError(t, os.Link(filepath.Join(g.home, ".ssh/id_ed25519"), filepath.Join(g.home, "backup/key")), "keeps nothing from running")
	places := sandbox.Places{Workspace: g.work, Environ: []string{"HOME=" + g.home, "TMPDIR=" + g.temp}, Hidden: g.rules.Hidden}
	g.rules = places.Rules(os.DirFS("/"))
	for _, script := range []string{`cat ~/.ssh/id_ed25519`, `cp ~/.ssh/id_ed25519 .`, `ln -sfn ~/.ssh l && cat l/id_ed25519`, `cat ~/.gnupg/private-keys-v1.d/k`} {
		g.requireForbidden(t, sh(script)...)
	}
	g.requireAllowed(t, sh(`cat ~/.ssh/id_ed25519.pub ~/.ssh/known_hosts ~/note && echo x >new && f=$(mktemp) && echo x >$f`)...)
}
