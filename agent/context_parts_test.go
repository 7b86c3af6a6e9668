package agent_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/agent"
	"jp/agent/contextfiles"
	"jp/internal/testing/front"
)

// TestContextByKind adds one item after the other to a model's input: its kind grows by about its tokens, and
// the others stay.
func TestContextByKind(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("word and ", 1200) // about 2,700 tokens
	for kind, add := range map[agent.ContextKind]func(s *front.Scratch, o *agent.Request){
		agent.ContextInstructions: func(s *front.Scratch, _ *agent.Request) { s.Write("AGENTS.md", long); s.Commit() },
		agent.ContextMessages:     func(_ *front.Scratch, o *agent.Request) { o.Input.Text = []string{long} },
		agent.ContextResults:      func(s *front.Scratch, _ *agent.Request) { s.Write("a.txt", long) },
		agent.ContextSkills: func(s *front.Scratch, o *agent.Request) {
			s.WriteOwn(".config/jp/skills/lint/SKILL.md", "---\nname: lint\ndescription: Lints.\n---\n"+long)
			o.Input.Skills = []string{"lint"}
		},
		agent.ContextAttachments: func(_ *front.Scratch, o *agent.Request) {
			file, err := contextfiles.NewAttachment("note.txt", []byte(long))
			require.NoError(t, err)
			o.Input.Given = append(o.Input.Given, file)
		},
	} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			measure := func(add func(*front.Scratch, *agent.Request)) agent.ContextUse {
				s, f := front.New(t), &front.Front{}
				s.Write("a.txt", "short\n")
				model := s.Model("[[reply]]\n[[reply.tool_call]]\nname = \"fs_read_file\"\narguments = { path = \"a.txt\" }\n[[reply]]\nmessage = \"Read.\"\n")
				request := newTurn(model, "Read it")
				request.Turn.Yes = true
				add(s, &request)
				require.NoError(t, s.Ask(f, request))
				r := s.Open()
				defer r.Close()
				use, err := agent.ContextByKind(t.Context(), r, agent.Request{Target: agent.Target{ID: string(f.Last().ID)}, Turn: agent.TurnOptions{Model: model}}, f)
				require.NoError(t, err)
				return use
			}
			plain, more := measure(func(*front.Scratch, *agent.Request) {}), measure(add)
			require.Greater(t, plain.Kinds[agent.ContextSystem], 1500)
			for _, k := range agent.ContextKinds {
				grown := more.Kinds[k] - plain.Kinds[k]
				if k == kind {
					require.Greater(t, grown, 1500, "%v, then %v", plain.Kinds, more.Kinds)
				} else {
					require.Less(t, grown, 500, "%s: %v, then %v", k, plain.Kinds, more.Kinds)
				}
			}
		})
	}
}
