package main

import (
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strings"
)

// A command is one of jp's: its words, without arguments.
type command []string

// allCommands asks jp's own completion for the commands below some words, so that
// a new one is among them.
func (f *environment) allCommands(ctx context.Context, below command) ([]command, error) {
	out, err := exec.CommandContext(ctx, f.program, append(append([]string{"__complete"}, below...), "")...).Output()
	if err != nil {
		return nil, fmt.Errorf("ask jp for its commands: %w", err)
	}
	var all []command
	for line := range strings.Lines(string(out)) {
		name, _, described := strings.Cut(strings.TrimSpace(line), "\t")
		if !described || slices.Contains(apart, name) || len(below) > 0 && !grouped[below[0]] {
			continue
		}
		c := append(slices.Clone(below), name)
		if !grouped[name] {
			all = append(all, c)
			continue
		}
		more, err := f.allCommands(ctx, c)
		if err != nil {
			return nil, err
		}
		all = append(all, more...)
	}
	return all, nil
}

// grouped are the commands that only hold others.
var grouped = map[string]bool{"mcp": true, "config": true}

// apart are the commands that never look at the repository.
var apart = []string{"completion", "help", "version"}

// arguments are the arguments to try with a command, besides none. @ID@ is a conversation, @MODEL@ the
// model that obeys the attacker.
var arguments = map[string][][]string{
	"query": {
		{"-m", "@MODEL@", "--new", "-y", "Look."}, {"-m", "@MODEL@", "--new", "--policy", "auto", "--json", "Look."},
		{"-m", "@MODEL@", "--new", "Look."}, {"-m", "@MODEL@", "--fork", "Look."}, {"--new", "Which model?"}, {"-m", "anthropic/x", "--new", "Hello."},
		{"-m", "@MODEL@", "--new", "--policy", "deny", "-q", "Look."},
	},
	"continue":    {{"-y", "-m", "@MODEL@"}, {"--json"}, {"--discard"}, {"--discard", "--json"}},
	"show":        {{"@ID@"}, {"@5"}, {"@9"}, {"--json"}, {"--ref", "@5"}, {"--ref", "--json"}},
	"print":       {{"--internal"}, {"--internal", "--json"}, {"--answer"}, {"--events"}},
	"log":         {{"--internal"}, {"--json"}, {"-p"}},
	"ls":          {{"--tree"}, {"--json"}, {"--remote"}},
	"grep":        {{"e"}, {"--json", "-C1", "e"}, {"-l", "e"}},
	"blame":       {{"made.txt"}, {"--all", "made.txt:1"}, {"--json", "made.txt"}, {"--commit", "HEAD"}, {"--commit", "--json", "HEAD"}},
	"diff":        {{"--turn", "all"}, {"--worktree"}, {"--stat"}, {"@9"}, {"--json", "--worktree"}, {"--", "made.txt"}},
	"undo":        {{"--dry-run"}, {"-y"}, {"--json", "--dry-run"}},
	"restore":     {{"-y", "@9"}, {"-y", "@9", "made.txt"}},
	"fork":        {{"@5"}, {"--restore"}, {"@5", "--worktree", "../beside"}},
	"edit":        {{"--title=A title"}, {"--title", "-m", "@MODEL@"}, {"--label", "a=b"}},
	"use":         {{"@ID@"}, {"-"}},
	"archive":     {{"@ID@"}, {"--undo", "@ID@"}},
	"rm":          {{"@ID@", "-y"}},
	"answer":      {{"yes"}, {"@ID@", "yes"}},
	"attach":      {{"@ID@"}, {"--wait", "@ID@", "--timeout", "1s"}},
	"watch":       {}, // with --json it goes on
	"uninstall":   {{"--dry-run"}, {"-y"}},
	"kill":        {{"--all"}},
	"verify":      {{"--all"}, {"--all", "--json"}},
	"doctor":      {{"--fix"}, {"--json", "-v"}},
	"pack":        {{"--json"}},
	"status":      {{"--json"}},
	"config show": {{"--json"}},
	"config set":  {{"no.such", "1"}},
	"trust":       {{"--show"}, {"--json", "--show"}},
	"models":      {{"--json"}, {"ollama"}},
}

// lines are the command lines that are tried of a command.
func (c command) lines() [][]string {
	given, known := arguments[strings.Join(c, " ")]
	if !known {
		given = [][]string{{"@ID@"}, {"--json"}, {"README.md"}}
	}
	lines := [][]string{slices.Clone(c)}
	for _, args := range given {
		lines = append(lines, append(slices.Clone(c), args...))
	}
	return lines
}
