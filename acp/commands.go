package acp

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"strings"

	"jp/agent"
	"jp/agent/contextfiles"
	"jp/agent/problem"
	"jp/agent/repo"
	"jp/agent/toolset"
	"jp/conversation"
	"jp/undo"
)

// A slash is a command of jp that a prompt can be.
type slash struct {
	name, hint, help string
	do               func(s *session, ctx context.Context, f *front, words string) (said string, err error)
}

// slashes are those that there are besides the skills.
var slashes = []slash{
	{"continue", "", "Resume an interrupted turn", (*session).resumeTurn},
	{"discard", "", "Discard an interrupted turn", (*session).discardTurn},
	{"undo", "", "Bring files back to before the last turn", (*session).undoTurn},
	{"compact", "what the summary is to be about", "Make room in the model's context", (*session).compact},
}

// tellCommands tells the client which commands a prompt may begin with.
func (s *session) tellCommands(ctx context.Context) {
	r, err := s.server.open(ctx, s.dir, nil)
	if err != nil {
		return // the next prompt says so
	}
	defer r.Close()
	toolset.AddServers(r, s.servers(r, func(string) {}))
	s.tellChanged(r)
}

// tellChanged tells the client the commands, if they are new to it.
func (s *session) tellChanged(r *repo.Repo) {
	u := commandsUpdate{Kind: "available_commands_update", Commands: s.commands(r)}
	s.mu.Lock()
	known := s.told != nil && reflect.DeepEqual(s.told, u.Commands)
	s.told = u.Commands
	s.mu.Unlock()
	if !known {
		s.update(u)
	}
}

// commands are those with which a prompt may begin.
func (s *session) commands(r *repo.Repo) []command {
	all := []command{}
	add := func(name, help, hint string) {
		c := command{Name: name, Description: help}
		if hint != "" {
			c.Input = &commandInput{Hint: hint}
		}
		all = append(all, c)
	}
	for _, c := range slashes {
		add(c.name, c.help, c.hint)
	}
	skills := contextfiles.OpenSkills(r, r.Env)
	defer skills.Close()
	for _, k := range skills.All {
		if k.Unusable == "" {
			add(k.Name, k.Description, "the task")
		}
	}
	for _, p := range toolset.Prompts(r, r.Env) {
		add(p.Name(), cmp.Or(p.Prompt.Description, "A prompt of the MCP server "+p.Server), p.Prompt.Usage())
	}
	return all
}

// commandOf cuts a command off a text, nil if there is none.
func commandOf(text string) (_ *slash, words string) {
	name, words, _ := strings.Cut(strings.TrimSpace(text), " ")
	for i, c := range slashes {
		if name == "/"+c.name {
			return &slashes[i], strings.TrimSpace(words)
		}
	}
	return nil, text
}

// skillOf cuts the name of a skill off a text, "" if there is none.
func skillOf(r *repo.Repo, text string) (name, words string) {
	first, words, _ := strings.Cut(strings.TrimSpace(text), " ")
	if name, is := strings.CutPrefix(first, "/"); is && name != "" {
		skills := contextfiles.OpenSkills(r, r.Env)
		defer skills.Close()
		if k := skills.Named(name); k != nil && k.Unusable == "" {
			return name, strings.TrimSpace(words)
		}
	}
	return "", text
}

// serverPromptOf is the prompt of an MCP server that a text names, or nil.
func serverPromptOf(r *repo.Repo, text string) *agent.ServerPrompt {
	first, words, _ := strings.Cut(text, " ")
	if !strings.HasPrefix(first, "/") || !strings.Contains(first, ":") {
		return nil
	}
	for _, p := range toolset.Prompts(r, r.Env) {
		if first == "/"+p.Name() {
			return &agent.ServerPrompt{Server: p.Server, Name: p.Prompt.Name, Words: strings.TrimSpace(words)}
		}
	}
	return nil
}

func (s *session) resumeTurn(ctx context.Context, f *front, _ string) (string, error) {
	o := s.base(f.updates.repo)
	o.Resume.Continue, o.Input.None = true, true
	err := agent.Ask(ctx, f.updates.repo, o, f)
	if err == nil && f.ended.Outcome.Turn == 0 {
		return "No turn is incomplete.", nil
	}
	return "", err
}

func (s *session) discardTurn(ctx context.Context, f *front, _ string) (string, error) {
	if err := agent.Ask(ctx, f.updates.repo, agent.Request{Target: agent.Target{ID: string(s.id)}, Resume: agent.ResumeOptions{Discard: true}, Input: agent.Input{None: true}}, f); err != nil {
		return "", err
	}
	return "The turn is discarded. It stays in the history.", nil
}

func (s *session) compact(ctx context.Context, f *front, words string) (string, error) {
	done, err := agent.Compact(ctx, f.updates.repo, agent.CompactRequest{ID: string(s.id), Keep: -1, Focus: words}, f)
	switch {
	case err != nil:
		return "", err
	case done.Event == nil:
		return "There is nothing to compact.", nil
	}
	f.updates.recorded([]*conversation.Event{done.Event}, true)
	return fmt.Sprintf("Compacted: about %d tokens in the place of %d. jp compact --undo takes it back.", done.Plan.After, done.Plan.Before), nil
}

// undoTurn brings back the files that the tools of the last turn changed, as jp undo does. Files that the
// user changed stay.
func (s *session) undoTurn(ctx context.Context, f *front, words string) (string, error) {
	if words != "" {
		return "", problem.Usage("/undo takes no words.")
	}
	u, _, err := undo.New(ctx, f.updates.repo, undo.Options{Action: "undo", Word: string(s.id) + "@"})
	if err != nil {
		return "", err
	}
	defer u.Close()
	first, _, err := u.View.TurnEvents(u.View.LastTurn())
	if err != nil {
		return "", err
	}
	u.Before(first)
	_, result, err := u.Propose(ctx)
	if err == nil {
		err = u.Do(ctx, result, u.Record)
	}
	if err != nil {
		return "", err
	}
	var lines []string
	for _, file := range result.Files {
		if file.Done {
			lines = append(lines, "Brought back "+file.Path)
		} else {
			lines = append(lines, "Left "+file.Path+": "+file.Reason)
		}
	}
	if len(lines) == 0 {
		lines = []string{"There is nothing to undo."}
	}
	return strings.Join(lines, "\n"), nil
}

// command runs the command of jp in a prompt.
func (s *session) command(ctx context.Context, f *front, c *slash, words string) (any, error) {
	if _, err := f.updates.repo.Store.Head(ctx, s.id); err != nil {
		return nil, invalid("/%s comes behind a first prompt", c.name)
	}
	text, err := c.do(s, ctx, f, words)
	f.updates.keep()
	if text != "" && err == nil {
		s.update(chunk{
			Kind: "agent_message_chunk", Content: contentBlock{Type: "text", Text: text}, MessageID: fmt.Sprintf("%s-%d", c.name, s.server.Host.Now().UnixNano()),
			Meta: noticed,
		})
	}
	if stop := stopReason(f.ended, f.turn.stopped()); stop != "" {
		return promptResponse{StopReason: stop}, nil
	}
	if err != nil {
		return nil, err
	}
	return promptResponse{StopReason: "end_turn"}, nil
}
