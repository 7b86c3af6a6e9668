package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"jp/conversation"
)

// pace is how long one step of a conversation takes, in which four events become
// durable: four pieces of a second each.
const pace = 4 * time.Second

// A modelScript has the replies of one conversation's model: steps in which a file is read, then a file
// that it wants to make, which has to be allowed, and a last word.
type modelScript struct {
	steps int
	path  string // of the file that is made
}

func newRecipe(index int, length time.Duration) modelScript {
	return modelScript{steps: max(1, int(length/pace)), path: fmt.Sprintf("made/%03d.txt", index)}
}

// The thought and the arguments are one piece each, the message two.
const step = `[[reply]]
reasoning = "Once more."
message = "I read the file again, all of it."
chunk_size = 24
chunk_delay = "1s"
[[reply.tool_call]]
name = "fs_read_file"
arguments = { path = "README.md" }
`

const ending = `[[reply]]
message = "Now I write."
[[reply.tool_call]]
name = "fs_create_file"
arguments = { path = %q, content = %q }
[[reply]]
message = "Done."
`

// script is the recipe as the script provider reads it.
func (r modelScript) script() string {
	return strings.Repeat(step, r.steps) + fmt.Sprintf(ending, r.path, r.content())
}

func (r modelScript) content() string { return r.path + "\n" }

// events are how many events of each type the whole turn has. Changes of the user's files meanwhile are not
// counted: see [miscounted].
func (r modelScript) events() map[conversation.Type]int {
	return map[conversation.Type]int{
		conversation.TypeTurnStart: 1, conversation.TypePrompt: 1, conversation.TypeChatRequest: 1,
		conversation.TypeChatResponse:    2*r.steps + 2,
		conversation.TypeToolCallRequest: r.steps + 1, conversation.TypeToolCallResponse: r.steps + 1,
		conversation.TypeInquiryRequest: 1, conversation.TypeInquiryResponse: 1,
		conversation.TypeToolStarted: 1, conversation.TypeTurnDone: 1,
	}
}

// miscounted names the types of which there are more or fewer than wanted. Other conversations change
// files, too, and a killed one is resumed: events that record these may be there any number of times.
func miscounted(got, want map[conversation.Type]int) (wrong []string) {
	any := []conversation.Type{conversation.TypeWorkspace, conversation.TypeResumed}
	all := maps.Clone(want)
	maps.Copy(all, got)
	for _, t := range slices.Sorted(maps.Keys(all)) {
		if got[t] != want[t] && !slices.Contains(any, t) {
			wrong = append(wrong, fmt.Sprintf("%d %s instead of %d", got[t], t, want[t]))
		}
	}
	return wrong
}
