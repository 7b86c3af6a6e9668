package turnloop_test

import (
	"context"
	"crypto/sha1"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"

	"jp/conversation"
	"jp/tool"
	. "jp/turnloop"
)

// A fakeTool runs a function, and keeps its calls.
type fakeTool struct {
	def   tool.Definition
	do    func(context.Context, tool.Call) (tool.Result, error)
	trace *trace
	ready func(context.Context) error // before it runs; nil: it is

	mu   sync.Mutex
	runs []tool.Call
}

func (f *fakeTool) Definition() *tool.Definition { return &f.def }

func (f *fakeTool) Run(ctx context.Context, call tool.Call) (tool.Result, error) {
	f.mu.Lock()
	f.runs = append(f.runs, call)
	f.mu.Unlock()
	f.trace.add("run " + f.def.Name)
	if f.do == nil {
		return tool.Result{Content: []byte(f.def.Name + " was here")}, nil
	}
	return f.do(ctx, call)
}

// Prepare makes a fake a [tool.Preparer].
func (f *fakeTool) Prepare(ctx context.Context) error {
	if f.ready == nil {
		return nil
	}
	return f.ready(ctx)
}

const anyObject = `{"type":"object","properties":{"path":{"type":"string"},"argv":{"type":"array","items":{"type":"string"}}}}`

// reads makes a tool that only reads and needs no permission.
func reads(name string) *fakeTool {
	return &fakeTool{def: tool.Definition{Name: name, Parameters: json.RawMessage(anyObject), Effect: tool.Reads, Run: tool.Unattended}}
}

// changes makes a tool that may change things, and needs no permission.
func changes(name string) *fakeTool {
	f := reads(name)
	f.def.Effect = tool.Changes
	return f
}

// asking lets the tool need a permission.
func (f *fakeTool) asking() *fakeTool {
	f.def.Run = tool.Ask
	return f
}

func (f *fakeTool) exclusive() *fakeTool {
	f.def.Exclusive, f.def.Run = true, tool.Ask
	return f
}

// doing lets the tool do something.
func (f *fakeTool) doing(do func(context.Context, tool.Call) (tool.Result, error)) *fakeTool {
	f.do = do
	return f
}

// returning lets the tool return a text.
func (f *fakeTool) returning(text string) *fakeTool {
	return f.doing(func(context.Context, tool.Call) (tool.Result, error) { return tool.Result{Content: []byte(text)}, nil })
}

// blocking lets the tool run until its context ends.
func (f *fakeTool) blocking(started func()) *fakeTool {
	return f.doing(func(ctx context.Context, _ tool.Call) (tool.Result, error) {
		started()
		<-ctx.Done()
		return tool.Result{}, ctx.Err()
	})
}

// questioning lets the tool ask before it does anything.
func (f *fakeTool) questioning() *fakeTool {
	return f.doing(func(_ context.Context, call tool.Call) (tool.Result, error) {
		if answer, ok := call.Answers["overwrite"]; ok {
			return tool.Result{Content: []byte("overwrite: " + string(answer))}, nil
		}
		return tool.Result{Question: overwrite()}, nil
	})
}

func overwrite() *tool.Question {
	return &tool.Question{
		ID: "overwrite", Detail: "3 lines differ",
		Question: conversation.Question{Text: "Overwrite it?", AnswerType: conversation.AnswerType{Type: "boolean"}},
	}
}

// A workspace is files in memory. The content names a tree.
type workspace struct {
	files map[string]string
	git   conversation.Git
	known map[string]map[string]string
	looks []SnapshotRequest
	fail  func(look int) error // by the number of the look, from 1

	obeyed  []string // that each look after a tool finds
	control map[string]string
	marked  map[int]map[string]string // the control files at each look
}

func newWorkspace() *workspace {
	return &workspace{
		files: map[string]string{"main.go": "package main"}, known: map[string]map[string]string{}, marked: map[int]map[string]string{},
		git: conversation.Git{Head: hexOf("first"), Branch: "main"},
	}
}

func hexOf(text string) string {
	sum := sha1.Sum([]byte(text))
	return hex.EncodeToString(sum[:])
}

func (w *workspace) tree() string {
	text := ""
	for _, path := range slices.Sorted(maps.Keys(w.files)) {
		text += fmt.Sprintf("%q=%q,", path, w.files[path])
	}
	w.known[hexOf(text)] = maps.Clone(w.files)
	return hexOf(text)
}

func (w *workspace) Look(_ context.Context, at SnapshotRequest) (SnapshotResult, error) {
	w.looks = append(w.looks, at)
	if w.fail != nil {
		if err := w.fail(len(w.looks)); err != nil {
			return SnapshotResult{}, err
		}
	}
	s := SnapshotResult{Tree: w.tree(), Git: w.git, Mark: len(w.looks)}
	if at.Since != nil {
		s.Obeyed = w.obeyed
		for _, name := range slices.Sorted(maps.Keys(w.control)) {
			if before := w.marked[at.Since.(int)]; before != nil && before[name] != w.control[name] {
				s.Obeyed = append(s.Obeyed, name)
			}
		}
	}
	if at.Any || at.Control {
		for _, name := range slices.Sorted(maps.Keys(w.control)) {
			s.Control = append(s.Control, conversation.NamedFile{Path: name, Digest: hexOf(w.control[name])})
		}
	}
	w.marked[len(w.looks)] = maps.Clone(w.control)
	before := w.known[at.Tree]
	for _, path := range slices.Sorted(maps.Keys(w.files)) {
		if before[path] != w.files[path] {
			s.Changes = append(s.Changes, conversation.FileChange{Path: path, After: hexOf(w.files[path])})
			status := "M"
			if _, there := before[path]; !there {
				status = "A"
			}
			s.Stat = append(s.Stat, conversation.PathStat{Path: path, Status: status, Added: 1})
		}
	}
	return s, nil
}

// writing lets the tool write a file of the workspace.
func (f *fakeTool) writing(w *workspace, path string) *fakeTool {
	return f.doing(func(_ context.Context, call tool.Call) (tool.Result, error) {
		w.files[path] = fmt.Sprintf("written for event %d", call.Seq)
		return tool.Result{Content: []byte("ok")}, nil
	})
}
