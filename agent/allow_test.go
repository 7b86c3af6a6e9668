package agent

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCovers(t *testing.T) {
	rules := [][]string{{}, {"go", "test"}, {"make"}}
	for want, all := range map[bool][][]string{
		true:  {{"go", "test"}, {"go", "test", "./..."}, {"make", "all"}},
		false: {{"go"}, {"go", "vet"}, {"maker"}, {}},
	} {
		for _, rule := range all {
			require.Equal(t, want, covers(rules, rule), "%q", rule)
		}
	}
}
