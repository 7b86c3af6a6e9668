package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"jp/agent/repo"
	"jp/agent/snapshot"
	"jp/tool"
	"jp/tool/fs"
	"jp/tool/work"
	"jp/turnloop"
)

// fileTools are the tools of jp's own that change files.
var fileTools = []string{"fs_create_file", "fs_modify_file", "fs_delete_file", "fs_move_file"}

// standingOf is the narrowest rule for a call of any tool but commands.
func standingOf(def *tool.Definition, arguments json.RawMessage) (rule turnloop.Rule, ok bool) {
	switch {
	case def.Run != tool.Ask || def.Exclusive:
		return rule, false
	case def.Name == work.DelegateName && def.Resumes:
		return turnloop.Rule{Kind: turnloop.RuleTool, Words: []string{def.Name}}, true
	case def.Approval != "":
		return turnloop.Rule{Kind: turnloop.RuleTool, Words: []string{def.Name, def.Approval}}, true
	case !slices.Contains(fileTools, def.Name) || len(placeholders(arguments)) > 0: // a secret could lead elsewhere
		return rule, false
	}
	paths, ok := def.Paths(arguments)
	if !ok || slices.ContainsFunc(paths, func(path string) bool { return !utf8.ValidString(path) }) {
		return rule, false
	}
	rule = turnloop.Rule{Kind: turnloop.RuleEdits}
	for i, file := range paths {
		folder := elements(path.Dir(file))
		if i == 0 {
			rule.Words = folder
		}
		same := 0
		for same < min(len(rule.Words), len(folder)) && rule.Words[same] == folder[same] {
			same++
		}
		rule.Words = rule.Words[:same]
	}
	return rule, true
}

// editable reports whether a rule may cover the files of a call: jp undo can bring all of them back, and they
// decide neither later runs nor the model's instructions.
func editable(ctx context.Context, r *repo.Repo, files *snapshot.Files, def *tool.Definition, arguments json.RawMessage) bool {
	paths, ok := def.Paths(arguments)
	return ok && !slices.ContainsFunc(paths, func(path string) bool { return decides(ctx, r, path) }) && files.Restorable(ctx, paths)
}

// The names of files, without the extension of a list of steps, that decide about runs of others or a model's
// instructions. So do all names that begin with a dot.
var deciding = []string{
	"jenkinsfile", "azure-pipelines", "bitbucket-pipelines", "appveyor", "buildspec", "cloudbuild", "codemagic", "wercker",
	"agents.md", "claude.md", "gemini.md",
}

// decides reports whether a file of the working tree decides about later runs or a model's instructions:
// services and programs of the user read it without a question.
func decides(ctx context.Context, r *repo.Repo, file string) bool {
	folded := fs.Folded(file)
	if slices.ContainsFunc(folded, func(name string) bool { return strings.HasPrefix(name, ".") || strings.Contains(name, "~") }) { // GITHUB~1, on some disks
		return true
	}
	name := folded[len(folded)-1]
	for _, end := range []string{".yml", ".yaml", ".json"} {
		name = strings.TrimSuffix(name, end)
	}
	instructions := slices.ContainsFunc(r.Config.Instructions.Fallback, func(other string) bool { return fs.Folded(other)[0] == folded[len(folded)-1] })
	return instructions || slices.Contains(deciding, name) || slices.Contains(configuredPrograms(r), file) || belowHooks(ctx, r, file)
}

// configuredPrograms are the files of the working tree that commands of the configuration name.
func configuredPrograms(r *repo.Repo) (files []string) {
	var words []string
	for _, argv := range r.Config.Hooks {
		words = append(words, argv...)
	}
	for _, t := range r.Config.Tools {
		words = append(words, t.Command...)
	}
	for _, s := range r.Config.MCP {
		words = append(words, s.Command...)
	}
	for _, p := range r.Config.Providers {
		words = append(words, p.KeyCommand...)
	}
	for _, word := range words {
		if filepath.IsAbs(word) {
			word, _ = filepath.Rel(r.At.TopLevel, word)
		}
		files = append(files, path.Clean(word))
	}
	return files
}

// belowHooks reports whether a file is in a folder of the working tree from which git runs hooks.
func belowHooks(ctx context.Context, r *repo.Repo, file string) bool {
	out, _ := r.Git.Run(ctx, "config", "--type=path", "--show-scope", "-z", "--get-all", "core.hooksPath") // if unset it fails
	fields := bytes.Split(out, []byte{0})
	for i := 0; i+1 < len(fields); i += 2 {
		folder := string(fields[i+1])
		if string(fields[i]) == "command" { // jp's own switches hooks off
			continue
		}
		if filepath.IsAbs(folder) {
			folder, _ = filepath.Rel(r.At.TopLevel, folder)
		}
		if below := path.Clean(folder) + "/"; strings.HasPrefix(file, below) || below == "./" {
			return true
		}
	}
	return false
}
