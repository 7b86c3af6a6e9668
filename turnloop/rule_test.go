package turnloop_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	. "jp/turnloop"
)

// A rule covers another one of its kind that begins with its words. Without a word it covers all edits and
// zero commands.
func TestRuleCovers(t *testing.T) {
	for _, row := range []struct {
		kind        RuleKind
		rule, other string
		covers      bool
	}{
		{RuleCommand, "go test", "go test", true}, {RuleCommand, "go test", "go test ./...", true}, {RuleCommand, "make", "make all", true},
		{RuleCommand, "go test", "go", false}, {RuleCommand, "go test", "go vet", false}, {RuleCommand, "make", "maker", false}, {RuleCommand, "", "make", false},
		{RuleEdits, "", "a b", true}, {RuleEdits, "a", "a b", true}, {RuleEdits, "a b", "a", false}, {RuleEdits, "a", "ab", false},
		{RuleTool, "mcp__x__y 1", "mcp__x__y 1", true}, {RuleTool, "mcp__x__y 1", "mcp__x__y 2", false}, {RuleTool, "delegate", "delegate", true},
	} {
		rule, other := Rule{row.kind, strings.Fields(row.rule)}, Rule{row.kind, strings.Fields(row.other)}
		require.Equal(t, row.covers, rule.Covers(other), "%v and %v", rule, other)
	}
	require.False(t, Rule{Kind: RuleEdits}.Covers(Rule{Kind: RuleTool, Words: []string{"delegate"}}))
}

func TestRuleInWords(t *testing.T) {
	for want, rule := range map[string]Rule{
		"go test 'a b' runs":              {RuleCommand, []string{"go", "test", "a b"}},
		"edits below $'src/\\u202e/' run": {RuleEdits, []string{"src", "\u202e"}},
		"edits in the working tree run":   {RuleEdits, nil},
		"mcp__x__y runs":                  {RuleTool, []string{"mcp__x__y", "1"}},
	} {
		require.Equal(t, want, rule.Runs())
	}
}
