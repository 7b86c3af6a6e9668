package ci_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTable(t *testing.T) {
	for _, test := range []struct {
		name, took, in, want string
		ok                   bool
	}{
		{"within the limit", "800", "100 150.2 0 make lint\n799.96 1.5 0 tests\n", "  seconds       CPU  suite\n    100.0     150.2  make lint\n    800.0       1.5  tests\n    800.0     151.7  all\n", true},
		{"at the limit", "900", "100 150 0 lint\n800 1 0 tests\n", "    900.0     151.0  all\n", true},
		{"over it", "901", "100 1 0 lint\n800.6 1 0 tests\n", "    901.0       2.0  all\nThe suites took 901 seconds, 900 at most are allowed.\n", false},
		{"a failure", "3", "1 1 2 lint\n2 2 0 tests\n", "      1.0       1.0  lint FAILED\n", false},
		{"nothing", "0", "", "No suite ran.\n", false},
		{"an odd line", "1", "1 1 0 lint\nbash: no such thing\n", "not a suite: bash: no such thing\n", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			cmd := exec.Command("./table", "900", test.took)
			cmd.Stdin = strings.NewReader(test.in)
			out, err := cmd.Output()
			require.Contains(t, string(out), test.want)
			require.Equal(t, test.ok, err == nil)
		})
	}
}
