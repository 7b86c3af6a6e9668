package powercut_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/gitstore"
	"jp/gitstore/odb"
	"jp/internal/testing/crashtest/row"
	"jp/internal/testing/journaltest"
	"jp/proof/powercut"
	"jp/worktree"
)

// shoot changes files in each step, now few and now many, and records them with an
// event, as jp does after a tool. It tells the number of each step that was
// acknowledged, and the tree that it recorded.
func (j job) shoot(ctx context.Context, store *gitstore.Store, done func(step int, tree string) error) error {
	files, err := worktree.Open(ctx, repositoryIn(j.Repo), worktree.Options{Volatile: j.Care == unflushed, Ordered: store.OrderedFlush()})
	if err != nil {
		return err
	}
	state, err := files.State(ctx)
	if err != nil {
		return err
	}
	tree, err := files.CommitTree(ctx, state.Head, nil)
	if err != nil {
		return err
	}
	rng := rand.New(rand.NewPCG(j.Seed, 2))
	id, head := journaltest.ID(1), conversation.Head("")
	for i := range j.Steps {
		changed, err := change(rng, j.Repo, i)
		if err != nil {
			return err
		}
		taken, err := files.Snapshot(ctx, tree, worktree.SnapshotOptions{Named: changed, Objects: store})
		if err != nil {
			return err
		}
		e := &conversation.Event{Seq: i, Turn: 1, Time: time.Unix(1_752_883_200+int64(i), 0).UTC(), Tree: taken.Tree, Body: &conversation.Workspace{}}
		for _, o := range taken.Objects {
			e.Objects = append(e.Objects, conversation.Object{Kind: o.Kind, OID: o.OID, Data: o.Data})
		}
		if tree = taken.Tree; i == 0 {
			head, err = store.Create(ctx, id, "", []*conversation.Event{e})
		} else {
			head, err = store.Append(ctx, id, head, []*conversation.Event{e})
		}
		if err != nil {
			return fmt.Errorf("step %d: %w", i+1, err)
		}
		if err := done(i+1, tree); err != nil {
			return err
		}
	}
	return nil
}

// change writes files anew: every third time more than are recorded in process.
func change(rng *rand.Rand, repo string, step int) (paths []string, err error) {
	n := 1 + rng.IntN(8)
	if step%3 == 1 {
		n = 70 + rng.IntN(60)
	}
	for i := range n {
		path := fmt.Sprintf("d%d/f%d.txt", i%7, i)
		file := filepath.Join(repo, path)
		text := fmt.Sprintf("%d %d\n%s", step, i, strings.Repeat(fmt.Sprintf("%x\n", rng.Uint64()), rng.IntN(400)))
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			return nil, err
		}
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			return nil, err
		}
		paths = append(paths, path)
	}
	return paths, nil
}

// treesOf are the trees after so many steps, if the power stays.
func treesOf(t *testing.T, repo string, steps int) (trees []string) {
	t.Helper()
	j := job{Repo: copyOf(t, repo), Care: unflushed, Seed: scriptSeed, Steps: steps, Files: true}
	store, err := openStore(j.Repo, j.options())
	require.NoError(t, err)
	defer store.Close()
	require.NoError(t, j.shoot(t.Context(), store, func(_ int, tree string) error {
		trees = append(trees, tree)
		return nil
	}))
	return trees
}

// TestPowerCutOfFiles cuts the power while files are recorded: the tree of every
// event that is there is whole, and so is each that was acknowledged.
func TestPowerCutOfFiles(t *testing.T) {
	for _, p := range []target{
		{fs: powercut.Ext4, path: odb.PathOrdered},
		{fs: powercut.XFS, path: odb.PathOrdered},
		{fs: powercut.Btrfs, path: odb.PathStepwise},
	} {
		name := fmt.Sprintf("%v, power cut while files are recorded", p)
		t.Run(p.fs.Name, func(t *testing.T) {
			if why := lacks(t, p.fs); why != "" {
				row.Skip(t, "c", name, why) // as for events: FUSE, loop devices, root
			}
			steps, cuts := row.Of(6, 12, 30), row.Of(3, 12, 60)
			r := newFixture(t, p, &oracle{repo: usersRepo(t), steps: steps})
			trees := treesOf(t, r.oracle.repo, steps)
			result := row.Row{Class: "c", Name: name, Points: cuts}
			result.Violations = r.cutFiles(careful, trees, cuts, t.Errorf)
			broken := r.cutFiles(unflushed, trees, row.Of(6, 8, 12), func(string, ...any) {})
			require.Positive(t, broken, "nothing was broken without care: this fixture sees nothing")
			result.Note = fmt.Sprintf("control: %d broken %s, as must be", broken, unflushed)
			row.Log(t, result)
		})
	}
}

// cutFiles is cut for a worker that records files.
func (r *fixture) cutFiles(c care, trees []string, n int, report func(format string, args ...any)) (broken int) {
	r.Helper()
	r.files = true
	before, log := r.record(c)
	replay := powercut.NewReplay(before, log)
	for _, cut := range cutsOf(log, n, r.fs) {
		acked := acknowledged(log, cut.At)
		if err := r.lookAtFiles(replay.Image(cut), trees, acked); err != nil {
			broken++
			report("%v, %d steps acknowledged: %v", cut, acked, err)
		}
	}
	return broken
}

// lookAtFiles mounts an image, and holds the conversation's trees against those
// that the steps come to.
func (r *fixture) lookAtFiles(image *powercut.Image, trees []string, acknowledged int) error {
	r.Helper()
	device := r.insert(powercut.NewDisk(image))
	if err := r.fs.Mount(device, r.dir); err != nil {
		require.NoError(r, device.Close())
		return err
	}
	defer r.eject(device)
	i := inspection{r.T, r.oracle, filepath.Join(r.dir, "repo")}
	if out, err := i.git("fsck", "--strict", "--no-dangling", "--no-progress"); err != nil || len(out) > 0 {
		return fmt.Errorf("git fsck: %w: %.300s", err, bytes.TrimSpace(out))
	}
	refs, err := refsOf(i.repo)
	if err != nil {
		return err
	}
	head := refs["refs/jp/conversations/"+string(journaltest.ID(1))]
	if head == "" && acknowledged == 0 {
		return nil
	}
	store, err := openStore(i.repo, gitstore.Options{})
	if err != nil {
		return err
	}
	defer store.Close()
	events, err := store.Load(r.Context(), conversation.Head(head))
	if err != nil {
		return err
	}
	if n := len(events); n != acknowledged && n != acknowledged+1 {
		return fmt.Errorf("there are %d events", n)
	}
	for i, e := range events {
		if e.Tree != trees[i] {
			return fmt.Errorf("event %d has the tree %s, not %s", i, e.Tree, trees[i])
		}
	}
	return nil
}
