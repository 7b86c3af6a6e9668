package odb_test

import (
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/gitstore/odb"
	"jp/internal/testing/faultfs"
)

// A meter is a file system that says how many flushes were under way at once.
type meter struct {
	odb.FS
	habits        odb.FlushTraits
	flushes, most *atomic.Int32
}

func (m meter) FlushTraits(_, _ odb.Dir) odb.FlushTraits { return m.habits }

func (m meter) OpenDir(path string) (odb.Dir, error) {
	d, err := m.FS.OpenDir(path)
	return meterDir{d, m}, err
}

// flush lets others begin theirs meanwhile, if any are about to.
func (m meter) flush(do func() error) error {
	now := m.flushes.Add(1)
	defer m.flushes.Add(-1)
	for range 1000 {
		runtime.Gosched()
		now = max(now, m.flushes.Load())
	}
	for most := m.most.Load(); now > most && !m.most.CompareAndSwap(most, now); most = m.most.Load() {
	}
	return do()
}

type meterDir struct {
	odb.Dir
	meter meter
}

func (d meterDir) OpenDir(name string) (odb.Dir, error) {
	sub, err := d.Dir.OpenDir(name)
	if err != nil {
		return nil, err
	}
	return meterDir{sub, d.meter}, nil
}

func (d meterDir) Create(name string, perm uint32) (odb.File, error) {
	f, err := d.Dir.Create(name, perm)
	if err != nil {
		return nil, err
	}
	return meterFile{f, d.meter}, nil
}

func (d meterDir) Sync() error { return d.meter.flush(d.Dir.Sync) }

type meterFile struct {
	odb.File
	meter meter
}

func (f meterFile) Sync() error { return f.meter.flush(f.File.Sync) }

// Flushes go together, but for a file system on which they hold each other up.
func TestFlushesAtOnce(t *testing.T) {
	for _, oneByOne := range []bool{false, true} {
		var flushes, most atomic.Int32
		fs := meter{faultfs.NewDisk(false, "/repo/objects", "/repo/refs/jp"), odb.FlushTraits{OneByOne: oneByOne}, &flushes, &most}
		s, err := odb.Open("/repo", odb.Options{Format: testFormat, FS: fs})
		require.NoError(t, err)
		require.Equal(t, odb.PathStepwise, s.Path())
		objects := append([]odb.Object{emptyTree}, chain("", 5, "x")...)
		require.NoError(t, s.Write(bg, appendBatch(ref, "", objects)))
		require.NoError(t, s.Close())
		if oneByOne {
			require.Equal(t, int32(1), most.Load())
		} else {
			require.Greater(t, most.Load(), int32(1))
		}
	}
}
