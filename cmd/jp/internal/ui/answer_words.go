package ui

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"jp/agent/problem"
	"jp/agent/repo"
	"jp/conversation"
	"jp/internal/action"
	"jp/process/attach"
	"jp/tool"
)

// Words for answers that have one meaning each.
var (
	YesWords = []string{"y", "yes"}
	NoWords  = []string{"n", "no"}
)

// ReadAnswer reads a word as the answer to a question. The reason goes with a no.
func ReadAnswer(i attach.Inquiry, word, reason string) (attach.Answer, error) {
	value, err := answerValue(i, word)
	if err != nil {
		return attach.Answer{}, err
	}
	a := answerTo(i, value)
	a.Reason = reason
	yesOrNo := i.Kind != conversation.KindToolQuestion || i.AnswerType.Type == "boolean"
	switch no := slices.Contains([]string{`"skip"`, `"withhold"`, "false"}, string(value)); {
	case reason != "" && !yesOrNo:
		return a, problem.Usage("this question takes no reason.").Hint(action.AnswerWith(i.Conversation.Short(), word), "answers it")
	case reason != "" && !no:
		return a, problem.Usage("a reason goes with a no.")
	}
	return a, acceptable(i, a)
}

func answerTo(i attach.Inquiry, value json.RawMessage) attach.Answer {
	return attach.Answer{Conversation: i.Conversation, Seq: i.Seq, Outcome: conversation.OutcomeAnswered, Value: value}
}

func answerValue(i attach.Inquiry, word string) (json.RawMessage, error) {
	quoted, err := json.Marshal(word)
	if err != nil {
		return nil, err
	}
	switch {
	case i.Kind == conversation.KindRunTool:
		return meaning(i, word, map[string][]string{
			`"run"`: YesWords, `"skip"`: NoWords, `"run_turn"`: {"a", "all"}, `"run_network"`: {"network"},
		}, conversation.AnswerRun, conversation.AnswerSkip, conversation.AnswerRunTurn, conversation.AnswerRunNetwork)
	case i.Kind == conversation.KindDeliverResult:
		return meaning(i, word, map[string][]string{`"deliver"`: YesWords, `"withhold"`: NoWords}, conversation.AnswerDeliver, conversation.AnswerWithhold)
	case i.AnswerType.Type == "boolean":
		return meaning(i, word, map[string][]string{"true": {"y", "yes", "true"}, "false": {"n", "no", "false"}})
	case i.AnswerType.Type == "select":
		return optionValue(i, word, quoted)
	}
	return quoted, nil
}

// meaning is the value that a word stands for: one of those for it, or the value
// itself.
func meaning(i attach.Inquiry, word string, words map[string][]string, values ...string) (json.RawMessage, error) {
	word = strings.ToLower(strings.TrimSpace(word))
	if slices.Contains(values, word) {
		return json.RawMessage(strconv.Quote(word)), nil
	}
	for value, meant := range words {
		if slices.Contains(meant, word) {
			return json.RawMessage(value), nil
		}
	}
	return nil, noAnswer(i, word)
}

// optionValue is the option that a word names, by its value or its number. It refuses a word that is
// the value of one option and the number of another.
func optionValue(i attach.Inquiry, word string, quoted json.RawMessage) (json.RawMessage, error) {
	var numbered, valued json.RawMessage
	if n, err := strconv.Atoi(word); err == nil && n >= 1 && n <= len(i.AnswerType.Options) {
		numbered = i.AnswerType.Options[n-1].Value
	}
	for _, candidate := range []json.RawMessage{json.RawMessage(word), quoted} {
		if i.AnswerType.Accepts(candidate) == nil {
			valued = candidate
		}
	}
	switch {
	case numbered == nil && valued == nil:
		return nil, noAnswer(i, word)
	case numbered == nil:
		return valued, nil
	case valued == nil || string(valued) == string(numbered):
		return numbered, nil
	}
	f := problem.Usage("%q is the number of one option and the value of another one.", word).About(i.Conversation)
	for _, value := range []json.RawMessage{numbered, valued} {
		f.Hint(action.AnswerValue(i.Conversation.Short(), problem.Itoa(i.Seq), string(value)), "the option "+problem.OneLine(string(value)))
	}
	return nil, f
}

// noAnswer is the error for a word that is not among a question's answers.
func noAnswer(i attach.Inquiry, word string) error {
	return problem.Usage("invalid answer %.60q to %q (want %s).", word, tool.Asked(problem.OneLine(i.Text)), repo.AnswerWords(i)).About(i.Conversation)
}

// ReadJSONAnswer is an answer given as JSON: a value, or an object that says more
// of it.
func ReadJSONAnswer(i attach.Inquiry, text string) (attach.Answer, error) {
	if !json.Valid([]byte(text)) {
		return attach.Answer{}, problem.Usage("--value %.60q is not JSON.", text)
	}
	a := answerTo(i, json.RawMessage(text))
	if acceptable(i, a) == nil {
		return a, nil
	}
	var more struct {
		Answer    json.RawMessage `json:"answer"`
		Reason    string          `json:"reason"`
		Arguments json.RawMessage `json:"arguments"`
		Remember  bool            `json:"remember"`
	}
	if json.Unmarshal([]byte(text), &more) == nil && more.Answer != nil {
		a.Value, a.Reason, a.Arguments, a.Remember = more.Answer, more.Reason, more.Arguments, more.Remember
	}
	return a, acceptable(i, a)
}

// acceptable returns the reason if an answer does not fit a question.
func acceptable(i attach.Inquiry, a attach.Answer) error {
	request := conversation.InquiryRequest{Kind: i.Kind, Exclusive: i.Exclusive, Question: conversation.Question{AnswerType: i.AnswerType}}
	err := request.Accepts(&conversation.InquiryResponse{Outcome: a.Outcome, Answer: a.Value, Arguments: a.Arguments})
	if err != nil {
		return problem.Usage("%v.", err).About(i.Conversation)
	}
	return nil
}
