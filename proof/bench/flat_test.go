package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFlatCommandsNameTheirEvents(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range flatCommands {
		args := c.in("jp-c1", 1_000)
		require.NotContains(t, args, "ID", c.name)
		require.False(t, seen[c.name], c.name)
		require.Zero(t, expected[c.work()], "no growth")
		seen[c.name] = true
	}
	require.Equal(t, []string{"diff", "jp-c1@498..@500"}, flatCommands[len(flatCommands)-1].in("jp-c1", 1_000))
	require.Equal(t, []string{"log", "-n", "5", "jp-c1"}, flatCommands[1].in("jp-c1", 1_000))
}

func TestAFlatCommandThatGrowsIsAMiss(t *testing.T) {
	at := func(n int, took float64) row {
		r := row{On: "here", RivalName: startOfJP, JP: took, Rival: 1, rounds: pairs{jp: []float64{took}, rival: []float64{1}}}
		return r.grows(flatCommands[0].work(), n)
	}
	all := growthOf([]row{at(1_000, 1), at(10_000, 1.2)})
	require.Equal(t, "ok", all[0].Verdict)
	all = growthOf([]row{at(1_000, 1), at(10_000, 1.32)})
	require.Equal(t, "missed by 0.12", all[0].Verdict)
}
