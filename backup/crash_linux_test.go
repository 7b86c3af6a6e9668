package backup_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/backup"
	"jp/gitcmd"
	"jp/internal/testing/crashtest"
)

const (
	victimTop = "JP_TEST_BACKUP_TOP"
	victimDir = "JP_TEST_BACKUP_DIR"
)

// Turns of the program that is killed: the bounds drop the first one when the third is made, and another pack
// gets the objects of its pack that the others need.
const victimTurns = 3

func TestMain(m *testing.M) {
	if top := os.Getenv(victimTop); top != "" {
		os.Exit(victim(backup.Options{Dir: os.Getenv(victimDir), Top: top, Format: gitcmd.SHA1, File: 100, First: 1000, Step: 1000, Total: 1 << 20, Days: 30}))
	}
	os.Exit(m.Run())
}

func victimFile(turn int) string { return fmt.Sprint("turn", turn) }

func victimRequest(o backup.Options, turn int) (backup.Options, backup.Request) {
	now := time.Now().Add(time.Duration(turn-victimTurns) * 20 * 24 * time.Hour)
	o.Now = func() time.Time { return now }
	return o, backup.Request{Conversation: "c", Turn: turn, Call: turn, At: time.Now().Add(time.Minute).UnixNano(), Paths: []string{"kept", victimFile(turn)}}
}

// victim makes the moments of the turns, and prints each when it is durable.
func victim(o backup.Options) int {
	for turn := 1; turn <= victimTurns; turn++ {
		o, r := victimRequest(o, turn)
		if _, err := backup.New(o).Make(context.Background(), r); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		fmt.Println("made", turn)
	}
	return 0
}

// requireMoments demands that each moment of the log has all its content, that the log has every moment that
// the program reported, except those that the bounds drop, and that a further one can be made.
func requireMoments(t *testing.T, o backup.Options, said string) {
	t.Helper()
	has := func() map[int]bool {
		s, turns := backup.New(o), map[int]bool{}
		records, err := s.Records()
		require.NoError(t, err)
		for _, rec := range records {
			turns[rec.Turn] = true
			m, err := s.MomentOf(rec)
			require.NoError(t, err)
			require.Len(t, m.Entries, 2)
			for _, e := range m.Entries {
				text, err := s.Blob(e.OID)
				require.NoError(t, err, e.Path)
				require.Equal(t, "content of "+e.Path, string(text))
			}
		}
		return turns
	}
	turns := has()
	if newest := strings.Count(said, "made"); newest > 0 {
		require.True(t, turns[newest])
	}
	again, r := victimRequest(o, victimTurns)
	_, err := backup.New(again).Make(context.Background(), r)
	require.NoError(t, err)
	require.True(t, has()[victimTurns])
}

// TestCrash kills the process at each call that changes files, or lets the disk be full from there on, or fail once. After
// that each moment of the log is whole.
func TestCrash(t *testing.T) {
	for name, act := range map[string]func(n int) func(crashtest.Point) crashtest.Act{
		"kill": func(n int) func(crashtest.Point) crashtest.Act {
			return func(p crashtest.Point) crashtest.Act { return crashtest.Act{Kill: p.N == n && !p.Returned} }
		},
		"full": func(n int) func(crashtest.Point) crashtest.Act {
			return func(p crashtest.Point) (a crashtest.Act) {
				if p.N >= n && p.Syscall != "unlinkat" && p.Syscall != "unlink" {
					a.Errno = syscall.ENOSPC
				}
				return a
			}
		},
		"short": func(n int) func(crashtest.Point) crashtest.Act {
			return func(p crashtest.Point) (a crashtest.Act) {
				if p.N == n {
					a.Short = true
				} else if p.N > n {
					a.Errno = syscall.ENOSPC
				}
				return a
			}
		},
		"broken": func(n int) func(crashtest.Point) crashtest.Act {
			return func(p crashtest.Point) (a crashtest.Act) {
				if p.N == n {
					a.Errno = syscall.EIO
				}
				return a
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			points := 0
			for n, ended := 1, false; !ended; n++ {
				o := options(t)
				write(t, o, "kept", "content of kept")
				past := time.Now().Add(-time.Minute)
				require.NoError(t, os.Chtimes(o.Top+"/kept", past, past))
				for turn := 1; turn <= victimTurns; turn++ {
					write(t, o, victimFile(turn), "content of "+victimFile(turn))
				}
				said := new(strings.Builder)
				cmd := exec.Command(os.Args[0])
				cmd.Env, cmd.Stdout = append(os.Environ(), victimTop+"="+o.Top, victimDir+"="+o.Dir), said
				result, err := crashtest.Inject(context.Background(), cmd, act(n))
				if errors.Is(err, crashtest.ErrUnsupported) {
					t.Skip(err)
				}
				require.NoError(t, err)
				points = len(result.Points)
				ended = n > points
				requireMoments(t, o, said.String())
			}
			t.Logf("%d points", points)
			require.Greater(t, points, 50)
		})
	}
}
