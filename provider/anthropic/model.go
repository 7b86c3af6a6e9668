package anthropic

import "strings"

// An Effort is how much a model thinks before it answers.
type Effort string

// The efforts. A model that does not know one takes the nearest that it knows.
const (
	EffortAuto   Effort = "" // what suits the model
	EffortOff    Effort = "off"
	EffortLow    Effort = "low"
	EffortMedium Effort = "medium"
	EffortHigh   Effort = "high"
	EffortXHigh  Effort = "xhigh"
	EffortMax    Effort = "max"
)

// rank orders the efforts of a model that thinks.
func (e Effort) rank() int {
	switch e {
	case EffortLow:
		return 1
	case EffortMedium:
		return 2
	case EffortHigh:
		return 3
	case EffortXHigh:
		return 4
	case EffortMax:
		return 5
	}
	return 0
}

// upTo is the effort, or the greatest that is allowed.
func (e Effort) upTo(greatest Effort) Effort {
	if e.rank() > greatest.rank() {
		return greatest
	}
	return e
}

// budget is how many tokens a model may think that wants a number.
func (e Effort) budget() int64 {
	switch e {
	case EffortLow:
		return 2048
	case EffortHigh:
		return 16384
	case EffortXHigh:
		return 24576
	case EffortMax:
		return 32768
	}
	return 8192
}

// thinkingKind is which form of the thinking parameter a model takes.
type thinkingKind int

const (
	thinkingNone     thinkingKind = iota // takes none
	thinkingManual                       // a budget of tokens
	thinkingAdaptive                     // the model decides
)

// offKind is how a model that thinks is kept from it.
type offKind int

const (
	offOmit    offKind = iota // it only thinks when it is told to
	offDisable                // it has to be told
	offNever                  // it always thinks
)

// A model is what one family of models can do.
type model struct {
	prefix   string
	thinking thinkingKind
	off      offKind
	hidden   bool   // leaves the text of its thinking out unless asked for it
	effort   Effort // the greatest it takes; EffortAuto: the parameter is unknown to it
	output   int64  // most tokens of one answer; 0: unknown
	sampling bool   // takes a temperature
}

// models are the known families. The longest prefix that fits a name counts.
var models = [...]model{
	{prefix: "claude-3", output: 4096, sampling: true},
	{prefix: "claude-3-5", output: 8192, sampling: true},
	{prefix: "claude-3-7", thinking: thinkingManual, output: 64000, sampling: true},
	{prefix: "claude-opus-4", thinking: thinkingManual, output: 32000, sampling: true},
	{prefix: "claude-sonnet-4", thinking: thinkingManual, output: 64000, sampling: true},
	{prefix: "claude-haiku-4", thinking: thinkingManual, output: 64000, sampling: true},
	{prefix: "claude-opus-4-5", thinking: thinkingManual, output: 64000, sampling: true},
	{prefix: "claude-opus-4-6", thinking: thinkingAdaptive, effort: EffortMax, output: 128000, sampling: true},
	{prefix: "claude-sonnet-4-6", thinking: thinkingAdaptive, effort: EffortHigh, output: 64000, sampling: true},
	{prefix: "claude-opus-4-7", thinking: thinkingAdaptive, hidden: true, effort: EffortMax, output: 128000},
	{prefix: "claude-opus-4-8", thinking: thinkingAdaptive, hidden: true, effort: EffortMax, output: 128000},
	{prefix: "claude-opus-5", thinking: thinkingAdaptive, off: offDisable, hidden: true, effort: EffortMax, output: 128000},
	{prefix: "claude-sonnet-5", thinking: thinkingAdaptive, off: offDisable, hidden: true, effort: EffortMax, output: 128000},
	{prefix: "claude-opus-5-5", thinking: thinkingAdaptive, off: offNever, hidden: true, effort: EffortMax, output: 128000},
	{prefix: "claude-sonnet-5-5", thinking: thinkingAdaptive, off: offNever, hidden: true, effort: EffortMax, output: 128000},
	{prefix: "claude-", thinking: thinkingAdaptive, off: offNever, hidden: true, effort: EffortMax, output: 64000},
}

// modelOf is what the model of that name can do. Gateways put words of their
// own before the name, and dots into the version. An unknown Claude is taken
// for a new one, and a model that is no Claude is asked for nothing special.
func modelOf(name string) model {
	name = strings.ReplaceAll(name, ".", "-")
	if at := strings.Index(name, "claude-"); at > 0 {
		name = name[at:]
	}
	best := model{sampling: true}
	for _, m := range models {
		if strings.HasPrefix(name, m.prefix) && len(m.prefix) > len(best.prefix) {
			best = m
		}
	}
	return best
}

// Most tokens of an answer, by default.
const (
	usualOutput   = 32000
	unknownOutput = 8192
)

// maxTokens is how long an answer may be, if want asks for so much.
func (m model) maxTokens(want int64) int64 {
	switch {
	case want > 0 && m.output > 0:
		return min(want, m.output)
	case want > 0:
		return want
	case m.output > 0:
		return min(usualOutput, m.output)
	}
	return unknownOutput
}
