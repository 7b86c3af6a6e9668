package turnloop_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/provider"
	"jp/tool"
	. "jp/turnloop"
)

// told waits for the last news, and is the last activity of a name.
func (r *rig) told(name string) Activity {
	time.Sleep(time.Second) // of the bubble's clock
	synctest.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	var last Activity
	for _, a := range r.working {
		if a.Name == name && !a.Over {
			last = a
		}
	}
	return last
}

// TestWorkingTellsTheLastLine lets a tool write, in pieces, and checks the shown line.
func TestWorkingTellsTheLastLine(t *testing.T) {
	const secret = "s3cr3t-0123456789"
	redact := func(text string) string { return strings.ReplaceAll(text, secret, "[secret]") }
	for name, c := range map[string]struct {
		pieces []string
		want   string
	}{
		"a line":                                {[]string{"one\ntwo\n"}, "two"},
		"in pieces":                             {[]string{"on", "e\ntw", "o\n"}, "two"},
		"blank lines at the end":                {[]string{"one\n\n \t\n"}, "one"},
		"a word that may grow":                  {[]string{"one\ntwo thr"}, "two"},
		"only a word that may grow":             {[]string{"one\ntwo"}, "one"},
		"dots":                                  {[]string{"one\n", "..", ".."}, "...."},
		"carriage returns":                      {[]string{"10 %\r20 %\r"}, "20 %"},
		"with line feeds":                       {[]string{"one\r\ntwo\r\n"}, "two"},
		"colours":                               {[]string{"\x1b[31mred\x1b[0m\n"}, "red"},
		"a sequence over two pieces":            {[]string{"a\x1b[3", "1mb\n"}, "ab"},
		"a title":                               {[]string{"\x1b]0;evil\x07text\n"}, "text"},
		"a cursor that moves":                   {[]string{"\x1b[2J\x1b[Hhome\n"}, "home"},
		"text that is reordered":                {[]string{"a\u202eb\n"}, "a<U+202E>b"},
		"bytes that are no text":                {[]string{"a\xff\n"}, "a\uFFFD"},
		"a secret":                              {[]string{"key " + secret + "\n"}, "key [secret]"},
		"a secret over two pieces":              {[]string{"key " + secret[:7], secret[7:] + "\n"}, "key [secret]"},
		"a secret, byte by byte":                {strings.Split("key "+secret+" ", ""), "key [secret]"},
		"the first half of a secret":            {[]string{"one\nkey " + secret[:7]}, "key"},
		"a secret with a sequence in it":        {[]string{secret[:7] + "\x1b[0m" + secret[7:] + "\n"}, "[secret]"},
		"a secret behind a carriage return":     {[]string{"x\rkey=" + secret + "\n"}, "key=[secret]"},
		"more than is kept":                     {[]string{strings.Repeat("line\n", 50_000), "last\n"}, "last"},
		"more than is kept, at once":            {[]string{strings.Repeat("line\n", 50_000) + "last\n"}, "last"},
		"a line of which the beginning is lost": {[]string{strings.Repeat("x ", 40_000)}, ""},
		"a long line":                           {[]string{strings.Repeat("word ", 200) + "\n"}, strings.TrimSpace(strings.Repeat("word ", 79)) + "…"},
		"nothing":                               {nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			bothEffects(t, func(t *testing.T, f *fakeTool) {
				synctest.Test(t, func(t *testing.T) {
					r := newRig(t, []*fakeTool{f}, asksFor("remote"), answers("ok"))
					r.opts.Secrets.Redact = redact
					f.do = func(_ context.Context, call tool.Call) (tool.Result, error) {
						for _, piece := range c.pieces {
							_, err := call.Output.Write([]byte(piece))
							require.NoError(t, err)
							time.Sleep(120 * time.Millisecond)
						}
						require.Equal(t, c.want, r.told("remote").Tail)
						return tool.Result{}, nil
					}
					r.done()
					r.mu.Lock()
					defer r.mu.Unlock()
					for _, a := range r.working {
						require.NotContains(t, a.Tail, secret[:7], "no part of it, at any time")
						require.NotContains(t, a.Tail, "\x1b")
					}
				})
			})
		})
	}
}

// TestWorkingIsToldTenTimesASecondAtMost lets tools write as fast as they can.
func TestWorkingIsToldTenTimesASecondAtMost(t *testing.T) {
	for _, tools := range []int{1, 7} {
		t.Run(fmt.Sprint(tools), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				read := reads("read").doing(func(_ context.Context, call tool.Call) (tool.Result, error) {
					for i := range 3000 {
						fmt.Fprintf(call.Output, "line %d\n", i)
						time.Sleep(time.Millisecond)
					}
					return tool.Result{}, nil
				})
				names := make([]string, tools)
				for i := range names {
					names[i] = "read"
				}
				r := newRig(t, []*fakeTool{read}, asksFor(names...), answers("ok"))
				began := time.Now()
				r.done()
				took := time.Since(began)
				time.Sleep(time.Minute)
				synctest.Wait()
				r.mu.Lock()
				defer r.mu.Unlock()
				require.LessOrEqual(t, len(r.working), int(took/(100*time.Millisecond))+2)
				require.Greater(t, len(r.working), 25, "and it is told all the time")
				seen := map[int]bool{}
				for _, a := range r.working {
					seen[a.Seq] = seen[a.Seq] || a.Name == "read"
				}
				require.GreaterOrEqual(t, len(seen), tools, "of each call")
			})
		})
	}
}

func TestWorkingTellsWhatRuns(t *testing.T) {
	bothEffects(t, func(t *testing.T, f *fakeTool) {
		synctest.Test(t, func(t *testing.T) {
			var late tool.Call
			r := newRig(t, []*fakeTool{f}, asksFor("remote"), answers("ok"))
			f.do = func(_ context.Context, call tool.Call) (tool.Result, error) {
				call.Progress("half")
				late = call
				got := r.told("remote")
				require.Equal(t, "half", got.Progress)
				require.Equal(t, call.Seq, got.Seq)
				require.Equal(t, 1, got.Call)
				require.False(t, got.Started.IsZero())
				return tool.Result{}, nil
			}
			r.done()
			before := len(r.working)
			late.Progress("too late")
			fmt.Fprintln(late.Output, "too late")
			time.Sleep(time.Second)
			synctest.Wait()
			require.Len(t, r.working, before, "nothing is told when the turn is over")
		})
	})
}

func TestNobodyIsToldWithoutAnObserver(t *testing.T) {
	bothEffects(t, func(t *testing.T, f *fakeTool) {
		f.do = func(_ context.Context, call tool.Call) (tool.Result, error) {
			require.Nil(t, call.Progress)
			require.Nil(t, call.Output)
			return tool.Result{}, nil
		}
		r := newRig(t, []*fakeTool{f}, asksFor("remote"), answers("ok"))
		r.opts.Observer = nil
		r.done()
	})
}

// TestWorkingTellsWhatTheModelWrites lets a model take its time for each kind of part.
func TestWorkingTellsWhatTheModelWrites(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pause := func(context.Context) { time.Sleep(time.Second) }
		chunk := func(kind provider.ChunkKind, index int, tool, text string) provider.Chunk {
			return provider.Chunk{Kind: kind, Index: index, Tool: tool, ToolID: tool, Text: text}
		}
		slow := reply{{
			pause, chunk(provider.ChunkReasoning, 0, "", "Let me see.\nThe retries are"),
			pause, chunk(provider.ChunkReasoning, 0, "", " capped\n"),
			pause, chunk(provider.ChunkClose, 0, "", ""), chunk(provider.ChunkMessage, 1, "", "I look."),
			pause, chunk(provider.ChunkClose, 1, "", ""), chunk(provider.ChunkToolCall, 2, "read", "{"),
			pause, chunk(provider.ChunkToolCall, 2, "", "}"),
			pause, chunk(provider.ChunkClose, 2, "", ""), ends(conversation.FinishToolCalls),
		}}
		r := newRig(t, []*fakeTool{reads("read")}, slow, answers("ok"))
		r.done()
		r.mu.Lock()
		defer r.mu.Unlock()
		var said bytes.Buffer
		for _, a := range r.working {
			if a.Name == "" && a.Call == 1 && !a.Over {
				fmt.Fprintf(&said, "%s|%s|%d|%s\n", a.Part, a.Writing, a.Tokens, a.Tail)
			}
		}
		require.Equal(t, strings.Join([]string{
			"||0|", "reasoning||7|The retries", "reasoning||9|The retries are capped", "message||11|", "|read|11|", "|read|11|", "",
		}, "\n"), said.String())
	})
}
