package turnloop_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/provider"
	"jp/reconcile"
	"jp/tool"
	. "jp/turnloop"
)

// A place is the files and the repository at one time.
type place struct {
	files, committed map[string]string
	git              conversation.Git
}

func (p place) dirty() (names []string) {
	for path, text := range p.files {
		if p.committed[path] != text {
			names = append(names, path)
		}
	}
	slices.Sort(names)
	return names
}

// A report is the state when a message of a resume was written.
type report struct {
	at      place
	record  reconcile.Record
	changed []string
	calls   map[string]conversation.ToolCall // by id, as they were
}

// A resumedRig is killed and resumed, and reads each request as its model would.
type resumedRig struct {
	*rig
	workspace *workspace
	committed map[string]string
	reports   map[string]report // by the message
	read      int               // messages that a model read
}

func newResumedRig(t *testing.T, names ...string) *resumedRig {
	r := &resumedRig{workspace: newWorkspace(), reports: map[string]report{}}
	r.committed = maps.Clone(r.workspace.files)
	writes := func(name, path string, commit bool) *fakeTool {
		f := changes(name).doing(func(_ context.Context, call tool.Call) (tool.Result, error) {
			r.workspace.files[path] = fmt.Sprintf("for event %d", call.Seq)
			if commit {
				r.workspace.git.Head = hexOf(fmt.Sprint("commit of ", call.Seq))
				r.committed = maps.Clone(r.workspace.files)
			}
			return tool.Result{Content: []byte("ok")}, nil
		})
		f.def.Paths = func(json.RawMessage) ([]string, bool) { return []string{path, "other.go"}, false }
		return f
	}
	tools := []*fakeTool{
		reads("read"), writes("write", "a.go", false), writes("commit", "c.go", true), changes("quest").questioning(), changes("asked").asking(),
	}
	r.rig = newRig(t, tools, asksFor(names...), answers("Done."))
	r.opts.Files.Workspace = r.workspace
	r.opts.Model.Provider = readingModel{r}
	r.prompting(func(_ context.Context, q Question) (Answer, error) {
		if q.Inquiry.Request.Kind == conversation.KindToolQuestion {
			return boolean("true"), nil
		}
		return quoted("run"), nil
	})
	return r
}

// A readingModel reads a request before it answers.
type readingModel struct{ r *resumedRig }

func (m readingModel) Stream(ctx context.Context, request *provider.Request) iter.Seq2[provider.Chunk, error] {
	m.r.reads(request)
	return m.r.model.Stream(ctx, request)
}

func (r *resumedRig) place() place {
	return place{maps.Clone(r.workspace.files), maps.Clone(r.committed), r.workspace.git}
}

// killed runs until the n-th append from now: that one is refused, so that its forerunner is done, or it is
// durable and the last.
func (r *resumedRig) killed(n int, durable bool, run func(context.Context) error) {
	ctx, cancel := context.WithCancelCause(r.t.Context())
	defer cancel(nil)
	n += r.journal.count
	r.journal.fault = func(count int) error {
		if count > n || count == n && !durable {
			return errKilled
		}
		return nil
	}
	r.journal.after = func(count int) {
		if count == n && durable {
			cancel(errKilled)
		}
	}
	_ = run(ctx)
	r.journal.fault, r.journal.after = nil, nil
	r.reload()
}

func (r *resumedRig) begin(ctx context.Context) error {
	_, err := New(r.opts).Start(ctx, Request{Chat: conversation.ChatRequest{Content: "do it"}})
	return err
}

// resumed goes on as `jp continue` does.
func (r *resumedRig) resumed(ctx context.Context) error {
	_, tail := conversation.SplitTail(r.stored())
	record := reconcile.Read(r.stored(), tail, "")
	now := reconcile.RepoState{
		Git: r.workspace.git, Descends: true, Tree: r.workspace.tree(), Dirty: r.place().dirty(), Now: r.opts.Clock.Now(),
		ChangedSince: map[int][]string{}, Tools: map[string]reconcile.Tool{"read": {Reads: true}, "write": {}, "commit": {}, "quest": {}, "asked": {}},
	}
	for _, span := range record.Ends(reconcile.Point{Tree: now.Tree, Git: now.Git}) {
		now.Changed = reconcile.Sum(now.Changed, r.diff(span.From.Tree, span.To.Tree))
	}
	lost, _ := record.Ledger.Lost()
	for _, call := range lost {
		for _, c := range r.diff(call.Started.Tree, now.Tree) {
			now.ChangedSince[call.Event.Seq] = append(now.ChangedSince[call.Event.Seq], c.Path)
		}
	}
	named := func(call *conversation.ToolCall) []string {
		if def := definition(r.opts.Tools.Registry, call.Request.Name); def != nil && def.Paths != nil {
			paths, _ := def.Paths(nil)
			return paths
		}
		return nil
	}
	plan := reconcile.Make(record, now, named)
	if plan.Resumed != nil {
		found := report{at: r.place(), record: record, calls: map[string]conversation.ToolCall{}}
		for _, c := range now.Changed {
			found.changed = append(found.changed, c.Path)
		}
		for _, call := range record.Ledger.ToolCalls {
			found.calls[call.Request.ID] = *call
		}
		r.reports[plan.Resumed.Message] = found
	}
	r.opts.User.Unknown = func(_ context.Context, call *conversation.ToolCall) (Resolution, error) {
		return Resolution{Text: reconcile.Evidence(plan.Find(call))}, nil
	}
	_, err := New(r.opts).Resume(ctx, Resume{Resumed: plan.Resumed})
	return err
}

func definition(tools *tool.Registry, name string) *tool.Definition {
	if t, ok := tools.Lookup(name); ok {
		return t.Definition()
	}
	return nil
}

func (r *resumedRig) diff(from, to string) (changed []conversation.PathStat) {
	before, after := r.workspace.known[from], r.workspace.known[to]
	for _, path := range slices.Sorted(maps.Keys(after)) {
		if before[path] != after[path] {
			changed = append(changed, conversation.PathStat{Path: path, Status: "M", Added: 1})
		}
	}
	return changed
}

// reads checks each sentence of a message about a resume against the results around it
// and the files as they are when the model reads it.
func (r *resumedRig) reads(request *provider.Request) {
	above := map[string]string{} // results that stand above, by id
	for _, m := range request.Messages {
		for _, b := range m.Blocks {
			switch {
			case b.Kind == provider.BlockResult:
				above[b.ID] = b.Text
			case strings.HasPrefix(b.Text, "[SESSION_RESUMED]"):
				r.read++
				for i, line := range strings.Split(b.Text, "\n") {
					if why := r.untrue(b.Text, line, i == 0, above); why != "" {
						require.Fail(r.t, "a sentence is not true where it stands", "%s: %s\n%s", line, why, b.Text)
					}
				}
			}
		}
	}
}

// sentences are the kinds of sentence in a message, each with the condition that makes it false. Those in the
// present tense are about the moment at which the model reads them.
var sentences = []struct {
	words *regexp.Regexp
	why   func(r *resumedRig, at report, found []string, above map[string]string) string
}{
	{regexp.MustCompile(`^\[SESSION_RESUMED\] turn 1, model call (\d), (?:was interrupted, and resumed \d+ s later\. At the resume:|interrupted \d+ s ago\.)$`), func(_ *resumedRig, at report, found []string, _ map[string]string) string {
		return differ("model call", found[1], fmt.Sprint(max(1, at.record.Call)))
	}},
	{regexp.MustCompile(`^HEAD was "(\w+)", as before\.$`), func(_ *resumedRig, at report, found []string, _ map[string]string) string {
		return differ("HEAD", found[1], at.at.git.Head[:12])
	}},
	{regexp.MustCompile(`^HEAD was "(\w+)", and before "(\w+)"\.$`), func(_ *resumedRig, at report, found []string, _ map[string]string) string {
		return differ("HEAD", found[1], at.at.git.Head[:12])
	}},
	{regexp.MustCompile(`^HEAD: "(\w+)", as before\.$`), func(r *resumedRig, _ report, found []string, _ map[string]string) string {
		return differ("HEAD", found[1], r.workspace.git.Head[:12])
	}},
	{regexp.MustCompile(`^HEAD: was "(\w+)", is "(\w+)"\.$`), func(r *resumedRig, _ report, found []string, _ map[string]string) string {
		return differ("HEAD", found[2], r.workspace.git.Head[:12])
	}},
	{regexp.MustCompile(`^Branch(: | was )"main", as before\.$`), nil},
	{regexp.MustCompile(`^The working tree was clean, by git status\.$`), func(_ *resumedRig, at report, _ []string, _ map[string]string) string {
		return differ("git status", "", strings.Join(at.at.dirty(), " "))
	}},
	{regexp.MustCompile(`^Working tree: clean, by git status\.$`), func(r *resumedRig, _ report, _ []string, _ map[string]string) string {
		return differ("git status", "", strings.Join(r.place().dirty(), " "))
	}},
	{regexp.MustCompile(`^These files were not committed, by git status:$`), nil},
	{regexp.MustCompile(`^Not committed, by git status:$`), func(r *resumedRig, at report, _ []string, _ map[string]string) string {
		return differ("git status", strings.Join(at.at.dirty(), " "), strings.Join(r.place().dirty(), " "))
	}},
	{regexp.MustCompile(`^  "([a-z.]+)"$`), func(_ *resumedRig, at report, found []string, _ map[string]string) string {
		return missing("dirty", found[1], at.at.dirty())
	}},
	{regexp.MustCompile(`^Changed (?:since the last recorded event|between the last event before the interruption and the resume): (nothing|.* files?), ?.*\.$`), func(_ *resumedRig, at report, found []string, _ map[string]string) string {
		return differ("changed", found[1], conversation.Count(len(at.changed), "file"))
	}},
	{regexp.MustCompile(`^Changed (?:since the last recorded event|between the last event before the interruption and the resume): nothing\.$`), func(_ *resumedRig, at report, _ []string, _ map[string]string) string {
		return differ("changed", "", strings.Join(at.changed, " "))
	}},
	{regexp.MustCompile(`^  M "([a-z.]+)" \+\d+ -0$`), func(_ *resumedRig, at report, found []string, _ map[string]string) string {
		return missing("changed", found[1], at.changed)
	}},
	{regexp.MustCompile(`^Your tool calls, each of which has its result above:$`), func(_ *resumedRig, at report, _ []string, above map[string]string) string {
		for id := range at.calls {
			if _, is := above[id]; !is {
				return "no result of " + id
			}
		}
		return ""
	}},
	{regexp.MustCompile(`^Your tool calls:$`), nil},
	{regexp.MustCompile(`^  "\w+" \("(\w+)"\) {}: had its result(, an error)?$`), func(_ *resumedRig, at report, found []string, above map[string]string) string {
		call := at.calls[found[1]]
		if call.Open() || call.Result.IsError != (found[2] != "") {
			return "it had none, or another"
		}
		return differ("result", call.Result.Content, above[found[1]])
	}},
	{regexp.MustCompile(`^  "\w+" \("(\w+)"\) {}: had not started(, and waited for .*)?$`), func(_ *resumedRig, at report, found []string, _ map[string]string) string {
		if call := at.calls[found[1]]; call.Started != nil || !call.Open() {
			return "it had"
		}
		return ""
	}},
	{regexp.MustCompile(`^  "\w+" \("(\w+)"\) {}: not started; it (will run now|waits for .*)$`), func(_ *resumedRig, _ report, found []string, above map[string]string) string {
		return differ("result", "", above[found[1]])
	}},
	{regexp.MustCompile(`^  "\w+" \("(\w+)"\) {}: had asked a question before it changed anything, and was to run again with the answer$`), func(_ *resumedRig, at report, found []string, _ map[string]string) string {
		if call := at.calls[found[1]]; call.Lost() || call.Inquiry(conversation.KindToolQuestion) == nil {
			return "it had not"
		}
		return ""
	}},
	{regexp.MustCompile(`^  "\w+" \("(\w+)"\) {}: outcome unknown: it had started, and no result was recorded((?:; [a-z ]+: [^;]*)*)$`), func(_ *resumedRig, at report, found []string, above map[string]string) string {
		call := at.calls[found[1]]
		if !call.Lost() {
			return "it is known"
		}
		for _, words := range []string{"changed after its start", "not changed when jp looked"} {
			if strings.Contains(found[2], "; "+words+": ") != strings.Contains(above[found[1]], words+": ") {
				return "its result says something else: " + above[found[1]]
			}
		}
		return ""
	}},
	{regexp.MustCompile(`^    asked "[^"]*": had no answer yet$`), nil},
	{regexp.MustCompile(`^    asked "[^"]*": not answered yet$`), func(_ *resumedRig, _ report, _ []string, above map[string]string) string {
		return differ("results", "0", fmt.Sprint(len(above)))
	}},
	{regexp.MustCompile(`^    asked "[^"]*": ("run"|true)$`), nil},
	{regexp.MustCompile(`^This message was written before the calls went on\. What they did after it is missing here\.$`), nil},
	{regexp.MustCompile(`^Check what is there before you repeat a call whose outcome is unknown\.$`), nil},
	{regexp.MustCompile(`^You had not answered yet\.$`), nil},
	{regexp.MustCompile(`^Your answer was cut off while it asked for tools: .*$`), nil},
	{regexp.MustCompile(`^Do not repeat work that the files already show\.$`), nil},
}

func (r *resumedRig) untrue(message, line string, first bool, above map[string]string) string {
	at, known := r.reports[message]
	if !known {
		return "no resume wrote it"
	}
	for i, s := range sentences {
		if found := s.words.FindStringSubmatch(line); found != nil && first == (i == 0) {
			if s.why == nil {
				return ""
			}
			return s.why(r, at, found, above)
		}
	}
	return "a sentence of no kind"
}

func differ(what, said, is string) string {
	if said == is {
		return ""
	}
	return fmt.Sprintf("%s is %q", what, is)
}

func missing(what, said string, is []string) string {
	if slices.Contains(is, said) {
		return ""
	}
	return fmt.Sprintf("%s are %q", what, is)
}

// lists are the lists of names of one length.
func lists(names []string, length int) (all [][]string) {
	if length == 0 {
		return [][]string{nil}
	}
	for _, begin := range lists(names, length-1) {
		for _, name := range names {
			all = append(all, append(slices.Clone(begin), name))
		}
	}
	return all
}

// Each sentence of a message about a resume is true when the model reads it, for any open calls and any place
// of one or two kills.
func TestAMessageOfAResumeIsTrueWhereItStands(t *testing.T) {
	longest, err := strconv.Atoi(cmp.Or(os.Getenv("JP_HISTORIES"), "2")) // in calls; make histories takes 5
	require.NoError(t, err)
	var histories [][]string
	for length := 1; length <= longest; length++ {
		histories = append(histories, lists([]string{"read", "write", "commit", "quest", "asked"}, length)...)
	}
	histories = append(histories, lists([]string{"read", "write", "commit"}, 3)...)
	histories = append(histories, lists([]string{"write", "commit"}, 4)...)
	histories = append(histories, []string{"read", "write", "commit", "write", "asked"}, []string{"asked", "quest", "write", "read", "commit"})
	read := 0
	for _, names := range histories {
		whole := newResumedRig(t, names...)
		require.NoError(t, whole.begin(t.Context()))
		for n := 2; n <= whole.journal.count; n++ {
			for _, durable := range []bool{true, false} {
				for second := 0; second <= 3 && (second == 0 || len(names) < 3); second++ {
					r := newResumedRig(t, names...)
					r.killed(n, durable, r.begin)
					if _, tail := conversation.SplitTail(r.stored()); tail == nil {
						continue
					}
					r.workspace.files["mine.go"] = "by hand"
					if second > 0 {
						r.killed(second, durable, r.resumed)
						if _, tail := conversation.SplitTail(r.stored()); tail == nil {
							continue
						}
					}
					require.NoError(t, r.resumed(t.Context()), "%v, killed at %d and %d", names, n, second)
					read += r.read
				}
			}
		}
	}
	require.Greater(t, read, 1000)
}
