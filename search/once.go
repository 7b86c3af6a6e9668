package search

import (
	"cmp"
	"iter"
	"slices"

	"jp/conversation"
)

// Once yields each line of an event that forks share only in the oldest of the results that have
// it, with the names of the others. Among conversations without a fork it yields results as they
// come, otherwise after the last one.
func Once(infos []conversation.Info, results iter.Seq[Result]) iter.Seq[Result] {
	if !slices.ContainsFunc(infos, func(i conversation.Info) bool { return i.Summary.Fork != nil }) {
		return results
	}
	return func(yield func(Result) bool) {
		all := slices.Collect(results)
		oldest := make([]int, len(all)) // indices of all
		for i := range oldest {
			oldest[i] = i
		}
		slices.SortStableFunc(oldest, func(a, b int) int { return cmp.Compare(all[a].Info.ID, all[b].Info.ID) })
		first := map[string]int{}      // of an event's commit, an index of all
		forks := map[string][]string{} // of an event's commit
		for _, i := range oldest {
			last := ""
			for _, l := range all[i].Lines {
				if l.Commit == "" || l.Commit == last {
					continue
				}
				last = l.Commit
				if _, seen := first[last]; seen {
					forks[last] = append(forks[last], all[i].Info.Name())
				} else {
					first[last] = i
				}
			}
		}
		for i, r := range all {
			r.Lines = slices.DeleteFunc(r.Lines, func(l Line) bool { return l.Commit != "" && first[l.Commit] != i })
			for j := range r.Lines {
				r.Lines[j].Forks = forks[r.Lines[j].Commit]
			}
			if (len(r.Lines) > 0 || r.Err != nil) && !yield(r) {
				return
			}
		}
	}
}
