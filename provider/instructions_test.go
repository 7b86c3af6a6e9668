package provider

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
)

// TestInstructedIsWhatIsSent compares the instructions that count as given with those in the request, over
// short histories. jp would never repeat instructions that count without being sent, and would give those
// twice that are sent without counting.
func TestInstructedIsWhatIsSent(t *testing.T) {
	words := []string{"M.", "M!", "C1+", "D1", "D1 j1", "Qi", "S", "X", "V J Q", "T Q"} // groups are one move of the ref
	sent := func(all []*conversation.Event) (instructed, environment string) {
		var texts []string
		for _, m := range Project(all, writer) {
			for _, b := range m.Blocks {
				for _, word := range strings.Fields(b.Text) {
					switch word[0] {
					case 'J', 'j':
						texts = append(texts, word)
					case 'V':
						environment = word
					}
				}
			}
		}
		return strings.Join(texts, " "), environment
	}
	histories := 0
	var visit func(history []string, depth int)
	visit = func(history []string, depth int) {
		all := events(strings.Join(history, " "))
		if problems := conversation.Audit(all); len(problems) > 0 {
			return // jp never writes such a history
		}
		histories++
		var counted []string
		for _, e := range conversation.Instructed(all) {
			counted = append(counted, fmt.Sprintf("%c%d.", strings.Fields(strings.Join(history, " "))[e.Seq][0], e.Seq))
		}
		instructed, environment := sent(all)
		require.Equal(t, strings.Join(counted, " "), instructed, "%v", history)
		require.Equal(t, conversation.ToldEnvironment(all), environment, "%v", history)
		for _, word := range words {
			last := history[len(history)-1]
			answered := last == "M." || last == "M!" || last == "C1+"
			if answers := word[0] == 'M' || word[0] == 'C'; depth > 0 && !(answered && answers) { // the model is left out
				visit(append(history[:len(history):len(history)], word), depth-1)
			}
		}
	}
	visit([]string{"V J Q"}, 5)
	require.Greater(t, histories, 1000)
}
