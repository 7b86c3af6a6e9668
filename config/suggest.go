package config

import "strings"

// suggest gives the known key that path[known] was probably meant to be, or "".
func suggest(parent *node, path []string, known int) string {
	wrong := strings.ToLower(path[known])
	best, distance := "", len(wrong)/3+1
	for _, name := range parent.names() {
		if d := editDistance(wrong, name); d <= distance {
			best, distance = name, d-1
		}
	}
	if best != "" {
		return joinKey(append(path[:known:known], best))
	}
	var found []string
	for _, k := range Keys() {
		if strings.HasSuffix(k.Key, "."+wrong) {
			found = append(found, k.Key)
		}
	}
	if len(found) != 1 {
		return ""
	}
	return found[0]
}

// editDistance counts insertions, deletions, replacements and swaps of
// neighbours that turn a into b.
func editDistance(a, b string) int {
	if len(a) > 64 {
		return len(a)
	}
	var before, last []int
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		before, last, row = last, row, make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
	}
	return row[len(b)]
}
