package toolset

import (
	"context"
	"os"
	"slices"
	"strings"

	"jp/agent/contextfiles"
	"jp/agent/repo"
	"jp/gitcmd"
	"jp/tool/command"
	"jp/tool/shell"
)

// readers recognise the commands that only read, and confine them to that. They are nil if the settings or
// this system exclude them.
func (w Sandbox) readers(r *repo.Repo, e *repo.Host) *shell.Readers {
	tree := os.DirFS("/")
	walls, ok := w.places.ReaderRules(tree)
	if !r.Config.Policy.Readers || !w.on || !w.support.Readers() || !ok {
		return nil
	}
	environ := readerEnviron(e.Environ)
	options := e.GitOptions()
	options.Environ = append(slices.Clone(environ), "HOME=/nonexistent", "GIT_CONFIG_GLOBAL=/dev/null")
	git := gitcmd.At(r.At, options)
	return &shell.Readers{
		Environ: environ, Secret: contextfiles.SecretName,
		Find:  func(name string) (string, bool) { return w.places.Runs(tree, name) },
		Reads: func(path string) bool { return walls.Reads(tree, path) },
		Launch: func(argv []string, dir string) (command.Launch, error) {
			walls, _ := w.places.ReaderRules(tree) // the present files
			return confined(walls, argv, dir)
		},
		Git: func(ctx context.Context, args []string) (argv, environ []string, err error) {
			if args[0] == "--no-pager" {
				args = args[1:]
			}
			return git.Prepared(ctx, gitcmd.Command{Args: args, Env: []string{"GIT_LITERAL_PATHSPECS=0"}})
		},
	}
}

// readerEnviron are the variables of a command that only reads: those that choose a program or a file of
// settings are excluded. The command speaks English, so that a refusal is recognised.
func readerEnviron(environ []string) (kept []string) {
	for _, pair := range environ {
		name, value, _ := strings.Cut(pair, "=")
		switch {
		case name == "LC_ALL":
			kept = append(kept, "LANG="+value)
		case slices.Contains([]string{"PATH", "HOME", "LANG", "LC_CTYPE", "TZ", "USER", "LOGNAME"}, name), strings.HasPrefix(name, "GO") && name != "GOFLAGS":
			kept = append(kept, pair)
		}
	}
	return append(kept, "LC_MESSAGES=C", "TERM=dumb", "PAGER=cat", "GIT_OPTIONAL_LOCKS=0")
}
