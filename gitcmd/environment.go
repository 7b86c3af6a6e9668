package gitcmd

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// takeEnvironment takes the configuration from the user's environment. Its values count as the user's own,
// but it must not make bytes of the repository the user's. So a file that it names there, or in the folder of
// the command, counts as empty.
func (g *Git) takeEnvironment() {
	g.user = nil
	for _, name := range []string{"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"} {
		if path := lookup(g.full, name); path != "" && (!filepath.IsAbs(path) || g.repo.Holds(path)) {
			g.environ = append(without(g.environ, name), name+"="+os.DevNull)
		}
	}
	for _, s := range environSettings(g.full) {
		section, _, _ := strings.Cut(strings.ToLower(s.key), ".")
		if (section == "include" || section == "includeif") && (!filepath.IsAbs(s.value) || g.repo.Holds(s.value)) {
			continue
		}
		g.user = append(g.user, s)
	}
}

// environSettings are the settings of the environment, in the order in which git takes them: those of
// GIT_CONFIG_COUNT and its kin, and behind them those of a git -c that runs jp, by an alias. If git would
// refuse them, there are none.
func environSettings(environ []string) (settings []setting) {
	count, err := strconv.Atoi(lookup(environ, "GIT_CONFIG_COUNT"))
	const most = 1000
	for i := range min(max(count, 0), most) {
		if err == nil {
			settings = append(settings, setting{lookup(environ, fmt.Sprintf("GIT_CONFIG_KEY_%d", i)), lookup(environ, fmt.Sprintf("GIT_CONFIG_VALUE_%d", i))})
		}
	}
	settings = append(settings, parameters(lookup(environ, "GIT_CONFIG_PARAMETERS"))...)
	return slices.DeleteFunc(settings, func(s setting) bool { return s.key == "" })
}

// parameters reads the settings that git -c passes on: 'key'='value', 'key'= for a key without a value, or as
// older gits write it, 'key=value'.
func parameters(text string) (settings []setting) {
	for text = strings.TrimLeft(text, " "); text != ""; text = strings.TrimLeft(text, " ") {
		key, rest, ok := dequoted(text)
		if !ok {
			return nil
		}
		value, given := "", false
		switch after, isNew := strings.CutPrefix(rest, "="); {
		case isNew && strings.HasPrefix(after, "'"):
			if value, rest, ok = dequoted(after); !ok {
				return nil
			}
			given = true
		case isNew:
			rest = after
		default:
			key, value, given = strings.Cut(key, "=")
			key = strings.TrimSpace(key)
		}
		if rest != "" && rest[0] != ' ' {
			return nil
		}
		if !given {
			value = "true"
		}
		settings = append(settings, setting{key, value})
		text = rest
	}
	return settings
}

// dequoted takes a word in single quotes off the front, as git quotes it: a quote and an exclamation mark are
// outside of them, behind a backslash.
func dequoted(text string) (word, rest string, ok bool) {
	text, ok = strings.CutPrefix(text, "'")
	for ok {
		var part string
		if part, text, ok = strings.Cut(text, "'"); !ok {
			break
		}
		word += part
		if len(text) < 3 || text[0] != '\\' || text[1] != '\'' && text[1] != '!' || text[2] != '\'' {
			return word, text, true
		}
		word += text[1:2]
		text = text[3:]
	}
	return "", "", false
}

// configuration is the environment that adds settings to the user's. They go through GIT_CONFIG_KEY_n, which
// takes any character in a name. On a command line an "=" in it would end the name.
func (g *Git) configuration(settings []setting) (env []string) {
	n := 0
	for _, s := range slices.Concat(g.user, settings) {
		env = append(env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", n, s.key), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", n, s.value))
		n++
	}
	if n == 0 {
		return nil
	}
	return append(env, fmt.Sprintf("GIT_CONFIG_COUNT=%d", n))
}

// lookup is the value of a variable, "" if it is unset.
func lookup(environ []string, name string) (value string) {
	for _, pair := range environ { // the last one counts
		if v, is := strings.CutPrefix(pair, name+"="); is {
			value = v
		}
	}
	return value
}

// SkipsSmudge reports whether the user's environment tells git-lfs to leave pointers in
// the place of content.
func (g *Git) SkipsSmudge() bool { return truth(lookup(g.full, skipSmudge)) }
