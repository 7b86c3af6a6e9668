package gitcmd

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// online is added for commands with a remote. It keeps git from starting programs in a submodule, whose
// settings are out of jp's reach, and from signing with a program of the repository.
var online = []string{
	"fetch.recurseSubmodules=false",
	"push.recurseSubmodules=no",
	"push.gpgSign=false",
	"maintenance.autoDetach=false",
}

// programs are the flags that name the program at the other end, which may be this machine. Of several
// settings for it git takes the first, and that is the repository's.
var programs = map[string][]string{
	"fetch":     {"--upload-pack=git-upload-pack"},
	"ls-remote": {"--upload-pack=git-upload-pack"},
	"push":      {"--receive-pack=git-receive-pack"},
}

// helpers matches the settings that name programs of a network command, except core.gitProxy. Of that git
// takes the first value, too, but a variable wins over it.
const helpers = `^(core\.(sshcommand|askpass|hookspath)|credential\.(.*\.)?helper|remote\..*\.vcs)$`

// plainly replaces a helper if the user's own configuration names none.
var plainly = map[string]string{"core.sshcommand": "ssh", "core.hookspath": "/dev/null"}

// ownHelpers returns the settings that put the user's own helpers in place of those that the repository's
// configuration names. Hooks of the repository stay off. Those of a folder that the user configured for all
// repositories run.
func (g *Git) ownHelpers(ctx context.Context) ([]setting, error) {
	out, err := g.RunWith(ctx, Command{Args: []string{"config", "--show-scope", "-z", "--get-regexp", helpers}})
	var exit *ExitError
	if err != nil && !(errors.As(err, &exit) && exit.Code == 1) {
		return nil, fmt.Errorf("read the configuration of helpers: %w", err)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	settings := replaced(string(out))
	for _, s := range g.user { // the environment wins over files
		if ownHelper().MatchString(canonical(s.key)) {
			settings = append(settings, s)
		}
	}
	if g.plain() {
		return settings, nil
	}
	all, err := g.converters(ctx)
	return append(settings, all.emptied...), err
}

var ownHelper = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(helpers) })

// canonical is a key as git writes it: in small letters, apart from the name of a subsection.
func canonical(key string) string {
	first, last := strings.IndexByte(key, '.'), strings.LastIndexByte(key, '.')
	if first < 0 {
		return strings.ToLower(key)
	}
	return strings.ToLower(key[:first]) + key[first:last] + strings.ToLower(key[last:])
}

// replaced are the settings that win over the repository's: first those that end each list, as an empty
// credential helper does, then the user's own.
func replaced(out string) (settings []setting) {
	foreign, own := []string{"core.hookspath"}, []setting(nil)
	fields := strings.Split(out, "\x00")
	for i := 0; i+1 < len(fields); i += 2 {
		key, value, _ := strings.Cut(fields[i+1], "\n")
		switch scope := fields[i]; scope {
		case "system", "global":
			own = append(own, setting{key, value})
		case "command": // ours, and the environment's
		default:
			foreign = append(foreign, key)
		}
	}
	slices.Sort(foreign)
	for _, key := range slices.Compact(foreign) {
		settings = append(settings, setting{key, plainly[key]})
	}
	return append(settings, own...)
}
