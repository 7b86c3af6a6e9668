package agent

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"

	"jp/agent/contextfiles"
	"jp/agent/models"
	"jp/agent/problem"
	"jp/agent/repo"
	"jp/agent/toolset"
	"jp/config"
	"jp/conversation"
	"jp/internal/safetext"
	"jp/tool"
	"jp/tool/mcp"
	"jp/tool/recall"
	"jp/tool/work"
)

// A Candidate is a word with its description, "" if the word is enough.
type Candidate struct {
	Word  string
	About string
}

const mostCandidates = 50

// ConversationCandidates are the conversations whose id begins or ends with a word, the most recently held by
// jp first. meant selects them by their state. If it is nil, all fit.
func ConversationCandidates(ctx context.Context, r *repo.Repo, word string, archived bool, meant func(repo.Status) bool) (found []Candidate) {
	seen, read := map[conversation.ID]bool{}, 0
	add := func(id conversation.ID) {
		name := id.Short()
		if strings.HasPrefix(word, "jp-") {
			name = string(id)
		}
		if seen[id] || len(found) == mostCandidates || read == 2*mostCandidates || !strings.HasPrefix(name, word) {
			return
		}
		seen[id] = true
		read++
		info, err := r.Store.Info(ctx, id)
		if err != nil || archived != (info.Summary.ArchivedAt != nil) {
			return
		}
		about := info.Summary.Title
		if meant != nil {
			if _, held := r.Locks.Held(id); !held && info.Summary.Status == conversation.StatusIdle {
				return
			}
			l := r.States().List(ctx, info)
			if !l.Local || !meant(l.Status) {
				return
			}
			about += " · " + l.Status.Words()
		}
		found = append(found, Candidate{name, plain(about)})
	}
	for _, id := range r.Locks.Recent(mostCandidates) {
		add(id)
	}
	if word == "" && (len(found) > 0 || meant != nil) {
		return found // a conversation that jp never held here has no state that fits
	}
	scope := conversation.ScopeLive
	if archived {
		scope = conversation.ScopeArchived
	}
	ids, _ := r.Store.IDs(scope) // an unreadable scope has no candidates
	for _, id := range slices.Backward(ids) {
		add(id)
	}
	for _, name := range []string{"recent", "newest"} {
		if word != "" && strings.HasPrefix(name, word) && meant == nil {
			found = append(found, Candidate{Word: name})
		}
	}
	return found
}

// EventCandidates are the newest events of the conversation of a word that has an @, or of the
// session's: "@14", "4400@14".
func EventCandidates(ctx context.Context, r *repo.Repo, word string) (found []Candidate) {
	target, _, _ := strings.Cut(word, "@")
	id, err := r.Find().Visited(ctx, r.Env, 0)
	if target != "" {
		ending := r.Find().EndingIn(target)
		if len(ending) != 1 {
			return nil
		}
		id, err = ending[0], nil
	}
	if err != nil {
		return nil
	}
	info, err := r.Store.Info(ctx, id)
	if err != nil {
		return nil
	}
	for e, err := range r.Store.Backward(ctx, info.Head) {
		if err != nil || len(found) == mostCandidates {
			break
		}
		if name := target + "@" + strconv.Itoa(e.Seq); strings.HasPrefix(name, word) {
			found = append(found, Candidate{name, plain(e.Subject)})
		}
	}
	return found
}

// ModelCandidates are the configured names of models, those that conversations asked last, and the
// providers.
func ModelCandidates(ctx context.Context, r *repo.Repo) (found []Candidate) {
	if r.Config == nil {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(r.Config.Aliases)) {
		found = append(found, Candidate{name, plain(r.Config.Aliases[name])})
	}
	if r.Config.Model != "" {
		found = append(found, Candidate{r.Config.Model, "configured"})
	}
	if r.Store != nil {
		for _, id := range r.Locks.Recent(20) {
			if info, err := r.Store.Info(ctx, id); err == nil && info.Summary.Model != "" {
				found = append(found, Candidate{info.Summary.Model, "asked before"})
			}
		}
	}
	for _, name := range models.ProvidersOf(r).ProviderNames(r.Env) {
		found = append(found, Candidate{name + "/", "provider"})
	}
	return once(found)
}

// ToolCandidates are the tools that can be switched on or off.
func ToolCandidates(r *repo.Repo, e *repo.Host) (found []Candidate) {
	if r.Store == nil || r.Config == nil {
		return nil
	}
	builtins, _ := toolset.Builtins(r, e) // there are none without a working tree
	for _, t := range builtins {
		about, _, _ := strings.Cut(t.Definition().Description, ". ")
		found = append(found, Candidate{t.Definition().Name, plain(about)})
	}
	for _, name := range slices.Sorted(maps.Keys(r.Config.Tools)) {
		found = append(found, Candidate{name, plain(r.Config.Tools[name].Description)})
	}
	for _, name := range append([]string{recall.Group, work.DelegateName, tool.EventRead, tool.Plan}, recall.Names()...) {
		found = append(found, Candidate{Word: name})
	}
	for _, name := range slices.Sorted(maps.Keys(r.Config.MCP)) {
		for _, offer := range toolset.NewServer(r, e, name).Approved() {
			about, _, _ := strings.Cut(offer.Description, ". ")
			found = append(found, Candidate{mcp.ToolName(name, offer.Name), plain(about)})
		}
	}
	return once(found)
}

// ServerCandidates are the MCP servers of the configuration.
func ServerCandidates(r *repo.Repo) (found []Candidate) {
	for _, name := range slices.Sorted(maps.Keys(r.Config.MCP)) {
		found = append(found, Candidate{name, plain(safetext.EscapeAll(r.Config.MCP[name].Command))})
	}
	return found
}

// ProfileCandidates are jp's own profiles and those of the configuration.
func ProfileCandidates(r *repo.Repo) (found []Candidate) {
	for _, name := range r.Config.ProfileNames() {
		p, _ := r.Config.FindProfile(name)
		found = append(found, Candidate{name, plain(p.Instructions)})
	}
	return found
}

// SkillCandidates are the skills that can be used.
func SkillCandidates(r *repo.Repo, e *repo.Host) (found []Candidate) {
	set := contextfiles.OpenSkills(r, e)
	defer set.Close()
	for _, k := range set.All {
		if k.Unusable == "" {
			found = append(found, Candidate{k.Name, plain(k.Description)})
		}
	}
	return found
}

// RemoteCandidates are the remotes from which conversations were fetched.
func RemoteCandidates(r *repo.Repo) (found []Candidate) {
	heads, _ := r.Store.Heads(conversation.ScopeRemotes)
	for _, info := range heads {
		found = append(found, Candidate{Word: info.Remote})
	}
	return once(found)
}

// KeyCandidates are the settings, with the names that are in use in the place of <name>.
func KeyCandidates(r *repo.Repo) (found []Candidate) {
	for _, k := range config.Keys() {
		if !strings.Contains(k.Key, "<") {
			found = append(found, Candidate{k.Key, plain(k.Doc)})
		}
	}
	if r != nil && r.Report != nil {
		for _, key := range slices.Sorted(maps.Keys(r.Report.Origins)) {
			found = append(found, Candidate{Word: key})
		}
	}
	return once(found)
}

// ValueCandidates are the possible values of a setting, if they are few, and its present value.
func ValueCandidates(ctx context.Context, r *repo.Repo, key string) (found []Candidate) {
	switch {
	case r == nil:
	case key == "model":
		return ModelCandidates(ctx, r)
	case key == "profile" && r.Config != nil:
		return ProfileCandidates(r)
	}
	for _, k := range config.Keys() {
		if !sameKey(k.Key, key) {
			continue
		}
		switch {
		case k.Type == "true or false":
			found = []Candidate{{Word: "true"}, {Word: "false"}}
		case strings.HasPrefix(k.Type, `"`):
			for _, word := range strings.Split(strings.ReplaceAll(k.Type, " or ", ", "), ", ") {
				found = append(found, Candidate{Word: strings.Trim(word, `"`)})
			}
		case k.Default != "":
			found = []Candidate{{strings.Trim(k.Default, `"`), "default"}}
		}
	}
	return found
}

// sameKey reports whether a key is one of a pattern, in which <name> stands for any name.
func sameKey(pattern, key string) bool {
	names, words := strings.Split(pattern, "."), strings.Split(key, ".")
	if len(names) != len(words) {
		return false
	}
	for i, name := range names {
		if name != words[i] && !strings.HasPrefix(name, "<") {
			return false
		}
	}
	return true
}

func once(all []Candidate) (found []Candidate) {
	for _, c := range all {
		if !slices.ContainsFunc(found, func(f Candidate) bool { return f.Word == c.Word }) {
			found = append(found, c)
		}
	}
	return found
}

// plain is a text as a shell can show it in one line.
func plain(text string) string { return safetext.Clean(problem.OneLine(text)) }
