package turnloop

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDestroys(t *testing.T) {
	for command, want := range map[string]bool{
		"rm -rf build": true, "/bin/rm a": true, "sh -c cd x && rm a": true, "git clean -fdx": true, "git -C sub checkout -- .": true,
		"find . -name *.o -delete": true, "dd if=/dev/zero of=a": true, "truncate -s 0 a": true, "mv a b": true, "sh -c echo x > a": true,
		"go test ./...": false, "ls -l": false, "git status": false, "sh -c go test 2>&1": false, "grep -r rmdir .": true, "cargo build": false,
		"find . -name a": false, "format a": false, "git log --oneline": false,
	} {
		require.Equal(t, want, destroys(command), command)
	}
}

func TestReaches(t *testing.T) {
	for _, tt := range []struct {
		command, path string
		want          bool
	}{
		{"rm -rf node_modules", "node_modules/", true},
		{"rm -rf ./d/", "d/big.iso", true},
		{"rm -rf .", "big.iso", true},
		{"rm -rf d/x", "d/", true},
		{"rm -rf e", "d/big.iso", false},
		{"sh -c rm *.iso", "big.iso", true},
		{"git clean -fdx", "node_modules/", true},
		{"sh -c (rm 'big.iso')", "big.iso", true},
		{"rm big", "big.iso", false},
	} {
		require.Equal(t, tt.want, reaches(tt.command, tt.path), tt.command)
	}
}
