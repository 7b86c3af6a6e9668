package blame

import (
	"fmt"
	"testing"
)

// BenchmarkMatch looks up a file of 1,000 lines among 1,000 conversations of 50,000 events.
func BenchmarkMatch(b *testing.B) {
	parts := [][]byte{[]byte(indexMagic)}
	for c := range 1000 {
		r := &record{Conversation: fmt.Sprint(c), Paths: []string{"a.go"}}
		for e := range 50 {
			r.Sources = append(r.Sources, source{Commit: fmt.Sprintf("%040d", c*50+e), Seq: e, Author: "fs_modify_file", Tool: "fs_modify_file", Writer: byTool})
			h := hunk{}
			for l := range 20 {
				key, _ := keyOf(fmt.Sprintf("line %d of event %d of conversation %d", l, e, c))
				h.lines = append(h.lines, keyedLine{key, int32(len(r.written))})
				r.written = append(r.written, written{source: int32(e)})
			}
			r.hunks = append(r.hunks, h)
		}
		parts = append(parts, encodeRecord(r))
	}
	data := joinRecords(parts)
	var lines []currentLine
	for i := range 1000 {
		key, weight := keyOf(fmt.Sprintf("line %d of event %d of conversation %d", i%20, i/20, i%7))
		lines = append(lines, currentLine{key: key, weight: weight})
	}
	b.ReportMetric(float64(len(data))/1e6, "MB")
	for b.Loop() {
		if m := newMatcher(decodeIndex(data), lines, []string{"a.go"}).match(); m[0].source == nil {
			b.Fatal("the first line has no source")
		}
	}
}
