package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"jp/gitcmd"
	"jp/gitstore/odb"
)

// Sides of the rows of refs that git keeps.
const (
	appendThroughGit = "jp, through git"
	liveUpdateRef    = "update-ref --stdin"
)

// eachRefFormat measures repositories where git keeps the refs: in files, and in a reftable if git has
// that.
func eachRefFormat(measure func(ctx context.Context, b *bench, p filesystem, repo gitcmd.Repository) (row, error)) func(context.Context, *bench, filesystem) ([]row, error) {
	return func(ctx context.Context, b *bench, p filesystem) (rows []row, err error) {
		was := gitcmd.RefsThroughGit
		gitcmd.RefsThroughGit = true
		defer func() { gitcmd.RefsThroughGit = was }()
		for _, format := range []string{"files", string(gitcmd.Reftable)} {
			repo, err := b.repoOf(ctx, p.Dir, format)
			if errors.Is(err, errAbsent) {
				b.note("refs in a %s: skipped: %v", format, err)
				continue
			}
			if err != nil {
				return rows, err
			}
			r, err := measure(ctx, b, p, repo)
			if err != nil {
				return rows, err
			}
			rows = append(rows, r)
		}
		return rows, nil
	}
}

// repoOf makes a repository whose refs have a format. A git without it counts as absent.
func (b *bench) repoOf(ctx context.Context, parent, format string) (gitcmd.Repository, error) {
	dir, err := b.newDir(parent)
	if err != nil {
		return gitcmd.Repository{}, err
	}
	args := []string{"init", "-q"}
	if format != "files" {
		args = append(args, "--ref-format="+format)
	}
	if _, err := git(ctx, dir, args...); err != nil {
		return gitcmd.Repository{}, fmt.Errorf("%w: %w", errAbsent, err)
	}
	return gitcmd.Locate(ctx, dir, gitcmd.Options{})
}

// appendThrough measures one event. On the stepwise path an object is two flushes of its own.
func appendThrough(ctx context.Context, b *bench, p filesystem, repo gitcmd.Repository) (row, error) {
	if err := b.use(ctx, repo); err != nil {
		return row{}, err
	}
	store, err := openStore(repo, odb.Full)
	if err != nil {
		return row{}, err
	}
	defer store.Close()
	jp, err := b.appendSide(ctx, store, appendThroughGit, 1)
	if err != nil {
		return row{}, err
	}
	rival, end, err := updateRefSide(ctx, repo)
	if err != nil {
		return row{}, err
	}
	defer end()
	all, err := rounds(ctx, b.rng, b.shortOps, []side{jp, rival})
	if err != nil {
		return row{}, err
	}
	r := all.row("append through git, "+repo.RefFormat.String(), appendThroughGit, liveUpdateRef)
	if p.Path == odb.PathOrdered {
		r = r.within(1.5)
	}
	return r, nil
}

// listThrough measures a list of n conversations.
func listThrough(n int) func(ctx context.Context, b *bench, p filesystem, repo gitcmd.Repository) (row, error) {
	return func(ctx context.Context, b *bench, _ filesystem, repo gitcmd.Repository) (row, error) {
		if err := b.fillMany(ctx, repo, n); err != nil {
			return row{}, err
		}
		all, err := rounds(ctx, b.rng, b.slowOps, []side{
			{name: "jp", block: 3, run: func(ctx context.Context) error { return listAll(ctx, repo, n) }},
			{name: "git for-each-ref", block: 3, run: func(ctx context.Context) error { return eachRef(ctx, repo) }},
		})
		if err != nil {
			return row{}, err
		}
		return all.row(fmt.Sprintf("list %s through git, %s", grouped(n), repo.RefFormat), "jp", "git for-each-ref").within(1.5), nil
	}
}

// updateRefSide moves one ref by a git that lives on, to and fro between two commits, and
// flushes the folder of the new file, as a ref that is to survive a power cut needs it.
func updateRefSide(ctx context.Context, repo gitcmd.Repository) (s side, end func(), err error) {
	const ref = "refs/heads/rival"
	out, err := git(ctx, repo.TopLevel, "rev-list", "-n", "2", "--glob=refs/jp/conversations/*")
	if err != nil {
		return s, nil, err
	}
	commits := strings.Fields(out)
	if len(commits) < 2 {
		return s, nil, fmt.Errorf("%d commits to move a ref to", len(commits))
	}
	if _, err := git(ctx, repo.TopLevel, "update-ref", ref, commits[0]); err != nil {
		return s, nil, err
	}
	cmd := exec.CommandContext(ctx, "git", "-C", repo.TopLevel, "-c", "core.fsync=loose-object,reference", "-c", "core.logAllRefUpdates=false", "update-ref", "--stdin")
	in, err := cmd.StdinPipe()
	if err != nil {
		return s, nil, err
	}
	answers, err := cmd.StdoutPipe()
	if err != nil {
		return s, nil, err
	}
	if err := cmd.Start(); err != nil {
		return s, nil, err
	}
	end = func() {
		in.Close()
		_ = cmd.Wait() // its work is done
	}
	folder := filepath.Join(repo.CommonDir, "refs", "heads")
	if repo.RefFormat == gitcmd.Reftable {
		folder = repo.TablesDir()
	}
	lines, at := bufio.NewReader(answers), 0
	return side{name: liveUpdateRef, block: 13, run: func(context.Context) error {
		if _, err := fmt.Fprintf(in, "start\nupdate %s %s %s\nprepare\ncommit\n", ref, commits[1-at], commits[at]); err != nil {
			return err
		}
		at = 1 - at
		for range 3 {
			if _, err := lines.ReadString('\n'); err != nil {
				return err
			}
		}
		return syncFolder(folder)
	}}, end, nil
}

func syncFolder(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}
