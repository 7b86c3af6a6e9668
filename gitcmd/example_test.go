package gitcmd_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"jp/gitcmd"
	"jp/internal/testing/gitenv"
)

// A folder is located once. Commands then run in that repository alone.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	opts := gitcmd.Options{Environ: append(gitenv.Env(filepath.Join(dir, "home")), "GIT_CEILING_DIRECTORIES="+dir)}

	top := filepath.Join(dir, "repository")
	if err := os.Mkdir(top, 0o755); err != nil {
		log.Fatal(err)
	}
	_, err = gitcmd.Locate(ctx, top, opts)
	fmt.Println(errors.Is(err, gitcmd.ErrNotRepository))

	if _, err := gitcmd.New(top, opts).Run(ctx, "init", "-q"); err != nil {
		log.Fatal(err)
	}
	repo, err := gitcmd.Locate(ctx, top, opts)
	if err != nil {
		log.Fatal(err)
	}
	branch, err := gitcmd.At(repo, opts).Run(ctx, "symbolic-ref", "--short", "HEAD")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(string(branch))
	// Output:
	// true
	// main
}
