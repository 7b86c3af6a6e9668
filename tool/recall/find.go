package recall

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"jp/conversation"
)

// find finds the conversation that a word names: by its id, by the end of the id
// or of its digits, or as REMOTE/ID.
func (a *archive) find(ctx context.Context, word string) (conversation.Info, error) {
	infos, err := a.known(ctx, word)
	if err != nil {
		return conversation.Info{}, err
	}
	var found []conversation.Info
	for _, i := range infos {
		if i.Name() == word {
			return i, nil
		}
		if i.EndsIn(word) {
			found = append(found, i)
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return conversation.Info{}, fmt.Errorf("%w: %q can be %s", errAmbiguous, clip(word, 0, 60), names(found))
	case len(infos) == 0:
		return conversation.Info{}, errNone
	}
	return conversation.Info{}, fmt.Errorf("%w as %q; %s", errUnknown, clip(word, 0, 60), near(infos, word))
}

// known are the conversations that a word can name.
func (a *archive) known(ctx context.Context, word string) ([]conversation.Info, error) {
	if strings.Contains(word, "/") {
		return a.List(ctx, conversation.ScopeRemotes)
	}
	live, err := a.List(ctx, conversation.ScopeLive)
	if err != nil {
		return nil, err
	}
	archived, err := a.List(ctx, conversation.ScopeArchived)
	return append(live, archived...), err
}

// shown is how many conversations an error names.
const shown = 5

// names lists ids, the newest conversation first.
func names(infos []conversation.Info) string {
	slices.SortFunc(infos, func(a, b conversation.Info) int { return cmp.Compare(b.ID, a.ID) })
	var list []string
	for _, i := range infos[:min(len(infos), shown)] {
		list = append(list, i.Name())
	}
	if more := len(infos) - shown; more > 0 {
		list = append(list, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(list, ", ")
}

// near names the conversations that the word may have meant: those whose title has the word in it, else those
// whose ids differ from it in a few characters. It leaves out their titles, since an error must be free of
// other people's words.
func near(infos []conversation.Info, word string) string {
	var titled, alike []conversation.Info
	for _, i := range infos {
		if word != "" && strings.Contains(strings.ToLower(i.Summary.Title), strings.ToLower(word)) {
			titled = append(titled, i)
		}
		if i.Resembles(word) {
			alike = append(alike, i)
		}
	}
	switch {
	case len(titled) > 0:
		return "a title has it: " + names(titled)
	case len(alike) > 0:
		return "near it are " + names(alike)
	}
	return "conversation_list lists them"
}
