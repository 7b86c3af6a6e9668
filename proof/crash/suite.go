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
	run     string // which tests: what go test -run takes
	timeout time.Duration
}

// suites are all crash tests. A new one needs a line here.
var suites = []suite{
	{"a", "./gitstore/odb", "^TestEveryOperationMay(Fail|BeTheLast)$", 30 * time.Minute},
	{"a", "./gitstore", "^Test(EveryOperationFails|CrashAtEveryOperation|MovesFail)$", 30 * time.Minute},
	{"a", "./gitstore/sidecar", "^TestLogDamage$", 5 * time.Minute},
	{"a", "./redact", "^TestDamagedVaultKnowsLess$", 5 * time.Minute},
	{"a", "./internal/safefile", "^TestReplacing(Fails|Crashes)$", 5 * time.Minute},
	{"a", "./cmd/jp", "^TestFaultsOfCommands$", 30 * time.Minute},
	{"b", "./cmd/jp", "^Test(Kill|KillAtEachPoint|KillTwice|KillsOfCommands)$", 60 * time.Minute},
	{"m", "./conversation/journaltest", "^TestMemoryMachine$", 10 * time.Minute},
	{"m", "./gitstore/odb", "^TestInterleavings$", 30 * time.Minute},
	{"m", "./gitstore", "^TestJournalMachine$", 20 * time.Minute},
	{"c", "./proof/powercut", "^Test(PowerCut|PowerCutOfFiles|Shutdown)$", 15 * time.Minute},
	{"d", "./gitstore/odb", "^(TestBesideGitMaintenance|TestProcessesLoseNothing)$", 20 * time.Minute},
	{"d", "./gitstore", "^(TestRacingStores|TestProcessesBesideGitMaintenance)$", 20 * time.Minute},
	{"e", "./cmd/jp", "^TestLimit", 30 * time.Minute},
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
