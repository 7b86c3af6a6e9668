package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// A person presses Tab in each shell, set up as `jp completion SHELL --help` says.
func TestCompletionInShells(t *testing.T) {
	t.Parallel()
	const library = "/usr/share/bash-completion/bash_completion"
	tests := map[string]struct {
		shell string
		needs string // a file, besides the shell
		rc    string // the name of its own configuration
		text  string
		args  []string
	}{
		"bash":                      {"bash", "", "rc", "PS1='ready> '\nsource ../completion\n", []string{"--noprofile", "--rcfile", "../rc", "-i"}},
		"bash with bash-completion": {"bash", library, "rc", "PS1='ready> '\nsource " + library + "\nsource ../completion\n", []string{"--noprofile", "--rcfile", "../rc", "-i"}},
		"zsh":                       {"zsh", "", ".zshrc", "PROMPT='ready> '\nautoload -U compinit\ncompinit -u -D\nsource ../completion\n", []string{"-d", "-i"}},
		"fish":                      {"fish", "", "rc", "function fish_prompt; echo 'ready> '; end\nsource ../completion\n", []string{"--no-config", "-i", "-C", "source ../rc"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			program, err := exec.LookPath(tt.shell)
			if err != nil {
				t.Skip(tt.shell, "is not installed")
			}
			if _, err := os.Stat(tt.needs); tt.needs != "" && err != nil {
				t.Skip(tt.needs, "is not installed")
			}
			p := newPlace(t)
			p.environ = append(p.environ, "ZDOTDIR="+filepath.Dir(p.dir))
			p.write("../talk.toml", talkScript)
			p.clocked(epoch, "query", "--title", "Cap the retries", "-m", "script/../talk.toml", "Hello")
			p.write("../completion", p.jp("completion", tt.shell).stdout)
			p.write("../"+tt.rc, tt.text)

			s := p.sitWith(100, exec.Command(program, tt.args...))
			s.WaitFor("ready>")
			s.Type("jp sho\t")
			s.WaitFor("ready> jp show")
			s.Type("tp\t")
			s.WaitFor("jp show tpjl")
			s.Type("\x15jp query --cfg policy.detached=q\t")
			s.WaitFor("policy.detached=queue")
			s.Type("\x15exit\r")
			require.Zero(t, s.exit())
		})
	}
}
