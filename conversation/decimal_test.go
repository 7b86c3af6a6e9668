package conversation_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	. "jp/conversation"
)

func TestAddDecimals(t *testing.T) {
	cases := []struct{ a, b, want string }{
		{"", "", ""},
		{"0.10", "", "0.10"},
		{"", "0.10", "0.10"},
		{"0.1", "0.2", "0.3"},
		{"0.0123", "1", "1.0123"},
		{"9.99", "0.01", "10.00"},
		{"1", "2", "3"},
		{"9007199254740993", "0.0001", "9007199254740993.0001"},
		{"free", "0.5", "0.5"},
		{"0.5", "1e9", "0.5"},
		{"1e9", "NaN", ""},
		{"-1", "1/3", ""},
		{"0.5", strings.Repeat("9", 41), "0.5"},
		{"1.2.3", "0.5", "0.5"},
		{".", "0.5", "0.5"},
	}
	for _, c := range cases {
		require.Equal(t, c.want, AddDecimals(c.a, c.b), "%s + %s", c.a, c.b)
	}
}

func TestAddDecimalsIsExact(t *testing.T) {
	sum := ""
	for range 1000 {
		sum = AddDecimals(sum, "0.001")
	}
	require.Equal(t, "1.000", sum)
}
