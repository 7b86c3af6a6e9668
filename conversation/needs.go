package conversation

import "slices"

// NeedWithheld is what a reader must know to send a conversation some of whose
// attachments are withheld.
const NeedWithheld = "withheld"

// NeedInstructions is what a reader must know to send a conversation in which the
// model was given files of instructions.
const NeedInstructions = "instructions"

// NeedCompaction is what a reader must know to send a conversation of which a part is
// sent in fewer words.
const NeedCompaction = "compaction"

// knownNeeds are the needs that this jp acts on.
var knownNeeds = map[string]bool{NeedWithheld: true, NeedInstructions: true, NeedCompaction: true}

// A needing body changes what is sent in a way that a reader must know.
type needing interface{ need() string }

// CarryNeeds adds to events that follow one with the given needs what they need
// themselves, and what the events before them do: an older jp looks at the newest
// event only, and never adds to a conversation that it would send otherwise. Journals
// call it before they store events.
func CarryNeeds(before []string, events []*Event) {
	for _, e := range events {
		needs := slices.Concat(before, e.Needs)
		if b, is := e.Body.(needing); is {
			needs = append(needs, b.need())
		}
		if len(needs) > 0 {
			slices.Sort(needs)
			e.Needs = slices.Compact(needs)
		}
		before = e.Needs
	}
}
