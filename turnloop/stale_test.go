package turnloop_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/tool"
	. "jp/turnloop"
)

// The user is asked again if somebody else changed the subject of the question, while it was open or after
// its answer.
func TestAYesBindsToWhatWasSeen(t *testing.T) {
	names := func(paths ...string) func(json.RawMessage) ([]string, bool) {
		return func(json.RawMessage) ([]string, bool) { return paths, true }
	}
	for name, tt := range map[string]struct {
		paths   func(json.RawMessage) ([]string, bool)
		changed string // by hand, while the first question stands there
		answers []string
		asked   int
		runs    int
	}{
		"nothing changed":              {names("a.go"), "", []string{"run"}, 1, 1},
		"its file":                     {names("a.go"), "a.go", []string{"run", "run"}, 2, 1},
		"its file, and no more":        {names("a.go"), "a.go", []string{"run", "skip"}, 2, 0},
		"one of its files":             {names("a.go", "b.go"), "b.go", []string{"run", "run"}, 2, 1},
		"a file that is new":           {names("new.go"), "new.go", []string{"run"}, 1, 1},
		"another file":                 {names("a.go"), "b.go", []string{"run"}, 1, 1},
		"a file below":                 {names("dir"), "dir/a.go", []string{"run", "run"}, 2, 1},
		"a file of a like name":        {names("dir"), "dir2/a.go", []string{"run"}, 1, 1},
		"of a tool that names none":    {nil, "a.go", []string{"run"}, 1, 1},
		"allowed for the turn":         {names("a.go"), "a.go", []string{"run_turn"}, 1, 1},
		"answered with other's change": {names("a.go"), "a.go", []string{"skip"}, 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorkspace()
			for _, path := range []string{"a.go", "b.go", "dir/a.go", "dir2/a.go"} {
				w.files[path] = "as it was"
			}
			write := changes("write").asking()
			write.def.Paths = tt.paths
			r := newRig(t, []*fakeTool{write}, asksFor("write"), answers("ok"))
			r.opts.Files.Workspace = w
			asked := 0
			r.prompting(func(_ context.Context, q Question) (Answer, error) {
				if asked == 0 && tt.changed != "" {
					w.files[tt.changed] = "by hand"
				}
				asked++
				if asked > 1 {
					require.Contains(t, q.Inquiry.Request.Question.Text, "Its files have changed since you allowed it.")
				} else {
					require.NotContains(t, q.Inquiry.Request.Question.Text, "changed")
				}
				return quoted(tt.answers[asked-1]), nil
			})
			r.done()
			require.Equal(t, tt.asked, asked)
			require.Len(t, write.runs, tt.runs)
			permissions := 0
			for _, e := range r.stored() {
				if b, ok := e.Body.(*conversation.InquiryRequest); ok && b.Kind == conversation.KindRunTool {
					permissions++
				}
			}
			require.Equal(t, tt.asked, permissions, "each question is on record")
		})
	}
}

// An untracked file counts, too: its digest stands with the question.
func TestAYesBindsToUntrackedFiles(t *testing.T) {
	for name, tt := range map[string]struct {
		before, after string // "" if the file is absent
		own           bool   // a tool of the conversation changes it
		folder        bool
		asked         int
	}{
		"unchanged":       {"a", "a", false, false, 1},
		"changed":         {"a", "b", false, false, 2},
		"appeared":        {"", "b", false, false, 2},
		"gone":            {"a", "", false, false, 2},
		"never there":     {"", "", false, false, 1},
		"a folder":        {"a", "b", false, true, 1},
		"by its own call": {"a", "b", true, false, 1},
	} {
		t.Run(name, func(t *testing.T) {
			content := tt.before
			w := newWorkspace()
			write := changes("write").asking()
			write.def.Paths = func(json.RawMessage) ([]string, bool) { return []string{"new.txt"}, true }
			other := changes("other").asking().doing(func(context.Context, tool.Call) (tool.Result, error) {
				w.files["new.txt"] = tt.after
				content = tt.after
				return tool.Result{Content: []byte("ok")}, nil
			})
			r := newRig(t, []*fakeTool{write, other}, asksFor("write"), answers("ok"))
			if tt.own {
				r = newRig(t, []*fakeTool{write, other}, once(calls("other", "_1", "{}"), calls("write", "_2", "{}"), ends(conversation.FinishToolCalls)), answers("ok"))
			}
			r.opts.Files.Workspace = w
			r.opts.Files.Digest = func(path string) (string, bool) {
				require.Equal(t, "new.txt", path)
				return content, !tt.folder
			}
			asked := 0
			r.prompting(func(context.Context, Question) (Answer, error) {
				if asked++; !tt.own {
					content = tt.after
				}
				return quoted("run"), nil
			})
			r.done()
			if tt.own {
				asked-- // the other call has a question of its own
			}
			require.Equal(t, tt.asked, asked)
			require.Len(t, write.runs, 1)
			for _, e := range r.stored() {
				if b, ok := e.Body.(*conversation.InquiryRequest); ok && b.Kind == conversation.KindRunTool && !tt.folder && !tt.own {
					require.Len(t, b.Files, 1)
				}
			}
		})
	}
}

// The files that a command or a commit names count like those that a tool writes.
func TestAYesBindsToWhatACallIsAbout(t *testing.T) {
	many := func(n int) (names []string) {
		for i := range n {
			names = append(names, fmt.Sprintf("f%03d", i))
		}
		return names
	}
	for name, tt := range map[string]struct {
		about   []string // at first
		later   []string // nil: the same
		changed []string
		answer  string // to the first question
		asked   int
		files   int // on record with the first question
	}{
		"unchanged":                    {[]string{"a", "b"}, nil, nil, "run", 1, 2},
		"one of them":                  {[]string{"a", "b"}, nil, []string{"b"}, "run", 2, 2},
		"another file":                 {[]string{"a"}, nil, []string{"b"}, "run", 1, 1},
		"one more":                     {[]string{"a"}, []string{"a", "b"}, nil, "run", 2, 1},
		"the first one":                {[]string{}, []string{"a"}, nil, "run", 2, 0},
		"one less":                     {[]string{"a", "b"}, []string{"a"}, nil, "run", 1, 2},
		"one less, and it changed":     {[]string{"a", "b"}, []string{"a"}, []string{"b"}, "run", 2, 2},
		"more than an event lists":     {many(250), nil, nil, "run", 1, 1},
		"the last of so many":          {many(250), nil, []string{"f249"}, "run", 2, 1},
		"one more than so many":        {many(250), many(251), nil, "run", 2, 1},
		"as many as an event lists":    {many(200), nil, []string{"f199"}, "run", 2, 200},
		"allowed for the turn":         {[]string{"a"}, nil, []string{"a"}, "run_turn", 1, 1},
		"other arguments, other files": {[]string{"a"}, []string{"b"}, nil, "edit", 1, 1},
		"of which one changed":         {[]string{"a"}, []string{"b"}, []string{"a"}, "edit", 2, 1},
	} {
		for _, mentioned := range []bool{false, true} {
			t.Run(fmt.Sprint(name, mentioned), func(t *testing.T) {
				about, state := tt.about, map[string]string{}
				run := changes("run").asking()
				r := newRig(t, []*fakeTool{run}, asksFor("run"), answers("ok"))
				if mentioned {
					r.opts.Tools.Mentioned = func(json.RawMessage) []string { return about }
				} else {
					run.def.About = func(json.RawMessage, conversation.ID) (files []tool.NamedFile) {
						for i, path := range about {
							file := tool.NamedFile{Path: path}
							if i%2 > 0 {
								file.State = "state" + state[path]
							}
							files = append(files, file)
						}
						return files
					}
				}
				r.opts.Files.Workspace = newWorkspace()
				r.opts.Files.Digest = func(path string) (string, bool) { return "is" + state[path], true }
				if !mentioned { // the content tells the state of one that is gone from the list
					r.opts.Files.Digest = func(path string) (string, bool) { return "state" + state[path], true }
				}
				asked := 0
				r.prompting(func(context.Context, Question) (Answer, error) {
					if asked++; asked > 1 {
						return quoted("run"), nil
					}
					for _, path := range tt.changed {
						state[path] = "changed"
					}
					if tt.later != nil {
						about = tt.later
					}
					if tt.answer == "edit" {
						return Answer{Outcome: conversation.OutcomeAnswered, Value: json.RawMessage(`"edit"`), Arguments: json.RawMessage(`{"path":"b"}`)}, nil
					}
					return quoted(tt.answer), nil
				})
				r.done()
				require.Equal(t, tt.asked, asked)
				require.Len(t, run.runs, 1)
				for _, e := range r.stored() {
					if b, ok := e.Body.(*conversation.InquiryRequest); ok {
						require.Len(t, b.Files, tt.files)
						break
					}
				}
			})
		}
	}
}

// A call that names a folder is about the files below it.
func TestAYesBindsToFolders(t *testing.T) {
	many := func(n int, and ...string) (names []string) {
		for i := range n {
			names = append(names, fmt.Sprintf("d/f%05d", i))
		}
		return append(names, and...)
	}
	for name, tt := range map[string]struct {
		named   []string
		before  []string // below d
		after   []string // "x!": x was changed
		asked   int
		process bool // the question is answered in another process
	}{
		"unchanged":                     {[]string{"d"}, []string{"d/x"}, []string{"d/x"}, 1, false},
		"a changed file":                {[]string{"d"}, []string{"d/x"}, []string{"d/x!"}, 2, false},
		"a new file":                    {[]string{"d"}, []string{"d/x"}, []string{"d/x", "d/new"}, 2, false},
		"the first file":                {[]string{"d"}, []string{}, []string{"d/new"}, 2, false},
		"one less":                      {[]string{"d"}, []string{"d/x", "d/y"}, []string{"d/x"}, 2, false},
		"gone":                          {[]string{"d"}, []string{"d/x"}, nil, 2, false},
		"came":                          {[]string{"d"}, nil, []string{"d/x"}, 2, false},
		"one of two":                    {[]string{"e", "d"}, []string{"d/x"}, []string{"d/x!"}, 2, false},
		"named twice":                   {[]string{"d", "d/x"}, []string{"d/x"}, []string{"d/x"}, 1, false},
		"named twice, and changed":      {[]string{"d/x", "d"}, []string{"d/x"}, []string{"d/x!"}, 2, false},
		"not in an event, unchanged":    {[]string{"d"}, many(300), many(300), 1, false},
		"not in an event, and a change": {[]string{"d"}, many(300, "d/x"), many(300, "d/x!"), 2, false},
		"as many as can be compared":    {[]string{"d"}, many(9998), many(9998), 1, true},
		"too many":                      {[]string{"d"}, many(10001), many(10001), 1, false},
		"too many, in another process":  {[]string{"d"}, many(10001), many(10001), 2, true},
	} {
		t.Run(name, func(t *testing.T) {
			content := tt.before
			run := changes("run").asking()
			run.def.About = func(json.RawMessage, conversation.ID) (files []tool.NamedFile) {
				for _, path := range tt.named {
					files = append(files, tool.NamedFile{Path: path})
				}
				return files
			}
			state := func(path string) (string, bool) {
				for _, file := range content {
					if strings.TrimSuffix(file, "!") == path {
						return "state of " + file, true
					}
				}
				return "", path != "d" || content == nil
			}
			r := newRig(t, []*fakeTool{run}, asksFor("run"), answers("ok"))
			r.opts.Files.Workspace, r.opts.Files.Digest = newWorkspace(), state
			r.opts.Files.ListUntracked = func(folder string, most int) (files []tool.NamedFile, ok bool) {
				if folder != "d" || content == nil {
					return nil, true
				}
				files = append(files, tool.NamedFile{Path: "d", State: "folder"})
				for _, file := range content {
					file = strings.TrimSuffix(file, "!")
					is, _ := state(file)
					files = append(files, tool.NamedFile{Path: file, State: is})
				}
				return files, len(files) <= most
			}
			asked := 0
			r.prompting(func(_ context.Context, q Question) (Answer, error) {
				if asked++; asked == 2 {
					require.Contains(t, q.Inquiry.Request.Question.Text, map[bool]string{true: "It names more than 10000 files, so that", false: "Its files have changed since"}[tt.process])
					return quoted("run"), nil
				}
				content = tt.after
				if tt.process {
					ForgetProcess()
				}
				return quoted("run"), nil
			})
			r.done()
			require.Equal(t, tt.asked, asked)
			require.Len(t, run.runs, 1)
		})
	}
}

// A person's yes also answers the tool's first question, if the question contained it, and for the same file.
func TestAYesCoversTheToolsQuestion(t *testing.T) {
	edited := func(path string) Answer {
		a := quoted("edit")
		a.Arguments = json.RawMessage(`{"path":"` + path + `"}`)
		return a
	}
	for name, tt := range map[string]struct {
		answer  Answer
		policy  Policy
		changed bool // between the yes and the run, of a call that is allowed for the turn
		asked   string
	}{
		"yes":                   {answer: quoted("run"), asked: "run"},
		"yes for the turn":      {answer: quoted("run_turn"), asked: "run"},
		"changed since":         {answer: quoted("run_turn"), changed: true, asked: "run overwrite"},
		"the same file, edited": {answer: edited("a.txt"), asked: "run"},
		"another file, edited":  {answer: edited("b.txt"), asked: "run overwrite"},
		"no":                    {answer: quoted("skip"), asked: "run"},
		"a policy says yes":     {policy: PolicyAuto, asked: ""},
	} {
		t.Run(name, func(t *testing.T) {
			content := "old"
			write := changes("write").asking().doing(func(_ context.Context, c tool.Call) (tool.Result, error) {
				if _, answered := c.Answers["overwrite"]; !answered {
					return tool.Result{Question: &tool.Question{ID: "overwrite", Question: conversation.Question{Text: "Overwrite?", AnswerType: conversation.AnswerType{Type: "boolean"}}}}, nil
				}
				return tool.Result{Content: []byte("ok")}, nil
			})
			path := func(arguments json.RawMessage) string {
				var args struct{ Path string }
				require.NoError(t, json.Unmarshal(arguments, &args))
				return args.Path
			}
			write.def.Questions = map[string]tool.QuestionTo{"overwrite": {Exclusive: true}}
			write.def.Paths = func(arguments json.RawMessage) ([]string, bool) { return []string{path(arguments)}, true }
			write.def.Foresee = func(arguments json.RawMessage) (tool.Foreseen, bool) {
				return tool.Foreseen{ID: "overwrite", Words: "It is there."}, path(arguments) == "a.txt"
			}
			r := newRig(t, []*fakeTool{write}, once(calls("write", "_1", `{"path":"a.txt"}`), ends(conversation.FinishToolCalls)), answers("ok"))
			r.opts.Files.Workspace = newWorkspace()
			r.opts.Files.Digest = func(string) (string, bool) { return content, true }
			r.opts.User.Policy = tt.policy
			var asked []string
			if tt.policy == "" {
				r.prompting(func(_ context.Context, q Question) (Answer, error) {
					asked = append(asked, q.Inquiry.Request.QuestionID)
					if q.Inquiry.Request.Kind == conversation.KindToolQuestion {
						return Answer{Outcome: conversation.OutcomeAnswered, Value: json.RawMessage("true")}, nil
					}
					require.Equal(t, "Run write? It is there.", q.Inquiry.Request.Question.Text)
					if tt.changed {
						content = "by hand"
					}
					return tt.answer, nil
				})
			}
			r.done()
			require.Equal(t, tt.asked, strings.Join(asked, " "))
		})
	}
}
