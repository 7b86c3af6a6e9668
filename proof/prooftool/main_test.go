package prooftool_test

import (
	"context"
	"errors"
	"flag"
	"io"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/proof/prooftool"
)

// caseVariable makes the test binary a program that ends in some way.
const caseVariable = "PROOF_CASE"

var cases = map[string]struct {
	run    prooftool.Run
	exit   int
	stderr string
}{
	"well": {func(context.Context, []string, io.Writer, io.Writer) error { return nil }, 0, ""},
	"help": {func(context.Context, []string, io.Writer, io.Writer) error { return flag.ErrHelp }, 0, ""},
	"lost": {func(context.Context, []string, io.Writer, io.Writer) error { return errors.New("an event is lost") }, 1, "trial: an event is lost\n"},
	"hang-up": {func(ctx context.Context, _ []string, _, _ io.Writer) error {
		if err := syscall.Kill(os.Getpid(), syscall.SIGHUP); err != nil {
			return err
		}
		<-ctx.Done()
		return errors.New("all is taken away")
	}, 1, "trial: all is taken away\n"},
}

func TestMain(m *testing.M) {
	if c, ok := cases[os.Getenv(caseVariable)]; ok {
		prooftool.Main("trial", c.run)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestEnds(t *testing.T) {
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), caseVariable+"="+name)
			var exit *exec.ExitError
			_, err := cmd.Output()
			if c.exit == 0 {
				require.NoError(t, err)
				return
			}
			require.ErrorAs(t, err, &exit)
			require.Equal(t, c.exit, exit.ExitCode())
			require.Equal(t, c.stderr, string(exit.Stderr))
		})
	}
}
