package mcp

import (
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"
)

func TestPromptArguments(t *testing.T) {
	t.Parallel()
	two := []PromptArgument{{Name: "file", Required: true}, {Name: "style"}}
	for name, tt := range map[string]struct {
		has   []PromptArgument
		line  string
		given map[string]string
		wrong string
	}{
		"none":                   {nil, " ", map[string]string{}, ""},
		"words too much":         {nil, "one two", nil, `the words do not fit: "one" is too much (want no words)`},
		"in their order":         {two, "a.go short", map[string]string{"file": "a.go", "style": "short"}, ""},
		"the last takes all":     {two, "a.go short and plain", map[string]string{"file": "a.go", "style": "short and plain"}, ""},
		"quoted":                 {two, `"a b.go" short`, map[string]string{"file": "a b.go", "style": "short"}, ""},
		"an apostrophe":          {two, "a.go don't", map[string]string{"file": "a.go", "style": "don't"}, ""},
		"by name":                {two, "style=short a.go", map[string]string{"file": "a.go", "style": "short"}, ""},
		"a name that it has not": {two, "a.go x=1", map[string]string{"file": "a.go", "style": "x=1"}, ""},
		"all by name, and more":  {two, "file=a style=b c", nil, `the words do not fit: "c" is too much (want FILE [STYLE])`},
		"required":               {two, "", nil, "the words do not fit: FILE is missing (want FILE [STYLE])"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			given, err := PromptInfo{Arguments: tt.has}.arguments(tt.line)
			if tt.wrong != "" {
				require.EqualError(t, err, tt.wrong)
				return
			}
			require.NoError(t, err)
			require.Equal(t, tt.given, given)
		})
	}
}

func TestPromptsOf(t *testing.T) {
	t.Parallel()
	require.Equal(t, []PromptInfo{{Name: "a", Description: "one two"}, {Name: "b.c"}}, promptsOf([]*sdk.Prompt{
		{Name: "b.c"}, {Name: "a", Description: "one\n\u202etwo"}, {Name: "twice"}, {Name: "twice"}, {Name: "../x"}, {Name: "a b"}, {Name: ""},
		{Name: "hidden", Arguments: []*sdk.PromptArgument{{Name: "a\u202e"}}},
	}))
}

func TestPromptOf(t *testing.T) {
	t.Parallel()
	say := func(role, text string) *sdk.PromptMessage {
		return &sdk.PromptMessage{Role: sdk.Role(role), Content: &sdk.TextContent{Text: text}}
	}
	p, err := promptOf(&sdk.GetPromptResult{Messages: []*sdk.PromptMessage{say("user", "One.\x1b[2J"), say("user", "Two.\n")}})
	require.NoError(t, err)
	require.Equal(t, "One.\n\nTwo.", p.Text)
	p, err = promptOf(&sdk.GetPromptResult{Messages: []*sdk.PromptMessage{say("user", "One?"), say("assistant", "Yes.")}})
	require.NoError(t, err)
	require.Equal(t, "[user]\nOne?\n\n[assistant]\nYes.", p.Text)
	_, err = promptOf(&sdk.GetPromptResult{Messages: []*sdk.PromptMessage{say("user", "\u200b")}})
	require.EqualError(t, err, "the prompt is empty")
}
