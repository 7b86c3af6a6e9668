package agent_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/agent"
	"jp/agent/repo"
	"jp/config"
	"jp/conversation"
	"jp/internal/testing/front"
	"jp/turnloop"
)

// words are the candidates alone.
func words(all []agent.Candidate) (found []string) {
	for _, c := range all {
		found = append(found, c.Word)
	}
	return found
}

// TestCandidates varies the words that a command line may be completed with.
func TestCandidates(t *testing.T) {
	t.Parallel()
	s, f := front.New(t), &front.Front{}
	s.Environ = append(s.Environ, "ANTHROPIC_API_KEY=none")
	s.Configure("[aliases]\nfast = \"anthropic/claude-haiku-4-5\"\n[tools.mine]\ncommand = [\"true\"]\ndescription = \"Mine\"\n[mcp.fake]\ncommand = [\"fake\", \"a b\"]\n[profiles.tests]\ninstructions = \"Write tests.\"\n")
	s.WriteOwn(".agents/skills/tidy/SKILL.md", "---\nname: tidy\ndescription: Tidy up.\n---\nTidy.\n")
	require.NoError(t, s.Ask(f, s.Request(says, "First")))
	idle := f.Last().ID
	s.Tick(3600e9)
	waits := s.Request(makeFile, "Second")
	waits.Turn.Policy = "defer"
	require.Error(t, s.Ask(f, waits))
	id := f.Last().ID
	r := s.Open()
	defer r.Close()
	ctx := t.Context()

	all := agent.ConversationCandidates(ctx, r, "", false, nil)
	require.ElementsMatch(t, []string{id.Short(), idle.Short()}, words(all))
	require.Equal(t, id.Short(), all[0].Word, "the one that jp held last stands first")
	require.Equal(t, "Second", all[0].About)
	require.Equal(t, []string{string(id)}, words(agent.ConversationCandidates(ctx, r, string(id)[:len(id)-1], false, nil)))
	require.Equal(t, []string{id.Short()}, words(agent.ConversationCandidates(ctx, r, id.Short()[:2], false, nil)))
	require.Empty(t, agent.ConversationCandidates(ctx, r, "", true, nil), "none is archived")
	require.Equal(t, []string{"recent"}, words(agent.ConversationCandidates(ctx, r, "rec", false, nil)))
	s.Await(r, id)
	stopped := agent.ConversationCandidates(ctx, r, "", false, repo.Stopped)
	require.Equal(t, []string{id.Short()}, words(stopped))
	require.Contains(t, stopped[0].About, "Second · waiting")
	require.Empty(t, agent.ConversationCandidates(ctx, r, "", false, func(repo.Status) bool { return false }))

	newest := s.Load(id)
	events := agent.EventCandidates(ctx, r, "@")
	require.Len(t, events, len(newest))
	require.Equal(t, "@0", events[len(events)-1].Word)
	require.Equal(t, []string{idle.Short() + "@0"}, words(agent.EventCandidates(ctx, r, idle.Short()+"@0")))
	require.Empty(t, agent.EventCandidates(ctx, r, "nosuch@1"))

	models := words(agent.ModelCandidates(ctx, r))
	require.Contains(t, models, "fast")
	require.Contains(t, models, waits.Turn.Model)
	require.Contains(t, models, "anthropic/")
	tools := words(agent.ToolCandidates(r, r.Env))
	require.Subset(t, tools, []string{"fs_read_file", "shell_run", "mine", "recall", "conversation_read", "delegate"})
	require.Equal(t, []agent.Candidate{{Word: "fake", About: "fake 'a b'"}}, agent.ServerCandidates(r))
	require.Contains(t, agent.ProfileCandidates(r), agent.Candidate{Word: "tests", About: "Write tests."})
	require.Equal(t, []agent.Candidate{{Word: "tidy", About: "Tidy up."}}, agent.SkillCandidates(r, r.Env))
	require.Empty(t, agent.RemoteCandidates(r))
	s.Git("update-ref", "refs/jp/remotes/origin/"+string(id), "refs/jp/conversations/"+string(id))
	again := s.Open()
	defer again.Close()
	require.Equal(t, []string{"origin"}, words(agent.RemoteCandidates(again)))
	keys := words(agent.KeyCandidates(r))
	require.Subset(t, keys, []string{"model", "tools.mine.command", "store.durability"})
	require.NotContains(t, keys, "tools.<name>.command")
	for key, want := range map[string][]string{
		"instructions.enable": {"true", "false"}, "tools.mine.run": {"ask", "unattended"}, "policy.detached": {"queue", "deny"}, "nosuch": nil, "tools.x.y.z": nil,
	} {
		require.Subset(t, words(agent.ValueCandidates(ctx, r, key)), want, key)
		require.Equal(t, want == nil, len(agent.ValueCandidates(ctx, r, key)) == 0, key)
	}
	require.Equal(t, models, words(agent.ValueCandidates(ctx, r, "model")))
	require.Contains(t, words(agent.ValueCandidates(ctx, r, "profile")), "tests")
}

func said(events []*conversation.Event) (texts []string) {
	for _, e := range events {
		switch b := e.Body.(type) {
		case *conversation.ChatRequest:
			texts = append(texts, b.Content)
		case *conversation.ChatResponse:
			texts = append(texts, b.Text)
		}
	}
	return texts
}

// TestOverview has the newest turn that is still in effect.
func TestOverview(t *testing.T) {
	t.Parallel()
	s, f := front.New(t), &front.Front{}
	request := s.Request("context = 100000\n[[reply]]\nmessage = \"The first answer.\"\nusage = { input = 5000, output = 5 }\n"+failing, "First")
	require.NoError(t, s.Ask(f, request))
	id := f.Last().ID
	require.Positive(t, f.Last().Tokens)
	require.Equal(t, 100000, f.Last().Window)
	look := func(word string) agent.Overview {
		t.Helper()
		r := s.Open()
		defer r.Close()
		s.Await(r, id)
		o, err := agent.OverviewOf(t.Context(), r, word)
		require.NoError(t, err)
		return o
	}
	first := s.Open()
	share := agent.ContextOf(t.Context(), first, s.Load(id))
	require.Equal(t, agent.ContextShare{Tokens: f.Last().Tokens, Window: 100000}, *share)
	require.Regexp(t, `^\d+ % of 100k$`, agent.ContextUsed(t.Context(), first, s.Load(id)))
	require.NoError(t, first.Close())
	o := look("")
	require.Equal(t, id, o.ID, "the session's")
	require.Equal(t, "First", said(o.Last)[0])
	require.Equal(t, "The first answer.", said(o.Last)[1])
	require.Empty(t, o.Turn)
	require.Error(t, s.Ask(f, front.Next(id, "Second")))
	o = look(string(id))
	require.Equal(t, "Second", o.Turn)
	require.Equal(t, []string{"Second"}, said(o.Last))
	require.NoError(t, s.Ask(f, front.Discard(id)))
	o = look(string(id))
	require.Empty(t, o.Turn)
	require.Equal(t, "First", said(o.Last)[0], "a discarded turn is none")

	r := s.Open()
	defer r.Close()
	_, err := agent.OverviewOf(t.Context(), r, "nosuch")
	require.Error(t, err)
	texts, from, err := agent.RecentRequests(t.Context(), r, id)
	require.NoError(t, err)
	require.Zero(t, from)
	require.Equal(t, []string{"First", "Second"}, texts)
	texts, err = agent.EarlierRequests(t.Context(), r, id, 3)
	require.NoError(t, err)
	require.Equal(t, []string{"First"}, texts)
	events := s.Load(id)
	require.True(t, agent.KnowsContext(events))
	require.False(t, agent.KnowsContext(events[len(events)-1:]))
	require.Nil(t, agent.ContextOf(t.Context(), r, nil))
	require.Empty(t, agent.ContextUsed(t.Context(), r, nil))
}

// TestAnswerRecorded: an answer counts only for the waiting question.
func TestAnswerRecorded(t *testing.T) {
	t.Parallel()
	s, f, id := stopped(t)
	require.NoError(t, s.Answer(id, "skip"))
	require.ErrorContains(t, s.Answer(id, "run"), "waits for no answer")
	require.NoError(t, s.Ask(f, front.Resume(id)))
	require.False(t, s.Exists("made.txt"))
	require.ErrorContains(t, s.Answer(id, "run"), "waits for no answer")
	r := s.Open()
	defer r.Close()
	require.Equal(t, id, agent.GoesOn(t.Context(), r, id))
}

// TestDelete: a conversation goes by its id, and one that another waits for stays.
func TestDelete(t *testing.T) {
	t.Parallel()
	s, f := front.New(t), &front.Front{}
	require.NoError(t, s.Ask(f, s.Request(says, "First")))
	r := s.Open()
	defer r.Close()
	require.NoError(t, agent.Delete(t.Context(), r, f.Last().ID))
	require.Empty(t, s.Git("for-each-ref", "refs/jp/conversations"))
	require.Error(t, agent.Delete(t.Context(), r, f.Last().ID))
}

// TestModelOfARequest varies who names the model of the next request.
func TestModelOfARequest(t *testing.T) {
	t.Parallel()
	s := front.New(t)
	s.Configure("[aliases]\nfast = \"anthropic/haiku\"\n[profiles.slow]\nmodel = \"anthropic/opus\"\n[profiles.plain]\ninstructions = \"x\"\n")
	r := s.Open()
	defer r.Close()
	for _, row := range []struct {
		options  agent.TurnOptions
		recorded string
		want     string
	}{
		{recorded: "openai/x", want: "openai/x"},
		{recorded: "fast", want: "anthropic/haiku"},
		{options: agent.TurnOptions{Model: "fast"}, recorded: "openai/x", want: "anthropic/haiku"},
		{options: agent.TurnOptions{Profiles: []string{"slow"}}, recorded: "openai/x", want: "anthropic/opus"},
		{options: agent.TurnOptions{Profiles: []string{"slow", "plain"}}, recorded: "openai/x", want: "anthropic/opus"},
		{options: agent.TurnOptions{Model: "fast", Profiles: []string{"slow"}}, recorded: "openai/x", want: "anthropic/haiku"},
	} {
		require.Equal(t, row.want, agent.NextModel(r, agent.Request{Turn: row.options}, row.recorded), "%+v", row)
	}
	require.NoError(t, agent.RequireModel(t.Context(), r, agent.Request{Turn: agent.TurnOptions{Model: "fast"}}))
	require.NoError(t, agent.CheckModel(t.Context(), r, s.Model(says)))
	require.ErrorContains(t, agent.CheckModel(t.Context(), r, "nosuch/x"), "nosuch")
}

// TestMistakes varies settings that make turns fail.
func TestMistakes(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ name, config, want, idle string }{
		{name: "none", config: "[tools.shell_run]\nenable = false\n"},
		{name: "a tool that is not there", config: "[tools.nosuch]\nenable = true\n", want: `there is no tool "nosuch"`},
		{name: "what is fixed", config: "[tools.shell_run]\ndescription = \"x\"\n", want: "shell_run is jp's own: what it does and takes is fixed"},
		{name: "a command with a taken name", config: "[tools.shell_run]\ncommand = [\"true\"]\n", want: "shell_run is a tool of jp's own; a command needs another name"},
		{name: "a model of no provider", config: "[aliases]\nx = \"nosuch/y\"\n", want: `there is no provider "nosuch"`},
		{name: "an alias of no model", config: "[aliases]\nx = \"y\"\n", want: `aliases.x: "y" `},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := front.New(t)
			s.Configure(row.config)
			r := s.Open()
			defer r.Close()
			var all []string
			for _, wrong := range agent.Mistakes(r, r.Env) {
				all = append(all, wrong.Text)
			}
			if row.want == "" {
				require.Empty(t, all)
			} else {
				require.Contains(t, strings.Join(all, "\n"), row.want)
			}
			examined := agent.Examine(r, r.Env, config.LayerUser, []byte(row.config))
			require.Equal(t, row.want == "", len(examined) == 0)
			require.Empty(t, agent.IdleSettings(r))
		})
	}
	for key, row := range map[string]struct {
		mistake config.Error
		hint    string
	}{
		"mcp.x.env":        {config.Error{Key: "mcp.x", Text: "no command"}, "jp config set --workspace mcp.x.command"},
		"tools.x.timeout":  {config.Error{Key: "tools.x", Text: "no command"}, "jp config set --workspace tools.x.command"},
		"model":            {config.Error{Key: "model", Text: "no model"}, "jp models"},
		"aliases.x":        {config.Error{Key: "aliases.x", Text: "no model"}, "jp models"},
		"store.durability": {config.Error{Key: "store.durability", Text: "no word"}, ""},
	} {
		err := agent.NotSet(key, &row.mistake, true)
		require.ErrorContains(t, err, key+" was not set: "+row.mistake.Text+".")
		require.Contains(t, hints(err), row.hint)
		require.Equal(t, row.hint == "", len(err.Hints) == 0)
	}
}

// TestAllow adds a rule of the user's own for the repository, once.
func TestAllow(t *testing.T) {
	t.Parallel()
	s, f := front.New(t), &front.Front{}
	r := s.Open()
	for range 2 {
		file, err := agent.Allow(r, turnloop.Rule{Kind: turnloop.RuleCommand, Words: []string{"git", "tag", "a b"}})
		require.NoError(t, err)
		require.NotContains(t, file, s.Dir, "it is no file of the repository")
	}
	require.NoError(t, r.Close())
	r = s.Open()
	require.Equal(t, [][]string{{"git", "tag", "a b"}}, r.Config.Policy.Allow)
	require.NoError(t, r.Close())
	request := s.Request(oneCall("shell_run", `{ argv = ["git", "tag", "a b", "--list"] }`), "Tag")
	request.Turn.Policy = "deny"
	require.NoError(t, s.Ask(f, request))
	require.False(t, bodies[*conversation.ToolCallResponse](f.Events())[0].IsError)
	request = s.Request(oneCall("shell_run", `{ argv = ["git", "tag", "b"] }`), "Tag")
	request.Turn.Policy = "deny"
	require.NoError(t, s.Ask(f, request))
	require.Empty(t, s.Git("tag"), "another command is denied")
}

// TestNamedOnce: a turn that an error ended is named once. A question is named each time.
func TestNamedOnce(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		script string
		want   []int // how many are named, look by look
	}{
		"an error of the provider": {failing, []int{1, 0, 0}},
		"a question":               {makeFile, []int{1, 1, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, f := front.New(t), &front.Front{}
			request := s.Request(tt.script, "Make a file")
			request.Turn.Policy = "defer"
			require.Error(t, s.Ask(f, request))
			look := func() int {
				r := s.Open()
				defer r.Close()
				s.Await(r, f.Last().ID)
				require.Len(t, agent.StoppedHere(t.Context(), r, ""), 1)
				return len(agent.NamedOnce(r, agent.StoppedHere(t.Context(), r, "")))
			}
			var named []int
			for range tt.want {
				named = append(named, look())
			}
			require.Equal(t, tt.want, named)
		})
	}
}
