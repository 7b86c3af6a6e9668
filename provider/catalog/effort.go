package catalog

import "slices"

// OwnEfforts are jp's own words for how much a model thinks, from the least. Users have them for all models.
var OwnEfforts = []string{"off", "low", "medium", "high", "max"}

// allEfforts are all words of the table, from the least.
var allEfforts = []string{"none", "minimal", "low", "medium", "high", "xhigh", "max"}

// effortOf is the provider's word for an effort. For one of jp's own words that is the lowest level of the
// model at or above it, else the highest. If the table lists no levels, usual decides. Any other word stays
// as it is.
func effortOf(word string, levels []string, usual func(string) string) string {
	if !slices.Contains(OwnEfforts, word) || slices.Contains(levels, word) {
		return word
	}
	ranks := make(map[int]string, len(levels))
	for _, level := range levels {
		if rank := slices.Index(allEfforts, level); rank >= 0 {
			ranks[rank] = level
		}
	}
	if len(ranks) == 0 {
		return usual(word)
	}
	best := ""
	for rank := range allEfforts {
		if level, has := ranks[rank]; has {
			best = level
			if rank >= slices.Index(allEfforts, word) {
				break
			}
		}
	}
	return best
}
