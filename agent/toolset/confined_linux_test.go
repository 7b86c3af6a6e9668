package toolset_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/internal/testing/front"
	"jp/sandbox"
)

// builds is Go's cache of builds, before [front.Main] hides it.
var builds = func() string {
	cache, _ := os.UserCacheDir()
	return filepath.Join(cache, "go-build")
}()

// tries begins a program that reports of each act whether it could.
const tries = `try() { name=$1; shift; if "$@" >/dev/null 2>&1; then echo "$name: yes"; else echo "$name: no"; fi; }
`

// TestConfinedPrograms varies the acts of a tool's program, and the settings.
func TestConfinedPrograms(t *testing.T) {
	t.Parallel()
	if !sandbox.Supported().Enforced() {
		// Without a sandbox a program may do all of it.
		t.Skip("nothing is confined here")
	}
	const (
		walls = `
try read cat /etc/passwd "$HOME/.gitconfig"
try write sh -c 'echo x >new && mkdir -p d && mv new d/moved'
try build go build -o "$TMPDIR/try" .
try make make
try commit git commit -qam 'by the tool' --allow-empty
try temporary sh -c 'f=$(mktemp) && echo x >$f'
try cache sh -c 'mkdir -p "$XDG_CACHE_HOME/some" && echo x >"$XDG_CACHE_HOME/some/thing"'
try npm sh -c 'echo x >~/.npm/thing'
key=$XDG_STATE_HOME/jp/key
try key cat "$key"
ln -sf "$key" link; try link cat link
try root cat "/proc/self/root$key"
try forge sh -c 'echo x >"$XDG_STATE_HOME/jp/other"'
try configuration cat "$XDG_CONFIG_HOME/jp/config.toml"
try sockets sh -c 'echo x >"$XDG_DATA_HOME/jp/workspace/other"'
try home sh -c 'echo x >~/made'
try beside sh -c 'echo x >$HOME-made'
try environ cat /proc/$PPID/environ
try signal kill -0 $PPID`
		inside, outside = "read write build make commit temporary cache npm", "key link root forge configuration sockets home beside environ signal"
		keys            = `
try ssh cat ~/.ssh/id_ed25519
try public cat ~/.ssh/id_ed25519.pub
try gnupg cat ~/.gnupg/private-keys-v1.d/one.key
try agent test -n "$SSH_AUTH_SOCK"`
		process = `
echo "core: $(ulimit -S -c)"
try limit prlimit --pid $PPID --core=0:0
try own prlimit --nofile=64 true
try nice nice true
try renice renice -n 0 -p $PPID`
		temporary = `made=$(mktemp -d); echo "${made%.*} ${GOTMPDIR:-none}"; touch "$HOME/../beside" 2>/dev/null || true`
		cached    = `cd $XDG_CACHE_HOME && touch go-build/made && mkdir -p other && touch other/made; cd $npm_config_cache && touch _cacache/made && mkdir -p _npx && touch _npx/made`
		sources   = `m=$GOMODCACHE/cache/download; test -n "$GOMODCACHE" && mkdir -p $m/n/@v && echo x >$m/n/@v/v1.0.0.ziphash && test -L $m/m/@v/v1.0.0.mod && echo made, linked`
		editors   = `git commit --allow-empty && echo committed; git rebase -i HEAD~0 && echo rebased; sh -c "$EDITOR x" && echo edited; sh -c "$VISUAL x" && echo seen; echo prompt $GIT_TERMINAL_PROMPT, pager $PAGER $GIT_PAGER; test -e .git/rebase-merge/done || echo not begun`
		own       = `
try write sh -c 'echo x >made.txt'
try key cat "$XDG_STATE_HOME/jp/key"
try home sh -c 'echo x >~/made.txt'`
		ownTool   = "[tools.own]\ncommand = [\"sh\", \"./try.sh\"]\n"
		noEditor  = "no editor here: give -m, or --no-edit"
		out       = `echo x >~/out/made; echo x >~/elsewhere || exit 1`
		noSandbox = "[sandbox]\nenable = false\n"
		network   = "[sandbox]\nnetwork = true\n"
	)
	answers := func(yes, no string) (text string) {
		for answer, names := range map[string]string{"yes": yes, "no": no} {
			for _, name := range strings.Fields(names) {
				text += name + ": " + answer + "\n"
			}
		}
		return text
	}
	elsewhere := func(s *front.Scratch, from string) {
		s.WriteOwn("elsewhere/.keep", "")
		s.WriteOwn(".cache/jp-tools/.keep", "")
		require.NoError(t, os.Symlink(filepath.Join(s.Home, "elsewhere"), filepath.Join(s.Home, from)))
	}
	for _, row := range []struct {
		name    string
		needs   string // a program
		call    string // "": shell_run
		text    string
		config  string
		environ string                 // more of it; HOME stands for the home
		do      func(s *front.Scratch) // before
		want    string                 // the lines of the result, in any order; HOME stands for the home
		part    string                 // is in it, in place of want
		lacks   string                 // a pattern
		notice  string
		made    []string // files of the home
		absent  []string
	}{
		{name: "the walls", needs: "make", text: tries + walls, want: answers(inside, outside), absent: []string{"made"}},
		{name: "no walls", needs: "make", text: tries + walls, config: noSandbox, want: answers(inside+" "+outside, ""), made: []string{"made"}},
		{name: "keys", text: tries + keys, environ: "SSH_AUTH_SOCK=HOME/agent", want: answers("public", "ssh gnupg agent")},
		{name: "keys without walls", text: tries + keys, environ: "SSH_AUTH_SOCK=HOME/agent", config: noSandbox, want: answers("public ssh gnupg agent", "")},
		{name: "keys in a folder of the user's list", text: tries + keys, environ: "SSH_AUTH_SOCK=HOME/agent", config: "[sandbox]\nwrite = [\"~/.ssh\"]\n", want: answers("public ssh", "gnupg agent")},
		{name: "other processes", needs: "prlimit", text: tries + process, want: "core: 0\n" + answers("own nice", "limit renice")},
		{name: "editors", text: editors, environ: "EDITOR=vi VISUAL=vi GIT_EDITOR=vi", part: noEditor + "\n" + noEditor + "\nprompt 0, pager cat cat\nnot begun\n", lacks: "committed|rebased|edited|seen"},
		{name: "a tool of the user's own", call: "own {}", text: tries + own, config: ownTool, want: answers("write", "key home")},
		{name: "one without walls", call: "own {}", text: tries + own, config: ownTool + noSandbox, want: answers("write key home", "")},

		{name: "jp's folders below the temporary one", needs: "mktemp", text: temporary, environ: "TMPDIR=HOME/.. GOTMPDIR=HOME/..", want: "HOME/.cache/jp-tools/tmp/tmp HOME/.cache/jp-tools/tmp\n", absent: []string{"../beside"}},
		{name: "a failure below it", text: "false", environ: "TMPDIR=HOME/..", do: func(s *front.Scratch) { s.WriteOwn(".cache/jp-tools/a", "") }, part: "[confined: writes outside the workspace and the network are off; temporary files go to $TMPDIR; see"},
		{name: "the user's own temporary folder", needs: "mktemp", text: temporary, want: "HOME/tmp/tmp none\n", absent: []string{"../beside"}},
		{name: "a failure there", text: "false", part: "[confined: writes outside the workspace and the network are off; see sandbox.write, sandbox.network]", lacks: "TMPDIR; see"},

		{name: "a folder of the user's list", text: out, config: "[sandbox]\nwrite = [\"~/out\"]\n", part: "\nexit status 1\n[confined: writes outside the workspace and the network are off; see sandbox.write, sandbox.network]\n", made: []string{"out/made"}, absent: []string{"elsewhere"}},
		{name: "and the network", text: out, config: "[sandbox]\nwrite = [\"~/out\"]\nnetwork = true\n", part: "\nexit status 1\n[confined: writes outside the workspace are off; see sandbox.write]\n", absent: []string{"elsewhere"}},
		{name: "a repository that wants less of it", text: out, do: func(s *front.Scratch) { s.Write(".jp/config.toml", "[sandbox]\nenable = false\nwrite = [\"/\"]\n") }, part: "exit status 1", absent: []string{"elsewhere"}, notice: "settings have no effect (sandbox.enable"},

		{name: "caches", text: cached, made: []string{".cache/go-build/made", ".npm/_cacache/made", ".cache/jp-tools/other/made", ".cache/jp-tools/npm/_npx/made"}},
		{name: "a link in the folder of caches", text: cached, do: func(s *front.Scratch) { elsewhere(s, ".cache/jp-tools/npm") }, lacks: "^$"},
		{name: "sources without the network", text: sources, part: "exit status 1"},
		{name: "sources", text: sources, config: network, want: "made, linked\n"},
		{name: "a link in place of sources", text: cached, config: network, do: func(s *front.Scratch) { elsewhere(s, ".cache/jp-tools/sources") }},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			if row.needs != "" {
				if _, err := exec.LookPath(row.needs); err != nil {
					// The program calls it.
					t.Skip("there is no " + row.needs)
				}
			}
			s, f := front.New(t), &front.Front{}
			for _, path := range []string{".ssh/id_ed25519", ".ssh/id_ed25519.pub", ".gnupg/private-keys-v1.d/one.key", ".cache/go-build/a", ".npm/_cacache/a", "out/a", "tmp/a", "go/pkg/mod/cache/download/m/@v/v1.0.0.mod"} {
				s.WriteOwn(path, "x\n")
			}
			s.Dir = s.Home + "-repo" // a folder above both has jp's own files, and is read-only
			s.Write("Makefile", "all:\n\techo made >by-make\n")
			s.Write("go.mod", "module example.com/try\n")
			s.Write("main.go", "package main\n\nfunc main() {}\n")
			s.Write("try.sh", row.text)
			s.Git("init", "-q")
			s.Commit()
			s.Environ = append(s.Environ, "TMPDIR="+s.Home+"/tmp", "GOCACHE="+builds)
			s.Environ = append(s.Environ, strings.Fields(strings.ReplaceAll(row.environ, "HOME", s.Home))...)
			s.Configure(row.config)
			if row.do != nil {
				row.do(s)
			}
			if row.call == "" {
				row.call = `shell_run { argv = ["sh", "./try.sh"] }`
			}
			request := s.Request(calls(row.call), "Try")
			request.Turn.Yes = true
			require.NoError(t, s.Ask(f, request))
			result := strings.ReplaceAll(bodies[*conversation.ToolCallResponse](f.Events())[0].Content, s.Home, "HOME")
			if row.want != "" && row.part == "" {
				require.ElementsMatch(t, strings.Split(row.want, "\n"), strings.Split(result, "\n"))
			}
			require.Contains(t, result, row.part)
			if row.lacks != "" {
				require.NotRegexp(t, row.lacks, result)
			}
			require.Contains(t, strings.Join(append(s.Notes(), f.Notices()...), "\n"), row.notice)
			if led, err := os.ReadDir(filepath.Join(s.Home, "elsewhere")); err == nil {
				require.Len(t, led, 1, "a program's link leads jp nowhere")
			}
			for _, path := range row.made {
				require.FileExists(t, filepath.Join(s.Home, path))
			}
			for _, path := range row.absent {
				require.NoFileExists(t, filepath.Join(s.Home, path))
			}
		})
	}
}
