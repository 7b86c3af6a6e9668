package mcp_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"jp/provider"
	"jp/tool/mcp"
)

func TestToolName(t *testing.T) {
	for want, of := range map[string][2]string{
		"mcp__docs__search":     {"docs", "search"},
		"mcp__my-docs_2__a_b-c": {"my-docs_2", "a_b-c"},
		"mcp__a___b":            {"a", "_b"},
		"mcp__a__b__c":          {"a", "b__c"},
	} {
		require.Equal(t, want, mcp.ToolName(of[0], of[1]))
	}
	for _, of := range [][2]string{{"a__b", "c"}, {"a_", "b"}, {"a", "ü"}, {"a", ""}, {"a", "b c"}, {"", ""}, {"a", strings.Repeat("x", 300)},
		{"a", "b-0123456789ab"}, {"a", "b_01234567"}} {
		require.Regexp(t, `^mcp__.*-[0-9a-f]{12}$`, mcp.ToolName(of[0], of[1]))
	}
}

func TestToolNamesAreDifferentAndFitEverywhere(t *testing.T) {
	word := rapid.OneOf(rapid.StringMatching(`[a-b_]{0,5}(-[0-9a-f]{12})?`), rapid.StringMatching(`[a-z]{30,80}`), rapid.String())
	rapid.Check(t, func(t *rapid.T) {
		a := [2]string{word.Draw(t, "server"), word.Draw(t, "tool")}
		b := [2]string{word.Draw(t, "other server"), word.Draw(t, "other tool")}
		name := mcp.ToolName(a[0], a[1])
		require.Regexp(t, `^mcp__[A-Za-z0-9_-]{1,59}$`, name)
		require.Equal(t, name, mcp.ToolName(a[0], a[1]))
		require.Equal(t, name, provider.WireName(name), "the model knows it by the same name")
		require.Equal(t, a == b, name == mcp.ToolName(b[0], b[1]))
	})
}
