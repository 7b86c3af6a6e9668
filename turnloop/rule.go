package turnloop

import (
	"slices"
	"strings"

	"jp/internal/safetext"
)

// A Rule is the lasting permission of an "always" at a question.
type Rule struct {
	Kind RuleKind
	// Words are the first ones of a command, the folders from the root of the working tree to the one of the
	// files, or the name of a tool with the code of the approved definition.
	Words []string
}

// A RuleKind is the subject of a rule.
type RuleKind string

// The kinds of rules.
const (
	RuleCommand RuleKind = "command"
	RuleEdits   RuleKind = "edits"
	RuleTool    RuleKind = "tool"
)

// Covers reports whether a rule allows all that another one does.
func (r Rule) Covers(other Rule) bool {
	return r.Kind == other.Kind && (len(r.Words) > 0 || r.Kind == RuleEdits) && len(r.Words) <= len(other.Words) && slices.Equal(r.Words, other.Words[:len(r.Words)])
}

// String is the rule in words, as it is recorded.
func (r Rule) String() string { return r.words(func(text string) string { return text }) }

// Shown is the rule in words, clean.
func (r Rule) Shown() string {
	if r.Kind == RuleCommand {
		return safetext.EscapeAll(r.Words)
	}
	return r.words(safetext.Show)
}

func (r Rule) words(shown func(string) string) string {
	switch {
	case r.Kind == RuleEdits && len(r.Words) == 0:
		return "edits in the working tree"
	case r.Kind == RuleEdits:
		return "edits below " + shown(strings.Join(r.Words, "/")+"/")
	case r.Kind == RuleTool:
		return shown(r.Words[0])
	}
	return strings.Join(r.Words, " ")
}

// Runs is the rule as the beginning of a sentence, with its verb. It is clean.
func (r Rule) Runs() string {
	if r.Kind == RuleEdits {
		return r.Shown() + " run"
	}
	return r.Shown() + " runs"
}
