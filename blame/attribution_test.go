package blame

import (
	"context"
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/gitcmd"
	"jp/gitstore/trees"
	"jp/internal/testing/gitenv"
)

// A history is a repository in which an agent and people write lines. Each line of people has
// "person" in it or is boilerplate.
type history struct {
	t      *testing.T
	dir    string
	clock  time.Time
	events []*conversation.Event
	git    *gitcmd.Git
	stored objects // of snapshots
	trees  trees.Reader
	record *record // of the events
	at     string  // HEAD
}

// objects are trees and blobs in memory: a git for each snapshot would take most of the time.
type objects map[string][2]string

func (o objects) ReadObject(oid string) (kind string, data []byte, err error) {
	return o[oid][0], []byte(o[oid][1]), nil
}

func (o objects) put(kind, data string) (oid []byte) {
	sum := sha1.Sum(fmt.Appendf(nil, "%s %d\x00%s", kind, len(data), data))
	o[hex.EncodeToString(sum[:])] = [2]string{kind, data}
	return sum[:]
}

// folder puts a folder with all that is in it.
func (o objects) folder(t *testing.T, dir string) (oid []byte) {
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	var b strings.Builder
	for _, e := range entries {
		switch path := filepath.Join(dir, e.Name()); {
		case e.Name() == ".git":
		case e.IsDir():
			fmt.Fprintf(&b, "40000 %s\x00%s", e.Name(), o.folder(t, path))
		default:
			data, err := os.ReadFile(path)
			require.NoError(t, err)
			fmt.Fprintf(&b, "100644 %s\x00%s", e.Name(), o.put("blob", string(data)))
		}
	}
	return o.put("tree", b.String())
}

func newHistory(t *testing.T) *history {
	gitenv.Isolate(t)
	h := &history{t: t, dir: gitenv.Repo(t), clock: time.Date(2026, 11, 1, 10, 0, 0, 0, time.UTC)}
	h.git = gitcmd.New(h.dir, gitcmd.Options{})
	h.stored = objects{}
	h.trees = trees.NewGoGit(h.stored)
	return h
}

func (h *history) run(args ...string) string {
	h.at = ""
	h.clock = h.clock.Add(time.Minute)
	h.t.Setenv("GIT_AUTHOR_DATE", h.clock.Format(time.RFC3339))
	h.t.Setenv("GIT_COMMITTER_DATE", h.clock.Format(time.RFC3339))
	return gitenv.Git(h.t, h.dir, args...)
}

func (h *history) write(path, text string) {
	full := filepath.Join(h.dir, path)
	require.NoError(h.t, os.MkdirAll(filepath.Dir(full), 0o755))
	require.NoError(h.t, os.WriteFile(full, []byte(text), 0o644))
}

func (h *history) read(path string) string {
	data, err := os.ReadFile(filepath.Join(h.dir, path))
	require.NoError(h.t, err)
	return string(data)
}

func (h *history) commit(message string) {
	h.run("add", "-A")
	h.run("commit", "-q", "--allow-empty", "-m", message)
}

// tree is the working tree in the form of a snapshot.
func (h *history) tree() string { return hex.EncodeToString(h.stored.folder(h.t, h.dir)) }

// head is the commit of HEAD, which git names again after it ran.
func (h *history) head() string {
	if h.at == "" {
		h.at = strings.TrimSpace(gitenv.Git(h.t, h.dir, "rev-parse", "HEAD"))
	}
	return h.at
}

// event records the working tree as an event found it.
func (h *history) event(body conversation.Body) {
	h.clock = h.clock.Add(time.Minute)
	n := len(h.events)
	h.events = append(h.events, &conversation.Event{
		Seq: n, Turn: 1, Time: h.clock, Body: body, Tree: h.tree(), Commit: fmt.Sprintf("%040d", n),
		Git: &conversation.Git{Head: h.head()},
	})
	h.record = nil
}

// tool lets the agent change files. Earlier changes by others are an outside change.
func (h *history) tool(name string, change func()) {
	if tree := h.tree(); len(h.events) > 0 && h.events[len(h.events)-1].Tree != tree {
		h.event(&conversation.Workspace{})
	}
	change()
	h.event(&conversation.ToolCallResponse{Name: name})
}

// blamed reports which lines of a file are the agent's.
func (h *history) blamed(path string) []bool {
	if h.record == nil {
		h.record = h.recordOf(h.events, nil)
		h.growsTo(h.recordOf(h.events, nil))
	}
	lines := splitLines(h.read(path))
	by, from := map[int]attribution{}, make([]int, len(lines))
	if out, err := h.git.Run(context.Background(), "blame", "--porcelain", "-w", "HEAD", "--", path); err == nil {
		by = parseBlame(string(out))
		committed, err := h.git.Run(context.Background(), "cat-file", "blob", "HEAD:"+path)
		require.NoError(h.t, err)
		from = alignLines(string(committed), h.read(path))
	}
	current, paths := currentLines(lines, from, by, path)
	m := newMatcher([]*record{h.record}, current, paths)
	m.earlier = func(commit, head string) bool {
		_, err := h.git.Run(context.Background(), "merge-base", "--is-ancestor", commit, head)
		return err == nil
	}
	var is []bool
	for _, found := range m.match() {
		is = append(is, found.source != nil && found.source.Writer == byTool)
	}
	return is
}

// recordOf is the record of some events, as the index gives it back.
func (h *history) recordOf(events []*conversation.Event, was *record) *record {
	rec := recorder{trees: h.trees, files: &contents{}, from: copier{ground: &standing{}}}
	var made *record
	if was != nil {
		if made = rec.goOn(context.Background(), events, was); made == nil {
			return nil
		}
	} else {
		var err error
		made, err = rec.recordOf(context.Background(), events, h.events[0].Tree)
		require.NoError(h.t, err)
	}
	made.Conversation, made.Head = "c", "h"
	decoded := decodeIndex(joinRecords([][]byte{[]byte(indexMagic), encodeRecord(made)}))
	require.Len(h.t, decoded, 1)
	return decoded[0]
}

// growsTo asserts that a record that grows with the conversation becomes the same as one of all events.
func (h *history) growsTo(whole *record) {
	var was *record
	from := 0
	for _, to := range []int{max(1, len(h.events)/3), max(1, len(h.events)*2/3), len(h.events)} {
		made := h.recordOf(h.events[from:to], was)
		if made == nil {
			made = h.recordOf(h.events[:to], nil)
		}
		was, from = made, to
	}
	require.Equal(h.t, len(whole.state), len(was.state)) // its keys have no order
	whole.state, whole.encoded, was.state, was.encoded = "", nil, "", nil
	require.Equal(h.t, whole, was)
}

func TestRecordsGrow(t *testing.T) {
	h := newHistory(t)
	write := func(text string) {
		h.tool("fs_modify_file", func() { h.write("a.go", "package a\n"+text) })
	}
	h.write("a.go", "package a\n")
	h.commit("base")
	h.event(&conversation.TurnStart{})
	write(function("one", 1))
	write(function("two", 2))
	was := h.recordOf(h.events, nil)
	n := len(h.events)
	write(function("two", 2) + function("three", 3))
	require.NotNil(t, h.recordOf(h.events[n:], was))
	write(function("one", 1))
	require.Nil(t, h.recordOf(h.events[n:], was), "the lines are those of a version that the state lacks")
}

const boilerplate = "\tif err != nil {\n\t\treturn err\n\t}\n"

// function is some lines of one writer: distinct ones, with boilerplate between them.
func function(who string, n int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "func %s%d() error {\n", who, n)
	for i := range 4 {
		fmt.Fprintf(&b, "\t%s_step_%d_%d(input)\n", who, n, i)
		b.WriteString(boilerplate)
	}
	b.WriteString("\treturn nil\n}\n\n")
	return b.String()
}

type score struct{ agent, found, others, wrong, trivial, trivialFound, trivialOthers, trivialWrong, beside int }

// expect compares a file with the truth: owners reports line by line whose it is.
func (s *score) expect(t *testing.T, lines []string, owners []bool, got []bool) {
	require.Len(t, owners, len(lines))
	require.Len(t, got, len(lines))
	for i, line := range lines {
		_, weight := keyOf(line)
		plain := weight == 0 || strings.Contains(boilerplate, line)
		switch {
		case owners[i] && plain:
			s.trivial++
			s.trivialFound += bit(got[i])
		case owners[i]:
			s.agent++
			s.found += bit(got[i])
			if !got[i] {
				t.Logf("missed: %d %q", i+1, line)
			}
		case plain:
			s.trivialOthers++
			s.trivialWrong += bit(got[i])
		default:
			s.others++
			s.wrong += bit(got[i])
		}
		if got[i] && !owners[i] {
			t.Logf("wrong: %d %q", i+1, line)
		}
	}
}

// mixed are the parts of the generated file in order: who wrote each.
func mixed(seed int) (before, after string, owners []bool) {
	var b, a strings.Builder
	for i := range 12 {
		agent := (i*7+seed)%3 == 0
		who := "person"
		if agent {
			who = "agent"
		}
		text := function(who, seed*100+i)
		a.WriteString(text)
		if !agent {
			b.WriteString(text)
		}
		owners = append(owners, slices.Repeat([]bool{agent}, strings.Count(text, "\n"))...)
	}
	return b.String(), a.String(), owners
}

// TestAttribution prints for each operation of git how many of the agent's lines are found, and how many of
// others are called the agent's.
func TestAttribution(t *testing.T) {
	operations := []struct {
		name string
		path string
		do   func(h *history)
	}{
		{"none, not committed", "a.go", func(*history) {}},
		{"commit", "a.go", func(h *history) { h.commit("all") }},
		{"rename", "b/c.go", func(h *history) {
			h.commit("all")
			require.NoError(h.t, os.MkdirAll(filepath.Join(h.dir, "b"), 0o755))
			h.run("mv", "a.go", "b/c.go")
			h.commit("move")
		}},
		{"rename, not committed", "c.go", func(h *history) { h.commit("all"); h.run("mv", "a.go", "c.go") }},
		{"rename and change", "c.go", func(h *history) {
			h.commit("all")
			h.run("mv", "a.go", "c.go")
			h.write("c.go", strings.Replace(h.read("c.go"), "person_step", "changed_person_step", 1))
			h.commit("move")
		}},
		{"rename by the agent", "c.go", func(h *history) {
			h.tool("shell_run", func() { h.run("mv", "a.go", "c.go") })
			h.commit("all")
		}},
		{"copy", "copy.go", func(h *history) { h.commit("all"); h.write("copy.go", h.read("a.go")); h.commit("copy") }},
		{"copy by the agent", "copy.go", func(h *history) {
			h.tool("shell_run", func() { h.write("copy.go", h.read("a.go")) })
			h.commit("all")
		}},
		{"squash", "a.go", func(h *history) {
			h.run("checkout", "-q", "-b", "side")
			h.commit("one")
			h.write("other.go", function("person", 9000))
			h.commit("two")
			h.run("checkout", "-q", "main")
			h.run("merge", "-q", "--squash", "side")
			h.commit("squashed")
		}},
		{"rebase", "a.go", func(h *history) {
			h.run("checkout", "-q", "-b", "side")
			h.commit("one")
			h.run("checkout", "-q", "main")
			h.write("other.go", function("person", 9000))
			h.commit("two")
			h.run("checkout", "-q", "side")
			h.run("rebase", "-q", "main")
		}},
		{"amend", "a.go", func(h *history) {
			h.commit("one")
			h.write("other.go", function("person", 9000))
			h.run("add", "-A")
			h.run("commit", "-q", "--amend", "-m", "amended")
		}},
		{"cherry-pick", "a.go", func(h *history) {
			h.run("checkout", "-q", "-b", "side")
			h.commit("one")
			h.run("checkout", "-q", "main")
			h.write("other.go", function("person", 9000))
			h.commit("two")
			h.run("cherry-pick", "side")
		}},
		{"merge", "a.go", func(h *history) {
			h.run("checkout", "-q", "-b", "side")
			h.commit("one")
			h.run("checkout", "-q", "main")
			h.write("other.go", function("person", 9000))
			h.commit("two")
			h.run("merge", "-q", "--no-ff", "-m", "merged", "side")
		}},
		{"white space only", "a.go", func(h *history) {
			h.commit("all")
			h.write("a.go", strings.ReplaceAll(h.read("a.go"), "\t", "        "))
			h.commit("indent")
		}},
	}
	var sum score
	t.Logf("%-24s %10s %10s %10s %10s", "operation", "recall", "wrong", "trivial", "wrong")
	for _, o := range operations {
		var s score
		for seed := range 4 {
			h := newHistory(t)
			before, after, owners := mixed(seed)
			h.write("a.go", before)
			h.write("base.go", function("person", 7000)+function("person", 7001))
			h.commit("base")
			h.event(&conversation.TurnStart{Model: "script/x"})
			h.tool("fs_modify_file", func() { h.write("a.go", after) })
			o.do(h)
			s.expect(t, splitLines(h.read(o.path)), owners, h.blamed(o.path))
			base := splitLines(h.read("base.go"))
			s.expect(t, base, make([]bool, len(base)), h.blamed("base.go"))
			if _, err := os.Stat(filepath.Join(h.dir, "other.go")); err == nil {
				other := splitLines(h.read("other.go"))
				s.expect(t, other, make([]bool, len(other)), h.blamed("other.go"))
			}
		}
		t.Logf("%-24s %4d/%-5d %4d/%-5d %4d/%-5d %4d/%-5d", o.name, s.found, s.agent, s.wrong, s.others, s.trivialFound, s.trivial, s.trivialWrong, s.trivialOthers)
		require.Equal(t, s.agent, s.found, o.name)
		require.Zero(t, s.wrong+s.trivialWrong, o.name)
		sum.others += s.others + s.trivialOthers
		sum.agent += s.agent
	}
	t.Logf("%d lines of the agent, %d of others", sum.agent, sum.others)
	require.Greater(t, sum.others, 10_000)
}

// People write lines that look like the agent's, and change its lines.
func TestLinesOfOthers(t *testing.T) {
	agent := function("agent", 1)
	tests := map[string]struct {
		path string
		do   func(h *history)
		text string // of the file; its lines that begin with "+" are the agent's
	}{
		"a token is changed": {"a.go", func(h *history) {
			h.commit("all")
			h.write("a.go", "package a\n\n"+strings.Replace(agent, "step_1_2", "step_1_7", 1))
			h.commit("fix")
		}, " package a\n \n" + strings.Replace(mark(agent), "+\tagent_step_1_2", " \tagent_step_1_7", 1)},
		"punctuation by a person in the place of the agent's": {"c.go", func(h *history) {
			h.write("c.go", "package c\n")
			h.commit("base")
			h.tool("shell_run", func() { h.write("c.go", "package c\n}\n)\n}\n") })
			h.write("c.go", "package c\n")
			h.commit("less")
			h.write("c.go", "package c\n}\n)\n}\n")
		}, " package c\n }\n )\n }\n"},
		"boilerplate by a person elsewhere": {"b.go", func(h *history) {
			h.commit("all")
			h.write("b.go", "package b\n\nfunc mine() error {\n"+boilerplate+"\treturn nil\n}\n")
			h.commit("more")
		}, " package b\n \n func mine() error {\n \tif err != nil {\n \t\treturn err\n \t}\n \treturn nil\n }\n"},
		"boilerplate by a person in the same file": {"a.go", func(h *history) {
			h.commit("all")
			h.write("a.go", h.read("a.go")+"func mine() error {\n"+boilerplate+"\treturn nil\n}\n")
			h.commit("more")
		}, " package a\n \n" + mark(agent) + " func mine() error {\n \tif err != nil {\n \t\treturn err\n \t}\n \treturn nil\n }\n"},
		"the agent moves a person's lines": {"b.go", func(h *history) {
			h.write("p.go", function("person", 5))
			h.commit("base")
			h.tool("shell_run", func() {
				require.NoError(h.t, os.Remove(filepath.Join(h.dir, "p.go")))
				h.write("b.go", function("person", 5)+agent)
			})
		}, plain(function("person", 5)) + mark(agent)},
		"the agent copies a person's file": {"b.go", func(h *history) {
			h.write("p.go", function("person", 5))
			h.commit("base")
			h.tool("shell_run", func() { h.write("b.go", function("person", 5)) })
		}, plain(function("person", 5))},
		"head by the agent": {"w3.txt", func(h *history) {
			h.write("w.txt", "one\ntwo\nthree\nfour\nfive\n")
			h.commit("base")
			h.tool("shell_run", func() { h.write("w3.txt", "one\ntwo\nthree\nfour\n") })
		}, " one\n two\n three\n four\n"},
		"head and a line by the agent": {"w3.txt", func(h *history) {
			h.write("w.txt", "one\ntwo\nthree\nfour\nfive\n")
			h.commit("base")
			h.tool("shell_run", func() { h.write("w3.txt", "one\ntwo\nthree\nfour\nthe agent's line\n") })
		}, " one\n two\n three\n four\n+the agent's line\n"},
		"cat by the agent": {"x.txt", func(h *history) {
			h.write("v.txt", "a person's first\n}\n")
			h.write("w.txt", "}\n\nsecond\n")
			h.event(&conversation.Workspace{})
			h.tool("shell_run", func() { h.write("x.txt", "a person's first\n}\n}\n\nsecond\n") })
		}, " a person's first\n }\n }\n \n second\n"},
		"cat of a person's and the agent's file": {"x.txt", func(h *history) {
			h.write("w.txt", "one\ntwo\nthree\n")
			h.commit("base")
			h.tool("shell_run", func() { h.write("x.txt", "one\ntwo\nthree\n"+agent) })
		}, " one\n two\n three\n" + mark(agent)},
		"a file that parts came from, renamed": {"w4.txt", func(h *history) {
			h.write("w.txt", "the first line of a person\nthe second\nthe third\nthe fourth line of a person\n")
			h.commit("base")
			h.tool("shell_run", func() { h.write("w3.txt", "the first line of a person\nthe second\nthe third\n") })
			h.run("mv", "w.txt", "w4.txt")
			h.commit("move")
		}, plain("the first line of a person\nthe second\nthe third\nthe fourth line of a person\n")},
		"a license that the agent typed again": {"mine.go", func(h *history) {
			text := strings.Join(license, "\n") + "\n"
			h.write("w.go", text)
			h.commit("base")
			h.event(&conversation.Workspace{})
			h.tool("fs_create_file", func() { h.write("x.go", text+"package x\n") })
			h.commit("x")
			h.write("mine.go", text+"package mine\n")
			h.commit("mine")
		}, plain(strings.Join(license, "\n") + "\npackage mine\n")},
		"a short line by a program": {"n.txt", func(h *history) {
			h.write("n.txt", "1\n2\n")
			h.commit("base")
			h.tool("shell_run", func() { h.write("n.txt", "1\n2\n3\n") })
		}, " 1\n 2\n+3\n"},
		"a short line by a program that stood elsewhere": {"m.txt", func(h *history) {
			h.write("n.txt", "1\n2\n")
			h.write("m.txt", "first\n")
			h.commit("base")
			h.event(&conversation.Workspace{})
			h.tool("shell_run", func() { h.write("m.txt", "first\n2\n") })
		}, " first\n 2\n"},
		"a brace by the agent": {"p.go", func(h *history) {
			h.write("p.go", "func p() {\n")
			h.commit("base")
			h.tool("fs_modify_file", func() { h.write("p.go", "func p() {\n}\n") })
		}, " func p() {\n }\n"},
		"common lines of the agent that are three": {"p.go", func(h *history) {
			h.write("p.go", "func p() {\n"+boilerplate+"}\n")
			h.commit("base")
			h.tool("fs_modify_file", func() { h.write("p.go", "func p() {\n"+boilerplate+"}\n\nfunc q() {\n"+boilerplate+"}\n") })
		}, plain("func p() {\n"+boilerplate+"}\n") + mark("\nfunc q() {\n"+boilerplate+"}\n")},
		"the agent copies its own lines and a person moves them": {"y.go", func(h *history) {
			h.tool("shell_run", func() { h.write("b.go", "package b\n\n"+agent+"// the agent's end\n") })
			h.commit("all")
			h.run("mv", "b.go", "y.go")
			h.commit("move")
		}, mark("package b\n\n" + agent + "// the agent's end\n")},
		"the agent indents a person's lines": {"p.go", func(h *history) {
			h.write("p.go", function("person", 5))
			h.commit("base")
			h.tool("shell_run", func() { h.write("p.go", strings.ReplaceAll(function("person", 5), "\t", "  ")) })
		}, plain(strings.ReplaceAll(function("person", 5), "\t", "  "))},
		"a rename and a change in one call": {"c.go", func(h *history) {
			h.tool("shell_run", func() {
				h.write("c.go", h.read("a.go")+"// agent added this line\n")
				require.NoError(h.t, os.Remove(filepath.Join(h.dir, "a.go")))
			})
		}, " package a\n \n" + mark(agent) + "+// agent added this line\n"},
		"a colleague's lines are pulled before an event": {"bob.go", func(h *history) {
			h.write("bob.go", function("person", 6))
			h.commit("Bob's work")
			h.tool("fs_modify_file", func() { h.write("bob.go", h.read("bob.go")+"// agent was here too\n") })
		}, plain(function("person", 6)) + "+// agent was here too\n"},
		"the agent checks out a colleague's commit": {"bob.go", func(h *history) {
			h.run("checkout", "-q", "-b", "side")
			h.write("bob.go", function("person", 6))
			h.commit("Bob's work")
			h.run("checkout", "-q", "main")
			h.event(&conversation.Workspace{})
			h.tool("shell_run", func() { h.run("checkout", "-q", "side") })
		}, plain(function("person", 6))},
		"the agent takes out committed lines of its own and writes them again": {"a.go", func(h *history) {
			text := h.read("a.go")
			h.commit("all")
			h.tool("fs_modify_file", func() { h.write("a.go", "package a\n") })
			h.tool("fs_modify_file", func() { h.write("a.go", text) })
		}, " package a\n \n" + mark(agent)},
		"an undo brings the agent's lines back": {"a.go", func(h *history) {
			text := h.read("a.go")
			h.tool("shell_run", func() { h.write("a.go", "package a\n") })
			h.write("a.go", text)
			h.event(&conversation.Restored{})
		}, " package a\n \n" + mark(agent)},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			h := newHistory(t)
			h.write("a.go", "package a\n\n")
			h.commit("base")
			h.event(&conversation.TurnStart{Model: "script/x"})
			h.tool("fs_modify_file", func() { h.write("a.go", "package a\n\n"+agent) })
			tt.do(h)
			got := h.blamed(tt.path)
			var b strings.Builder
			for i, line := range splitLines(h.read(tt.path)) {
				b.WriteString(map[bool]string{true: "+", false: " "}[got[i]] + line)
			}
			require.Equal(t, tt.text, b.String())
		})
	}
}

func mark(text string) string  { return prefix("+", text) }
func plain(text string) string { return prefix(" ", text) }

func prefix(sign, text string) string {
	var b strings.Builder
	for _, line := range splitLines(text) {
		b.WriteString(sign + line)
	}
	return b.String()
}

// A tool explains a line more than a person, and an earlier event more than a later one.
func TestBetterSource(t *testing.T) {
	at := func(w writer, second int64) *source { return &source{Writer: w, Time: time.Unix(second, 0)} }
	m := &matcher{lines: []currentLine{{}, {old: true}, {commit: time.Unix(5, 0)}}}
	for _, tt := range []struct {
		line     int
		s, known *source
		want     bool
	}{
		{0, at(byUser, 9), nil, true},
		{0, at(byTool, 9), at(byUser, 1), true},
		{0, at(byUser, 1), at(byTool, 9), false},
		{0, at(byUser, 9), at(atStart, 1), true},
		{0, at(byTool, 1), at(byTool, 9), true},
		{0, at(byTool, 9), at(byTool, 1), false},
		{1, at(byTool, 1), nil, false},
		{2, at(byTool, 4), nil, true},
		{2, at(byTool, 6), nil, false},
		{2, at(byUser, 4), nil, false},
	} {
		require.Equal(t, tt.want, m.may(m.lines[tt.line], tt.s) && better(tt.s, tt.known), "%+v", tt)
	}
}
