package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"

	"jp/conversation"
	"jp/gitcmd"
	"jp/gitstore"
	"jp/gitstore/odb"
	"jp/internal/testing/gitenv"
)

// isolate replaces the environment of the process with one without the host's settings.
func isolate(home string) error {
	if err := os.MkdirAll(home, 0o700); err != nil {
		return err
	}
	environ := gitenv.Env(home)
	os.Clearenv()
	for _, pair := range environ {
		name, value, _ := strings.Cut(pair, "=")
		if err := os.Setenv(name, value); err != nil {
			return err
		}
	}
	return nil
}

// git runs git in a folder and returns its output, without the last newline.
func git(ctx context.Context, dir string, args ...string) (string, error) {
	var out bytes.Buffer
	err := gitTo(ctx, dir, &out, nil, args...)
	return strings.TrimSuffix(out.String(), "\n"), err
}

// gitTo runs git with streams; a nil out is the null device, which is the
// cheapest that git can write to.
func gitTo(ctx context.Context, dir string, out io.Writer, in io.Reader, args ...string) error {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir, cmd.Stdin, cmd.Stdout = dir, in, out
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("git %s: %w: %s", args[0], err, bytes.TrimSpace(stderr.Bytes()))
	}
	return nil
}

// newRepo makes an empty repository in a new folder.
func (b *bench) newRepo(ctx context.Context, parent string) (gitcmd.Repository, error) {
	dir, err := b.newDir(parent)
	if err != nil {
		return gitcmd.Repository{}, err
	}
	return initRepo(ctx, dir)
}

// usedRepo is a repository that already has objects, so that its folders of
// objects exist: to make them is dear, and happens 256 times in its life.
func (b *bench) usedRepo(ctx context.Context, parent string) (gitcmd.Repository, error) {
	repo, err := b.newRepo(ctx, parent)
	if err != nil {
		return repo, err
	}
	return repo, b.use(ctx, repo)
}

func (b *bench) use(ctx context.Context, repo gitcmd.Repository) error {
	store, err := openStore(repo, odb.Off)
	if err != nil {
		return err
	}
	defer store.Close()
	if _, err := store.Create(ctx, conversationID(0), "", newMix(b.corpus, 0.5).take(b.used)); err != nil {
		return err
	}
	return b.waitForDisk(repo.TopLevel)
}

func initRepo(ctx context.Context, dir string) (gitcmd.Repository, error) {
	if _, err := git(ctx, dir, "init", "-q"); err != nil {
		return gitcmd.Repository{}, err
	}
	return gitcmd.Locate(ctx, dir, gitcmd.Options{})
}

// openStore opens a store as jp does: with a user and a key.
func openStore(repo gitcmd.Repository, durability odb.Durability) (*gitstore.Store, error) {
	return gitstore.Open(repo, storeOptions(durability))
}

func storeOptions(durability odb.Durability) gitstore.Options {
	return gitstore.Options{
		Durability: durability, Key: storeKey(),
		User: func() gitstore.Person { return gitstore.Person{Name: "Ada Lovelace", Email: "ada@example.com"} },
	}
}

// storeKey is the key that signs the events of this run.
func storeKey() []byte { return bytes.Repeat([]byte{7}, 32) }

// grouped is a number as people write it.
func grouped(n int) string {
	if n < 1_000 {
		return strconv.Itoa(n)
	}
	return fmt.Sprintf("%s,%03d", grouped(n/1_000), n%1_000)
}

// conversationID is the n-th of a row of ids.
func conversationID(n int) conversation.ID {
	return conversation.ID(fmt.Sprintf("jp-c%011d", n))
}
