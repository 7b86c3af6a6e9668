package main

import (
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/aclements/go-moremath/stats"
)

// significant is the p below which a difference counts as one.
const significant = 0.05

// noticeable is the least change of values that are measured once, because they do not vary: sizes.
const noticeable = 0.01

// A comparison sets the ratio of a row beside that of an earlier run. Times of two runs, or of two
// machines, are not comparable. Ratios to a rival that ran beside jp are.
type comparison struct {
	On      string  `json:"on"`
	Name    string  `json:"row"`
	Rival   string  `json:"rival_name"`
	Old     float64 `json:"old"` // medians of the ratios of all rounds
	New     float64 `json:"new"`
	P       float64 `json:"p"` // 1 if there are too few rounds
	Verdict string  `json:"verdict"`
}

// Verdicts of a comparison.
const (
	slower    = "slower"
	faster    = "faster"
	larger    = "larger"
	smaller   = "smaller"
	unchanged = "–"
)

// compared sets rows beside their saved values. It leaves out rows without any.
func compared(rows []row, saved map[string]pairs) []comparison {
	all := []comparison{}
	for _, r := range rows {
		before, after := saved[r.benchmark()].ratios(), r.rounds.ratios()
		if len(before) > 0 && len(after) > 0 {
			c := comparison{On: r.On, Name: r.Name, Rival: r.RivalName, Old: middle(before), New: middle(after), P: mannWhitney(before, after)}
			c.Verdict = c.judge(r.Unit, len(before) == 1 && len(after) == 1)
			all = append(all, c)
		}
	}
	return all
}

// change is the part by which the ratio is greater than before.
func (c comparison) change() float64 { return c.New/c.Old - 1 }

// judge says which way the ratio went, if any; once is for values that were measured only once.
func (c comparison) judge(unit string, once bool) string {
	differs := c.P < significant
	if once {
		differs = unit == octets && math.Abs(c.change()) > noticeable
	}
	switch {
	case !differs:
		return unchanged
	case unit == octets && c.New > c.Old:
		return larger
	case unit == octets:
		return smaller
	case c.New > c.Old:
		return slower
	}
	return faster
}

// renderComparison prints the changes in columns, and counts the rows that got worse.
func renderComparison(w io.Writer, all []comparison) error {
	fmt.Fprintln(w, "\nBeside the saved run: ratios, medians over the rounds")
	t := columns(w)
	fmt.Fprintln(t, "on\trow\trival\told\tnew\tchange\tp\tverdict")
	for _, c := range all {
		fmt.Fprintf(t, "%s\t%s\t%s\t%.2f×\t%.2f×\t%+.0f %%\t%.3f\t%s\n",
			c.On, clipped(c.Name, nameCells), clipped(c.Rival, rivalCells), c.Old, c.New, 100*c.change(), c.P, c.Verdict)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "slower: %d rows; larger: %d rows\n", count(all, slower), count(all, larger))
	return err
}

func count(all []comparison, verdict string) int {
	return len(slices.DeleteFunc(slices.Clone(all), func(c comparison) bool { return c.Verdict != verdict }))
}

// mannWhitney is the two-sided p of the Mann-Whitney U test: how likely samples that differ so
// much in order would be if both came from one distribution. It is 1 for an empty sample,
// and for values that are all equal.
func mannWhitney(a, b []float64) float64 {
	result, err := stats.MannWhitneyUTest(a, b, stats.LocationDiffers)
	if err != nil {
		return 1
	}
	return min(1, result.P)
}
