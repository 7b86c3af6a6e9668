package main

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// A suite is tests of one package that all try one class of faults. Each of them
// must log a row, or be skipped; controls and the like belong under other names.
type suite struct {
	class   string
	pkg     string
	run     string // the argument of go test -run
	timeout time.Duration
	formats formats // of the repositories that the tests make
}

// makeRepositories are the packages whose tests make repositories in the formats that they are told.
var makeRepositories = []string{"./gitstore/odb", "./gitstore", "./cmd/jp"}

// suites are all crash tests. A new one needs a line here.
var suites = []suite{
	{class: "a", pkg: "./gitstore/odb", run: "^TestEveryOperationMay(Fail|BeTheLast)$", timeout: 30 * time.Minute},
	{class: "a", pkg: "./gitstore", run: "^Test(EveryOperationFails|CrashAtEveryOperation|MovesFail|CommitLogDamage)$", timeout: 30 * time.Minute},
	{class: "a", pkg: "./redact", run: "^TestDamagedVaultKnowsLess$", timeout: 5 * time.Minute},
	{class: "a", pkg: "./internal/safefile", run: "^TestReplacing(Fails|Crashes)$", timeout: 5 * time.Minute},
	{class: "a", pkg: "./cmd/jp", run: "^TestFaultsOfCommands$", timeout: 30 * time.Minute},
	{class: "b", pkg: "./cmd/jp", run: "^Test(Kill|KillAtEachPoint|KillTwice|KillsOfCommands|KillsOfCompactions)$", timeout: 60 * time.Minute},
	{class: "m", pkg: "./internal/testing/journaltest", run: "^TestMemoryMachine$", timeout: 10 * time.Minute},
	{class: "m", pkg: "./gitstore/odb", run: "^TestInterleavings$", timeout: 30 * time.Minute},
	{class: "m", pkg: "./gitstore", run: "^TestJournalMachine$", timeout: 20 * time.Minute},
	{class: "c", pkg: "./proof/powercut", run: "^Test(PowerCut|PowerCutOfFiles|Shutdown)$", timeout: 15 * time.Minute},
	{class: "d", pkg: "./gitstore/odb", run: "^(TestBesideGitMaintenance|TestProcessesLoseNothing)$", timeout: 20 * time.Minute},
	{class: "d", pkg: "./gitstore", run: "^(TestRacingStores|TestProcessesBesideGitMaintenance)$", timeout: 20 * time.Minute},
	{class: "e", pkg: "./cmd/jp", run: "^TestLimit", timeout: 30 * time.Minute},
}

// A class is a kind of fault.
type class struct {
	letter, what string
	// least is how many points a full run must reach; 0 for any number.
	least int
}

var classes = []class{
	{"a", "failing calls and crashes", 2000},
	{"b", "kills of the program", 500},
	{"c", "power cuts", 200},
	{"d", "other processes at work", 0},
	{"e", "full, read-only, foreign and limited places", 0},
	{"m", "models of the store", 0},
}

// chosen are the suites of some classes, given with commas between them; all of
// them for "".
func chosen(all []suite, only string) ([]suite, error) {
	if only == "" {
		return all, nil
	}
	letters := strings.Split(only, ",")
	for i, l := range letters {
		l = strings.TrimSpace(l)
		letters[i] = l
		if !slices.ContainsFunc(classes, func(c class) bool { return c.letter == l }) {
			return nil, fmt.Errorf("%w: invalid class %q (want one of a, b, c, d, e, m)", errNothing, l)
		}
	}
	return slices.DeleteFunc(slices.Clone(all), func(s suite) bool { return !slices.Contains(letters, s.class) }), nil
}
