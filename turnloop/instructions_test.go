package turnloop_test

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/instructions"
	"jp/provider"
	"jp/tool"
	. "jp/turnloop"
)

// instructed gives each folder instructions of its own, and the tools files to name.
func (c *crashRig) instructed() {
	file := func(folder string) instructions.File {
		text := "Rules of " + folder + ".\n"
		return instructions.File{Path: path.Join(folder, "AGENTS.md"), Text: text, OID: instructions.BlobID("sha1", []byte(text)), Bytes: int64(len(text))}
	}
	for name, folder := range map[string]string{"read": "pkg", "free": "lib", "held": "held", "quest": "lib"} {
		t, ok := c.opts.Tools.Registry.Lookup(name)
		require.True(c.t, ok)
		t.Definition().Paths = func(json.RawMessage) ([]string, bool) { return []string{folder + "/a.go"}, false }
	}
	c.opts.Input.Touched = func(_ context.Context, events []*conversation.Event, paths []string, seq int) *conversation.Instructions {
		return instructions.Follow(events).ForTool([]instructions.File{file(path.Dir(paths[0]))}, seq)
	}
}

// begin is a request that gives the model the root's instructions if they are new to it.
func (c *crashRig) begin() Request {
	text := "Rules of the root.\n"
	root := instructions.File{Path: "AGENTS.md", Text: text, OID: instructions.BlobID("sha1", []byte(text)), Bytes: int64(len(text))}
	r := Request{Chat: conversation.ChatRequest{Content: "do it"}}
	if told := instructions.Follow(c.opts.Conversation.Stream.Events()).ForTurn([]instructions.File{root}); told != nil {
		r.Records = append(r.Records, &conversation.Event{Body: told})
	}
	return r
}

// requireOnce checks that the next request has each of the texts once, and the others at most once.
func (c *crashRig) requireOnce(texts ...string) {
	request, err := provider.Build(append(c.stored(), &conversation.Event{
		Seq: len(c.stored()), Turn: 99, Version: 1, Body: &conversation.ChatRequest{Content: "Next."},
	}), provider.Options{Model: "test/model", API: "test", Tools: []provider.Tool{}})
	require.NoError(c.t, err)
	var sent strings.Builder
	for _, m := range request.Messages {
		for _, b := range m.Blocks {
			sent.WriteString(b.Text)
		}
	}
	for _, text := range texts {
		require.Equal(c.t, 1, strings.Count(sent.String(), text), "%s in\n%s", text, sent.String())
	}
	for _, text := range []string{"Rules of pkg.", "Rules of lib.", "Rules of held."} {
		require.LessOrEqual(c.t, strings.Count(sent.String(), text), 1, "%s in\n%s", text, sent.String())
	}
	require.Empty(c.t, conversation.Audit(c.stored()))
}

// A process may end between any two events: the model is given each file once, with the result of
// the tool that touched its folder first.
func TestACrashAtEveryAppendGivesInstructionsOnce(t *testing.T) {
	all := []string{"Rules of the root.", "Rules of pkg.", "Rules of lib.", "Rules of held."}
	whole := newCrashRig(t, longTurn()...)
	whole.instructed()
	_, err := New(whole.opts).Start(t.Context(), whole.begin())
	require.NoError(t, err)
	whole.requireOnce(all...)
	for _, how := range []crash{refuses, dies, silent} {
		for n := 1; n <= whole.journal.count; n++ {
			t.Run(fmt.Sprint(how, n), func(t *testing.T) {
				c := newCrashRig(t, longTurn()...)
				c.instructed()
				_, _ = New(c.opts).Start(c.crashAt(n, how), c.begin())
				c.heal()
				if c.reload(); c.opts.Conversation.Stream.Len() == 0 {
					_, err := New(c.opts).Start(t.Context(), c.begin())
					require.NoError(t, err)
				} else if !c.opts.Conversation.Stream.Tail().Complete() {
					c.finish()
				}
				c.requireOnce(all[0])
				c.reload()
				_, err := New(c.opts).Start(t.Context(), c.begin())
				_ = err // the model of the script has said all
				c.requireOnce(all[0])
			})
		}
	}
}

// A failed tool, also one whose result says so, touched nothing.
func TestAFailedToolGivesNoInstructions(t *testing.T) {
	failing := reads("read")
	failing.do = func(context.Context, tool.Call) (tool.Result, error) {
		return tool.Result{Content: []byte("no such file"), IsError: true}, nil
	}
	failing.def.Paths = func(json.RawMessage) ([]string, bool) { return []string{"pkg/a.go"}, true }
	r := newRig(t, []*fakeTool{failing}, asksFor("read"), answers("ok"))
	r.opts.Input.Touched = func(context.Context, []*conversation.Event, []string, int) *conversation.Instructions {
		t.Error("it is asked for instructions")
		return nil
	}
	r.done()
}
