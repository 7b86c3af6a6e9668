package located

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"
)

// leadsOn reports whether a configuration may name other files or folders, whose
// links and bytes git's answer then rests on.
func leadsOn(config []byte) bool {
	text := bytes.ToLower(config)
	return bytes.Contains(text, []byte("include")) ||
		bytes.Contains(bytes.ReplaceAll(text, []byte("worktreeconfig"), nil), []byte("worktree"))
}

// userConfigs are the files that git reads beside the repository's own. They are not
// ok where one is said to be none, or stands where a folder leads that is git's.
func userConfigs(environ []string) (paths []string, ok bool) {
	get := func(name string) (value string, set bool) {
		for _, pair := range environ { // the last one counts
			if v, is := strings.CutPrefix(pair, name+"="); is {
				value, set = v, true
			}
		}
		return value, set
	}
	if path, set := get("GIT_CONFIG_GLOBAL"); set {
		paths = append(paths, path)
	} else {
		home, _ := get("HOME")
		xdg, _ := get("XDG_CONFIG_HOME")
		if xdg == "" {
			xdg = filepath.Join(home, ".config")
		}
		paths = append(paths, filepath.Join(xdg, "git", "config"), filepath.Join(home, ".gitconfig"))
	}
	system, set := get("GIT_CONFIG_SYSTEM")
	if !set {
		system = "/etc/gitconfig"
	}
	paths = append(paths, system)
	return paths, !slices.ContainsFunc(paths, func(path string) bool { return !filepath.IsAbs(path) })
}
