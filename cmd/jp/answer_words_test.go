package main

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/agent/problem"
	"jp/agent/repo"
	"jp/cmd/jp/internal/ui"
	"jp/conversation"
	"jp/process/attach"
)

func TestOptionThatAWordSays(t *testing.T) {
	asks := func(values ...string) attach.Inquiry {
		i := attach.Inquiry{Conversation: idOf(1), Seq: 5, Kind: conversation.KindToolQuestion, AnswerType: conversation.AnswerType{Type: "select"}}
		for _, v := range values {
			i.AnswerType.Options = append(i.AnswerType.Options, conversation.Option{Value: json.RawMessage(v)})
		}
		return i
	}
	for name, tt := range map[string]struct {
		i    attach.Inquiry
		word string
		want string // "" if it is refused
	}{
		"by number":                   {asks(`"red"`, `"green"`), "2", `"green"`},
		"by value":                    {asks(`"red"`, `"green"`), "red", `"red"`},
		"a number":                    {asks(`30`, `10`), "30", `30`},
		"its own number":              {asks(`1`, `2`), "2", `2`},
		"another one's number":        {asks(`3`, `1`, `2`), "1", ""},
		"and as a text":               {asks(`"2"`, `"1"`), "1", ""},
		"a value that is no number":   {asks(`3`, `1`, `2`), "4", ""},
		"a text beside its number":    {asks(`1`, `"1"`), "1", ""},
		"neither a value, nor number": {asks(`"red"`), "blue", ""},
	} {
		t.Run(name, func(t *testing.T) {
			a, err := ui.ReadAnswer(tt.i, tt.word, "")
			if tt.want == "" {
				require.Equal(t, problem.ExitUsage, repo.ProblemOf(err).Exit)
				return
			}
			require.NoError(t, err)
			require.Equal(t, tt.want, string(a.Value))
		})
	}
	_, err := ui.ReadAnswer(asks(`3`, `"1"`), "1", "")
	require.ErrorContains(t, err, `"1" is the number of one option and the value of another one.`)
	require.Equal(t, "jp answer k3f9@5 --value 3", repo.ProblemOf(err).Hints[0].Action.String())
	require.Equal(t, `jp answer k3f9@5 --value '"1"'`, repo.ProblemOf(err).Hints[1].Action.String())
}

func TestReasonsGoWithANo(t *testing.T) {
	asks := func(kind string) attach.Inquiry {
		return attach.Inquiry{Conversation: idOf(1), Seq: 5, Kind: conversation.KindToolQuestion, AnswerType: conversation.AnswerType{Type: kind}}
	}
	a, err := ui.ReadAnswer(asks("boolean"), "n", "not today")
	require.NoError(t, err)
	require.Equal(t, "false", string(a.Value))
	require.Equal(t, "not today", a.Reason)
	_, err = ui.ReadAnswer(asks("boolean"), "y", "not today")
	require.EqualError(t, err, "a reason goes with a no.")
	_, err = ui.ReadAnswer(asks("text"), "n", "not today")
	require.EqualError(t, err, "this question takes no reason.")
}
