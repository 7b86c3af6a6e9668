package agent_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/agent"
	"jp/agent/toolset"
	"jp/conversation"
	"jp/internal/testing/front"
	"jp/process/attach"
	"jp/turnloop"
)

// calls is a script of one answer with these calls: the tool, a |, and its arguments.
func calls(all ...string) string {
	script := "[[reply]]\n"
	for _, call := range all {
		name, arguments, _ := strings.Cut(call, "|")
		script += fmt.Sprintf("[[reply.tool_call]]\nname = %q\narguments = %s\n", name, arguments)
	}
	return script + "[[reply]]\nmessage = \"Over.\"\n"
}

func edit(path string) string {
	return fmt.Sprintf(`fs_modify_file|{ path = %q, edits = [{ old = "one", new = "two" }] }`, path)
}

func create(path string) string {
	return fmt.Sprintf(`fs_create_file|{ path = %q, content = "one\n" }`, path)
}

func move(source, target string) string {
	return fmt.Sprintf(`fs_move_file|{ source = %q, target = %q }`, source, target)
}

// runs reports of each call of a turn without a user whether it has run.
func runs(t *testing.T, s *front.Scratch, request agent.Request) (ran []bool) {
	t.Helper()
	f := &front.Front{}
	request.Turn.Policy = "deny"
	require.NoError(t, s.Ask(f, request))
	for _, b := range bodies[*conversation.ToolCallResponse](f.Events()) {
		ran = append(ran, !strings.Contains(b.Content, "The tool was not run") && !strings.Contains(b.Content, "Plan mode: not run"))
	}
	return ran
}

// TestEditsRule varies a file and the rule for edits.
func TestEditsRule(t *testing.T) {
	t.Parallel()
	const src = `allow_edits = ["src"]`
	all := func(yes ...bool) []bool { return yes }
	for _, row := range []struct {
		name, policy, config string
		calls                []string
		profile              string
		ran                  []bool
	}{
		{name: "no rule", calls: []string{edit("src/a.txt")}, ran: all(false)},
		{name: "the folder and below", policy: src, calls: []string{edit("src/a.txt"), create("src/new/b.txt"), `fs_delete_file|{ path = "src/deep/c.txt" }`}, ran: all(true, true, true)},
		{name: "another spelling", policy: src, calls: []string{edit("./lib/../src//a.txt")}, ran: all(true)},
		{name: "beside it", policy: src, calls: []string{edit("top.txt"), edit("lib/a.txt"), create("srcs/a.txt"), edit("src/../lib/a.txt")}, ran: all(false, false, false, false)},
		{name: "several", policy: `allow_edits = ["lib", "src/deep"]`, calls: []string{edit("src/a.txt"), edit("src/deep/c.txt"), edit("lib/a.txt")}, ran: all(false, true, true)},
		{name: "the whole tree", policy: `allow_edits = ["."]`, calls: []string{edit("top.txt"), edit("src/a.txt")}, ran: all(true, true)},
		{name: "a move within", policy: src, calls: []string{move("src/a.txt", "src/deep/")}, ran: all(true)},
		{name: "a move out and in", policy: src, calls: []string{move("src/a.txt", "b.txt"), move("lib/a.txt", "src/b.txt")}, ran: all(false, false)},
		{name: "names with a dot", policy: `allow_edits = [".", ".github", ".github/workflows"]`, calls: []string{
			edit(".github/workflows/ci.yml"), create(".envrc"), create("src/.hidden/a"), create("src/\u200c.a"), move("src/a.txt", "src/.b"),
		}, ran: all(false, false, false, false, false)},
		{name: "what decides", policy: `allow_edits = ["."]`, calls: []string{
			create("Jenkinsfile"), create("JENKINSFILE"), create("azure-pipelines.yml"), create("src/AGENTS.md"), create("src/Claude.md"), create("src/rules.txt"), create("src/agents.go"),
		}, config: "[instructions]\nfallback = [\"RULES.txt\"]\n", ran: all(false, false, false, false, false, false, true)},
		{name: "links", policy: src, calls: []string{create("src/out/x"), create("src/ci/new.yml"), create("src/lib/new.txt"), create("src/same/new.txt"), edit("into/a.txt")}, ran: all(false, false, false, true, true)},
		{name: "a link that a call moves", policy: src, calls: []string{move("src/ci", "src/good"), create("src/good/new.yml")}, ran: all(true, false)},
		{name: "hooks", policy: `allow_edits = ["."]`, calls: []string{create("githooks/pre-commit"), create("githooks2/a")}, ran: all(false, true)},
		{name: "programs of the configuration", policy: `allow_edits = ["."]`, calls: []string{edit("tools/check.sh"), edit("tools/mine"), create("tools/more")},
			config: "[hooks]\nturn-end = [\"sh\", \"./tools/check.sh\"]\n[tools.mine]\ncommand = [\"tools/mine\"]\n", ran: all(false, false, true)},
		{name: "what undo cannot bring back", policy: `allow_edits = ["."]`, calls: []string{edit("ignored/x")}, ran: all(false)},
		{name: "outside and git", policy: `allow_edits = ["."]`, calls: []string{create("../x"), create(".git/hooks/pre-commit"), create(".jp/config.toml")}, ran: all(false, false, false)},
		{name: "for a person", policy: src, config: "[tools.fs_modify_file]\nexclusive = true\n", calls: []string{edit("src/a.txt")}, ran: all(false)},
		{name: "with an editor", policy: src, config: "[tools.fs_modify_file]\nrun = \"edit\"\n", calls: []string{edit("src/a.txt")}, ran: all(false)},
		{name: "in plan", policy: src, profile: "plan", calls: []string{edit("src/a.txt")}, ran: all(false)},
		{name: "another tool", policy: `allow_edits = ["."]`, calls: []string{`shell_run|{ argv = ["touch", "src/x"] }`}, ran: all(false)},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := front.New(t)
			for _, file := range []string{"top.txt", "src/a.txt", "src/deep/c.txt", "lib/a.txt", ".github/workflows/ci.yml", "tools/check.sh", "tools/mine"} {
				s.Write(file, "one\n")
			}
			s.Write(".gitignore", "ignored/\n")
			s.Write("ignored/x", "one\n")
			for link, to := range map[string]string{"src/out": s.Home, "src/ci": "../.github/workflows", "src/lib": "../lib", "src/same": "deep", "into": "src"} {
				require.NoError(t, os.Symlink(to, filepath.Join(s.Dir, link)))
			}
			s.Commit()
			s.Git("config", "core.hooksPath", "./githooks/")
			s.Configure("[policy]\n" + row.policy + "\n" + row.config)
			request := s.Request(calls(row.calls...), "Go")
			if row.profile != "" {
				request.Turn.Profiles = []string{row.profile}
			}
			require.Equal(t, row.ran, runs(t, s, request))
		})
	}
}

// TestRuleOnRecord: a call by a rule is recorded as one by a rule for a command is.
func TestRuleOnRecord(t *testing.T) {
	t.Parallel()
	s, f := front.New(t), &front.Front{}
	s.Configure("[policy]\nallow_edits = [\"src\"]\n")
	require.NoError(t, s.Ask(f, s.Request(calls(create("src/a.txt")), "Go")))
	answer := bodies[*conversation.InquiryResponse](f.Events())[0]
	require.Equal(t, &conversation.InquiryResponse{
		For: answer.For, Outcome: conversation.OutcomeAnswered, Answer: []byte(`"run"`), By: conversation.ByConfig, Reason: "allow rule: edits below src/",
	}, answer)
}

// TestDelegateRule: the delegate begins, and jp asks about the changes by its tools.
func TestDelegateRule(t *testing.T) {
	t.Parallel()
	s, f := front.New(t), &front.Front{}
	s.Configure("[policy]\nallow_tools = [\"delegate\"]\n")
	request := s.Request(delegates(s, worker, ""), "Go")
	request.Turn.Policy = "deny"
	require.NoError(t, s.Ask(f, request))
	require.Equal(t, "allow rule: delegate", bodies[*conversation.InquiryResponse](f.Events())[0].Reason)
	require.NotEmpty(t, childOf(t, s, f.Last().ID))
	require.False(t, s.Exists("a.txt"))
}

// TestServerToolRule: a rule for a tool of a server ends with a change of the approved tool, though the user
// approves the change.
func TestServerToolRule(t *testing.T) {
	t.Parallel()
	s := front.New(t)
	served(t, s, true)
	request := func() agent.Request { return s.Request(oneCall("mcp__fake__echo", `{ text = "hello" }`), "Look") }
	require.Equal(t, []bool{false}, runs(t, s, request()))
	rule := standing(t, s, request())
	require.Equal(t, "mcp__fake__echo", rule.String())
	r := s.Open()
	_, err := agent.Allow(r, rule)
	require.NoError(t, err)
	require.NoError(t, r.Close())
	require.Equal(t, []bool{true}, runs(t, s, request()))
	require.Equal(t, []bool{false}, runs(t, s, s.Request(oneCall("mcp__fake__env", `{}`), "Look")), "another tool of the server")

	r = s.Open()
	server := toolset.NewServer(r, r.Env, "fake")
	offers := server.Approved()
	before := append([]toolset.ToolInfo(nil), offers...)
	for i := range offers {
		if offers[i].Name == "echo" {
			offers[i].Description = "Send a text to everyone"
		}
	}
	require.NoError(t, server.Approve(offers))
	require.NoError(t, r.Close())
	require.Equal(t, []bool{false}, runs(t, s, request()), "another description")
	other := standing(t, s, request())
	require.NotEqual(t, rule, other)
	r = s.Open()
	_, err = agent.Allow(r, other)
	require.NoError(t, err)
	require.NoError(t, r.Close())
	r = s.Open()
	require.Equal(t, []string{strings.Join(other.Words, " ")}, r.Config.Policy.AllowTools, "it replaces the rule for the same tool")
	require.NoError(t, server.Approve(before))
	require.NoError(t, r.Close())

	s.Configure("env.MORE = \"x\"\n")
	r = s.Open()
	server = toolset.NewServer(r, r.Env, "fake")
	require.NoError(t, server.Approve(before))
	require.NoError(t, r.Close())
	require.Equal(t, []bool{false}, runs(t, s, request()), "another environment")
}

// standing is the rule that is offered at the first question of another process's request.
func standing(t *testing.T, s *front.Scratch, request agent.Request) turnloop.Rule {
	t.Helper()
	rule, ok := offered(t, s, request)
	require.True(t, ok)
	return rule
}

func offered(t *testing.T, s *front.Scratch, request agent.Request) (turnloop.Rule, bool) {
	t.Helper()
	f := &front.Front{}
	request.Turn.Policy = "defer"
	require.Error(t, s.Ask(f, request))
	r := s.Open()
	defer r.Close()
	question, err := agent.Question(t.Context(), r, attach.InquiryOf(f.Last().ID, f.Last().Outcome.Waiting))
	require.NoError(t, err)
	return agent.Standing(t.Context(), r, question)
}

// TestOfferedRule varies the question: the rule is the narrowest one that would cover the call.
func TestOfferedRule(t *testing.T) {
	t.Parallel()
	edits := func(words ...string) *turnloop.Rule {
		return &turnloop.Rule{Kind: turnloop.RuleEdits, Words: words}
	}
	for name, row := range map[string]struct {
		call, config string
		want         *turnloop.Rule
	}{
		"a file":             {call: create("src/deep/a.txt"), want: edits("src", "deep")},
		"a file of the root": {call: create("a.txt"), want: edits()},
		"a move":             {call: move("src/a.txt", "src/deep/b.txt"), want: edits("src")},
		"a dot":              {call: create("src/.a")},
		"an ignored file":    {call: edit("ignored/a")},
		"for a person":       {call: create("src/a"), config: "[tools.fs_create_file]\nexclusive = true\n"},
		"with an editor":     {call: create("src/a"), config: "[tools.fs_create_file]\nrun = \"edit\"\n"},
		"a delegate":         {call: `delegate|{ task = "Work" }`, want: &turnloop.Rule{Kind: turnloop.RuleTool, Words: []string{"delegate"}}},
		"a command":          {call: `shell_run|{ argv = ["touch", "x"] }`, want: &turnloop.Rule{Kind: turnloop.RuleCommand, Words: []string{"touch", "x"}}},
		"a commit":           {call: `git_commit|{ message = "m", paths = ["src/a.txt"] }`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := front.New(t)
			s.Write("src/a.txt", "one\n")
			s.Write(".gitignore", "ignored/\n")
			s.Write("ignored/a", "one\n")
			s.Commit()
			s.Write("src/a.txt", "two\n")
			s.Configure(row.config)
			rule, ok := offered(t, s, s.Request(calls(row.call), "Go"))
			require.Equal(t, row.want != nil, ok)
			if ok {
				require.Equal(t, row.want.Kind, rule.Kind)
				require.Equal(t, strings.Join(row.want.Words, " "), strings.Join(rule.Words, " "))
			}
		})
	}
}

// TestDisallow takes each kind of rule out of the file that has it, and leaves the rest.
func TestDisallow(t *testing.T) {
	t.Parallel()
	s := front.New(t)
	s.Configure("[policy]\nallow = [[\"make\"], [\"go\", \"test\"]] # mine\nallow_edits = [\".\"]\n")
	code := strings.Repeat("0f", 32)
	r := s.Open()
	defer r.Close()
	var own string
	for _, rule := range []turnloop.Rule{
		{Kind: turnloop.RuleCommand, Words: []string{"go", "test"}}, {Kind: turnloop.RuleEdits, Words: []string{"src"}}, {Kind: turnloop.RuleEdits, Words: []string{"lib", "a b"}},
		{Kind: turnloop.RuleTool, Words: []string{"mcp__x__y", code}}, {Kind: turnloop.RuleTool, Words: []string{"delegate"}},
	} {
		var err error
		own, err = agent.Allow(r, rule)
		require.NoError(t, err)
	}
	for _, row := range []struct {
		key, words string
		files      []string
	}{
		{"policy.allow", "go", nil},
		{"policy.allow", "go test", []string{own, r.Paths.UserFile}},
		{"policy.allow", "go test", nil},
		{"policy.allow_edits", "./src/", []string{own}},
		{"policy.allow_edits", ".", []string{r.Paths.UserFile}},
		{"policy.allow_tools", "mcp__x__y", []string{own}},
	} {
		files, err := agent.Disallow(r, row.key, strings.Fields(row.words))
		require.Equal(t, row.files, files, "%s %s", row.key, row.words)
		require.Equal(t, row.files == nil, err != nil)
	}
	_, err := agent.Disallow(r, "model", []string{"x"})
	require.ErrorContains(t, err, "model has no rules (want one of policy.allow, policy.allow_edits, policy.allow_tools)")
	text, err := os.ReadFile(r.Paths.UserFile)
	require.NoError(t, err)
	require.Contains(t, string(text), "allow = [[\"make\"]] # mine\nallow_edits = []\n")
	left := s.Open()
	defer left.Close()
	require.Equal(t, [][]string{{"make"}}, left.Config.Policy.Allow)
	require.Equal(t, []string{"lib/a b"}, left.Config.Policy.AllowEdits)
	require.Equal(t, []string{"delegate"}, left.Config.Policy.AllowTools)
}
