package hooks

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"jp/conversation"
)

func TestDecode(t *testing.T) {
	deny := func(reason string) Decision { return Decision{Denied: true, Reason: reason} }
	for name, c := range map[string]struct {
		point  Point
		output string
		want   Decision
		why    string // "" if it is a decision
	}{
		"nothing":                  {ToolPre, "", Decision{}, ""},
		"blanks":                   {ToolPre, " \n", Decision{}, ""},
		"no objection":             {ToolPre, "{}", Decision{}, ""},
		"over several lines":       {ToolPre, "{\n  \"deny\": \"no\"\n}\n", deny("no"), ""},
		"denied without a reason":  {ToolPre, `{"deny":""}`, deny(""), ""},
		"a turn denied":            {TurnStart, `{"deny":"no"}`, deny("no"), ""},
		"a note":                   {TurnStart, `{"note":"tabs"}`, Decision{Note: "tabs"}, ""},
		"a note on a result":       {ToolPost, `{"note":"lint"}`, Decision{Note: "lint"}, ""},
		"other arguments":          {ToolPre, `{"arguments": {"n": 1.50, "s": "<"}}`, Decision{Arguments: []byte(`{"n":1.50,"s":"<"}`)}, ""},
		"no arguments at all":      {ToolPre, `{"arguments":{}}`, Decision{Arguments: []byte(`{}`)}, ""},
		"it cannot allow":          {ToolPre, `{"allow":true}`, Decision{}, `"allow" is not one of deny, arguments`},
		"a key of another point":   {ToolPost, `{"deny":"no"}`, Decision{}, `"deny" is not one of note`},
		"a key misspelt":           {ToolPre, `{"denied":"no"}`, Decision{}, `"denied" is not one of`},
		"two things at once":       {ToolPre, `{"deny":"no","arguments":{}}`, Decision{}, "stands alone"},
		"a word":                   {ToolPre, "ok", Decision{}, "invalid JSON"},
		"a word behind it":         {ToolPre, "{} ok", Decision{}, "text after the value"},
		"an array":                 {ToolPre, "[]", Decision{}, "an object was expected"},
		"null":                     {ToolPre, "null", Decision{}, "an object was expected"},
		"twice":                    {ToolPre, `{"deny":"a","deny":"b"}`, Decision{}, "invalid JSON"},
		"no is no reason":          {ToolPre, `{"deny":true}`, Decision{}, `"deny" is not a text`},
		"null is no reason":        {ToolPre, `{"deny":null}`, Decision{}, `"deny" is not a text`},
		"arguments of no kind":     {ToolPre, `{"arguments":["ls"]}`, Decision{}, `"arguments" is not an object`},
		"what nobody waits for":    {TurnEnd, "beep", Decision{}, ""},
		"nor here":                 {WaitingForInput, `{"deny":"no"}`, Decision{}, ""},
		"arguments that are large": {ToolPre, `{"arguments":{"a":"` + strings.Repeat("x", conversation.MaxEdited) + `"}}`, Decision{}, "and 49152 is the most"},
		"a reason that is long":    {ToolPre, `{"deny":"` + strings.Repeat("x", ReasonLimit+1) + `"}`, deny(strings.Repeat("x", ReasonLimit)), ""},
		"a note that is long":      {ToolPost, `{"note":"` + strings.Repeat("é", ContentLimit) + `"}`, Decision{Note: strings.Repeat("é", ContentLimit/2)}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Decode(c.point, []byte(c.output))
			if c.why != "" {
				require.ErrorIs(t, err, ErrDecision)
				require.ErrorContains(t, err, c.why)
				require.Zero(t, got)
				return
			}
			require.NoError(t, err)
			require.Equal(t, c.want, got)
		})
	}
}

// FuzzDecode checks each output against the rules for a decision.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{"", "{}", `{"deny":"x"}`, `{"arguments":{"a":[1]}}`, `{"note":"\ud83d\ude00"}`, `{"allow":true}`, "null"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, output string) {
		for _, p := range []Point{TurnStart, ToolPre, ToolPost, WaitingForInput, TurnEnd} {
			d, err := Decode(p, []byte(output))
			if err != nil {
				require.ErrorIs(t, err, ErrDecision)
				require.Zero(t, d)
				continue
			}
			if d.Denied || d.Arguments != nil || d.Note != "" {
				var object map[string]any
				require.NoError(t, json.Unmarshal([]byte(output), &object))
			}
			require.False(t, d.Denied && (d.Arguments != nil || d.Note != ""))
			require.True(t, utf8.ValidString(d.Reason) && utf8.ValidString(d.Note))
			if d.Arguments != nil {
				require.NoError(t, conversation.CheckJSON(d.Arguments))
				require.True(t, bytes.HasPrefix(d.Arguments, []byte("{")))
				require.LessOrEqual(t, len(d.Arguments), conversation.MaxEdited)
			}
		}
	})
}

func TestATextIsCutBetweenCharacters(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.StringN(0, 40, -1).Draw(rt, "text")
		end := rapid.IntRange(0, 60).Draw(rt, "end")
		got, short := cut(text, end)
		require.True(rt, strings.HasPrefix(text, got))
		require.True(rt, utf8.ValidString(got))
		require.Equal(rt, len(text) > end, short)
		require.LessOrEqual(rt, len(got), max(end, 0))
		if short {
			require.Greater(rt, len(got)+utf8.UTFMax, end)
		}
	})
	got, short := CutText(strings.Repeat("x", ContentLimit))
	require.Len(t, got, ContentLimit)
	require.False(t, short)
}
