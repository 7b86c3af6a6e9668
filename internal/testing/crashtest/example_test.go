package crashtest_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"syscall"

	"jp/internal/testing/crashtest"
)

// A program is killed at each of its points, one after another, up to the last one. This prints the points at
// which a kill leaves a repository that git init does not finish when it runs again.
func ExampleRun() {
	for n, killed := 1, true; killed; n++ {
		dir, err := os.MkdirTemp("", "")
		if err != nil {
			panic(err)
		}
		result, err := crashtest.Run(context.Background(), exec.Command("git", "init", dir), crashtest.At(n))
		if err != nil {
			panic(err)
		}
		if out, err := exec.Command("git", "init", dir).CombinedOutput(); err != nil {
			fmt.Printf("after a kill at %v: %s", result.Killed, out)
		}
		killed = result.Killed != nil
		os.RemoveAll(dir)
	}
}

// The disk is full from a point on, for all processes of the program. This
// prints the points from which on git init claims success nevertheless.
func ExampleInject() {
	for n, failed := 1, true; failed; n++ {
		dir, err := os.MkdirTemp("", "")
		if err != nil {
			panic(err)
		}
		full := func(p crashtest.Point) (act crashtest.Act) {
			if p.N >= n {
				act.Errno = syscall.ENOSPC
			}
			return act
		}
		result, err := crashtest.Inject(context.Background(), exec.Command("git", "init", dir), full)
		if err != nil {
			panic(err)
		}
		failed = len(result.Faults) > 0
		if failed && result.Exit == 0 {
			fmt.Println("no error, and nothing was done from here on:", result.Faults[0])
		}
		os.RemoveAll(dir)
	}
}
