package tool_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"jp/tool"
)

const editSchema = `{"type":"object","required":["path","edits"],"properties":{
	"path":{"type":"string"},
	"mode":{"enum":["fast","slow"],"default":"fast"},
	"depth":{"type":"integer","minimum":1,"default":3},
	"ratio":{"type":"number"},
	"dry":{"type":"boolean"},
	"label":{"type":["string","null"]},
	"where":{"$ref":"#/$defs/place"},
	"edits":{"type":"array","items":{"type":"object","required":["old"],"additionalProperties":false,"properties":{
		"old":{"type":"string"},"count":{"type":"integer","default":1}}}}},
	"$defs":{"place":{"type":"object","properties":{"line":{"type":"integer","default":7}}}}}`

func definition(name, parameters string) *tool.Definition {
	return &tool.Definition{Name: name, Parameters: json.RawMessage(parameters)}
}

func TestCheckSettlesArguments(t *testing.T) {
	for name, tc := range map[string]struct{ in, want string }{
		"defaults at every depth":    {`{"path":"a","edits":[{"old":"x"}],"where":{}}`, `{"depth":3,"edits":[{"count":1,"old":"x"}],"mode":"fast","path":"a","where":{"line":7}}`},
		"an array in a string":       {`{"path":"a","edits":"[{\"old\":\"x\"}]"}`, `{"depth":3,"edits":[{"count":1,"old":"x"}],"mode":"fast","path":"a"}`},
		"an object in a string":      {`{"path":"a","edits":["{\"old\":\"x\"}"]}`, `{"depth":3,"edits":[{"count":1,"old":"x"}],"mode":"fast","path":"a"}`},
		"numbers and booleans":       {`{"path":"a","edits":[],"depth":"4","ratio":"0.5","dry":"true"}`, `{"depth":4,"dry":true,"edits":[],"mode":"fast","path":"a","ratio":0.5}`},
		"a string stays one":         {`{"path":"17","edits":[],"label":"null"}`, `{"depth":3,"edits":[],"label":"null","mode":"fast","path":"17"}`},
		"a whole number":             {`{"path":"a","edits":[],"depth":5.0,"ratio":2}`, `{"depth":5,"edits":[],"mode":"fast","path":"a","ratio":2}`},
		"digits are kept":            {`{"path":"a","edits":[],"depth":9007199254740993}`, `{"depth":9007199254740993,"edits":[],"mode":"fast","path":"a"}`},
		"null is not given":          {`{"path":"a","edits":[],"depth":null,"dry":null}`, `{"depth":3,"edits":[],"mode":"fast","path":"a"}`},
		"null where it is a value":   {`{"path":"a","edits":[],"label":null}`, `{"depth":3,"edits":[],"label":null,"mode":"fast","path":"a"}`},
		"no escapes for angle signs": {`{"path":"<&>","edits":[]}`, `{"depth":3,"edits":[],"mode":"fast","path":"<&>"}`},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := tool.Check(definition("edit", editSchema), json.RawMessage(tc.in))
			require.NoError(t, err)
			require.Equal(t, tc.want, string(got))
			again, err := tool.Check(definition("edit", editSchema), got)
			require.NoError(t, err)
			require.Equal(t, tc.want, string(again), "settled arguments stay as they are")
		})
	}
}

func TestCheckTellsWhatIsWrong(t *testing.T) {
	for name, tc := range map[string]struct{ in, want string }{
		"missing":            {`{"edits":[]}`, `missing argument "path"; expected a string`},
		"missing, nested":    {`{"path":"a","edits":[{}]}`, `missing argument "edits[0].old"; expected a string`},
		"unknown":            {`{"path":"a","edits":[],"file":"b"}`, `unknown argument "file"; expected depth, dry, edits, label, mode, path, ratio, where`},
		"unknown, nested":    {`{"path":"a","edits":[{"old":"x","neu":"y"}]}`, `unknown argument "edits[0].neu"; expected count, old`},
		"wrong type":         {`{"path":3,"edits":[]}`, `argument "path": expected a string, got an integer 3`},
		"wrong type, nested": {`{"path":"a","edits":[{"old":"x","count":"many"}]}`, `argument "edits[0].count": expected an integer, got a string "many"`},
		"fraction":           {`{"path":"a","edits":[],"depth":1.5}`, `argument "depth": expected an integer, got a number 1.5`},
		"not exactly JSON":   {`{"path":"a","edits":[],"depth":" 4"}`, `argument "depth": expected an integer, got a string " 4"`},
		"no such choice":     {`{"path":"a","edits":[],"mode":"mid"}`, `argument "mode": expected one of "fast", "slow", got a string "mid"`},
		"null where needed":  {`{"path":null,"edits":[]}`, `argument "path": expected a string, got null null`},
		"no object":          {`[1]`, `the arguments: expected an object, got an array [1]`},
		"huge exponent":      {`{"path":"a","edits":[],"depth":1e999999999}`, `argument "depth": expected an integer, got a number 1e999999999`},
		"out of range":       {`{"path":"a","edits":[],"depth":0}`, `argument "depth": expected at least 1, got 0`},
		"far out of range":   {`{"path":"a","edits":[],"depth":1e30}`, `is too large a number`},
		"broken":             {`{"path"`, `the arguments are not JSON`},
		"two values":         {`{} {}`, `something follows the value`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := tool.Check(definition("edit", editSchema), json.RawMessage(tc.in))
			require.ErrorContains(t, err, tc.want)
		})
	}
}

func TestCheckCountsItems(t *testing.T) {
	def := definition("run", `{"type":"object","properties":{"argv":{"type":"array","minItems":1,"maxItems":2}}}`)
	_, err := tool.Check(def, json.RawMessage(`{"argv":[]}`))
	require.EqualError(t, err, `argument "argv": expected at least 1 item, got 0`)
	_, err = tool.Check(def, json.RawMessage(`{"argv":[1,2,3]}`))
	require.EqualError(t, err, `argument "argv": expected at most 2 items, got 3`)
	_, err = tool.Check(def, json.RawMessage(`{"argv":[1,2]}`))
	require.NoError(t, err)
}

func TestCheckWithoutParameters(t *testing.T) {
	got, err := tool.Check(definition("git_status", ""), nil)
	require.NoError(t, err)
	require.Equal(t, "{}", string(got))
	_, err = tool.Check(definition("git_status", ""), json.RawMessage(`{"a":1}`))
	require.EqualError(t, err, `unknown argument "a"; expected none`)
}

func TestCheckLeavesOpenObjectsOpen(t *testing.T) {
	for _, open := range []string{
		`{"type":"object","additionalProperties":true}`,
		`{"type":"object","additionalProperties":{"type":"integer"}}`,
		`{"type":"object","patternProperties":{"^a":{}}}`,
	} {
		got, err := tool.Check(definition("mcp", open), json.RawMessage(`{"a":1}`))
		require.NoError(t, err, open)
		require.Equal(t, `{"a":1}`, string(got))
	}
	_, err := tool.Check(definition("mcp", `{"type":"object","additionalProperties":false}`), json.RawMessage(`{"a":1}`))
	require.ErrorContains(t, err, `unknown argument "a"`)
}

func TestCheckIsStable(t *testing.T) {
	def := definition("edit", editSchema)
	_, err := tool.NewRegistry(fixed{def})
	require.NoError(t, err)
	rapid.Check(t, func(t *rapid.T) {
		in, err := json.Marshal(map[string]any{
			"path":  rapid.String().Draw(t, "path"),
			"depth": rapid.IntRange(1, 1<<60).Draw(t, "depth"),
			"edits": rapid.SliceOf(rapid.Custom(func(t *rapid.T) map[string]any {
				return map[string]any{"old": rapid.String().Draw(t, "old")}
			})).Draw(t, "edits"),
		})
		require.NoError(t, err)
		once, err := tool.Check(def, in)
		require.NoError(t, err)
		twice, err := tool.Check(def, once)
		require.NoError(t, err)
		require.Equal(t, string(once), string(twice))
	})
}

// fixed is a tool without effect.
type fixed struct{ def *tool.Definition }

func (f fixed) Definition() *tool.Definition { return f.def }

func (f fixed) Run(context.Context, tool.Call) (tool.Result, error) { return tool.Result{}, nil }
