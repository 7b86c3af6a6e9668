package odb_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/gitstore/odb"
	"jp/internal/testing/crashtest/row"
	"jp/internal/testing/faultfs"
)

const payloadRef = "refs/jp/payloads/jp-c1"

// scenario is a batch to be written on a repository that has one conversation
// of one commit.
type scenario struct {
	name  string
	batch func(base odb.OID) odb.Batch
}

var scenarios = []scenario{
	{"append one", func(base odb.OID) odb.Batch {
		return appendBatch(ref, base, chain(base, 1, "one"))
	}},
	{"append five", func(base odb.OID) odb.Batch {
		return appendBatch(ref, base, chain(base, 5, "five"))
	}},
	{"create ref", func(odb.OID) odb.Batch {
		return appendBatch("refs/jp/archive/jp-c2", "", chain("", 1, "new"))
	}},
	{"two refs", func(base odb.OID) odb.Batch {
		payload := chain("", 1, "payload")
		b := appendBatch(payloadRef, "", payload)
		event := appendBatch(ref, base, chain(base, 1, "with payload"))
		b.Objects = append(b.Objects, event.Objects...)
		b.Updates = append(b.Updates, event.Updates...)
		return b
	}},
}

func appendBatch(name string, old odb.OID, objects []odb.Object) odb.Batch {
	return odb.Batch{Objects: objects, Updates: []odb.RefUpdate{{Ref: name, Old: old, New: tip(objects)}}}
}

// recovery opens a store as the next process would: long after, and with the
// right to break the locks of the dead.
func recovery(fs odb.FS) odb.Options {
	return odb.Options{
		Format: testFormat,
		FS:     fs, LockTimeout: -1,
		MayBreakLock: func(string) bool { return true },
		Now:          func() time.Time { return time.Now().Add(time.Hour) },
	}
}

// trial is one run of a scenario against a fault, with the results that it got.
type trial struct {
	disk  *faultfs.Disk
	base  odb.Object
	batch odb.Batch
	acked bool
}

// start makes the repository, durable, before anything goes wrong.
func start(journal bool, sc scenario) (*trial, error) {
	disk := faultfs.NewDisk(journal, "/repo/objects", "/repo/refs/jp")
	s, err := odb.Open("/repo", odb.Options{Format: testFormat, FS: disk})
	if err != nil {
		return nil, err
	}
	defer s.Close()
	base := commit("", "base")
	tr := &trial{disk: disk, base: base, batch: sc.batch(base.OID)}
	b := appendBatch(ref, "", []odb.Object{base})
	b.Objects = append([]odb.Object{emptyTree}, b.Objects...)
	return tr, s.Write(bg, b)
}

// run writes the batch on fs and returns the store's error.
func (tr *trial) run(fs odb.FS, opts odb.Options) error {
	opts.FS, opts.LockTimeout = fs, -1
	s, err := odb.Open("/repo", opts)
	if err != nil {
		return err
	}
	defer s.Close()
	err = s.Write(bg, tr.batch)
	tr.acked = err == nil
	return err
}

// check opens a disk anew and returns its fault: all acknowledged data must be there, all present data must
// be whole, and a later ref of the batch must not have moved without an earlier one.
func (tr *trial) check(disk *faultfs.Disk) error {
	s, err := odb.Open("/repo", recovery(disk))
	if err != nil {
		return err
	}
	defer s.Close()
	before := true
	for _, u := range tr.batch.Updates {
		found, err := s.ReadRef(u.Ref)
		if err != nil && !(errors.Is(err, odb.ErrRefNotFound) && u.Old == "") {
			return err
		}
		moved := found == u.New
		if found != u.Old && !moved || tr.acked && !moved || moved && !before {
			return fmt.Errorf("%s is %q, acknowledged %v: %+v", u.Ref, found, tr.acked, tr.batch.Updates)
		}
		before = moved
		if err := whole(s, found); err != nil {
			return fmt.Errorf("%s: %w", u.Ref, err)
		}
	}
	return whole(s, tr.base.OID)
}

// whole walks a chain to its root.
func whole(s *odb.Store, oid odb.OID) error {
	for oid != "" {
		_, data, err := s.ReadObject(oid)
		if err != nil {
			return err
		}
		oid = parentOf(data)
	}
	return nil
}

func parentOf(commit []byte) odb.OID {
	_, rest, ok := bytes.Cut(commit, []byte("\nparent "))
	if !ok {
		return ""
	}
	return odb.OID(rest[:testFormat.Digits()])
}

// goOn reports whether the next process can still append to the present ref.
func (tr *trial) goOn(disk *faultfs.Disk) error {
	s, err := odb.Open("/repo", recovery(disk))
	if err != nil {
		return err
	}
	defer s.Close()
	tip, err := s.ReadRef(ref)
	if err != nil {
		return err
	}
	return s.Write(bg, appendBatch(ref, tip, chain(tip, 1, "next")))
}

// operations counts those of a run without faults.
func operations(t *testing.T, journal bool, sc scenario) int {
	t.Helper()
	tr, err := start(journal, sc)
	require.NoError(t, err)
	fs := faultfs.New(tr.disk, faultfs.Plan{})
	require.NoError(t, tr.run(fs, odb.Options{Format: testFormat}))
	require.Greater(t, fs.Count(), 10)
	return fs.Count()
}

// eachPoint runs a test at every operation of every scenario on both disks.
// It gives how many there are.
func eachPoint(t *testing.T, run func(t *testing.T, journal bool, sc scenario, k int)) (points int) {
	for _, journal := range []bool{true, false} {
		for _, sc := range scenarios {
			t.Run(fmt.Sprintf("journal=%v/%s", journal, sc.name), func(t *testing.T) {
				for k := 1; k <= operations(t, journal, sc); k++ {
					run(t, journal, sc, k)
					points++
				}
			})
		}
	}
	return points
}

func TestEveryOperationMayFail(t *testing.T) {
	faults := []faultfs.Plan{{Err: syscall.EIO}, {Err: syscall.ENOSPC}, {Err: syscall.EDQUOT}, {Short: true}}
	felt := 0
	points := eachPoint(t, func(t *testing.T, journal bool, sc scenario, k int) {
		for i, fault := range faults {
			for _, forGood := range []bool{false, true} {
				fault.At, fault.ForGood = k, forGood
				tr, err := start(journal, sc)
				require.NoError(t, err)
				what := []any{"operation %d, fault %d, for good %v", k, i, forGood}
				fs := faultfs.New(tr.disk, fault)
				err = tr.run(fs, odb.Options{Format: testFormat})
				if fs.Felt() {
					felt++
				}
				if fault.Err != nil && err != nil {
					require.ErrorIs(t, err, fault.Err, what...)
				}
				require.NoError(t, tr.check(tr.disk), what...)
				rng := rand.New(rand.NewPCG(uint64(k), uint64(i)))
				require.NoError(t, tr.check(tr.disk.Crash(rng)), what...)
				require.NoError(t, tr.goOn(tr.disk), what...)
			}
		}
	})
	row.Log(t, row.Row{
		Class: "a", Name: "objects and refs: operation k fails", Points: felt,
		Note: fmt.Sprintf("%d operations × EIO, ENOSPC, EDQUOT, short write × once, for good; then a crash", points),
	})
}

func TestEveryOperationMayBeTheLast(t *testing.T) {
	const seeds = 12
	points := eachPoint(t, func(t *testing.T, journal bool, sc scenario, k int) {
		tr, err := start(journal, sc)
		require.NoError(t, err)
		err = tr.run(faultfs.New(tr.disk, faultfs.Plan{At: k, Crash: true}), odb.Options{Format: testFormat})
		if !tr.acked { // else it died in Close
			require.ErrorIs(t, err, faultfs.ErrCrashed)
		}
		require.NoError(t, tr.check(tr.disk), "killed at %d", k)
		for seed := range uint64(seeds) {
			rng := rand.New(rand.NewPCG(uint64(k), seed))
			cut := tr.disk.Crash(rng)
			require.NoError(t, tr.check(cut), "cut at %d, seed %d", k, seed)
			require.NoError(t, crashAgain(tr, cut, rng), "cut twice at %d, seed %d", k, seed)
		}
	})
	row.Log(t, row.Row{
		Class: "a", Name: "objects and refs: crash at operation k, again in the recovery", Points: points,
		Note: fmt.Sprintf("%d ways to lose what was not flushed at each", seeds),
	})
}

// crashAgain kills the next process too, somewhere in its first append.
func crashAgain(tr *trial, disk *faultfs.Disk, rng *rand.Rand) error {
	opts := recovery(faultfs.New(disk, faultfs.Plan{At: 1 + rng.IntN(30), Crash: true}))
	if s, err := odb.Open("/repo", opts); err == nil {
		if tip, err := s.ReadRef(ref); err == nil {
			err = s.Write(bg, appendBatch(ref, tip, chain(tip, 1, "again")))
			if err == nil {
				return errors.Join(s.Close(), nil)
			}
		}
		s.Close()
	}
	again := disk.Crash(rng)
	s, err := odb.Open("/repo", recovery(again))
	if err != nil {
		return err
	}
	defer s.Close()
	found, err := s.ReadRef(ref)
	if err != nil {
		return err
	}
	return whole(s, found)
}

func TestAcknowledgedSurvivesACut(t *testing.T) {
	for _, journal := range []bool{true, false} {
		for _, sc := range scenarios {
			require.Zero(t, cuts(t, journal, sc, odb.Options{Format: testFormat}, nil), "journal=%v %s", journal, sc.name)
		}
	}
}

// cuts counts the power cuts, out of 60 right after the acknowledgement, that
// left something wrong.
func cuts(t *testing.T, journal bool, sc scenario, opts odb.Options, skip func(faultfs.Op) bool) int {
	t.Helper()
	tr, err := start(journal, sc)
	require.NoError(t, err)
	require.NoError(t, tr.run(faultfs.New(tr.disk, faultfs.Plan{Skip: skip}), opts))
	wrong := 0
	for seed := range uint64(60) {
		if tr.check(tr.disk.Crash(rand.New(rand.NewPCG(1, seed)))) != nil {
			wrong++
		}
	}
	return wrong
}

// The model must catch each path that leaves a flush out, or its other results prove nothing.
func TestDiskCatchesEveryMissingFlush(t *testing.T) {
	tests := []struct {
		name    string
		journal bool
		opts    odb.Options
		skip    faultfs.Op
	}{
		{"ordered without waiting", true, odb.Options{Format: testFormat}, faultfs.Await},
		{"ordered without the last flush", true, odb.Options{Format: testFormat}, faultfs.SyncDir},
		{"ordered where nothing is in order", false, odb.Options{Format: testFormat, Path: odb.PathOrdered}, ""},
		{"stepwise without flushing files", false, odb.Options{Format: testFormat}, faultfs.Sync},
		{"stepwise without flushing directories", false, odb.Options{Format: testFormat}, faultfs.SyncDir},
		{"durability off", true, odb.Options{Format: testFormat, Durability: odb.Off}, ""},
		{"durability off, no journal", false, odb.Options{Format: testFormat, Durability: odb.Off}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, sc := range scenarios {
				skip := func(op faultfs.Op) bool { return op == tt.skip }
				require.NotZero(t, cuts(t, tt.journal, sc, tt.opts, skip), sc.name)
			}
		})
	}
}

func TestNothingIsAcknowledgedAfterAFailedFlush(t *testing.T) {
	for _, journal := range []bool{true, false} {
		tr, err := start(journal, scenarios[1])
		require.NoError(t, err)
		probe := faultfs.New(tr.disk, faultfs.Plan{})
		require.NoError(t, tr.run(probe, odb.Options{Format: testFormat}))
		seen := map[faultfs.Op]int{}
		flushes := 0
		for _, op := range probe.Trace() {
			seen[op]++
			if slices.Contains([]faultfs.Op{faultfs.Start, faultfs.Await, faultfs.Sync, faultfs.SyncDir}, op) {
				flushes++
				failAFlush(t, journal, faultfs.Plan{At: seen[op], Only: op, Err: syscall.EIO})
			}
		}
		require.Greater(t, flushes, 5)
	}
}

func failAFlush(t *testing.T, journal bool, plan faultfs.Plan) {
	t.Helper()
	tr, err := start(journal, scenarios[1])
	require.NoError(t, err)
	s, err := odb.Open("/repo", odb.Options{Format: testFormat, FS: faultfs.New(tr.disk, plan), LockTimeout: -1})
	require.NoError(t, err)
	defer s.Close()
	require.ErrorIs(t, s.Write(bg, tr.batch), odb.ErrPoisoned, "%s %d", plan.Only, plan.At)
	again := appendBatch("refs/jp/conversations/other", "", chain("", 1, "x"))
	require.ErrorIs(t, s.Write(bg, again), odb.ErrPoisoned)
	_, _, err = s.ReadObject(tr.base.OID)
	require.NoError(t, err, "reading goes on")
}

// TestDirectoriesThatOthersMade reads and appends after another program has made the directories of the ref
// without a flush: they must be there after a cut.
func TestDirectoriesThatOthersMade(t *testing.T) {
	for _, journal := range []bool{true, false} {
		disk := faultfs.NewDisk(journal, "/repo/objects", "/repo/refs")
		s, err := odb.Open("/repo", odb.Options{Format: testFormat, FS: disk, LockTimeout: -1})
		require.NoError(t, err)
		base := commit("", "base")
		require.NoError(t, s.Write(bg, odb.Batch{Objects: []odb.Object{emptyTree, base}}))
		for _, name := range []string{"jp", "jp/conversations", "jp/payloads"} {
			above, err := disk.OpenDir("/repo/refs")
			require.NoError(t, err)
			require.NoError(t, above.Mkdir(name))
		}
		dir, err := disk.OpenDir("/repo/refs/jp/conversations")
		require.NoError(t, err)
		file, err := dir.Create("jp-c1", 0o666)
		require.NoError(t, err)
		_, err = file.Write([]byte(base.OID + "\n"))
		require.NoError(t, errors.Join(err, file.Sync()))

		found, err := s.ReadRef(ref)
		require.NoError(t, err)
		require.Equal(t, base.OID, found)
		next := chain(base.OID, 1, "next")
		both := appendBatch(ref, base.OID, next)
		beside := "refs/jp/payloads/jp-c1"
		both.Updates = append([]odb.RefUpdate{{Ref: beside, New: base.OID}}, both.Updates...)
		require.NoError(t, s.Write(bg, both))
		for seed := range uint64(20) {
			after, err := odb.Open("/repo", recovery(disk.Crash(rand.New(rand.NewPCG(seed, 1)))))
			require.NoError(t, err)
			found, err := after.ReadRef(ref)
			require.NoError(t, err, "journal %v, cut %d", journal, seed)
			require.Equal(t, tip(next), found)
			require.NoError(t, whole(after, found))
			found, err = after.ReadRef(beside)
			require.NoError(t, err, "journal %v, cut %d", journal, seed)
			require.Equal(t, base.OID, found)
		}
	}
}

// A failed Write has not flushed the directories that it made: the next one does.
func TestDirectoriesOfAFailedWriteAreFlushed(t *testing.T) {
	disk := faultfs.NewDisk(false, "/repo/objects", "/repo/refs")
	before, err := odb.Open("/repo", odb.Options{Format: testFormat, FS: disk})
	require.NoError(t, err)
	defer before.Close()
	base := commit("", "base")
	require.NoError(t, before.Write(bg, odb.Batch{Objects: []odb.Object{emptyTree, base}}))
	full := faultfs.Plan{Only: faultfs.Write, At: 1, Err: syscall.ENOSPC}
	s, err := odb.Open("/repo", odb.Options{Format: testFormat, FS: faultfs.New(disk, full)})
	require.NoError(t, err)
	defer s.Close()
	require.ErrorIs(t, s.Write(bg, move(ref, "", base.OID)), odb.ErrNoSpace)
	require.NoError(t, s.Write(bg, move(ref, "", base.OID)))
	for seed := range uint64(20) {
		after, err := odb.Open("/repo", recovery(disk.Crash(rand.New(rand.NewPCG(3, seed)))))
		require.NoError(t, err)
		found, err := after.ReadRef(ref)
		require.NoError(t, err, "cut %d", seed)
		require.Equal(t, base.OID, found)
		require.NoError(t, after.Close())
	}
}
