package gitcmd

import (
	"slices"
	"strings"
)

// quiet is added to every command: a repository must not choose these settings, and output must not depend on
// the user's taste.
var quiet = []string{
	"core.fsmonitor=false",
	"core.pager=cat",
	"core.quotePath=false",
	"core.alternateRefsCommand=",
	"core.safecrlf=false",
	"color.ui=false",
	"log.showSignature=false",
	"submodule.recurse=false",
	"diff.ignoreSubmodules=dirty",
	"gc.auto=0",
	"maintenance.auto=false",
	"protocol.ext.allow=never",
}

// offline is added for commands without a remote.
var offline = []string{
	"core.hooksPath=/dev/null",
	"core.askPass=true",
	"credential.helper=",
}

var (
	noPrograms   = []string{"--no-ext-diff", "--no-textconv"}
	noSubmodules = []string{"--ignore-submodules=dirty"}
)

// needed are the flags without which a command would run programs that the repository names: its diff
// drivers, or filters in the configuration of a submodule, which is out of reach of our settings.
var needed = map[string][]string{
	"blame":      {"--no-textconv"},
	"diff":       slices.Concat(noPrograms, noSubmodules),
	"diff-files": slices.Concat(noPrograms, noSubmodules),
	"diff-index": slices.Concat(noPrograms, noSubmodules),
	"diff-tree":  noPrograms,
	"log":        noPrograms,
	"show":       noPrograms,
	"status":     noSubmodules,
}

// apart are the commands that neither read files of the working tree nor write the index, and so never run a
// filter. All others may: even one that only writes the index, such as write-tree, first reads the files that
// changed at the same time as it.
var apart = []string{
	"cat-file", "check-attr", "check-ignore", "check-mailmap", "check-ref-format", "commit-tree", "config", "count-objects",
	"diff-tree", "for-each-ref", "fsck", "index-pack", "init", "log", "ls-tree", "merge-base", "mktree", "name-rev", "pack-objects", "pack-refs",
	"prune-packed", "rev-list", "rev-parse", "show", "show-index", "show-ref", "symbolic-ref", "unpack-objects", "update-ref",
	"var", "verify-pack", "version",
}

// converts reports whether a command may read or write files of the working tree
// as their filters say.
func converts(c Command) bool {
	return c.Content || len(c.Args) > 0 && !slices.Contains(apart, c.Args[0])
}

// harden returns the argument list for a command: settings, subcommand, the
// flags it needs, arguments.
func harden(c Command) []string {
	argv := []string{"--no-optional-locks"}
	settings := slices.Concat(quiet, offline)
	if c.Network {
		settings = slices.Concat(quiet, online)
	}
	for _, s := range slices.Concat(settings, c.Config) {
		argv = append(argv, "-c", s)
	}
	if len(c.Args) == 0 {
		return argv
	}
	argv = append(argv, c.Args[0])
	argv = append(argv, needed[c.Args[0]]...)
	if c.Network {
		argv = append(argv, programs[c.Args[0]]...)
	}
	return append(argv, c.Args[1:]...)
}

// kept are the GIT_* variables for the user's own configuration and identity. All others, except those of
// git-lfs, are dropped: they would point git to another repository, or name programs.
var kept = []string{
	"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_ATTR_NOSYSTEM",
	"GIT_CEILING_DIRECTORIES", "GIT_DISCOVERY_ACROSS_FILESYSTEM",
	"GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL",
	"GIT_EXEC_PATH",
}

// transport are the variables that only a network command keeps.
var transport = []string{
	"GIT_SSH", "GIT_SSH_COMMAND", "GIT_SSH_VARIANT", "GIT_ASKPASS", "GIT_PROXY_COMMAND",
	"GIT_SSL_CAINFO", "GIT_SSL_CAPATH", "GIT_SSL_NO_VERIFY", "GIT_SSL_CERT", "GIT_SSL_KEY",
	"GIT_HTTP_USER_AGENT", "GIT_TERMINAL_PROMPT",
}

var fixed = []string{
	"LC_ALL=C",
	"GIT_OPTIONAL_LOCKS=0",
	"GIT_LITERAL_PATHSPECS=1",
	"GIT_NO_REPLACE_OBJECTS=1",
	"GIT_PAGER=cat",
	"GIT_EDITOR=:",
	"GIT_SEQUENCE_EDITOR=:",
}

// offlineEnv forbids every transport: a partial clone would else fetch missing
// objects from a remote, with programs, that the repository names.
var offlineEnv = []string{
	"GIT_TERMINAL_PROMPT=0",
	"GIT_ASKPASS=true",
	"GIT_NO_LAZY_FETCH=1",
	"GIT_ALLOW_PROTOCOL=",
}

// skipSmudge is the variable by which git-lfs leaves missing content alone.
const skipSmudge = "GIT_LFS_SKIP_SMUDGE"

// scrub drops variables that could redirect git. The user's own additions to the configuration are added
// later, see [Git.settings].
func scrub(environ []string) []string {
	return slices.DeleteFunc(slices.Clone(environ), func(pair string) bool {
		name, _, _ := strings.Cut(pair, "=")
		return strings.HasPrefix(name, "GIT_") && !slices.Contains(kept, name) && !strings.HasPrefix(name, "GIT_LFS_") ||
			strings.HasPrefix(name, "LC_") || name == "LANGUAGE"
	})
}

// childEnv is the environment of one command. Later settings win.
func (g *Git) childEnv(c Command, settings []setting) []string {
	env := slices.Concat(g.environ, fixed)
	if c.Network {
		env = append(env, only(g.full, transport)...)
	} else {
		env = append(env, offlineEnv...)
	}
	return append(append(env, g.configuration(settings)...), c.Env...)
}

func only(environ, names []string) []string {
	return slices.DeleteFunc(slices.Clone(environ), func(pair string) bool {
		name, _, _ := strings.Cut(pair, "=")
		return !slices.Contains(names, name)
	})
}

func without(environ []string, names ...string) []string {
	return slices.DeleteFunc(slices.Clone(environ), func(pair string) bool {
		name, _, _ := strings.Cut(pair, "=")
		return slices.Contains(names, name)
	})
}
