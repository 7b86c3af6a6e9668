package secondstage_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/sandbox/secondstage"
)

func spec() secondstage.ChildSpec {
	return secondstage.ChildSpec{
		Program: "/odd\xff\n", Left: 1 << 50, User: 3, Group: 4, Capabilities: [2]uint32{1 << 31, 7}, Filter: []uint64{1, 1 << 40},
	}
}

func TestOrders(t *testing.T) {
	s := spec()
	data := s.Encode()
	got, ok := secondstage.Decode(data)
	require.True(t, ok)
	require.Equal(t, s, got)
	for length := range data {
		_, ok := secondstage.Decode(data[:length])
		require.False(t, ok, length)
	}
	_, ok = secondstage.Decode(append(data, 0))
	require.False(t, ok)
}

func FuzzDecode(f *testing.F) {
	s := spec()
	f.Add(s.Encode())
	f.Fuzz(func(t *testing.T, data []byte) {
		if got, ok := secondstage.Decode(data); ok {
			require.Equal(t, data, got.Encode())
		}
	})
}

// TestMain ends a process that was started with the word and without a spec: it must come here.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == secondstage.Word {
		fmt.Print("went on")
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// The word alone does not make a process another program, nor does a file beside it that can still be
// changed.
func TestWordAlone(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "spec"))
	require.NoError(t, err)
	defer file.Close()
	s := spec()
	_, err = file.Write(s.Encode())
	require.NoError(t, err)
	cmd := exec.Command(os.Args[0], secondstage.Word, "true")
	cmd.ExtraFiles = []*os.File{file}
	out, err := cmd.CombinedOutput()
	require.NoError(t, err)
	require.Equal(t, "went on", string(out))
}
