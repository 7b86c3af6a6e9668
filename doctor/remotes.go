package doctor

import (
	"context"
	"errors"
	"slices"
	"strings"
	"unicode"

	"jp/gitcmd"
	"jp/internal/action"
)

// remotes reads the effects of git fetch and git push on conversations.
func (c *checkup) remotes(ctx context.Context) []Finding {
	out, err := c.repo.Git.Run(ctx, "config", "-z", "--show-scope", "--get-regexp", `^(remote\..*\.(fetch|push|mirror|prune)|fetch\.prune)$`)
	var exit *gitcmd.ExitError
	if errors.As(err, &exit) && exit.Code == 1 { // no such setting
		return nil
	}
	found := Remotes{Err: err}
	words := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	for i := 0; i+1 < len(words); i += 2 {
		key, value, given := strings.Cut(words[i+1], "\n")
		if !given {
			value = "true"
		}
		found.Settings = append(found.Settings, Setting{Scope: words[i], Key: key, Value: value})
	}
	return found.Findings()
}

// A Setting is one value of git's configuration of a remote.
type Setting struct {
	Scope string // "local", "global", "worktree", "system" or "command"
	Key   string // as git writes it: "remote.origin.fetch"
	Value string
}

// Remotes are the settings of git for remotes and pruning.
type Remotes struct {
	Settings []Setting
	Err      error // of reading the settings
}

// ownRefs are below which refs are conversations of this repository, or keep their payload.
var ownRefs = []string{"refs/jp/conversations/", "refs/jp/archive/", "refs/jp/payloads/"}

// takesIn reports whether one side of a refspec may name such refs.
func takesIn(pattern string) bool {
	prefix, _, wild := strings.Cut(pattern, "*")
	return pattern != "" && slices.ContainsFunc(ownRefs, func(own string) bool {
		return strings.HasPrefix(prefix, own) || wild && strings.HasPrefix(own, prefix)
	})
}

// Findings judges the effects of a plain git fetch or git push on conversations.
func (r Remotes) Findings() (all []Finding) {
	if r.Err != nil {
		return []Finding{found(Warn, "remotes", "what git fetch and git push do to conversations is not known: %v", r.Err)}
	}
	excepted := map[string]bool{} // by key: it leaves jp's refs alone
	for _, s := range r.Settings {
		excepted[s.Key] = excepted[s.Key] || s.Value == except
	}
	for _, s := range r.Settings {
		remote, kind := s.remote()
		src, dst, _ := strings.Cut(strings.TrimPrefix(s.Value, "+"), ":")
		switch {
		case remote == "" || strings.HasPrefix(s.Value, "^"):
		case kind == "fetch" && takesIn(dst) && (!excepted[s.Key] || !strings.HasPrefix(src, "refs/jp/") && src != "refs/*"):
			does := "moves conversations here"
			if strings.HasPrefix(s.Value, "+") {
				does = "overwrites conversations here"
			}
			if r.prunes(remote) {
				does += ", and deletes those that the remote lacks, since pruning is on"
			}
			all = append(all, found(Warn, "remotes", "git fetch %s %s: %s = %s", remote, does, s.Key, s.Value).
				advise("%s; %s fetches conversations beside yours", s.without(src, dst), action.FetchBeside(remote, "refs/jp/conversations/*:refs/jp/remotes/"+remote+"/*")))
		case kind == "push" && takesIn(src) && !excepted[s.Key]:
			all = append(all, found(Warn, "remotes", "git push %s sends conversations, with all that they hold: %s = %s", remote, s.Key, s.Value).
				advise("%s", s.without(src, dst)))
		case kind == "mirror" && isTrue(s.Value):
			all = append(all, found(Warn, "remotes", "git push %s sends all refs, conversations with all that they hold too: %s = %s", remote, s.Key, s.Value).
				advise("%s", action.TurnOff(append(s.option(), s.Key)...)))
		}
	}
	return all
}

// except is the refspec that leaves jp's refs out.
const except = "^refs/jp/*"

// without is the command that excludes jp's refs from a refspec.
func (s Setting) without(src, dst string) action.Action {
	if strings.HasPrefix(src, "refs/jp/") || strings.HasPrefix(dst, "refs/jp/") || src != "refs/*" {
		return action.DropSetting(append(s.option(), s.Key, s.Value)...)
	}
	return action.AddSetting(append(s.option(), s.Key, except)...)
}

// option is the option of git config for the setting's scope.
func (s Setting) option() []string {
	switch s.Scope {
	case "global", "system", "worktree":
		return []string{"--" + s.Scope}
	}
	return nil
}

// remote is the name of the setting's remote, and the kind of setting.
func (s Setting) remote() (name, kind string) {
	rest, ok := strings.CutPrefix(s.Key, "remote.")
	i := strings.LastIndexByte(rest, '.')
	if !ok || i < 1 || strings.IndexFunc(s.Key+s.Value, unicode.IsControl) >= 0 {
		return "", ""
	}
	return rest[:i], rest[i+1:]
}

// prunes reports whether a fetch of a remote deletes refs.
func (r Remotes) prunes(remote string) (prunes bool) {
	own := ""
	for _, s := range r.Settings {
		switch s.Key {
		case "fetch.prune":
			prunes = isTrue(s.Value)
		case "remote." + remote + ".prune":
			own = s.Value
		}
	}
	if own != "" {
		return isTrue(own)
	}
	return prunes
}

// isTrue reads a truth value as git does.
func isTrue(value string) bool {
	switch strings.ToLower(value) {
	case "true", "yes", "on", "1":
		return true
	}
	return false
}
