package main

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
)

// margin is how much an exponent may exceed the expected one: caches and the price of starting bend every
// curve a little. Processor time varies less.
const (
	margin          = 0.15
	processorMargin = 0.1
)

// Kinds of work that are measured at several sizes.
const (
	workAppend     = "append, events behind it"
	workForkLoose  = "fork, events of its source"
	workForkRun    = "jp fork, events of its source"
	workSlice      = "jp fork --until, events of its source"
	workLoadLoose  = "load, events, loose"
	workLoadPacked = "load, events, packed"
	workList       = "jp ls without caches, conversations"
	workWarmList   = "jp ls with caches, conversations"
	workFewListed  = "jp ls -n 5, conversations"
	workStatusOf   = "jp status, conversations"
	workGrep       = "jp grep, events, a rare word"
	workSnapshot   = "snapshot, files, nothing changed"
	workResume     = "resume, events"
	workPeakAppend = "memory, appended events"
)

// expected are the exponents: 0 is work independent of the size, 1 is work in proportion to it.
var expected = map[string]float64{
	workAppend: 0, workForkLoose: 0, workForkRun: 0, workSlice: 1, workLoadLoose: 1, workLoadPacked: 1, workList: 1, workWarmList: 1, workGrep: 1,
	workSnapshot: 1, workResume: 1, workPeakAppend: 0,
}

// A growth says how one kind of work grows with its size.
type growth struct {
	On       string  `json:"on"`
	Work     string  `json:"work"`
	Sizes    []int   `json:"sizes"`
	JP       float64 `json:"jp"`    // exponent
	Rival    float64 `json:"rival"` // exponent of the rival beside it
	Name     string  `json:"rival_name"`
	Expected float64 `json:"expected"`
	Margin   float64 `json:"margin"`
	Verdict  string  `json:"verdict"`
}

// growthOf fits an exponent to each kind of work that has two sizes or more, on
// each place. Of two rows of one size the first counts.
func growthOf(rows []row) []growth {
	type kind struct{ on, work string }
	var kinds []kind
	sizes := map[kind][]row{}
	for _, r := range rows {
		k := kind{r.On, r.Work}
		if r.Work == "" || r.Failed != "" || slices.ContainsFunc(sizes[k], func(o row) bool { return o.N == r.N }) {
			continue
		}
		if sizes[k] == nil {
			kinds = append(kinds, k)
		}
		sizes[k] = append(sizes[k], r)
	}
	var all []growth
	for _, k := range kinds {
		if len(sizes[k]) > 1 {
			all = append(all, fitted(sizes[k]))
		}
	}
	return all
}

// fitted is the growth of rows of one kind: of their fastest rounds, since sizes are measured one after
// another, and the machine's other work would bend the curve. Of processor time it is that of the medians,
// which vary less.
func fitted(rows []row) growth {
	slices.SortFunc(rows, func(a, b row) int { return cmp.Compare(a.N, b.N) })
	g := growth{On: rows[0].On, Work: rows[0].Work, Name: rows[0].RivalName, Expected: expected[rows[0].Work], Margin: margin, Verdict: "ok"}
	if g.Name == startOfJP {
		g.Margin = processorMargin
	}
	var n, jp, rival []float64
	for _, r := range rows {
		g.Sizes = append(g.Sizes, r.N)
		ours, theirs := slices.Min(r.rounds.jp), slices.Min(r.rounds.rival)
		if r.RivalName == startOfJP {
			ours, theirs = r.JP, r.Rival
		}
		n, jp, rival = append(n, float64(r.N)), append(jp, ours), append(rival, theirs)
	}
	g.JP, g.Rival = exponent(n, jp), exponent(n, rival)
	if g.JP > g.Expected+g.Margin {
		g.Verdict = fmt.Sprintf("missed by %.2f", g.JP-g.Expected)
	}
	return g
}

// exponent is k of v = c·nᵏ, by least squares of the logarithms. Values have to
// be positive; of fewer than two sizes it is 0.
func exponent(n, v []float64) float64 {
	var meanX, meanY, above, below float64
	for i := range n {
		meanX += math.Log(n[i]) / float64(len(n))
		meanY += math.Log(v[i]) / float64(len(n))
	}
	for i := range n {
		dx := math.Log(n[i]) - meanX
		above += dx * (math.Log(v[i]) - meanY)
		below += dx * dx
	}
	if below == 0 {
		return 0
	}
	return above / below
}

// renderGrowth prints the exponents in columns.
func renderGrowth(w io.Writer, all []growth) error {
	fmt.Fprintln(w, "\nGrowth with n: time or memory ~ n^k")
	t := columns(w)
	fmt.Fprintln(t, "on\twork, n\tsizes\tk of jp\tk of the rival\texpected\tverdict")
	for _, g := range all {
		sizes := grouped(g.Sizes[0]) + " … " + grouped(g.Sizes[len(g.Sizes)-1])
		fmt.Fprintf(t, "%s\t%s\t%s\t%.2f\t%.2f %s\t≤ %.2f\t%s\n", g.On, g.Work, sizes, g.JP, g.Rival, clipped(g.Name, rivalCells), g.Expected+g.Margin, g.Verdict)
	}
	return t.Flush()
}
