package conversation

import "slices"

// needWithheld names the knowledge that a reader needs to send a conversation some of whose
// attachments are withheld.
const needWithheld = "withheld"

// needInstructions names the knowledge that a reader needs to send a conversation with files of instructions.
const needInstructions = "instructions"

// needCompaction names the knowledge that a reader needs to send a conversation with a compaction.
const needCompaction = "compaction"

// knownNeeds are the needs that this jp acts on.
var knownNeeds = map[string]bool{needWithheld: true, needInstructions: true, needCompaction: true}

// A needing body changes the messages to the model in a way that a reader must know.
type needing interface{ need() string }

// CarryNeeds gives each event its own needs and those of all events before it. before are the needs of the
// event in front of them. An older jp looks at the newest event only, and never adds to a conversation that
// it would send otherwise. Journals call it before they store events.
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
