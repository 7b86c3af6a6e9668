package process

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestStartIn(t *testing.T) {
	const rest = " S 1 42 42 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 8150 9 10"
	for stat, want := range map[string]string{
		"42 (jp)" + rest:                 "8150",
		"42 (a) b) S 1 2 (" + ")" + rest: "8150", // the name is the program's choice
		"42 (jp) S 1 42":                 "",
		"42":                             "",
		"":                               "",
	} {
		require.Equal(t, want, startIn(stat), stat)
	}
}

func TestLocksIn(t *testing.T) {
	const before = "pos:\t0\nflags:\t0100002\nmnt_id:\t27\nino:\t77\n"
	for fdinfo, want := range map[string]bool{
		before + "lock:\t1: FLOCK  ADVISORY  WRITE 42 00:2c:123 0 EOF\n":                                                 true,
		before + "lock:\t1: POSIX  ADVISORY  WRITE 42 00:2c:123 0 EOF\nlock:\t2: FLOCK  ADVISORY  WRITE 0 00:2c:1 0 EOF": true,
		before + "lock:\t1: FLOCK  ADVISORY  READ 42 00:2c:123 0 EOF\n":                                                  false,
		before + "lock:\t1: POSIX  ADVISORY  WRITE 42 00:2c:123 0 EOF\n":                                                 false,
		before:  false,
		"lock:": false,
		"":      false,
	} {
		require.Equal(t, want, locksIn(fdinfo), fdinfo)
	}
}
