package conversation

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestInquiryAccepts(t *testing.T) {
	choice := func(words ...string) AnswerType {
		a := AnswerType{Type: "select"}
		for _, w := range words {
			text, _ := json.Marshal(w)
			a.Options = append(a.Options, Option{Value: text})
		}
		return a
	}
	run, deliver := choice("skip", "run", "run_turn", "edit"), choice("deliver", "withhold", "edit")
	other := AnswerType{Type: "select", Options: []Option{{Value: json.RawMessage(`{"b":1, "a":2}`)}, {Value: json.RawMessage(`3`)}}}
	tests := map[string]struct {
		kind      InquiryKind
		takes     AnswerType
		exclusive bool
		outcome   Outcome
		answer    string
		arguments string
		why       string // "" if it is an answer
	}{
		"run":                     {KindRunTool, run, false, OutcomeAnswered, `"run"`, "", ""},
		"run, exclusive":          {KindRunTool, run, true, OutcomeAnswered, `"run"`, "", ""},
		"run for the turn":        {KindRunTool, run, false, OutcomeAnswered, `"run_turn"`, "", ""},
		"for the turn, exclusive": {KindRunTool, run, true, OutcomeAnswered, `"run_turn"`, "", "asked each time"},
		"edit":                    {KindRunTool, run, false, OutcomeAnswered, `"edit"`, `{"path":"b"}`, ""},
		"edit without arguments":  {KindRunTool, run, false, OutcomeAnswered, `"edit"`, "", "not a JSON object"},
		"edit to null":            {KindRunTool, run, false, OutcomeAnswered, `"edit"`, "null", "not a JSON object"},
		"run with arguments":      {KindRunTool, run, false, OutcomeAnswered, `"run"`, `{"path":"b"}`, "only the answer \"edit\""},
		"a yes with arguments":    {KindToolQuestion, AnswerType{Type: "boolean"}, false, OutcomeAnswered, `true`, `{}`, "only the answer"},
		"edited twice over":       {KindRunTool, run, false, OutcomeAnswered, `"edit"`, `{"a":1,"a":2}`, "edited arguments"},
		"edited to too much":      {KindRunTool, run, false, OutcomeAnswered, `"edit"`, `{"path":"` + strings.Repeat("b", MaxEdited) + `"}`, "and 49152 is the most"},
		"to a hook":               {KindHook, choice("pass", "skip"), false, OutcomeAnswered, `"pass"`, "", "only a hook"},
		"a word of another kind":  {KindRunTool, run, false, OutcomeAnswered, `"deliver"`, "", `invalid answer "deliver"`},
		"a capital":               {KindRunTool, run, false, OutcomeAnswered, `"Run"`, "", "invalid answer"},
		"nothing":                 {KindRunTool, run, false, OutcomeAnswered, "", "", "an answer is JSON"},
		"no JSON":                 {KindRunTool, run, false, OutcomeAnswered, `run`, "", "an answer is JSON"},
		"true for run":            {KindRunTool, run, false, OutcomeAnswered, `true`, "", "invalid answer"},
		"a run is not declined":   {KindRunTool, run, false, OutcomeDeclined, "", "", "answer no"},
		"nor cancelled":           {KindRunTool, run, false, OutcomeCancelled, "", "", "neither"},
		"deliver":                 {KindDeliverResult, deliver, true, OutcomeAnswered, `"deliver"`, "", ""},
		"another result":          {KindDeliverResult, deliver, false, OutcomeAnswered, `"edit"`, `"ok"`, ""},
		"a result that is a list": {KindDeliverResult, deliver, false, OutcomeAnswered, `"edit"`, `["ok"]`, "not a JSON string"},
		"yes":                     {KindToolQuestion, AnswerType{Type: "boolean"}, false, OutcomeAnswered, `true`, "", ""},
		"yes as a word":           {KindToolQuestion, AnswerType{Type: "boolean"}, false, OutcomeAnswered, `"true"`, "", "invalid answer"},
		"null for a boolean":      {KindToolQuestion, AnswerType{Type: "boolean"}, false, OutcomeAnswered, `null`, "", "invalid answer"},
		"text":                    {KindToolQuestion, AnswerType{Type: "text"}, false, OutcomeAnswered, `"so"`, "", ""},
		"a number for a text":     {KindToolQuestion, AnswerType{Type: "text"}, false, OutcomeAnswered, `1`, "", "invalid answer"},
		"an option, respelled":    {KindToolQuestion, other, false, OutcomeAnswered, `{"a":2,"b":1}`, "", ""},
		"a number that is one":    {KindToolQuestion, other, false, OutcomeAnswered, ` 3 `, "", ""},
		"a question is declined":  {KindToolQuestion, other, true, OutcomeDeclined, "", "", ""},
	}
	for name, c := range tests {
		t.Run(name, func(t *testing.T) {
			b := &InquiryRequest{Kind: c.kind, Exclusive: c.exclusive, Question: Question{AnswerType: c.takes}}
			err := b.Accepts(&InquiryResponse{Outcome: c.outcome, Answer: raw(c.answer), Arguments: raw(c.arguments)})
			if c.why == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, c.why)
		})
	}
}
