package fs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"

	"jp/tool"
)

func (w *workspace) grepFiles() tool.Tool {
	return &fileTool{run: w.runGrep, def: &tool.Definition{
		Name: "fs_grep_files",
		Description: "Search text files line by line for a regular expression (RE2 syntax; (?i) ignores case). " +
			"Returns path:line:text; lines of context have - in place of the colons. " +
			"Binary files are left out, and files that git ignores unless path is itself ignored.",
		Parameters: json.RawMessage(`{"type":"object","required":["pattern"],"additionalProperties":false,"properties":{
			"pattern":{"type":"string","minLength":1},
			"path":{"type":"string","description":"The file or folder to search. Default: all."},
			"glob":{"type":"string","description":"Only files that match, relative to path: *.go, src/**/*.ts."},
			"context":{"type":"integer","minimum":0,"maximum":50,"default":0,"description":"Lines before and after each match."},
			"limit":{"type":"integer","minimum":1,"default":100,"description":"The most matches."}}}`),
		Effect: tool.Reads, Idempotent: true, Run: tool.Unattended, Result: tool.Unattended,
		Subject: placeAnd("pattern"),
	}}
}

type grepArguments struct {
	Pattern string `json:"pattern"`
	Path    string `json:"path"`
	Glob    string `json:"glob"`
	Context int    `json:"context"`
	Limit   int    `json:"limit"`
}

const defaultMatches = 100

func (w *workspace) runGrep(ctx context.Context, call tool.Call) (tool.Result, error) {
	args, err := read[grepArguments](call.Arguments)
	if err != nil {
		return tool.Result{}, err
	}
	expression, err := regexp.Compile(args.Pattern)
	if err != nil {
		return tool.Result{}, fmt.Errorf("the pattern is not a regular expression: %w", err)
	}
	sel := selection{path: args.Path, pattern: args.Glob}
	names, err := w.files(ctx, sel)
	if err != nil {
		return tool.Result{}, err
	}
	if args.Limit == 0 {
		args.Limit = defaultMatches
	}
	s := &sweep{expression: expression, context: args.Context, limit: args.Limit, out: tool.NewCapture(tool.Limit)}
	for _, name := range names {
		if ctx.Err() != nil || s.full {
			break
		}
		w.sweepFile(s, name)
	}
	result := s.result()
	if s.matches == 0 {
		result.Content = append(result.Content, w.leftOut(ctx, sel)...)
	}
	return result, ctx.Err()
}

// sweepFile searches one file. It skips unreadable and binary files, and reports one that is too large to
// search.
func (w *workspace) sweepFile(s *sweep, name string) {
	p, err := w.find(name, access{})
	if err != nil {
		return
	}
	defer p.Close()
	text, _, err := p.decoded()
	if errors.Is(err, ErrTooLarge) {
		s.tooLarge++
	}
	if err == nil {
		s.search(name, []byte(text))
	}
}
