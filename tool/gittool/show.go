package gittool

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"jp/gitcmd"
	"jp/tool"
)

// reads is the definition of a tool that only looks.
func reads(name, description, parameters string, subject func(json.RawMessage) string) *tool.Definition {
	return &tool.Definition{
		Name: name, Description: description, Parameters: json.RawMessage(parameters),
		Effect: tool.Reads, Idempotent: true, Run: tool.Unattended, Result: tool.Unattended, Subject: subject,
	}
}

func (r *repository) status() tool.Tool {
	def := reads("git_status",
		"Show the branch and the files that are staged, changed or not tracked, as git status --short does.",
		`{"type":"object","additionalProperties":false,"properties":{}}`, nil)
	return &gitTool{def: def, run: func(ctx context.Context, _ tool.Call) (tool.Result, error) {
		index, hidden, done, err := r.ownIndex(ctx)
		if err != nil {
			return tool.Result{}, err
		}
		defer done()
		out, err := r.shown(ctx, gitcmd.Command{
			Args: []string{"status", "--porcelain=v1", "--branch", "--untracked-files=normal"}, Content: true, Env: index,
		})
		if err != nil {
			return tool.Result{}, err
		}
		effect := "clean"
		if files := out.Lines() - 1; files > 0 {
			effect = count(files, "file") + " changed"
		}
		return noting(reading(out, effect, "nothing"), hidden), nil
	}}
}

// noting adds the list of skipped files.
func noting(result tool.Result, hidden []left) tool.Result {
	if len(hidden) > 0 {
		result.Content = append(result.Content, "\n"+leftText("Left out, whether they have changed or not:", hidden)...)
		result.Effect += fmt.Sprintf(", %d left out", len(hidden))
	}
	return result
}

// An ask holds the arguments of the tools that only look.
type ask struct {
	Paths    []string `json:"paths"`
	Staged   bool     `json:"staged"`
	Revision string   `json:"revision"`
	Count    int      `json:"count"`
	Query    string   `json:"query"`
}

func (r *repository) asked(arguments json.RawMessage) (ask, error) {
	var a ask
	err := json.Unmarshal(arguments, &a)
	if err != nil {
		return a, fmt.Errorf("read the arguments: %w", err)
	}
	if err := revision(a.Revision); err != nil {
		return a, err
	}
	a.Paths, err = r.paths(a.Paths)
	return a, err
}

// subject shows the revisions and paths of a call, on one line.
func subject(arguments json.RawMessage) string {
	var a ask
	if json.Unmarshal(arguments, &a) != nil {
		return ""
	}
	words := []string{a.Revision}
	if a.Staged {
		words = append(words, "staged")
	}
	if a.Query != "" {
		words = append(words, fmt.Sprintf("%q", a.Query))
	}
	return strings.Join(strings.Fields(strings.Join(append(words, a.Paths...), " ")), " ")
}

const pathsParameter = `"paths":{"type":"array","items":{"type":"string"},"description":"Only these files and folders."}`

func (r *repository) diff() tool.Tool {
	def := reads("git_diff",
		"Show changes as a unified diff: the working tree against the index; with staged, the index against HEAD; "+
			"with a revision, the working tree (or the index) against it; A..B compares two revisions.",
		`{"type":"object","additionalProperties":false,"properties":{`+pathsParameter+`,
			"staged":{"type":"boolean","default":false},
			"revision":{"type":"string","description":"A commit, branch, tag, or a range such as main..HEAD."}}}`, subject)
	return &gitTool{def: def, run: func(ctx context.Context, call tool.Call) (tool.Result, error) {
		a, err := r.asked(call.Arguments)
		if err != nil {
			return tool.Result{}, err
		}
		if a.Staged && strings.Contains(a.Revision, "..") {
			return tool.Result{}, fmt.Errorf("%s compares two revisions, and has nothing staged: give one revision, or leave staged out", a.Revision)
		}
		args := []string{"diff", "--no-color", "--src-prefix=a/", "--dst-prefix=b/", "--submodule=short"}
		if a.Staged {
			args = append(args, "--cached")
		}
		args = append(args, "--end-of-options")
		if a.Revision != "" {
			args = append(args, a.Revision)
		}
		index, hidden, done, err := r.ownIndex(ctx)
		if err != nil {
			return tool.Result{}, err
		}
		defer done()
		out, err := r.shown(ctx, gitcmd.Command{Args: append(append(args, "--"), a.Paths...), Content: true, Env: index})
		if err != nil {
			return tool.Result{}, err
		}
		if a.Staged || strings.Contains(a.Revision, "..") {
			hidden = nil // it compared no files
		}
		return noting(reading(out, count(out.Lines(), "line"), "no changes"), hidden), nil
	}}
}

// defaultCommits is the default number of listed commits.
const defaultCommits = 20

func (r *repository) log() tool.Tool {
	def := reads("git_log",
		"List commits of the current branch, newest first: id, date, author and subject. Use git_show for one of them.",
		`{"type":"object","additionalProperties":false,"properties":{`+pathsParameter+`,
			"count":{"type":"integer","minimum":1,"default":20,"description":"The most commits to list."},
			"query":{"type":"string","description":"Only commits whose message has this text; case does not matter."}}}`, subject)
	return &gitTool{def: def, run: func(ctx context.Context, call tool.Call) (tool.Result, error) {
		a, err := r.asked(call.Arguments)
		if err != nil {
			return tool.Result{}, err
		}
		if a.Count == 0 {
			a.Count = defaultCommits
		}
		args := []string{"log", fmt.Sprintf("--max-count=%d", a.Count), "--no-color", "--format=%h %as %an: %s"}
		if a.Query != "" {
			args = append(args, "--regexp-ignore-case", "--fixed-strings", "--grep="+a.Query)
		}
		args = append(args, "HEAD", "--")
		out, err := r.shown(ctx, gitcmd.Command{Args: append(args, a.Paths...)})
		if err != nil {
			return tool.Result{}, err
		}
		return reading(out, count(out.Lines(), "commit"), "no commits"), nil
	}}
}

func (r *repository) show() tool.Tool {
	def := reads("git_show",
		"Show one commit with its message and diff, or a file as it was in a commit (revision COMMIT:PATH).",
		`{"type":"object","required":["revision"],"additionalProperties":false,"properties":{
			"revision":{"type":"string","minLength":1,"description":"A commit, branch or tag, or COMMIT:PATH."}}}`, subject)
	return &gitTool{def: def, run: func(ctx context.Context, call tool.Call) (tool.Result, error) {
		a, err := r.asked(call.Arguments)
		if err != nil {
			return tool.Result{}, err
		}
		out, err := r.shown(ctx, gitcmd.Command{Args: []string{
			"show", "--no-color", "--pretty=medium", "--date=iso-strict", "--stat", "--patch",
			"--src-prefix=a/", "--dst-prefix=b/", "--end-of-options", a.Revision, "--",
		}})
		if err != nil {
			return tool.Result{}, err
		}
		result := reading(out, count(out.Lines(), "line"), "empty")
		if bytes.IndexByte(result.Content, 0) >= 0 && strings.Contains(a.Revision, ":") {
			return tool.Result{}, fmt.Errorf("%s is a binary file", a.Revision)
		}
		return result, nil
	}}
}
