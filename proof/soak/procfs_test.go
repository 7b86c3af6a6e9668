package main

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

func needsProc(t *testing.T) {
	t.Helper()
	if _, err := os.Stat("/proc/self/smaps_rollup"); err != nil {
		// The figures of a process are read from /proc.
		t.Skip("only Linux has /proc: ", err)
	}
}

func TestField(t *testing.T) {
	const status = "Name:\tjp\nVmHWM:\t   21000 kB\nVmRSS:\t   20244 kB\nThreads:\t7\n"
	for name, want := range map[string]int64{"VmRSS": 20244, "Threads": 7} {
		got, err := field(status, name)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	for _, name := range []string{"Vm", "Pss"} {
		_, err := field(status, name)
		require.ErrorIs(t, err, errSystem)
	}
	_, err := field(status, "Name")
	require.Error(t, err, "that is no number")
}

func TestFootprintOfThisProcess(t *testing.T) {
	needsProc(t)
	f, err := footprintOf(os.Getpid())
	require.NoError(t, err)
	require.Greater(t, f.resident, int64(1<<20))
	require.Positive(t, f.threads)
	require.Positive(t, f.proportional)
	_, err = footprintOf(1 << 30)
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestDescriptorsOfThisProcess(t *testing.T) {
	needsProc(t)
	before, err := descriptors(os.Getpid())
	require.NoError(t, err)
	f, err := os.CreateTemp(t.TempDir(), "open")
	require.NoError(t, err)
	r, w, err := os.Pipe()
	require.NoError(t, err)
	now, err := descriptors(os.Getpid())
	require.NoError(t, err)
	require.Subset(t, beyond(before, now), []string{f.Name(), "pipe"})
	require.NoError(t, f.Close())
	require.NoError(t, r.Close())
	require.NoError(t, w.Close())
	now, err = descriptors(os.Getpid())
	require.NoError(t, err)
	require.NotContains(t, beyond(before, now), f.Name())
}

func TestBeyond(t *testing.T) {
	tests := []struct {
		name              string
		before, now, want []string
	}{
		{"the same", []string{"a", "socket"}, []string{"a", "socket"}, nil},
		{"one more of a kind", []string{"socket"}, []string{"socket", "socket"}, []string{"socket"}},
		{"fewer", []string{"a", "b"}, []string{"b"}, nil},
		{"another", []string{"a"}, []string{"b"}, []string{"b"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { require.Equal(t, tt.want, beyond(tt.before, tt.now)) })
	}
}

func TestOwnNames(t *testing.T) {
	one := []string{"/r/locks/jp-c1.lock", "/d/jp-c1.log", "/r"}
	other := []string{"/d/jp-c2.log", "/r", "/r/locks/jp-c2.lock"}
	require.Equal(t, ownNames(one), ownNames(other))
	require.NotEqual(t, ownNames(one), ownNames(append(other, "/r")))
}

func TestParentIn(t *testing.T) {
	for stat, want := range map[string][2]int{
		"12 (jp) S 7 12 12":          {12, 7},
		"12 (a) R 1 (b) c) S 7 1 12": {12, 7},
	} {
		pid, parent, ok := parentIn([]byte(stat))
		require.True(t, ok, stat)
		require.Equal(t, want, [2]int{pid, parent})
	}
	for _, stat := range []string{"", "12", "12 (jp", "12 (jp) S", "x (jp) S 7", ")("} {
		_, _, ok := parentIn([]byte(stat))
		require.False(t, ok, stat)
	}
}

func FuzzParentIn(f *testing.F) {
	f.Add([]byte("12 (jp) S 7 12 12"))
	f.Add([]byte(")("))
	f.Fuzz(func(t *testing.T, stat []byte) {
		if pid, parent, ok := parentIn(stat); !ok {
			require.False(t, pid > 0 && parent > 0)
		}
	})
}

func TestGoroutinesIn(t *testing.T) {
	const trace = `SIGABRT: abort
goroutine 1 gp=0xc000002380 m=nil [select, 1 minutes]:
runtime.gopark(0x1)
goroutine 42 [IO wait]:
created by main.main in goroutine 1
`
	require.Equal(t, 2, goroutinesIn([]byte(trace)))
	require.Zero(t, goroutinesIn([]byte("nothing of the kind")))
}
