package provider

import (
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
)

// Arguments are repaired if and only if they have one reading.
func TestArgumentsWithOneReadingAreRepaired(t *testing.T) {
	object := `{"path":"a","n":[1,{"x":null}]}`
	for raw, want := range map[string]string{
		"null":                          `{}`,
		" null\n":                       `{}`,
		`""`:                            `{}`,
		`"null"`:                        `{}`,
		"[]":                            `{}`,
		`{}{}`:                          `{}`,
		object + object:                 object,
		object + "\n" + object + object: object,
		object + ` {"n":[1,{"x":null}],"path" : "a"}`: object,
		`"{\"path\":\"a\"}"`:                          `{"path":"a"}`,
		"```json\n" + object + "\n```":                object,
		"```\n" + object + "\n```\n":                  object,
		`{"a":1.0}{"a":1.0}`:                          `{"a":1.0}`,
	} {
		parts := feed(t, new(Assembler), Chunk{Kind: ChunkToolCall, Tool: "f", ToolID: "c", Text: raw}, closed(0))
		require.Len(t, parts, 1, raw)
		require.True(t, parts[0].Repaired, raw)
		require.False(t, parts[0].Malformed, raw)
		compact, err := conversation.Compact(parts[0].Arguments)
		require.NoError(t, err)
		require.Equal(t, want, string(compact), raw)
		require.Equal(t, raw, parts[0].RawArguments)
	}
	for _, raw := range []string{
		object + `{"path":"b"}`, object + object + `{}`, `{}` + object, object + `{"path":"a`, object[:len(object)-1], object + "}", object + " and more",
		`{"a":1}{"a":1.0}`, `[1]`, `[{}]`, `true`, `0`, `"x"`, `"[]"`, `"{\"path\":"`, `{"a":1,"a":1}`, "```json\n" + object, "```\n```", "`" + object + "`",
		"Here: ```json\n" + object + "\n```", "nullnull", "null{}", `{}null`,
	} {
		parts := feed(t, new(Assembler), Chunk{Kind: ChunkToolCall, Tool: "f", ToolID: "c", Text: raw}, closed(0))
		require.True(t, parts[0].Malformed, raw)
		require.False(t, parts[0].Repaired, raw)
		require.Equal(t, "{}", string(parts[0].Arguments))
	}
	for _, raw := range []string{"", " ", "{}", object} {
		parts := feed(t, new(Assembler), Chunk{Kind: ChunkToolCall, Tool: "f", ToolID: "c", Text: raw}, closed(0))
		require.False(t, parts[0].Malformed || parts[0].Repaired, raw)
		require.Empty(t, parts[0].RawArguments)
	}
}

func TestNamesThatAreNearlyRight(t *testing.T) {
	names := NewNames("fs_read_file", "fs_create_file", "Read", "read", "mcp tool", "x")
	for wire, want := range map[string]string{
		"fs_read_file": "fs_read_file", "Read": "Read", "read": "read",
		" fs_read_file": "fs_read_file", "fs_read_file\n": "fs_read_file", "functions.fs_read_file": "fs_read_file", " functions. fs_read_file": "",
		"FS_Read_File": "fs_read_file", "Functions.fs_read_file": "",
		"<|channel|>fs_read_file": "fs_read_file", "fs_read_file<|channel|>commentary": "fs_read_file", "functions.fs_read_file<|constrain|>json": "fs_read_file",
		"<|tool_call_begin|>functions.fs_read_file": "fs_read_file", "fs_<|x|>read_file": "fs_read_file", "<｜tool▁sep｜>fs_read_file": "fs_read_file",
		"READ": "", "mcp tool": "mcp tool", WireName("mcp tool"): "mcp tool", "MCP TOOL": "mcp tool", "X": "x",
		"fs_read_file<|x|>fs_create_file": "", "fs_read": "", "fs_read_files": "", "": "", " ": "", "functions.": "", "<||>": "", "default.fs_read_file": "",
	} {
		got, ok := names.Meant(wire)
		require.Equal(t, want != "", ok, wire)
		if ok {
			require.Equal(t, want, got, wire)
		} else {
			require.Equal(t, wire, got)
		}
	}
}
