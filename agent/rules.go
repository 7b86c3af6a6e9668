package agent

import (
	"context"
	"encoding/json"
	"os"
	"path"
	"strings"
	"sync"

	"jp/agent/repo"
	"jp/agent/snapshot"
	"jp/config"
	"jp/tool"
	"jp/turnloop"
)

// ruleKeys are the settings with the rules of each kind.
var ruleKeys = map[turnloop.RuleKind]string{
	turnloop.RuleCommand: config.KeyAllow, turnloop.RuleEdits: config.KeyAllowEdits, turnloop.RuleTool: config.KeyAllowTools,
}

func rulesIn(p config.Policy, kind turnloop.RuleKind) (rules []turnloop.Rule) {
	switch kind {
	case turnloop.RuleCommand:
		for _, words := range p.Allow {
			rules = append(rules, turnloop.Rule{Kind: kind, Words: words})
		}
	case turnloop.RuleEdits:
		for _, folder := range p.AllowEdits {
			rules = append(rules, turnloop.Rule{Kind: kind, Words: elements(folder)})
		}
	case turnloop.RuleTool:
		for _, tool := range p.AllowTools {
			rules = append(rules, turnloop.Rule{Kind: kind, Words: strings.Fields(tool)})
		}
	}
	return rules
}

// elements are the names of a path. The root of the working tree has none.
func elements(folder string) []string {
	if folder == "." {
		return nil
	}
	return strings.Split(folder, "/")
}

// written is the form of a rule in its setting.
func written(rule turnloop.Rule) any {
	switch rule.Kind {
	case turnloop.RuleEdits:
		return path.Join(append([]string{"."}, rule.Words...)...)
	case turnloop.RuleTool:
		return strings.Join(rule.Words, " ")
	}
	return rule.Words
}

// rules are the allow rules of a turn. Rules that the user adds to their own file count at once. If a higher
// layer sets the rules of a kind, they stay.
type rules struct {
	repo *repo.Repo

	mu    sync.Mutex
	seen  os.FileInfo // the last read state of the user's own file, or nil
	known config.Policy
}

func rulesOf(r *repo.Repo) *rules { return &rules{repo: r, known: r.Config.Policy} }

func (f *rules) commands() turnloop.Grant { return f.now().Allow }

func (f *rules) now() config.Policy {
	f.mu.Lock()
	defer f.mu.Unlock()
	file := f.repo.Standings().OwnFile()
	info, err := os.Stat(file)
	if err != nil || f.seen != nil && os.SameFile(info, f.seen) && info.ModTime().Equal(f.seen.ModTime()) && info.Size() == f.seen.Size() {
		return f.known
	}
	c, _, err := config.Load(config.Options{UserFile: f.repo.Paths.UserFile, OwnFile: file})
	if err != nil { // a file with a mistake changes nothing
		return f.known
	}
	f.seen = info
	own := func(key string) bool { return f.repo.Report.Origins[key].Layer <= config.LayerRepository }
	if own(config.KeyAllow) {
		f.known.Allow = c.Policy.Allow
	}
	if own(config.KeyAllowEdits) {
		f.known.AllowEdits = c.Policy.AllowEdits
	}
	if own(config.KeyAllowTools) {
		f.known.AllowTools = c.Policy.AllowTools
	}
	return f.known
}

// covering is the rule in force that lets a call run, "" if a person is asked.
func (f *rules) covering(files *snapshot.Files, def *tool.Definition, arguments json.RawMessage) string {
	call, ok := standingOf(def, arguments)
	if !ok {
		return ""
	}
	for _, rule := range rulesIn(f.now(), call.Kind) {
		if rule.Covers(call) && (rule.Kind != turnloop.RuleEdits || files != nil && editable(context.Background(), f.repo, files, def, arguments)) {
			return rule.String()
		}
	}
	return ""
}
