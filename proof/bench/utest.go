package main

import (
	"cmp"
	"math"
	"slices"
)

// exactPairs bounds the sample sizes n·m whose distribution is counted out.
const exactPairs = 900

// utest is the two-sided p of the Mann-Whitney U test: how likely samples that
// differ so much in order would be if both came from one distribution. It is
// counted out where no two values are equal and the samples are small; else the
// normal distribution stands in, corrected for ties and for continuity. Of an
// empty sample it is 1.
func utest(a, b []float64) float64 {
	n, m := len(a), len(b)
	if n == 0 || m == 0 {
		return 1
	}
	rankSum, ties := ranked(a, b)
	u := rankSum - float64(n*(n+1))/2
	u = min(u, float64(n*m)-u)
	if ties == 0 && n*m <= exactPairs {
		return min(1, 2*shareUpTo(int(u), n, m))
	}
	total := float64(n + m)
	variance := float64(n*m) / 12 * (total + 1 - ties/(total*(total-1)))
	if variance <= 0 {
		return 1
	}
	z := max(0, float64(n*m)/2-u-0.5) / math.Sqrt(variance)
	return min(1, math.Erfc(z/math.Sqrt2))
}

// ranked is the sum of the ranks of a among all values, and the sum of t³-t of
// each group of t equal ones, whose members share their mean rank.
func ranked(a, b []float64) (rankSum, ties float64) {
	type value struct {
		v   float64
		ofA bool
	}
	var all []value
	for _, v := range a {
		all = append(all, value{v: v, ofA: true})
	}
	for _, v := range b {
		all = append(all, value{v: v})
	}
	slices.SortFunc(all, func(x, y value) int { return cmp.Compare(x.v, y.v) })
	for i := 0; i < len(all); {
		j := i
		for j < len(all) && all[j].v == all[i].v {
			j++
		}
		t := float64(j - i)
		ties += t*t*t - t
		for ; i < j; i++ {
			if all[i].ofA {
				rankSum += float64(j) - (t-1)/2
			}
		}
	}
	return rankSum, ties
}

// shareUpTo is the share of the orders of n and m values whose U is at most u.
// Orders are counted by their last value: with one of the n last, U is larger by
// the m before it.
func shareUpTo(u, n, m int) float64 {
	counts := make([][]float64, m+1) // of orders of i and j values, by U
	for j := range counts {
		counts[j] = []float64{1}
	}
	for i := 1; i <= n; i++ {
		next := [][]float64{{1}}
		for j := 1; j <= m; j++ {
			of := make([]float64, i*j+1)
			for k, c := range counts[j] {
				of[k+j] += c
			}
			for k, c := range next[j-1] {
				of[k] += c
			}
			next = append(next, of)
		}
		counts = next
	}
	var upTo, all float64
	for k, c := range counts[m] {
		if k <= u {
			upTo += c
		}
		all += c
	}
	return upTo / all
}
