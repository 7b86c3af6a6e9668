package command_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/tool"
	"jp/tool/command"
)

func TestDefinition(t *testing.T) {
	root := workspace(t)
	def := made(t, root, command.Spec{Name: "count", Command: []string{"wc", "-w"}}, command.Options{}).Definition()
	require.Equal(t, "count", def.Name)
	require.Equal(t, "Run count, a program of the user's.", def.Description)
	require.Equal(t, tool.Changes, def.Effect, "whatever is not said to read may change anything")
	require.Equal(t, tool.Ask, def.Run)
	require.Equal(t, tool.Unattended, def.Result)
	require.Equal(t, []string{"wc", "-w"}, def.Command)
	require.JSONEq(t, `{"type":"object","properties":{},"required":[],"additionalProperties":false}`, string(def.Parameters))

	questions := map[string]tool.QuestionTo{"sure": {Assistant: true}}
	def = made(t, root, command.Spec{
		Name: "count", Description: "Count.", Command: []string{"wc"}, Reads: true, Idempotent: true, Exclusive: true,
		Run: tool.Unattended, Result: tool.Edit, Questions: questions, Timeout: time.Minute,
		Parameters: map[string]command.Parameter{
			"path":  {Type: "string", Description: "Which <file>.", Required: true},
			"kinds": {Type: "array", Items: "string", Default: []any{"w"}},
			"mode":  {Enum: []any{"fast", int64(2)}, Default: "fast"},
			"dry":   {Type: "boolean", Default: false},
			"any":   {},
		},
	}, command.Options{}).Definition()
	require.Equal(t, tool.Reads, def.Effect)
	require.True(t, def.Idempotent && def.Exclusive)
	require.Equal(t, []tool.RunMode{tool.Unattended, tool.Edit}, []tool.RunMode{def.Run, def.Result})
	require.Equal(t, questions, def.Questions)
	require.Equal(t, time.Minute, def.Timeout)
	require.Equal(t, `{"additionalProperties":false,"properties":{"any":{},"dry":{"type":"boolean","default":false},`+
		`"kinds":{"type":"array","items":{"type":"string"},"default":["w"]},"mode":{"enum":["fast",2],"default":"fast"},`+
		`"path":{"type":"string","description":"Which <file>."}},"required":["path"],"type":"object"}`, string(def.Parameters))

	got, err := tool.Check(def, json.RawMessage(`{"path":"a"}`))
	require.NoError(t, err)
	require.JSONEq(t, `{"path":"a","kinds":["w"],"mode":"fast","dry":false}`, string(got))
	for arguments, want := range map[string]string{
		`{}`:                           `missing argument "path"`,
		`{"path":"a","kinds":["w",1]}`: `argument "kinds[1]": expected a string`,
		`{"path":"a","mode":"slow"}`:   `expected one of "fast", 2`,
		`{"path":"a","pth":"b"}`:       `unknown argument "pth"`,
	} {
		_, err := tool.Check(def, json.RawMessage(arguments))
		require.ErrorContains(t, err, want)
	}
}

func TestADefaultThatDoesNotFit(t *testing.T) {
	wrong, err := command.New(workspace(t), command.Spec{
		Name: "count", Command: []string{"wc"}, Parameters: map[string]command.Parameter{"times": {Type: "integer", Default: "three"}},
	}, command.Options{})
	require.NoError(t, err)
	require.ErrorIs(t, wrong.Definition().CheckSchema(), tool.ErrInvalidSchema)
}

func TestSubject(t *testing.T) {
	parameters := map[string]command.Parameter{
		"b": {Type: "string", Required: true}, "a": {Type: "string"}, "c": {Type: "string", Required: true}, "n": {Type: "integer"}, "x": {},
	}
	def := made(t, workspace(t), command.Spec{Name: "count", Command: []string{"wc"}, Parameters: parameters}, command.Options{}).Definition()
	for arguments, want := range map[string]string{
		`{"a":"1","b":"2","c":"3"}`: "2",
		`{"a":"1","c":"3"}`:         "3",
		`{"a":"1","n":4}`:           "1",
		`{"b":" ","a":"1"}`:         "1",
		`{"n":4}`:                   "4",
		`{"n":4,"x":[1]}`:           "",
		`{"x":"text"}`:              "text",
		`{"x": [1, 2]}`:             "[1, 2]",
		`{"b":"two\n lines\u0000"}`: "two lines\x00",
		`{}`:                        "",
		`[`:                         "",
	} {
		require.Equal(t, want, def.Subject(json.RawMessage(arguments)), arguments)
	}
	require.Len(t, []rune(def.Subject(json.RawMessage(`{"b":"`+strings.Repeat("x", 5000)+`"}`))), 200)
}
