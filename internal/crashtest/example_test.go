package crashtest_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"

	"jp/internal/crashtest"
)

// A program is killed at each of its points, one after another, until it has no
// further one. This prints the points at which a kill leaves a repository that
// git init does not finish when it runs again.
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
