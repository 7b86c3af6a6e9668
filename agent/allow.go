package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"jp/agent/problem"
	"jp/agent/repo"
	"jp/agent/snapshot"
	"jp/agent/toolset"
	"jp/config"
	"jp/conversation"
	"jp/internal/action"
	"jp/internal/safefile"
	"jp/turnloop"
)

// Standing is the rule that "always" at a question adds. ok is false if the question has no such answer.
func Standing(ctx context.Context, r *repo.Repo, q turnloop.Question) (rule turnloop.Rule, ok bool) {
	if argv := turnloop.Allowable(q.Tool, q.Arguments); len(argv) > 0 {
		return turnloop.Rule{Kind: turnloop.RuleCommand, Words: argv}, true
	}
	def := q.Tool
	if def == nil || q.Inquiry.Request.Exclusive || q.Inquiry.Request.Kind != conversation.KindRunTool {
		return rule, false
	}
	if def.Parameters == nil { // another process asks: use the tool as defined on disk
		registry, _, err := judgedTools(r, r.Env, configuredServers(r), nil, nil)
		if err != nil {
			return rule, false
		}
		found, is := registry.Lookup(def.Name)
		if !is {
			return rule, false
		}
		def = found.Definition()
	}
	if rule, ok = standingOf(def, q.Arguments); !ok || rule.Kind != turnloop.RuleEdits {
		return rule, ok
	}
	files, err := snapshot.OpenFiles(ctx, r)
	return rule, err == nil && editable(ctx, r, files, def, q.Arguments)
}

// Allow lets the calls that a rule covers run without a question, in this repository and for this user: it
// writes the rule into the user's own file for the repository, and returns the file. The rule counts at once,
// also in the running turns of other processes.
func Allow(r *repo.Repo, rule turnloop.Rule) (file string, err error) {
	if len(rule.Words) == 0 && rule.Kind != turnloop.RuleEdits {
		return "", problem.Usage("a rule needs the command's first word.")
	}
	key := ruleKeys[rule.Kind]
	if origin := r.Report.Origins[key]; origin.Layer > config.LayerRepository {
		return "", problem.New(problem.ExitFailed, "config", "the rule was not added: %s sets %s, and counts for more than your own files.", origin, key)
	}
	id, err := r.Standings().WorkspaceID()
	if err != nil {
		return "", err
	}
	origin := config.Origin{Layer: config.LayerRepository, Name: r.Paths.OwnFile(id)}
	return origin.Name, changeRules(r, origin, rule.Kind, func(had []turnloop.Rule) []turnloop.Rule {
		if slices.ContainsFunc(had, func(old turnloop.Rule) bool { return old.Covers(rule) }) {
			return had
		}
		had = slices.DeleteFunc(had, func(old turnloop.Rule) bool {
			return rule.Covers(old) || rule.Kind == turnloop.RuleTool && old.Words[0] == rule.Words[0] // of another approval
		})
		return append(had, rule)
	})
}

// Disallow removes a rule from the user's files that have it, those for this repository and for all
// repositories, and returns these files. For a tool, words is its name.
func Disallow(r *repo.Repo, key string, words []string) (files []string, err error) {
	if toolset.FromProgram(r) {
		return nil, problem.New(problem.ExitDecision, "untrusted", "%v.", toolset.ErrFromTool)
	}
	kinds := slices.DeleteFunc(slices.Collect(maps.Keys(ruleKeys)), func(kind turnloop.RuleKind) bool { return ruleKeys[kind] != key })
	if len(kinds) == 0 {
		return nil, problem.Usage("%s has no rules (want one of %s).", key, strings.Join(slices.Sorted(maps.Values(ruleKeys)), ", "))
	}
	named := func(rule turnloop.Rule) bool {
		switch rule.Kind {
		case turnloop.RuleEdits:
			return len(words) == 1 && written(rule) == path.Clean(words[0])
		case turnloop.RuleTool:
			return len(words) == 1 && rule.Words[0] == words[0]
		}
		return slices.Equal(rule.Words, words)
	}
	for _, origin := range []config.Origin{{Layer: config.LayerRepository, Name: r.Standings().OwnFile()}, {Layer: config.LayerUser, Name: r.Paths.UserFile}} {
		if !safefile.IsRegular(origin.Name) {
			continue
		}
		err := changeRules(r, origin, kinds[0], func(had []turnloop.Rule) []turnloop.Rule {
			if slices.ContainsFunc(had, named) {
				files = append(files, origin.Name)
			}
			return slices.DeleteFunc(had, named)
		})
		if err != nil {
			return nil, err
		}
	}
	if len(files) == 0 {
		return nil, problem.New(problem.ExitFailed, "not_found", "your configuration files have no such rule in %s.", key).Hint(action.ShowConfig, "all that are set")
	}
	return files, nil
}

// changeRules replaces the rules of one kind in one of the user's files.
func changeRules(r *repo.Repo, origin config.Origin, kind turnloop.RuleKind, change func(had []turnloop.Rule) []turnloop.Rule) error {
	if err := os.MkdirAll(r.Paths.OwnFiles(), 0o700); err != nil {
		return fmt.Errorf("allow a tool: %w", err)
	}
	unlock, err := safefile.LockFile(context.Background(), filepath.Join(r.Paths.OwnFiles(), ".lock")) // two processes could add a rule at once
	if err != nil {
		return fmt.Errorf("allow a tool: %w", err)
	}
	defer unlock()
	c, _, err := config.Load(config.Options{OwnFile: origin.Name})
	if err != nil {
		return err
	}
	had := rulesIn(c.Policy, kind)
	rules := change(slices.Clone(had))
	if slices.EqualFunc(had, rules, func(a, b turnloop.Rule) bool { return slices.Equal(a.Words, b.Words) }) {
		return nil
	}
	list := []any{}
	for _, rule := range rules {
		list = append(list, written(rule))
	}
	var value bytes.Buffer
	text := json.NewEncoder(&value) // whose strings are TOML
	text.SetEscapeHTML(false)
	if err := text.Encode(list); err != nil {
		return err
	}
	draft, err := config.NewDraft(origin, ruleKeys[kind], value.String())
	if err != nil {
		return err
	}
	draft.Begin(fmt.Sprintf("Your settings for the repository %q.", r.Place()))
	if mistake := draft.Adds(func(content []byte) []*config.Error {
		return Examine(r, r.Env, origin.Layer, content)
	}); mistake != nil {
		return mistake
	}
	return draft.Write()
}
