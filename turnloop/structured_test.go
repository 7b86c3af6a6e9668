package turnloop_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/provider"
	. "jp/turnloop"
)

const ageSchema = `{"type":"object","properties":{"age":{"type":"integer"}},"required":["age"],"additionalProperties":false}`

func gives(data string) reply {
	return once(part(provider.ChunkData, data), ends(conversation.FinishStop))
}

func (r *rig) asked(schema string) Outcome {
	o, err := r.request(r.t.Context(), Request{Chat: conversation.ChatRequest{Content: "How old?", Schema: json.RawMessage(schema)}})
	require.NoError(r.t, err)
	return o
}

func TestStructuredAnswers(t *testing.T) {
	length := once(part(provider.ChunkData, `{"age":`), ends(conversation.FinishLength))
	wrapped := map[string]string{
		"in a fence":                   "```json\n{\"age\":7}\n```\n",
		"in a fence of tildes":         "~~~json\n{\"age\":7}\n~~~",
		"in an indented fence":         "   ````JSON\n  {\"age\":7}\n   `````\n",
		"behind a thought":             "<think>\n{\"age\":8}?\n</think>\n\n{\"age\":7}",
		"behind the end of a thought":  "Seven.\n</think>\n{\"age\":7}",
		"behind a thought, in a fence": "<think>Hm.</think>\n~~~\n{\"age\":7}\n~~~",
		"with space around it":         " {\"age\":7}\n",
	}
	for name, text := range wrapped {
		for kind, first := range map[string]reply{"as data": gives(text), "as a text": answers(text)} {
			t.Run(name+" "+kind, func(t *testing.T) {
				r := newRig(t, nil, first)
				o := r.asked(ageSchema)
				require.NoError(t, o.Unfit)
				require.Equal(t, Complete, o.Status)
				require.Equal(t, `{"age":7}`, string(o.Data))
			})
		}
	}
	tests := map[string]struct {
		replies []reply
		calls   int
		data    string // "" for none
		unfit   string
	}{
		"at once":                       {[]reply{gives(`{"age":7}`)}, 1, `{"age":7}`, ""},
		"as a text":                     {[]reply{answers(" {\"age\":7}\n")}, 1, `{"age":7}`, ""},
		"in a fence":                    {[]reply{answers("```json\n{\"age\":7}\n```\n")}, 1, `{"age":7}`, ""},
		"in a fence without a word":     {[]reply{answers("```\n{\"age\":7}\n```")}, 1, `{"age":7}`, ""},
		"behind a thought":              {[]reply{answers("<think>\n{\"age\":8}?\n</think>\n\n{\"age\":7}")}, 1, `{"age":7}`, ""},
		"behind the end of a thought":   {[]reply{answers("Seven, I think.\n</think>\n{\"age\":7}")}, 1, `{"age":7}`, ""},
		"behind both":                   {[]reply{answers("<think>Hm.</think>\n```json\n{\"age\":7}\n```")}, 1, `{"age":7}`, ""},
		"in a fence, wrong, first":      {[]reply{answers("```json\n{\"age\":\"7\"}\n```"), gives(`{"age":7}`)}, 2, `{"age":7}`, ""},
		"in a fence with words":         {[]reply{answers("Here it is:\n```json\n{\"age\":7}\n```"), gives(`{"age":7}`)}, 2, `{"age":7}`, ""},
		"in two fences":                 {[]reply{answers("```json\n{\"age\":7}\n```\n```json\n{\"age\":8}\n```"), gives(`{"age":7}`)}, 2, `{"age":7}`, ""},
		"a thought behind it":           {[]reply{answers("{\"age\":7}\n<think>Hm.</think>"), gives(`{"age":7}`)}, 2, `{"age":7}`, ""},
		"a thought without an end":      {[]reply{answers("<think>{\"age\":7}"), gives(`{"age":7}`)}, 2, `{"age":7}`, ""},
		"in words first":                {[]reply{answers("Seven."), gives(`{"age":7}`)}, 2, `{"age":7}`, ""},
		"a wrong one first":             {[]reply{gives(`{"age":"7"}`), gives(`{"age":7}`)}, 2, `{"age":7}`, ""},
		"two at once first":             {[]reply{gives(`{"age":7} {"age":8}`), gives(`{"age":7}`)}, 2, `{"age":7}`, ""},
		"a brace too many first":        {[]reply{gives(`{"age":7}}`), gives(`{"age":7}`)}, 2, `{"age":7}`, ""},
		"and words behind it":           {[]reply{answers(`{"age":7}] That was all.`), gives(`{"age":7}`)}, 2, `{"age":7}`, ""},
		"a key twice first":             {[]reply{gives(`{"age":"x","age":7}`), gives(`{"age":7}`)}, 2, `{"age":7}`, ""},
		"nothing first":                 {[]reply{answers(""), gives(`{"age":7}`)}, 2, `{"age":7}`, ""},
		"behind tools":                  {[]reply{asksFor("look"), gives(`{"age":7}`)}, 2, `{"age":7}`, ""},
		"nothing behind tools, at last": {[]reply{asksFor("look"), answers(""), answers("Seven."), gives(`{"age":7}`)}, 4, `{"age":7}`, ""},
		"never":                         {[]reply{gives(`{}`), gives(`{}`)}, 2, "", "required"},
		"only words":                    {[]reply{answers("Seven."), answers("7.")}, 2, "", "not one JSON value"},
		"cut off":                       {[]reply{length}, 1, "", "not one JSON value"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, []*fakeTool{reads("look")}, tt.replies...)
			o := r.asked(ageSchema)
			require.Len(t, r.model.requests, tt.calls)
			require.Equal(t, tt.data, string(o.Data))
			if tt.unfit == "" {
				require.NoError(t, o.Unfit)
				require.Equal(t, Complete, o.Status)
			} else {
				require.ErrorContains(t, o.Unfit, tt.unfit)
			}
			for _, request := range r.model.requests {
				require.JSONEq(t, ageSchema, string(request.Schema))
			}
			require.False(t, r.model.requests[0].NoTools)
		})
	}
}

// What the model is told of its answer leaves all that was sent as it was, and
// keeps it from calling tools.
func TestAnAnswerThatDoesNotFitIsAskedForAgain(t *testing.T) {
	r := newRig(t, []*fakeTool{reads("look")}, gives(`{"age":"7"}`), gives(`{"age":7}`))
	r.asked(ageSchema)
	first, second := r.model.requests[0], r.model.requests[1]
	require.Equal(t, first.Tools, second.Tools)
	require.Equal(t, first.Messages, second.Messages[:len(first.Messages)])
	require.True(t, second.NoTools)
	require.Contains(t, r.model.sent(), "does not satisfy the JSON schema")
	require.Contains(t, r.model.sent(), "age")

	r.model.replies = append(r.model.replies, answers("Hello."))
	o := r.done()
	require.Empty(t, r.model.requests[2].Schema, "the next turn has no schema")
	require.False(t, r.model.requests[2].NoTools)
	require.Equal(t, "Hello.", o.Message)
	require.NoError(t, o.Unfit)
}

func TestParseSchema(t *testing.T) {
	schema, err := ParseSchema([]byte("{ \"type\": \"object\",\n \"properties\": {\"a\": {\"enum\": [1, 2]}} }"))
	require.NoError(t, err)
	require.Equal(t, `{"properties":{"a":{"enum":[1,2]}},"type":"object"}`, string(schema))
	for name, text := range map[string]string{
		"nothing": "", "no JSON": "{", "no object": `{"type":"string"}`, "no type": "{}", "a list": "[]",
		"a wrong pattern":        `{"type":"object","properties":{"a":{"pattern":"("}}}`,
		"a reference to nothing": `{"type":"object","properties":{"a":{"$ref":"#/$defs/b"}}}`,
		"too long":               `{"type":"object","description":"` + strings.Repeat("x", 40<<10) + `"}`,
	} {
		_, err := ParseSchema([]byte(text))
		require.ErrorIs(t, err, ErrSchema, name)
	}
}
