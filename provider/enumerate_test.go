package provider

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The words that every short history is made of.
var letters = []string{
	"M", "M.", "M+", "R", "P", "Qi", "S", "r", "N", "C1", "C2+", "D1", "D2", "H1", "L1", "l1", "I1", "A1", "O.", "/",
}

// every calls visit with every sequence of at most depth words.
func every(prefix []string, depth int, visit func([]string)) {
	visit(prefix)
	if depth == 0 {
		return
	}
	for _, letter := range letters {
		every(append(prefix[:len(prefix):len(prefix)], letter), depth-1, visit)
	}
}

func TestEveryShortHistoryCanBeSent(t *testing.T) {
	shapes := []struct {
		name, before, after string
		depth               int
	}{
		{"in the last turn", "T Q ", "", 4},
		{"in an older turn", "T Q ", " T Q", 3},
		{"without a request", "T ", "", 3},
		{"without a turn", "", " T Q", 3},
		{"before a discard", "T Q M. T Q ", " X T Q", 3},
		{"between complete turns", "T Q M. T Q ", " T Q M.", 3},
	}
	for _, shape := range shapes {
		t.Run(shape.name, func(t *testing.T) {
			every(nil, shape.depth, func(words []string) {
				written := shape.before + strings.Join(words, " ") + shape.after
				all := events(written)
				if err := validate(all, Project(all, writer)); err != nil {
					require.NoError(t, err, "%s: %s", written, show(Project(all, writer)))
				}
			})
		})
	}
}

func TestTheValidatorSeesWhatIsWrong(t *testing.T) {
	text := func(s string) Block { return Block{Kind: BlockText, Text: s} }
	call := func(id string) Block {
		return Block{Kind: BlockToolCall, ID: id, Name: "tool", Arguments: []byte("{}")}
	}
	result := func(id string) Block { return Block{Kind: BlockResult, ID: id, Name: "tool", Text: "ok"} }
	user, assistant, tool := Message{Role: "user", Blocks: []Block{text("x")}}, Message{Role: "assistant"}, Message{Role: "tool"}
	with := func(m Message, blocks ...Block) Message { m.Blocks = blocks; return m }
	tests := map[string][]Message{
		"P5":  {with(assistant, text("x"))},
		"P2":  {user, with(assistant, text("x")), with(assistant, text("y")), user},
		"P3":  {user, with(assistant, call("a")), user},
		"P4":  {user, with(assistant, call("a"), call("b")), with(tool, result("b"), result("a"))},
		"P6":  {with(user, text(" "))},
		"P7":  {with(user, text("a\x00"))},
		"P8":  {user, with(assistant, Block{Kind: BlockToolCall, ID: "a", Name: "n", Arguments: []byte("[]")}), with(tool, result("a"))},
		"P9":  {with(user, text("r2."), text("r3."))},
		"P1":  {with(user, text("Q1."), text("Q1."))},
		"P10": {user, with(assistant, Block{Kind: BlockReasoning, Item: []byte("{}")}), user},
		"P11": {user, with(assistant, Block{Kind: BlockToolCall, ID: "a", Name: "a b", Arguments: []byte("{}")}), with(tool, result("a"))},
	}
	for rule, messages := range tests {
		err := validate(events("T Q r r"), messages)
		require.ErrorContains(t, err, rule+": ", rule)
	}
}
